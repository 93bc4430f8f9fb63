"""The benchmarks: workloads, programs, timing, results, report; without a browser."""

from __future__ import annotations

import ast
import json
import math
import subprocess
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

import tensorweb as tw
from bench import __main__ as bench
from bench import cases, programs, pytorch, report, results, training, workloads
from bench.cases import ProgramCase, Timer
from bench.results import Results, Row
from bench.workloads import TABLES, Workload, chosen
from tools import environment

ALL = [
    pytest.param(workload, id=f"{table} {workload.name}")
    for table, made in TABLES.items()
    for workload in made(tiny=True)
]


def row(**changes: object) -> Row:
    found: Row = {"workload": "elem", "impl": "tensorweb", "ms": 0.5, "rate": 200.0}
    return {**found, "unit": "GB/s", "err": 1e-7, "ok": True, **changes}


def given(workload: Workload) -> list[tuple[bytes, tuple[int, ...], str]]:
    return [(x.tobytes(), x.shape, str(x.dtype)) for x in programs.operands(workload)]


@pytest.mark.parametrize("workload", ALL)
def test_programs_agree_with_the_reference(workload: Workload, cpu: str) -> None:
    case = ProgramCase(workload.program, given(workload), 2, device=cpu)
    case.run(2)
    result = np.frombuffer(case.result(), workload.dtype)
    numbers = result.view(result.real.dtype)
    expected = programs.samples(workload)
    assert numbers.size == workload.numbers
    assert len(expected["indices"]) > min(workload.numbers, 40) / 2
    assert programs.error_of(expected, result) <= workload.tolerance
    wrong = numbers + np.ones(1, numbers.dtype)
    assert programs.error_of(expected, wrong) > workload.tolerance


@pytest.mark.parametrize("workload", TABLES["cpu"](tiny=True), ids=lambda row: row.name)
def test_numpy_is_a_peer(workload: Workload) -> None:
    case = programs.NumPyCase(workload.program, given(workload))
    case.run(2)
    result = np.frombuffer(case.result(workload.dtype), workload.dtype)
    expected = programs.samples(workload)
    assert programs.error_of(expected, result) <= workload.tolerance


def test_nan_is_an_error() -> None:
    (workload,) = chosen("kernels", "^elem$", tiny=True)
    wrong = np.full(workload.output, np.nan, np.float32)
    assert programs.error_of(programs.samples(workload), wrong) == math.inf


def test_every_library_has_every_program() -> None:
    used = {each.program for made in TABLES.values() for each in made()}
    assert used == set(programs.tensorweb_programs())
    assert used == set(programs.numpy_programs())
    assert used == set(pytorch.programs(MagicMock()))
    assert used > workloads.JITTED | workloads.SLOW | workloads.CHAINED
    for peer in ("jaxjs", "tfjs"):
        text = (results.BENCH / f"js/{peer}.mjs").read_text("utf-8")
        assert sum(f"  {name}" in text for name in used) > 15


@pytest.mark.parametrize("table", TABLES)
def test_names_are_unique_and_equal_at_both_sizes(table: str) -> None:
    full, tiny = (TABLES[table](tiny=tiny) for tiny in (False, True))
    assert len({each.name for each in full}) == len(full)
    assert {each.program for each in full} == {each.program for each in tiny}
    for each in full:
        assert 1 <= each.group <= max(1, workloads.GROUP_BYTES // (4 * each.numbers))


def test_work_of_some_workloads() -> None:
    work = {each.name: each.work for each in TABLES["families"]()}
    work |= {each.name: each.work for each in TABLES["kernels"]()}
    assert work["sort"] == 2 * 2**24 * 4
    assert work["conv2d"] == 2 * 64 * 64 * 56 * 56 * 64 * 9
    assert work["conv2d_7x7s2"] == 2 * 64 * 64 * 112 * 112 * 3 * 49
    assert work["fft"] == 5 * 2**20 * 20
    assert work["attention"] == 4 * 16 * 1024 * 1024 * 64
    assert work["pairwise"] == 4 * (2 * 2048 * 3 + 2048**2)
    ceilings = {each.name: each.work for each in cases.ceilings()}
    assert ceilings["ceiling_copy256"] == 2 * 256 * 2**20
    assert ceilings["ceiling_fma"] == 4096 * 256 * 512 * 8 * 4 * 2


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="softmax"):
        chosen("kernels", "convolution")
    with pytest.raises(results.BenchError, match="unknown torch"):
        bench.contenders("torch,tfjs", 1)


