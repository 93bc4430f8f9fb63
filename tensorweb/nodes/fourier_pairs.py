"""Pairs of real nodes as complex numbers, and tables of roots of unity.

Angles are reduced exactly as integers. Each open device has a cache of the most
recently used tables.
"""

from __future__ import annotations

import math
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

from tensorweb.devices import backend
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.nodes import policy
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.movement import slice_axis, squeeze
from tensorweb.nodes.selection import concat, pad
from tensorweb.ops import OPS
from tensorweb.protocol import Backend
from tensorweb.shapes import Shape

Pair = tuple[Node, Node | None]
"""Real and imaginary parts of one shape; None where all imaginary parts are zero."""

FullPair = tuple[Node, Node]


def added(a: Node, b: Node) -> Node:
    """Return a + b."""
    return elementwise(OPS["add"], a, b)


def subtracted(a: Node, b: Node) -> Node:
    """Return a - b."""
    return elementwise(OPS["subtract"], a, b)


def multiplied(a: Node, b: Node) -> Node:
    """Return a · b."""
    return elementwise(OPS["multiply"], a, b)


def scaled(node: Node, factor: float) -> Node:
    """Return a node times a number."""
    if factor == 1:
        return node
    return multiplied(node, constant(factor, node.dtype, node.device))


def zeros(like: Node) -> Node:
    """Return zeros of a node's shape and dtype."""
    return constant(0, like.dtype, like.device, like.shape)


def product(a: Pair, b: FullPair) -> FullPair:
    """Return the product of two complex numbers."""
    (re, im), (cosine, sine) = a, b
    if im is None:
        return multiplied(re, cosine), multiplied(re, sine)
    return (
        subtracted(multiplied(re, cosine), multiplied(im, sine)),
        added(multiplied(re, sine), multiplied(im, cosine)),
    )


def conjugate(pair: Pair) -> Pair:
    """Return the complex conjugate."""
    re, im = pair
    return re, None if im is None else elementwise(OPS["negative"], im)


def each(change: Callable[[Node], Node], pair: Pair) -> Pair:
    """Return `change` applied to each part that is not None."""
    re, im = pair
    return change(re), None if im is None else change(im)


def each_full(change: Callable[[Node], Node], pair: FullPair) -> FullPair:
    """Return `change` applied to both parts."""
    re, im = pair
    return change(re), change(im)


def part(node: Node, axis: int, index: int) -> Node:
    """Return one element of an axis, without the axis."""
    return squeeze(slice_axis(node, axis, index, 1), (axis,))


def resized(node: Node, axis: int, length: int) -> Node:
    """Return a node with an axis truncated or zero-padded to a length."""
    missing = length - node.shape[axis]
    if missing <= 0:
        return slice_axis(node, axis, 0, length)
    widths = [(0, 0)] * len(node.shape)
    widths[axis] = (0, missing)
    return pad(node, widths, constant(0, node.dtype, node.device))


def joined(node: Node, other: Node, axis: int) -> Node:
    """Return two nodes concatenated along an axis."""
    return concat([node, other], axis)


Key = tuple[object, ...]


@lru_cache(maxsize=1024)
def primes_of(length: int) -> tuple[int, ...]:
    """Return the prime factors of a length, the smallest first.

    >>> primes_of(360), primes_of(1)
    ((2, 2, 2, 3, 3, 5), ())
    """
    primes = []
    prime = 2
    while prime * prime <= length:
        while length % prime == 0:
            primes.append(prime)
            length //= prime
        prime += 1
    return (*primes, length) if length > 1 else tuple(primes)


@lru_cache(maxsize=1024)
def factors_of(length: int) -> tuple[int, ...] | None:
    """Return the factors of a length, one matrix product each; None for large primes.

    Their sum is small, since the cost is proportional to it.

    >>> factors_of(1024), factors_of(97), factors_of(10007)
    ((32, 32), (97,), None)
    """
    primes = primes_of(length)
    if primes and primes[-1] > policy.LARGEST_PRIME:
        return None
    large = [prime for prime in primes if prime > policy.LARGEST_FACTOR]
    small = [prime for prime in primes if prime <= policy.LARGEST_FACTOR]
    return (*large, *_grouped(small))


def _grouped(primes: list[int]) -> tuple[int, ...]:
    """Return the fewest, about equal products of primes up to `LARGEST_FACTOR`."""
    total = math.prod(primes)
    count = 0
    while policy.LARGEST_FACTOR**count < total:
        count += 1
    while True:
        groups = [1] * count
        for prime in reversed(primes):
            least = min(range(count), key=groups.__getitem__)
            groups[least] *= prime
        if all(group <= policy.LARGEST_FACTOR for group in groups):
            return tuple(sorted(groups, reverse=True))
        count += 1


@lru_cache(maxsize=1024)
def quick_length(least: int) -> int:
    """Return the fastest length of at least `least` with small prime factors.

    >>> quick_length(20013)
    21600
    """
    lengths = []
    power = 1
    while power < 2 * least:
        for threes in (1, 3, 9, 27):
            for fives in (1, 5, 25, 125):
                length = power * threes * fives
                if least <= length <= least + least // 4 + 1:
                    lengths.append(length)
        power *= 2
    return min(lengths, key=_cost)


def _cost(length: int) -> int:
    return length * sum(factors_of(length) or ())


