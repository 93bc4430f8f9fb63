"""Build what chooses between values: where, clip, isin, searchsorted."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.graph.node import Node
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import reshape
from tensorweb.nodes.reduction import reduce
from tensorweb.ops import OPS


def clip(node: Node, low: Node | None, high: Node | None) -> Node:
    """Return values raised to `low` and lowered to `high`; NaN stays NaN."""
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
    """Return how many of a sorted 1-D node lie before each value, in sort's order.

    Raises:
        ShapeError: the sorted values have not exactly one axis.
    """
    if len(ordered.shape) != 1:
        raise ShapeError(
            f"searchsorted: sorted values of shape {ordered.shape}; one axis is needed."
        )
    if side not in ("left", "right"):
        raise DataError(f"searchsorted: side {side!r}; it is 'left' or 'right'.")
    wide = reshape(values, (*values.shape, 1))
    name = "less" if side == "left" else "less_equal"
    before = elementwise(OPS[name], ordered, wide)
    if values.dtype.kind == "float":
        # NaN comes after all numbers, as in sort, and beside other NaN.
        is_last = elementwise(OPS["isnan"], wide)
        if side == "left" and ordered.dtype.kind == "float":
            is_number = elementwise(
                OPS["logical_not"], elementwise(OPS["isnan"], ordered)
            )
            is_last = elementwise(OPS["logical_and"], is_last, is_number)
        before = elementwise(OPS["logical_or"], before, is_last)
    return reduce("sum", cast(before, dtypes.DEFAULT_INT), (len(values.shape),))
