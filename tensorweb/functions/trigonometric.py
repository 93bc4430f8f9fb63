"""Trigonometric and hyperbolic functions of each element, in radians."""

from __future__ import annotations

from tensorweb.functions.apply import apply
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


def sin(x: ArrayLike, /) -> Tensor:
    """Return the sine.

    Integers and bool become float32. Shape is kept.

    >>> tw.sin([0.0])
    tensor([0.])
    """
    return apply("sin", x)


def cos(x: ArrayLike, /) -> Tensor:
    """Return the cosine.

    Integers and bool become float32. Shape is kept.

    >>> tw.cos([0.0])
    tensor([1.])
    """
    return apply("cos", x)


def tan(x: ArrayLike, /) -> Tensor:
    """Return the tangent.

    Integers and bool become float32. Shape is kept.

    >>> tw.tan([0.0])
    tensor([0.])
    """
    return apply("tan", x)


def asin(x: ArrayLike, /) -> Tensor:
    """Return the angle of a sine, from -pi/2 to pi/2; NaN outside [-1, 1].

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.asin([0.0, 1.0]) * 1000)
    tensor([   0., 1571.])
    """
    return apply("asin", x)


def acos(x: ArrayLike, /) -> Tensor:
    """Return the angle of a cosine, from 0 to pi; NaN outside [-1, 1].

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.acos([1.0, 0.0]) * 1000)
    tensor([   0., 1571.])
    """
    return apply("acos", x)


def atan(x: ArrayLike, /) -> Tensor:
    """Return the angle of a tangent, from -pi/2 to pi/2.

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.atan([0.0, 1.0]) * 1000)
    tensor([  0., 785.])
    """
    return apply("atan", x)


def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the angle of the point `(x2, x1)`, from -pi to pi.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.round(tw.atan2([1.0, 0.0], [0.0, -1.0]) * 1000)
    tensor([1571., 3142.])
    """
    return apply("atan2", x1, x2)


def sinh(x: ArrayLike, /) -> Tensor:
    """Return the hyperbolic sine.

    Integers and bool become float32. Shape is kept.

    >>> tw.sinh([0.0])
    tensor([0.])
    """
    return apply("sinh", x)


def cosh(x: ArrayLike, /) -> Tensor:
    """Return the hyperbolic cosine.

    Integers and bool become float32. Shape is kept.

    >>> tw.cosh([0.0])
    tensor([1.])
    """
    return apply("cosh", x)


def tanh(x: ArrayLike, /) -> Tensor:
    """Return the hyperbolic tangent.

    Integers and bool become float32. Shape is kept.

    >>> tw.tanh([0.0, tw.inf])
    tensor([0., 1.])
    """
    return apply("tanh", x)


def asinh(x: ArrayLike, /) -> Tensor:
    """Return the inverse hyperbolic sine.

    Integers and bool become float32. Shape is kept.

    >>> tw.asinh([0.0])
    tensor([0.])
    """
    return apply("asinh", x)


def acosh(x: ArrayLike, /) -> Tensor:
    """Return the inverse hyperbolic cosine; NaN below 1.

    Integers and bool become float32. Shape is kept.

    >>> tw.acosh([1.0])
    tensor([0.])
    """
    return apply("acosh", x)


def atanh(x: ArrayLike, /) -> Tensor:
    """Return the inverse hyperbolic tangent; infinite at -1 and 1.

    Integers and bool become float32. Shape is kept.

    >>> tw.atanh([0.0, 1.0])
    tensor([ 0., inf])
    """
    return apply("atanh", x)
