"""Distinct values, where they are and how often they occur.

Each NaN counts as a value of its own; -0 and 0 are one value. How many values there are
is a shape, so each function reads one number from the device.
"""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.functions.creation import asarray
from tensorweb.lookups.sets import distinct
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


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
    found = distinct(asarray(x).node, with_order=True)
    return UniqueAllResult(
        Tensor(found.values),
        Tensor(found.indices),
        Tensor(found.inverse),
        Tensor(found.counts),
    )


def unique_counts(x: ArrayLike, /) -> UniqueCountsResult:
    """Return the distinct values in order, and how often each occurs.

    >>> tw.unique_counts([30, 10, 30])
    UniqueCountsResult(values=tensor([10, 30]), counts=tensor([1, 2]))
    """
    found = distinct(asarray(x).node, with_order=False)
    return UniqueCountsResult(Tensor(found.values), Tensor(found.counts))


def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult:
    """Return the distinct values in order, and which of them each element is.

    >>> tw.unique_inverse([30, 10, 30]).inverse_indices
    tensor([1, 0, 1])
    """
    found = distinct(asarray(x).node, with_order=True)
    return UniqueInverseResult(Tensor(found.values), Tensor(found.inverse))


def unique_values(x: ArrayLike, /) -> Tensor:
    """Return the distinct values in order.

    >>> tw.unique_values([[30, 10], [10, 20]])
    tensor([10, 20, 30])
    """
    return Tensor(distinct(asarray(x).node, with_order=False).values)
