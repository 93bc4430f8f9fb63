"""The puzzles of the page: their expected results in plain lists, and their cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

Argument = int | list[Any]
Arguments = tuple[Any, ...]
Result = tuple[tuple[int, ...], list[Any]]
"""A shape and nested lists."""

BASICS = frozenset(("shape", "size", "ndim", "dtype", "astype", "int32", "float32"))
"""Names that every puzzle may use."""

RANDOM_CASES = 20


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A puzzle.

    Attributes:
        name: the required function name.
        wanted: plain Python that computes the expected result from lists and integers.
        first: arguments of the example, shown first.
        edges: arguments with lengths 0 and 1.
        draw: returns random arguments.
        allowed: names of the library that may be used.
    """

    name: str
    wanted: Callable[..., Result]
    first: Arguments
    edges: tuple[Arguments, ...]
    draw: Callable[[Random], Arguments]
    allowed: frozenset[str]

    def cases(self, rng: Random) -> Iterator[Arguments]:
        """Yield arguments: the example, the edges, then random ones."""
        yield self.first
        yield from self.edges
        for _ in range(RANDOM_CASES + 3 - len(self.edges)):
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
