"""Reductions with NumPy's arguments: sums, means, extremes, cumulative sums.

`axis` is one axis, several or None for all, `where` selects the elements that count,
and `initial` is combined with the result. Functions whose name begins with `nan` skip
NaN: of an axis that has nothing else the result is NaN, of sums 0, of products 1.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.dtypes import DType, integer_range
from tensorweb.errors import DataError
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.numpy.arguments import (
    apply_mask,
    as_first_operand,
    as_floats,
    as_mask,
    flatten_without_axis,
    into,
    is_inexact,
    signature_after_first,
    signature_of,
)
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, is_number, number_of_scalar
from tensorweb.tensor.reductions import Axis, root_of_square


def _replace_nan(x: Tensor, value: float) -> Tensor:
    return tw.where(tw.isnan(x), value, x) if is_inexact(x.dtype) else x


def _limits_of(dtype: DType) -> tuple[float, float]:
    """Return the least and the largest value of a dtype."""
    if dtype.kind in ("int", "uint"):
        return integer_range(dtype)
    return (False, True) if dtype is dtypes.bool else (-math.inf, math.inf)


@dataclass(frozen=True)
class Reduction:
    """A reduction of `tw.` with NumPy's options.

    Attributes:
        name: its name in error messages.
        reduce: the reduction along axes.
        combine: the operation on two operands that it repeats.
        identity: the operand that changes no result, for a dtype.
        has_empty_result: whether the identity is the result of no elements, which is
            an error otherwise.
        dtype: the dtype that operands are converted to first, if any.
        scan: the cumulative reduction along an axis, if there is one.
        skips_nan: whether NaN counts as the identity.
    """

    name: str
    reduce: Callable[..., Tensor]
    combine: Callable[[Tensor, ArrayLike], Tensor]
    identity: Callable[[DType], float]
    has_empty_result: bool = True
    dtype: DType | None = None
    scan: Callable[..., Tensor] | None = None
    skips_nan: bool = False

    def __call__(
        self,
        a: ArrayLike,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
    ) -> Tensor:
        """Reduce the elements that `where` selects, combined with `initial`.

        Raises:
            DataError: `where` is given without `initial` to a reduction without an
                empty result.
            ShapeError: such a reduction has no elements and no `initial`.
        """
        x = as_first_operand(a, where, initial)
        if self.dtype is not None:
            x = x.astype(self.dtype)
        needs_initial = initial is None and not self.has_empty_result
        if where is not True and needs_initial:
            raise DataError(
                f"{self.name}: where= without initial=, the result where nothing "
                "counts; give a number."
            )
        identity = self.identity(x.dtype)
        values = _replace_nan(x, identity) if self.skips_nan else x
        values = apply_mask(values, where, identity)
        result = self._reduce(values, axis, dtype, keepdims, initial)
        if self.skips_nan and needs_initial and is_inexact(x.dtype):
            only_nan = tw.isnan(x).all(axis, keepdims=keepdims)
            result = tw.where(only_nan, tw.nan, result)
        return into(result, out)

    def without_dtype(
        self,
        a: ArrayLike,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
    ) -> Tensor:
        """Reduce elements in their own dtype."""
        return self(a, axis, None, out, keepdims, initial, where)

    def without_initial(
        self,
        a: ArrayLike,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
    ) -> Tensor:
        """Reduce elements in their own dtype, without an initial value."""
        return self(a, axis, None, out, keepdims, None, where)

    def cumulate(
        self,
        a: ArrayLike,
        axis: SupportsIndex | None = None,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Return the reductions of the elements up to each one, along an axis."""
        assert self.scan is not None, "internal: a reduction with a scan"
        x, along = flatten_without_axis(a, axis)
        values = _replace_nan(x, self.identity(x.dtype)) if self.skips_nan else x
        return into(self.scan(values, along, dtype=dtype), out)

    def _reduce(
        self,
        x: Tensor,
        axis: Axis,
        dtype: DTypeLike,
        keepdims: bool,
        initial: ArrayLike,
    ) -> Tensor:
        if initial is not None and not self.has_empty_result:
            axes = normalize_axes(axis, x.ndim)
            if builtins.any(x.shape[reduced] == 0 for reduced in axes):
                empty = x.sum(axes, keepdims=keepdims)
                return tw.zeros_like(empty, dtype=x.dtype) + initial
        options: dict[str, DTypeLike] = {} if dtype is None else {"dtype": dtype}
        result = self.reduce(x, axis, keepdims=keepdims, **options)
        if initial is None:
            return result
        result = self.combine(result, initial)
        is_zero = is_number(initial) and number_of_scalar(initial) == 0
        if self.name == "sum" and is_zero:
            zero = complex(number_of_scalar(initial))
            x = x.astype(result.dtype)
            return _restore_minus_zeros(result, x, zero, axis, keepdims)
        return result


