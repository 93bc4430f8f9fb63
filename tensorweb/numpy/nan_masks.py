"""Which elements count: those of `where=`, those that are not NaN; and their means."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.dtypes import DType, integer_range
from tensorweb.errors import DataError
from tensorweb.functions import (
    asarray,
    astype,
    broadcast_to,
    imag,
    inf,
    isnan,
    maximum,
    real,
    square,
    where,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis


def masked(x: Tensor, condition: ArrayLike, neutral: float) -> Tensor:
    """Return values where a condition holds, else a number that changes no result.

    >>> masked(tw.asarray([1, 2, 3]), [True, False, True], 0)
    tensor([1, 0, 3])
    """
    if condition is True:
        return x
    return where(as_mask(condition, x), x, neutral)


def as_mask(condition: ArrayLike, x: Tensor) -> Tensor:
    """Return a condition as a bool tensor of the shape of `x`, on its device."""
    given = (
        condition
        if isinstance(condition, Tensor)
        else asarray(condition, device=x.device)
    )
    return broadcast_to(astype(given, dtypes.bool), x.shape)


def as_float(x: Tensor) -> Tensor:
    """Return a tensor of floats: integers and bool become the default float.

    >>> as_float(tw.asarray([1, 2]))
    tensor([1., 2.])
    """
    return x if is_inexact(x.dtype) else astype(x, dtypes.DEFAULT_FLOAT)


def is_inexact(dtype: DType) -> bool:
    """Whether a dtype rounds: floats and complex numbers do."""
    return dtype.kind not in ("bool", "int", "uint")


def without_nan(x: Tensor, instead: float) -> Tensor:
    """Return a tensor whose NaN are another number; integers have none.

    >>> without_nan(tw.asarray([1.0, tw.nan]), 0)
    tensor([1., 0.])
    """
    return where(isnan(x), instead, x) if is_inexact(x.dtype) else x


def ends(dtype: DType) -> tuple[float, float]:
    """Return what no element is below, and what none is above.

    >>> ends(tw.float32), ends(tw.int8)
    ((-inf, inf), (-128, 127))
    """
    if dtype.kind in ("int", "uint"):
        return integer_range(dtype)
    return (False, True) if dtype is dtypes.bool else (-inf, inf)


def mean_of(x: Tensor, mask: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return the mean of the elements of a mask; NaN of none."""
    total = masked(x, mask, 0).sum(axis, keepdims=keepdims)
    return total / mask.sum(axis, keepdims=keepdims).astype(x.dtype.part)


def freedom(name: str, ddof: float, correction: float | None) -> float:
    """Return what variances take from the number of elements, which has two names."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise DataError(
            f"{name}: ddof={ddof} and correction={correction} are one thing; give one."
        )
    return correction


def variance_of(
    x: Tensor,
    mask: Tensor,
    axis: Axis,
    less: float,
    keepdims: bool,
    mean: ArrayLike = None,
) -> Tensor:
    """Return the variance of the elements of a mask; NaN of none."""
    centre = mean_of(x, mask, axis, True) if mean is None else mean
    away = masked(x - centre, mask, 0)  # so that no derivative goes through NaN
    squares = square(away)
    if away.dtype.kind == "complex":
        squares = square(real(away)) + square(imag(away))
    count = mask.sum(axis, keepdims=keepdims).astype(x.dtype.part)
    return squares.sum(axis, keepdims=keepdims) / maximum(count - less, 0)
