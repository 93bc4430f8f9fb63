"""Layers that reshape: Flatten, Unflatten."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tensorweb.errors import ShapeError
from tensorweb.functions import asarray
from tensorweb.nn.module import Module
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = ["Flatten", "Unflatten", "flatten"]


def flatten(x: ArrayLike, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return a tensor with consecutive axes merged into one.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: the first comes behind the last.

    >>> tw.nn.flatten(tw.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    given = asarray(x)
    if not given.ndim:
        return given.reshape(1)
    first = normalize_axis(start_dim, given.ndim)
    last = normalize_axis(end_dim, given.ndim)
    if first > last:
        raise ShapeError(
            f"flatten: start_dim {start_dim} comes behind end_dim {end_dim} of shape "
            f"{given.shape}; exchange them."
        )
    before, inside = given.shape[:first], given.shape[first : last + 1]
    return given.reshape(*before, prod(inside), *given.shape[last + 1 :])


class Flatten(Module):
    """Merges all axes but the first: `(n, ...)` gives `(n, features)`."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        """Store the range of axes to merge."""
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the input with these axes merged."""
        return flatten(x, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits one axis into several."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        """Store the axis and its new lengths, of which one may be -1."""
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the input with the axis split.

        Raises:
            ShapeError: the lengths do not fit.
        """
        given = asarray(x)
        axis = normalize_axis(self.dim, given.ndim)
        rest = given.shape[axis + 1 :]
        return given.reshape(*given.shape[:axis], *self.unflattened_size, *rest)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