def _restore_minus_zeros(
    total: Tensor, x: Tensor, zero: complex, axis: Axis, keepdims: bool
) -> Tensor:
    """Return sums that began with a zero: -0 where that and all elements are -0."""
    if total.dtype.kind == "complex":
        parts = [
            _restore_minus_zeros(take(total), take(x), complex(part), axis, keepdims)
            for take, part in ((tw.real, zero.real), (tw.imag, zero.imag))
        ]
        return Tensor(join_parts(*(part.node for part in parts)))
    if total.dtype.kind != "float" or math.copysign(1, zero.real) > 0:
        return total
    is_minus = ((x == 0) & tw.signbit(x)).all(axis, keepdims=keepdims)
    return tw.where(is_minus, -0.0, total)


SUM = Reduction("sum", tw.sum, tw.add, lambda dtype: 0, scan=tw.cumulative_sum)
PROD = Reduction("prod", tw.prod, tw.multiply, lambda dtype: 1, scan=tw.cumulative_prod)
MAX = Reduction("max", tw.max, tw.maximum, lambda dtype: _limits_of(dtype)[0], False)
MIN = Reduction("min", tw.min, tw.minimum, lambda dtype: _limits_of(dtype)[1], False)
ALL = Reduction("all", tw.all, tw.logical_and, lambda dtype: True, dtype=dtypes.bool)
ANY = Reduction("any", tw.any, tw.logical_or, lambda dtype: False, dtype=dtypes.bool)
NANSUM, NANPROD, NANMAX, NANMIN = (
    replace(reduction, skips_nan=True) for reduction in (SUM, PROD, MAX, MIN)
)


@signature_after_first(Reduction.__call__)
def sum(*args: Any, **options: Any) -> Tensor:
    """Return the sum along axes; of no elements it is 0.

    >>> np.sum([[1, 2, 3], [4, 5, 6]], 0, initial=10)
    tensor([15, 17, 19])
    >>> np.sum([1, 2, 3], where=[True, False, True])
    tensor(4)
    """
    return SUM(*args, **options)


@signature_after_first(Reduction.__call__)
def nansum(*args: Any, **options: Any) -> Tensor:
    """Return the sum along axes, NaN counted as 0.

    >>> np.nansum([[1.0, np.nan], [2.0, 3.0]], 0)
    tensor([3., 3.])
    """
    return NANSUM(*args, **options)


@signature_after_first(Reduction.__call__)
def prod(*args: Any, **options: Any) -> Tensor:
    """Return the product along axes; of no elements it is 1.

    >>> np.prod([[1, 2, 3], [4, 5, 6]], 1)
    tensor([  6, 120])
    """
    return PROD(*args, **options)


@signature_after_first(Reduction.__call__)
def nanprod(*args: Any, **options: Any) -> Tensor:
    """Return the product along axes, NaN counted as 1.

    >>> np.nanprod([4.0, np.nan, 3.0])
    tensor(12.)
    """
    return NANPROD(*args, **options)


