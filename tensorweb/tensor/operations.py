"""Elementwise operations on operands of any kind, and methods with further arguments.

Methods without further arguments are in `elementwise.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import RangeError
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import elementwise, rounded
from tensorweb.nodes.sorting import clip, isin
from tensorweb.ops import OPS
from tensorweb.tensor.arguments import into
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_operands, is_number, number_of_scalar
from tensorweb.tensor.values import peek

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
"""Operations that accept an integer beyond the range of the tensor's dtype."""


def operation(name: str, *operands: ArrayLike) -> Node:
    """Return an elementwise operation; Python numbers adopt the tensors' dtype.

    A tensor of integers compares with integers of every size, as in NumPy.

    Raises:
        RangeError: an integer does not fit the tensor's dtype and is not compared.
    """
    try:
        return elementwise(OPS[name], *as_operands(*operands))
    except RangeError:
        if name not in COMPARISONS:
            raise
        return _compared(name, *operands)


def _compared(name: str, x: ArrayLike, other: ArrayLike) -> Node:
    """Return the comparison with an integer out of range, equal for all elements.

    Every value of the dtype is on the same side of the integer, 0 among them.
    """
    # NumPy hands the first operand over as an array without axes.
    pair = [y[()] if getattr(y, "shape", None) == () else y for y in (x, other)]  # type: ignore[index]  # an array
    tensors = [operand for operand in pair if isinstance(operand, TensorBase)]
    if len(tensors) != 1 or not any(map(is_number, pair)):
        raise  # the error that is being handled
    numbers = [
        0 if isinstance(operand, TensorBase) else number_of_scalar(operand)
        for operand in pair
    ]
    node = tensors[0].node
    return constant(COMPARISONS[name](*numbers), dtypes.bool, node.device, node.shape)


def clipped(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Node:
    """Return values raised to one limit and lowered to the other; None is no limit.

    A limit beyond all integers of the dtype is none.
    """
    if isinstance(x, TensorBase) and x.node.dtype.kind in ("int", "uint"):
        least, greatest = dtypes.integer_range(x.node.dtype)
        low = None if type(low) is int and low <= least else low
        high = None if type(high) is int and high >= greatest else high
    node, *limits = as_operands(
        x, *(limit for limit in (low, high) if limit is not None)
    )
    return clip(
        node,
        limits[0] if low is not None else None,
        limits[-1] if high is not None else None,
    )


class OperationMethods(TensorBase):
    """Elementwise methods with arguments that are no operands."""

    __slots__ = ()

    def round(
        self, decimals: SupportsIndex = 0, out: TensorBase | None = None
    ) -> Tensor:
        """Return the nearest number with `decimals` decimals, halves to even.

        >>> tw.tensor([0.5, 1.5, 2.4]).round()
        tensor([0., 2., 2.])
        """
        return into(self._wrap(rounded(self.node, operator.index(decimals))), out)

    def __round__(self, ndigits: SupportsIndex | None = None) -> Any:
        if ndigits is None and not self.node.shape:
            return round(peek(self))
        return self.round(0 if ndigits is None else ndigits)

    def clip(
        self,
        min: ArrayLike = None,
        max: ArrayLike = None,
        out: TensorBase | None = None,
        *,
        casting: str = "same_kind",
    ) -> Tensor:
        """Return values below `min` raised to it, values above `max` lowered to it.

        `casting="unsafe"` converts them to the dtype of `out`, whatever that is.

        >>> tw.tensor([1, 5, 9]).clip(2, 7)
        tensor([2, 5, 7])
        """
        return into(self._wrap(clipped(self, min, max)), out, casting)

    def isin(self, other: ArrayLike, /, *, invert: bool = False) -> Tensor:
        """Return whether each element occurs in `other`; negated for `invert=True`.

        >>> tw.tensor([1, 2, 3]).isin([3, 1])
        tensor([ True, False,  True])
        """
        return self._wrap(isin(*as_operands(self, other), invert=invert))
