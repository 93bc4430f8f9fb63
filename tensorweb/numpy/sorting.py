"""Sort and search: order, partitions, positions, distinct values and sets.

How many distinct values there are is a shape, so each function of sets but `isin`
reads a count.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, SupportsIndex, overload

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.devices import device
from tensorweb.dtypes import check_integer
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import unique_all, unique_counts
from tensorweb.functions.creation import Lengths
from tensorweb.lookups import ends_within
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_tensors,
    check_order,
    flatten_without_axis,
    is_inexact,
    signature_after_first,
)
from tensorweb.numpy.creation import asarray
from tensorweb.numpy.matrices import tri
from tensorweb.public_names import declare_public
from tensorweb.shapes import Shape, as_shape, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, device_of
from tensorweb.tensor.rearrangement import check_kind


def _sort_operand(
    name: str,
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> tuple[Tensor, int]:
    """Return a tensor and the axis to sort: its elements as a vector for None."""
    check_kind(name, kind)
    if kind is not None and stable is not None:
        raise DataError(f"{name}: kind={kind!r} and stable={stable}; give one.")
    if order is not None:
        raise DataError(
            f"{name}: order={order!r} names fields, which tensors have not; sort by "
            "several keys with np.lexsort."
        )
    return flatten_without_axis(a, axis)


@signature_after_first(_sort_operand)
def sort(*args: Any, **options: Any) -> Tensor:
    """Return the values in order along an axis; of all elements for None.

    >>> np.sort([[3, 1, 2], [6, 5, 4]])
    tensor([[1, 2, 3],
            [4, 5, 6]])
    """
    x, along = _sort_operand("sort", *args, **options)
    return tw.sort(x, axis=along)


@signature_after_first(_sort_operand)
def argsort(*args: Any, **options: Any) -> Tensor:
    """Return the positions that sort an axis; equal values keep their order.

    >>> np.argsort([30, 10, 20, 10])
    tensor([1, 3, 2, 0])
    """
    x, along = _sort_operand("argsort", *args, **options)
    return x.argsort(along)


def lexsort(keys: ArrayLike, axis: SupportsIndex = -1) -> Tensor:
    """Return the positions that sort by several keys, of which the last counts most.

    Keys are a list of tensors of one shape, or the slices of one tensor.

    Raises:
        ShapeError: there are no keys, or their shapes differ.

    >>> np.lexsort(([9, 4, 0, 4, 0, 2, 1], [1, 5, 1, 4, 3, 4, 4]))
    tensor([2, 0, 4, 6, 5, 3, 1])
    """
    listed = keys if isinstance(keys, list | tuple) else tw.unstack(tw.asarray(keys))
    rows = as_tensors(listed)
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


def _partition_operand(
    name: str,
    a: ArrayLike,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> tuple[Tensor, int]:
    """Return a tensor and the axis to partition, after a check of the positions."""
    x, along = _sort_operand(name, a, axis, None, order)
    if kind != "introselect":
        raise DataError(f"{name}: kind={kind!r}; there is introselect only.")
    length = x.shape[along]
    indices = tw.asarray(kth).reshape(-1).tolist()
    for index in indices if x.size else ():  # without elements any index is valid
        if type(index) is not int or not -length <= index < length:
            raise DataError(
                f"{name}: kth is {index!r} and the axis has {length} elements; give "
                f"integers from {-length} to {length - 1}."
            )
    return x, along


@signature_after_first(_partition_operand)
def partition(*args: Any, **options: Any) -> Tensor:
    """Return values with smaller ones before position `kth` and others after it.

    All values are sorted, which NumPy allows.

    Raises:
        DataError: `kth` is no integer or out of range, or `kind` is unknown.

    >>> np.partition([7, 1, 5, 3], 1)
    tensor([1, 3, 5, 7])
    """
    x, along = _partition_operand("partition", *args, **options)
    return tw.sort(x, axis=along)


@signature_after_first(_partition_operand)
def argpartition(*args: Any, **options: Any) -> Tensor:
    """Return the positions of `partition`, which sort the axis.

    Raises:
        DataError: `kth` is no integer or out of range, or `kind` is unknown.

    >>> np.argpartition([7, 1, 5, 3], 1)
    tensor([1, 3, 2, 0])
    """
    x, along = _partition_operand("argpartition", *args, **options)
    return x.argsort(along)


@overload
def where(condition: ArrayLike, /) -> tuple[Tensor, ...]: ...


@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> Tensor: ...


def where(
    condition: ArrayLike, x: ArrayLike = None, y: ArrayLike = None, /
) -> Tensor | tuple[Tensor, ...]:
    """Return `x` where the condition holds, else `y`; without both, where it holds.

    The indices of true elements are one array per axis, as of `nonzero`; their
    count is read from the device.

    Raises:
        DataError: only one of `x` and `y` is given.
        ShapeError: the shapes do not broadcast.

    >>> np.where([True, False, True], [1, 2, 3], 0)
    tensor([1, 0, 3])
    >>> np.where([0, 3, 4])
    (tensor([1, 2]),)
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise DataError("where: give both x and y, or neither.")
    mask = as_first_operand(condition, x, y)
    return tw.where(mask if mask.dtype.kind == "bool" else mask != 0, x, y)


