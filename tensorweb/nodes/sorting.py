"""Build what sorts, and what searches sorted values or limits them."""

from __future__ import annotations

import math

from tensorweb import dtypes
from tensorweb.devices import backend
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.graph.attributes import Ordering, Taking
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.nodes import policy
from tensorweb.nodes.complex_parts import imaginary_part, real_part
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.movement import (
    expand,
    move_axis_last,
    move_last_axis_to,
    reshape,
    slice_axis,
)
from tensorweb.nodes.ranges import promise_interval
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import gather, iota, pad
from tensorweb.ops import OPS
from tensorweb.ops.structure import ARGSORT, SORT


def sort(node: Node, axis: int, descending: bool = False) -> Node:
    """Return values in order along one axis; equal ones keep theirs, NaN comes last.

    Complex numbers are in order of their real parts, then of their imaginary ones.
    """
    if node.shape[axis] < 2:
        return node
    if node.op is COMPLEX:
        return take_along(node, argsort(node, axis, descending), axis)
    return _sort(SORT, node, axis, descending)


def argsort(node: Node, axis: int, descending: bool = False) -> Node:
    """Return the positions (int32) that sort an axis as `sort` does."""
    if node.shape[axis] < 2:
        return constant(0, dtypes.DEFAULT_INT, node.device, node.shape)
    if node.op is COMPLEX:
        return _argsort_complex(node, axis, descending)
    return _sort(ARGSORT, node, axis, descending)


def _argsort_complex(node: Node, axis: int, descending: bool) -> Node:
    """Sort by imaginary parts, then by real parts, which keeps the order of equals.

    Behind all numbers are those whose imaginary part is NaN, then NaN, as in NumPy.
    """
    real, imaginary = real_part(node), imaginary_part(node)
    lacks, misses = (
        cast(elementwise(OPS["isnan"], part), real.dtype) for part in (real, imaginary)
    )
    twice = elementwise(OPS["add"], lacks, lacks)
    last = elementwise(OPS["add"], twice, misses)
    order = argsort(imaginary, axis, descending)
    for key, is_falling in ((real, descending), (last, False)):
        there = argsort(take_along(key, order, axis), axis, is_falling)
        order = take_along(order, there, axis)
    return order


def _sort(op: Op, node: Node, axis: int, descending: bool) -> Node:
    last = move_axis_last(node, axis)
    dtype = node.dtype if op is SORT else dtypes.DEFAULT_INT
    result = Node(
        op, (last,), Ordering(bool(descending)), last.shape, dtype, node.device
    )
    return move_last_axis_to(result, axis)


def top_k(node: Node, k: int, axis: int, largest: bool = True) -> tuple[Node, Node]:
    """Return the k largest or smallest values along an axis, best first, and where.

    Raises:
        ShapeError: the axis has fewer than k elements, or k is negative.
    """
    length = node.shape[axis]
    if not 0 <= k <= length:
        raise ShapeError(
            f"top_k: k is {k}, axis {axis} of shape {node.shape} has {length} "
            "elements; give 0 to as many."
        )
    indices = move_last_axis_to(_best(move_axis_last(node, axis), k, largest), axis)
    return take_along(node, indices, axis), indices


