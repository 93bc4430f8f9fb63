"""vjp rules of reductions, scans and sorting."""

from __future__ import annotations

from tensorweb.graph.attributes import Ordering, Reduction
from tensorweb.graph.autograd import is_recording
from tensorweb.graph.node import Node, attributes_of
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.movement import permute, reshape, slice_ranges
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import pad
from tensorweb.nodes.sorting import argsort
from tensorweb.ops import OPS
from tensorweb.shapes import size
from tensorweb.transforms.rules.rule import (
    Cotangents,
    Rule,
    Step,
    choose,
    equal,
    number,
    over,
    running,
    spread_along,
    times,
)


def of_sum(step: Step, cotangent: Node) -> Cotangents:
    """Broadcast the cotangent to the input's shape."""
    axes = attributes_of(step.node, Reduction).axes
    return [spread_along(cotangent, axes, step.inputs[0].shape)]


def of_prod(step: Step, cotangent: Node) -> Cotangents:
    """Multiply by the product of all other factors, from exclusive scans of both ends.

    There is no division, so it is exact with zeros and differentiable again.
    """
    axes = attributes_of(step.node, Reduction).axes
    x = step.inputs[0]
    retained = [axis for axis in range(len(x.shape)) if axis not in axes]
    order = (*retained, *axes)
    moved = permute(x, order)
    outer = tuple(x.shape[axis] for axis in retained)
    rows = reshape(moved, (*outer, size([x.shape[axis] for axis in axes])))
    before = _shifted(running("cumulative_prod", rows), 1)
    behind = _shifted(running("cumulative_prod", rows, from_end=True), -1)
    others = reshape(times(before, behind), moved.shape)
    back = permute(others, [order.index(axis) for axis in range(len(order))])
    return [times(spread_along(cotangent, axes, x.shape), back)]


def _shifted(node: Node, by: int) -> Node:
    """Return a node shifted by 1 along the last axis, filled with 1."""
    length = node.shape[-1]
    if not node.size:
        return node
    ranges = [(0, n, 1) for n in node.shape]
    ranges[-1] = (0 if by > 0 else 1, length - 1, 1)
    widths = [(0, 0)] * len(node.shape)
    widths[-1] = (1, 0) if by > 0 else (0, 1)
    return pad(slice_ranges(node, ranges), widths, number(1, node))


def of_extreme(step: Step, cotangent: Node) -> Cotangents:
    """Split the cotangent equally among tied extremes; NaN propagates."""
    axes = attributes_of(step.node, Reduction).axes
    x = step.inputs[0]
    best = spread_along(step.node, axes, x.shape)
    is_best = equal(x, best)
    count = reduce("sum", cast(is_best, cotangent.dtype), axes, dtype=cotangent.dtype)
    fraction = spread_along(over(cotangent, count), axes, x.shape)
    lost = choose(elementwise(OPS["isnan"], best), best, number(0, cotangent))
    return [choose(is_best, fraction, lost)]


def of_cumulative_sum(step: Step, cotangent: Node) -> Cotangents:
    """Return the cumulative sum of the cotangent from the other end."""
    return [running("cumulative_sum", cotangent, from_end=True)]


def of_cumulative_prod(step: Step, cotangent: Node) -> Cotangents:
    """Return R(g·y) / x before the first zero, R(g·z) at it and 0 after it.

    R is the cumulative sum from the end; z is the cumulative product with the first
    zero replaced by 1.
    """
    depth = 2 if is_recording() else 0
    return [_through_products(step.inputs[0], step.node, cotangent, depth)]


def _through_products(x: Node, y: Node, cotangent: Node, depth: int) -> Node:
    """Return the cotangent of x, whose cumulative product is y.

    After the first zero it is that zero times a derivative of z: 0, but with a
    derivative of its own. If the result may be differentiated again (`depth`), it is
    computed by that formula, to the depth that second derivatives need.
    """
    is_zero = equal(x, number(0, x))
    seen = running("cumulative_sum", cast(is_zero, x.dtype))
    is_before = equal(seen, number(0, x))
    is_first = elementwise(OPS["logical_and"], is_zero, equal(seen, number(1, x)))
    whole = choose(is_first, number(1, x), x)
    z = running("cumulative_prod", whole)
    if depth:
        last = (len(x.shape) - 1,)
        first = reduce("sum", choose(is_first, x, number(0, x)), last, dtype=x.dtype)
        there = choose(is_first, number(1, x), spread_along(first, last, x.shape))
        behind = times(_through_products(whole, z, cotangent, depth - 1), there)
    else:
        at = running("cumulative_sum", times(cotangent, z), from_end=True)
        behind = choose(is_first, at, number(0, x))
    before = running("cumulative_sum", times(cotangent, y), from_end=True)
    divided = over(before, choose(is_before, x, number(1, x)))
    return choose(is_before, divided, behind)


def of_sort(step: Step, cotangent: Node) -> Cotangents:
    """Permute the cotangent by the inverse of the sorting permutation."""
    descending = attributes_of(step.node, Ordering).descending
    last = len(cotangent.shape) - 1
    came_from = argsort(step.inputs[0], last, descending)
    return [take_along(cotangent, argsort(came_from, last), last)]


def of_nothing(step: Step, cotangent: Node) -> Cotangents:
    """Return no cotangents: indices and bools have no derivative."""
    return [None] * len(step.inputs)


RULES: dict[str, Rule] = {
    "sum": of_sum,
    "prod": of_prod,
    "max": of_extreme,
    "min": of_extreme,
    "any": of_nothing,
    "all": of_nothing,
    "argmax": of_nothing,
    "argmin": of_nothing,
    "cumulative_sum": of_cumulative_sum,
    "cumulative_prod": of_cumulative_prod,
    "sort": of_sort,
    "argsort": of_nothing,
}
