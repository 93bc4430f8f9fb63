"""Formulas of trigonometric and hyperbolic functions of complex numbers.

A trigonometric function f is `-i g(iz)` of a hyperbolic function g. Branch cuts and
values at infinities and NaN are those of C's Annex G, which the Array API asks for.

Source: W. Kahan, Branch cuts for complex elementary functions, in The State of the Art
in Numerical Analysis, Oxford 1987.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tensorweb.dtypes import finfo
from tensorweb.nodes.complex_arithmetic import Parts
from tensorweb.nodes.complex_exponential import Both, large, limit_of_exp, sqrt
from tensorweb.nodes.float_ops import Real, apply, choose, signed

Function = Callable[[Real, Real], Both]

RIGHT_ANGLE = math.pi / 2


def _grown(name: str, x: Real) -> tuple[Real, Real]:
    """Return sinh or cosh of a number in two factors, of which none overflows early.

    Of large numbers sinh x is 2 sinh x/2 · |sinh x/2|, and so with cosh.
    """
    is_large = abs(x) > limit_of_exp(x)
    found = apply(name, choose(is_large, x * 0.5, x))
    return found, choose(is_large, 2.0 * abs(found), 1.0)


def sinh(x: Real, y: Real) -> Both:
    """Sinh x cos y + i cosh x sin y."""
    sine, factor = _grown("sinh", x)
    cosine, other = _grown("cosh", x)
    real, imaginary = sine * apply("cos", y) * factor, cosine * apply("sin", y) * other
    is_fixed = (x.equals(0.0) | x.is_infinite) & ~y.is_finite
    return choose(is_fixed, x, real), choose(y.equals(0.0), y, imaginary)


def cosh(x: Real, y: Real) -> Both:
    """Cosh x cos y + i sinh x sin y."""
    sine, factor = _grown("sinh", x)
    cosine, other = _grown("cosh", x)
    real, imaginary = cosine * apply("cos", y) * other, sine * apply("sin", y) * factor
    is_flat = (x.equals(0.0) & ~y.is_finite) | y.equals(0.0)
    imaginary = choose(is_flat, signed(0.0, x) * signed(1.0, y), imaginary)
    return choose(x.is_infinite & ~y.is_finite, abs(x), real), imaginary


def tanh(x: Real, y: Real) -> Both:
    """Tanh by tan y, tanh x and 1 / cosh x; sin 2y times 2 / e^|2x| far out."""
    is_far = abs(x) > limit_of_exp(x) / 4
    near = choose(is_far, 0.0, x)
    t, tangent = apply("tanh", near), apply("tan", y)
    rest = 1.0 / apply("cosh", near)
    both = t * tangent
    divisor = both * both + 1.0
    real = t * (tangent * tangent + 1.0) / divisor
    imaginary = tangent / divisor * rest * rest
    double = apply("sin", y) * apply("cos", y)
    small = 4.0 * double * apply("exp", -2.0 * abs(x))
    imaginary = choose(is_far, small, imaginary)
    flat = choose(y.is_finite, signed(0.0, y), 0.0)
    imaginary = choose(x.is_infinite, flat, imaginary)
    is_known = y.is_finite | x.is_infinite
    real = choose(is_far, choose(is_known, signed(1.0, x), math.nan), real)
    real = choose(x.equals(0.0) & ~y.is_finite, x, real)
    return real, choose(y.equals(0.0), y, imaginary)


def _log_of_double(x: Real, y: Real) -> Real:
    """Log 2|z|, of numbers so large that 2|z| would overflow."""
    return apply("log", apply("hypot", x * 0.25, y * 0.25)) + math.log(8.0)


def _is_far(x: Real, y: Real) -> Real:
    """Whether a number is so large that 1 is nothing beside it, or not finite."""
    return ~((abs(x) < large(x)) & (abs(y) < large(x)))


def asinh(x: Real, y: Real) -> Both:
    """Kahan's formula of √(1 + iz) and √(1 - iz)."""
    a, b = sqrt(y + 1.0, -x)
    c, d = sqrt(1.0 - y, x)
    real = apply("asinh", a * d - c * b)
    imaginary = apply("atan2", y, a * c - b * d)
    is_far = _is_far(x, y)
    angle = apply("atan2", y, abs(x))
    real = choose(is_far, signed(_log_of_double(x, y), x), real)
    imaginary = choose(is_far, choose(y.equals(0.0), y, angle), imaginary)
    return real, imaginary


