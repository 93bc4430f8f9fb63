"""Counts, sums, extremes and weights by group: `bincount` and `segment_…`.

Groups are numbers 0, 1, …; elements of a group need not be neighbours. Each function is
`x.at[groups]` on a tensor of the values that change nothing, and as exact as that.
"""

from __future__ import annotations

import operator
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import as_device
from tensorweb.dtypes import DType, integer_range
from tensorweb.errors import DTypeError, RangeError, ShapeError
from tensorweb.functions.creation import asarray, full, zeros
from tensorweb.functions.elementwise import exp, maximum
from tensorweb.functions.searching import take
from tensorweb.lookups import ends_within, extremes
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, device_of
from tensorweb.tensor.indexing import index_node


def bincount(
    x: ArrayLike, /, weights: ArrayLike | None = None, minlength: SupportsIndex = 0
) -> Tensor:
    """Return how often each of 0, 1, … occurs in a 1-D tensor of integers.

    The result has `max(x) + 1` elements, at least `minlength`; it is int32. With
    `weights`, as many as `x` has elements, it has the sums of the weights of each
    number, in their dtype where that is a float and in float32 else. How long the
    result is has to be read from the device.

    Raises:
        ShapeError: `x` or `weights` is not 1-D, or their lengths differ.
        DTypeError: `x` is not made of integers.
        RangeError: a number or `minlength` is negative.

    >>> tw.bincount([1, 3, 1, 1])
    tensor([0, 3, 0, 1])
    >>> tw.bincount([1, 3, 1], weights=[0.5, 2.0, 0.25], minlength=5)
    tensor([0.  , 0.75, 0.  , 2.  , 0.  ])
    """
    numbers = _numbers(x, device_of(x, weights))
    if len(numbers.shape) != 1:
        raise ShapeError(f"bincount: x has shape {numbers.shape}; flatten it to 1-D.")
    least = operator.index(minlength)
    if least < 0:
        raise RangeError(f"bincount: minlength is {least}; it is 0 or more.")
    length = max(_count("bincount", "x", numbers), least)
    if weights is None:
        empty = zeros(length, dtype=dtypes.int32, device=numbers.device)
        return empty.at[numbers].add(1)
    values = asarray(weights, device=numbers.device)
    if values.shape != numbers.shape:
        raise ShapeError(
            f"bincount: weights of shape {values.shape} for x of shape "
            f"{numbers.shape}; give one weight for each number."
        )
    dtype = values.dtype if values.dtype.kind == "float" else dtypes.DEFAULT_FLOAT
    return zeros(length, dtype=dtype, device=numbers.device).at[numbers].add(values)


def segment_sum(
    data: ArrayLike,
    segment_ids: ArrayLike,
    /,
    num_segments: SupportsIndex | None = None,
) -> Tensor:
    """Return the sums of the slices of the first axis that belong to each segment.

    Slice `data[i]` belongs to segment `segment_ids[i]`. Shapes `(n, …)` and `(n,)` give
    `(num_segments, …)`; the dtype is that of `data`, int32 for bool. A segment without
    slices gives 0. Without `num_segments` there are as many as the largest number
    needs, which has to be read from the device.

    Raises:
        ShapeError: `segment_ids` is not 1-D or not as long as the first axis.
        DTypeError: `segment_ids` is not made of integers.
        RangeError: a number is negative.
        TensorIndexError: a number is not below `num_segments`.

    >>> tw.segment_sum([1, 2, 3, 4], [0, 2, 0, 2], 4)
    tensor([4, 0, 6, 0])
    >>> tw.segment_sum([[1, 2], [3, 4], [5, 6]], [1, 0, 1])
    tensor([[3, 4],
            [6, 8]])
    """
    values, ids, count = _segments("segment_sum", data, segment_ids, num_segments)
    if values.dtype.kind == "bool":
        values = values.astype(dtypes.DEFAULT_INT)
    shape = (count, *values.shape[1:])
    empty = zeros(shape, dtype=values.dtype, device=values.device)
    return empty.at[ids].add(values)


def segment_max(
    data: ArrayLike,
    segment_ids: ArrayLike,
    /,
    num_segments: SupportsIndex | None = None,
) -> Tensor:
    """Return the largest value of each segment, as `segment_sum` does the sums.

    A segment without slices gives the least value of the dtype, -inf for floats.

    >>> tw.segment_max([1.0, 7.0, 3.0, 4.0], [0, 2, 0, 2])
    tensor([  3., -inf,   7.])
    """
    values, ids, count = _segments("segment_max", data, segment_ids, num_segments)
    shape = (count, *values.shape[1:])
    least = _limits(values.dtype)[0]
    empty = full(shape, least, dtype=values.dtype, device=values.device)
    return empty.at[ids].max(values)


