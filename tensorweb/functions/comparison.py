"""Comparisons of two elements; all but `not_equal` are false for NaN."""

from __future__ import annotations

from tensorweb.functions.apply import apply
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
]


def equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 == x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.equal([1, 2, 3], [1, 0, 3])
    tensor([ True, False,  True])
    """
    return apply("equal", x1, x2)


def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 != x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.not_equal([1, 2, 3], [1, 0, 3])
    tensor([False,  True, False])
    """
    return apply("not_equal", x1, x2)


def less(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 < x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.less([1, 2, 3], 2)
    tensor([ True, False, False])
    """
    return apply("less", x1, x2)


def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 <= x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.less_equal([1, 2, 3], 2)
    tensor([ True,  True, False])
    """
    return apply("less_equal", x1, x2)


def greater(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 > x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.greater([1, 2, 3], 2)
    tensor([False, False,  True])
    """
    return apply("greater", x1, x2)


def greater_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 >= x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.greater_equal([1, 2, 3], 2)
    tensor([False,  True,  True])
    """
    return apply("greater_equal", x1, x2)
