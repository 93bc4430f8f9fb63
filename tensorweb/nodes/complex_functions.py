"""Elementwise operations on complex numbers, each a formula on real parts.

`elementwise` calls `complex_elementwise` where an operand is complex. A real operand
stays real, as C's Annex G says: a product with a real number has no zero times infinity
in it. Branch cuts and values at infinities and NaN are those of C's Annex G, which the
Array API requires. Parts near the largest float are scaled where a formula would
overflow.

Source: W. Kahan, Branch cuts for complex elementary functions, in The State of the Art
in Numerical Analysis, Oxford 1987.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tensorweb import dtypes
from tensorweb.dtypes import DType, finfo, promote
from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node, constant, number_of_constant
from tensorweb.graph.op import COMPLEX, CONSTANT, Op
from tensorweb.nodes.complex_parts import (
    imaginary_part,
    join_by_part,
    join_parts,
    real_part,
)
from tensorweb.nodes.elementwise import (
    cast,
    common_shape,
    complex_rules,
    elementwise,
)
from tensorweb.nodes.policy import LARGEST_FIXED_POWER
from tensorweb.ops import OPS

RIGHT_ANGLE = math.pi / 2


def _operator(name: str) -> Callable[[Real, Real | float], Real]:
    """Return an entry of the op table as a method of two operands."""
    return lambda self, other: apply(name, self, other)


class Real:
    """A node of floats, or of bools for a condition, with Python's operators.

    A Python number that is the other operand takes the node's dtype.
    """

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        """Wrap a node."""
        self.node = node

    __add__ = __radd__ = _operator("add")
    __sub__ = _operator("subtract")
    __mul__ = __rmul__ = _operator("multiply")
    __truediv__ = _operator("divide")
    __lt__ = _operator("less")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")
    __and__ = _operator("logical_and")
    __or__ = _operator("logical_or")
    equals = _operator("equal")

    def __rsub__(self, other: float) -> Real:
        return apply("subtract", self.constant(other), self)

    def __rtruediv__(self, other: float) -> Real:
        return apply("divide", self.constant(other), self)

    def __neg__(self) -> Real:
        return apply("negative", self)

    def __abs__(self) -> Real:
        return apply("abs", self)

    def __invert__(self) -> Real:
        return apply("logical_not", self)

    def constant(self, value: float) -> Real:
        """Return a scalar constant of the node's dtype."""
        return Real(constant(value, self.node.dtype, self.node.device))

    @property
    def is_nan(self) -> Real:
        """Whether an element is not a number."""
        return apply("isnan", self)

    @property
    def is_infinite(self) -> Real:
        """Whether an element is infinite."""
        return apply("isinf", self)

    @property
    def is_finite(self) -> Real:
        """Whether an element is neither NaN nor infinite."""
        return apply("isfinite", self)


Parts = tuple[Real, Real | None]
"""Real and imaginary part; None for the imaginary part of a real operand."""

Both = tuple[Real, Real]

UnaryFormula = Callable[[Real, Real], Parts | Real]
BinaryFormula = Callable[[Parts, Parts], Parts | Real]


def apply(name: str, first: Real, *others: Real | float) -> Real:
    """Return an elementwise operation by name; numbers take the dtype of `first`."""
    nodes = [
        other.node if isinstance(other, Real) else first.constant(other).node
        for other in others
    ]
    return Real(elementwise(OPS[name], first.node, *nodes))


def choose(condition: Real, yes: Real | float, no: Real | float) -> Real:
    """Return `yes` where the condition holds, else `no`; one of them is a `Real`."""
    if not isinstance(yes, Real):
        assert isinstance(no, Real), "internal: two numbers have no dtype"
        yes = no.constant(yes)
    if not isinstance(no, Real):
        no = yes.constant(no)
    return Real(elementwise(OPS["where"], condition.node, yes.node, no.node))


def with_sign(magnitude: Real | float, sign: Real) -> Real:
    """Return a magnitude with the sign of another value."""
    if not isinstance(magnitude, Real):
        magnitude = sign.constant(magnitude)
    return apply("copysign", magnitude, sign)


