"""Reductions with NumPy's arguments: sums, means, questions, running sums.

`axis` is one axis, several or None for all, `where` says which elements count, and
`initial` is a number that counts as one more. Dtypes are those of `tw.sum` and others.
"""

from __future__ import annotations

import math
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.functions import asarray
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.numpy.arguments import into, leading
from tensorweb.numpy.nan_masks import (
    as_float,
    as_mask,
    freedom,
    masked,
    mean_of,
    variance_of,
)
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, is_number, number_of_scalar
from tensorweb.tensor.reductions import Axis, root_of_square

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "mean",
    "prod",
    "std",
    "sum",
    "var",
]


def sum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the sum along axes; 0 of nothing.

    >>> np.sum([[1, 2, 3], [4, 5, 6]], 0, initial=10)
    tensor([15, 17, 19])
    >>> np.sum([1, 2, 3], where=[True, False, True])
    tensor(4)
    """
    x = masked(leading(a, where, initial), where, 0)
    total = x.sum(axis, dtype=dtype, keepdims=keepdims)
    if initial is not None:
        total = total + initial
    if is_number(initial) and number_of_scalar(initial) == 0:
        zero = complex(number_of_scalar(initial))
        total = _with_minus_zeros(total, x.astype(total.dtype), zero, axis, keepdims)
    return into(total, out)


def _with_minus_zeros(
    total: Tensor, x: Tensor, zero: complex, axis: Axis, keepdims: bool
) -> Tensor:
    """Return sums that began with a zero: -0 where that and all elements are -0."""
    if total.dtype.kind == "complex":
        parts = [
            _with_minus_zeros(take(total), take(x), complex(part), axis, keepdims)
            for take, part in ((tw.real, zero.real), (tw.imag, zero.imag))
        ]
        return Tensor(join_parts(*(part.node for part in parts)))
    if total.dtype.kind != "float" or math.copysign(1, zero.real) > 0:
        return total
    is_minus = ((x == 0) & tw.signbit(x)).all(axis, keepdims=keepdims)
    return tw.where(is_minus, -0.0, total)


def prod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the product along axes; 1 of nothing.

    >>> np.prod([[1, 2, 3], [4, 5, 6]], 1)
    tensor([  6, 120])
    """
    x = masked(leading(a, where, initial), where, 1)
    total = x.prod(axis, dtype=dtype, keepdims=keepdims)
    return into(total if initial is None else total * initial, out)


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return the mean along axes; integers and bool give float32.

    >>> np.mean([[1, 2], [3, 6]], 1)
    tensor([1.5, 4.5])
    """
    x = leading(a, where)
    if where is True:
        return into(x.mean(axis, dtype=dtype, keepdims=keepdims), out)
    values = as_float(x) if dtype is None else x.astype(dtype)
    mask = as_mask(where, x)
    return into(mean_of(values, mask, axis, keepdims), out)


def var(
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
    """Return the variance along axes: `sum((x - mean)**2) / (n - ddof)`.

    `mean` is the mean with its axes kept, where that is known; `correction` is another
    word for `ddof`.

    >>> np.var([1.0, 2.0, 3.0], ddof=1)
    tensor(1.)
    """
    x = leading(a, where, mean)
    less = freedom("var", ddof, correction)
    if where is True and mean is None:
        found = x.var(axis, dtype=dtype, correction=less, keepdims=keepdims)
        return into(found, out)
    values = as_float(x) if dtype is None else x.astype(dtype)
    mask = as_mask(where, x)
    return into(variance_of(values, mask, axis, less, keepdims, mean), out)


def std(
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
    """Return the standard deviation along axes: the square root of `var`.

    >>> np.std([[1.0, 3.0], [2.0, 2.0]], 1)
    tensor([1., 0.])
    """
    less = freedom("std", ddof, correction)
    found = var(a, axis, dtype, None, less, keepdims, where=where, mean=mean)
    return into(Tensor(root_of_square(found.node)), out)


def all(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return whether all elements are true (not zero) along axes; true of nothing.

    >>> np.all([[True, True], [False, True]], 1)
    tensor([ True, False])
    """
    x = masked(leading(a, where).astype(dtypes.bool), where, True)
    return into(x.all(axis, keepdims=keepdims), out)


def any(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return whether one element is true (not zero) along axes; false of nothing.

    >>> np.any([[True, False], [False, False]], 1)
    tensor([ True, False])
    """
    x = masked(leading(a, where).astype(dtypes.bool), where, False)
    return into(x.any(axis, keepdims=keepdims), out)


def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return how many elements along axes are not zero.

    >>> np.count_nonzero([[0, 1, 2], [0, 0, 3]], 1)
    tensor([2, 1])
    """
    return asarray(a).count_nonzero(axis, keepdims=keepdims)


def cumsum(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return running sums along an axis; of all elements in order without one.

    >>> np.cumsum([[1, 2], [3, 4]])
    tensor([ 1,  3,  6, 10])
    """
    x, along = _line(a, axis)
    return into(x.cumulative_sum(along, dtype=dtype), out)


def cumprod(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return running products along an axis; of all elements in order without one.

    >>> np.cumprod([[1, 2], [3, 4]], 1)
    tensor([[ 1,  2],
            [ 3, 12]])
    """
    x, along = _line(a, axis)
    return into(x.cumulative_prod(along, dtype=dtype), out)


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Return running sums along an axis, which only 1-D tensors may leave out.

    >>> np.cumulative_sum([1, 2, 3], include_initial=True)
    tensor([0, 1, 3, 6])
    """
    found = tw.cumulative_sum(x, axis, dtype=dtype, include_initial=include_initial)
    return into(found, out)


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Return running products along an axis, which only 1-D tensors may leave out.

    >>> np.cumulative_prod([1, 2, 3])
    tensor([1, 2, 6])
    """
    found = tw.cumulative_prod(x, axis, dtype=dtype, include_initial=include_initial)
    return into(found, out)


def _line(a: ArrayLike, axis: SupportsIndex | None) -> tuple[Tensor, int]:
    """Return a tensor and the axis to run along: all elements in order for None."""
    x = asarray(a)
    if axis is None:
        return x.reshape(-1), 0
    return x, normalize_axis(axis, x.ndim)
