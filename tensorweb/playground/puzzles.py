"""Checks a reader's solution of a puzzle against plain lists.

`check(arange)` checks which names the function uses, calls it with small tensors,
including views and empty ones, and shows the expected result next to the first wrong
one. It never raises for errors of the function: an unsolved puzzle is "not yet".
The puzzles are a table, `PUZZLES`.
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
from tensorweb.playground.rich_output import VERDICT

from . import policy
from .kernel_records import Threads

Argument = int | list[Any]
Arguments = tuple[Any, ...]
Result = tuple[tuple[int, ...], list[Any]]
"""A shape and nested lists."""

BASICS = frozenset(("shape", "size", "ndim", "dtype", "astype", "int32", "float32"))
"""Names that every puzzle may use."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A puzzle.

    Attributes:
        name: the required function name.
        expected: plain Python that computes the result from lists and integers.
        first: arguments of the example, shown first.
        edges: arguments with lengths 0 and 1.
        draw: returns random arguments.
        allowed: names of the library that may be used.
    """

    name: str
    expected: Callable[..., Result]
    first: Arguments
    edges: tuple[Arguments, ...]
    draw: Callable[[Random], Arguments]
    allowed: frozenset[str]

    def cases(self, rng: Random) -> Iterator[Arguments]:
        """Yield arguments: the example, the edges, then random ones."""
        yield self.first
        yield from self.edges
        for _ in range(policy.RANDOM_CASES + 3 - len(self.edges)):
            yield self.draw(rng)


def _vector(rng: Random, length: int | None = None) -> list[int]:
    return [
        rng.randint(-9, 9) for _ in range(_length(rng) if length is None else length)
    ]


def _length(rng: Random) -> int:
    return rng.randint(2, 9)


def _matrix(rng: Random, rows: int, columns: int) -> list[list[int]]:
    return [_vector(rng, columns) for _ in range(rows)]


def _square(rng: Random) -> Arguments:
    size = _length(rng)
    return (_matrix(rng, size, size),)


def _flat(values: list[int]) -> Result:
    return (len(values),), values


def _arange(n: int) -> Result:
    return _flat(list(range(n)))


def _outer(a: list[int], b: list[int]) -> Result:
    return (len(a), len(b)), [[x * y for y in b] for x in a]


def _diag(x: list[list[int]]) -> Result:
    return _flat([row[i] for i, row in enumerate(x)])


def _eye(n: int) -> Result:
    return (n, n), [[int(i == j) for j in range(n)] for i in range(n)]


def _triu(x: list[list[int]]) -> Result:
    kept = [[v if j >= i else 0 for j, v in enumerate(row)] for i, row in enumerate(x)]
    return (len(x), len(x[0])), kept


def _flip(x: list[int]) -> Result:
    return _flat(list(reversed(x)))


def _roll(x: list[int], k: int) -> Result:
    size = len(x)
    return _flat([x[(i - k) % size] for i in range(size)])


def _pad(x: list[int], n: int) -> Result:
    return _flat([x[i] if i < len(x) else 0 for i in range(n)])


def _bucketize(x: list[int], edges: list[int]) -> Result:
    return _flat([sum(edge <= value for edge in edges) for value in x])


def _histogram(x: list[int], n: int) -> Result:
    return _flat([x.count(value) for value in range(n)])


def _compress(x: list[int], keep: list[int]) -> Result:
    kept = [value for value, is_kept in zip(x, keep, strict=True) if is_kept]
    return _flat(kept + [0] * (len(x) - len(kept)))


def _scatter(x: list[int], indices: list[int], n: int) -> Result:
    sums = [0] * n
    for value, i in zip(x, indices, strict=True):
        sums[i] += value
    return _flat(sums)


def _draw_n(rng: Random) -> Arguments:
    return (_length(rng),)


def _draw_two(rng: Random) -> Arguments:
    return _vector(rng), _vector(rng)


def _draw_matrix(rng: Random) -> Arguments:
    return (_matrix(rng, _length(rng), _length(rng)),)


def _draw_vector(rng: Random) -> Arguments:
    return (_vector(rng),)


def _draw_shifted(rng: Random) -> Arguments:
    return _vector(rng), rng.randint(-12, 12)


def _draw_sized(rng: Random) -> Arguments:
    return _vector(rng), rng.randint(0, 12)


def _draw_sorted(rng: Random) -> Arguments:
    return _vector(rng), sorted(_vector(rng))


def _draw_counted(rng: Random) -> Arguments:
    n = _length(rng)
    return [rng.randrange(n) for _ in range(2 * n)], n


def _draw_chosen(rng: Random) -> Arguments:
    x = _vector(rng)
    return x, [rng.randint(0, 1) for _ in x]


def _draw_scattered(rng: Random) -> Arguments:
    x, n = _vector(rng), _length(rng)
    return x, [rng.randrange(n) for _ in x], n


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


INDICES = "arange where sum"

_ALL = (
    Puzzle(
        "arange", _arange, (5,), ((0,), (1,)), _draw_n,
        _words("ones zeros full cumulative_sum"),
    ),
    Puzzle(
        "outer", _outer, ([1, 2], [1, 10, 100]), (([], [3]), ([2], [])), _draw_two,
        _words("expand_dims reshape"),
    ),
    Puzzle(
        "diag", _diag, ([[1, 2, 3], [4, 5, 6], [7, 8, 9]],), (([[7]],),), _square,
        _words(INDICES),
    ),
    Puzzle("eye", _eye, (4,), ((0,), (1,)), _draw_n, _words(INDICES)),
    Puzzle(
        "triu", _triu, ([[1, 2, 3], [4, 5, 6], [7, 8, 9]],), (([[7]],), ([[1, 2]],)),
        _draw_matrix, _words(INDICES),
    ),
    Puzzle(
        "flip", _flip, ([1, 2, 3, 4],), (([],), ([5],)), _draw_vector, _words(INDICES)
    ),
    Puzzle(
        "roll", _roll, ([1, 2, 3, 4, 5], 2), (([], 3), ([5], 4)), _draw_shifted,
        _words(INDICES),
    ),
    Puzzle(
        "pad", _pad, ([1, 2, 3], 5), (([], 2), ([5], 0), ([5], 1)), _draw_sized,
        _words(INDICES),
    ),
    Puzzle(
        "bucketize", _bucketize, ([0, 3, 7, 12], [1, 3, 9]), (([], [1]), ([5], [])),
        _draw_sorted, _words(INDICES),
    ),
    Puzzle(
        "histogram", _histogram, ([0, 2, 2, 3, 2], 5), (([], 2), ([0], 1)),
        _draw_counted, _words(INDICES),
    ),
    Puzzle(
        "compress", _compress, ([5, 6, 7, 8], [0, 1, 0, 1]), (([], []), ([5], [0])),
        _draw_chosen, _words(f"{INDICES} cumulative_sum"),
    ),
    Puzzle(
        "scatter", _scatter, ([1, 2, 3], [0, 3, 0], 4), (([], [], 2), ([5], [0], 1)),
        _draw_scattered, _words(INDICES),
    ),
)  # fmt: skip

PUZZLES = {puzzle.name: puzzle for puzzle in _ALL}


SEED = 20
LOOPS = ("FOR_ITER", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "SEND")
"""Instructions of `for`, `while`, comprehensions and awaiting loops."""


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
        expected: the expected result.
        got: the function's result; None if it is no tensor.
        threads: what a workgroup of a kernel does; None for functions.
    """

    title: str
    solved: bool
    text: str
    call: str = ""
    expected: Table | None = None
    got: Table | None = None
    threads: Threads | None = None

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
    outer: solved. 24 cases, with views and with lengths 0 and 1: all as expected.
    >>> def outer(a, b):
    ...     return a * b
    >>> check(outer)
    outer: not yet. Expected shape (2, 3); this raises ShapeError: ...
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
    text = f"{len(cases)} cases, with views and with lengths 0 and 1: all as expected."
    return replace(verdicts[0], text=text)


