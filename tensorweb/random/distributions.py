"""Floating-point and Boolean samples, computed from random bits as in JAX."""

from __future__ import annotations

import math

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, finfo, rounded_to
from tensorweb.errors import DataError
from tensorweb.functions import (
    asarray,
    erf,
    erfinv,
    log,
    log1p,
    maximum,
    minimum,
    nextafter,
)
from tensorweb.public_names import declare_public
from tensorweb.random.arguments import (
    finite_number,
    float_dtype,
    parameter,
    plain_number,
)
from tensorweb.random.keys import (
    WORD,
    Lengths,
    checked_key,
    random_bits,
    random_words,
)
from tensorweb.shapes import Shape, as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, is_scalar
from tensorweb.transforms.custom import stop_gradient

ROOT_OF_TWO = math.sqrt(2)


def uniform(
    key: ArrayLike,
    shape: Lengths = (),
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
) -> Tensor:
    """Return uniformly distributed numbers in [minval, maxval).

    They are `k / 2^23 * (maxval - minval) + minval` for a random `k` of 23 bits, 52 in
    float64, 10 in float16 and 7 in bfloat16.

    Args:
        key: uint32 of shape (2,).
        shape: of the result; bounds broadcast to it.
        dtype: of the result, a float.
        minval: a number or a tensor.
        maxval: a number or a tensor.

    Raises:
        ShapeError: the key has another shape, or the bounds do not broadcast to it.
        DTypeError: the key is no uint32 tensor, or the dtype no float.
        DataError: `minval` is above `maxval`, or one is not finite.

    >>> tw.random.uniform(tw.random.key(0), 3)
    tensor([0.947667  , 0.9785799 , 0.33229148])
    """
    result_dtype = float_dtype("uniform", dtype)
    lengths = as_shape(shape)
    if is_scalar(minval) and is_scalar(maxval):
        low = finite_number("uniform: minval", minval)
        high = finite_number("uniform: maxval", maxval)
        if low > high:
            raise DataError(f"uniform: minval {low} is above maxval {high}.")
    return uniform_between("uniform", key, lengths, result_dtype, minval, maxval)


def uniform_between(
    name: str,
    key: ArrayLike,
    shape: Shape,
    dtype: DType,
    minval: ArrayLike,
    maxval: ArrayLike,
) -> Tensor:
    """Return `fraction * (maxval - minval) + minval`, never below `minval`."""
    fractions = _fractions_of(name, key, shape, dtype)
    if is_scalar(minval) and is_scalar(maxval):
        low = rounded_to(finite_number(name, minval), dtype)
        span = rounded_to(rounded_to(finite_number(name, maxval), dtype) - low, dtype)
        if (low, span) == (0.0, 1.0):
            return fractions
        return maximum(fractions * span + low, low)
    first = parameter(name, "minval", minval, shape, fractions)
    last = parameter(name, "maxval", maxval, shape, fractions)
    return maximum(fractions * (last - first) + first, first)


def _fractions_of(name: str, key: ArrayLike, shape: Shape, dtype: DType) -> Tensor:
    """Return exact multiples of 2^-23 (float32) in [0, 1)."""
    device = checked_key(name, key).device
    require_dtype(dtype, device)
    if dtype.bits == 64:
        first, second = random_words(name, key, shape)
        tail = (second >> 12).astype(dtype) * 2.0**-52
        return first.astype(dtype) * 2.0**-32 + tail
    words = random_bits(name, key, shape, WORD)
    digits = finfo(dtype).nmant
    bits = 8 if digits < 8 else dtype.bits  # as in JAX
    words = words & (2**bits - 1) if bits < 32 else words
    return (words >> (bits - digits)).astype(dtype) * 2.0**-digits


def normal(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
) -> Tensor:
    """Return samples of the standard normal distribution.

    They are `sqrt(2) erfinv(u)` for `u` uniform in (-1, 1).

    Args:
        key: uint32 of shape (2,).
        shape: of the result.
        dtype: of the result, a float.

    Raises:
        ShapeError: the key has another shape.
        DTypeError: the key is no uint32 tensor, or the dtype no float.

    >>> tw.round(100 * tw.random.normal(tw.random.key(0), 3))
    tensor([162., 203., -43.])
    """
    result_dtype = float_dtype("normal", dtype)
    fractions = _fractions_of("normal", key, as_shape(shape), result_dtype)
    # 2 f - 1 and half a step: symmetric around 0, never -1 or 1, and exact.
    symmetric = fractions * 2.0 - (1.0 - finfo(result_dtype).eps / 2)
    return erfinv(symmetric) * ROOT_OF_TWO


