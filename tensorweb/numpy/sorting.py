"""Values in order with NumPy's arguments: sort, argsort, lexsort, partition.

Sorting is always stable, whatever `kind` says; NaN comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import as_tensors
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.sorting import check_kind

__all__ = [
    "argpartition",
    "argsort",
    "lexsort",
    "partition",
    "sort",
]


def sort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> Tensor:
    """Return the values in order along an axis; of all elements for None.

    >>> np.sort([[3, 1, 2], [6, 5, 4]])
    tensor([[1, 2, 3],
            [4, 5, 6]])
    """
    x, along = _line("sort", a, axis, kind, order, stable)
    return tw.sort(x, axis=along)


def argsort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> Tensor:
    """Return the positions that sort an axis; equal values keep their order.

    >>> np.argsort([30, 10, 20, 10])
    tensor([1, 3, 2, 0])
    """
    x, along = _line("argsort", a, axis, kind, order, stable)
    return x.argsort(along)


def _line(
    name: str,
    a: ArrayLike,
    axis: SupportsIndex | None,
    kind: str | None,
    order: object,
    stable: bool | None = None,
) -> tuple[Tensor, int]:
    """Return a tensor and the axis to sort: all elements in a row for None."""
    check_kind(name, kind)
    if kind is not None and stable is not None:
        raise DataError(f"{name}: kind={kind!r} and stable={stable}; give one.")
    if order is not None:
        raise DataError(
            f"{name}: order={order!r} names fields, which tensors have not; sort by "
            "several keys with np.lexsort."
        )
    x = tw.asarray(a)
    if axis is None:
        return x.reshape(-1), 0
    return x, normalize_axis(axis, x.ndim)


def lexsort(keys: ArrayLike, axis: SupportsIndex = -1) -> Tensor:
    """Return the positions that sort by several keys, of which the last counts most.

    Keys are a list of tensors of one shape, or the slices of one tensor.

    Raises:
        ShapeError: there are no keys, or their shapes differ.

    >>> np.lexsort(([9, 4, 0, 4, 0, 2, 1], [1, 5, 1, 4, 3, 4, 4]))
    tensor([2, 0, 4, 6, 5, 3, 1])
    """
    if isinstance(keys, list | tuple):
        rows = as_tensors(keys)
    else:
        rows = list(tw.unstack(tw.asarray(keys)))
    if not rows or any(row.shape != rows[0].shape for row in rows):
        shapes = [row.shape for row in rows]
        raise ShapeError(f"lexsort: keys have shapes {shapes}; give keys of one shape.")
    if not rows[0].ndim:
        normalize_axis(axis, 1)  # a number is sorted like a vector of one
        return tw.asarray(0, device=rows[0].device)
    along = normalize_axis(axis, rows[0].ndim)
    order = rows[0].argsort(along)
    for row in rows[1:]:
        later = tw.take_along_axis(row, order, along).argsort(along)
        order = tw.take_along_axis(order, later, along)
    return order


def partition(
    a: ArrayLike,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> Tensor:
    """Return values with smaller ones before position `kth` and others behind it.

    All are sorted, which is one such order.

    Raises:
        DataError: `kth` is no integer or out of range, or `kind` is unknown.

    >>> np.partition([7, 1, 5, 3], 1)
    tensor([1, 3, 5, 7])
    """
    x, along = _line("partition", a, axis, None, order)
    _check_partition("partition", x, along, kth, kind)
    return tw.sort(x, axis=along)


def argpartition(
    a: ArrayLike,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> Tensor:
    """Return the positions of `partition`, which sort the axis.

    Raises:
        DataError: `kth` is no integer or out of range, or `kind` is unknown.

    >>> np.argpartition([7, 1, 5, 3], 1)
    tensor([1, 3, 2, 0])
    """
    x, along = _line("argpartition", a, axis, None, order)
    _check_partition("argpartition", x, along, kth, kind)
    return x.argsort(along)


def _check_partition(
    name: str,
    x: Tensor,
    axis: int,
    kth: SupportsIndex | Sequence[SupportsIndex],
    kind: str,
) -> None:
    """Raise unless positions are on an axis, and the algorithm is NumPy's."""
    if kind != "introselect":
        raise DataError(f"{name}: kind={kind!r}; there is introselect only.")
    length = x.shape[axis]
    positions = tw.asarray(kth).reshape(-1).tolist()
    for each in positions if x.size else ():  # of nothing, any position is as good
        if type(each) is not int or not -length <= each < length:
            raise DataError(
                f"{name}: kth is {each!r} and the axis has {length} elements; give "
                f"integers from {-length} to {length - 1}."
            )
