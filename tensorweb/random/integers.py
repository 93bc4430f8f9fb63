"""Random integers in a range."""

from __future__ import annotations

import operator

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, as_dtype, integer_range
from tensorweb.errors import DataError, DTypeError, RangeError
from tensorweb.functions import asarray, remainder, where
from tensorweb.nodes.ranges import promise_interval
from tensorweb.random.arguments import is_whole, parameter
from tensorweb.random.keys import Lengths, random_bits, split, words_of_key
from tensorweb.shapes import Shape, as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


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
    wanted = as_dtype(dtype)
    if wanted.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: {wanted} is no integer dtype; give int32.")
    high, _ = words_of_key(name, key)
    require_dtype(wanted, high.device)
    lengths = as_shape(shape)
    # What has fewer bits is drawn from 32 as well, as in JAX.
    sampled = wanted if wanted.bits >= 32 else dtypes.DEFAULT_INT
    unsigned = dtypes.BY_NAME[f"uint{sampled.bits}"]
    if is_whole(minval) and is_whole(maxval):
        first, end = operator.index(minval), operator.index(maxval)
        _check_range(first, end, wanted)
        offsets = _offsets_of_number(key, lengths, end - first, unsigned)
        found = offsets.astype(wanted) + first
        promise_interval(found.node, first, end - 1)
        return found
    like = asarray(0, dtype=sampled, device=high.device)
    least = parameter(name, "minval", minval, lengths, like)
    most = parameter(name, "maxval", maxval, lengths, like)
    span = where(most > least, (most - least).astype(unsigned), 1)
    offsets = _offsets_of_tensor(key, lengths, span, unsigned)
    return (least + offsets.astype(sampled)).astype(wanted)


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
