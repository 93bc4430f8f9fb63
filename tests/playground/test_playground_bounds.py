"""What programs can make long or break: every text the page gets is bounded."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from test_playground import Console

from tensorweb.events import Flush, KernelRecord
from tensorweb.playground import policy
from tensorweb.playground.kernels import Tally
from tensorweb.playground.streams import clip_line

SETUP = "import tensorweb as tw\ntw.set_default_device('cpu')\n"
LONG = 300_000
PAGE_LIMIT = 50_000
"""Characters of one record that the page draws without a pause."""


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


def tensors(console: Console, source: str) -> list[dict[str, Any]]:
    """Run a program that must end well and return its tensors."""
    assert console.run(SETUP + source)["error"] is None
    found: list[dict[str, Any]] = console.ask(console.session.describe())
    return found


def test_line_keeps_both_ends() -> None:
    assert clip_line("short\ntext") == "short\ntext"
    assert clip_line("a" * 50 + "b" * 50, 20) == "a" * 9 + " … " + "b" * 8
    assert len(clip_line("x" * LONG)) == 200


FAILURES = {
    "message": f"raise ValueError('x' * {LONG})",
    "lines": f"raise ValueError('line\\n' * {LONG})",
    "type": f"raise type('E' * {LONG}, (Exception,), {{}})('text')",
    "note": f"e = ValueError('v')\ne.add_note('x' * {LONG})\nraise e",
    "cause": f"try:\n    int('x' * {LONG})\nexcept ValueError as e:\n"
    f"    raise KeyError('y' * {LONG}) from e",
    "group": f"raise ExceptionGroup('g' * {LONG}, [ValueError('x' * {LONG})] * 9)",
    "line": f"{'x = 1; ' * (LONG // 7)}1 / 0",
    "function": f"def f(): 1 / 0\nf.__code__ = f.__code__.replace(co_name='f' * {LONG})"
    "\nf()",
    "syntax": f"x = ({'1 + ' * (LONG // 4)}",
    "tolist": f"raise ValueError(list(range({LONG})))",
}


@pytest.mark.parametrize("source", FAILURES.values(), ids=FAILURES.keys())
def test_failure_is_bounded(console: Console, source: str) -> None:
    failure = console.run(source)["error"]
    assert failure is not None
    assert len(json.dumps(failure)) < PAGE_LIMIT
    assert len(failure["message"]) < 5_000


def test_long_line_is_cut_around_its_mark(console: Console) -> None:
    source = f"{'a = 1; ' * 500}1 / 0{'; b = 1' * 500}"
    frame = console.run("if True:\n    " + source)["error"]["frames"][0]
    start = frame["column"] - frame["indent"]
    assert frame["code"][start : frame["endColumn"] - frame["indent"]] == "1 / 0"
    assert len(frame["code"]) < 600


def test_chart_is_bounded(console: Console) -> None:
    source = (
        f"long = 'x' * {LONG}\ntw.show(tw.bar_chart({{long: 1, 'b': 2}},"
        " title=long, unit=long))"
    )
    assert console.run(SETUP + source)["error"] is None
    (display,) = console.displays()
    assert len(json.dumps(display)) < PAGE_LIMIT
    assert display["chart"]["bars"][0]["label"].startswith("xxx")


def test_chart_made_by_hand_is_bounded(console: Console) -> None:
    source = (
        "from tensorweb.plots import Bar\n"
        "bar = Bar('a', 1.0, 'x', 7.0, True)\n"
        "ticks = (('t', float('nan')),) * 5000\n"
        "tw.show(tw.BarChart('t', 'u', False, (bar,) * 5000, ticks))"
    )
    assert console.run(SETUP + source)["error"] is None
    (display,) = console.displays()
    assert len(json.dumps(display, allow_nan=False, ensure_ascii=False)) < PAGE_LIMIT
    assert display["chart"]["bars"][0]["length"] == 1


NAMES = {
    "shown": f"tw.show(tw.ones((2,)), 'n' * {LONG})",
    "named": f"globals()['n' * {LONG}] = tw.ones((2,))",
    "key": f"d = {{'k' * {LONG}: tw.ones((2,))}}",
    "many": "x = tw.ones((2,))\nfor i in range(30_000): globals()[f'n{i}'] = x",
}


@pytest.mark.parametrize("source", NAMES.values(), ids=NAMES.keys())
def test_names_are_bounded(console: Console, source: str) -> None:
    (found,) = tensors(console, source)
    assert len(json.dumps(found)) < 5_000
    assert all(len(json.dumps(display)) < 5_000 for display in console.displays())


def test_more_names_than_listed_are_said(console: Console) -> None:
    (found,) = tensors(console, "a = b = c = d = tw.ones((2,))")
    assert found["name"] == "a = b = c = …"
    (found,) = tensors(console, "a = b = c = tw.ones((2,))")
    assert found["name"] == "a = b = c"


def test_cut_lists_say_so(console: Console) -> None:
    found = tensors(console, "history = [tw.ones((1,)) for _ in range(91)]")
    assert len(found) == 50
    assert found[-1]["cuts"] == ["history: 50 of 91 shown"]
    source = "d = {i: tw.ones((1,)) for i in range(51)}\nsmall = [tw.ones((1,))] * 50"
    found = tensors(console, source)
    assert [entry["cuts"] for entry in found if entry["cuts"]] == [
        ["d: 50 of 51 shown"]
    ]


def test_tensors_after_other_items_are_found(console: Console) -> None:
    (found,) = tensors(console, "mixed = [0] * 60 + [tw.ones((1,))]")
    assert found["name"] == "mixed[60]"


def test_too_many_tensors_say_so(console: Console) -> None:
    source = "for i in range(230): globals()[f'x{i}'] = tw.ones((1,))"
    found = tensors(console, source)
    assert len(found) == 200
    assert found[-1]["cuts"] == ["200 of 230 tensors shown"]


def test_kernels_beyond_the_listed_ones_are_counted() -> None:
    tally = Tally()
    for number in range(230):
        record = KernelRecord(f"k{number % 215}", "map", "source", (1, 1), 1, 4)
        tally.add(Flush([record]))
    assert len(tally.records()) == 200
    assert tally.left_out == 15


STRANGE = {
    "number as a name": "globals()[3] = 1\nx = tw.ones((2,))",
    "name that lies": "class S(str):\n    startswith = None\n"
    "globals()[S('x')] = tw.ones((2,))",
    "no main": "import sys\ndel sys.modules['__main__']\nx = tw.ones((2,))",
    "another main": "import sys\nsys.modules['__main__'] = 5\nx = tw.ones((2,))",
    "no modules": "import sys\nold = sys.modules\nsys.modules = {}\nx = tw.ones((2,))",
    "key without text": "class K:\n    def __repr__(self): raise ValueError\n"
    "d = {K(): tw.ones((2,))}",
    "list that raises": "class L(list):\n    def __getitem__(self, i): 1 / 0\n"
    "    def __iter__(self): 1 / 0\nx = L([tw.ones((2,))])",
    "dict that raises": "class D(dict):\n    def items(self): 1 / 0\n"
    "x = D(a=tw.ones((2,)))",
    "class that raises": "class C:\n    @property\n    def __class__(self): 1 / 0\n"
    "c = C()\nx = tw.ones((2,))",
    "exit without text": "class E:\n    def __str__(self): raise ValueError\n"
    "x = tw.ones((2,))\nraise SystemExit(E())",
}


@pytest.mark.parametrize("source", STRANGE.values(), ids=STRANGE.keys())
def test_strange_names_end_well(console: Console, source: str) -> None:
    modules = sys.modules
    try:
        assert len(tensors(console, source)) == 1
        assert len(tensors(console, "x = tw.ones((2,))")) == 1
        assert (
            console.run("import sys\nsys.modules['__main__'].__name__")["error"] is None
        )
    finally:
        sys.modules = modules


def test_many_launches_of_one_kernel_are_one_record() -> None:
    from tensorweb.playground.kernels import Tally

    def launch(number: int) -> KernelRecord:
        return KernelRecord(str(number), "elementwise", "source", (1, 1), 2, 8)

    tally = Tally()
    for index in range(3 * policy.MOST_KERNELS):
        tally.add(Flush([launch(index % (policy.MOST_KERNELS + 5)), launch(0)]))
    again = [launch(1), launch(7), launch(7)]
    for _ in range(5000):
        tally.add(Flush(again))
    records = tally.records()
    assert len(records) == policy.MOST_KERNELS
    counts = {record["name"]: record["count"] for record in records}
    assert [counts[name] for name in ("0", "1", "2", "7")] == [
        3 * policy.MOST_KERNELS + 3,
        5003,
        3,
        10_003,
    ]
    assert [record["name"] for record in tally.records()[:3]] == ["0", "1", "2"]
