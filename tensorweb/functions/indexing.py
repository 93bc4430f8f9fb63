"""Selection along an axis by index tensors; `x[key]` does the rest."""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb.functions.creation import asarray
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "take",
    "take_along_axis",
]


def take(
    x: ArrayLike, indices: ArrayLike, /, axis: SupportsIndex | None = None
) -> Tensor:
    """Return the slices at `indices` along an axis, which only 1-D may leave out.

    Negative indices count from the end.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        AxisError: the axis does not exist, or is needed and missing.

    >>> tw.take([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1)
    tensor([[3, 1],
            [6, 4]])
    """
    return asarray(x).take(indices, axis)


def take_along_axis(
    x: ArrayLike, indices: ArrayLike, /, axis: SupportsIndex = -1
) -> Tensor:
    """Return elements at `indices` along an axis, the other axes matched one to one.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        ShapeError: the numbers of axes differ.

    >>> tw.take_along_axis([[3, 1, 2], [6, 5, 4]], [[1], [2]])
    tensor([[1],
            [4]])
    """
    return asarray(x).take_along_axis(indices, axis)
