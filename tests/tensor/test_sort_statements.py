"""`x.sort()` sorts `x` itself where nobody takes its value; inside Pyodide as well."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import pytest

import tensorweb as tw

SORTED = (
    "x.sort()",
    "x.sort(axis=0, kind='stable')",
    "x.sort(**{})",
    "_ = x.sort()",
    "x.sort() if yes else None",
    "no or x.sort()",
    "for a in [x]: a.sort()",
    "with context: x.sort()",
    "try: x.sort()\nfinally: pass",
    "class Some: x.sort()",
    "def f(a):\n _ = a.sort(); return _\ny = f(x)",
    "def f(a): return a.sort()\nf(x)",
    "f = lambda a: a.sort()\nf(x)",
    "async def f(): x.sort()\nrun(f())",
)

TAKEN = (
    "y = x.sort()",
    "y = x.sort(*())",
    "y = z = x.sort()",
    "(y := x.sort())",
    "y = x.sort() if yes else None",
    "y = yes and x.sort()",
    "[x.sort()][0]",
    "str(x.sort())",
    "f'{x.sort()}'",
    "for a in x.sort(): pass",
    "if x.sort()[0]: pass",
    "x.sort() is None",
    "named['y'] = x.sort()",
    "def f(a): return a.sort()\ny = f(x)",
    "def f():\n global G\n G = x.sort()\nf()",
    "def f(): yield x.sort()\nlist(f())",
    "y = list(map(lambda a: a.sort(), [x]))",
    "y = tw.jit(lambda a: a.sort())(x)",
    "tw.sort(x)",
)

UNKNOWN = (
    "[a.sort() for a in [x]]",
    "y = {1: a.sort() for a in [x]}",
    "async def f(): return x.sort()\nrun(f())",
)


def run(text: str) -> list[float]:
    """Run a program on unsorted numbers, and return what they are then."""
    x = tw.asarray([3.0, 1.0, 2.0])
    names = {"x": x, "tw": tw, "yes": True, "no": None, "named": {}, "run": finish}
    exec(text, {**names, "context": contextlib.nullcontext()})
    found: list[float] = x.tolist()
    return found


def finish(coroutine: Any) -> None:
    with contextlib.suppress(StopIteration):
        coroutine.send(None)


@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
def test_statements_are_told_from_values(cpu: str, traced: bool) -> None:
    before = sys.gettrace()
    if traced:
        sys.settrace(lambda *_: lambda *_: None)
    try:
        found = {text: run(text) for text in (*SORTED, *TAKEN)}
    finally:
        sys.settrace(before)
    assert [text for text in SORTED if found[text] != [1, 2, 3]] == []
    assert [text for text in TAKEN if found[text] != [3, 1, 2]] == []


def test_the_last_expression_of_a_cell_sorts_and_is_shown(cpu: str) -> None:
    x = tw.asarray([3.0, 1.0, 2.0])
    assert eval("x.sort()", {"x": x}) is x
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_nobody_can_tell_is_refused(cpu: str, text: str) -> None:
    with pytest.raises(tw.errors.DataError, match=r"write tw\.sort\(x\)"):
        run(text)