def acosh(x: Real, y: Real) -> Both:
    """Kahan's formula of √(z - 1) and √(z + 1)."""
    a, b = sqrt(x - 1.0, y)
    c, d = sqrt(x + 1.0, y)
    is_far = _is_far(x, y)
    real = choose(is_far, _log_of_double(x, y), apply("asinh", a * c + b * d))
    imaginary = choose(is_far, apply("atan2", y, x), 2.0 * apply("atan2", b, c))
    return real, choose(x.equals(0.0) & y.is_nan, RIGHT_ANGLE, imaginary)


def acos(x: Real, y: Real) -> Both:
    """Kahan's formula of √(1 - z) and √(1 + z)."""
    a, b = sqrt(1.0 - x, -y)
    c, d = sqrt(x + 1.0, y)
    is_far = _is_far(x, y)
    real = choose(is_far, apply("atan2", abs(y), x), 2.0 * apply("atan2", a, c))
    far = signed(_log_of_double(x, y), -y)
    imaginary = choose(is_far, far, apply("asinh", c * b - d * a))
    return choose(x.equals(0.0) & y.is_nan, RIGHT_ANGLE, real), imaginary


def atanh(x: Real, y: Real) -> Both:
    """Kahan's formula; ¼ log1p(4x / ((1 - x)² + y²)) is exact near 0, odd in x."""
    a, b = abs(x), abs(y)
    limits = finfo(x.node.dtype)
    most = apply("maximum", a, b)
    is_far = ~(most < math.sqrt(limits.max) / 4)
    near_x, near_y = choose(is_far, 0.0, a), choose(is_far, 0.0, b)
    square = (1.0 - near_x) * (1.0 - near_x) + near_y * near_y
    real = 0.25 * apply("log1p", 4.0 * near_x / square)
    at_pole = near_x.equals(1.0) & (near_y < math.sqrt(limits.smallest_normal) * 4)
    pole = apply("log", near_y) * -0.5 + 0.5 * math.log(2.0)
    real = choose(at_pole, pole, real)
    flat = (1.0 - near_x) * (near_x + 1.0) - near_y * near_y
    imaginary = 0.5 * apply("atan2", 2.0 * near_y, flat)
    half = apply("hypot", a * 0.5, b * 0.5)
    far = a * 0.25 / half / half
    is_endless = x.is_infinite | y.is_infinite
    real = choose(is_far, choose(is_endless, 0.0, far), real)
    right = choose(
        y.is_nan | (x.is_nan & ~y.is_infinite), math.nan, b.number(RIGHT_ANGLE)
    )
    imaginary = choose(is_far, right, imaginary)
    real = choose(x.equals(0.0) & y.is_nan, 0.0, real)
    return signed(real, x), signed(imaginary, y)


def _turned(function: Function) -> Function:
    """Return -i f(iz)."""

    def turned(x: Real, y: Real) -> Both:
        real, imaginary = function(-y, x)
        return imaginary, -real

    return turned


UNARY: Mapping[str, Callable[[Real, Real], Parts | Real]] = {
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "sin": _turned(sinh),
    "cos": lambda x, y: cosh(-y, x),
    "tan": _turned(tanh),
    "asin": _turned(asinh),
    "acos": acos,
    "atan": _turned(atanh),
}
"""By the name of the row: from the parts to the parts."""
