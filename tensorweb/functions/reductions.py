"""One value from many along axes: sums, extremes, means, questions, running sums.

`axis` is one axis, several or None for all; negative ones count from the end.
`keepdims` leaves reduced axes with length 1. `dim` and `keepdim` are PyTorch's words.
"""

from __future__ import annotations

from typing import Literal, SupportsIndex, overload

from tensorweb.functions.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import NumberLike
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.reductions import Axis, ValuesAndIndices


def sum(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return the sum along axes; 0 of nothing.

    Bool and small integers are summed in int32 or uint32, other dtypes in their own.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.sum([[1, 2, 3], [4, 5, 6]], axis=0)
    tensor([5, 7, 9])
    """
    return asarray(x).sum(
        axis, dtype=dtype, keepdims=keepdims, dim=dim, keepdim=keepdim
    )


def prod(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return the product along axes; 1 of nothing.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.prod([[1, 2, 3], [4, 5, 6]], axis=1)
    tensor([  6, 120])
    """
    return asarray(x).prod(
        axis, dtype=dtype, keepdims=keepdims, dim=dim, keepdim=keepdim
    )


@overload
def max(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: None = None,
    keepdim: Literal[False] = False,
) -> Tensor: ...


@overload
def max(
    x: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    *,
    dim: SupportsIndex | None = None,
    keepdim: bool = False,
) -> ValuesAndIndices: ...


def max(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: SupportsIndex | None = None,
    keepdim: bool = False,
) -> Tensor | ValuesAndIndices:
    """Return the largest value along axes; NaN wins.

    With PyTorch's words `dim` or `keepdim`, values and indices as PyTorch returns.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: a reduced axis is empty.

    >>> tw.max([[1, 5], [7, 2]], axis=1, keepdims=True)
    tensor([[5],
            [7]])
    >>> tw.max([[1, 5], [7, 2]], dim=1).indices
    tensor([1, 0])
    """
    return asarray(x).max(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)  # type: ignore[call-overload,no-any-return]  # either kind of call


@overload
def min(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: None = None,
    keepdim: Literal[False] = False,
) -> Tensor: ...


@overload
def min(
    x: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    *,
    dim: SupportsIndex | None = None,
    keepdim: bool = False,
) -> ValuesAndIndices: ...


def min(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: SupportsIndex | None = None,
    keepdim: bool = False,
) -> Tensor | ValuesAndIndices:
    """Return the smallest value along axes; NaN wins.

    With PyTorch's words `dim` or `keepdim`, values and indices as PyTorch returns.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: a reduced axis is empty.

    >>> tw.min([[1, 5], [7, 2]])
    tensor(1)
    >>> tw.min([[1, 5], [7, 2]], dim=1).indices
    tensor([0, 1])
    """
    return asarray(x).min(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)  # type: ignore[call-overload,no-any-return]  # either kind of call


def mean(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return the mean along axes; integers and bool give float32.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.mean([[1, 2], [3, 6]], axis=1)
    tensor([1.5, 4.5])
    """
    return asarray(x).mean(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)


def var(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    correction: NumberLike = 0.0,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return the variance along axes: `sum((x - mean)**2) / (n - correction)`.

    Two passes, so that large means lose no digits. `correction=1` gives the sample
    variance.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.var([1.0, 2.0, 3.0], correction=1)
    tensor(1.)
    """
    return asarray(x).var(
        axis, correction=correction, keepdims=keepdims, dim=dim, keepdim=keepdim
    )


def std(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    correction: NumberLike = 0.0,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return the standard deviation along axes: the square root of `var`.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.std([1.0, 3.0])
    tensor(1.)
    """
    return asarray(x).std(
        axis, correction=correction, keepdims=keepdims, dim=dim, keepdim=keepdim
    )


def any(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return whether one element is true (not zero) along axes; false of nothing.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.any([[True, False], [False, False]], axis=1)
    tensor([ True, False])
    """
    return asarray(x).any(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)


def all(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return whether all elements are true (not zero) along axes; true of nothing.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.all([[True, True], [False, True]], axis=1)
    tensor([ True, False])
    """
    return asarray(x).all(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)


def count_nonzero(
    x: ArrayLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    dim: Axis = None,
    keepdim: bool = False,
) -> Tensor:
    """Return how many elements along axes are not zero.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.count_nonzero([[0, 1, 2], [0, 0, 3]], axis=1)
    tensor([2, 1])
    """
    return asarray(x).count_nonzero(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)


def cumulative_sum(
    x: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    *,
    dtype: DTypeLike = None,
    include_initial: bool = False,
) -> Tensor:
    """Return running sums along an axis, which only 1-D tensors may leave out.

    With `include_initial` a 0 stands in front and the axis is one longer.

    Raises:
        AxisError: the axis does not exist, or is needed and missing.

    >>> tw.cumulative_sum([3, 1, 7, 0, 4, 1, 6, 3])
    tensor([ 3,  4, 11, 11, 15, 16, 22, 25])
    """
    return asarray(x).cumulative_sum(axis, dtype=dtype, include_initial=include_initial)


def cumulative_prod(
    x: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    *,
    dtype: DTypeLike = None,
    include_initial: bool = False,
) -> Tensor:
    """Return running products along an axis, which only 1-D tensors may leave out.

    With `include_initial` a 1 stands in front and the axis is one longer.

    Raises:
        AxisError: the axis does not exist, or is needed and missing.

    >>> tw.cumulative_prod([1, 2, 3, 4])
    tensor([ 1,  2,  6, 24])
    """
    return asarray(x).cumulative_prod(
        axis, dtype=dtype, include_initial=include_initial
    )


declare_public(__name__)
