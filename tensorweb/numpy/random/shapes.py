"""Sizes and parameters of samples, as NumPy takes them: numbers or tensors, `size=`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.shapes import Shape, as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

Size = SupportsIndex | Iterable[SupportsIndex] | None
"""A length, a shape, or None for the common shape of the parameters."""


def sample_shape(name: str, size: Size, *parameters: ArrayLike) -> Shape:
    """Return the shape of a sample; parameters broadcast to it.

    Raises:
        ShapeError: they do not.

    >>> sample_shape("normal", None, [1.0, 2.0], 3.0), sample_shape("normal", 4, 0.0)
    ((2,), (4,))
    """
    common = broadcast_shapes(*(shape_of(each) for each in parameters), ())
    if size is None:
        return common
    wanted = as_shape(size)
    if broadcast_shapes(common, wanted) != wanted:
        raise ShapeError(
            f"{name}: size is {wanted}, and the parameters have shape {common}; give a "
            "size that holds it."
        )
    return wanted


def shape_of(value: ArrayLike) -> Shape:
    """Return the shape of a parameter."""
    return () if isinstance(value, int | float) else tw.asarray(value).shape


def is_plain(*parameters: ArrayLike) -> bool:
    """Whether parameters are Python's numbers."""
    return all(isinstance(each, int | float) for each in parameters)


def check(name: str, what: str, value: ArrayLike, low: float, high: float) -> None:
    """Raise when a plain number lies outside of its range; tensors are not looked at.

    Raises:
        DataError: it does, or is NaN.
    """
    if isinstance(value, int | float) and not low <= value <= high:
        raise DataError(
            f"{name}: {what} is {value}; it is from {low:g} to {high:g}."
            if high < tw.inf
            else f"{name}: {what} is {value}; it is at least {low:g}."
        )


def beside(value: ArrayLike, x: Tensor) -> Tensor:
    """Return a parameter as a tensor beside a sample, in its dtype."""
    if isinstance(value, int | float):
        return tw.full((), value, dtype=x.dtype, device=x.device)
    near = None if isinstance(value, Tensor) else x.device
    return tw.asarray(value, device=near).astype(x.dtype)
