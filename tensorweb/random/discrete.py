"""Discrete samples: integers, categories, permutations, elements of a tensor."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, as_dtype, integer_range
from tensorweb.errors import DataError, DTypeError, RangeError, ShapeError
from tensorweb.functions import (
    arange,
    argsort,
    asarray,
    cumulative_sum,
    log,
    minimum,
    remainder,
    searchsorted,
    take,
    take_along_axis,
    where,
    zeros,
)
from tensorweb.nodes.ranges import promise_interval
from tensorweb.public_names import declare_public
from tensorweb.random.arguments import float_dtype, is_whole, parameter
from tensorweb.random.distributions import gumbel, uniform
from tensorweb.random.keys import Lengths, bits, checked_key, random_bits, split
from tensorweb.shapes import Shape, as_shape, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

LOG_OF_WORDS = math.log(2**32 - 1)


def randint(
    key: ArrayLike,
    shape: Lengths,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike = dtypes.DEFAULT_INT,
) -> Tensor:
    """Return uniformly distributed integers in [minval, maxval).

    They are random bits modulo the range; probabilities differ by at most the range
    over 2^32.

    Args:
        key: uint32 of shape (2,).
        shape: of the result; bounds broadcast to it.
        minval: an integer or an integer tensor.
        maxval: an integer or an integer tensor; where a tensor is not above `minval`
            the result is `minval`.
        dtype: of the result, an integer.

    Raises:
        ShapeError: the key has another shape, or the bounds do not broadcast to it.
        DTypeError: the key is no uint32 tensor, or something is no integer.
        RangeError: a bound does not fit the dtype.
        DataError: `minval` is not below `maxval`.

    >>> tw.random.randint(tw.random.key(0), 5, 0, 10)
    tensor([9, 0, 2, 3, 1])
    """
    name = "randint"
    result_dtype = as_dtype(dtype)
    if result_dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: {result_dtype} is no integer dtype; give int32.")
    device = checked_key(name, key).device
    require_dtype(result_dtype, device)
    lengths = as_shape(shape)
    # What has fewer bits is drawn from 32 as well, as in JAX.
    sampled = result_dtype if result_dtype.bits >= 32 else dtypes.DEFAULT_INT
    unsigned = dtypes.BY_NAME[f"uint{sampled.bits}"]
    if is_whole(minval) and is_whole(maxval):
        first, end = operator.index(minval), operator.index(maxval)
        _check_range(first, end, result_dtype)
        offsets = _offsets_of_number(key, lengths, end - first, unsigned)
        result = offsets.astype(result_dtype) + first
        promise_interval(result.node, first, end - 1)
        return result
    like = asarray(0, dtype=sampled, device=device)
    least = parameter(name, "minval", minval, lengths, like)
    most = parameter(name, "maxval", maxval, lengths, like)
    span = where(most > least, (most - least).astype(unsigned), 1)
    offsets = _offsets_of_tensor(key, lengths, span, unsigned)
    return (least + offsets.astype(sampled)).astype(result_dtype)


def _check_range(first: int, end: int, dtype: DType) -> None:
    low, high = integer_range(dtype)
    if not first < end:
        raise DataError(f"randint: minval {first} is not below maxval {end}.")
    if first < low or end > high + 1:
        raise RangeError(
            f"randint: {first} to {end - 1} does not fit {dtype} ({low} to {high}); "
            "give a wider dtype."
        )


def _offsets_of_number(key: ArrayLike, shape: Shape, span: int, dtype: DType) -> Tensor:
    """Return random numbers from 0 to span - 1, in an unsigned dtype.

    The upper word is used if the multiplier, 2^bits modulo the span, is not 0.
    """
    keys = split(key)
    low = random_bits("randint", keys[1], shape, dtype)
    if span == 2**dtype.bits:
        return low
    root = 2 ** (dtype.bits // 2) % span
    multiplier = root * root % 2**dtype.bits % span
    offsets = remainder(low, span)
    if not multiplier:
        return offsets
    high = random_bits("randint", keys[0], shape, dtype)
    return remainder(remainder(high, span) * multiplier + offsets, span)


def _offsets_of_tensor(
    key: ArrayLike, shape: Shape, span: Tensor, dtype: DType
) -> Tensor:
    """Return random numbers from 0 to span - 1 for an unsigned tensor `span`."""
    keys = split(key)
    high, low = (random_bits("randint", keys[i], shape, dtype) for i in range(2))
    half = asarray(2 ** (dtype.bits // 2), dtype=dtype, device=span.device)
    root = remainder(half, span)
    multiplier = remainder(root * root, span)
    return remainder(remainder(high, span) * multiplier + remainder(low, span), span)


def categorical(
    key: ArrayLike,
    logits: ArrayLike,
    axis: SupportsIndex = -1,
    shape: Lengths | None = None,
) -> Tensor:
    """Return categories, drawn with probabilities proportional to `exp(logits)`.

    The result is the argmax of `logits` plus Gumbel noise.

    Args:
        key: uint32 of shape (2,).
        logits: floats; -inf is never drawn.
        axis: the axis of the categories.
        shape: of the result, whose last axes are those of `logits` without `axis`; None
            for these axes alone.

    Returns:
        int32, indices along the axis.

    Raises:
        ShapeError: the key has another shape, there are no categories, or `shape` does
            not end in the other axes of `logits`.
        AxisError: the axis does not exist.
        DTypeError: the key is no uint32 tensor, or `logits` are no floats.

    >>> tw.random.categorical(tw.random.key(0), tw.log([0.1, 0.2, 0.7]), shape=5)
    tensor([1, 2, 2, 1, 2])
    """
    name = "categorical"
    scores = asarray(logits)
    result_dtype = float_dtype(f"{name}: logits", scores.dtype)
    if not scores.shape:
        raise ShapeError(f"{name}: logits are one number; give one for each category.")
    at = normalize_axis(axis, len(scores.shape))
    others = (*scores.shape[:at], *scores.shape[at + 1 :])
    lengths = others if shape is None else as_shape(shape)
    before = lengths[: len(lengths) - len(others)]
    if lengths[len(before) :] != others:
        raise ShapeError(
            f"{name}: shape {lengths} does not end in {others}, the axes of logits "
            f"{scores.shape} without axis {at}."
        )
    if not scores.shape[at]:
        raise ShapeError(f"{name}: logits {scores.shape} have no category to draw.")
    drawn = gumbel(key, (*before, *scores.shape), result_dtype) + scores
    result = drawn.argmax(at + len(before))
    promise_interval(result.node, 0, scores.shape[at] - 1)
    return result


def permutation(
    key: ArrayLike,
    x: ArrayLike,
    axis: SupportsIndex = 0,
    *,
    independent: bool = False,
) -> Tensor:
    """Return a tensor in random order, or a permutation of 0 … x - 1 for an integer.

    Random words are sorted, in as many rounds as equal words require.

    Args:
        key: uint32 of shape (2,).
        x: an integer, or a tensor with axes.
        axis: the axis to permute.
        independent: whether each row along the axis has its own permutation.

    Raises:
        ShapeError: the key has another shape, or `x` is a tensor without axes.
        AxisError: the axis does not exist.
        DTypeError: the key is no uint32 tensor.
        RangeError: `x` is a negative number.

    >>> tw.random.permutation(tw.random.key(0), 6)
    tensor([0, 1, 5, 4, 3, 2])
    """
    name = "permutation"
    device = checked_key(name, key).device
    if is_whole(x):
        count = operator.index(x)
        if count < 0:
            raise RangeError(f"{name}: {count} numbers; give 0 or more.")
        return _order(key, count, device)
    tensor = asarray(x)
    if not tensor.shape:
        raise ShapeError(
            f"{name}: x is a tensor without axes; give a Python number for the numbers "
            "below it."
        )
    at = normalize_axis(axis, len(tensor.shape))
    if independent:
        return _each_row(key, tensor, at)
    return take(tensor, _order(key, tensor.shape[at], device), axis=at)


def _order(key: ArrayLike, count: int, device: str) -> Tensor:
    """Return 0 … count - 1 in random order."""
    order = arange(count, device=device)
    for index, sub in enumerate(_keys_of_rounds(key, count)):
        indices = argsort(bits(sub, (count,)))
        order = take(order, indices) if index else indices
    promise_interval(order.node, 0, max(count - 1, 0))
    return order


def _each_row(key: ArrayLike, x: Tensor, axis: int) -> Tensor:
    """Return a tensor whose rows along an axis are permuted independently."""
    for sub in _keys_of_rounds(key, x.size):
        x = take_along_axis(x, argsort(bits(sub, x.shape), axis=axis), axis=axis)
    return x


def _keys_of_rounds(key: ArrayLike, count: int) -> list[Tensor]:
    """Return one key per round of sorting by random words.

    32-bit words may be equal, and equal ones retain their order; after these rounds it
    is unlikely that two elements had equal words in all of them.
    """
    round_keys = []
    for _ in range(math.ceil(3 * math.log(max(1, count)) / LOG_OF_WORDS)):
        keys = split(key)
        key = keys[0]
        round_keys.append(keys[1])
    return round_keys


def choice(
    key: ArrayLike,
    a: ArrayLike,
    shape: Lengths = (),
    replace: bool = True,
    p: ArrayLike = None,
    axis: SupportsIndex = 0,
) -> Tensor:
    """Return random elements of a tensor, or of the integers below `a`.

    Args:
        key: uint32 of shape (2,).
        a: an integer, or a tensor with axes.
        shape: of the draws; it replaces the axis.
        replace: whether an element may be drawn again.
        p: the elements' probabilities, floats of shape (n,) with sum 1; None for
            uniform.
        axis: the axis of the elements.

    Raises:
        ShapeError: the key or `p` has another shape, or there is nothing to draw.
        AxisError: the axis does not exist.
        DTypeError: the key is no uint32 tensor, or `p` no floats.
        DataError: more is to be drawn than there is, without `replace`.

    >>> tw.random.choice(tw.random.key(0), tw.asarray([10, 20, 30, 40]), (3,))
    tensor([20, 10, 10])
    """
    name = "choice"
    device = checked_key(name, key).device
    lengths = as_shape(shape)
    source = None if is_whole(a) else asarray(a)
    if source is not None and not source.shape:
        raise ShapeError(f"{name}: a is a tensor without axes; give a Python number.")
    at = 0 if source is None else normalize_axis(axis, len(source.shape))
    n = operator.index(a) if source is None else source.shape[at]  # type: ignore[arg-type]  # an integer, as checked
    count = math.prod(lengths)
    if n <= 0 and count:
        raise ShapeError(f"{name}: there is nothing to draw from, {n} elements.")
    if not replace and count > n:
        raise DataError(
            f"{name}: {count} of {n} elements without replacement; give replace=True, "
            "or a smaller shape."
        )
    indices = _drawn_indices(key, n, lengths, replace, p, device)
    return indices if source is None else take(source, indices, axis=at)


def _drawn_indices(
    key: ArrayLike,
    n: int,
    shape: tuple[int, ...],
    replace: bool,
    p: ArrayLike,
    device: str,
) -> Tensor:
    """Return drawn indices from 0 to n - 1."""
    count = math.prod(shape)
    if not count:
        indices = zeros(shape, dtype=dtypes.DEFAULT_INT, device=device)
    elif p is None and replace:
        indices = randint(key, shape, 0, n)
    elif p is None:
        indices = _order(key, n, device)[:count].reshape(shape)
    else:
        indices = _weighted(key, n, shape, replace, _chances(p, n, device))
    promise_interval(indices.node, 0, max(n - 1, 0))
    return indices


def _chances(p: ArrayLike, n: int, device: str) -> Tensor:
    chances = asarray(p, device=None if isinstance(p, Tensor) else device)
    if chances.dtype.kind != "float":
        raise DTypeError(f"choice: p is of {chances.dtype}; give floats.")
    if chances.shape != (n,):
        raise ShapeError(
            f"choice: p has shape {chances.shape}; give one number for each of the {n} "
            "elements."
        )
    return chances


def _weighted(
    key: ArrayLike, n: int, shape: tuple[int, ...], replace: bool, chances: Tensor
) -> Tensor:
    """Return indices drawn with given probabilities."""
    if replace:
        sums = cumulative_sum(chances)
        level = sums[-1] * (1 - uniform(key, shape, chances.dtype))
        # NaN among the chances is above all sums.
        return minimum(searchsorted(sums, level), n - 1)
    scores = gumbel(key, (n,), chances.dtype) + log(chances)
    order = argsort(scores, descending=True)
    return order[: math.prod(shape)].reshape(shape)


declare_public(__name__)
