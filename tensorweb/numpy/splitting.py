"""Arrays taken apart, and elements put in or left out."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError, TensorIndexError
from tensorweb.numpy.arguments import as_first_operand, as_operand_like
from tensorweb.numpy.creation import array, asarray
from tensorweb.shapes import is_integer, normalize_axes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "array_split",
    "delete",
    "dsplit",
    "hsplit",
    "insert",
    "split",
    "trim_zeros",
    "vsplit",
]

Sections = SupportsIndex | Sequence[SupportsIndex] | Tensor


def array_split(
    ary: ArrayLike, indices_or_sections: Sections, axis: SupportsIndex = 0
) -> list[Tensor]:
    """Return parts of an axis: so many, or cut at indices; the first may be longer.

    Raises:
        ShapeError: the number of parts is not positive.
        AxisError: the axis does not exist.

    >>> np.array_split(np.arange(5), 2)
    [tensor([0, 1, 2]), tensor([3, 4])]
    """
    x = asarray(ary)
    along = normalize_axis(axis, x.ndim)
    length = x.shape[along]
    given: Any = indices_or_sections
    if isinstance(given, Tensor):
        given = given.tolist()
    if is_integer(given):
        count = operator.index(given)
        if count <= 0:
            raise ShapeError(f"split: {count} parts; give at least one.")
        shorter, longer = divmod(length, count)
        ends = [shorter * i + min(i, longer) for i in range(1, count)]
    else:
        ends = [operator.index(end) for end in given]
    before = (slice(None),) * along
    cuts = zip([0, *ends], [*ends, length], strict=True)
    return [x[(*before, slice(start, end))] for start, end in cuts]


def split(
    ary: ArrayLike, indices_or_sections: Sections, axis: SupportsIndex = 0
) -> list[Tensor]:
    """Return parts of an axis: so many equal ones, or cut at indices.

    Raises:
        ShapeError: the axis cannot be divided equally.
        AxisError: the axis does not exist.

    >>> np.split(np.arange(6), 3)
    [tensor([0, 1]), tensor([2, 3]), tensor([4, 5])]
    >>> np.split(np.arange(4), [1, 3])
    [tensor([0]), tensor([1, 2]), tensor([3])]
    """
    x = asarray(ary)
    if is_integer(indices_or_sections):
        count = operator.index(indices_or_sections)
        length = x.shape[normalize_axis(axis, x.ndim)]
        if count > 0 and length % count:
            raise ShapeError(
                f"split: {length} elements are not {count} equal parts; use "
                "array_split, or give the indices to cut at."
            )
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: Sections) -> list[Tensor]:
    """Return parts of the second axis, of vectors of the only one.

    >>> np.hsplit(np.arange(4), 2)
    [tensor([0, 1]), tensor([2, 3])]
    """
    x = asarray(ary)
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: ArrayLike, indices_or_sections: Sections) -> list[Tensor]:
    """Return parts of the first axis of an array of two axes or more.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> np.vsplit(np.arange(4).reshape(2, 2), 2)
    [tensor([[0, 1]]), tensor([[2, 3]])]
    """
    return _split_of("vsplit", ary, indices_or_sections, 0, 2)


def dsplit(ary: ArrayLike, indices_or_sections: Sections) -> list[Tensor]:
    """Return parts of the third axis.

    Raises:
        ShapeError: there are fewer than three axes.

    >>> np.dsplit(np.arange(4).reshape(1, 2, 2), 2)[0].shape
    (1, 2, 1)
    """
    return _split_of("dsplit", ary, indices_or_sections, 2, 3)


def _split_of(
    name: str, ary: ArrayLike, sections: Sections, axis: int, least: int
) -> list[Tensor]:
    x = asarray(ary)
    if x.ndim < least:
        raise ShapeError(f"{name}: shape {x.shape} has fewer than {least} axes.")
    return split(x, sections, axis)


def _chosen(name: str, obj: Any, length: int) -> list[int]:
    """Return which positions of an axis a slice, a mask or integers name."""
    if isinstance(obj, slice):
        return list(range(length))[obj]
    given = asarray(obj)
    if given.dtype.kind == "bool":
        # NumPy's insert takes a mask with an element more, for the end.
        if given.shape != (length,) and (name, given.shape) != (
            "insert",
            (length + 1,),
        ):
            raise ShapeError(f"{name}: a mask of shape {given.shape} for {length}.")
        return [i for i, is_named in enumerate(given.tolist()) if is_named]
    is_listed = isinstance(obj, list | tuple)  # [] is of the default dtype, a float
    if given.dtype.kind not in ("int", "uint") and (given.size or not is_listed):
        raise TensorIndexError(f"{name}: indices are {given.dtype}; give integers.")
    return [int(i) for i in given.ravel().tolist()]


def delete(arr: ArrayLike, obj: Any, axis: SupportsIndex | None = None) -> Tensor:
    """Return an array without some slices of an axis; flattened without an axis.

    `obj` is an index, a list of them, a slice or a mask; a tensor is read.

    Raises:
        TensorIndexError: an index is out of range.

    >>> np.delete([10, 20, 30, 40], [0, -1])
    tensor([20, 30])
    """
    x, along = _along(arr, axis)
    length = x.shape[along]
    gone = set()
    for i in _chosen("delete", obj, length):
        if not -length <= i < length:
            raise TensorIndexError(
                f"delete: index {i} is out of range for axis {along} of {length}."
            )
        gone.add(i % length)
    kept = [i for i in range(length) if i not in gone]
    return x.take(tw.asarray(kept, int, device=x.device), along)


def insert(
    arr: ArrayLike, obj: Any, values: ArrayLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Return an array with values before some indices; flattened without an axis.

    Values take the dtype of the array. Indices that are a tensor are read.

    Raises:
        TensorIndexError: an index is out of range.
        ShapeError: the values do not broadcast.

    >>> np.insert([1, 2, 3], 1, 9), np.insert([1, 2, 3], [0, 3], [8, 9])
    (tensor([1, 9, 2, 3]), tensor([8, 1, 2, 3, 9]))
    """
    x, along = _along(as_first_operand(arr, values), axis)
    length = x.shape[along]
    places = _chosen("insert", obj, length)
    for i in places:
        if not -length <= i <= length:
            raise TensorIndexError(
                f"insert: index {i} is out of range for axis {along} of {length}."
            )
    places = [i + length if i < 0 else i for i in places]
    given = array(as_operand_like(values, x), copy=None, ndmin=x.ndim).astype(x.dtype)
    if is_integer(obj):
        given = given.moveaxis(0, along)
    if len(places) == 1:
        places *= given.shape[along]
    shape = (*x.shape[:along], len(places), *x.shape[along + 1 :])
    joined = tw.concat([x, given.broadcast_to(shape)], along)
    order = sorted(range(len(places)), key=places.__getitem__)
    result: list[int] = []
    previous = 0
    for number in order:
        result += range(previous, places[number])
        previous = places[number]
        result.append(length + number)
    result += range(previous, length)
    return joined.take(tw.asarray(result, int, device=x.device), along)


