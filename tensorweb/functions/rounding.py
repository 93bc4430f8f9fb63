"""Rounding, and questions about single floats."""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb.functions.apply import apply
from tensorweb.functions.creation import asarray
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "ceil",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "round",
    "signbit",
    "trunc",
]


def floor(x: ArrayLike, /) -> Tensor:
    """Return the largest whole number not above each element.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.floor([1.5, -1.5])
    tensor([ 1., -2.])
    """
    return apply("floor", x)


def ceil(x: ArrayLike, /) -> Tensor:
    """Return the smallest whole number not below each element.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.ceil([1.5, -1.5])
    tensor([ 2., -1.])
    """
    return apply("ceil", x)


def trunc(x: ArrayLike, /) -> Tensor:
    """Return each element without its fraction.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.trunc([1.5, -1.5])
    tensor([ 1., -1.])
    """
    return apply("trunc", x)


def round(x: ArrayLike, /, decimals: SupportsIndex = 0) -> Tensor:
    """Return the nearest number with `decimals` decimals, halves to even.

    Shape and dtype are kept. As in NumPy, more than 0 decimals multiply, round and
    divide by a power of ten, in the dtype; fewer divide first.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.round([0.5, 1.5, 2.4])
    tensor([0., 2., 2.])
    >>> tw.round([2.346, 12.0], 2)
    tensor([ 2.35, 12.  ])
    """
    return asarray(x).round(decimals)


def isnan(x: ArrayLike, /) -> Tensor:
    """Return whether each element is not a number.

    Bool, of the same shape.

    >>> tw.isnan([1.0, tw.nan])
    tensor([False,  True])
    """
    return apply("isnan", x)


def isinf(x: ArrayLike, /) -> Tensor:
    """Return whether each element is infinite.

    Bool, of the same shape.

    >>> tw.isinf([1.0, -tw.inf])
    tensor([False,  True])
    """
    return apply("isinf", x)


def isfinite(x: ArrayLike, /) -> Tensor:
    """Return whether each element is neither infinite nor NaN.

    Bool, of the same shape.

    >>> tw.isfinite([1.0, tw.inf, tw.nan])
    tensor([ True, False, False])
    """
    return apply("isfinite", x)


def signbit(x: ArrayLike, /) -> Tensor:
    """Return whether the sign bit of each float is set, also of -0 and NaN.

    Bool, of the same shape.

    Raises:
        DTypeError: the elements are no floats.

    >>> tw.signbit([-0.0, 0.0, -3.0])
    tensor([ True, False,  True])
    """
    return apply("signbit", x)
