"""Formulas of complex arithmetic on real parts: sums, products, quotients, sizes.

Sizes near the largest float are scaled where a formula would overflow on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensorweb.dtypes import finfo
from tensorweb.nodes.float_ops import Real, apply, choose, signed

Parts = tuple[Real, Real | None]
"""Real and imaginary part; None where a real operand has none."""


def add(a: Parts, b: Parts) -> Parts:
    """Add the parts; what only one operand has stays as it is."""
    return a[0] + b[0], _either(a[1], b[1])


def subtract(a: Parts, b: Parts) -> Parts:
    """Subtract the parts."""
    return a[0] - b[0], _either(a[1], None if b[1] is None else -b[1])


def _either(a: Real | None, b: Real | None) -> Real | None:
    if a is None or b is None:
        return a or b
    return a + b


def multiply(a: Parts, b: Parts) -> Parts:
    """(a + bi)(c + di) = (ac - bd) + (ad + bc)i."""
    if a[1] is None:
        a, b = b, a
    assert a[1] is not None, "internal: one operand is complex"
    if b[1] is None:
        return a[0] * b[0], a[1] * b[0]
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def divide(a: Parts, b: Parts) -> Parts:
    """Divide by the larger part of the divisor first.

    R. L. Smith, Algorithm 116: Complex division, CACM 5 (1962).
    """
    c, d = b
    if d is None:
        assert a[1] is not None, "internal: one operand is complex"
        return a[0] / c, a[1] / c
    # What a compiler sees multiplied it may multiply later, when sums have overflowed.
    is_vast, is_vast_below = _is_vast(a[0], a[1]), _is_vast(c, d)
    x, y = _less(is_vast, a[0]), None if a[1] is None else _less(is_vast, a[1])
    c, d = _less(is_vast_below, c), _less(is_vast_below, d)
    is_real = ~(abs(c) < abs(d))
    large, small = choose(is_real, c, d), choose(is_real, d, c)
    is_zero = large.equals(0.0) & small.equals(0.0)
    ratio = choose(is_zero, 0.0, small / large)
    divisor = choose(is_zero, 0.0, large + small * ratio)
    if y is None:
        real = choose(is_real, x, x * ratio) / divisor
        imaginary = -choose(is_real, x * ratio, x) / divisor
    else:
        # Beside a zero nothing is added: an infinity times its ratio would be NaN.
        across, along = (choose(is_zero, 0.0, part * ratio) for part in (x, y))
        real = choose(is_real, x + along, across + y) / divisor
        imaginary = choose(is_real, y - across, along - x) / divisor
    above = choose(is_vast, x.number(8.0), 1.0)
    below = choose(is_vast_below, x.number(0.125), 1.0)
    return real * above * below, imaginary * above * below


def _is_vast(x: Real, y: Real | None) -> Real:
    """Whether a part is so large that sums of two might overflow."""
    size = abs(x) if y is None else apply("maximum", abs(x), abs(y))
    return size > finfo(x.node.dtype).max / 8


def _less(is_vast: Real, x: Real) -> Real:
    """Return an eighth of what is vast."""
    return choose(is_vast, x * 0.125, x)


def reciprocal(x: Real, y: Real) -> Parts:
    """1 / z."""
    return divide((x.number(1.0), None), (x, y))


def absolute(x: Real, y: Real) -> Real:
    """|z|, without overflow on the way."""
    return apply("hypot", x, y)


def sign(x: Real, y: Real) -> Parts:
    """The direction z / |z|; 0 of 0, and an axis where one part alone is infinite."""
    along, across = (x.is_infinite & ~y.is_infinite), (y.is_infinite & ~x.is_infinite)
    x, y = choose(across, 0.0, x), choose(along, 0.0, y)
    x, y = choose(along, signed(1.0, x), x), choose(across, signed(1.0, y), y)
    is_vast = _is_vast(x, y)
    x, y = _less(is_vast, x), _less(is_vast, y)
    size = apply("hypot", x, y)
    is_zero = size.equals(0.0)
    return choose(is_zero, 0.0, x / size), choose(is_zero, 0.0, y / size)


def _by_part(name: str) -> Callable[[Real, Real], Parts]:
    return lambda x, y: (apply(name, x), apply(name, y))


def equal(a: Parts, b: Parts) -> Real:
    """Whether both parts are equal."""
    return a[0].equals(b[0]) & _equal_imaginary(a[1], b[1])


def _equal_imaginary(a: Real | None, b: Real | None) -> Real:
    if a is None:
        a, b = b, a
    assert a is not None, "internal: one operand is complex"
    return a.equals(0.0 if b is None else b)


UNARY: Mapping[str, Callable[[Real, Real], Parts | Real]] = {
    "positive": lambda x, y: (x, y),
    "negative": _by_part("negative"),
    "round": _by_part("round"),
    "abs": absolute,
    "sign": sign,
    "square": lambda x, y: multiply((x, y), (x, y)),
    "reciprocal": reciprocal,
    "isnan": lambda x, y: x.is_nan | y.is_nan,
    "isinf": lambda x, y: x.is_infinite | y.is_infinite,
    "isfinite": lambda x, y: x.is_finite & y.is_finite,
}
"""By the name of the row: from the parts to the parts, or to a real result."""

BINARY: Mapping[str, Callable[[Parts, Parts], Parts | Real]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "equal": equal,
    "not_equal": lambda a, b: ~equal(a, b),
}
"""The same of two operands, one of which may be real."""