def _case(puzzle: Puzzle, arguments: tuple[Any, ...]) -> tuple[str, Table]:
    """Return a call as text, and its expected result."""
    shape, values = puzzle.expected(*arguments)
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
    shape, expected = puzzle.expected(*arguments)

    def not_yet(text: str, got: Table | None = None) -> Verdict:
        return Verdict(puzzle.name, False, text, call, table, got)

    try:
        got = function(*(_tensor(argument, is_view) for argument in arguments))
        if got is None:
            return not_yet("It returns None so far: write its body.")
        if not isinstance(got, tw.Tensor):
            return not_yet(f"It returns {type(got).__name__}, which is no tensor.")
        if str(got.dtype).startswith("complex"):
            return not_yet(f"It has dtype {got.dtype}; expected are real numbers.")
        if got.shape != shape:
            text = f"Expected shape {shape}; this has shape {got.shape}."
            corner = got[tuple(slice(policy.MOST_VERDICT_CELLS) for _ in got.shape)]
            return not_yet(text, Table(got.shape, _cells(got.shape, corner.tolist())))
        values = got.tolist()
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        return not_yet(f"Expected shape {shape}; this raises {words}")
    return compared(puzzle.name, call, shape, expected, values)


def compared(
    title: str, call: str, shape: tuple[int, ...], expected: Any, values: Any
) -> Verdict:
    """Return the verdict on a result of the expected shape."""
    table = Table(shape, _cells(shape, expected))
    wrong = [
        [float(a) != float(b) for a, b in zip(row, other, strict=True)]
        for row, other in zip(_rows(shape, expected), _rows(shape, values), strict=True)
    ]
    many, size = sum(map(sum, wrong)), sum(map(len, wrong))
    shown = [
        row[: policy.MOST_VERDICT_CELLS] for row in wrong[: policy.MOST_VERDICT_CELLS]
    ]
    found = Table(shape, _cells(shape, values), shown)
    text = f"{many} of its {size} elements are wrong." if many else ""
    return Verdict(title, not many, text, call, table, found)


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
    rows = _rows(shape, values)[: policy.MOST_VERDICT_CELLS]
    return [
        [f"{_plain(value)}" for value in row[: policy.MOST_VERDICT_CELLS]]
        for row in rows
    ]


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