def unit(numerator: int, denominator: int) -> tuple[float, float]:
    """Return cosine and sine of `2π · numerator / denominator`.

    Integers reduce the angle to an eighth of a circle, so that both are within 1 ULP
    for any numerator.

    >>> unit(10**30 + 1, 4)
    (0.0, 1.0)
    """
    quarter, remainder = divmod(4 * (numerator % denominator), denominator)
    if 2 * remainder <= denominator:
        angle = math.pi / 2 * remainder / denominator
        cosine, sine = math.cos(angle), math.sin(angle)
    else:
        angle = math.pi / 2 * (denominator - remainder) / denominator
        cosine, sine = math.sin(angle), math.cos(angle)
    for _ in range(quarter):
        cosine, sine = 0.0 - sine, cosine
    return cosine, sine


@lru_cache(maxsize=4)
def _circle(order: int) -> list[tuple[float, float]]:
    """Return all roots of an order; the lower half plane mirrors the upper one."""
    half = [unit(k, order) for k in range(order // 2 + 1)]
    return [*half, *[(x, -y) for x, y in half[(order - 1) // 2 : 0 : -1]]]


def units(numerators: Iterable[int], order: int) -> list[tuple[float, float]]:
    """Return `unit` of each numerator; cached if they cover half of a circle.

    >>> units([3, -1], 4) == [unit(3, 4), unit(-1, 4)]
    True
    """
    numbers = list(numerators)
    if order <= min(policy.LARGEST_CIRCLE, 2 * len(numbers)):
        circle = _circle(order)
        return [circle[number % order] for number in numbers]
    return [unit(number, order) for number in numbers]


_tables: WeakKeyDictionary[Backend, OrderedDict[Key, Node]] = WeakKeyDictionary()
"""The most recently used tables of each open device."""


def table(
    key: Key, make: Callable[[], Iterable[float]], shape: Shape, like: Node
) -> Node:
    """Return a cached table in the dtype and on the device of `like`.

    Args:
        key: identifies the table.
        make: returns its elements in row-major order.
        shape: the table's shape.
        like: a node with the dtype and device of the table.
    """
    cached = _tables.setdefault(backend(like.device), OrderedDict())
    full_key = (*key, like.dtype)
    node = cached.get(full_key)
    if node is None:
        data = array(like.dtype.typecode, make()).tobytes()
        node = leaf(HostData(data), shape, like.dtype, like.device)
        cached[full_key] = node
        while len(cached) > policy.MOST_ROOT_TABLES or (
            len(cached) > 1 and sum(n.size for n in cached.values()) > policy.MOST_ROOTS
        ):
            cached.popitem(last=False)
    cached.move_to_end(full_key)
    return node


def roots(count: int, step: int, order: int, like: Node) -> Node:
    """Return `exp(2πi · step · k / order)` for k below a count, as (2, count)."""

    def make() -> Iterable[float]:
        pairs = units((step * k for k in range(count)), order)
        return [pair[part] for part in range(2) for pair in pairs]

    return table(("roots", count, step, order), make, (2, count), like)


def roots_in_pairs(angles: Sequence[int], order: int, like: Node) -> Node:
    """Return `exp(-2πi · a / order)` for each angle a, as (angle, part).

    The cache key has no angles: a device uses the same angles for each order.
    """

    def make() -> Iterable[float]:
        pairs = units((-angle for angle in angles), order)
        return [part for pair in pairs for part in pair]

    return table(("pairs", order), make, (len(angles), 2), like)


def digits_of(rows: int, columns: int) -> tuple[int, int]:
    """Return the factors `(high, low)` of the column count for tables of roots.

    A table for each of the two digits of a column index is much smaller than one table
    for all columns. Small tables have `high` 1.

    >>> digits_of(32, 1024), digits_of(1024, 1024)
    ((1, 1024), (32, 32))
    """
    if rows * columns <= policy.LARGEST_ROOT_TABLE:
        return 1, columns
    low = max(d for d in range(1, math.isqrt(columns) + 1) if columns % d == 0)
    return columns // low, low


def matrix(length: int, sign: int, like: Node) -> Node:
    """Return the DFT matrix of a short length as a real tensor.

    The axes are (part, index) of the result, then (index, part) of the input:
    `[[cos, -sin], [sin, cos]]` for each pair of indices.
    """

    def make() -> Iterable[float]:
        pairs = units((sign * k for k in range(length)), length)
        for part in range(2):
            for k in range(length):
                for j in range(length):
                    cosine, sine = pairs[j * k % length]
                    yield from ((cosine, -sine), (sine, cosine))[part]

    return table(("matrix", length, sign), make, (2, length, length, 2), like)


def twiddles(
    rows: int, columns: int, step: int, order: int, sign: int, like: Node
) -> Node:
    """Return `exp(2πi · sign · step · j · k / order)` as (3, rows, columns).

    The three are the cosine, the negative sine and the sine.
    """

    def make() -> Iterable[float]:
        products = (j * k for j in range(rows) for k in range(columns))
        pairs = units((sign * step * product for product in products), order)
        for factor, part in ((1, 0), (-1, 1), (1, 1)):
            yield from [factor * pair[part] for pair in pairs]

    key = ("twiddles", rows, columns, step, order, sign)
    return table(key, make, (3, rows, columns), like)


def arcs(
    key: Key,
    numerators: Callable[[], Iterable[int]],
    order: int,
    shape: Shape,
    like: Node,
) -> Node:
    """Return `exp(2πi · numerator / order)` of numbers in row-major order, as (2, …).

    Args:
        key: identifies the numerators among those of this order.
        numerators: returns the numerators in row-major order.
        order: the order of the roots.
        shape: the shape of the numerators.
        like: a node with the dtype and device of the table.
    """

    def make() -> Iterable[float]:
        pairs = units(numerators(), order)
        return [pair[part] for part in range(2) for pair in pairs]

    return table(("arcs", *key, order, shape), make, (2, *shape), like)
