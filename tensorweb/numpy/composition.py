"""How numbers are made up: fractions and exponents, bits, common divisors."""

from __future__ import annotations

import math

from tensorweb import functions as tw
from tensorweb.dtypes import BY_NAME, DType, finfo
from tensorweb.errors import DTypeError
from tensorweb.numpy.arguments import as_floats, as_pair, as_real_floats, as_tensors
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "bitwise_count",
    "frexp",
    "gcd",
    "lcm",
    "ldexp",
    "modf",
    "spacing",
]


def _integers(name: str, x1: ArrayLike, x2: ArrayLike) -> tuple[Tensor, Tensor]:
    a, b = as_pair(x1, x2)
    if a.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: operands are {a.dtype}; they must be integers.")
    return a, b


def _sizes(name: str, x1: ArrayLike, x2: ArrayLike) -> tuple[Tensor, Tensor, DType]:
    """Return absolute values, unsigned as no least integer has one, and the dtype."""
    a, b = _integers(name, x1, x2)
    unsigned = BY_NAME[f"uint{a.dtype.bits}"]
    return tw.abs(a).astype(unsigned), tw.abs(b).astype(unsigned), a.dtype


def _common_divisor(a: Tensor, b: Tensor) -> Tensor:
    """Return the greatest common divisor of unsigned integers, by Euclid."""
    a, b = tw.broadcast_arrays(a, b)
    while tw.any(b):
        rest = tw.remainder(a, tw.maximum(b, 1))
        a, b = tw.where(b == 0, a, b), tw.where(b == 0, b, rest)
    return a


def gcd(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the greatest common divisor of two integers; looks at values.

    Each step of Euclid's algorithm reads from the device whether it was the last.

    Raises:
        DTypeError: an operand is no integer.

    >>> np.gcd([12, 18, 0], [18, 27, 5])
    tensor([6, 9, 5])
    """
    a, b, dtype = _sizes("gcd", x1, x2)
    return _common_divisor(a, b).astype(dtype)


def lcm(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the least common multiple of two integers; looks at values, as `gcd`.

    Raises:
        DTypeError: an operand is no integer.

    >>> np.lcm([4, 6, 0], [6, 9, 5])
    tensor([12, 18,  0])
    """
    a, b, dtype = _sizes("lcm", x1, x2)
    return (tw.floor_divide(a, tw.maximum(_common_divisor(a, b), 1)) * b).astype(dtype)


def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 * 2**x2` for whole `x2`.

    >>> np.ldexp([1.0, 3.0], [2, -1])
    tensor([4. , 1.5])
    """
    x, exponent = as_tensors((x1, x2))
    a = as_real_floats("ldexp", x)
    if exponent.dtype.kind != "float":
        exponent = exponent.astype(int)
    # No third of an exponent is infinite, nor 0; three of them are enough for any a.
    least = round(math.log2(finfo(a.dtype).smallest_normal))
    exponent = tw.clip(exponent, 3 * least, -3 * least)
    third = tw.floor_divide(exponent, 3)
    factor, last = (tw.exp2(x.astype(a.dtype)) for x in (third, exponent - 2 * third))
    return a * factor * factor * last


def frexp(x: ArrayLike, /) -> tuple[Tensor, Tensor]:
    """Return fractions from 0.5 up to 1 and the powers of 2 that they are times.

    >>> np.frexp([8.0, 0.0, -3.0])
    (tensor([ 0.5 ,  0.  , -0.75]), tensor([4, 0, 2]))
    """
    a = as_floats(x)
    ordinary = tw.logical_and(a != 0, tw.isfinite(a))
    size = tw.where(ordinary, tw.abs(a), 0.5)
    power = tw.floor(tw.log2(size)) + 1
    fraction = ldexp(size, -power)
    # The logarithm beside a power of two may be rounded to it.
    power = tw.where(fraction >= 1, power + 1, power)
    power = tw.where(fraction < 0.5, power - 1, power)
    found = tw.copysign(ldexp(size, -power), a)
    exponent = tw.where(ordinary, power, 0.0).astype(int)
    return tw.where(ordinary, found, a), exponent


def modf(x: ArrayLike, /) -> tuple[Tensor, Tensor]:
    """Return fractions and whole parts, both with the sign of `x`.

    >>> np.modf([1.5, -2.25])
    (tensor([ 0.5 , -0.25]), tensor([ 1., -2.]))
    """
    a = as_floats(x)
    whole = tw.trunc(a)
    return tw.copysign(tw.where(tw.isinf(a), 0.0, a - whole), a), whole


def spacing(x: ArrayLike, /) -> Tensor:
    """Return the distance to the next float away from zero.

    >>> np.spacing(1.0) == np.finfo(np.float32).eps
    tensor(True)
    """
    a = as_floats(x)
    away = tw.where(tw.signbit(a), -math.inf, math.inf)
    return tw.nextafter(a, away.astype(a.dtype)) - a


def bitwise_count(x: ArrayLike, /) -> Tensor:
    """Return how many bits of the absolute value are set, as int32.

    Raises:
        DTypeError: an element is no integer.

    >>> np.bitwise_count([7, 8, -3])
    tensor([3, 1, 2])
    """
    given = tw.asarray(x)
    if given.dtype.kind == "bool":
        return given.astype(int)
    rest, _, _ = _sizes("bitwise_count", given, given)
    count = tw.zeros_like(rest)
    for _ in range(rest.dtype.bits):
        count = count + tw.bitwise_and(rest, 1)
        rest = tw.bitwise_right_shift(rest, 1)
    return count.astype(int)
