"""Reports outside of the page: what they record, their text, and their file."""

from __future__ import annotations

import asyncio
import gc
import html
import json
import re
import subprocess
import sys
import weakref
import webbrowser
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.playground import policy, sources
from tensorweb.reports import report
from tensorweb.reports.recording import MOST_STEPS, Recorder
from tensorweb.show import set_show_hook

PROGRAM = """\
import tensorweb as tw
def layer(v):
    return tw.exp(v) * 2
with tw.trace() as t:
    x = tw.reshape(tw.arange(6.0), (2, 3))
    for i in range(3):
        y = (layer(x) + i).realize()
    z = y.T
    name = "</script><script>alert(1)</script>"
    total = z.sum()
"""


def traced(folder: Path, source: str = PROGRAM) -> tw.Report:
    file = folder / "program.py"
    file.write_text(source)
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(source, str(file), "exec"), names)
    report = names["t"]
    assert isinstance(report, tw.Report)
    return report


def recording(report: tw.Report, folder: Path) -> Any:
    text = report.report(folder / "report.html").read_text("utf-8")
    found = re.search(r'id="recording">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_a_trace_knows_lines_and_tensors(device: str, tmp_path: Path) -> None:
    found = recording(traced(tmp_path), tmp_path)
    assert found["source"] == PROGRAM
    lines = {line["line"]: line for line in found["run"]["lines"]}
    assert [*sorted(lines)] == [3, 5, 7, 8, 10]
    layer = lines[3]
    assert (layer["function"], layer["count"], layer["name"]) == ("layer", 3, "")
    assert (lines[7]["name"], lines[7]["shape"], lines[7]["count"]) == ("y", [2, 3], 3)
    assert lines[8]["view"]
    assert not lines[7]["view"]
    tensors = {tensor["name"]: tensor for tensor in found["tensors"]}
    assert {"x", "y", "z", "total", "tw.exp(v) * 2"} == {*tensors}
    assert (tensors["y"]["strides"], tensors["z"]["strides"]) == ([3, 1], [1, 3])
    assert tensors["z"]["viewOf"] == "y"
    assert tensors["tw.exp(v) * 2"]["min"] == pytest.approx(2.0)
    pictures = {
        one["details"]["tensor"]
        for one in found["responses"]
        if one["name"] == "heatmap"
    }
    assert {one for one in pictures if one < policy.FIRST_VALUE_ID} == {
        tensor["id"] for name, tensor in tensors.items() if name != "total"
    }


def test_kernels_have_lines_text_and_memory(webgpu: str, tmp_path: Path) -> None:
    found = recording(traced(tmp_path), tmp_path)
    kernels = found["run"]["kernels"]
    assert kernels
    assert {kernel["line"] for kernel in kernels} <= {3, 5, 7, 8, 10}
    texts = [one for one in found["responses"] if one["name"] == "source"]
    assert len(texts) == len(kernels)
    assert "fn main(" in texts[0]["response"]["text"]
    (memory,) = (one for one in found["responses"] if one["name"] == "memory")
    (on_device,) = memory["response"]["devices"]
    assert on_device["device"] == "webgpu"
    assert {5, 7} & {b["values"][0]["line"] for b in on_device["blocks"] if b["values"]}


def test_inspecting_shows_how_a_tensor_was_made(device: str, tmp_path: Path) -> None:
    x = tw.reshape(tw.arange(6.0), (2, 3)).realize()
    y = tw.exp(x[1, ::-1]) + 1
    report = tw.inspect(y)
    steps = [step["text"] for step in recording(report, tmp_path)["graph"]]
    assert [re.sub(r"%\d+ = ", "", step) for step in steps][-2:] == [
        f"exp(%{len(steps) - 3})",
        f"add(%{len(steps) - 2}, 1)",
    ]
    assert repr(report).startswith("y: ")
    assert "y: float32 (3,)" in repr(report)
    assert y.tolist() == pytest.approx([149.413, 55.598, 21.0855], rel=1e-4)


def responses(report: tw.Report, name: str, folder: Path) -> list[Any]:
    found = recording(report, folder)["responses"]
    return [one for one in found if one["name"] == name]


def test_a_report_explains_cells_down_to_the_data(device: str, tmp_path: Path) -> None:
    found = responses(traced(tmp_path), "why", tmp_path)
    why = {one["response"]["tensor"]["name"]: one["response"] for one in found}
    (source,) = why["total"]["sources"]
    assert (source["count"], len(source["cells"]), why["total"]["line"]) == (6, 4, 10)
    assert {"total", "y", "tw.exp(v) * 2"} <= {*why}
    asked = {(one["details"]["tensor"], *one["details"]["index"]) for one in found}
    read = {
        (source["tensor"]["id"], *cell["index"])
        for one in found
        for source in one["response"]["sources"]
        for cell in source["cells"]
    }
    assert read <= asked


def test_a_report_explains_the_cells_that_are_chosen(
    cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tw.ones((100, 100)) * 2
    found = responses(tw.inspect(x, why=[(3, 4), (-1, 0)]), "why", tmp_path)
    assert [one["details"]["index"] for one in found][:2] == [[3, 4], [99, 0]]
    found = responses(tw.inspect(x + 1), "why", tmp_path)
    assert found[0]["details"]["index"] == [0, 0]
    with pytest.raises(tw.DataError, match=r"no cell \(100, 0\) in shape \(100, 100\)"):
        tw.inspect(x, why=[(100, 0)])
    monkeypatch.setattr(policy, "MOST_EXPLAINED", 3)
    found = responses(tw.inspect(tw.ones(9) + 1), "why", tmp_path)
    assert len(found) == 3


def test_a_report_has_the_values_of_a_loop(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_RECORDED_STEPS", 4)
    source = PROGRAM.replace("range(3)", "range(10)").replace("+ i", "+ i * 100")
    report = traced(tmp_path, source)
    lines = recording(report, tmp_path)["run"]["lines"]
    films = {
        lines[one["details"]["result"]]["line"]: one["response"]["steps"]
        for one in responses(report, "film", tmp_path)
    }
    assert [*sorted(films)] == [3, 7]
    # The last one, and every third before it.
    assert [step["step"] for step in films[7]] == [0, 3, 6, 9]
    assert [round(step["tensor"]["min"]) for step in films[7]] == [2, 302, 602, 902]


NETWORK = """\
import tensorweb as tw
model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.Tanh())
with tw.trace() as t:
    y = model(tw.ones((2, 3)))
"""


def test_a_report_has_the_networks_in_sight(cpu: str, tmp_path: Path) -> None:
    report = traced(tmp_path, NETWORK)
    (one,) = responses(report, "modules", tmp_path)
    rows = [(each["path"], each["calls"]) for each in one["response"]]
    assert rows == [("model", 1), ("model.0", 1), ("model.1", 1)]
    assert one["response"][1]["output"]["shape"] == [2, 4]
    drawn = {
        each["details"]["tensor"] for each in responses(report, "heatmap", tmp_path)
    }
    assert {each["id"] for each in one["response"][1]["tensors"]} <= drawn


def test_the_time_of_a_report_is_that_of_its_kernels(
    webgpu: str, tmp_path: Path
) -> None:
    (spent,) = responses(traced(tmp_path), "timeline", tmp_path)
    record = spent["response"]
    assert len(record["flushes"]) >= 3
    assert all(0 <= each["begin"] <= record["seconds"] for each in record["flushes"])


def test_inspecting_inside_a_trace_reaches_the_data(device: str) -> None:
    with tw.trace() as t:
        x = tw.asarray([1.0, 2.0])
        y = (x * 2).realize()
        z = (y + 1).realize()
        texts = repr(tw.inspect(z)).split("Graph\n")[1]
    assert "multiply(%0, 2)" in texts
    assert "line" in texts
    # Statistics of the inspected tensor are no part of the program.
    assert "isfinite" not in repr(t)


def test_a_trace_inside_another_has_its_own_lines(cpu: str, tmp_path: Path) -> None:
    with tw.trace():
        before = (tw.ones((2, 3)) * 2).realize()
        with tw.trace() as t:
            after = before + 1
    found = recording(t, tmp_path)
    assert [line["name"] for line in found["run"]["lines"]] == ["after"]
    assert {tensor["name"] for tensor in found["tensors"]} == {"before", "after"}
    del after


def test_the_values_of_an_outer_trace_are_left_out(cpu: str, tmp_path: Path) -> None:
    with tw.trace() as outer:
        before = tw.exp(tw.ones((2, 3))).realize()
        with tw.trace() as t:
            after = tw.log(before)
        last = tw.sin(after).realize()
    found = recording(t, tmp_path)
    steps = [step["text"].split(" = ")[1] for step in found["graph"]]
    assert [step.split("(")[0] for step in steps] == ["data", "log"]
    assert [line["name"] for line in found["run"]["lines"]] == ["after"]
    lines = recording(outer, tmp_path)["run"]["lines"]
    assert {"before", "after", "last"} <= {line["name"] for line in lines}
    del last


def test_inspecting_leaves_the_memory_of_the_trace(webgpu: str, tmp_path: Path) -> None:
    with tw.trace() as t:
        x = tw.asarray([[1.0, 2.0], [3.0, 4.0]], device=webgpu)
        y = tw.exp(x)
        inner = tw.inspect(y)
    assert not recording(inner, tmp_path)["run"]["memory"]
    found = recording(t, tmp_path)["responses"]
    (memory,) = (one["response"] for one in found if one["name"] == "memory")
    (on_device,) = memory["devices"]
    names = [name for block in on_device["blocks"] for name in block["names"]]
    assert {"x", "y"} <= {*names}


def test_traces_that_overlap_leave_the_sources(cpu: str) -> None:
    async def run(seconds: float) -> None:
        await asyncio.sleep(seconds)
        with tw.trace():
            await asyncio.sleep(0.02)
        assert not sources.is_program(__file__)

    async def both() -> None:
        await asyncio.gather(run(0), run(0.01))

    asyncio.run(both())
    assert not sources.is_program(__file__)


def test_a_trace_through_contextlib_records_its_caller(cpu: str) -> None:
    @contextmanager
    def traced() -> Iterator[tw.Report]:
        with tw.trace() as t:
            hidden = tw.ones(2) * 3
            yield t
            del hidden

    with ExitStack() as stack:
        first = stack.enter_context(tw.trace())
        x = tw.ones((2, 3)) * 2
    with traced() as second:
        y = tw.ones((3, 5)) * 2
    assert repr(first).startswith("test_reports.py: ")
    assert "x: float32 (2, 3)" in repr(first)
    assert repr(second).startswith("test_reports.py: ")
    assert "y: float32 (3, 5)" in repr(second)
    del x, y


def test_tensors_of_before_stay_pending(cpu: str) -> None:
    before = tw.exp(tw.ones((2, 3)) * 2)
    with tw.trace() as t:
        after = tw.ones((3, 5)) * 2
    assert "after" in repr(t)
    assert "before" not in repr(t)
    assert before.node.storage is None
    del after


def test_a_finished_report_retains_no_tensor(cpu: str) -> None:
    def run() -> tuple[tw.Report, weakref.ref[Node]]:
        with tw.trace() as t:
            x = tw.ones((2, 3)) * 2
        return t, weakref.ref(x.node)

    t, node = run()
    text = repr(t)
    gc.collect()
    assert node() is None
    assert repr(t) == text


def test_generated_values_have_the_name_of_their_operation(cpu: str) -> None:
    steps = repr(tw.inspect(tw.arange(5) * 2, "x")).split("Graph\n")[1]
    assert "%0 = iota()" in steps
    before = tw.exp(tw.ones((2, 3))).realize()
    steps = repr(tw.inspect(before + 1, "x")).split("Graph\n")[1]
    assert "%0 = data" in steps


def test_the_graph_of_a_long_run_has_its_end(cpu: str, tmp_path: Path) -> None:
    with tw.trace() as t:
        x = tw.ones((2, 3))
        for _ in range(MOST_STEPS + 2):
            x = tw.sin(x).realize()
    steps = [step["text"] for step in recording(t, tmp_path)["graph"]]
    assert steps[:2] == ["%0 = data", "%1 = sin(%0)"]
    assert len(steps) == MOST_STEPS + 1


def test_nothing_is_recorded_outside_of_the_block(cpu: str, tmp_path: Path) -> None:
    report = traced(tmp_path, PROGRAM + "after = total + 1\n")
    names = {tensor["name"] for tensor in recording(report, tmp_path)["tensors"]}
    assert "after" not in names
    assert not hasattr((tw.ones(2) + 1).node, "location")


def test_a_file_runs_its_own_script_only(cpu: str, tmp_path: Path) -> None:
    source = PROGRAM.replace("def layer", "# <b>&amp;\ndef layer").replace(
        "trace()", "trace('<i>\"title\"</i>')"
    )
    text = traced(tmp_path, source).report(tmp_path / "r.html").read_text("utf-8")
    assert "alert(1)</script>" not in text
    assert "<i>" not in text.split("<script>")[0].split("</style>")[1]
    assert "# &lt;b&gt;&amp;amp;" in text
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = re.findall(r"sha256-([^']+)", text.split("</head>")[0])
    assert [sha256(one.encode()).digest() for one in scripts] == [
        b64decode(one) for one in digests
    ]


def test_notebooks_get_a_frame_and_text(cpu: str, tmp_path: Path) -> None:
    report = traced(tmp_path)
    bundle = report._repr_mimebundle_()
    assert bundle["text/plain"] == repr(report)
    frame = bundle["text/html"]
    assert 'sandbox="allow-scripts"' in frame
    page = re.search(r'srcdoc="([^"]*)"', frame)
    assert page is not None
    assert html.unescape(page[1]) == report._html()
    assert [*report._repr_mimebundle_(exclude=["text/html"])] == ["text/plain"]
    before = set_show_hook(lambda x, name: None)
    try:
        assert [*report._repr_mimebundle_()] == ["text/plain"]
    finally:
        set_show_hook(before)


def test_a_report_opens_in_a_browser_or_names_its_file(
    cpu: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    def open_address(address: str) -> bool:
        opened.append(address)
        return len(opened) == 1

    monkeypatch.setattr(webbrowser, "open", open_address)
    report = tw.inspect(tw.ones((2, 2)))
    first = report.report()
    assert opened == [first.as_uri()]
    assert capsys.readouterr().out == ""
    second = report.report()
    assert capsys.readouterr().out == f"{second}\n"
    for file in (first, second):
        file.unlink()


def test_a_failing_program_is_reported(cpu: str, tmp_path: Path) -> None:
    report = tw.trace("fails")
    with pytest.raises(tw.ShapeError), report:
        tw.matmul(tw.ones((2, 3)), tw.ones((4, 5)))
    text = report.report(tmp_path / "r.html").read_text("utf-8")
    assert "The program failed: ShapeError: matmul: inner sizes differ" in text


def test_a_failing_program_shows_its_values(cpu: str, tmp_path: Path) -> None:
    def fail(report: tw.Report) -> None:
        with report:
            x = tw.exp(tw.ones((2, 3))).realize()
            pending.append(x * 2)
            raise ZeroDivisionError

    pending: list[tw.Tensor] = []
    t = tw.trace()
    with pytest.raises(ZeroDivisionError):
        fail(t)
    found = recording(t, tmp_path)
    tensors = {tensor["name"]: tensor for tensor in found["tensors"]}
    assert tensors["x"]["min"] == pytest.approx(2.71828)
    assert tensors["pending[0]"]["shape"] == [2, 3]
    assert "min" not in tensors["pending[0]"]
    assert pending[0].node.storage is None


def test_an_error_of_the_last_values_is_reported(
    cpu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*values: tw.Tensor) -> None:
        raise tw.DeviceLostError("the device was lost")

    t = tw.trace()
    t.__enter__()
    x = tw.ones((2, 3)) * 2
    with monkeypatch.context() as patched:
        patched.setattr(tw, "realize", fail)
        with pytest.raises(tw.DeviceLostError):
            t.__exit__(None, None, None)
    run = recording(t, tmp_path)["run"]
    assert run["error"]["text"] == "DeviceLostError: the device was lost"
    assert run["seconds"] > 0
    del x


def test_a_display_raises_no_error_of_a_device_or_a_bundle(
    cpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(recorder: Recorder) -> None:
        raise tw.DeviceLostError("the device was lost")

    def missing(name: str) -> str:
        raise tw.MissingPackageError(f"reports need {name}")

    with tw.trace("x") as t:
        pass
    with monkeypatch.context() as patched:
        patched.setattr(Recorder, "recording", lost)
        assert repr(t) == "Report x: the device was lost"
    monkeypatch.setattr(report, "_bundled", missing)
    bundle = t._repr_mimebundle_()
    assert [*bundle] == ["text/plain"]
    assert "reports need report.js" in bundle["text/plain"]


def test_lone_surrogates_are_written_as_escapes(cpu: str, tmp_path: Path) -> None:
    with tw.trace("\ud800") as t:
        pass
    text = t.report(tmp_path / "r.html").read_text("utf-8")
    assert "<title>\\ud800</title>" in text


def test_wrong_uses_are_named(cpu: str) -> None:
    with pytest.raises(tw.DataError, match=r"with tw\.trace\(\) as t"):
        tw.trace().report()
    with pytest.raises(tw.DataError, match=r"tw\.linalg\.trace"):
        tw.trace(tw.ones((2, 2)))
    with pytest.raises(tw.DataError, match="list given"):
        tw.inspect([1.0])  # type: ignore[arg-type]  # what is tested
    with tw.trace() as report:
        assert "nothing is recorded yet" in repr(report)
    with pytest.raises(tw.DataError, match="records once"), report:
        pass


@pytest.mark.needs_processes
def test_programs_that_do_not_look_load_no_recorder() -> None:
    code = "import tensorweb, sys; print('tensorweb.playground' in sys.modules)"
    run = [sys.executable, "-c", code]
    assert subprocess.check_output(run, text=True).strip() == "False"
