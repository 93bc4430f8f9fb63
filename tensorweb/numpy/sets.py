"""Distinct values and sets: unique with its returns, unions, intersections.

How many values there are is a shape, so each function but `isin` reads a number.
"""

from __future__ import annotations

import itertools
from typing import Literal, SupportsIndex, overload

from tensorweb import functions as tw
from tensorweb.functions import unique_all, unique_counts
from tensorweb.numpy.arguments import declare_public, is_inexact
from tensorweb.numpy.sorting import lexsort
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Tensor: ...


@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[Tensor, ...]: ...


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Tensor | tuple[Tensor, ...]:
    """Return the distinct values in order, or the distinct slices along an axis.

    On request, in this order: the first index of each, the index of the distinct value
    of each element, and the count of each. All NaN are one value, unless `equal_nan` is
    False.

    >>> np.unique([3, 1, 3])
    tensor([1, 3])
    >>> np.unique([3, 1, 3], return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    >>> np.unique([[1, 0], [0, 2], [1, 0]], axis=0)
    tensor([[0, 2],
            [1, 0]])
    """
    x = tw.asarray(ar)
    if axis is not None and (normalize_axis(axis, x.ndim) or x.ndim > 1):
        values, *details = _unique_slices(x, normalize_axis(axis, x.ndim))
    else:
        values, *details = _unique_elements(
            x, return_index or return_inverse, equal_nan
        )
    chosen = itertools.compress(details, (return_index, return_inverse, return_counts))
    results = (values, *chosen)
    return results if len(results) > 1 else values


def _unique_elements(
    x: Tensor, with_order: bool, equal_nan: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return distinct elements, their first positions, the inverse and counts."""
    if with_order:
        values, indices, inverse, counts = unique_all(x)
    else:
        values, counts = unique_counts(x)
        indices = inverse = counts
    if not equal_nan or not is_inexact(x.dtype):
        return values, indices, inverse, counts
    missing = int(tw.isnan(values).sum())
    if missing < 2:
        return values, indices, inverse, counts
    first = values.size - missing
    joined = tw.concat([counts[:first], counts[first:].sum().reshape(1)])
    distinct = slice(first + 1)
    return values[distinct], indices[distinct], tw.minimum(inverse, first), joined


def _unique_slices(x: Tensor, axis: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return distinct slices along an axis in order of their elements."""
    moved = tw.moveaxis(x, axis, 0)
    rows = moved.reshape((moved.shape[0], -1)) if x.size else moved[:, None]
    length = rows.shape[0]
    if not x.size:  # empty slices are equal: there is one, or none
        number = tw.asarray([length][:length], dtype="int32", device=x.device)
        zeros = tw.zeros(length, dtype="int32", device=x.device)
        return tw.moveaxis(moved[:1], 0, axis), zeros[:1], zeros, number
    order = lexsort(tw.flip(rows, 1).mT)
    ordered = rows[order]
    differs = (ordered[1:] != ordered[:-1]).any(1)
    starts = tw.concat([tw.ones(1, dtype="bool", device=x.device), differs])
    firsts = tw.nonzero(starts)[0]
    values = tw.moveaxis(moved[order[firsts]], 0, axis)
    ranks = tw.cumulative_sum(starts.astype("int32")) - 1
    inverse = tw.zeros_like(ranks).at[order].set(ranks)
    ends = tw.concat([firsts[1:], tw.full(1, length, dtype="int32", device=x.device)])
    return values, order[firsts], inverse, ends - firsts


def _unique_values(x: ArrayLike) -> Tensor:
    """Return the distinct values of all elements, NaN once."""
    return _unique_elements(tw.asarray(x), False, True)[0]


def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Tensor:
    """Return the distinct values of both, in order.

    >>> np.union1d([3, 1], [2, 1])
    tensor([1, 2, 3])
    """
    return _unique_values(tw.concat(_as_vectors(ar1, ar2)))


def _as_vectors(ar1: ArrayLike, ar2: ArrayLike) -> list[Tensor]:
    """Return both as 1-D tensors, on the device of the tensor among them."""
    device = next((x.device for x in (ar1, ar2) if isinstance(x, Tensor)), None)
    return [
        (x if isinstance(x, Tensor) else tw.asarray(x, device=device)).reshape(-1)
        for x in (ar1, ar2)
    ]


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor, Tensor]: ...


def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Return the distinct values that both have, in order.

    With `return_indices` also where each is first in one and in the other.

    >>> np.intersect1d([1, 3, 4, 3], [3, 1, 2])
    tensor([1, 3])
    """
    a, b = _as_vectors(ar1, ar2)
    if not return_indices:
        first = tw.sort(a) if assume_unique else _unique_values(a)
        return first[tw.isin(first, b)]
    values, where, *_ = _unique_elements(a, True, True)
    others, indices, *_ = _unique_elements(b, True, True)
    common = values[tw.isin(values, others)]
    return common, where[tw.isin(values, common)], indices[tw.isin(others, common)]


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    """Return the distinct values of the first that the second has not, in order.

    >>> np.setdiff1d([3, 1, 2, 3], [2])
    tensor([1, 3])
    """
    a, b = _as_vectors(ar1, ar2)
    first = a if assume_unique else _unique_values(a)
    return first[tw.isin(first, b, invert=True)]


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    """Return the distinct values that only one of them has, in order.

    >>> np.setxor1d([1, 2, 3], [2, 3, 5])
    tensor([1, 5])
    """
    a, b = _as_vectors(ar1, ar2)
    only = [a[tw.isin(a, b, invert=True)], b[tw.isin(b, a, invert=True)]]
    return _unique_values(tw.concat(only))


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Tensor:
    """Return whether each element is one of others; is none of them for `invert`.

    >>> np.isin([[0, 2], [4, 6]], [1, 2, 4, 8])
    tensor([[False,  True],
            [ True, False]])
    """
    return tw.isin(element, test_elements, invert=invert)


declare_public(__name__)
