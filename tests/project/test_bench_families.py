"""The benchmarks' second table: rows, programs, samples, aims; no GPU is needed."""

from __future__ import annotations

import json
import math
import re
import subprocess
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from bench import aims, families, kit, references, report, sampling, torch_families
from bench.cases import ProgramCase
from bench.family_programs import FAMILY_PROGRAMS
from bench.family_references import FAMILY_REFERENCES
from bench.programs import PROGRAMS
from bench.results import Results, Row
from bench.workloads import JITTED_FAMILIES, SLOW, Workload, workloads
from tools import environment

TINY = families.families(tiny=True)
FULL = families.families()


def computed(workload: Workload) -> tuple[list[references.Array], references.Array]:
    """Return operands and the numbers of the program's result on the CPU."""
    inputs = references.operands(workload)
    given = [(x.tobytes(), x.shape, str(x.dtype)) for x in inputs]
    case = ProgramCase(workload.program, given, 2, device="cpu")
    case.run(2)
    return inputs, np.frombuffer(case.result(), workload.dtype)


def test_names_are_unique_in_both_tables() -> None:
    names = [workload.name for workload in [*FULL, *workloads()]]
    assert len(names) == len(set(names))
    assert [row.name for row in TINY] == [row.name for row in FULL]


@pytest.mark.parametrize("workload", TINY, ids=lambda row: row.name)
def test_program_agrees_with_reference(workload: Workload, cpu: str) -> None:
    inputs, result = computed(workload)
    numbers = result.view(result.real.dtype)
    assert numbers.size == workload.numbers
    assert sampling.error_of(workload, inputs, result) <= workload.tolerance
    wrong = numbers + np.ones(1, numbers.dtype)
    assert sampling.error_of(workload, inputs, wrong) > workload.tolerance


def test_small_sizes_have_samples_enough() -> None:
    for workload in TINY:
        positions = sampling.as_json(workload)["samples"]["places"]
        assert len(positions) > 20, workload.name
        assert positions[-1] < workload.numbers


def test_several_results_come_one_after_the_other(cpu: str) -> None:
    (workload,) = families.of_table("families", "gray_scott", tiny=True)
    inputs, result = computed(workload)
    u, v = result.reshape(workload.output)
    likeness = np.corrcoef([u.ravel(), v.ravel(), inputs[1][1:-1, 1:-1].ravel()])
    assert likeness[1, 2] > 0.9 > likeness[0, 2]


def test_work_of_rows() -> None:
    rows = {workload.name: workload for workload in FULL}
    assert rows["fft"].work == 5 * 2**20 * 20
    assert rows["fft2"].work == 5 * 2**24 * 24
    assert rows["conv2d_grouped"].work == 2 * 64 * 64 * 56 * 56 * 8 * 9
    assert rows["conv2d_depthwise"].work == 2 * 64 * 64 * 56 * 56 * 9
    assert rows["attention"].work == 4 * 16 * 1024 * 1024 * 64
    assert rows["matmul_complex"].work == 8 * 1024**3
    assert rows["pairwise"].work == 4 * (2 * 2048 * 3 + 2048**2)
    assert rows["matmul_complex"].numbers == 2 * 1024**2
    assert [row.inputs[0].shape[-1] for row in rows["svd"].smaller] == [32, 64, 128]


def test_mandelbrot_has_points_in_and_out() -> None:
    (workload,) = families.of_table("families", "mandelbrot", tiny=False)
    values = sampling.as_json(workload)["samples"]["values"]
    assert len(set(values)) > 5
    assert {0.0, float(families.STEPS)} < set(values) | {0.0}


def test_every_program_is_known_everywhere() -> None:
    programs = {workload.program for workload in FULL} - set(PROGRAMS)
    assert programs == set(FAMILY_PROGRAMS) == set(FAMILY_REFERENCES)
    assert set(torch_families.programs(MagicMock())) == programs
    assert programs > JITTED_FAMILIES | SLOW
    for peer in ("jaxjs", "tfjs"):
        text = (kit.BENCH / f"js/families/{peer}.mjs").read_text("utf-8")
        (steps,) = re.findall(r"const STEPS = (\d+);", text)
        assert int(steps) == families.STEPS
        named = set(re.findall(r"^    (\w+)(?:\(|: )", text, re.MULTILINE))
        assert len(named & programs) > 10


def test_javascript_has_the_same_operands_and_judges_alike() -> None:
    pattern = "^(argmax_rows|fft|cholesky|eigh|gray_scott)$"
    rows = families.of_table("families", pattern, tiny=True)
    asked = [
        {"workload": sampling.as_json(row), "result": [0.5] * row.numbers}
        for row in rows
    ]
    command = [str(environment.node()), "tests/bench_samples.mjs"]
    run = subprocess.run(
        command,
        cwd=kit.ROOT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(run.stdout)
    for workload, answer in zip(rows, found, strict=True):
        inputs = references.operands(workload)
        for x, y in zip(inputs, answer["operands"], strict=True):
            np.testing.assert_array_equal(x.view(x.real.dtype).reshape(-1), y)
        half = np.full(workload.numbers, 0.5, np.float32)
        error = sampling.error_of(workload, inputs, half)
        assert answer["error"] == pytest.approx(error, rel=1e-12)
        assert 0 < error < math.inf


def test_operands_have_their_form() -> None:
    (workload,) = families.of_table("families", "cholesky", tiny=True)
    (a,) = references.operands(workload)
    np.testing.assert_array_equal(a, a.mT)
    assert np.linalg.eigvalsh(a).min() > 1
    assert np.unique(a).size > a.size // 3


def row(name: str, impl: str, rate: float, **changes: object) -> Row:
    whole: Row = {"workload": name, "impl": impl, "ms": 1 / rate, "rate": rate}
    return {**whole, "unit": "GB/s", "err": 0.0, "ok": True, **changes}


def test_aims_are_for_rows_of_the_table() -> None:
    assert set(aims.FAMILY_AIMS) < {workload.name for workload in FULL}
    assert not set(aims.FAMILY_AIMS) & set(aims.AIMS)


def test_report_says_how_far_each_aim_is_reached() -> None:
    rows = [
        row("heat", "tensorweb", 900.0),
        row("heat", "jax-js heat jit", 500.0),
        row("heat", "PyTorch eager", 4000.0),
        row("heat", "PyTorch compiled", 1250.0),
        row("rowsum", "tensorweb", 1000.0),
        row("var_rows", "tensorweb, jit", 800.0),
        row("bmm16", "tensorweb", 100.0),
        row("bmm16", "TF.js matmul", 80.0),
        row("svd", "tensorweb, one submit per op", 30.0),
        row("svd", "jax-js svd", 10.0),
        row("cholesky", "tensorweb, one submit per op", 30.0),
    ]
    found = Results("a machine", "d", {}, rows)
    text = report.family_table(found)
    assert "ahead of peers: met; ≥ 0.8 of compiled PyTorch: 90% of aim" in text
    assert "| ≥ 85% of rowsum: 94% of aim |" in text
    assert "| ≥ 1.5 of TF.js: 83% of aim |" in text
    assert "| ahead of jax-js: met |" in text
    assert "| ahead of jax-js |" in text
    assert "rowsum, GB/s" not in text
    assert text in report.markdown(found)
    assert report.family_table(Results("m", "d", {}, [rows[4]])) == ""