def test_recorded_program_computes_each_result(webgpu: str) -> None:
    data = np.ones(4, np.float32).tobytes()
    case = ProgramCase("elem", [(data, (4,), "float32")], 3, is_jitted=True)
    case.run(3)
    before = cases.driver().counters()
    case.run(6)
    after = cases.driver().counters()
    assert after["dispatches"] == before["dispatches"] + 6
    assert after["submits"] == before["submits"] + 2


def test_chain_passes_on_its_result() -> None:
    start = np.arange(16, dtype=np.float32)
    operands = [(start.tobytes(), (16,), "float32")]
    case = programs.NumPyCase("increment", operands, is_chained=True)
    case.run(5)
    assert case.last.tolist() == (start + 5).tolist()


CHECKED = chosen("families", "^(argmax_rows|fft|cholesky|eigh|gray_scott)$", tiny=True)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Return what `tests/bench_harness.mjs` prints."""
    asked = {
        "checked": [
            {"workload": programs.checked_json(each), "result": [0.5] * each.numbers}
            for each in CHECKED
        ],
        "networks": [training.as_json(name, tiny=True) for name in training.SIZES],
    }
    command = [str(environment.node()), "tests/bench_harness.mjs"]
    shown = subprocess.run(
        command,
        cwd=results.ROOT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    answer: dict[str, Any] = json.loads(shown)
    return answer


def test_javascript_has_the_same_operands_and_errors(found: dict[str, Any]) -> None:
    for workload, answer in zip(CHECKED, found["checked"], strict=True):
        inputs = programs.operands(workload)
        for x, y in zip(inputs, answer["operands"], strict=True):
            np.testing.assert_array_equal(x.view(x.real.dtype).reshape(-1), y)
        half = np.full(workload.numbers, 0.5, np.float32)
        error = programs.error_of(programs.samples(workload), half)
        assert answer["error"] == pytest.approx(error, rel=1e-12)
        assert 0 < error < math.inf


def test_javascript_has_the_same_networks(found: dict[str, Any]) -> None:
    for name, made in zip(training.SIZES, found["networks"], strict=True):
        entries = training.inputs(name, training.SIZES[name][True])
        for entry, few in zip(entries, made, strict=True):
            flat = programs.operand(entry).reshape(-1)
            assert few == [*flat[:3].tolist(), *flat[-2:].tolist()]


def test_cases_that_fail_become_lines(found: dict[str, Any]) -> None:
    [quick] = found["table"]["rows"]
    assert (quick["impl"], quick["ms"], quick["rate"]) == ("quick", 0.5, 2.0)
    early, late = sorted(found["table"]["lines"][1:])
    assert (early, late) == (
        "elem: early failed: no memory",
        "elem: late failed: no memory",
    )


def test_groups_of_long_operations_are_small(found: dict[str, Any]) -> None:
    assert found["groups"][:5] == [*["grouped 64"] * 3, "grouped 8", "warm"]
    counts = [int(call.split()[1]) for call in found["groups"][5:]]
    assert all(count % 8 == 0 for count in counts)
    assert counts[-1] * 0.5 >= 10
    assert found["times"]["ms"] == pytest.approx(0.5)


def test_batches_alternate(found: dict[str, Any]) -> None:
    steady, warming, hopeless, broken = found["inTurn"]
    assert steady["ms"] == steady["median_ms"] == 0.5
    assert (warming["cold_ms"], warming["ms"]) == (1, 0.25)
    assert hopeless["ms"] == 900
    assert broken == {"error": "no memory"}
    names = [call.split()[0] for call in found["order"]]
    assert names[-8:] == [
        *("steady", "warming", "warming", "steady"),
        *("steady", "warming", "steady", "warming"),
    ]
    assert names.count("hopeless") == 2


def test_timer_measures_by_the_same_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    counts: list[int] = []
    groups: list[int] = []
    monkeypatch.setattr(cases, "perf_counter", lambda: now)

    def run(count: int, seconds: float = 1e-3) -> None:
        nonlocal now
        counts.append(count)
        now += count * seconds

    timer = Timer(0.05, lambda: None, lambda: None, is_tiny=True)
    times = timer.measure(run, 64, groups.append)
    assert groups == [4]
    assert counts[:4] == [64, 64, 64, 4]
    assert all(count % 4 == 0 for count in counts)
    assert times["ms"] == pytest.approx(1)
    counts.clear()
    hopeless = timer.measure(lambda count: run(count, 0.9))
    assert counts == [1, 1]
    assert hopeless["ms"] == pytest.approx(900)


@pytest.mark.parametrize("network", training.SIZES)
def test_a_step_moves_against_the_gradient(network: str, cpu: str) -> None:
    size = training.SIZES[network][True]
    arrays = [programs.operand(each) for each in training.inputs(network, size)]
    functions = training.tensorweb_functions()
    trainer = training.Trainer(network, True, [array.tobytes() for array in arrays])
    model = dict(trainer.model)

    def loss(model: Any) -> tw.Tensor:
        made: tw.Tensor = training.LOSSES[network](
            functions, size, model, trainer.x, trainer.y
        )
        return made

    first, gradients = tw.value_and_grad(loss)(model)
    trainer.run(1)
    assert trainer.loss.item() == pytest.approx(first.item(), rel=1e-6)
    for name, gradient in gradients.items():
        moved = np.asarray(trainer.model[name]) - np.asarray(model[name])
        # Adam's first step is the rate against the gradient's sign.
        steep = np.abs(np.asarray(gradient)) > 1e-5
        expected = -1e-3 * np.sign(np.asarray(gradient))
        assert np.allclose(moved[steep], expected[steep], atol=2e-6)
    trainer.run(5)
    assert trainer.loss.item() < first.item()


def test_forward_pass_attends_to_earlier_letters_only(cpu: str) -> None:
    size = training.FORWARD["gpt2_short"][True]
    p, functions = training.weights(tw, size), training.tensorweb_functions()
    texts = ([[3, 1, 4, 1, 5, 9, 2, 6]], [[3, 1, 4, 1, 5, 9, 2, 7]])
    first, second = (
        training.logits(functions, size, p, tw.asarray(text), p["letters"].T)
        for text in texts
    )
    assert first.shape == (size.batch, size.length, size.letters)
    difference = np.abs(np.asarray(second - first))[0].max(axis=-1)
    assert (difference[:-1] == 0).all()
    assert difference[-1] > 0


def test_losses_that_differ_are_reported() -> None:
    ours = row(workload="train_mlp", losses=[2.3, 0.5])
    peer = row(workload="train_mlp", impl="TF.js", losses=[2.3, 0.50005])
    assert not bench.disagreements([ours, peer])
    [text] = bench.disagreements([ours, {**peer, "losses": [2.3, 0.5002]}])
    assert "train_mlp" in text
    assert "twentieth" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ms": "fast"}, "ms is 'fast'"),
        ({"ms": math.nan}, "ms is nan"),
        ({"impl": "numpy"}, "no library's name"),
    ],
)
def test_schema_refuses(change: Row, message: str) -> None:
    (problem,) = results.row_problems(row(**change))
    assert message in problem
    assert "twice" in Results("m", "d", {}, [row(), row()]).problems()[0]


def test_saving_merges_runs(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    options = Namespace(out=path, machine="here", note="busy", tiny=True)
    about = {"adapter": "a", "driver": "d", "versions": {}}
    peer = row(impl="jax-js elem", ms=1.0, gpu_ms=0.123456)
    results.save(options, "node", about, [row(ok=False), peer])
    results.save(options, "node", about, [row(ms=0.25, rate=None)])
    found = results.load(path)
    assert found.machine == "here, tiny sizes"
    assert found.hosts["node"]["note"] == "busy"
    assert found.rows == [
        {**peer, "gpu_ms": 0.12346},
        row(ms=0.25, rate=None),
    ]
    options.out = tmp_path / "older.json"
    older = Results("there", "2020-01-01", {}, [row(workload="sort")])
    results.write(options.out, older)
    results.save(options, "node", about, [row()])
    sort, elem = results.load(options.out).rows
    assert (sort["date"], "date" in elem) == ("2020-01-01", False)


def test_recorded_files_follow_the_schema() -> None:
    for path in results.FOLDER.glob("*.json"):
        assert results.load(path).problems() == [], path.name


def test_report_compares_with_the_best_peer() -> None:
    rows = [
        row(gpu_rate=220.0),
        row(impl="tensorweb, one submit per op", ms=0.8, rate=125.0),
        row(impl="jax-js elem", ms=2.0, rate=50.0),
        row(impl="jax-js elem jit", ms=1.0, rate=100.0),
        row(impl="TF.js elem", ms=0.1, rate=1000.0, ok=False),
        row(impl="PyTorch compiled", ms=0.25, rate=400.0),
        row(workload="ceiling_copy64", impl="WGSL", ms=1.0, rate=400.0),
        row(workload="flush_cached_kernel", ms=0.006, rate=1.0, unit="op/s"),
        row(workload="first_call_sort", ms=300.0),
        row(workload="first_call_warm_sort", ms=61.0),
        row(workload="var_rows", impl="tensorweb, jit", rate=800.0),
    ]
    hosts = {"node": {"adapter": "gpu", "driver": "d", "versions": {"node": "v20"}}}
    text = report.markdown(Results("a machine", "2026-11-21", hosts, rows))
    assert "a machine, 2026-11-21" in text
    line = (
        "| elem, GB/s | 100 (jax-js jit) | 200 | 2.00 | 50% | 400 (compiled) | 0.50 |"
    )
    assert f"{line} 125 | 220 |" in text
    assert "| var_rows, GB/s | 800 (jit) |" in text
    assert "6 µs, 2 times the limit | ≤ 3 µs |" in text
    assert "| sort | 300 ms | 61 ms, 1 times the limit |" in text
    rows.append(row(impl="tensorweb in Chromium", ms=0.4, rate=250.0))
    found = Results("a machine", "d", hosts, rows)
    assert "| 0.50 | 250 | 125 |" in report.comparison(found, TABLES["kernels"]())
    assert report.comparison(replace(found, rows=[]), TABLES["kernels"]()) == ""


def test_report_shows_training() -> None:
    host = "tensorweb in Chromium"
    rows = [row(workload="train_mlp", impl=host, ms=0.2, date="2026-11-23")]
    rows += [row(workload="train_mlp", impl="jax-js jit", ms=9.0)]
    rows += [row(workload="train_mlp", impl="PyTorch graph", ms=0.1)]
    text = report.training_table(Results("NVIDIA H200", "2026-11-22", {}, rows))
    assert "measured on 2026-11-23" in text
    assert "| 9 ms |  | 0.2 ms | 45 |  | 0.1 ms |" in text
    assert report.training_table(Results("x", "2026-11-22")) == ""


def cpu_row(library: str, impl: str, threads: int = 1, **changes: object) -> Row:
    found = row(impl=impl, library=library, threads=threads, rate=10.0)
    return {**found, **changes}


def test_report_compares_libraries_of_equal_thread_counts() -> None:
    rows = [
        cpu_row("tensorweb", "tensorweb, 1 thread"),
        cpu_row("tensorweb", "tensorweb jit, 1 thread", ms=0.25, rate=20.0),
        cpu_row("tensorweb", "tensorweb, 2 threads", 2, ms=0.2, rate=25.0),
        cpu_row("numpy", "NumPy, 1 thread", ms=1.0, rate=5.0),
        cpu_row("tfjs", "TF.js elem, 1 thread", ms=0.1, ok=False, err=1.0),
        cpu_row("jaxjs", "jax-js elem jit, 1 thread", ms=0.5, ok=False, err=2e-4),
        cpu_row("tfjs", "TF.js elem, 2 threads", 2, ms=0.3, rate=16.7),
    ]
    about = {"versions": {"TF.js": "4"}, "browser": "Chrome/1", "threads": 2}
    hosts = {"chromium": {**about, "load": [0.1, 0.2]}}
    found = Results("a machine, cpu", "2026-11-22", hosts, rows)
    text = report.markdown(found)
    assert "a machine, 2026-11-22, Chrome/1; TF.js 4." in text
    one, two = text.split("2 threads; NumPy has one")
    assert "| elem, GB/s | 20 (jit) | 5 | 10† (jit) | 2.00 |" in one
    assert "| elem, GB/s | 25 | 5 | 16.7 | 1.50 |" in two


def test_libraries_run_with_one_thread_and_with_all() -> None:
    rows = bench.contenders("tfjs,numpy", 4)
    pairs = [(row["library"], row["threads"]) for row in rows]
    assert pairs == [("numpy", 1), ("tfjs", 1), ("tfjs", 4)]
    assert rows[-1]["title"] == "TF.js, 4 threads"


@pytest.mark.parametrize(
    ("flags", "libraries"),
    [
        (["--no-launches"], []),
        (["--no-launches", "--kernels"], ["tensorweb"]),
        ([], ["tensorweb"]),
    ],
)
def test_page_opens_the_library_only_to_measure_it(
    flags: list[str], libraries: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = MagicMock()
    monkeypatch.setattr(bench, "_in_browser", measure)
    assert bench.main(["page", "--tiny", "--w", "elem", *flags]) == 0
    [[_, extra]] = [call.args for call in measure.call_args_list]
    assert extra["libraries"] == libraries


def test_documents_show_the_newest_results() -> None:
    gpu, cpu = (results.load(results.newest(cpu=each)) for each in (False, True))
    page = report.PAGE.read_text("utf-8")
    for text in (report.markdown(gpu), report.markdown(cpu)):
        assert text.strip() in page, "run: bench report --write"


def test_text_goes_between_markers(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    begin, end = report.MARKERS
    path.write_text(f"a\n{begin}\nold\n{end}\nb\n", "utf-8")
    report.write_between(path, "new", report.MARKERS)
    words = path.read_text("utf-8").split()
    assert words == ["a", *begin.split(), "new", *end.split(), "b"]
    with pytest.raises(results.BenchError, match="has no"):
        report.write_between(path, "new", report.CPU_MARKERS)


def test_modules_for_pyodide_import_nothing_else_of_the_benchmarks(
    tmp_path: Path,
) -> None:
    for name in results.INSIDE:
        tree = ast.parse((results.BENCH / f"{name}.py").read_text("utf-8"))
        froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        modules = {str(node.module) for node in froms}
        inner = {each.removeprefix("bench.") for each in modules if "bench." in each}
        assert inner <= set(results.INSIDE), name
    assert results.sources(tmp_path).stat().st_size > 1000


def test_peers_are_pinned_and_come_from_no_named_host() -> None:
    package = json.loads((results.BENCH / "package.json").read_text("utf-8"))
    versions = package["dependencies"]
    assert set(bench.PEERS.values()) <= set(versions)
    assert all(version[0].isdigit() for version in versions.values())
    text = (results.BENCH / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    assert json.loads(text)["packages"][""]["dependencies"] == versions
