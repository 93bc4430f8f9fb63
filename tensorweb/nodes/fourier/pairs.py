"""Complex numbers as pairs of real nodes, as transforms compute with them."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.movement import slice_axis, squeeze
from tensorweb.nodes.selection import concat, pad
from tensorweb.ops import OPS

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
