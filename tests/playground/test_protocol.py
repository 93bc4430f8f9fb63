"""Page and Python agree: `protocol.ts` is generated, and real responses fit it."""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import text_of_answer

from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.playground import (
    bridge,
    device_records,
    inside_records,
    kernel_records,
    policy,
    records,
)
from tensorweb.playground.session import Session, handlers
from tools import first_look, protocol

RECORDS = {
    name: value
    for name, value in {
        **vars(records),
        **vars(device_records),
        **vars(kernel_records),
        **vars(inside_records),
    }.items()
    if typing.is_typeddict(value)
}


def test_the_page_has_the_generated_protocol() -> None:
    written = protocol.FILE.read_text("utf-8")
    assert written == protocol.text(), "python3 build.py docs writes it"


def test_page_and_python_have_the_same_devices() -> None:
    assert set(typing.get_args(records.DeviceName)) == set(devices.DEVICES)


class Judge:
    """Compares values with type hints and notes the records that it has seen."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def check(self, value: Any, hint: Any, where: str) -> None:
        assert self._fits(value, hint, where), f"{where} is {value!r:.200}, not {hint}"

    def _fits(self, value: Any, hint: Any, where: str) -> bool:
        arguments = typing.get_args(hint)
        match typing.get_origin(hint):
            case typing.Union | types.UnionType:
                return any(self._fits(value, part, where) for part in arguments)
            case typing.Literal:
                return value in arguments
            case origin if origin is list:
                for item in value if isinstance(value, list) else ():
                    self.check(item, arguments[0], where)
                return isinstance(value, list)
        if typing.is_typeddict(hint):
            return self._is_record(value, hint, where)
        kinds = (int, float) if hint is float else hint
        return isinstance(value, kinds) and (hint is bool) >= isinstance(value, bool)

    def _is_record(self, value: Any, record: Any, where: str) -> bool:
        hints = typing.get_type_hints(record)
        if not isinstance(value, dict):
            return False
        required = {
            name
            for name, hint in typing.get_type_hints(record, include_extras=True).items()
            if typing.get_origin(hint) is not typing.NotRequired
        }
        if not required <= value.keys() <= hints.keys():
            return False
        self.seen.add(record.__name__)
        for name, item in value.items():
            self.check(item, hints[name], f"{where}.{name}")
        return True


PROGRAM = """
import sys
import tensorweb as tw
x = tw.asarray([[1.5, float("nan")], [-2.0, float("inf")]])
v = x[0]
twice = x * 2
product = x @ v
model = tw.nn.Sequential(tw.nn.Linear(2, 3), tw.nn.ReLU())
model(tw.ones((4, 2)))
big = tw.reshape(tw.linspace(-1.0, 1.0, 300 * 700), (300, 700))
empty = tw.zeros((0, 3))
lots = [tw.ones(2) for _ in range(60)]
tw.show(tw.bar_chart({"a": 1, "b": 2}, unit="m"))
for _ in range(2): tw.show(big)
tw.plot([1.0, float("nan")], kind="points")
tw.plot([1, 2], kind="histogram")
tw.show(x)
(big * 2).sum().item()
(big * 2).sum().item()
print("printed", file=sys.stderr)
input("Who? ")
held = type("Held", (), {})()
held.odd = x / 0
tw.show(type("Drawn", (), {"_repr_svg_": lambda self: "<svg/>"})())
"""

FAILURES = (
    "1 +",
    "def f(n):\n    return f(n + 1)\nf(0)",
    "import json\njson.loads('{')",
    "import tensorweb as tw\ntw.ones((4, 3)) + tw.ones(4)",
    "import tensorweb as tw\ntw.ones(4).reshape(3, -1)",
)


@pytest.fixture
def judged() -> Iterator[Judge]:
    main = sys.modules["__main__"]
    yield Judge()
    sys.modules["__main__"] = main


def test_answers_follow_the_protocol(
    judged: Judge,
    device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    emitted: list[tuple[str, Any]] = []

    async def next_line() -> str:
        return "Ada"

    def emit(kind: str, fields: Any) -> None:
        emitted.append((kind, fields))

    def wait(line: Any) -> object:
        return bridge.drive(line)

    session = Session(emit, wait, True, next_line)
    table: Mapping[str, Any] = handlers(session)

    def ask(name: str, /, **details: Any) -> Any:
        answer = json.loads(text_of_answer(bridge.drive(table[name](**details))))
        judged.check(answer, typing.get_type_hints(table[name])["return"], name)
        return answer

    for source in (*FAILURES, f"print('long' * {policy.OUTPUT_HEAD})", PROGRAM):
        how = {"search": True, "inside": True, "memory": True}
        answer = ask("run", source=source, device=device, **how)
        kernels = answer["kernels"]
    if kernels:
        assert ask("source", kernel=len(kernels) - 1)["text"]
        assert ask("stages", kernel=0)["nodes"]
        judged.seen.add("StageLoss")  # its nodes all have a step
    with pytest.raises(LookupError, match="no kernel number 5000"):
        ask("source", kernel=5000)
    tensors = {entry["name"]: entry for entry in ask("describe")}
    assert ask("nonfinite")
    for name in ("x", "v", "big", "empty"):
        last = len(tensors[name]["shape"]) - 1
        plane = {"rows": last - 1 if last else None, "columns": last}
        chosen = {"tensor": tensors[name]["id"], **plane, "indices": [0] * (last + 1)}
        for how in ("mean", "extreme", "corner"):
            ask("heatmap", **chosen, how=how, size="small")
        ask("cells", **chosen, window=[0, 0, 20, 10])
        ask("find", tensor=tensors[name]["id"], what="max")
        ask("sample", **chosen)
        for kind in ("npy", "csv"):
            ask("export", **chosen, format=kind, start=0)
        ask("statistics", tensor=tensors[name]["id"])
        ask("storage", tensor=tensors[name]["id"])
        ask("text", tensor=tensors[name]["id"])
    ask("memory")
    ask("timeline")
    ask("rates", device=device)
    ask("splits")
    ask("fingerprint")
    ask("pair", first=tensors["x"]["id"], second=tensors["v"]["id"])
    ask("why", tensor=tensors["twice"]["id"], index=[1, 1])
    (row,) = ask("why", tensor=tensors["product"]["id"], index=[1])["rows"]
    ask("aligned", tensor=row["aligned"])
    ask("partial_sum", tensor=row["aligned"], index=row["index"], depth=1)
    cell = {"tensor": tensors["twice"]["id"], "index": [0, 0]}
    found = ask("gradients", **cell)[-1]
    by, gradient = found["tensor"]["id"], found["gradient"]["id"]
    ask("check_gradient", **cell, by=by, gradient=gradient)
    ask("compared", device=device)
    lines = [one["name"] for one in answer["lines"]]
    ask("film", result=lines.index("twice"))
    ask("modules")
    ask("inside")
    ask("reached", tensor=tensors["x"]["id"], index=[1, 1])
    ask("members", path="x", imported=False)
    ask("explain", path="tensorweb.zeros", imported=True)
    ask("lint", source="1 +")
    ask("warm")
    if device == "cpu":
        judged.seen |= {"Attempt", "KernelCode", "ShaderProblem"}
        judged.seen |= {"KernelBuffer", "KernelLine"}
        judged.seen |= {"Threads", "SharedArray", "ThreadStep", "ThreadMistake"}
    else:
        ask("run", source=PROGRAM, device=device, capture=0)
        assert ask("attempt", source="no shader")["problems"]
        ask("as_code", source=ask("source", kernel=0)["text"])
        racing = (
            "var<workgroup> a: u32;\n@compute @workgroup_size(2)\nfn main() { a = 1; }"
        )
        assert ask("threads", source=racing, group=[0, 0, 0])["mistakes"]
    for scale in (1, 2):
        source = f"import tensorweb as tw\nx = tw.ones(3) * {scale}"
        ask("run", source=source, device=device, compare=True)
        ask("describe")
    assert ask("differences")["differences"]
    ask("keep_values", kept=True)
    notes = typing.get_type_hints(records.Notes)
    for kind, fields in emitted:
        judged.check(fields, notes[kind], kind)
    has_kernels = isinstance(devices.backend(device), KernelBackend)
    unseen = {"Notes", "ProgramFile"}
    judged.seen.add("TimelineFinding")  # a short run has none
    if not has_kernels:
        unseen |= {"KernelLaunches", "KernelRecord", "KernelSource", "KernelSplit"}
        unseen |= {"Span"}
        unseen |= {"DeviceMemory", "MemoryBlock", "MemoryValue"}
        unseen |= {each for each in RECORDS if each.startswith("Stage")}
        unseen |= {"TimelinePlan", "TimelineFlush", "TimelineRead"}
    assert RECORDS.keys() - judged.seen == unseen


def test_the_recorded_first_run_follows_the_protocol(judged: Judge) -> None:
    """`python3 build.py first-look` records it again."""
    recorded = json.loads(first_look.FILE.read_text("utf-8"))
    session = Session(lambda *note: None, None, True)
    table: Mapping[str, Any] = handlers(session)
    judged.check(recorded["run"], records.RunRecord, "run")
    judged.check(recorded["tensors"], list[records.TensorRecord], "tensors")
    messages = (protocol.FILE.parent / "messages.ts").read_text("utf-8")
    for one in recorded["responses"]:
        name = one["name"]
        if name not in table:  # the worker responds without Python
            assert f"\n  {name}: {{ details:" in messages
            continue
        hint = typing.get_type_hints(table[name])["return"]
        judged.check(one["response"], hint, name)
