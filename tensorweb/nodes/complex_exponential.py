"""Formulas of exponentials, logarithms, roots and powers of complex numbers.

Values at infinities and NaN are those of C's Annex G, which the Array API asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tensorweb.dtypes import finfo
from tensorweb.graph.node import Node, number_of_constant
from tensorweb.graph.op import COMPLEX, CONSTANT
from tensorweb.nodes.complex_arithmetic import Parts, multiply, reciprocal
from tensorweb.nodes.complex_parts import imaginary_part, real_part
from tensorweb.nodes.float_ops import Real, apply, choose, signed

Both = tuple[Real, Real]

LARGEST_POWER = 64
"""Fixed whole exponents up to this size are products."""


def limit_of_exp(x: Real) -> float:
    """Return a number a little below the logarithm of the largest float."""
    return math.floor(math.log(finfo(x.node.dtype).max)) - 1.0


def large(x: Real) -> float:
    """Return a number above which sizes are scaled before they are added."""
    return finfo(x.node.dtype).max / 8


def exp(x: Real, y: Real) -> Both:
    """e^x (cos y + i sin y), in two steps where e^x alone would overflow."""
    is_large = x > limit_of_exp(x)
    half = apply("exp", x * 0.5)
    size = choose(is_large, half, apply("exp", x))
    again = choose(is_large, half, 1.0)
    vanishes = x.equals(-math.inf) & ~y.is_finite
    grows = x.equals(math.inf) & ~y.is_finite
    real = choose(grows, x, size * apply("cos", y) * again)
    imaginary = choose(y.equals(0.0), y, size * apply("sin", y) * again)
    return choose(vanishes, 0.0, real), choose(vanishes, 0.0, imaginary)


def expm1(x: Real, y: Real) -> Both:
    """Minus 1 in the real part, which is expm1 x · cos y - 2 sin² y/2."""
    real, imaginary = exp(x, y)
    sine = apply("sin", y * 0.5)
    near = 0.0 - (2.0 * sine * sine - apply("expm1", x) * apply("cos", y))
    is_near = (x < 2.0) & y.is_finite
    return choose(is_near | x.is_nan, near, real - 1.0), imaginary


def _log_size(x: Real, y: Real) -> Real:
    """Log |z|: from the distance to 1 where that is small."""
    a, b = abs(x), abs(y)
    most, least = apply("maximum", a, b), apply("minimum", a, b)
    is_large = most > large(x)
    scale = choose(is_large, x.number(0.125), 1.0)
    size = apply("hypot", a * scale, b * scale)
    far = apply("log", size) + choose(is_large, x.number(math.log(8.0)), 0.0)
    near = 0.5 * apply("log1p", (most - 1.0) * (most + 1.0) + least * least)
    return choose((size > 0.5) & (size < 2.0), near, far)


def log(x: Real, y: Real) -> Both:
    """Log |z| and the angle."""
    return _log_size(x, y), apply("atan2", y, x)


def log1p(x: Real, y: Real) -> Both:
    """Log (1 + z), exact near 0."""
    near = 0.5 * apply("log1p", x * (x + 2.0) + y * y)
    is_near = (abs(x) < 0.5) & (abs(y) < 0.5)
    right = x + 1.0
    return choose(is_near, near, _log_size(right, y)), apply("atan2", y, right)


def _scaled_log(base: float) -> Callable[[Real, Real], Both]:
    """Return the logarithm to another base."""
    factor = 1.0 / math.log(base)

    def scaled(x: Real, y: Real) -> Both:
        real, imaginary = log(x, y)
        return real * factor, imaginary * factor

    return scaled


def sqrt(x: Real, y: Real) -> Both:
    """The root with the larger part first: t = √((|x| + |z|) / 2), the other y / 2t.

    Large and small numbers are scaled by a square on the way.
    """
    limits = finfo(x.node.dtype)
    most = apply("maximum", abs(x), abs(y))
    is_large, is_small = most > limits.max / 8, most < limits.smallest_normal * 8
    scale = choose(is_large, x.number(0.0625), choose(is_small, x.number(2.0**52), 1.0))
    back = choose(is_large, x.number(4.0), choose(is_small, x.number(2.0**-26), 1.0))
    a, b = x * scale, y * scale
    root = apply("sqrt", abs(a) * 0.5 + apply("hypot", a, b) * 0.5)
    is_zero = root.equals(0.0)
    divisor = choose(is_zero, x.number(1.0), 2.0 * root)
    other = abs(b) / divisor
    is_right = x >= 0.0
    real = choose(is_right, root, other) * back
    imaginary = signed(choose(is_right, other, root) * back, y)
    is_endless, is_left = y.is_infinite, x.equals(-math.inf)
    real = choose(is_endless, abs(y), choose(is_left & y.is_finite, 0.0, real))
    real = choose(is_left & y.is_nan, y, choose(x.equals(math.inf), x, real))
    flat = signed(choose(x.equals(math.inf), x.number(0.0), abs(x)), y)
    is_flat = (x.is_infinite & y.is_finite) | (is_left & y.is_nan)
    imaginary = choose(is_endless, y, choose(is_flat, flat, imaginary))
    return real, choose(x.is_nan & ~is_endless, x, imaginary)


def exp2(x: Real, y: Real) -> Both:
    """2^z = exp(z log 2)."""
    return exp(x * math.log(2.0), y * math.log(2.0))


def rsqrt(x: Real, y: Real) -> Parts:
    """1 / √z."""
    return reciprocal(*sqrt(x, y))


def power(a: Parts, b: Parts) -> Parts:
    """exp(w log z); 1 for w = 0, else 0 to a power with a positive real part is 0."""
    x, y = a
    c, d = b
    y = x.number(0.0) if y is None else y
    size, angle = log(x, y)
    found = multiply((c, d), (size, angle))
    assert found[1] is not None, "internal: one operand is complex"
    real, imaginary = exp(found[0], found[1])
    from_zero = x.equals(0.0) & y.equals(0.0)
    at_zero = choose(c > 0.0, c.number(0.0), math.nan)
    real = choose(from_zero, at_zero, real)
    imaginary = choose(from_zero, at_zero, imaginary)
    is_one = c.equals(0.0) if d is None else c.equals(0.0) & d.equals(0.0)
    return choose(is_one, 1.0, real), choose(is_one, 0.0, imaginary)


def fixed_exponent(node: Node) -> float | None:
    """Return the real number that an exponent is everywhere, None if it is none."""
    if node.op is COMPLEX:
        imaginary = imaginary_part(node)
        if imaginary.op is not CONSTANT or number_of_constant(imaginary):
            return None
        node = real_part(node)
    return None if node.op is not CONSTANT else number_of_constant(node)


def fixed_power(x: Real, y: Real, exponent: float) -> Parts | None:
    """Return z to a small whole power as products, and its root; None for others."""
    if exponent == 0.5:
        return sqrt(x, y)
    if exponent == 0 or exponent != int(exponent) or abs(exponent) > LARGEST_POWER:
        return None
    rest = abs(int(exponent))
    square: Parts = (x, y)
    found: Parts | None = None
    while rest:
        if rest & 1:
            found = square if found is None else multiply(found, square)
        rest >>= 1
        square = multiply(square, square) if rest else square
    assert found is not None, "internal: the exponent is not 0"
    if exponent > 0 or found[1] is None:
        return found
    real, imaginary = reciprocal(found[0], found[1])
    # A negative power of 0 has no direction; its reciprocal has one, as in NumPy.
    return choose(x.equals(0.0) & y.equals(0.0), math.nan, real), imaginary


UNARY: Mapping[str, Callable[[Real, Real], Parts | Real]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "log2": _scaled_log(2.0),
    "log10": _scaled_log(10.0),
    "sqrt": sqrt,
    "rsqrt": rsqrt,
}
"""By the name of the row: from the parts to the parts."""

BINARY: Mapping[str, Callable[[Parts, Parts], Parts | Real]] = {"pow": power}
