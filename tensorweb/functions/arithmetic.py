"""Arithmetic on each element; shapes broadcast and dtypes are promoted."""

from __future__ import annotations

from tensorweb.functions.apply import apply
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operations import clipped

__all__ = [
    "abs",
    "add",
    "clip",
    "copysign",
    "divide",
    "floor_divide",
    "hypot",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "reciprocal",
    "remainder",
    "rsqrt",
    "sign",
    "sqrt",
    "square",
    "subtract",
]


def add(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 + x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype. Integers wrap around.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.add([1, 2, 3], 10)
    tensor([11, 12, 13])
    """
    return apply("add", x1, x2)


def subtract(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 - x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.subtract([5, 7], [[1], [2]])
    tensor([[4, 6],
            [3, 5]])
    """
    return apply("subtract", x1, x2)


def multiply(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 * x2`, element by element; `matmul` is the matrix product.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.multiply([1, 2, 3], 2.5)
    tensor([2.5, 5. , 7.5])
    """
    return apply("multiply", x1, x2)


def divide(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 / x2`, always a float.

    Shapes broadcast; integers and bool become float32. Division by 0 gives infinity
    or NaN.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.divide([1, 2, 3], 2)
    tensor([0.5, 1. , 1.5])
    """
    return apply("divide", x1, x2)


def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the largest whole number not above `x1 / x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype. An integer divided by 0 gives 0. With an infinity it is `floor(x1 / x2)`,
    as the Array API prefers: `inf // 2` is inf, `1 // -inf` is -0.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.floor_divide([7, -7], 2)
    tensor([ 3, -4])
    """
    return apply("floor_divide", x1, x2)


def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return what `floor_divide` leaves, with the sign of `x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.remainder([7, -7], 3)
    tensor([1, 2])
    """
    return apply("remainder", x1, x2)


def pow(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1` to the power `x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.pow([1, 2, 3], 2)
    tensor([1, 4, 9])
    """
    return apply("pow", x1, x2)


def negative(x: ArrayLike, /) -> Tensor:
    """Return `-x`.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.negative([1, -2])
    tensor([-1,  2])
    """
    return apply("negative", x)


def positive(x: ArrayLike, /) -> Tensor:
    """Return `x` itself.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.positive([1, -2])
    tensor([ 1, -2])
    """
    return apply("positive", x)


def abs(x: ArrayLike, /) -> Tensor:
    """Return the absolute value of each element.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.abs([-2.5, 3.0])
    tensor([2.5, 3. ])
    """
    return apply("abs", x)


def sign(x: ArrayLike, /) -> Tensor:
    """Return -1, 0 or 1 for each element; NaN stays NaN.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.sign([-3, 0, 8])
    tensor([-1,  0,  1])
    """
    return apply("sign", x)


def reciprocal(x: ArrayLike, /) -> Tensor:
    """Return `1 / x`.

    Integers and bool become float32. Shape is kept.

    >>> tw.reciprocal([2.0, 4.0])
    tensor([0.5 , 0.25])
    """
    return apply("reciprocal", x)


def square(x: ArrayLike, /) -> Tensor:
    """Return `x * x`.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.square([1, 2, 3])
    tensor([1, 4, 9])
    """
    return apply("square", x)


def sqrt(x: ArrayLike, /) -> Tensor:
    """Return the square root of each element; NaN below zero.

    Integers and bool become float32. Shape is kept.

    >>> tw.sqrt([4, 9])
    tensor([2., 3.])
    """
    return apply("sqrt", x)


def rsqrt(x: ArrayLike, /) -> Tensor:
    """Return `1 / sqrt(x)`.

    Integers and bool become float32. Shape is kept.

    >>> tw.rsqrt([4.0, 16.0])
    tensor([0.5 , 0.25])
    """
    return apply("rsqrt", x)


def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `sqrt(x1**2 + x2**2)` without overflow in between.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.hypot([3.0, 5.0], [4.0, 12.0])
    tensor([ 5., 13.])
    """
    return apply("hypot", x1, x2)


def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the size of `x1` with the sign of `x2`, also of -0.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.copysign([1.0, 2.0], -0.0)
    tensor([-1., -2.])
    """
    return apply("copysign", x1, x2)


def nextafter(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the next float from `x1` towards `x2`.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.nextafter(1.0, 2.0) > 1.0
    tensor(True)
    """
    return apply("nextafter", x1, x2)


def maximum(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the larger of two elements; NaN wins.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.maximum([1, 5], [4, 2])
    tensor([4, 5])
    """
    return apply("maximum", x1, x2)


def minimum(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the smaller of two elements; NaN wins.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's
    dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.minimum([1, 5], [4, 2])
    tensor([1, 2])
    """
    return apply("minimum", x1, x2)


def clip(x: ArrayLike, /, min: ArrayLike = None, max: ArrayLike = None) -> Tensor:
    """Return values below `min` raised to it and values above `max` lowered to it.

    None leaves a side open; NaN stays NaN.

    Raises:
        DTypeError: the elements are bool.
        ShapeError: the shapes do not broadcast.

    >>> tw.clip([1, 5, 9], 2, 7)
    tensor([2, 5, 7])
    """
    return Tensor(clipped(x, min, max))
