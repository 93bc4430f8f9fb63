"""Rounding and clipping: elementwise functions with arguments that are no operands."""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb.functions.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operators import clipped


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


declare_public(__name__)
