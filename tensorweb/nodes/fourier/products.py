"""Transforms as products of short DFT matrices with twiddle factors between them.

Stockham's algorithm: each stage writes its results in the final order, so no reordering
is needed. Before stage i, with K points done and n of this stage,

    z[j, m, k] becomes  sum over j of  w_n^(j·l) · w_(K·n)^(j·k) · z[j, m, k]

at position (m, l, k); j is the point, m the rest that later stages transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tensorweb.graph.attributes import Groups
from tensorweb.graph.node import Node
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    added,
    between,
    multiplied,
    part,
)
from tensorweb.nodes.fourier.tables import digits_of, matrix, turns
from tensorweb.nodes.movement import expand, flip, permute, reshape


def by_products(pair: Pair, factors: Sequence[int], sign: int) -> FullPair:
    """Return the transform of the last axis, whose length is the product of factors.

    Both parts of the result are views of one storage.
    """
    *outer, length = pair[0].shape
    state = _first(pair, factors[0], sign)
    for factor in factors[1:]:
        state = _stage(state, factor, sign)
    state = reshape(state, (*outer, 2, length))
    return part(state, len(outer), 0), part(state, len(outer), 1)


def _first(pair: Pair, factor: int, sign: int) -> Node:
    """Return the first stage of (…, point) as (row, rest, part, done)."""
    *outer, length = pair[0].shape
    rest, last = length // factor, len(outer)
    weights = matrix(factor, sign, pair[0])
    total: Node | None = None
    for number, node in enumerate(pair):
        if node is None:
            continue
        points = reshape(node, (*outer, factor, rest))
        left = permute(points, (*range(last), last + 1, last))
        right = permute(part(weights, 3, number), (2, 0, 1))
        found = contract(left, right, Groups(0, last + 1, 1, 2))
        total = found if total is None else added(total, found)
    assert total is not None, "internal: a transform has points"
    return reshape(total, (prod(outer), rest, 2, factor))


def _stage(state: Node, factor: int, sign: int) -> Node:
    """Return the next stage of (row, rest, part, done)."""
    rows, rest, _, done = state.shape
    rest //= factor
    points = _apply_twiddles(reshape(state, (rows, factor, rest, 2, done)), sign)
    right = permute(points, (0, 2, 1, 3, 4))
    weights = matrix(factor, sign, state)
    left = expand(weights, (rows, rest, *weights.shape))
    found = contract(left, right, Groups(2, 2, 2, 1))
    return reshape(found, (rows, rest, 2, factor * done))


def _apply_twiddles(points: Node, sign: int) -> Node:
    """Return (row, point, rest, part, done) times `w^(point · done)`."""
    rows, factor, rest, _, done = points.shape
    order = factor * done
    high, low = digits_of(factor, done)
    digits = reshape(points, (rows, factor, rest, 2, high, low))
    for count, step, shape in (
        (high, low, (factor, 1, 1, high, 1)),
        (low, 1, (factor, 1, 1, 1, low)),
    ):
        if count == 1:
            continue
        angles = turns(factor, count, step, order, sign, points)
        cosine = reshape(part(angles, 0, 0), shape)
        sines = permute(between(angles, 0, 1, 3), (1, 0, 2))
        sine = reshape(sines, (factor, 1, 2, *shape[3:]))
        other = multiplied(flip(digits, (3,)), sine)
        digits = added(multiplied(digits, cosine), other)
    return reshape(digits, points.shape)