def nonzero(a: ArrayLike) -> tuple[Tensor, ...]:
    """Return where elements are not zero: one index array per axis.

    Their count is a shape, so it is read from the device.

    Raises:
        DataError: the array is 0-d.

    >>> np.nonzero([[1, 0], [0, 2]])
    (tensor([0, 1]), tensor([0, 1]))
    """
    return asarray(a).nonzero()


def argwhere(a: ArrayLike) -> Tensor:
    """Return the indices of elements that are not zero, one row for each.

    Their count is read from the device.

    >>> np.argwhere([[1, 0], [0, 2]])
    tensor([[0, 0],
            [1, 1]])
    """
    x = asarray(a)
    if not x.ndim:
        return tw.zeros((int(x != 0), 0), int, device=x.device)
    return tw.stack(x.nonzero(), axis=1)


def flatnonzero(a: ArrayLike) -> Tensor:
    """Return where elements are not zero, counted in row-major order.

    Their count is read from the device.

    >>> np.flatnonzero([[1, 0], [0, 2]])
    tensor([0, 3])
    """
    return asarray(a).ravel().nonzero()[0]


def searchsorted(
    a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike = None
) -> Tensor:
    """Return the positions of values in a sorted vector: before equal ones, or after.

    Raises:
        ShapeError: `a` has not exactly one axis.
        DataError: `side` is neither `left` nor `right`.

    >>> np.searchsorted([10, 20, 30], [5, 20], "right")
    tensor([0, 2])
    """
    return tw.searchsorted(a, v, side=side, sorter=sorter)


def unravel_index(
    indices: ArrayLike, shape: Lengths, order: str = "C"
) -> tuple[Any, ...]:
    """Return the index along each axis of positions in row-major order.

    An integer gives integers. Positions in an array are not checked: if they are
    out of range, so are the indices.

    Raises:
        DataError: an integer is out of range.
        DTypeError: the positions are no integers.
        ShapeError: a shape without elements has no position.

    >>> np.unravel_index(5, (2, 3))
    (1, 2)
    >>> np.unravel_index([1, 5], (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    lengths = as_shape(shape)
    if order != "F":
        check_order("unravel_index", order)
    count = _count_elements("unravel_index", lengths)
    position: Any = indices
    if not isinstance(indices, int):
        position = _as_indices("unravel_index", asarray(indices))
        if position.size and (not count or not lengths):
            raise ShapeError(
                f"unravel_index: shape {lengths} has no positions for an array."
            )
    elif not 0 <= indices < count:
        raise DataError(
            f"unravel_index: position {indices} is out of range for shape {lengths}."
        )
    step = 1 if order == "F" else -1
    index = []
    for length in lengths[::step]:
        index.append(position % max(length, 1))
        position = position // max(length, 1)
    return tuple(index[::step])


def _count_elements(name: str, lengths: Shape) -> int:
    """Return the count of elements of a shape.

    Raises:
        ShapeError: more than 64 bits can count.
    """
    count = math.prod(lengths)
    if count > 2**63 - 1:
        raise ShapeError(f"{name}: shape {lengths} has more than 2**63 - 1 elements.")
    return count


def _as_indices(name: str, indices: Tensor) -> Tensor:
    """Return indices in the default dtype of integers, those of 64 bits in int64.

    Raises:
        DTypeError: they are no integers.
    """
    if indices.dtype.kind not in ("int", "uint", "bool"):
        raise DTypeError(
            f"{name}: the indices are {indices.dtype}; convert them with "
            "astype(np.int32)."
        )
    if indices.dtype in (dtypes.int64, dtypes.uint64):
        return indices.astype(dtypes.int64)
    return indices.astype(dtypes.DEFAULT_INT)


def _is_outside(indices: Tensor, length: int) -> bool:
    """Whether an index is negative or too large for an axis."""
    if not indices.size:
        return False
    bounded = f"an axis of length {length}"
    least, greatest = ends_within(indices.node, 0, length - 1, bounded)
    return least < 0 or greatest >= length


def ravel_multi_index(
    multi_index: Any,
    dims: Lengths,
    mode: str | Sequence[str] = "raise",
    order: str = "C",
) -> Any:
    """Return positions in row-major order of an index along each axis.

    `mode="wrap"` counts on at the other end, `"clip"` stays at the end; several are
    one for each axis. With "raise" arrays are read once to look for indices out of
    range.

    Raises:
        DataError: an index is out of range.
        DTypeError: an index is no integer.
        ShapeError: there is not one index for each axis, or an axis has length 0.
        RangeError: the dtype of the indices cannot hold the positions.

    >>> np.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
    tensor([1, 5])
    """
    lengths = as_shape(dims)
    parts = list(multi_index)
    if len(parts) != len(lengths):
        raise ShapeError(
            f"ravel_multi_index: {len(parts)} indices for shape {lengths}; give one "
            "for each axis."
        )
    modes = [mode] * len(parts) if isinstance(mode, str) else list(mode)
    if len(modes) != len(parts):
        raise DataError(
            f"ravel_multi_index: mode={mode!r}; give one for all {len(parts)} axes, or "
            "one for each."
        )
    count = _count_elements("ravel_multi_index", lengths)
    position: Any = 0
    axes = list(zip(parts, lengths, modes, strict=True))
    for part, length, how in reversed(axes) if order == "F" else axes:
        if not isinstance(part, int):
            part = _as_indices("ravel_multi_index", as_first_operand(part, *parts))
            if count:
                check_integer(count - 1, part.dtype)
            elif part.size:
                raise ShapeError(
                    f"ravel_multi_index: shape {lengths} has no elements to index."
                )
        if how == "wrap":
            part = part % max(length, 1)
        elif how == "clip":
            part = tw.clip(part, 0, max(length - 1, 0))
        elif how != "raise":
            raise DataError(f"mode={how!r}; it is raise, wrap or clip.")
        elif _is_outside(asarray(part), length):
            raise DataError(
                f"ravel_multi_index: an index is out of range for shape {lengths}."
            )
        position = position * length + part
    return position


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of a shape `(n, n, …)`.

    >>> np.diag_indices(3)
    (tensor([0, 1, 2]), tensor([0, 1, 2]))
    """
    return (tw.arange(n),) * ndim


