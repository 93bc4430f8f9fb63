"""The CPU benchmarks' rows, programs, timing, roofs and tables; needs no browser."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import cpu, cpu_report, kit, numpy_cases, references, sampling
from bench.numpy_cases import NumPyCase
from bench.programs import PROGRAMS
from bench.results import Results, Row
from bench.workloads import Workload, chosen, cpu_workloads
from tensorweb import asarray
from tools import environment

TINY = cpu_workloads(tiny=True)


def row(**changes: object) -> Row:
    whole: Row = {"workload": "elem", "impl": "tensorweb, 1 thread", "ms": 0.5}
    whole |= {"library": "tensorweb", "threads": 1, "rate": 10.0, "unit": "GB/s"}
    return {**whole, "err": 1e-7, "ok": True, **changes}


def results(*rows: Row) -> Results:
    about = {"versions": {"TF.js": "4"}, "browser": "Chrome/1", "threads": 2}
    about |= {"load_before": 0.1, "load_after": 0.2}
    return Results("a machine", "2026-11-22", {"chromium": about}, list(rows))


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What `tests/bench_rounds.mjs` prints."""
    command = [str(environment.node()), "tests/bench_rounds.mjs"]
    run = subprocess.run(
        command, cwd=kit.ROOT, capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def test_rows_are_programs_that_all_know() -> None:
    names = [workload.name for workload in cpu_workloads()]
    assert len(names) == len(set(names))
    assert [workload.name for workload in TINY][2:] == names[3:]
    for workload in cpu_workloads():
        assert workload.program in PROGRAMS
        assert workload.program in numpy_cases.PROGRAMS
        assert workload.program in references.REFERENCES
        assert workload.unit in ("GFLOP/s", "GB/s", "launches/ms")


@pytest.mark.parametrize("workload", TINY, ids=lambda row: row.name)
def test_programs_agree_with_reference(workload: Workload, cpu: str) -> None:
    inputs = references.operands(workload)
    result = PROGRAMS[workload.program](*(asarray(x) for x in inputs))
    flat = result.numpy().reshape(-1)
    assert sampling.error_of(workload, inputs, flat) <= workload.tolerance


@pytest.mark.parametrize("workload", TINY, ids=lambda row: row.name)
def test_programs_in_numpy_agree_with_reference(workload: Workload) -> None:
    inputs = references.operands(workload)
    operands = [(x.tobytes(), x.shape, x.dtype.name) for x in inputs]
    case = NumPyCase(workload.program, operands)
    case.run(2)
    flat = np.frombuffer(case.result(workload.dtype), workload.dtype)
    assert sampling.error_of(workload, inputs, flat) <= workload.tolerance


def test_chain_hands_on_its_result() -> None:
    (workload,) = chosen("launch", cpu=True)
    assert workload.is_chained
    start = np.arange(16, dtype=np.float32)
    case = NumPyCase(
        "increment", [(start.tobytes(), (16,), "float32")], is_chained=True
    )
    case.run(5)
    assert case.last.tolist() == (start + 5).tolist()


def test_batches_are_timed_in_turn(found: dict[str, Any]) -> None:
    steady, warming, hopeless, broken = found["times"]
    assert steady["ms"] == pytest.approx(0.5)
    assert steady["median_ms"] == pytest.approx(0.5)
    assert (warming["cold_ms"], warming["ms"]) == (1, 0.25)
    assert hopeless["ms"] == 900
    assert broken == {"error": "no memory"}
    timed = found["order"][found["order"].index("pause") :]
    names = [entry.split()[0] for entry in timed if entry != "pause"]
    assert names[:3] == ["steady", "warming", "hopeless"]
    assert names[3:6] == ["warming", "hopeless", "steady"]
    assert names.count("steady") == names.count("warming") == 4
    assert names.count("hopeless") == 2
    assert all(before == "pause" for before in timed[::2])


def test_batches_fill_their_time(found: dict[str, Any]) -> None:
    last = [entry for entry in found["order"] if entry.startswith("steady")][-1]
    assert int(last.split()[1]) * 0.5 >= 20


def test_roofs_compute_what_they_say(found: dict[str, Any]) -> None:
    roofs = found["roofs"]
    assert roofs["tile"] == 0
    assert roofs["sum"] == roofs["wanted"]
    assert roofs["copied"]
    # Of 4 times 10 sums of products, each has one operation of 3 bytes instead of two.
    assert found["plain"] - found["relaxed"] == 4 * 10 * 3


def test_roofs_are_programs_of_the_page() -> None:
    text = (kit.BENCH / "js/cpu/roofs.mjs").read_text("utf-8")
    for name, program, work, unit in cpu.ROOFS:
        assert name.startswith("roof_")
        assert re.search(rf"^  {program}: ", text, re.MULTILINE)
        assert work > 0
        assert unit in ("GFLOP/s", "GB/s")
    begins = {cpu_report.roof_of(workload) for workload in cpu_workloads()} - {""}
    names = {name for name, *_ in cpu.ROOFS}
    assert all(any(name.startswith(begin) for name in names) for begin in begins)


def test_worker_opens_every_library() -> None:
    text = (kit.BENCH / "page/cpu-worker.mjs").read_text("utf-8")
    for library in cpu.LIBRARIES:
        assert f"async {library.name}(" in text
    assert set(cpu_report.COLUMNS) == {row.name for row in cpu.LIBRARIES} - {"roofs"}


def test_libraries_run_with_one_thread_and_with_all() -> None:
    rows = cpu.contenders("tfjs,numpy", 4)
    assert [(row["library"], row["threads"]) for row in rows] == [
        ("numpy", 1),
        ("tfjs", 1),
        ("tfjs", 4),
    ]
    assert rows[-1]["title"] == "TF.js, 4 threads"
    assert len(cpu.contenders("tfjs", 1)) == 1
    with pytest.raises(kit.BenchError, match="unknown torch"):
        cpu.contenders("torch,tfjs", 1)


def test_results_are_kept_when_the_page_ends_early(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = {"browser": "Chrome/1", "rows": [row()], "is_last": False}
    last = {"browser": "Chrome/1", "rows": [row(workload="sort")], "is_last": True}
    whole = cpu.collect(iter([first, last]).__next__)
    assert [row["workload"] for row in whole["rows"]] == ["elem", "sort"]
    early = cpu.collect(iter([first, {"error": "no memory"}]).__next__)
    assert early["rows"] == first["rows"]
    assert "no memory" in capsys.readouterr().out
    with pytest.raises(kit.BenchError, match="no memory"):
        cpu.collect(iter([{"error": "no memory"}]).__next__)


def test_the_better_of_two_runs_is_kept() -> None:
    known = [row(ms=0.4), row(workload="sort", ms=0.1, ok=False)]
    rows = [row(), row(workload="sort"), row(workload="launch")]
    kept = cpu.better(known, rows)
    assert [row["ms"] for row in kept] == [0.4, 0.5, 0.5]


def test_wheel_of_numpy_is_looked_for(tmp_path: Path) -> None:
    assert cpu.numpy_wheel(None) is None
    assert cpu.numpy_wheel(tmp_path) is None
    wheel = tmp_path / "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl"
    wheel.touch()
    assert cpu.numpy_wheel(tmp_path) == wheel


def test_peers_on_webassembly_are_pinned_and_come_from_no_named_host() -> None:
    package = json.loads((kit.BENCH / "package.json").read_text("utf-8"))
    versions = package["dependencies"]
    assert versions["@tensorflow/tfjs-backend-wasm"] == "4.22.0"
    text = (kit.BENCH / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    locked = json.loads(text)["packages"][""]["dependencies"]
    assert locked == versions


def test_table_compares_with_the_best_peer_of_as_many_threads() -> None:
    numpy = {"library": "numpy", "impl": "NumPy, 1 thread"}
    rows = [
        row(),
        row(impl="tensorweb jit, 1 thread", ms=0.25, rate=20.0),
        row(impl="tensorweb, 2 threads", threads=2, ms=0.2, rate=25.0),
        row(**numpy, ms=1.0, rate=5.0),
        row(library="tfjs", impl="TF.js elem, 1 thread", ms=0.1, ok=False, err=1.0),
        row(library="jaxjs", impl="jax-js elem jit, 1 thread", ms=0.5, rate=10.0),
        row(library="tfjs", impl="TF.js elem, 2 threads", threads=2, ms=0.3, rate=16.7),
        row(library="roofs", workload="roof_copy_8MiB", rate=40.0),
        row(library="roofs", workload="roof_copy_64MiB", rate=80.0),
    ]
    text = cpu_report.markdown(results(*rows))
    assert "a machine, 2026-11-22, Chrome/1; TF.js 4." in text
    one, two = text.split("## 2 threads")
    assert "| elem, GB/s | 20 (jit) | 5 | 10 (jit) |  |  | **2.00** | 50% |" in one
    assert "| elem, GB/s | 25 | 5 |  | 16.7 |  | **1.50** |" in two
    assert "copy 8MiB 40 GB/s" in one


def test_peers_that_sum_less_exactly_are_compared_and_marked() -> None:
    inexact = {"ok": False, "err": 2e-4}
    peer = {"library": "tfjs", "impl": "TF.js sum, 1 thread"}
    rows = [row(workload="sum16M"), row(workload="sum16M", **peer, ms=0.25, **inexact)]
    assert "| 10 |  |  | 10† |  | **0.50** |" in cpu_report.table(results(*rows), 1)
    wrong = row(workload="sum16M", **peer, ok=False, err=0.5)
    assert "†" not in cpu_report.table(results(rows[0], wrong), 1)
    own = row(workload="sum16M", **inexact)
    assert cpu_report.table(results(own, rows[1]), 1).endswith("|  |  |  | 10† |  |  |")


def test_table_shows_launches_in_microseconds() -> None:
    launch = {"workload": "launch", "unit": "launches/ms", "rate": 400.0}
    rows = [
        row(**launch, ms=0.0025),
        row(**launch, library="tfjs", impl="TF.js increment, 1 thread", ms=0.005),
    ]
    text = cpu_report.table(results(*rows), 1)
    assert "| launch, µs | 2.5 |  |  | 5 |  | **2.00** |" in text