@signature_after_first(Reduction.without_dtype)
def max(*args: Any, **options: Any) -> Tensor:
    """Return the largest value along axes; NaN if there is one.

    Raises:
        ShapeError: a reduced axis is empty, and there is no `initial`.
        DataError: `where` is given without `initial`.

    >>> np.max([[1, 5], [7, 2]], 1, keepdims=True)
    tensor([[5],
            [7]])
    """
    return MAX.without_dtype(*args, **options)


@signature_after_first(Reduction.without_dtype)
def nanmax(*args: Any, **options: Any) -> Tensor:
    """Return the largest value along axes that is not NaN; NaN where there is none.

    >>> np.nanmax([[1.0, np.nan], [np.nan, np.nan]], 1)
    tensor([ 1., nan])
    """
    return NANMAX.without_dtype(*args, **options)


@signature_after_first(Reduction.without_dtype)
def min(*args: Any, **options: Any) -> Tensor:
    """Return the smallest value along axes; NaN if there is one.

    Raises:
        ShapeError: a reduced axis is empty, and there is no `initial`.
        DataError: `where` is given without `initial`.

    >>> np.min([4.0, 2.0, 3.0], initial=9, where=[True, False, True])
    tensor(3.)
    """
    return MIN.without_dtype(*args, **options)


@signature_after_first(Reduction.without_dtype)
def nanmin(*args: Any, **options: Any) -> Tensor:
    """Return the smallest value along axes that is not NaN; NaN where there is none.

    >>> np.nanmin([3.0, np.nan, 2.0])
    tensor(2.)
    """
    return NANMIN.without_dtype(*args, **options)


amax = max
amin = min


def ptp(
    a: ArrayLike, axis: Axis = None, out: Tensor | None = None, keepdims: bool = False
) -> Tensor:
    """Return the largest value less the smallest, along axes.

    >>> np.ptp([[4, 9, 2], [7, 7, 8]], axis=1)
    tensor([7, 1])
    """
    x = tw.asarray(a)
    return into(x.max(axis, keepdims=keepdims) - x.min(axis, keepdims=keepdims), out)


@signature_after_first(Reduction.without_initial)
def all(*args: Any, **options: Any) -> Tensor:
    """Return whether all elements along axes are true (not zero); of none it is true.

    >>> np.all([[True, True], [False, True]], 1)
    tensor([ True, False])
    """
    return ALL.without_initial(*args, **options)


@signature_after_first(Reduction.without_initial)
def any(*args: Any, **options: Any) -> Tensor:
    """Return whether an element along axes is true (not zero); of none it is false.

    >>> np.any([[True, False], [False, False]], 1)
    tensor([ True, False])
    """
    return ANY.without_initial(*args, **options)


def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the count of elements along axes that are not zero.

    >>> np.count_nonzero([[0, 1, 2], [0, 0, 3]], 1)
    tensor([2, 1])
    """
    return tw.asarray(a).count_nonzero(axis, keepdims=keepdims)


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
    x = as_first_operand(a, where)
    if where is True:
        return into(x.mean(axis, dtype=dtype, keepdims=keepdims), out)
    values = as_floats(x) if dtype is None else x.astype(dtype)
    return into(_mean_of(values, as_mask(where, x), axis, keepdims), out)


@signature_of(mean)
def nanmean(
    a: ArrayLike,
    *args: Any,
    where: ArrayLike = True,
    **options: Any,
) -> Tensor:
    """Return the mean along axes of the values that are not NaN; of none it is NaN.

    >>> np.nanmean([[1.0, np.nan], [2.0, 6.0]], 1)
    tensor([1., 4.])
    """
    x = as_first_operand(a, where)
    return mean(x, *args, where=as_mask(where, x) & ~tw.isnan(x), **options)


def _mean_of(x: Tensor, mask: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return the mean of the elements of a mask; of none it is NaN."""
    total = apply_mask(x, mask, 0).sum(axis, keepdims=keepdims)
    return total / mask.sum(axis, keepdims=keepdims).astype(x.dtype.part)


