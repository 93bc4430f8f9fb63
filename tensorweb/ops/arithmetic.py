"""Rows of the elementwise arithmetic operations."""

from __future__ import annotations

from typing import Any

from tensorweb.graph.op import TRANSCENDENTAL, Op


def _power(np: Any, base: Any, exponent: Any) -> Any:
    """Return powers; of integers negative ones are 0 unless the base is 1 or -1."""
    if base.dtype.kind != "i" or not (exponent < 0).any():
        return np.power(base, exponent)
    magnitude = np.where(exponent < 0, 0, exponent)
    unit = np.where(exponent % 2 == 0, base * base, base)
    below = np.where((base == 1) | (base == -1), unit, 0)
    return np.where(exponent < 0, below, np.power(base, magnitude))


ROWS: tuple[Op, ...] = (
    Op(
        "add",
        "map",
        "a + b",
        arity=2,
        accepts="any",
        numpy="add",
        wgsl={"any": "({0} + {1})", "bool": "({0} | {1})"},
    ),
    Op(
        "subtract",
        "map",
        "a - b",
        arity=2,
        accepts="numeric",
        numpy="subtract",
        # Compilers fold x - x to 0 even where x is infinite.
        wgsl={"any": "({0} - {1})", "float of itself": "subtract_f32({0}, {1})"},
    ),
    Op(
        "multiply",
        "map",
        "a * b",
        arity=2,
        numpy="multiply",
        wgsl={"any": "({0} * {1})", "bool": "({0} & {1})"},
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
    ),
    Op(
        "floor_divide",
        "map",
        "the largest whole number not above a / b",
        arity=2,
        accepts="numeric",
        numpy="floor_divide",
        wgsl={
            "float": "floor_divide_f32({0}, {1})",
            "int": "floor_divide_i32({0}, {1})",
            "uint": "floor_divide_u32({0}, {1})",
        },
        weight=8,
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
    ),
    Op(
        "negative",
        "map",
        "-x",
        accepts="numeric",
        numpy="negative",
        wgsl={"float": "(-{0})", "int": "(-{0})", "uint": "(0u - {0})"},
    ),
    Op(
        "positive",
        "map",
        "x itself",
        accepts="numeric",
        numpy="positive",
        wgsl={"any": "{0}"},
    ),
    Op(
        "abs",
        "map",
        "the absolute value",
        accepts="numeric",
        numpy="abs",
        wgsl={"float": "abs({0})", "int": "abs({0})", "uint": "{0}"},
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
    ),
    Op(
        "square",
        "map",
        "x * x",
        accepts="numeric",
        numpy="square",
        wgsl={"any": "({0} * {0})"},
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
    ),
    Op(
        "rsqrt",
        "map",
        "1 / sqrt(x)",
        accepts="any",
        result="float",
        numpy=lambda np, x: np.divide(x.dtype.type(1), np.sqrt(x)),
        wgsl={"float": "divide_f32(1.0, sqrt_f32({0}))"},
        weight=6,
        ulp=2.0,
        domain=((0.01, 100.0),),
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
    ),
    Op(
        "copysign",
        "map",
        "the size of a with the sign of b",
        arity=2,
        result="float",
        numpy="copysign",
        wgsl={"float": "copysign_f32({0}, {1})"},
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
    ),
)
