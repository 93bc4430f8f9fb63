"""Comparisons, and logic on truth values and on bits.

All comparisons but `not_equal` are false for NaN.
"""

from __future__ import annotations

from tensorweb.functions.apply import apply
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
]


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether both elements are true (not zero).

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logical_and([True, True], [True, False])
    tensor([ True, False])
    """
    return apply("logical_and", x1, x2)


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether one of two elements is true (not zero).

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logical_or([True, False], [False, False])
    tensor([ True, False])
    """
    return apply("logical_or", x1, x2)


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether exactly one of two elements is true (not zero).

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logical_xor([True, True], [True, False])
    tensor([False,  True])
    """
    return apply("logical_xor", x1, x2)


def logical_not(x: ArrayLike, /) -> Tensor:
    """Return whether each element is false (zero).

    Bool, of the same shape.

    >>> tw.logical_not([True, False])
    tensor([False,  True])
    """
    return apply("logical_not", x)


def bitwise_and(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 & x2`, bit by bit, for integers and bool.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_and([12, 10], 6)
    tensor([4, 2])
    """
    return apply("bitwise_and", x1, x2)


def bitwise_or(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 | x2`, bit by bit, for integers and bool.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_or([12, 10], 6)
    tensor([14, 14])
    """
    return apply("bitwise_or", x1, x2)


def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 ^ x2`, bit by bit, for integers and bool.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_xor([12, 10], 6)
    tensor([10, 12])
    """
    return apply("bitwise_xor", x1, x2)


def bitwise_invert(x: ArrayLike, /) -> Tensor:
    """Return `~x`, every bit inverted, for integers and bool.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are floats.

    >>> tw.bitwise_invert([0, 5])
    tensor([-1, -6])
    """
    return apply("bitwise_invert", x)


def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 << x2`: bits moved up, zeros follow.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_left_shift([1, 3], 2)
    tensor([ 4, 12])
    """
    return apply("bitwise_left_shift", x1, x2)


def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 >> x2`: bits moved down, the sign is kept.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_right_shift([8, -8], 2)
    tensor([ 2, -2])
    """
    return apply("bitwise_right_shift", x1, x2)


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
