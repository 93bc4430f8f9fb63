"""Build clip, isin and searchsorted."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.graph.attributes import Taking
from tensorweb.graph.node import Node, constant
from tensorweb.nodes import policy
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import expand, reshape
from tensorweb.nodes.ranges import promise_interval
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import gather, iota
from tensorweb.ops import OPS


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
