"""Checks a reader's solution of a puzzle against plain lists.

`check(arange)` checks which names the function uses, calls it with small tensors,
including views and empty ones, and shows the expected result next to the first wrong
one. It never raises for errors of the function: an unsolved puzzle is "not yet".
"""

from __future__ import annotations

import dis
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from random import Random
from types import CodeType, FunctionType
from typing import Any

import tensorweb as tw

from .puzzle_table import BASICS, PUZZLES, Argument, Puzzle
from .rich import VERDICT

SEED = 20
LOOPS = ("FOR_ITER", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "SEND")
"""Instructions of `for`, `while`, comprehensions and awaiting loops."""

MOST_SHOWN = 12
"""Limit of rows and columns of a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """A result as text: its shape, its cells by row, and which of them are wrong."""

    shape: tuple[int, ...]
    cells: list[list[str]]
    wrong: list[list[bool]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a check; the page draws it, elsewhere it is a line of text.

    Attributes:
        title: the function's name.
        solved: whether every case passed.
        text: the error, or the count of cases.
        call: the case that is shown, for example `arange(3)`.
        wanted: the expected result.
        got: the function's result; None if it is no tensor.
    """

    title: str
    solved: bool
    text: str
    call: str = ""
    wanted: Table | None = None
    got: Table | None = None

    def __repr__(self) -> str:
        state = "solved" if self.solved else "not yet"
        return f"{self.title}: {state}. {self.text}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {VERDICT: json.dumps(asdict(self)), "text/plain": repr(self)}


def check(function: Callable[..., Any]) -> None:
    """Show whether a function solves the puzzle of its name.

    It is computed on `cpu`.

    Raises:
        ValueError: there is no puzzle of that name.

    >>> def outer(a, b):
    ...     return a[:, None] * b
    >>> check(outer)
    outer: solved. 24 cases, with views and with lengths 0 and 1: all as wanted.
    >>> def outer(a, b):
    ...     return a * b
    >>> check(outer)
    outer: not yet. Wanted is shape (2, 3); this raises ShapeError: ...
    """
    name = getattr(function, "__name__", "")
    puzzle = PUZZLES.get(name)
    if puzzle is None:
        raise ValueError(
            f"check: there is no puzzle named {name!r}; name the function as one of "
            f"{', '.join(PUZZLES)}"
        )
    tw.show(verdict_of(function, puzzle))


def verdict_of(function: Callable[..., Any], puzzle: Puzzle) -> Verdict:
    """Return the verdict that `check` shows."""
    cases = list(puzzle.cases(Random(SEED)))
    breach = _breach(function, puzzle)
    if breach:
        return Verdict(puzzle.name, False, breach, *_case(puzzle, cases[0]))
    verdicts = []
    with tw.device("cpu"):
        for number, arguments in enumerate(cases):
            found = _try(function, puzzle, arguments, is_view=number % 2 == 1)
            if not found.solved:
                return found
            verdicts.append(found)
    text = f"{len(cases)} cases, with views and with lengths 0 and 1: all as wanted."
    return replace(verdicts[0], text=text)


def _case(puzzle: Puzzle, arguments: tuple[Any, ...]) -> tuple[str, Table]:
    """Return a call as text, and its expected result."""
    shape, values = puzzle.wanted(*arguments)
    call = f"{puzzle.name}({', '.join(map(str, arguments))})"
    return call, Table(shape, _cells(shape, values))


