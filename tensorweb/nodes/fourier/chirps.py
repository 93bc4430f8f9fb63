"""Chirps for Bluestein's algorithm, which computes a transform as a convolution."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tensorweb.graph.node import Node
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    between,
    conjugate,
    each_full,
    joined,
    part,
    product,
    resized,
    scaled,
)
from tensorweb.nodes.fourier.tables import LONGEST_TABLE, arcs
from tensorweb.nodes.movement import flip, reshape
from tensorweb.shapes import Shape


def chirp(length: int, sign: int, like: Node) -> FullPair:
    """Return `exp(πi · sign · k² / length)` for each k.

    A long chirp is a product of three tables, each indexed by two of the three digits
    of k: with `k = a + b + c`, `k² = (a² + 2ab) + 2ac + (b + c)²`.
    """
    order = 2 * length

    def table(
        number: int, squares: Callable[[], Iterable[int]], shape: Shape
    ) -> FullPair:
        found = arcs(
            ("chirp", number, sign),
            lambda: (sign * square for square in squares()),
            order,
            shape,
            like,
        )
        return part(found, 0, 0), part(found, 0, 1)

    if length <= LONGEST_TABLE:
        return table(0, lambda: (k * k for k in range(length)), (length,))
    bits = (length - 1).bit_length()
    low, middle = 1 << bits // 3, 1 << (bits + 1) // 3
    high = -(-length // (low * middle))
    a = range(0, high * middle * low, middle * low)
    b = range(0, middle * low, low)
    c = range(low)
    found = product(
        product(
            table(
                1, lambda: (j * (j + 2 * k) for j in a for k in b), (high, middle, 1)
            ),
            table(2, lambda: (2 * j * k for j in a for k in c), (high, 1, low)),
        ),
        table(3, lambda: ((j + k) ** 2 for j in b for k in c), (1, middle, low)),
    )
    flat = each_full(lambda node: reshape(node, (high * middle * low,)), found)
    return each_full(lambda node: between(node, 0, 0, length), flat)


def chirp_filter(chirp: FullPair, whole: int) -> Pair:
    """Return the conjugate chirp over `whole` as a circular filter of this length.

    Elements k and `whole - k` are equal; elements not covered by the chirp are zero.
    """
    length = chirp[0].shape[0]

    def around(node: Node) -> Node:
        mirrored = flip(between(node, 0, 1, length), (0,))
        front = resized(node, 0, whole - length + 1)
        return scaled(joined(front, mirrored, 0), 1 / whole)

    re, im = each_full(around, chirp)
    return conjugate((re, im))
