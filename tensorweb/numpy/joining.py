"""Join, stack and repeat arrays, and split them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, DTypeError, ShapeError, TensorIndexError
from tensorweb.functions.creation import Lengths
from tensorweb.numpy.arguments import (
    Out,
    as_first_operand,
    as_operand_like,
    as_tensors,
    flatten_without_axis,
    into,
    signature_of,
    slice_values,
)
from tensorweb.numpy.creation import array, asarray
from tensorweb.numpy.manipulation import atleast_1d, atleast_2d, atleast_3d
from tensorweb.public_names import declare_public
from tensorweb.shapes import as_shape, is_integer, normalize_axes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import check_casting
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.movement import Axes


def concatenate(
    arrays: Iterable[ArrayLike],
    /,
    axis: SupportsIndex | None = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Tensor:
    """Join arrays along an axis; flattened first for None.

    Raises:
        ShapeError: there are no arrays, or other axes differ.
        AxisError: the axis does not exist.

    >>> np.concatenate(([[1, 2]], [[3, 4]]))
    tensor([[1, 2],
            [3, 4]])
    >>> np.concatenate(([[1, 2]], [[3, 4]]), axis=None)
    tensor([1, 2, 3, 4])
    """
    joined = tw.concat(as_tensors(arrays), axis)
    return _cast_result("concatenate", joined, dtype, casting, out)


def _cast_result(
    name: str, joined: Tensor, dtype: DTypeLike, casting: str, out: Out
) -> Tensor:
    """Return arrays that were joined in a dtype, or in `out`, by a rule of casting."""
    if dtype is not None and out is not None:
        raise DTypeError(f"{name}: out= has a dtype already; leave dtype= out.")
    target = out[0] if isinstance(out, tuple) else out
    result_dtype = dtype if dtype is not None else getattr(target, "dtype", None)
    check_casting(name, joined.dtype, as_dtype(result_dtype or joined.dtype), casting)
    if result_dtype is None:
        return joined
    return into(joined.astype(result_dtype), out)


concat = concatenate


def stack(
    arrays: Iterable[ArrayLike],
    axis: SupportsIndex = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Tensor:
    """Stack arrays of equal shape along a new axis.

    Raises:
        ShapeError: there are no arrays, or their shapes differ.

    >>> np.stack([[1, 2], [3, 4]], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """
    joined = tw.stack(as_tensors(arrays), axis)
    return _cast_result("stack", joined, dtype, casting, out)


def hstack(
    tup: Iterable[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Tensor:
    """Stack arrays along the second axis, vectors along the first.

    >>> np.hstack(([1, 2], [3]))
    tensor([1, 2, 3])
    """
    parts = [atleast_1d(x) for x in as_tensors(tup)]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


@signature_of(hstack)
def vstack(tup: Iterable[ArrayLike], **options: Any) -> Tensor:
    """Stack arrays along the first axis; vectors are rows.

    >>> np.vstack(([1, 2], [3, 4]))
    tensor([[1, 2],
            [3, 4]])
    """
    return concatenate([atleast_2d(x) for x in as_tensors(tup)], **options)


def dstack(tup: Iterable[ArrayLike]) -> Tensor:
    """Stack arrays along the third axis.

    >>> np.dstack(([1, 2], [3, 4]))
    tensor([[[1, 3],
             [2, 4]]])
    """
    return concatenate([atleast_3d(x) for x in as_tensors(tup)], 2)


def column_stack(tup: Iterable[ArrayLike]) -> Tensor:
    """Return vectors as columns of a matrix; matrices side by side.

    >>> np.column_stack(([1, 2], [3, 4]))
    tensor([[1, 3],
            [2, 4]])
    """
    parts = as_tensors(tup)
    return concatenate([x.reshape((-1, 1)) if x.ndim < 2 else x for x in parts], 1)


def block(arrays: Any) -> Tensor:
    """Assemble an array from nested lists of blocks.

    The innermost lists are joined along the last axis, the next lists along the axis
    before it, and so on.

    Raises:
        DataError: the lists are not equally deep, one is empty, or one is a tuple.
        ShapeError: the blocks do not fit.

    >>> a = np.ones((2, 2), int)
    >>> np.block([[a, 2 * a], [np.zeros((1, 4), int)]])
    tensor([[1, 1, 2, 2],
            [1, 1, 2, 2],
            [0, 0, 0, 0]])
    """
    depth = _nesting_depth(arrays)
    blocks = as_tensors(_flatten_blocks(arrays))
    rank = max(depth, *(x.ndim for x in blocks))
    joined = _join_blocks(arrays, depth, rank, iter(blocks))
    return joined.astype(joined.dtype)  # a tensor of its own, of one block too


def _nesting_depth(part: Any) -> int:
    if isinstance(part, tuple):
        raise DataError("block: a tuple; nest lists, and give arrays as blocks.")
    if not isinstance(part, list):
        return 0
    depths = {_nesting_depth(item) for item in part}
    if len(depths) != 1:
        raise DataError("block: lists are empty or not equally deep; nest all alike.")
    return 1 + depths.pop()


def _flatten_blocks(part: Any) -> list[ArrayLike]:
    if isinstance(part, list):
        return [block for item in part for block in _flatten_blocks(item)]
    return [part]


def _join_blocks(part: Any, depth: int, rank: int, blocks: Iterator[Tensor]) -> Tensor:
    if depth == 0:
        return array(next(blocks), copy=None, ndmin=rank)
    parts = [_join_blocks(item, depth - 1, rank, blocks) for item in part]
    return concatenate(parts, -depth)


class _Joined:
    """Joins the items of an index: arrays, numbers and slices as ranges.

    `r_` joins along the first axis, `c_` vectors as columns. A string of one to three
    integers first, `"axis,ndmin,start"`, changes that, as in NumPy.

    >>> np.r_[1:4, 0, [8, 9]]
    tensor([1, 2, 3, 0, 8, 9])
    >>> np.c_[[1, 2], [3, 4]]
    tensor([[1, 3],
            [2, 4]])
    """

    def __init__(self, axis: int, rank: int = 1, start: int = -1) -> None:
        """Join along an axis arrays of at least a rank; vectors lie along `start`."""
        self._defaults = (axis, rank, start)

    def __getitem__(self, key: Any) -> Tensor:
        """Return the items of the index, joined."""
        items = list(key) if isinstance(key, tuple) else [key]
        axis, rank, start = self._defaults
        if isinstance(items[0], str):
            text = items.pop(0)
            try:
                integers = [int(word) for word in text.split(",")]
            except ValueError:
                raise DataError(
                    f"r_[{text!r}, …]: matrices are not possible here; give integers, "
                    "as in r_['0,2', a, b]."
                ) from None
            axis, rank, start = (*integers, *self._defaults[len(integers) :])
        parts = [
            slice_values(item) if isinstance(item, slice) else item for item in items
        ]
        return concatenate(
            [_expand_to_rank(x, rank, start) for x in as_tensors(parts)], axis
        )


def _expand_to_rank(x: Tensor, rank: int, start: int) -> Tensor:
    """Return a tensor with at least `rank` axes; its own begin at `start`."""
    added = rank - x.ndim
    if added <= 0:
        return x
    begin = start + added + 1 if start < 0 else start
    before = min(begin, added)
    return x.reshape((*(1,) * before, *x.shape, *(1,) * (added - before)))


r_ = _Joined(0)
c_ = _Joined(-1, 2, 0)


class _IndexExpression:
    """Returns the index in its brackets: `np.s_[1:, ::2]`.

    >>> np.s_[1:3, ..., 0]
    (slice(1, 3, None), Ellipsis, 0)
    """

    def __init__(self, is_tuple: bool) -> None:
        """Return a tuple always, or only of several indices."""
        self._is_tuple = is_tuple

    def __getitem__(self, key: Any) -> Any:
        """Return the index."""
        return (key,) if self._is_tuple and not isinstance(key, tuple) else key


s_ = _IndexExpression(is_tuple=False)
index_exp = _IndexExpression(is_tuple=True)


def append(
    arr: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Append values to an array; both are flattened without an axis.

    >>> np.append([1, 2], [[3, 4]])
    tensor([1, 2, 3, 4])
    """
    return concatenate((arr, values), axis)


def tile(A: ArrayLike, reps: Axes | Tensor) -> Tensor:
    """Repeat an array along each axis.

    >>> np.tile([1, 2], (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts: Any = reps.tolist() if isinstance(reps, Tensor) else reps
    return asarray(A).tile(counts)


def repeat(
    a: ArrayLike, repeats: ArrayLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Repeat each element, by one count or by a count for each.

    Counts that are a tensor are read.

    >>> np.repeat([1, 2], [1, 3])
    tensor([1, 2, 2, 2])
    """
    return asarray(a).repeat(repeats, axis)


def resize(a: ArrayLike, new_shape: Lengths) -> Tensor:
    """Return an array of another shape, filled with its elements again and again.

    Raises:
        ShapeError: there is nothing to fill it with.

    >>> np.resize([1, 2, 3], (2, 4))
    tensor([[1, 2, 3, 1],
            [2, 3, 1, 2]])
    """
    x = asarray(a).ravel()
    shape = as_shape(new_shape)
    length = math.prod(shape)
    if length and not x.size:
        raise ShapeError(f"resize: nothing to fill shape {shape} with.")
    repetitions = -(-length // max(x.size, 1))
    return x.tile(repetitions)[:length].reshape(shape)


Sections = SupportsIndex | Sequence[SupportsIndex] | Tensor


def array_split(
    ary: ArrayLike, indices_or_sections: Sections, axis: SupportsIndex = 0
) -> list[Tensor]:
    """Split an axis into a count of parts, or at indices; the first may be longer.

    Raises:
        ShapeError: the number of parts is not positive.
        AxisError: the axis does not exist.

    >>> np.array_split(np.arange(5), 2)
    [tensor([0, 1, 2]), tensor([3, 4])]
    """
    x = asarray(ary)
    along = normalize_axis(axis, x.ndim)
    length = x.shape[along]
    sections: Any = indices_or_sections
    if isinstance(sections, Tensor):
        sections = sections.tolist()
    if is_integer(sections):
        count = operator.index(sections)
        if count <= 0:
            raise ShapeError(f"split: {count} parts; give at least one.")
        shorter, longer = divmod(length, count)
        ends = [shorter * i + min(i, longer) for i in range(1, count)]
    else:
        ends = [operator.index(end) for end in sections]
    before = (slice(None),) * along
    cuts = zip([0, *ends], [*ends, length], strict=True)
    return [x[(*before, slice(start, end))] for start, end in cuts]


def split(
    ary: ArrayLike, indices_or_sections: Sections, axis: SupportsIndex = 0
) -> list[Tensor]:
    """Split an axis into a count of equal parts, or at indices.

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
    return _split_axis("vsplit", ary, indices_or_sections, 0, 2)


def dsplit(ary: ArrayLike, indices_or_sections: Sections) -> list[Tensor]:
    """Return parts of the third axis.

    Raises:
        ShapeError: there are fewer than three axes.

    >>> np.dsplit(np.arange(4).reshape(1, 2, 2), 2)[0].shape
    (1, 2, 1)
    """
    return _split_axis("dsplit", ary, indices_or_sections, 2, 3)


def _split_axis(
    name: str, ary: ArrayLike, sections: Sections, axis: int, least: int
) -> list[Tensor]:
    x = asarray(ary)
    if x.ndim < least:
        raise ShapeError(f"{name}: shape {x.shape} has fewer than {least} axes.")
    return split(x, sections, axis)


def _chosen_indices(name: str, obj: Any, axis: int, length: int) -> list[int]:
    """Return the indices along an axis that a slice, a mask or integers choose.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        ShapeError: a mask has another length.
    """
    if isinstance(obj, slice):
        return list(range(length))[obj]
    x = asarray(obj)
    if x.dtype.kind == "bool":
        # NumPy's insert takes a mask with an element more, for the end.
        longest = length + (name == "insert")
        if x.ndim != 1 or not length <= x.size <= longest:
            raise ShapeError(f"{name}: a mask of shape {x.shape} for {length}.")
        return [i for i, is_chosen in enumerate(x.tolist()) if is_chosen]
    is_listed = isinstance(obj, list | tuple)  # [] is of the default dtype, a float
    if x.dtype.kind not in ("int", "uint") and (x.size or not is_listed):
        raise TensorIndexError(f"{name}: indices are {x.dtype}; give integers.")
    indices = [int(i) for i in x.ravel().tolist()]
    for i in indices:
        if not -length <= i < length + (name == "insert"):
            raise TensorIndexError(
                f"{name}: index {i} is out of range for axis {axis} of {length}."
            )
    return [i + length if i < 0 else i for i in indices]


def delete(arr: ArrayLike, obj: Any, axis: SupportsIndex | None = None) -> Tensor:
    """Delete slices of an axis; the array is flattened without an axis.

    `obj` is an index, a list of them, a slice or a mask; a tensor is read.

    Raises:
        TensorIndexError: an index is out of range.

    >>> np.delete([10, 20, 30, 40], [0, -1])
    tensor([20, 30])
    """
    x, along = flatten_without_axis(arr, axis)
    length = x.shape[along]
    deleted = set(_chosen_indices("delete", obj, along, length))
    remaining = [i for i in range(length) if i not in deleted]
    return x.take(tw.asarray(remaining, int, device=x.device), along)


def insert(
    arr: ArrayLike, obj: Any, values: ArrayLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Insert values before indices; the array is flattened without an axis.

    Values take the dtype of the array. Indices that are a tensor are read.

    Raises:
        TensorIndexError: an index is out of range.
        ShapeError: the values do not broadcast.

    >>> np.insert([1, 2, 3], 1, 9), np.insert([1, 2, 3], [0, 3], [8, 9])
    (tensor([1, 9, 2, 3]), tensor([8, 1, 2, 3, 9]))
    """
    x, along = flatten_without_axis(as_first_operand(arr, values), axis)
    length = x.shape[along]
    indices = _chosen_indices("insert", obj, along, length)
    inserted = as_operand_like(values, x).astype(x.dtype)
    inserted = array(inserted, copy=None, ndmin=x.ndim)
    if is_integer(obj):
        inserted = inserted.moveaxis(0, along)
    if len(indices) == 1:
        indices *= inserted.shape[along]
    shape = (*x.shape[:along], len(indices), *x.shape[along + 1 :])
    joined = tw.concat([x, inserted.broadcast_to(shape)], along)
    # Sorting is stable, so that an inserted value comes before the one it precedes.
    keys = [*((i, 1) for i in range(length)), *((i, 0) for i in indices)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return joined.take(tw.asarray(order, int, device=x.device), along)


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
        raise DataError(f"trim_zeros: trim={trim!r}; give f, b or both.")
    x = asarray(filt)
    key = [slice(None)] * x.ndim
    for along in normalize_axes(axis, x.ndim):
        others = tuple(other for other in range(x.ndim) if other != along)
        is_filled = tw.any(x != 0, axis=others).tolist()
        filled = [i for i, fills in enumerate(is_filled) if fills]
        start = (filled[0] if filled else len(is_filled)) if "f" in ends else 0
        stop = (filled[-1] + 1 if filled else 0) if "b" in ends else len(is_filled)
        key[along] = slice(start, max(stop, start))
    return x[tuple(key)]


declare_public(__name__)