def is_overflow_prone(x: Real, y: Real | None) -> Real:
    """Whether a part is so large that sums of two such parts might overflow."""
    magnitude = abs(x) if y is None else apply("maximum", abs(x), abs(y))
    return magnitude > overflow_limit(x)


def overflow_limit(x: Real) -> float:
    """Return the magnitude above which parts are scaled before they are added."""
    return finfo(x.node.dtype).max / 8


def exp_limit(x: Real) -> float:
    """Return a number slightly below the logarithm of the largest float."""
    return math.floor(math.log(finfo(x.node.dtype).max)) - 1.0


def add(a: Parts, b: Parts) -> Parts:
    """Add the parts; an imaginary part of one operand alone is the result's."""
    return a[0] + b[0], _add_imaginary(a[1], b[1])


def subtract(a: Parts, b: Parts) -> Parts:
    """Subtract the parts."""
    return a[0] - b[0], _add_imaginary(a[1], None if b[1] is None else -b[1])


def _add_imaginary(a: Real | None, b: Real | None) -> Real | None:
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
    # Scaling is a choice and not a product with a chosen factor: a compiler may move a
    # product behind the sums, where they have overflowed.
    is_large, is_large_divisor = is_overflow_prone(*a), is_overflow_prone(c, d)
    x = _eighth_if(is_large, a[0])
    y = None if a[1] is None else _eighth_if(is_large, a[1])
    c, d = _eighth_if(is_large_divisor, c), _eighth_if(is_large_divisor, d)
    is_real = ~(abs(c) < abs(d))
    large, small = choose(is_real, c, d), choose(is_real, d, c)
    is_zero = large.equals(0.0) & small.equals(0.0)
    ratio = choose(is_zero, 0.0, small / large)
    divisor = choose(is_zero, 0.0, large + small * ratio)
    if y is None:
        real = choose(is_real, x, x * ratio) / divisor
        imaginary = -choose(is_real, x * ratio, x) / divisor
    else:
        # With a zero divisor the products are left out: infinity times 0 would be NaN.
        x_ratio, y_ratio = (choose(is_zero, 0.0, part * ratio) for part in (x, y))
        real = choose(is_real, x + y_ratio, x_ratio + y) / divisor
        imaginary = choose(is_real, y - x_ratio, y_ratio - x) / divisor
    unscale = choose(is_large, x.constant(8.0), 1.0)
    unscale_divisor = choose(is_large_divisor, x.constant(0.125), 1.0)
    return real * unscale * unscale_divisor, imaginary * unscale * unscale_divisor


def _eighth_if(condition: Real, x: Real) -> Real:
    return choose(condition, x * 0.125, x)


def reciprocal(x: Real, y: Real) -> Parts:
    """1 / z."""
    return divide((x.constant(1.0), None), (x, y))


def absolute(x: Real, y: Real) -> Real:
    """|z|, without overflow of the squares."""
    return apply("hypot", x, y)


def sign(x: Real, y: Real) -> Parts:
    """The direction z / |z|; 0 of 0, and an axis where one part alone is infinite."""
    is_on_x = x.is_infinite & ~y.is_infinite
    is_on_y = y.is_infinite & ~x.is_infinite
    x, y = choose(is_on_y, 0.0, x), choose(is_on_x, 0.0, y)
    x = choose(is_on_x, with_sign(1.0, x), x)
    y = choose(is_on_y, with_sign(1.0, y), y)
    is_large = is_overflow_prone(x, y)
    x, y = _eighth_if(is_large, x), _eighth_if(is_large, y)
    magnitude = apply("hypot", x, y)
    is_zero = magnitude.equals(0.0)
    return choose(is_zero, 0.0, x / magnitude), choose(is_zero, 0.0, y / magnitude)


def _by_part(name: str) -> UnaryFormula:
    """Return a formula that applies one operation to each part."""
    return lambda x, y: (apply(name, x), apply(name, y))


def equal(a: Parts, b: Parts) -> Real:
    """Whether both parts are equal."""
    return a[0].equals(b[0]) & _equal_imaginary(a[1], b[1])