def truncated_normal(
    key: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return samples of the normal distribution in the open interval (lower, upper).

    They are `sqrt(2) erfinv(u)` for `u` uniform from `erf(lower / sqrt(2))` to
    `erf(upper / sqrt(2))`.

    Args:
        key: uint32 of shape (2,).
        lower: a number or a tensor.
        upper: a number or a tensor.
        shape: of the result, to which the bounds broadcast; None for their common
            shape.
        dtype: of the result, a float.

    Raises:
        ShapeError: the key has another shape, or the bounds do not broadcast to it.
        DTypeError: the key is no uint32 tensor, or the dtype no float.
        DataError: `lower` is not below `upper`.

    >>> tw.round(100 * tw.random.truncated_normal(tw.random.key(0), -1.0, 1.0, 3))
    tensor([ 86.,  94., -29.])
    """
    name = "truncated_normal"
    result_dtype = float_dtype(name, dtype)
    device = checked_key(name, key).device
    bounds = [
        asarray(x, dtype=result_dtype, device=device) if is_scalar(x) else asarray(x)
        for x in (lower, upper)
    ]
    common = broadcast_shapes(*[value.shape for value in bounds])
    lengths = common if shape is None else as_shape(shape)
    if is_scalar(lower) and is_scalar(upper):
        least = plain_number(f"{name}: lower", lower)
        most = plain_number(f"{name}: upper", upper)
        if not least < most:
            raise DataError(f"{name}: lower {least} is not below upper {most}.")
        ends: list[ArrayLike] = [math.erf(x / ROOT_OF_TWO) for x in (least, most)]
    else:
        bounds = [
            parameter(name, what, each, lengths, each.astype(result_dtype))
            for what, each in zip(("lower", "upper"), bounds, strict=True)
        ]
        ends = [erf(bound * (1 / ROOT_OF_TWO)) for bound in bounds]
    values = (
        erfinv(uniform_between(name, key, lengths, result_dtype, *ends)) * ROOT_OF_TWO
    )
    inner = [
        nextafter(stop_gradient(each), toward)
        for each, toward in zip(bounds, (math.inf, -math.inf), strict=True)
    ]
    return minimum(maximum(values, inner[0]), inner[1])


def exponential(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
) -> Tensor:
    """Return samples of the exponential distribution of mean 1: `-log(1 - u)`.

    `u` is uniform in [0, 1).

    Args:
        key: uint32 of shape (2,).
        shape: of the result.
        dtype: of the result, a float.

    Raises:
        ShapeError: the key has another shape.
        DTypeError: the key is no uint32 tensor, or the dtype no float.

    >>> tw.round(100 * tw.random.exponential(tw.random.key(0), 3))
    tensor([295., 384.,  40.])
    """
    result_dtype = float_dtype("exponential", dtype)
    return -log1p(-_fractions_of("exponential", key, as_shape(shape), result_dtype))


def gumbel(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
) -> Tensor:
    """Return samples of the standard Gumbel distribution: `-log(-log(u))`.

    `u` is uniform, at least the smallest normal number of the dtype.

    Args:
        key: uint32 of shape (2,).
        shape: of the result.
        dtype: of the result, a float.

    Raises:
        ShapeError: the key has another shape.
        DTypeError: the key is no uint32 tensor, or the dtype no float.

    >>> tw.round(100 * tw.random.gumbel(tw.random.key(0), 3))
    tensor([292., 383., -10.])
    """
    result_dtype = float_dtype("gumbel", dtype)
    least = finfo(result_dtype).smallest_normal
    u = uniform_between("gumbel", key, as_shape(shape), result_dtype, least, 1.0)
    return -log(-log(u))


def bernoulli(
    key: ArrayLike, p: ArrayLike = 0.5, shape: Lengths | None = None
) -> Tensor:
    """Return True with probability `p`: whether a uniform sample is below `p`.

    Args:
        key: uint32 of shape (2,).
        p: a number, or a floating-point tensor.
        shape: of the result, to which `p` broadcasts; None for the shape of `p`.

    Raises:
        ShapeError: the key has another shape, or `p` does not broadcast to it.
        DTypeError: the key is no uint32 tensor, or `p` no float.
        DataError: `p` is a number below 0 or above 1.

    >>> tw.random.bernoulli(tw.random.key(0), 0.5, 4)
    tensor([False, False,  True,  True])
    """
    name = "bernoulli"
    if is_scalar(p):
        chance = finite_number(f"{name}: p", p)
        if not 0 <= chance <= 1:
            raise DataError(f"{name}: p is {chance}; a probability is from 0 to 1.")
        lengths = as_shape(() if shape is None else shape)
        return _fractions_of(name, key, lengths, dtypes.DEFAULT_FLOAT) < chance
    chances = asarray(p)
    result_dtype = float_dtype(f"{name}: p", chances.dtype)
    lengths = chances.shape if shape is None else as_shape(shape)
    fractions = _fractions_of(name, key, lengths, result_dtype)
    return fractions < parameter(name, "p", chances, lengths, fractions)


declare_public(__name__, hidden="uniform_between")
