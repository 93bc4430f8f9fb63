"""Reductions that leave NaN out: `nansum`, `nanmean`, `nanmax` and their family.

Where an axis holds nothing but NaN, the result is NaN, of sums 0, of products 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError
from tensorweb.functions import asarray
from tensorweb.numpy import extremes, reductions
from tensorweb.numpy.arguments import into, leading
from tensorweb.numpy.nan_masks import (
    as_float,
    as_mask,
    freedom,
    is_inexact,
    masked,
    mean_of,
    variance_of,
    without_nan,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.reductions import Axis, root_of_square

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def nansum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the sum along axes, NaN counted as 0.

    >>> np.nansum([[1.0, np.nan], [2.0, 3.0]], 0)
    tensor([3., 3.])
    """
    x = without_nan(leading(a, where, initial), 0)
    return reductions.sum(x, axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the product along axes, NaN counted as 1.

    >>> np.nanprod([4.0, np.nan, 3.0])
    tensor(12.)
    """
    x = without_nan(leading(a, where, initial), 1)
    return reductions.prod(x, axis, dtype, out, keepdims, initial, where)


def nancumsum(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return running sums, NaN counted as 0.

    >>> np.nancumsum([1.0, np.nan, 3.0])
    tensor([1., 1., 4.])
    """
    return reductions.cumsum(without_nan(asarray(a), 0), axis, dtype, out)


def nancumprod(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return running products, NaN counted as 1.

    >>> np.nancumprod([2.0, np.nan, 3.0])
    tensor([2., 2., 6.])
    """
    return reductions.cumprod(without_nan(asarray(a), 1), axis, dtype, out)


def nanmax(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the largest value along axes that is not NaN; NaN where there is none.

    >>> np.nanmax([[1.0, np.nan], [np.nan, np.nan]], 1)
    tensor([ 1., nan])
    """
    found = _extreme(extremes.max, -tw.inf, a, axis, keepdims, initial, where)
    return into(found, out)


def nanmin(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the smallest value along axes that is not NaN; NaN where there is none.

    >>> np.nanmin([3.0, np.nan, 2.0])
    tensor(2.)
    """
    found = _extreme(extremes.min, tw.inf, a, axis, keepdims, initial, where)
    return into(found, out)


def _extreme(
    extreme: Callable[..., Tensor],
    instead: float,
    a: ArrayLike,
    axis: Axis,
    keepdims: bool,
    initial: ArrayLike,
    where: ArrayLike,
) -> Tensor:
    """Return extremes, NaN where all were NaN and no other number was given."""
    x = leading(a, where, initial)
    found = extreme(without_nan(x, instead), axis, None, keepdims, initial, where)
    if initial is not None or not is_inexact(x.dtype):
        return found
    empty = masked(tw.isnan(x), where, True).all(axis, keepdims=keepdims)
    return tw.where(empty, tw.nan, found)


def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return the mean along axes of what is not NaN; NaN where there is nothing.

    >>> np.nanmean([[1.0, np.nan], [2.0, 6.0]], 1)
    tensor([1., 4.])
    """
    x = leading(a, where)
    values = as_float(x) if dtype is None else x.astype(dtype)
    return into(mean_of(values, _mask(x, where), axis, keepdims), out)


def nanvar(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> Tensor:
    """Return the variance along axes of what is not NaN; NaN where nothing is left.

    >>> np.nanvar([1.0, np.nan, 3.0])
    tensor(1.)
    """
    x = leading(a, where, mean)
    values = as_float(x) if dtype is None else x.astype(dtype)
    less = freedom("nanvar", ddof, correction)
    mask = _mask(x, where)
    found = variance_of(values, mask, axis, less, keepdims, mean)
    # NumPy gives NaN, not infinity, where no freedom is left.
    few = mask.sum(axis, keepdims=keepdims) <= less
    return into(tw.where(few, tw.nan, found), out)


def nanstd(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> Tensor:
    """Return the standard deviation along axes of what is not NaN.

    >>> np.nanstd([1.0, np.nan, 3.0])
    tensor(1.)
    """
    less = freedom("nanstd", ddof, correction)
    found = nanvar(a, axis, dtype, None, less, keepdims, where=where, mean=mean)
    return into(Tensor(root_of_square(found.node)), out)


def _mask(x: Tensor, where: ArrayLike) -> Tensor:
    """Return which elements count: those of a condition that are not NaN."""
    return as_mask(where, x) & ~tw.isnan(x)


def nanargmax(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    *,
    keepdims: bool = False,
) -> Tensor:
    """Return where the first largest value is that is not NaN; reads one number.

    Raises:
        DataError: there is nothing but NaN along the axis somewhere.

    >>> np.nanargmax([np.nan, 3.0, 5.0])
    tensor(2)
    """
    x = _with_numbers("nanargmax", a, axis)
    found = without_nan(x, -tw.inf).argmax(axis, keepdims=keepdims)
    return into(found, out)


def nanargmin(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    *,
    keepdims: bool = False,
) -> Tensor:
    """Return where the first smallest value is that is not NaN; reads one number.

    Raises:
        DataError: there is nothing but NaN along the axis somewhere.

    >>> np.nanargmin([[np.nan, 3.0], [5.0, 4.0]], 1)
    tensor([1, 1])
    """
    x = _with_numbers("nanargmin", a, axis)
    found = without_nan(x, tw.inf).argmin(axis, keepdims=keepdims)
    return into(found, out)


def _with_numbers(name: str, a: ArrayLike, axis: SupportsIndex | None) -> Tensor:
    """Return a tensor that has a number along the axis everywhere."""
    x = asarray(a)
    if is_inexact(x.dtype) and bool(tw.any(tw.isnan(x).all(axis))):
        raise DataError(
            f"{name}: there is nothing but NaN along axis {axis} somewhere, so no "
            "position; leave those slices out, or put a number there."
        )
    return x
