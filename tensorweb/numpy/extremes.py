"""Least and greatest values along axes with NumPy's arguments, and where they are."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError
from tensorweb.functions import asarray
from tensorweb.numpy.arguments import into, leading
from tensorweb.numpy.nan_masks import ends, masked
from tensorweb.shapes import normalize_axes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "max",
    "min",
    "ptp",
]


EXTREMES: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor], int]] = {
    "max": (tw.max, tw.maximum, 0),
    "min": (tw.min, tw.minimum, 1),
}
"""Of many and of two, and which end of a dtype changes none of them."""


def max(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the largest value along axes; NaN wins.

    Raises:
        ShapeError: a reduced axis is empty, and there is no `initial`.
        DataError: `where` is given without `initial`.

    >>> np.max([[1, 5], [7, 2]], 1, keepdims=True)
    tensor([[5],
            [7]])
    """
    return into(_extreme("max", a, axis, keepdims, initial, where), out)


def min(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the smallest value along axes; NaN wins.

    Raises:
        ShapeError: a reduced axis is empty, and there is no `initial`.
        DataError: `where` is given without `initial`.

    >>> np.min([4.0, 2.0, 3.0], initial=9, where=[True, False, True])
    tensor(3.)
    """
    return into(_extreme("min", a, axis, keepdims, initial, where), out)


amax = max
amin = min


def _extreme(
    name: str,
    a: ArrayLike,
    axis: Axis,
    keepdims: bool,
    initial: ArrayLike,
    where: ArrayLike,
) -> Tensor:
    """Return the minimum or maximum of the elements that `where` selects."""
    extreme, combine, end = EXTREMES[name]
    x = leading(a, where, initial)
    if initial is None:
        if where is not True:
            raise DataError(
                f"{name}: where= without initial=, the result where nothing counts; "
                "give a number."
            )
        return extreme(x, axis, keepdims=keepdims)
    axes = normalize_axes(axis, x.ndim)
    if builtins.any(x.shape[each] == 0 for each in axes):
        kept = x.sum(axes, keepdims=keepdims)
        return tw.zeros_like(kept, dtype=x.dtype) + initial
    x = masked(x, where, ends(x.dtype)[end])
    return combine(extreme(x, axes, keepdims=keepdims), initial)


def ptp(
    a: ArrayLike, axis: Axis = None, out: Tensor | None = None, keepdims: bool = False
) -> Tensor:
    """Return the largest value less the smallest, along axes.

    >>> np.ptp([[4, 9, 2], [7, 7, 8]], axis=1)
    tensor([7, 1])
    """
    x = asarray(a)
    most, fewest = x.max(axis, keepdims=keepdims), x.min(axis, keepdims=keepdims)
    return into(most - fewest, out)


def argmax(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    *,
    keepdims: bool = False,
) -> Tensor:
    """Return where the first largest value is; in row-major order without an axis.

    >>> np.argmax([[1, 9, 3], [8, 2, 7]], 1)
    tensor([1, 0])
    """
    return into(asarray(a).argmax(axis, keepdims=keepdims), out)


def argmin(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    *,
    keepdims: bool = False,
) -> Tensor:
    """Return where the first smallest value is; in row-major order without an axis.

    >>> np.argmin([[1, 9, 3], [8, 2, 7]])
    tensor(0)
    """
    return into(asarray(a).argmin(axis, keepdims=keepdims), out)