def _equal_imaginary(a: Real | None, b: Real | None) -> Real:
    if a is None:
        a, b = b, a
    assert a is not None, "internal: one operand is complex"
    return a.equals(0.0 if b is None else b)


def exp(x: Real, y: Real) -> Both:
    """e^x (cos y + i sin y), in two steps where e^x alone would overflow."""
    is_large = x > exp_limit(x)
    half = apply("exp", x * 0.5)
    factor = choose(is_large, half, apply("exp", x))
    second_factor = choose(is_large, half, 1.0)
    vanishes = x.equals(-math.inf) & ~y.is_finite
    grows = x.equals(math.inf) & ~y.is_finite
    real = choose(grows, x, factor * apply("cos", y) * second_factor)
    imaginary = factor * apply("sin", y) * second_factor
    imaginary = choose(y.equals(0.0), y, imaginary)
    return choose(vanishes, 0.0, real), choose(vanishes, 0.0, imaginary)


def expm1(x: Real, y: Real) -> Both:
    """Exp z - 1, whose real part is expm1 x · cos y - 2 sin² y/2."""
    real, imaginary = exp(x, y)
    sine = apply("sin", y * 0.5)
    near = 0.0 - (2.0 * sine * sine - apply("expm1", x) * apply("cos", y))
    is_near = (x < 2.0) & y.is_finite
    return choose(is_near | x.is_nan, near, real - 1.0), imaginary


def _log_magnitude(x: Real, y: Real) -> Real:
    """Log |z|, from the distance of |z| to 1 where this is small."""
    a, b = abs(x), abs(y)
    larger, smaller = apply("maximum", a, b), apply("minimum", a, b)
    is_large = larger > overflow_limit(x)
    scale = choose(is_large, x.constant(0.125), 1.0)
    magnitude = apply("hypot", a * scale, b * scale)
    far = apply("log", magnitude) + choose(is_large, x.constant(math.log(8.0)), 0.0)
    near = 0.5 * apply("log1p", (larger - 1.0) * (larger + 1.0) + smaller * smaller)
    return choose((magnitude > 0.5) & (magnitude < 2.0), near, far)


def log(x: Real, y: Real) -> Both:
    """Log |z| and the angle."""
    return _log_magnitude(x, y), apply("atan2", y, x)


def log1p(x: Real, y: Real) -> Both:
    """Log (1 + z), exact near 0."""
    near = 0.5 * apply("log1p", x * (x + 2.0) + y * y)
    is_near = (abs(x) < 0.5) & (abs(y) < 0.5)
    shifted = x + 1.0
    real = choose(is_near, near, _log_magnitude(shifted, y))
    return real, apply("atan2", y, shifted)


def _log_to_base(base: float) -> UnaryFormula:
    factor = 1.0 / math.log(base)

    def scaled(x: Real, y: Real) -> Both:
        real, imaginary = log(x, y)
        return real * factor, imaginary * factor

    return scaled


def sqrt(x: Real, y: Real) -> Both:
    """√z, from the larger part t = √((|x| + |z|) / 2) and the smaller one, y / 2t.

    Large and small numbers are scaled by a power of 4 first.
    """
    limits = finfo(x.node.dtype)
    larger = apply("maximum", abs(x), abs(y))
    is_large, is_small = larger > limits.max / 8, larger < limits.smallest_normal * 8
    small_scale = choose(is_small, x.constant(2.0**52), 1.0)
    scale = choose(is_large, x.constant(0.0625), small_scale)
    small_unscale = choose(is_small, x.constant(2.0**-26), 1.0)
    unscale = choose(is_large, x.constant(4.0), small_unscale)
    a, b = x * scale, y * scale
    root = apply("sqrt", abs(a) * 0.5 + apply("hypot", a, b) * 0.5)
    is_zero = root.equals(0.0)
    divisor = choose(is_zero, x.constant(1.0), 2.0 * root)
    other = abs(b) / divisor
    is_right = x >= 0.0
    real = choose(is_right, root, other) * unscale
    imaginary = with_sign(choose(is_right, other, root) * unscale, y)
    is_infinite, is_left = y.is_infinite, x.equals(-math.inf)
    real = choose(is_infinite, abs(y), choose(is_left & y.is_finite, 0.0, real))
    real = choose(is_left & y.is_nan, y, choose(x.equals(math.inf), x, real))
    flat = with_sign(choose(x.equals(math.inf), x.constant(0.0), abs(x)), y)
    is_flat = (x.is_infinite & y.is_finite) | (is_left & y.is_nan)
    imaginary = choose(is_infinite, y, choose(is_flat, flat, imaginary))
    return real, choose(x.is_nan & ~is_infinite, x, imaginary)