def _try(
    function: Callable[..., Any],
    puzzle: Puzzle,
    arguments: tuple[Any, ...],
    *,
    is_view: bool,
) -> Verdict:
    """Call the function once and compare its result with the expected one."""
    call, table = _case(puzzle, arguments)
    shape, wanted = puzzle.wanted(*arguments)

    def not_yet(text: str, got: Table | None = None) -> Verdict:
        return Verdict(puzzle.name, False, text, call, table, got)

    try:
        got = function(*(_tensor(argument, is_view) for argument in arguments))
        if got is None:
            return not_yet("It returns None so far: write its body.")
        if not isinstance(got, tw.Tensor):
            return not_yet(f"It returns {type(got).__name__}, which is no tensor.")
        if str(got.dtype).startswith("complex"):
            return not_yet(f"It has dtype {got.dtype}; wanted are real numbers.")
        if got.shape != shape:
            text = f"Wanted is shape {shape}; this has shape {got.shape}."
            corner = got[tuple(slice(MOST_SHOWN) for _ in got.shape)]
            return not_yet(text, Table(got.shape, _cells(got.shape, corner.tolist())))
        values = got.tolist()
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        return not_yet(f"Wanted is shape {shape}; this raises {words}")
    wrong = [
        [float(a) != float(b) for a, b in zip(row, other, strict=True)]
        for row, other in zip(_rows(shape, wanted), _rows(shape, values), strict=True)
    ]
    many = sum(map(sum, wrong))
    shown = [row[:MOST_SHOWN] for row in wrong[:MOST_SHOWN]]
    found = Table(shape, _cells(shape, values), shown)
    if many:
        return not_yet(f"{many} of its {got.size} elements are wrong.", found)
    return Verdict(puzzle.name, True, "", call, table, found)


def _tensor(argument: Argument, is_view: bool) -> Any:
    """Return a list as a tensor; for `is_view` a transposed or strided one."""
    if isinstance(argument, int):
        return argument
    rows = argument and isinstance(argument[0], list)
    if rows and is_view:
        transposed: list[Any] = [list(column) for column in zip(*argument, strict=True)]
        return tw.asarray(transposed, dtype=tw.int32).T
    if is_view:
        doubled = [value for one in argument for value in (one, -1)]
        return tw.asarray(doubled, dtype=tw.int32)[::2]
    return tw.asarray(argument, dtype=tw.int32)


def _rows(shape: tuple[int, ...], values: Any) -> list[list[Any]]:
    """Return nested values as rows; one axis is a single row."""
    if len(shape) == 2:
        return list(values)
    return [values] if len(shape) == 1 else [[values]]


def _cells(shape: tuple[int, ...], values: Any) -> list[list[str]]:
    if len(shape) > 2:
        return []
    rows = _rows(shape, values)[:MOST_SHOWN]
    return [[f"{_plain(value)}" for value in row[:MOST_SHOWN]] for row in rows]


def _plain(value: Any) -> str:
    number = float(value)
    return str(int(number)) if number.is_integer() else f"{number:.4g}"


def _breach(function: Callable[..., Any], puzzle: Puzzle) -> str:
    """Return which rule of a puzzle a function breaks; empty for none."""
    if not isinstance(function, FunctionType):
        return ""
    allowed = puzzle.allowed | BASICS
    for code in _codes(function.__code__, function.__globals__, set()):
        for step in dis.get_instructions(code):
            if step.opname in LOOPS:
                return "It has a loop; each puzzle can be solved by whole tensors."
            name = _name_of_ours(step, function.__globals__)
            if name is not None and name not in allowed:
                words = ", ".join(sorted(puzzle.allowed))
                return (
                    f"It uses {name}; allowed here: {words}, arithmetic, comparisons "
                    "and indexing."
                )
    return ""


KNOWN = frozenset(dir(tw)) | frozenset(dir(tw.Tensor))
"""Attributes that count as names of tensorweb, of whatever object they are read."""


def _name_of_ours(step: dis.Instruction, names: dict[str, Any]) -> str | None:
    """Return the name of the library that an instruction loads, None for none."""
    if step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
        return step.argval if step.argval in KNOWN else None
    if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        value = names.get(step.argval)
        ours = getattr(value, "__module__", None) or ""
        return value.__name__ if callable(value) and _is_ours(ours) else None
    return None


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == "tensorweb"


def _codes(
    code: CodeType, names: dict[str, Any], seen: set[CodeType]
) -> Iterator[CodeType]:
    """Yield a function's code, nested code, and the code of functions it calls."""
    if code in seen:
        return
    seen.add(code)
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant, names, seen)
    for step in dis.get_instructions(code):
        called = names.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
        if isinstance(called, FunctionType) and called.__globals__ is names:
            yield from _codes(called.__code__, names, seen)