def _best(node: Node, k: int, largest: bool) -> Node:
    """Return the positions of the k best along the last axis, best first.

    A row is divided into blocks, whose k best are the candidates: workgroups sort short
    rows in their memory. Sorts are stable, so that the first of equal values is best.
    """
    *outer, length = node.shape
    axis = len(outer)
    size = (
        max(policy.TOP_K_BLOCK, 1 << (policy.TOP_K_SHARE * k - 1).bit_length())
        if k
        else length
    )
    is_long = size <= policy.LONGEST_BLOCK and length > policy.TOP_K_SHARE * size
    if not is_long or node.op is COMPLEX or not backend(node.device).sorts_short_rows:
        return slice_axis(argsort(node, axis, descending=largest), axis, 0, k)
    blocks = -(-length // size)
    # Behind all elements, and so never one of the k: there are as many elements.
    worst = constant(_worst(node.dtype, largest), node.dtype, node.device)
    padded = pad(node, [*[(0, 0)] * axis, (0, blocks * size - length)], worst)
    rows = reshape(padded, (*outer, blocks, size))
    order = slice_axis(argsort(rows, axis + 1, descending=largest), axis + 1, 0, k)
    numbers = reshape(iota(blocks, dtypes.DEFAULT_INT, node.device), (blocks, 1))
    factor = constant(size, dtypes.DEFAULT_INT, node.device)
    starts = elementwise(OPS["multiply"], numbers, factor)
    positions = elementwise(OPS["add"], order, starts)
    values = take_along(rows, order, axis + 1)
    flat = (*outer, blocks * k)
    chosen = _best(reshape(values, flat), k, largest)
    return take_along(reshape(positions, flat), chosen, axis)


def _worst(dtype: DType, largest: bool) -> float:
    """Return the value that comes last where the largest, or smallest, comes first."""
    if dtype.kind == "float":
        return math.nan
    if dtype.kind == "bool":
        return not largest
    return dtypes.integer_range(dtype)[0 if largest else 1]


def clip(node: Node, low: Node | None, high: Node | None) -> Node:
    """Return values clipped to `[low, high]`; NaN stays NaN."""
    if node.dtype.kind == "bool":
        raise DTypeError("clip: bool operands have no range; convert with astype.")
    if low is not None:
        node = elementwise(OPS["maximum"], node, low)
    if high is not None:
        node = elementwise(OPS["minimum"], node, high)
    return node


def isin(node: Node, among: Node, *, invert: bool) -> Node:
    """Return whether each element of `node` equals one of `among`."""
    wide = reshape(node, (*node.shape, 1))
    equal = elementwise(OPS["equal"], wide, reshape(among, (among.size,)))
    found = reduce("any", equal, (len(node.shape),))
    return elementwise(OPS["logical_not"], found) if invert else found


def searchsorted(ordered: Node, values: Node, side: str) -> Node:
    """Return the count of elements of a sorted 1-D node before each value.

    NaN sorts last, as in `sort`.

    Raises:
        ShapeError: the sorted values have not exactly one axis.
    """
    if len(ordered.shape) != 1:
        raise ShapeError(
            f"searchsorted: sorted values of shape {ordered.shape}; one axis is needed."
        )
    if side not in ("left", "right"):
        raise DataError(f"searchsorted: side {side!r}; it is 'left' or 'right'.")
    if ordered.size > policy.LARGEST_COMPARED:
        return _narrowed(ordered, values, side)
    wide = reshape(values, (*values.shape, 1))
    before = _is_before(ordered, wide, side)
    return reduce("sum", cast(before, dtypes.DEFAULT_INT), (len(values.shape),))


def _is_before(ordered: Node, values: Node, side: str) -> Node:
    """Return whether elements of a sorted node sort before values."""
    name = "less" if side == "left" else "less_equal"
    before = elementwise(OPS[name], ordered, values)
    if values.dtype.kind != "float":
        return before
    # NaN sorts after all numbers and compares equal to NaN, as in sort.
    is_last = elementwise(OPS["isnan"], values)
    if side == "left" and ordered.dtype.kind == "float":
        is_number = elementwise(OPS["logical_not"], elementwise(OPS["isnan"], ordered))
        is_last = elementwise(OPS["logical_and"], is_last, is_number)
    return elementwise(OPS["logical_or"], before, is_last)


def _narrowed(ordered: Node, values: Node, side: str) -> Node:
    """Return the count of elements before each value by a 16-way search.

    Each step finds one base-16 digit of the count by comparing the value with the 15
    elements that divide the remaining interval, so the work is logarithmic.
    """
    axis = len(values.shape)
    wide = reshape(values, (*values.shape, 1))
    last = _number(ordered.size - 1, ordered)
    digit_bits = policy.SEARCH_PARTS.bit_length() - 1
    step = policy.SEARCH_PARTS ** ((ordered.size.bit_length() - 1) // digit_bits)
    found = expand(_number(0, ordered), values.shape)
    while step:
        ways = min(policy.SEARCH_PARTS - 1, ordered.size // step)
        ramp = iota(ways, dtypes.int32, ordered.device)
        ends = elementwise(OPS["multiply"], ramp, _number(step, ordered))
        ends = elementwise(OPS["add"], ends, _number(step - 1, ordered))
        ends = elementwise(OPS["add"], reshape(found, (*found.shape, 1)), ends)
        is_there = elementwise(OPS["less_equal"], ends, last)
        index = elementwise(OPS["minimum"], ends, last)
        element = gather(ordered, (index,), Taking((0,), 0), index.shape)
        is_before = elementwise(
            OPS["logical_and"], is_there, _is_before(element, wide, side)
        )
        digit = reduce("sum", cast(is_before, dtypes.int32), (axis,))
        more = elementwise(OPS["multiply"], digit, _number(step, ordered))
        found = elementwise(OPS["add"], found, more)
        step //= policy.SEARCH_PARTS
    counts = cast(found, dtypes.DEFAULT_INT)
    promise_interval(counts, 0, ordered.size)
    return counts


def _number(value: int, like: Node) -> Node:
    return constant(value, dtypes.int32, like.device)
