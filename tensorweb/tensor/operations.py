"""Elementwise operations on operands of any kind, by their names in the op table."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tensorweb import dtypes
from tensorweb.errors import RangeError
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.choice import clip
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_operands, is_scalar, number_of_scalar

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
"""Operations that give an answer for numbers of every size."""


def operation(name: str, *operands: ArrayLike) -> Node:
    """Return an elementwise operation; Python numbers adopt the tensors' dtype.

    A tensor of integers compares with integers of every size, as in NumPy.

    Raises:
        RangeError: an integer does not fit the tensor's dtype, and is computed with.
    """
    try:
        return elementwise(OPS[name], *as_operands(*operands))
    except RangeError:
        if name not in COMPARISONS:
            raise
        return _compared(name, *operands)


def _compared(name: str, x: ArrayLike, other: ArrayLike) -> Node:
    """Return what an integer beyond the range of a tensor compares to, everywhere."""
    pair = (x, other)
    tensors = [each for each in pair if isinstance(each, TensorBase)]
    if len(tensors) != 1 or not any(map(is_scalar, pair)):
        raise  # the error that is being handled
    # Every value of the dtype is on the same side of the number, 0 among them.
    values = [
        0 if isinstance(each, TensorBase) else number_of_scalar(each) for each in pair
    ]
    node = tensors[0].node
    answer = COMPARISONS[name](*values)
    return constant(answer, dtypes.bool, node.device, node.shape)


def clipped(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Node:
    """Return values raised to one limit and lowered to the other; None is no limit.

    A limit beyond all integers of the dtype is none.
    """
    if isinstance(x, TensorBase) and x.node.dtype.kind in ("int", "uint"):
        least, greatest = dtypes.integer_range(x.node.dtype)
        low = None if type(low) is int and low <= least else low
        high = None if type(high) is int and high >= greatest else high
    given = [limit for limit in (low, high) if limit is not None]
    node, *limits = as_operands(x, *given)
    return clip(
        node,
        limits[0] if low is not None else None,
        limits[-1] if high is not None else None,
    )