def diag_indices_from(arr: ArrayLike) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of an array whose axes are equally long.

    Raises:
        ShapeError: they are not, or there are fewer than two.

    >>> np.diag_indices_from(np.zeros((2, 2)))
    (tensor([0, 1]), tensor([0, 1]))
    """
    x = asarray(arr)
    if x.ndim < 2 or len(set(x.shape)) > 1:
        raise ShapeError(f"diag_indices_from: shape {x.shape}; give equal axes.")
    with device(x.device):
        return diag_indices(x.shape[0], x.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the indices of the lower triangle of an `(n, m)` matrix.

    >>> np.tril_indices(2)
    (tensor([0, 1, 1]), tensor([0, 0, 1]))
    """
    return nonzero(tri(n, m, k, bool))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the indices of the upper triangle of an `(n, m)` matrix.

    >>> np.triu_indices(2)
    (tensor([0, 0, 1]), tensor([0, 1, 1]))
    """
    return nonzero(tw.logical_not(tri(n, m, k - 1, bool)))


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Tensor, ...]:
    """Return the indices of the lower triangle of a matrix.

    Raises:
        ShapeError: there are not two axes.

    >>> np.tril_indices_from(np.zeros((1, 2)))
    (tensor([0]), tensor([0]))
    """
    return _indices_from(tril_indices, arr, k)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Tensor, ...]:
    """Return the indices of the upper triangle of a matrix.

    Raises:
        ShapeError: there are not two axes.

    >>> np.triu_indices_from(np.zeros((1, 2)))
    (tensor([0, 0]), tensor([0, 1]))
    """
    return _indices_from(triu_indices, arr, k)


def _indices_from(
    function: Callable[..., tuple[Tensor, ...]], arr: ArrayLike, k: int
) -> tuple[Tensor, ...]:
    """Return the indices of a triangle of a matrix, on its device."""
    x = asarray(arr)
    if x.ndim != 2:
        raise ShapeError(f"shape {x.shape} is no matrix; give two axes.")
    with device(x.device):
        return function(x.shape[0], k, x.shape[1])


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[Tensor, ...]:
    """Return the positions of an `(n, n)` matrix of ones that a function keeps.

    >>> np.mask_indices(2, np.triu)
    (tensor([0, 0, 1]), tensor([0, 1, 1]))
    """
    return nonzero(mask_func(tw.ones((n, n), int), k))


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
    device = device_of(ar1, ar2)
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
