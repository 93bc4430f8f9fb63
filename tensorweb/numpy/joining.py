"""Arrays put together: stacked, in blocks, in brackets, repeated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import unstack
from tensorweb.functions.creation import Lengths
from tensorweb.numpy.arguments import Out, as_tensors, into, slice_values
from tensorweb.numpy.creation import array, asarray
from tensorweb.numpy.manipulation import atleast_1d, atleast_2d, atleast_3d
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.movement import Axes
from tensorweb.tensor.numpy_calls import check_casting

__all__ = [
    "append",
    "block",
    "c_",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "index_exp",
    "r_",
    "repeat",
    "resize",
    "s_",
    "stack",
    "tile",
    "unstack",
    "vstack",
]


def concatenate(
    arrays: Iterable[ArrayLike],
    /,
    axis: SupportsIndex | None = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Tensor:
    """Return arrays one after another along an axis; flattened first for None.

    Raises:
        ShapeError: there are no arrays, or other axes differ.
        AxisError: the axis does not exist.

    >>> np.concatenate(([[1, 2]], [[3, 4]]))
    tensor([[1, 2],
            [3, 4]])
    >>> np.concatenate(([[1, 2]], [[3, 4]]), axis=None)
    tensor([1, 2, 3, 4])
    """
    found = tw.concat(as_tensors(arrays), axis)
    return _cast("concatenate", found, dtype, casting, out)


def _cast(
    name: str, joined: Tensor, dtype: DTypeLike, casting: str, out: Out
) -> Tensor:
    """Return arrays that were joined in a dtype, or in `out`, by a rule of casting."""
    if dtype is not None and out is not None:
        raise DTypeError(f"{name}: out= has a dtype already; leave dtype= out.")
    target = out[0] if isinstance(out, tuple) else out
    wanted = as_dtype(dtype) if dtype is not None else getattr(target, "dtype", None)
    check_casting(name, joined.dtype, wanted or joined.dtype, casting)
    if wanted is None:
        return joined
    return into(joined.astype(wanted), out)


concat = concatenate


def stack(
    arrays: Iterable[ArrayLike],
    axis: SupportsIndex = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Tensor:
    """Return arrays of equal shape side by side along a new axis.

    Raises:
        ShapeError: there are no arrays, or their shapes differ.

    >>> np.stack([[1, 2], [3, 4]], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """
    found = tw.stack(as_tensors(arrays), axis)
    return _cast("stack", found, dtype, casting, out)


def hstack(
    tup: Iterable[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Tensor:
    """Return arrays side by side: along the second axis, vectors along the first.

    >>> np.hstack(([1, 2], [3]))
    tensor([1, 2, 3])
    """
    parts = [_one(atleast_1d(x)) for x in as_tensors(tup)]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def vstack(
    tup: Iterable[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Tensor:
    """Return arrays on top of each other; vectors are rows.

    >>> np.vstack(([1, 2], [3, 4]))
    tensor([[1, 2],
            [3, 4]])
    """
    rows = [_one(atleast_2d(x)) for x in as_tensors(tup)]
    return concatenate(rows, dtype=dtype, casting=casting)


def dstack(tup: Iterable[ArrayLike]) -> Tensor:
    """Return arrays behind each other, along the third axis.

    >>> np.dstack(([1, 2], [3, 4]))
    tensor([[[1, 3],
             [2, 4]]])
    """
    return concatenate([_one(atleast_3d(x)) for x in as_tensors(tup)], 2)


def column_stack(tup: Iterable[ArrayLike]) -> Tensor:
    """Return vectors as columns of a matrix; matrices side by side.

    >>> np.column_stack(([1, 2], [3, 4]))
    tensor([[1, 3],
            [2, 4]])
    """
    parts = as_tensors(tup)
    return concatenate([x.reshape((-1, 1)) if x.ndim < 2 else x for x in parts], 1)


def _one(x: Tensor | tuple[Tensor, ...]) -> Tensor:
    assert isinstance(x, Tensor), "internal: one array gives one"
    return x


def block(arrays: Any) -> Tensor:
    """Return an array put together from nested lists of blocks.

    The innermost lists are joined along the last axis, those around them along the one
    before, and so on.

    Raises:
        DataError: the lists are not equally deep, one is empty, or one is a tuple.
        ShapeError: the blocks do not fit.

    >>> a = np.ones((2, 2), int)
    >>> np.block([[a, 2 * a], [np.zeros((1, 4), int)]])
    tensor([[1, 1, 2, 2],
            [1, 1, 2, 2],
            [0, 0, 0, 0]])
    """
    depth = _depth(arrays)
    blocks = as_tensors(_blocks(arrays))
    rank = max(depth, *(x.ndim for x in blocks))
    found = _joined(arrays, depth, rank, iter(blocks))
    return found.astype(found.dtype)  # a tensor of its own, of one block too


def _depth(part: Any) -> int:
    if isinstance(part, tuple):
        raise DataError("block: a tuple; nest lists, and give arrays as blocks.")
    if not isinstance(part, list):
        return 0
    depths = {_depth(item) for item in part}
    if len(depths) != 1:
        raise DataError("block: lists are empty or not equally deep; nest all alike.")
    return 1 + depths.pop()


def _blocks(part: Any) -> list[ArrayLike]:
    if isinstance(part, list):
        return [block for item in part for block in _blocks(item)]
    return [part]


def _joined(part: Any, depth: int, rank: int, blocks: Iterator[Tensor]) -> Tensor:
    if depth == 0:
        return array(next(blocks), copy=None, ndmin=rank)
    parts = [_joined(item, depth - 1, rank, blocks) for item in part]
    return concatenate(parts, -depth)


class Joined:
    """Joins what stands between brackets: arrays, numbers and slices as ranges.

    `r_` joins along the first axis, `c_` vectors as columns. A string of one to three
    integers first, `"axis,ndmin,place"`, says it otherwise, as in NumPy.

    >>> np.r_[1:4, 0, [8, 9]]
    tensor([1, 2, 3, 0, 8, 9])
    >>> np.c_[[1, 2], [3, 4]]
    tensor([[1, 3],
            [2, 4]])
    """

    def __init__(self, axis: int, rank: int = 1, place: int = -1) -> None:
        """Join along an axis arrays of at least a rank; vectors lie along `place`."""
        self._usual = (axis, rank, place)

    def __getitem__(self, key: Any) -> Tensor:
        """Return what stands between the brackets, joined."""
        items = list(key) if isinstance(key, tuple) else [key]
        axis, rank, place = self._usual
        if isinstance(items[0], str):
            axis, rank, place = _directive(items.pop(0), self._usual)
        parts = [
            slice_values(item) if isinstance(item, slice) else item for item in items
        ]
        return concatenate([_placed(x, rank, place) for x in as_tensors(parts)], axis)


def _directive(text: str, usual: tuple[int, int, int]) -> tuple[int, int, int]:
    try:
        given = [int(word) for word in text.split(",")]
    except ValueError:
        raise DataError(
            f"r_[{text!r}, …]: matrices are not possible here; give integers, as in "
            "r_['0,2', a, b]."
        ) from None
    axis, rank, place = (*given, *usual[len(given) :])
    return axis, rank, place


def _placed(x: Tensor, rank: int, place: int) -> Tensor:
    """Return a tensor with at least `rank` axes; its own begin at `place`."""
    added = rank - x.ndim
    if added <= 0:
        return x
    start = place + added + 1 if place < 0 else place
    before = min(start, added)
    return x.reshape((*(1,) * before, *x.shape, *(1,) * (added - before)))


r_ = Joined(0)
c_ = Joined(-1, 2, 0)


class IndexExpression:
    """Returns the index that stands between its brackets: `np.s_[1:, ::2]`.

    >>> np.s_[1:3, ..., 0]
    (slice(1, 3, None), Ellipsis, 0)
    """

    def __init__(self, is_tuple: bool) -> None:
        """Return a tuple always, or only of several indices."""
        self._is_tuple = is_tuple

    def __getitem__(self, key: Any) -> Any:
        """Return the index."""
        return (key,) if self._is_tuple and not isinstance(key, tuple) else key


s_ = IndexExpression(is_tuple=False)
index_exp = IndexExpression(is_tuple=True)


def append(
    arr: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Return an array with values behind it; both flattened without an axis.

    >>> np.append([1, 2], [[3, 4]])
    tensor([1, 2, 3, 4])
    """
    return concatenate((arr, values), axis)


def tile(A: ArrayLike, reps: Axes | Tensor) -> Tensor:
    """Return an array repeated as a whole, a number of times along each axis.

    >>> np.tile([1, 2], (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts: Any = reps.tolist() if isinstance(reps, Tensor) else reps
    return asarray(A).tile(counts)


def repeat(
    a: ArrayLike, repeats: ArrayLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Return each element repeated, all equally often or each by its own count.

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
    wanted = as_shape(new_shape)
    length = math.prod(wanted)
    if not x.size:
        if length:
            raise ShapeError(f"resize: nothing to fill shape {wanted} with.")
        return x.reshape(wanted)
    times = -(-length // x.size)
    return x.tile(times)[:length].reshape(wanted)
