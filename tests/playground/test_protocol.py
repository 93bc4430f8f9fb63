"""Page and Python mean the same: `protocol.ts`, the records, the handlers, answers."""

from __future__ import annotations

import inspect
import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from answers import text_of_answer
from interfaces import Field, Inline, Interfaces, Many, Named, Text, is_union, union

from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.playground import bridge, records
from tensorweb.playground.session import Session, handlers
from tensorweb.playground.streams import HEAD

PAGE = Path(__file__).parents[2] / "web/src/page"
PROTOCOL = Interfaces(PAGE / "protocol.ts", PAGE / "tensor-protocol.ts")

RECORDS = {
    name: value for name, value in vars(records).items() if typing.is_typeddict(value)
}

PLAIN = {
    int: "number",
    float: "number",
    str: "string",
    bytes: "Uint8Array",
    bool: "boolean",
    types.NoneType: "null",
}


def type_of(hint: Any) -> object:
    """Return a type of Python's as the one that TypeScript has for its JSON."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return union([type_of(part) for part in arguments])
    if origin is typing.Literal:
        return union([Text(value) for value in arguments])
    if origin in (list, Sequence):
        return Many(type_of(arguments[0]))
    if typing.is_typeddict(hint):
        return Named(hint.__name__)
    return PLAIN[hint]


def fields_of(record: Any) -> dict[str, Field]:
    """Return the fields of a record of Python's."""
    found = {}
    for name, hint in typing.get_type_hints(record, include_extras=True).items():
        is_optional = typing.get_origin(hint) is typing.NotRequired
        inner = typing.get_args(hint)[0] if is_optional else hint
        found[name] = Field(type_of(inner), is_optional)
    return found


@pytest.mark.parametrize("name", RECORDS)
def test_record_has_the_fields_of_its_interface(name: str) -> None:
    assert fields_of(RECORDS[name]) == PROTOCOL.fields(name)


def question(name: str) -> dict[str, Field]:
    """Return `details` and `value` of a question."""
    asked = PROTOCOL.fields("PythonQuestions")[name].type
    assert isinstance(asked, Inline)
    return dict(asked.fields)


HANDLERS = handlers(Session(lambda kind, fields: None, None, True))


OF_THE_WORKER = {"start", "lend", "collect"}


def test_every_question_has_a_handler() -> None:
    assert set(HANDLERS) == set(PROTOCOL.fields("PythonQuestions"))
    assert set(PROTOCOL.fields("Questions")) - set(HANDLERS) == OF_THE_WORKER


@pytest.mark.parametrize("name", HANDLERS)
def test_handler_answers_what_the_page_expects(name: str) -> None:
    hints = typing.get_type_hints(HANDLERS[name])
    assert type_of(hints["return"]) == question(name)["value"].type


@pytest.mark.parametrize("name", HANDLERS)
def test_handler_takes_what_the_page_sends(name: str) -> None:
    details = question(name)["details"].type
    sent = (
        dict(details.fields)
        if isinstance(details, Inline)
        else PROTOCOL.fields(details.name)  # type: ignore[attr-defined]  # a name by the branch
    )
    hints = typing.get_type_hints(HANDLERS[name])
    taken = inspect.signature(HANDLERS[name]).parameters
    needed = [name for name, one in taken.items() if one.default is one.empty]
    assert set(needed) <= set(sent) <= set(taken)
    for key, field in sent.items():
        accepted = union([type_of(hints[key])])
        assert all(is_taken(part, accepted) for part in parts(field.type)), key
        assert not (field.is_optional and key in needed), key


def is_taken(part: object, accepted: object) -> bool:
    general = {"string"} if isinstance(part, Text) else {part}
    return bool((general | {part}) & parts(accepted))


def parts(found: object) -> frozenset[object]:
    return found if is_union(found) else frozenset([found])  # type: ignore[return-value]  # kinds are words or records


def test_page_and_python_have_the_same_devices() -> None:
    assert PROTOCOL.type_of("DeviceName") == union([*map(Text, devices.DEVICES)])


# Real answers