def power(a: Parts, b: Parts) -> Parts:
    """exp(w log z); 1 for w = 0, else 0 to a power with a positive real part is 0."""
    x, y = a
    c, d = b
    y = x.constant(0.0) if y is None else y
    product = multiply((c, d), log(x, y))
    assert product[1] is not None, "internal: one operand is complex"
    real, imaginary = exp(product[0], product[1])
    from_zero = x.equals(0.0) & y.equals(0.0)
    at_zero = choose(c > 0.0, c.constant(0.0), math.nan)
    real = choose(from_zero, at_zero, real)
    imaginary = choose(from_zero, at_zero, imaginary)
    is_one = c.equals(0.0) if d is None else c.equals(0.0) & d.equals(0.0)
    return choose(is_one, 1.0, real), choose(is_one, 0.0, imaginary)


def _fixed_exponent(node: Node) -> float | None:
    """Return the real number that a constant exponent is, else None."""
    if node.op is COMPLEX:
        imaginary = imaginary_part(node)
        if imaginary.op is not CONSTANT or number_of_constant(imaginary):
            return None
        node = real_part(node)
    return None if node.op is not CONSTANT else number_of_constant(node)


def _fixed_power(x: Real, y: Real, exponent: float) -> Parts | None:
    """Return z to a small integer power as products, its root for 0.5, else None."""
    if exponent == 0.5:
        return sqrt(x, y)
    if exponent != int(exponent) or not 0 < abs(exponent) <= LARGEST_FIXED_POWER:
        return None
    bits = abs(int(exponent))
    square: Parts = (x, y)
    power: Parts | None = None
    while bits:
        if bits & 1:
            power = square if power is None else multiply(power, square)
        bits >>= 1
        square = multiply(square, square) if bits else square
    assert power is not None, "internal: the exponent is not 0"
    if exponent > 0 or power[1] is None:
        return power
    real, imaginary = reciprocal(power[0], power[1])
    # A negative power of 0 has no direction; its reciprocal has one, as in NumPy.
    return choose(x.equals(0.0) & y.equals(0.0), math.nan, real), imaginary


def _in_two_factors(name: str, x: Real) -> Both:
    """Return sinh x or cosh x as two factors that do not overflow by themselves.

    For large x, sinh x is 2 sinh x/2 · |sinh x/2|; cosh x accordingly.
    """
    is_large = abs(x) > exp_limit(x)
    factor = apply(name, choose(is_large, x * 0.5, x))
    return factor, choose(is_large, 2.0 * abs(factor), 1.0)


def sinh(x: Real, y: Real) -> Both:
    """Sinh x cos y + i cosh x sin y."""
    sinh_x, sinh_factor = _in_two_factors("sinh", x)
    cosh_x, cosh_factor = _in_two_factors("cosh", x)
    real = sinh_x * apply("cos", y) * sinh_factor
    imaginary = cosh_x * apply("sin", y) * cosh_factor
    is_fixed = (x.equals(0.0) | x.is_infinite) & ~y.is_finite
    return choose(is_fixed, x, real), choose(y.equals(0.0), y, imaginary)


def cosh(x: Real, y: Real) -> Both:
    """Cosh x cos y + i sinh x sin y."""
    sinh_x, sinh_factor = _in_two_factors("sinh", x)
    cosh_x, cosh_factor = _in_two_factors("cosh", x)
    real = cosh_x * apply("cos", y) * cosh_factor
    imaginary = sinh_x * apply("sin", y) * sinh_factor
    is_zero = (x.equals(0.0) & ~y.is_finite) | y.equals(0.0)
    imaginary = choose(is_zero, with_sign(0.0, x) * with_sign(1.0, y), imaginary)
    return choose(x.is_infinite & ~y.is_finite, abs(x), real), imaginary


