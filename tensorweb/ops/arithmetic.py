"""Rows of the elementwise arithmetic operations."""

from __future__ import annotations

from typing import Any

from tensorweb.graph.op import FLAT, TRANSCENDENTAL, Derivative, Op, steep


def _power(np: Any, base: Any, exponent: Any) -> Any:
    """Return powers; of integers negative ones are 0 unless the base is 1 or -1."""
    if base.dtype.kind != "i" or not (exponent < 0).any():
        return np.power(base, exponent)
    magnitude = np.where(exponent < 0, 0, exponent)
    unit = np.where(exponent % 2 == 0, base * base, base)
    below = np.where((base == 1) | (base == -1), unit, 0)
    return np.where(exponent < 0, below, np.power(base, magnitude))


def _floor_divide(np: Any, a: Any, b: Any) -> Any:
    """Return floor(a / b) with an infinity too, where NumPy has NaN or -1."""
    down = np.floor_divide(a, b)
    if down.dtype.kind != "f":
        return down
    is_infinite = np.isinf(a) | np.isinf(b)
    return np.where(is_infinite, np.divide(a, b), down) if is_infinite.any() else down


def _power_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """b·a^(b-1), 0 for 0^0; y·ln a, 0 where a is 0 and b is not negative."""
    is_flat = (b == 0) & ~(abs(a) > 0)
    slope = xp.where(is_flat, 0, b * a ** xp.where(is_flat, 1, b - 1))
    is_still = (a == 0) & (b >= 0)
    return slope, xp.where(is_still, 0, y * xp.log(xp.where(is_still, 1, a)))


def _hypot_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """a/y and b/y, 0 at the origin."""
    whole = xp.where(y == 0, 1, y)
    return xp.where(y == 0, 0, a / whole), xp.where(y == 0, 0, b / whole)


def _copysign_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, None]:
    """1 or -1, by whether the sign changes."""
    return xp.where(xp.signbit(y) == xp.signbit(a), 1.0, -1.0), None


def _winner_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """1 for the winner, a half each on a tie, NaN where the result is."""
    share = xp.where(a == b, 0.5, 1.0)
    lost = xp.where(xp.isnan(y), y, 0)
    return xp.where(a == y, share, lost), xp.where(b == y, share, lost)


