"""Values in order, and distinct values with their counts.

Sorting is stable whatever `stable` says. NaN comes last in ascending and in descending
order, where the standard leaves its position open; -0 and 0 are equal. Each NaN counts
as a distinct value. The count of distinct values is a shape, so functions of sets read
one number from the device.
"""

from __future__ import annotations

import builtins
import operator
from typing import NamedTuple, SupportsIndex

from tensorweb.functions.creation import asarray
from tensorweb.lookups.sets import distinct
from tensorweb.nodes import sorting as build
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


class TopKResult(NamedTuple):
    """What `top_k` returns."""

    values: Tensor
    indices: Tensor


def sort(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Tensor:
    """Return the values in order along an axis; equal ones keep theirs, NaN is last.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.sort([[3, 1, 2], [6, 5, 4]])
    tensor([[1, 2, 3],
            [4, 5, 6]])
    >>> tw.sort([2.0, tw.nan, 7.0], descending=True)
    tensor([ 7.,  2., nan])
    """
    node = asarray(x).node
    along = normalize_axis(axis, len(node.shape))
    return Tensor(build.sort(node, along, descending))


def argsort(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Tensor:
    """Return the positions (int32) that sort an axis; equal values keep their order.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.argsort([30, 10, 20, 10])
    tensor([1, 3, 2, 0])
    >>> tw.argsort([30, 10, 20, 10], descending=True)
    tensor([0, 2, 1, 3])
    """
    return asarray(x).argsort(axis, descending=descending, stable=stable)


def top_k(
    x: ArrayLike,
    k: SupportsIndex,
    /,
    axis: SupportsIndex = -1,
    *,
    largest: builtins.bool = True,
) -> TopKResult:
    """Return the k largest values along an axis, largest first, and where they are.

    With `largest=False` these are the smallest, smallest first. Of equal values the
    first ones are taken; NaN only where there are no others.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis has fewer than k elements, or k is negative.

    >>> tw.top_k([30, 10, 20, 40], 2)
    TopKResult(values=tensor([40, 30]), indices=tensor([3, 0]))
    """
    node = asarray(x).node
    along = normalize_axis(axis, len(node.shape))
    values, indices = build.top_k(node, operator.index(k), along, largest)
    return TopKResult(Tensor(values), Tensor(indices))


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: ArrayLike, /) -> UniqueAllResult:
    """Return the distinct values in order, their first indices, inverse and counts.

    Indices count in row-major order; the inverse has the shape of `x`, and
    `values[inverse_indices]` gives `x` again.

    >>> tw.unique_all([30, 10, 30]).indices
    tensor([1, 0])
    """
    groups = distinct(asarray(x).node, with_order=True)
    return UniqueAllResult(
        Tensor(groups.values),
        Tensor(groups.indices),
        Tensor(groups.inverse),
        Tensor(groups.counts),
    )


def unique_counts(x: ArrayLike, /) -> UniqueCountsResult:
    """Return the distinct values in order, and how often each occurs.

    >>> tw.unique_counts([30, 10, 30])
    UniqueCountsResult(values=tensor([10, 30]), counts=tensor([1, 2]))
    """
    groups = distinct(asarray(x).node, with_order=False)
    return UniqueCountsResult(Tensor(groups.values), Tensor(groups.counts))


def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult:
    """Return the distinct values in order, and which of them each element is.

    >>> tw.unique_inverse([30, 10, 30]).inverse_indices
    tensor([1, 0, 1])
    """
    groups = distinct(asarray(x).node, with_order=True)
    return UniqueInverseResult(Tensor(groups.values), Tensor(groups.inverse))


def unique_values(x: ArrayLike, /) -> Tensor:
    """Return the distinct values in order.

    >>> tw.unique_values([[30, 10], [10, 20]])
    tensor([10, 20, 30])
    """
    return Tensor(distinct(asarray(x).node, with_order=False).values)


declare_public(__name__)