def tanh(x: Real, y: Real) -> Both:
    """Tanh z by tan y, tanh x and 1 / cosh x; for large x, 2 sin 2y / e^|2x|."""
    is_far = abs(x) > exp_limit(x) / 4
    near = choose(is_far, 0.0, x)
    tanh_x, tan_y = apply("tanh", near), apply("tan", y)
    sech_x = 1.0 / apply("cosh", near)
    product = tanh_x * tan_y
    divisor = product * product + 1.0
    real = tanh_x * (tan_y * tan_y + 1.0) / divisor
    imaginary = tan_y / divisor * sech_x * sech_x
    half_sine = apply("sin", y) * apply("cos", y)
    small = 4.0 * half_sine * apply("exp", -2.0 * abs(x))
    imaginary = choose(is_far, small, imaginary)
    zero = choose(y.is_finite, with_sign(0.0, y), 0.0)
    imaginary = choose(x.is_infinite, zero, imaginary)
    is_defined = y.is_finite | x.is_infinite
    real = choose(is_far, choose(is_defined, with_sign(1.0, x), math.nan), real)
    real = choose(x.equals(0.0) & ~y.is_finite, x, real)
    return real, choose(y.equals(0.0), y, imaginary)


def _log_of_double(x: Real, y: Real) -> Real:
    """Log 2|z|, of numbers so large that 2|z| would overflow."""
    return apply("log", apply("hypot", x * 0.25, y * 0.25)) + math.log(8.0)


def _is_far(x: Real, y: Real) -> Real:
    """Whether a number is not finite, or so large that adding 1 has no effect."""
    return ~((abs(x) < overflow_limit(x)) & (abs(y) < overflow_limit(x)))


def asinh(x: Real, y: Real) -> Both:
    """Kahan's formula of √(1 + iz) and √(1 - iz)."""
    a, b = sqrt(y + 1.0, -x)
    c, d = sqrt(1.0 - y, x)
    real = apply("asinh", a * d - c * b)
    imaginary = apply("atan2", y, a * c - b * d)
    is_far = _is_far(x, y)
    angle = apply("atan2", y, abs(x))
    real = choose(is_far, with_sign(_log_of_double(x, y), x), real)
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
    far = with_sign(_log_of_double(x, y), -y)
    imaginary = choose(is_far, far, apply("asinh", c * b - d * a))
    return choose(x.equals(0.0) & y.is_nan, RIGHT_ANGLE, real), imaginary


def atanh(x: Real, y: Real) -> Both:
    """Kahan's formula; ¼ log1p(4x / ((1 - x)² + y²)) is exact near 0, odd in x."""
    a, b = abs(x), abs(y)
    limits = finfo(x.node.dtype)
    is_far = ~(apply("maximum", a, b) < math.sqrt(limits.max) / 4)
    near_x, near_y = choose(is_far, 0.0, a), choose(is_far, 0.0, b)
    square = (1.0 - near_x) * (1.0 - near_x) + near_y * near_y
    real = 0.25 * apply("log1p", 4.0 * near_x / square)
    at_pole = near_x.equals(1.0) & (near_y < math.sqrt(limits.smallest_normal) * 4)
    pole = apply("log", near_y) * -0.5 + 0.5 * math.log(2.0)
    real = choose(at_pole, pole, real)
    cosine = (1.0 - near_x) * (near_x + 1.0) - near_y * near_y
    imaginary = 0.5 * apply("atan2", 2.0 * near_y, cosine)
    half = apply("hypot", a * 0.5, b * 0.5)
    far = a * 0.25 / half / half
    is_infinite = x.is_infinite | y.is_infinite
    real = choose(is_far, choose(is_infinite, 0.0, far), real)
    is_undefined = y.is_nan | (x.is_nan & ~y.is_infinite)
    angle = choose(is_undefined, math.nan, b.constant(RIGHT_ANGLE))
    imaginary = choose(is_far, angle, imaginary)
    real = choose(x.equals(0.0) & y.is_nan, 0.0, real)
    return with_sign(real, x), with_sign(imaginary, y)