class Judge:
    """Compares values with types and notes the records that it has seen."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def check(self, value: Any, expected: object, where: str) -> None:
        assert any(self._fits(value, part, where) for part in parts(expected)), (
            f"{where} is {value!r:.200}, not {expected}"
        )

    def _fits(self, value: Any, expected: object, where: str) -> bool:
        match expected:
            case "number":
                return isinstance(value, int | float) and not isinstance(value, bool)
            case "string":
                return isinstance(value, str)
            case "boolean":
                return isinstance(value, bool)
            case "null":
                return value is None
            case "Uint8Array":
                return isinstance(value, bytes)
            case Text():
                return bool(value == expected.value)
            case Many():
                for item in value if isinstance(value, list) else ():
                    self.check(item, expected.item, where)
                return isinstance(value, list)
            case Named():
                fields = PROTOCOL.fields(expected.name)
                if not isinstance(value, dict) or not self._has(value, fields):
                    return False
                self.seen.add(expected.name)
                for name, item in value.items():
                    self.check(item, fields[name].type, f"{where}.{name}")
                return True
        raise AssertionError(f"no rule for {expected}")

    def _has(self, value: dict[str, Any], fields: Mapping[str, Field]) -> bool:
        needed = {name for name, field in fields.items() if not field.is_optional}
        return needed <= value.keys() <= fields.keys()


PROGRAM = """
import sys
import tensorweb as tw
x = tw.asarray([[1.5, float("nan")], [-2.0, float("inf")]])
v = x[0]
big = tw.reshape(tw.linspace(-1.0, 1.0, 300 * 700), (300, 700))
empty = tw.zeros((0, 3))
lots = [tw.ones(2) for _ in range(60)]
tw.show(tw.bar_chart({"a": 1, "b": 2}, unit="m"))
for _ in range(2): tw.show(big)
tw.plot([1.0, float("nan")], kind="points")
tw.plot([1, 2], kind="histogram")
tw.show(x)
(big * 2).sum().item()
print("printed", file=sys.stderr)
input("Who? ")
tw.show(type("Drawn", (), {"_repr_svg_": lambda self: "<svg/>"})())
"""

FAILURES = (
    "1 +",
    "def f(n):\n    return f(n + 1)\nf(0)",
    "import json\njson.loads('{')",
)


@pytest.fixture
def judged() -> Iterator[Judge]:
    main = sys.modules["__main__"]
    yield Judge()
    sys.modules["__main__"] = main


def test_answers_are_what_the_protocol_says(
    judged: Judge,
    device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[tuple[str, Any]] = []

    async def next_line() -> str:
        return "Ada"

    def emit(kind: str, fields: Any) -> None:
        told.append((kind, fields))

    def wait(line: Any) -> object:
        return bridge.drive(line)

    session = Session(emit, wait, True, next_line)
    table = handlers(session)

    def ask(name: str, /, **details: Any) -> Any:
        answer = json.loads(text_of_answer(bridge.drive(table[name](**details))))
        judged.check(answer, question(name)["value"].type, name)
        return answer

    for source in (*FAILURES, f"print('long' * {HEAD})", PROGRAM):
        answer = ask("run", source=source, device=device, search=True)
        kernels = answer["kernels"]
    if kernels:
        assert ask("source", kernel=len(kernels) - 1)["text"]
    with pytest.raises(LookupError, match="no kernel number 5000"):
        ask("source", kernel=5000)
    tensors = {entry["name"]: entry for entry in ask("describe")}
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
        ask("text", tensor=tensors[name]["id"])
    ask("fingerprint")
    ask("pair", first=tensors["x"]["id"], second=tensors["v"]["id"])
    ask("members", path="x", imported=False)
    ask("explain", path="tensorweb.zeros", imported=True)
    ask("lint", source="1 +")
    ask("warm")
    for kind, fields in told:
        judged.check(fields, PROTOCOL.fields("Notes")[kind].type, kind)
    has_kernels = isinstance(devices.backend(device), KernelBackend)
    unseen = {"Notes", "ProgramFile"}
    unseen |= set() if has_kernels else {"KernelRecord", "KernelSource"}
    assert RECORDS.keys() - judged.seen == unseen