def segment_min(
    data: ArrayLike,
    segment_ids: ArrayLike,
    /,
    num_segments: SupportsIndex | None = None,
) -> Tensor:
    """Return the smallest value of each segment, as `segment_sum` does the sums.

    A segment without slices gives the greatest value of the dtype, inf for floats.

    >>> tw.segment_min([1, 7, 3, 4], [0, 1, 0, 1])
    tensor([1, 4])
    """
    values, ids, count = _segments("segment_min", data, segment_ids, num_segments)
    shape = (count, *values.shape[1:])
    greatest = _limits(values.dtype)[1]
    empty = full(shape, greatest, dtype=values.dtype, device=values.device)
    return empty.at[ids].min(values)


def segment_mean(
    data: ArrayLike,
    segment_ids: ArrayLike,
    /,
    num_segments: SupportsIndex | None = None,
) -> Tensor:
    """Return the mean of each segment, as `segment_sum` does the sums.

    A segment without slices gives 0. Integers have a float32 mean.

    >>> tw.segment_mean([1.0, 2.0, 3.0, 4.0], [0, 2, 0, 2])
    tensor([2., 0., 3.])
    """
    values, ids, count = _segments("segment_mean", data, segment_ids, num_segments)
    if values.dtype.kind not in ("float", "complex"):
        values = values.astype(dtypes.DEFAULT_FLOAT)
    sums = segment_sum(values, ids, count)
    sizes = zeros(count, dtype=dtypes.int32, device=values.device).at[ids].add(1)
    sizes = maximum(sizes, 1).astype(values.dtype.part)
    return sums / sizes.reshape((count, *[1] * (values.ndim - 1)))


def segment_softmax(
    logits: ArrayLike,
    segment_ids: ArrayLike,
    /,
    num_segments: SupportsIndex | None = None,
) -> Tensor:
    """Return the softmax within each segment of the first axis, as graph networks do.

    Shapes `(n, …)` and `(n,)` give `(n, …)`; the values of a segment sum up to 1. The
    largest value of each segment is subtracted first.

    Args:
        logits: floats, the slices to weight.
        segment_ids: the segment of each slice.
        num_segments: count of segments; None for as many as the ids need.

    Raises:
        ShapeError: `segment_ids` is not 1-D or not as long as the first axis.
        DTypeError: `logits` are no floats, or `segment_ids` no integers.
        RangeError: a number is negative.
        TensorIndexError: a number is not below `num_segments`.

    >>> tw.segment_softmax([0.0, 0.0, 1e4, 0.0], [0, 0, 1, 1])
    tensor([0.5, 0.5, 1. , 0. ])
    """
    values, ids, count = _segments("segment_softmax", logits, segment_ids, num_segments)
    if values.dtype.kind != "float":
        raise DTypeError(
            f"segment_softmax: logits are {values.dtype}; convert them with "
            "astype(tw.float32)."
        )
    largest = segment_max(values.detach(), ids, count)
    powers = exp(values - take(largest, ids, axis=0))
    return powers / take(segment_sum(powers, ids, count), ids, axis=0)


def _segments(
    name: str,
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: SupportsIndex | None,
) -> tuple[Tensor, Tensor, int]:
    """Return checked operands and how many segments there are."""
    values = asarray(data, device=device_of(data, segment_ids))
    ids = _numbers(segment_ids, values.device)
    if len(ids.shape) != 1 or ids.shape != values.shape[:1]:
        raise ShapeError(
            f"{name}: segment_ids of shape {ids.shape} for data of shape "
            f"{values.shape}; give one number for each slice of the first axis."
        )
    if num_segments is None:
        return values, ids, _count(name, "segment_ids", ids)
    count = operator.index(num_segments)
    if count < 0:
        raise RangeError(f"{name}: num_segments is {count}; it is 0 or more.")
    _count(name, "segment_ids", ids, most=count - 1)
    return values, ids, count


def _numbers(numbers: ArrayLike, device: str | None) -> Tensor:
    """Return numbers of groups as indices are taken: int64 arrays become int32."""
    return Tensor(index_node(numbers, as_device(device)))


def _count(name: str, argument: str, numbers: Tensor, most: int | None = None) -> int:
    """Return the largest number and one more; refuse negative ones.

    With `most` any number up to that may be meant, and nobody looks for the largest.
    """
    if not numbers.size:
        return 0
    if numbers.dtype.kind not in ("int", "uint"):
        raise DTypeError(
            f"{name}: {argument} is {numbers.dtype}; it is made of integers, so "
            "convert it with astype(tw.int32)."
        )
    node = numbers.node
    if most is None:
        low, high = extremes(node)
    else:
        low, high = ends_within(node, 0, most, f"{most + 1} segments")
    if low < 0:
        raise RangeError(f"{name}: {argument} has {low}; numbers of groups begin at 0.")
    return high + 1


def _limits(dtype: DType) -> tuple[float, float]:
    """Return the least and the greatest value of a dtype."""
    if dtype.kind == "bool":
        return False, True
    if dtype.kind == "float":
        return -float("inf"), float("inf")
    return integer_range(dtype)


declare_public(__name__)
