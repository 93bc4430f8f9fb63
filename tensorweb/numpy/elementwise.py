"""Elementwise functions under NumPy's names.

They take operands only; ufuncs.py adds `out=`, `where=` and `dtype=`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.dtypes import BY_NAME, DType, finfo
from tensorweb.errors import DTypeError
from tensorweb.numpy.arguments import as_floats, as_pair, as_real_floats, as_tensors
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def fabs(x: ArrayLike, /) -> Tensor:
    """Return the absolute value of each element, as a float.

    >>> np.fabs([-1, 2])
    tensor([1., 2.])
    """
    return tw.abs(as_real_floats("fabs", x))


def rint(x: ArrayLike, /) -> Tensor:
    """Return the nearest integer, halves to even, as a float.

    >>> np.rint([0.5, 1.5, -1.7])
    tensor([ 0.,  2., -2.])
    """
    return tw.round(as_floats(x))


def deg2rad(x: ArrayLike, /) -> Tensor:
    """Convert angles from degrees to radians.

    >>> np.deg2rad([0.0, 90.0, 180.0])
    tensor([0.       , 1.5707964, 3.1415927])
    """
    return as_real_floats("deg2rad", x) * (math.pi / 180)


def rad2deg(x: ArrayLike, /) -> Tensor:
    """Convert angles from radians to degrees.

    >>> np.rad2deg([0.0, np.pi])
    tensor([  0., 180.])
    """
    return as_real_floats("rad2deg", x) * (180 / math.pi)


def fmax(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the larger of two elements; the other one where one is NaN.

    >>> np.fmax([1.0, np.nan], [0.0, 2.0])
    tensor([1., 2.])
    """
    return _ignore_nan(tw.maximum, x1, x2)


def fmin(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the smaller of two elements; the other one where one is NaN.

    >>> np.fmin([1.0, np.nan], [0.0, 2.0])
    tensor([0., 2.])
    """
    return _ignore_nan(tw.minimum, x1, x2)


def _ignore_nan(
    function: Callable[[Tensor, Tensor], Tensor], x1: ArrayLike, x2: ArrayLike
) -> Tensor:
    """Return `function(x1, x2)`; where one operand is NaN, the other operand."""
    a, b = as_pair(x1, x2)
    result = function(a, b)
    if a.dtype.kind != "float":
        return result
    return tw.where(tw.isnan(a), b, tw.where(tw.isnan(b), a, result))


def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the remainder of division rounded towards zero, with the sign of `x1`.

    >>> np.fmod([-3, 3], 2), np.remainder([-3, 3], 2)
    (tensor([-1,  1]), tensor([1, 1]))
    """
    a, b = as_pair(x1, x2)
    if a.dtype.kind == "float":  # The absolute value has no derivative at 0.
        size = tw.where(tw.signbit(a), -a, a)
        return tw.copysign(tw.remainder(size, tw.abs(b)), a)
    remainder = tw.remainder(tw.abs(a), tw.abs(b))
    return (
        remainder if a.dtype.kind == "uint" else tw.where(a < 0, -remainder, remainder)
    )


def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Tensor, Tensor]:
    """Return `floor_divide` and `remainder` at once.

    >>> np.divmod([7, -7], 3)
    (tensor([ 2, -3]), tensor([1, 2]))
    """
    return tw.floor_divide(x1, x2), tw.remainder(x1, x2)


