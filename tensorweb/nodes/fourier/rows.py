"""Transforms by the FOURIER operation, which some devices have for short lengths.

A longer length is split into two factors (four-step algorithm): columns are
transformed, multiplied by twiddle factors, and rows are transformed.
"""

from __future__ import annotations

from tensorweb.graph.attributes import Transform
from tensorweb.graph.node import Node
from tensorweb.nodes.fourier.lengths import primes_of
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    each_full,
    part,
    product,
    zeros,
)
from tensorweb.nodes.fourier.tables import digits_of, roots_in_pairs, turns
from tensorweb.nodes.movement import permute, reshape
from tensorweb.ops.structure import FOURIER, PERMUTE, RESHAPE, SLICE
from tensorweb.protocol import RowTransformer
from tensorweb.view import View


def by_rows(pair: Pair, axis: int, sign: int, device: RowTransformer) -> FullPair:
    """Return the transform of an axis whose length the device supports."""
    re, im = pair
    length = re.shape[axis]
    angles = device.angles(length)
    roots = [roots_in_pairs(angles, length, re)] if angles else []
    inputs = (re, zeros(re) if im is None else im, *roots)
    how, shape = Transform(axis, sign), (*re.shape, 2)
    found = Node(FOURIER, inputs, how, shape, re.dtype, re.device)
    last = len(re.shape)
    return part(found, last, 0), part(found, last, 1)


def interleaved(re: Node, im: Node) -> Node | None:
    """Return the node of pairs whose parts `re` and `im` are; None if there is none."""
    base = re.base
    if base.op is not FOURIER or base is not im.base or base.size != 2 * re.size:
        return None
    for number, node in enumerate((re, im)):
        whole = View.contiguous((*re.shape, 2))
        ranges = [(0, length, 1) for length in re.shape]
        if node.view != whole.slice((*ranges, (number, 1, 1))).reshape(re.shape):
            return None
        while node is not base:
            if node.op not in (RESHAPE, SLICE, PERMUTE):
                return None
            node = node.inputs[0]
    return reshape(base, (*re.shape, 2))


def columns_of(length: int, device: RowTransformer) -> int | None:
    """Return the length of columns in a split of `length` into two factors.

    It is near the square root. None if the device does not support a prime factor.
    """
    divisors = {1}
    for prime in primes_of(length):
        if not device.takes(prime, is_across=True):
            return None
        divisors |= {divisor * prime for divisor in divisors}
    taken = [d for d in divisors if d > 1 and device.takes(d, is_across=True)]
    fitting = [d for d in taken if device.takes(length // d, is_across=True)]
    return min(
        fitting or [max(taken)], key=lambda divisor: abs(divisor * divisor - length)
    )


def turned(pair: FullPair, axis: int, sign: int) -> FullPair:
    """Return the pair times `w^(j · k)` for k along `axis` and j along the next axis.

    The order of w is the product of both lengths.
    """
    shape = pair[0].shape
    outer, (rows, columns), inner = shape[:axis], shape[axis:][:2], shape[axis + 2 :]
    ones = (1,) * len(inner)
    high, low = digits_of(columns, rows)
    digits = (*outer, high, low, columns, *inner)
    found = each_full(lambda node: reshape(node, digits), pair)
    for count, step, aligned in (
        (high, low, (high, 1, columns, *ones)),
        (low, 1, (1, low, columns, *ones)),
    ):
        if count > 1:
            table = turns(count, columns, step, rows * columns, sign, pair[0])
            angle = [reshape(part(table, 0, which), aligned) for which in (0, 2)]
            found = product(found, (angle[0], angle[1]))
    return each_full(lambda node: reshape(node, shape), found)


def swapped(node: Node, axis: int) -> Node:
    """Return a node with an axis and the next one exchanged."""
    order = list(range(len(node.shape)))
    order[axis : axis + 2] = axis + 1, axis
    return permute(node, order)
