"""The benchmarks' registry, references, results and report; no GPU but in one test."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

from bench import (
    aims,
    cases,
    kernels,
    kit,
    references,
    report,
    results,
    sampling,
    torch_reference,
)
from bench.ceilings import ceilings
from bench.first_report import first_call_table
from bench.programs import PROGRAMS
from bench.results import Results, Row
from bench.workloads import (
    GROUP_BYTES,
    JITTED,
    Workload,
    chosen,
    cpu_workloads,
    workloads,
)
from tensorweb import asarray

SHARED_NAMES = {
    *(f"matmul{n}" for n in (256, 512, 1024, 2048, 4096)),
    *("matmul_odd", "bmm", "matvec", "elem", "sum", "rowsum", "colsum", "softmax"),
}


def row(**changes: object) -> Row:
    whole: Row = {"workload": "elem", "impl": "tensorweb", "ms": 0.5, "rate": 200.0}
    return {**whole, "unit": "GB/s", "err": 1e-7, "ok": True, **changes}


def test_names_are_those_of_the_peers_and_unique() -> None:
    names = [workload.name for workload in workloads()]
    assert set(names) >= SHARED_NAMES
    assert len(names) == len(set(names))


@pytest.mark.parametrize("tiny", [False, True])
def test_every_workload_has_program_reference_and_work(tiny: bool) -> None:
    for workload in workloads(tiny=tiny):
        assert workload.program in PROGRAMS
        assert workload.program in references.REFERENCES
        assert workload.work > 0
        assert workload.unit in ("GFLOP/s", "GB/s")
        nbytes = math.prod(workload.output) * 4
        assert 1 <= workload.group <= max(1, GROUP_BYTES // nbytes)


def test_javascript_has_every_reference() -> None:
    text = (kit.BENCH / "js/references.mjs").read_text("utf-8")
    for program in PROGRAMS:
        assert f"  {program}:" in text


@pytest.mark.parametrize("workload", workloads(tiny=True), ids=lambda row: row.name)
def test_program_agrees_with_reference_on_cpu(workload: Workload, cpu: str) -> None:
    inputs = references.operands(workload)
    result = PROGRAMS[workload.program](*(asarray(x) for x in inputs))
    assert result.shape == workload.output
    flat = result.numpy().reshape(-1)
    assert sampling.error_of(workload, inputs, flat) <= workload.tolerance


def test_order_and_convolutions_count_their_work() -> None:
    rows = {workload.name: workload for workload in workloads()}
    assert rows["sort"].work == 2 * 2**24 * 4
    assert rows["argsort"].dtype == "int32"
    assert rows["conv2d"].output == (64, 64, 56, 56)
    assert rows["conv2d"].work == 2 * 64 * 64 * 56 * 56 * 64 * 9
    assert rows["conv2d_7x7s2"].output == (64, 64, 112, 112)
    assert rows["conv2d_7x7s2"].work == 2 * 64 * 64 * 112 * 112 * 3 * 49


def test_jitted_programs_are_on_the_list() -> None:
    rows = [workload for workload in workloads() if workload.is_jitted]
    chained = [workload for workload in cpu_workloads() if workload.is_chained]
    assert {workload.program for workload in rows + chained} == JITTED
    assert all(workload.group > 1 for workload in rows)


def test_recorded_program_computes_each_result(webgpu: str) -> None:
    data = np.ones(4, np.float32).tobytes()
    case = cases.ProgramCase("elem", [(data, (4,), "float32")], 3, is_jitted=True)
    case.run(3)
    before = cases.driver().counters()
    case.run(6)
    after = cases.driver().counters()
    assert after["dispatches"] == before["dispatches"] + 6
    assert after["submits"] == before["submits"] + 2


def test_wrong_result_is_noticed() -> None:
    (workload,) = chosen("^elem$", tiny=True)
    inputs = references.operands(workload)
    wrong = np.zeros(workload.output, np.float32)
    assert sampling.error_of(workload, inputs, wrong) > workload.tolerance
    wrong[:] = np.nan
    assert sampling.error_of(workload, inputs, wrong) == math.inf


def test_operands_stay_in_their_range() -> None:
    values = references.operands(chosen("^gather$", tiny=True)[0])
    table, indices = values
    assert indices.dtype == np.int32
    assert 0 <= indices.min() <= indices.max() < len(table)
    assert -1 <= table.min() < -0.9 < 0.9 < table.max() <= 1
    assert len(np.unique(indices)) > len(indices) // 2


def test_unknown_pattern_names_the_rows() -> None:
    with pytest.raises(ValueError, match="softmax"):
        chosen("convolution")


def test_rows_go_to_javascript_whole() -> None:
    shown = json.loads(json.dumps([row.as_json() for row in workloads()]))
    assert shown[0]["inputs"][0] == {
        "shape": [256, 256],
        "seed": 11,
        "low": -0.5,
        "high": 0.5,
        "dtype": "float32",
        "form": "",
    }


def test_ceilings_count_bytes_and_operations() -> None:
    rows = {row.name: row for row in ceilings()}
    assert rows["ceiling_copy256"].work == 2 * 256 * 2**20
    assert rows["ceiling_copy256"].grid[0] * rows["ceiling_copy256"].grid[1] == 65536
    assert rows["ceiling_fma"].work == 4096 * 256 * 512 * 8 * 4 * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ms": "fast"}, "ms is 'fast'"),
        ({"ms": math.nan}, "ms is nan"),
        ({"impl": "numpy"}, "no library's name"),
    ],
)
def test_schema_refuses(change: Row, message: str) -> None:
    (found,) = results.row_problems(row(**change))
    assert message in found


def test_schema_refuses_missing_keys_and_doubles() -> None:
    bad = row()
    del bad["unit"]
    assert results.row_problems(bad) == ["unit is missing"]
    assert "twice" in Results("m", "d", {}, [row(), row()]).problems()[0]


def test_saving_merges_runs(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    options = Namespace(out=path, machine="here", note="busy", tiny=True)
    about = {"adapter": "a", "driver": "d", "versions": {}}
    results.save(options, "node", about, [row(), row(impl="jax-js elem", ms=1.0)])
    results.save(options, "node", about, [row(ms=0.25)])
    found = results.load(path)
    assert found.machine == "here, tiny sizes"
    assert found.hosts["node"]["note"] == "busy"
    assert sorted(r["ms"] for r in found.rows) == [0.25, 1.0]
    best = found.find("elem", "jax-js")
    assert best
    assert best["ms"] == 1.0


def test_recorded_files_keep_the_schema() -> None:
    for path in results.FOLDER.glob("*.json"):
        assert results.load(path).problems() == [], path.name


def test_report_compares_with_the_best_peer() -> None:
    rows = [
        row(gpu_rate=220.0),
        row(impl="tensorweb, one submit per op", ms=0.8, rate=125.0),
        row(impl="jax-js elem", ms=2.0, rate=50.0),
        row(impl="jax-js elem jit", ms=1.0, rate=100.0),
        row(impl="TF.js elem", ms=0.1, rate=1000.0, ok=False),
        row(workload="ceiling_copy64", impl="WGSL", ms=1.0, rate=400.0),
        row(workload="python_op_tensor", ms=0.0047, rate=1.0, unit="op/s"),
    ]
    versions = {"node": "v20"}
    hosts = {"node": {"adapter": "gpu", "driver": "d", "versions": versions}}
    text = report.markdown(Results("a machine", "2026-11-21", hosts, rows))
    assert "a machine, 2026-11-21" in text
    line = "| elem, GB/s | 100 (jax-js jit) | 200 | 2.00 | 50% | ahead of peers: met |"
    assert f"{line} 125 | 220 |" in text
    assert "4.7 µs | ≤ 15 µs |" in text
    rows.append(row(impl="tensorweb, jit", ms=0.25, rate=400.0, gpu_rate=None))
    rows.append(row(impl="tensorweb in Chromium", ms=0.4, rate=250.0))
    text = report.markdown(Results("a machine", "2026-11-21", hosts, rows))
    line = "| 100 (jax-js jit) | 400 (jit) | 4.00 | 100% | ahead of peers: met | 250 |"
    assert f"{line} 125 |" in text


def test_report_says_how_far_aims_are_reached() -> None:
    rows = [
        row(rate=3000.0),
        row(impl="tensorweb, jit", rate=3600.0, ms=0.4),
        row(workload="matmul256", rate=4000.0),
        row(workload="cumsum", rate=1000.0),
        row(workload="cumsum", impl="TF.js cumsum", rate=2000.0),
        row(workload="ceiling_copy64", impl="WGSL", rate=5000.0),
        row(workload="ceiling_copy64", impl="WGSL in Chromium", rate=4000.0),
        row(workload="layernorm", rate=99.0),
        row(workload="layernorm", impl="PyTorch eager", rate=50.0),
        row(workload="layernorm", impl="PyTorch layer_norm", rate=100.0),
        row(workload="layernorm", impl="PyTorch compiled", rate=500.0, ms=0.1),
        row(workload="flush_cached_kernel", ms=0.006, rate=None, unit="kernel/s"),
    ]
    found = Results("NVIDIA H200", "d", {}, rows)
    text = report.kernel_table(found) + report.launch_table(found)
    assert "| ≥ 3,450 without jit: 86% of aim |" in text
    assert "| ≥ 3,200: met |" in text
    assert "| ≥ 40% of copy: 50% of aim |" in text
    assert "| ahead of PyTorch eager: 99% of aim | 500 (compiled) |" in text
    assert "6 µs, 2 times the aim | ≤ 3 µs" in text
    found.machine = "a laptop"
    assert "matmul256" in report.kernel_table(found)
    assert "matmul256" not in report.kernel_table(
        Results("x, tiny sizes", "", {}, rows)
    )
    assert "| ahead of peers |" in report.kernel_table(found)
    assert "3,200" not in report.kernel_table(found)


def test_report_shows_first_calls_cold_and_warmed_up() -> None:
    rows = [
        row(workload="first_call_sort", ms=300.0),
        row(workload="first_call_warm_sort", ms=4.25),
        row(workload="first_call_elem", ms=12.0),
        row(workload="first_call_warm_elem", ms=61.0),
        row(workload="warm_up", ms=3050.0),
    ]
    text = first_call_table(Results("NVIDIA H200", "d", {}, rows))
    assert "| first call of | tensorweb, cold | tensorweb, after warm_up |" in text
    assert "| sort | 300.0 ms | 4.2 ms |" in text
    assert "| elem | 12.0 ms | 61.0 ms, above the aim |" in text
    assert "Warming up every family took 3.0 s (tensorweb)." in text
    assert first_call_table(Results("NVIDIA H200", "d", {}, [row()])) == ""


def test_aims_are_for_rows_of_the_table() -> None:
    assert set(aims.AIMS) <= {workload.name for workload in workloads()}


def test_pytorch_has_every_program() -> None:
    ways = torch_reference.programs(MagicMock())
    assert set(ways) == set(PROGRAMS)
    assert set(torch_reference.INDEXED) < set(ways)


def test_documents_show_the_newest_results() -> None:
    found = results.load(results.newest())
    page = report.PAGE.read_text("utf-8")
    assert report.markdown(found).strip() in page, "run: bench report --write"


def test_report_goes_between_markers(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"a\n{report.BEGIN}\nold\n{report.END}\nb\n", "utf-8")
    report.write_between(path, "new")
    lines = path.read_text("utf-8").split("\n")
    assert list(filter(None, lines)) == ["a", report.BEGIN, "new", report.END, "b"]
    path.write_text("none", "utf-8")
    with pytest.raises(kit.BenchError, match="has no"):
        report.write_between(path, "new")


def test_sources_import_nothing_outside_the_kit(tmp_path: Path) -> None:
    inside = {name.replace("/", ".") for name in kit.INSIDE}
    for name in kit.INSIDE:
        text = (kit.BENCH / f"{name}.py").read_text("utf-8")
        imported = [
            line.split()[1].removeprefix("bench.")
            for line in text.splitlines()
            if line.startswith("from bench.")
        ]
        assert set(imported) <= inside, name
    assert kit.sources(tmp_path).stat().st_size > 1000


def test_peers_are_pinned() -> None:
    package = json.loads((kit.BENCH / "package.json").read_text("utf-8"))
    wanted = [name for name in kernels.LIBRARIES.values() if name]
    assert set(wanted) <= set(package["dependencies"])
    assert all(version[0].isdigit() for version in package["dependencies"].values())