def _variance(
    name: str,
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
    """Return the variance, or its root, by the name of a function."""
    x = as_first_operand(a, where, mean)
    if correction is not None:
        if ddof != 0:
            raise DataError(
                f"{name}: ddof={ddof} and correction={correction} are one option; give "
                "one."
            )
        ddof = correction
    skips_nan = name.startswith("nan")
    if where is True and mean is None and not skips_nan:
        result = x.var(axis, dtype=dtype, correction=ddof, keepdims=keepdims)
    else:
        values = as_floats(x) if dtype is None else x.astype(dtype)
        mask = as_mask(where, x)
        if skips_nan:
            mask = mask & ~tw.isnan(x)
        result = _variance_of(values, mask, axis, ddof, keepdims, mean)
        if skips_nan:  # NumPy gives NaN, not infinity, without degrees of freedom.
            has_none = mask.sum(axis, keepdims=keepdims) <= ddof
            result = tw.where(has_none, tw.nan, result)
    if name.endswith("std"):
        result = Tensor(root_of_square(result.node))
    return into(result, out)


def _variance_of(
    x: Tensor,
    mask: Tensor,
    axis: Axis,
    ddof: float,
    keepdims: bool,
    mean: ArrayLike,
) -> Tensor:
    """Return the variance of the elements of a mask; of none it is NaN."""
    centre = _mean_of(x, mask, axis, True) if mean is None else mean
    # Masked before it is squared, so that no derivative goes through NaN.
    difference = apply_mask(x - centre, mask, 0)
    squares = tw.square(difference)
    if difference.dtype.kind == "complex":
        squares = tw.square(tw.real(difference)) + tw.square(tw.imag(difference))
    count = mask.sum(axis, keepdims=keepdims).astype(x.dtype.part)
    return squares.sum(axis, keepdims=keepdims) / tw.maximum(count - ddof, 0)


@signature_after_first(_variance)
def var(*args: Any, **options: Any) -> Tensor:
    """Return the variance along axes: `sum((x - mean)**2) / (n - ddof)`.

    `mean` is the mean with `keepdims`, where that is known; `correction` is another
    name of `ddof`.

    >>> np.var([1.0, 2.0, 3.0], ddof=1)
    tensor(1.)
    """
    return _variance("var", *args, **options)


@signature_after_first(_variance)
def std(*args: Any, **options: Any) -> Tensor:
    """Return the standard deviation along axes: the square root of `var`.

    >>> np.std([[1.0, 3.0], [2.0, 2.0]], 1)
    tensor([1., 0.])
    """
    return _variance("std", *args, **options)


@signature_after_first(_variance)
def nanvar(*args: Any, **options: Any) -> Tensor:
    """Return the variance along axes of the values that are not NaN; of none it is NaN.

    >>> np.nanvar([1.0, np.nan, 3.0])
    tensor(1.)
    """
    return _variance("nanvar", *args, **options)


@signature_after_first(_variance)
def nanstd(*args: Any, **options: Any) -> Tensor:
    """Return the standard deviation along axes of the values that are not NaN.

    >>> np.nanstd([1.0, np.nan, 3.0])
    tensor(1.)
    """
    return _variance("nanstd", *args, **options)


@signature_after_first(Reduction.cumulate)
def cumsum(*args: Any, **options: Any) -> Tensor:
    """Return cumulative sums along an axis; of all elements in order without one.

    >>> np.cumsum([[1, 2], [3, 4]])
    tensor([ 1,  3,  6, 10])
    """
    return SUM.cumulate(*args, **options)


@signature_after_first(Reduction.cumulate)
def nancumsum(*args: Any, **options: Any) -> Tensor:
    """Return cumulative sums, NaN counted as 0.

    >>> np.nancumsum([1.0, np.nan, 3.0])
    tensor([1., 1., 4.])
    """
    return NANSUM.cumulate(*args, **options)


@signature_after_first(Reduction.cumulate)
def cumprod(*args: Any, **options: Any) -> Tensor:
    """Return cumulative products along an axis; of all elements in order without one.

    >>> np.cumprod([[1, 2], [3, 4]], 1)
    tensor([[ 1,  2],
            [ 3, 12]])
    """
    return PROD.cumulate(*args, **options)


@signature_after_first(Reduction.cumulate)
def nancumprod(*args: Any, **options: Any) -> Tensor:
    """Return cumulative products, NaN counted as 1.

    >>> np.nancumprod([2.0, np.nan, 3.0])
    tensor([2., 2., 6.])
    """
    return NANPROD.cumulate(*args, **options)


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Tensor | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Return cumulative sums along an axis, which only 1-D tensors may omit.

    >>> np.cumulative_sum([1, 2, 3], include_initial=True)
    tensor([0, 1, 3, 6])
    """
    result = tw.cumulative_sum(x, axis, dtype=dtype, include_initial=include_initial)
    return into(result, out)


@signature_of(cumulative_sum)
def cumulative_prod(
    x: ArrayLike, /, *, out: Tensor | None = None, **options: Any
) -> Tensor:
    """Return cumulative products along an axis, which only 1-D tensors may omit.

    >>> np.cumulative_prod([1, 2, 3])
    tensor([1, 2, 6])
    """
    return into(tw.cumulative_prod(x, **options), out)


def argmax(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    *,
    keepdims: bool = False,
) -> Tensor:
    """Return the index of the first largest value; in row-major order without an axis.

    >>> np.argmax([[1, 9, 3], [8, 2, 7]], 1)
    tensor([1, 0])
    """
    return into(tw.asarray(a).argmax(axis, keepdims=keepdims), out)


@signature_of(argmax)
def argmin(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Return the index of the first smallest value; in row-major order without an axis.

    >>> np.argmin([[1, 9, 3], [8, 2, 7]])
    tensor(0)
    """
    return into(tw.asarray(a).argmin(axis, **options), out)


@signature_of(argmax)
def nanargmax(
    a: ArrayLike, axis: SupportsIndex | None = None, *args: Any, **options: Any
) -> Tensor:
    """Return the index of the first largest value that is not NaN; reads one number.

    Raises:
        DataError: a slice along the axis has nothing but NaN.

    >>> np.nanargmax([np.nan, 3.0, 5.0])
    tensor(2)
    """
    x = _check_not_all_nan("nanargmax", a, axis)
    return argmax(_replace_nan(x, -tw.inf), axis, *args, **options)


@signature_of(argmin)
def nanargmin(
    a: ArrayLike, axis: SupportsIndex | None = None, *args: Any, **options: Any
) -> Tensor:
    """Return the index of the first smallest value that is not NaN; reads one number.

    Raises:
        DataError: a slice along the axis has nothing but NaN.

    >>> np.nanargmin([[np.nan, 3.0], [5.0, 4.0]], 1)
    tensor([1, 1])
    """
    x = _check_not_all_nan("nanargmin", a, axis)
    return argmin(_replace_nan(x, tw.inf), axis, *args, **options)


def _check_not_all_nan(name: str, a: ArrayLike, axis: SupportsIndex | None) -> Tensor:
    """Return a tensor that has a number along the axis everywhere."""
    x = tw.asarray(a)
    if is_inexact(x.dtype) and bool(tw.any(tw.isnan(x).all(axis))):
        raise DataError(
            f"{name}: a slice along axis {axis} has nothing but NaN, so no index; "
            "leave it out, or put a number there."
        )
    return x


declare_public(__name__, hidden="Reduction")