ROWS: tuple[Op, ...] = (
    Op(
        "add",
        "map",
        "a + b",
        arity=2,
        accepts="any",
        numpy="add",
        wgsl={"any": "({0} + {1})", "bool": "({0} | {1})"},
        derivative=Derivative(lambda xp, y, a, b: (1, 1)),
    ),
    Op(
        "subtract",
        "map",
        "a - b",
        arity=2,
        accepts="numeric",
        numpy="subtract",
        wgsl={"any": "({0} - {1})"},
        derivative=Derivative(lambda xp, y, a, b: (1, -1)),
    ),
    Op(
        "multiply",
        "map",
        "a * b",
        arity=2,
        numpy="multiply",
        wgsl={"any": "({0} * {1})", "bool": "({0} & {1})"},
        derivative=Derivative(lambda xp, y, a, b: (b, a)),
    ),
    Op(
        "divide",
        "map",
        "a / b, always a float",
        arity=2,
        result="float",
        numpy="divide",
        wgsl={"float": "divide_f32({0}, {1})"},
        weight=4,
        ulp=1.0,
        derivative=steep(lambda xp, y, a, b: (1 / b, -y / b)),
    ),
    Op(
        "floor_divide",
        "map",
        "the largest whole number not above a / b",
        arity=2,
        accepts="numeric",
        numpy=_floor_divide,
        wgsl={
            "float": "floor_divide_f32({0}, {1})",
            "int": "floor_divide_i32({0}, {1})",
            "uint": "floor_divide_u32({0}, {1})",
        },
        weight=8,
        derivative=FLAT,
    ),
    Op(
        "remainder",
        "map",
        "what floor_divide leaves, with the sign of b",
        arity=2,
        accepts="numeric",
        numpy="remainder",
        wgsl={
            "float": "remainder_f32({0}, {1})",
            "int": "remainder_i32({0}, {1})",
            "uint": "remainder_u32({0}, {1})",
        },
        weight=8,
        ulp=1.0,
        derivative=Derivative(lambda xp, y, a, b: (1, -xp.floor_divide(a, b))),
    ),
    Op(
        "pow",
        "map",
        "a to the power b",
        arity=2,
        accepts="numeric",
        numpy=_power,
        wgsl={
            "float": "pow_f32({0}, {1})",
            "int": "pow_i32({0}, {1})",
            "uint": "pow_u32({0}, {1})",
        },
        weight=24,
        ulp=TRANSCENDENTAL,
        domain=((0.01, 8.0), (-4.0, 4.0)),
        derivative=steep(_power_factors),
    ),
    Op(
        "negative",
        "map",
        "-x",
        accepts="numeric",
        numpy="negative",
        wgsl={"float": "(-{0})", "int": "negative_i32({0})", "uint": "(0u - {0})"},
        derivative=Derivative(lambda xp, y, x: (-1,)),
    ),
    Op(
        "positive",
        "map",
        "x itself",
        accepts="numeric",
        numpy="positive",
        wgsl={"any": "{0}"},
        derivative=Derivative(lambda xp, y, x: (1,)),
    ),
    Op(
        "abs",
        "map",
        "the absolute value",
        accepts="numeric",
        numpy="abs",
        wgsl={"float": "abs({0})", "int": "abs_i32({0})", "uint": "{0}"},
        derivative=Derivative(lambda xp, y, x: (xp.sign(x),)),
    ),
    Op(
        "sign",
        "map",
        "-1, 0 or 1; NaN stays NaN",
        accepts="numeric",
        numpy="sign",
        wgsl={
            "float": "sign_f32({0})",
            "int": "sign_i32({0})",
            "uint": "min({0}, 1u)",
        },
        derivative=FLAT,
    ),
    Op(
        "reciprocal",
        "map",
        "1 / x",
        result="float",
        numpy=lambda np, x: np.divide(x.dtype.type(1), x),
        wgsl={"float": "divide_f32(1.0, {0})"},
        weight=4,
        ulp=1.0,
        derivative=steep(lambda xp, y, x: (-y * y,)),
    ),
    Op(
        "square",
        "map",
        "x * x",
        accepts="numeric",
        numpy="square",
        wgsl={"any": "({0} * {0})"},
        derivative=Derivative(lambda xp, y, x: (2 * x,)),
    ),
    Op(
        "sqrt",
        "map",
        "the square root; NaN below zero",
        accepts="any",
        result="float",
        numpy="sqrt",
        wgsl={"float": "sqrt_f32({0})"},
        weight=4,
        ulp=1.0,
        domain=((0.0, 100.0),),
        derivative=steep(lambda xp, y, x: (0.5 / y,)),
    ),
    Op(
        "rsqrt",
        "map",
        "1 / sqrt(x)",
        accepts="any",
        result="float",
        numpy=lambda np, x: np.divide(x.dtype.type(1), np.sqrt(x)),
        wgsl={
            "float": "rsqrt_f32({0})",
            "float64": "divide_f32(1.0, sqrt_f32({0}))",
        },
        weight=6,
        ulp=2.0,
        domain=((0.01, 100.0),),
        derivative=steep(lambda xp, y, x: (-0.5 * y / x,)),
    ),
    Op(
        "hypot",
        "map",
        "sqrt(a² + b²) without overflow",
        arity=2,
        result="float",
        numpy="hypot",
        wgsl={"float": "hypot_f32({0}, {1})"},
        weight=8,
        ulp=2.0,
        derivative=Derivative(_hypot_factors),
    ),
    Op(
        "copysign",
        "map",
        "the size of a with the sign of b",
        arity=2,
        result="float",
        numpy="copysign",
        wgsl={"float": "copysign_f32({0}, {1})"},
        derivative=Derivative(_copysign_factors),
    ),
    Op(
        "nextafter",
        "map",
        "the next float from a towards b",
        arity=2,
        result="float",
        numpy="nextafter",
        wgsl={
            "float": "nextafter_f32({0}, {1})",
            "float16": "nextafter_half_f32({0}, {1})",
        },
        weight=4,
        derivative=Derivative(lambda xp, y, a, b: (1, None)),
    ),
    Op(
        "maximum",
        "map",
        "the larger one; NaN wins",
        arity=2,
        numpy="maximum",
        wgsl={
            "float": "maximum_f32({0}, {1})",
            "any": "max({0}, {1})",
            "bool": "({0} | {1})",
        },
        derivative=Derivative(_winner_factors),
    ),
    Op(
        "minimum",
        "map",
        "the smaller one; NaN wins",
        arity=2,
        numpy="minimum",
        wgsl={
            "float": "minimum_f32({0}, {1})",
            "any": "min({0}, {1})",
            "bool": "({0} & {1})",
        },
        derivative=Derivative(_winner_factors),
    ),
    Op(
        "relu",
        "map",
        "x where it is positive, else 0; NaN wins",
        result="float",
        numpy=lambda np, x: np.maximum(x, x.dtype.type(0)),
        wgsl={"float": "maximum_f32({0}, 0.0)"},
        derivative=Derivative(lambda xp, y, x: (xp.where(y > 0, 1.0, 0.0),)),
    ),
)