def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1` to the power `x2` as floats, so that 2 to the power -1 is 0.5.

    The dtype is at least float32, also of float16.

    >>> np.float_power(2, [-1, 2])
    tensor([0.5, 4. ])
    """
    x, y = as_pair(x1, x2)
    wide = tw.result_type(x, y, dtypes.DEFAULT_FLOAT)
    return tw.pow(x.astype(wide), y.astype(wide))


def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return 0 below zero, 1 above, and `x2` at zero; NaN stays NaN.

    >>> np.heaviside([-1.5, 0.0, 2.0], 0.5)
    tensor([0. , 0.5, 1. ])
    """
    a, b = (as_floats(x) for x in as_pair(x1, x2))
    step = tw.where(a == 0, b, tw.where(a > 0, 1.0, 0.0))
    return tw.where(tw.isnan(a), a, step)


def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `log2(2**x1 + 2**x2)` without overflow.

    >>> np.logaddexp2(3.0, 3.0)
    tensor(4.)
    """
    a, b = (as_floats(x) for x in as_pair(x1, x2))
    # Not maximum and minimum, whose derivatives at ties are a half for each.
    is_first = tw.logical_or(a >= b, tw.isnan(a))
    high, low = tw.where(is_first, a, b), tw.where(is_first, b, a)
    is_infinite = tw.logical_and(high == low, tw.isinf(high))
    gap = tw.where(is_infinite, 0.0, low - high)
    return high + tw.log1p(tw.exp2(gap)) * (1 / math.log(2))


def reciprocal(x: ArrayLike, /) -> Tensor:
    """Return `1 / x`; of integers its integer part, which is 0 except for 1 and -1.

    Of the integer 0 it is 0, of bool a float.

    >>> np.reciprocal([2.0, 4.0]), np.reciprocal([1, -1, 5])
    (tensor([0.5 , 0.25]), tensor([ 1, -1,  0]))
    """
    a = tw.asarray(x)
    if a.dtype.kind in ("int", "uint"):
        return tw.where(tw.abs(a) == 1, a, 0)
    return tw.reciprocal(a)


def _absolute_pair(
    name: str, x1: ArrayLike, x2: ArrayLike
) -> tuple[Tensor, Tensor, DType]:
    """Return absolute values in an unsigned dtype, and the dtype of the operands.

    Raises:
        DTypeError: an operand is no integer.
    """
    a, b = as_pair(x1, x2)
    if a.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: operands are {a.dtype}; they must be integers.")
    unsigned = BY_NAME[f"uint{a.dtype.bits}"]
    return tw.abs(a).astype(unsigned), tw.abs(b).astype(unsigned), a.dtype


def _greatest_common_divisor(a: Tensor, b: Tensor) -> Tensor:
    """Return the greatest common divisor of unsigned integers, by Euclid."""
    a, b = tw.broadcast_arrays(a, b)
    while tw.any(b):
        remainder = tw.remainder(a, tw.maximum(b, 1))
        a, b = tw.where(b == 0, a, b), tw.where(b == 0, b, remainder)
    return a


def gcd(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the greatest common divisor of two integers; reads values.

    Each step of Euclid's algorithm reads from the device whether it was the last.

    Raises:
        DTypeError: an operand is no integer.

    >>> np.gcd([12, 18, 0], [18, 27, 5])
    tensor([6, 9, 5])
    """
    a, b, dtype = _absolute_pair("gcd", x1, x2)
    return _greatest_common_divisor(a, b).astype(dtype)


def lcm(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the least common multiple of two integers; reads values, as `gcd` does.

    Raises:
        DTypeError: an operand is no integer.

    >>> np.lcm([4, 6, 0], [6, 9, 5])
    tensor([12, 18,  0])
    """
    a, b, dtype = _absolute_pair("lcm", x1, x2)
    divisor = tw.maximum(_greatest_common_divisor(a, b), 1)
    return (tw.floor_divide(a, divisor) * b).astype(dtype)


def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 * 2**x2` for integers `x2`.

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
    """Return fractions from 0.5 up to 1, and exponents: `x = fraction 2**exponent`.

    >>> np.frexp([8.0, 0.0, -3.0])
    (tensor([ 0.5 ,  0.  , -0.75]), tensor([4, 0, 2]))
    """
    a = as_floats(x)
    ordinary = tw.logical_and(a != 0, tw.isfinite(a))
    size = tw.where(ordinary, tw.abs(a), 0.5)
    power = tw.floor(tw.log2(size)) + 1
    fraction = ldexp(size, -power)
    # The logarithm of a number close to a power of two may be rounded to an integer.
    power = tw.where(fraction >= 1, power + 1, power)
    power = tw.where(fraction < 0.5, power - 1, power)
    fraction = tw.copysign(ldexp(size, -power), a)
    exponent = tw.where(ordinary, power, 0.0).astype(int)
    return tw.where(ordinary, fraction, a), exponent


def modf(x: ArrayLike, /) -> tuple[Tensor, Tensor]:
    """Return fractional and integer parts, both with the sign of `x`.

    >>> np.modf([1.5, -2.25])
    (tensor([ 0.5 , -0.25]), tensor([ 1., -2.]))
    """
    a = as_floats(x)
    integer_part = tw.trunc(a)
    return tw.copysign(tw.where(tw.isinf(a), 0.0, a - integer_part), a), integer_part


def spacing(x: ArrayLike, /) -> Tensor:
    """Return the distance to the next float away from zero.

    >>> np.spacing(1.0) == np.finfo(np.float32).eps
    tensor(True)
    """
    a = as_floats(x)
    away = tw.where(tw.signbit(a), -math.inf, math.inf)
    return tw.nextafter(a, away.astype(a.dtype)) - a


def bitwise_count(x: ArrayLike, /) -> Tensor:
    """Return the count of set bits of the absolute value, as int32.

    Raises:
        DTypeError: an element is no integer.

    >>> np.bitwise_count([7, 8, -3])
    tensor([3, 1, 2])
    """
    a = tw.asarray(x)
    if a.dtype.kind == "bool":
        return a.astype(int)
    bits, _, _ = _absolute_pair("bitwise_count", a, a)
    count = tw.zeros_like(bits)
    for _ in range(bits.dtype.bits):
        count = count + tw.bitwise_and(bits, 1)
        bits = tw.bitwise_right_shift(bits, 1)
    return count.astype(int)