def _along(arr: ArrayLike, axis: SupportsIndex | None) -> tuple[Tensor, int]:
    x = asarray(arr)
    if axis is None:
        return x.ravel(), 0
    return x, normalize_axis(axis, x.ndim)


def trim_zeros(
    filt: ArrayLike,
    trim: str = "fb",
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Tensor:
    """Return an array without zeros at its front (f) or back (b); reads where they are.

    Of several axes, all or those of `axis`, slices that are 0 everywhere are cut.

    Raises:
        DataError: `trim` has other letters.

    >>> np.trim_zeros([0, 0, 1, 2, 0, 3, 0])
    tensor([1, 2, 0, 3])
    >>> np.trim_zeros([[0, 0], [0, 5]])
    tensor([[5]])
    """
    ends = trim.lower()
    if ends not in ("f", "b", "fb", "bf"):
        raise DataError(f"trim_zeros: trim={trim!r}; it is made of f and b.")
    x = asarray(filt)
    chosen = normalize_axes(axis, x.ndim)
    cut = [slice(None)] * x.ndim
    for each in chosen:
        others = tuple(other for other in range(x.ndim) if other != each)
        kept = tw.any(x != 0, axis=others).tolist()
        filled = [i for i, is_kept in enumerate(kept) if is_kept]
        start = (filled[0] if filled else len(kept)) if "f" in ends else 0
        stop = (filled[-1] + 1 if filled else 0) if "b" in ends else len(kept)
        cut[each] = slice(start, max(stop, start))
    return x[tuple(cut)]
