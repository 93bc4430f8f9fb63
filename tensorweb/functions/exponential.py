"""Exponentials, logarithms and what networks apply to each element."""

from __future__ import annotations

from tensorweb.functions.apply import apply
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "erf",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "relu",
    "sigmoid",
]


def exp(x: ArrayLike, /) -> Tensor:
    """Return e to the power of each element.

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.exp([0.0, 1.0]) * 1000)
    tensor([1000., 2718.])
    """
    return apply("exp", x)


def exp2(x: ArrayLike, /) -> Tensor:
    """Return 2 to the power of each element.

    Integers and bool become float32. Shape is kept.

    >>> tw.exp2([0, 3])
    tensor([1., 8.])
    """
    return apply("exp2", x)


def expm1(x: ArrayLike, /) -> Tensor:
    """Return `exp(x) - 1`, exact near 0.

    Integers and bool become float32. Shape is kept.

    >>> tw.expm1([0.0, 1e-8])
    tensor([0.e+00, 1.e-08])
    """
    return apply("expm1", x)


def log(x: ArrayLike, /) -> Tensor:
    """Return the natural logarithm; `log(0)` is -inf, below 0 it is NaN.

    Integers and bool become float32. Shape is kept.

    >>> tw.log([1.0, 0.0])
    tensor([  0., -inf])
    """
    return apply("log", x)


def log1p(x: ArrayLike, /) -> Tensor:
    """Return `log(1 + x)`, exact near 0.

    Integers and bool become float32. Shape is kept.

    >>> tw.log1p([0.0, 1e-8])
    tensor([0.e+00, 1.e-08])
    """
    return apply("log1p", x)


def log2(x: ArrayLike, /) -> Tensor:
    """Return the logarithm to base 2.

    Integers and bool become float32. Shape is kept.

    >>> tw.log2([1, 8])
    tensor([0., 3.])
    """
    return apply("log2", x)


def log10(x: ArrayLike, /) -> Tensor:
    """Return the logarithm to base 10.

    Integers and bool become float32. Shape is kept.

    >>> tw.log10([1, 10])
    tensor([0., 1.])
    """
    return apply("log10", x)


def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `log(exp(x1) + exp(x2))` without overflow.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logaddexp(1000.0, -1000.0)
    tensor(1000.)
    """
    return apply("logaddexp", x1, x2)


def sigmoid(x: ArrayLike, /) -> Tensor:
    """Return `1 / (1 + exp(-x))`, between 0 and 1 without overflow.

    Integers and bool become float32. Shape is kept.

    >>> tw.sigmoid([0.0, 1000.0])
    tensor([0.5, 1. ])
    """
    return apply("sigmoid", x)


def relu(x: ArrayLike, /) -> Tensor:
    """Return each element where it is positive, else 0; its derivative at 0 is 0.

    Integers and bool become float32. Shape is kept.

    >>> tw.relu([-1.0, 0.0, 2.0])
    tensor([0., 0., 2.])
    """
    return apply("relu", x)


def erf(x: ArrayLike, /) -> Tensor:
    """Return the error function of each element.

    Integers and bool become float32. Shape is kept.

    >>> tw.erf([0.0, tw.inf])
    tensor([0., 1.])
    """
    return apply("erf", x)


def erfinv(x: ArrayLike, /) -> Tensor:
    """Return the inverse of the error function: `erf` of the result is `x`.

    It is infinite at -1 and 1 and NaN beyond. Integers and bool become float32. Shape
    is kept.

    >>> tw.round(tw.erfinv([0.0, 0.5, 1.0]) * 10_000)
    tensor([   0., 4769.,   inf])
    """
    return apply("erfinv", x)