def _trigonometric(hyperbolic: Callable[[Real, Real], Both]) -> UnaryFormula:
    """Return the trigonometric function -i f(iz) of a hyperbolic function f."""

    def formula(x: Real, y: Real) -> Both:
        real, imaginary = hyperbolic(-y, x)
        return imaginary, -real

    return formula


UNARY: Mapping[str, UnaryFormula] = {
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
    "exp": exp,
    "exp2": lambda x, y: exp(x * math.log(2.0), y * math.log(2.0)),
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "log2": _log_to_base(2.0),
    "log10": _log_to_base(10.0),
    "sqrt": sqrt,
    "rsqrt": lambda x, y: reciprocal(*sqrt(x, y)),
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "sin": _trigonometric(sinh),
    "cos": lambda x, y: cosh(-y, x),
    "tan": _trigonometric(tanh),
    "asin": _trigonometric(asinh),
    "acos": acos,
    "atan": _trigonometric(atanh),
}
"""By operation, from both parts to both parts or to a real result."""

BINARY: Mapping[str, BinaryFormula] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "equal": equal,
    "not_equal": lambda a, b: ~equal(a, b),
    "pow": power,
}
"""By operation, from the parts of two operands, one of which may be real."""

ORDERED = frozenset(
    ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum")
)
"""Operations that need an order."""


def complex_elementwise(op: Op, inputs: tuple[Node, ...]) -> Node:
    """Return the node of an operation with at least one complex operand.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the operation takes no complex numbers.
    """
    common_shape(op, inputs)
    if op.result == "logical":
        return elementwise(op, *(cast(node, dtypes.bool) for node in inputs))
    if op.name == "where":
        return _where(inputs)
    dtype = inputs[0].dtype
    for node in inputs[1:]:
        dtype = promote(dtype, node.dtype)
    operands = [_operand(node, dtype.part) for node in inputs]
    real, imaginary = operands[0]
    if op.name == "pow" and imaginary is not None:
        exponent = _fixed_exponent(inputs[1])
        power = None if exponent is None else _fixed_power(real, imaginary, exponent)
        if power is not None:
            return _join(power)
    if op.name in BINARY:
        return _join(BINARY[op.name](*operands))
    if op.name not in UNARY:
        raise DTypeError(_refusal(op, dtype.name))
    assert imaginary is not None, "internal: the only operand is complex"
    return _join(UNARY[op.name](real, imaginary))


def _operand(node: Node, dtype: DType) -> Parts:
    real = Real(cast(real_part(node), dtype))
    if node.op is not COMPLEX:
        return real, None
    return real, Real(cast(imaginary_part(node), dtype))


def _join(result: Parts | Real) -> Node:
    if isinstance(result, Real):
        return result.node
    real, imaginary = result
    assert imaginary is not None, "internal: a result has two parts"
    return join_parts(real.node, imaginary.node)


def _where(inputs: tuple[Node, ...]) -> Node:
    condition, yes, no = inputs
    dtype = promote(yes.dtype, no.dtype)
    yes, no = cast(yes, dtype), cast(no, dtype)
    condition = cast(condition, dtypes.bool)
    if dtype.kind != "complex":
        return elementwise(OPS["where"], condition, yes, no)
    return join_by_part(
        lambda a, b: elementwise(OPS["where"], condition, a, b), yes, no
    )


def _refusal(op: Op, dtype: str) -> str:
    if op.name in ORDERED:
        return (
            f"{op.name}: {dtype} operands, and complex numbers have no order; compare "
            "tw.abs(x), tw.real(x) or tw.imag(x)."
        )
    return (
        f"{op.name}: {dtype} operands; it takes real dtypes. Take tw.real(x), "
        "tw.imag(x) or tw.abs(x)."
    )


complex_rules.append(complex_elementwise)
