"""Entries of arithmetic, of rounding, and of questions about single floats."""

from __future__ import annotations

from typing import Any

from tensorweb.graph.op import (
    FLAT,
    TRANSCENDENTAL,
    Derivative,
    Op,
    float_function,
    steep,
)


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
    by_base = xp.where(is_flat, 0, b * a ** xp.where(is_flat, 1, b - 1))
    is_constant = (a == 0) & (b >= 0)
    return by_base, xp.where(is_constant, 0, y * xp.log(xp.where(is_constant, 1, a)))


def _hypot_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """a/y and b/y, 0 at the origin."""
    divisor = xp.where(y == 0, 1, y)
    return xp.where(y == 0, 0, a / divisor), xp.where(y == 0, 0, b / divisor)


def _copysign_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, None]:
    """1 or -1, by whether the sign changes."""
    return xp.where(xp.signbit(y) == xp.signbit(a), 1.0, -1.0), None


def _extreme_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """1 for the operand that is the result, 0.5 each on a tie, NaN for a NaN."""
    factor = xp.where(a == b, 0.5, 1.0)
    other = xp.where(xp.isnan(y), y, 0)
    return xp.where(a == y, factor, other), xp.where(b == y, factor, other)


MAXIMUM_WGSL = {
    "float": "maximum_f32({0}, {1})",
    "any": "max({0}, {1})",
    "bool": "({0} | {1})",
}

MINIMUM_WGSL = {
    "float": "minimum_f32({0}, {1})",
    "any": "min({0}, {1})",
    "bool": "({0} & {1})",
}

ARITHMETIC: tuple[Op, ...] = (
    Op(
        "add",
        "`x1 + x2`",
        arity=2,
        wgsl={"any": "({0} + {1})", "bool": "({0} | {1})"},
        derivative=Derivative(lambda xp, y, a, b: (1, 1)),
        details="Integers wrap around.",
        example=("tw.add([1, 2, 3], 10)", "tensor([11, 12, 13])"),
    ),
    Op(
        "subtract",
        "`x1 - x2`",
        arity=2,
        accepts="numeric",
        wgsl={"any": "({0} - {1})"},
        derivative=Derivative(lambda xp, y, a, b: (1, -1)),
        example=("tw.subtract([5, 7], 4)", "tensor([1, 3])"),
    ),
    Op(
        "multiply",
        "`x1 * x2`, element by element; `matmul` is the matrix product",
        arity=2,
        wgsl={"any": "({0} * {1})", "bool": "({0} & {1})"},
        derivative=Derivative(lambda xp, y, a, b: (b, a)),
        example=("tw.multiply([1, 2, 3], 2.5)", "tensor([2.5, 5. , 7.5])"),
    ),
    Op(
        "divide",
        "`x1 / x2`, always a float",
        arity=2,
        result="float",
        wgsl={"float": "divide_f32({0}, {1})"},
        weight=4,
        ulp=1.0,
        derivative=steep(lambda xp, y, a, b: (1 / b, -y / b)),
        details="Division by 0 gives infinity or NaN.",
        example=("tw.divide([1, 2, 3], 2)", "tensor([0.5, 1. , 1.5])"),
    ),
    Op(
        "floor_divide",
        "the largest whole number not above `x1 / x2`",
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
        details="An integer divided by 0 gives 0. With an infinity it is "
        "`floor(x1 / x2)`, as the Array API prefers: `inf // 2` is inf, `1 // -inf` is "
        "-0.",
        example=("tw.floor_divide([7, -7], 2)", "tensor([ 3, -4])"),
    ),
    Op(
        "remainder",
        "the remainder of `floor_divide`, with the sign of `x2`",
        arity=2,
        accepts="numeric",
        wgsl={
            "float": "remainder_f32({0}, {1})",
            "int": "remainder_i32({0}, {1})",
            "uint": "remainder_u32({0}, {1})",
        },
        weight=8,
        ulp=1.0,
        derivative=Derivative(lambda xp, y, a, b: (1, -xp.floor_divide(a, b))),
        example=("tw.remainder([7, -7], 3)", "tensor([1, 2])"),
    ),
    Op(
        "pow",
        "`x1` to the power `x2`",
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
        example=("tw.pow([1, 2, 3], 2)", "tensor([1, 4, 9])"),
    ),
    Op(
        "negative",
        "`-x`",
        accepts="numeric",
        wgsl={"float": "(-{0})", "int": "negative_i32({0})", "uint": "(0u - {0})"},
        derivative=Derivative(lambda xp, y, x: (-1,)),
        example=("tw.negative([1, -2])", "tensor([-1,  2])"),
    ),
    Op(
        "positive",
        "`x` itself",
        accepts="numeric",
        wgsl={"any": "{0}"},
        derivative=Derivative(lambda xp, y, x: (1,)),
        example=("tw.positive([1, -2])", "tensor([ 1, -2])"),
    ),
    Op(
        "abs",
        "the absolute value of each element",
        accepts="numeric",
        wgsl={"float": "abs({0})", "int": "abs_i32({0})", "uint": "{0}"},
        derivative=Derivative(lambda xp, y, x: (xp.sign(x),)),
        example=("tw.abs([-2.5, 3.0])", "tensor([2.5, 3. ])"),
    ),
    Op(
        "sign",
        "-1, 0 or 1 for each element; NaN stays NaN",
        accepts="numeric",
        wgsl={
            "float": "sign_f32({0})",
            "int": "sign_i32({0})",
            "uint": "min({0}, 1u)",
        },
        derivative=FLAT,
        example=("tw.sign([-3, 0, 8])", "tensor([-1,  0,  1])"),
    ),
    Op(
        "reciprocal",
        "`1 / x`",
        result="float",
        numpy=lambda np, x: np.divide(x.dtype.type(1), x),
        wgsl={"float": "divide_f32(1.0, {0})"},
        weight=4,
        ulp=1.0,
        derivative=steep(lambda xp, y, x: (-y * y,)),
        example=("tw.reciprocal([2.0, 4.0])", "tensor([0.5 , 0.25])"),
    ),
    Op(
        "square",
        "`x * x`",
        accepts="numeric",
        wgsl={"any": "({0} * {0})"},
        derivative=Derivative(lambda xp, y, x: (2 * x,)),
        example=("tw.square([1, 2, 3])", "tensor([1, 4, 9])"),
    ),
    Op(
        "sqrt",
        "the square root of each element; NaN below zero",
        result="float",
        wgsl={"float": "sqrt_f32({0})"},
        weight=4,
        ulp=1.0,
        domain=((0.0, 100.0),),
        derivative=steep(lambda xp, y, x: (0.5 / y,)),
        example=("tw.sqrt([4, 9])", "tensor([2., 3.])"),
    ),
    Op(
        "rsqrt",
        "`1 / sqrt(x)`",
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
        example=("tw.rsqrt([4.0, 16.0])", "tensor([0.5 , 0.25])"),
    ),
    float_function(
        "cbrt",
        "the cube root, also of negative numbers",
        ("tw.cbrt([-8.0, 0.0, 1.0])", "tensor([-2.,  0.,  1.])"),
        weight=12,
        derivative=steep(lambda xp, y, x: (1 / (3 * y * y),)),
    ),
    Op(
        "hypot",
        "`sqrt(x1**2 + x2**2)` without overflow in between",
        arity=2,
        result="float",
        wgsl={"float": "hypot_f32({0}, {1})"},
        weight=8,
        ulp=2.0,
        derivative=Derivative(_hypot_factors),
        example=("tw.hypot([3.0, 5.0], [4.0, 12.0])", "tensor([ 5., 13.])"),
    ),
    Op(
        "copysign",
        "the size of `x1` with the sign of `x2`, also of -0",
        arity=2,
        result="float",
        wgsl={"float": "copysign_f32({0}, {1})"},
        derivative=Derivative(_copysign_factors),
        example=("tw.copysign([1.0, 2.0], -0.0)", "tensor([-1., -2.])"),
    ),
    Op(
        "nextafter",
        "the next float from `x1` towards `x2`",
        arity=2,
        result="float",
        wgsl={
            "float": "nextafter_f32({0}, {1})",
            "float16": "nextafter_half_f32({0}, {1})",
            "bfloat16": "nextafter_bfloat16({0}, {1})",
        },
        weight=4,
        derivative=Derivative(lambda xp, y, a, b: (1, None)),
        example=("tw.nextafter(1.0, 2.0) > 1.0", "tensor(True)"),
    ),
    Op(
        "maximum",
        "the larger of two elements; NaN wins",
        arity=2,
        wgsl=MAXIMUM_WGSL,
        derivative=Derivative(_extreme_factors),
        example=("tw.maximum([1, 5], [4, 2])", "tensor([4, 5])"),
    ),
    Op(
        "minimum",
        "the smaller of two elements; NaN wins",
        arity=2,
        wgsl=MINIMUM_WGSL,
        derivative=Derivative(_extreme_factors),
        example=("tw.minimum([1, 5], [4, 2])", "tensor([1, 2])"),
    ),
    Op(
        "relu",
        "each element where it is positive, else 0",
        result="float",
        numpy=lambda np, x: np.maximum(x, x.dtype.type(0)),
        wgsl={"float": "maximum_f32({0}, 0.0)"},
        derivative=Derivative(lambda xp, y, x: (xp.where(y > 0, 1.0, 0.0),)),
        details="Its derivative at 0 is 0.",
        example=("tw.relu([-1.0, 0.0, 2.0])", "tensor([0., 0., 2.])"),
    ),
)


def _round(name: str, summary: str, example: tuple[str, str] | None = None) -> Op:
    return Op(
        name,
        summary,
        accepts="numeric",
        numpy=lambda np, x: getattr(np, name)(x) if x.dtype.kind == "f" else x,
        wgsl={"float": f"{name}_f32({{0}})", "any": "{0}"},
        derivative=FLAT,
        example=example,
    )


def _question(
    name: str, summary: str, of_integers: str, example: tuple[str, str]
) -> Op:
    return Op(
        name,
        summary,
        result="bool",
        wgsl={"float": f"{name}_f32({{0}})", "any": of_integers},
        derivative=FLAT,
        example=example,
    )


ROUNDING: tuple[Op, ...] = (
    _round(
        "floor",
        "the largest whole number not above each element",
        ("tw.floor([1.5, -1.5])", "tensor([ 1., -2.])"),
    ),
    _round(
        "ceil",
        "the smallest whole number not below each element",
        ("tw.ceil([1.5, -1.5])", "tensor([ 2., -1.])"),
    ),
    _round(
        "trunc",
        "each element without its fraction",
        ("tw.trunc([1.5, -1.5])", "tensor([ 1., -1.])"),
    ),
    _round("round", "the nearest whole number, halves to even"),
    _question(
        "isnan",
        "whether each element is not a number",
        "false",
        ("tw.isnan([1.0, tw.nan])", "tensor([False,  True])"),
    ),
    _question(
        "isinf",
        "whether each element is infinite",
        "false",
        ("tw.isinf([1.0, -tw.inf])", "tensor([False,  True])"),
    ),
    _question(
        "isfinite",
        "whether each element is neither infinite nor NaN",
        "true",
        ("tw.isfinite([1.0, tw.inf, tw.nan])", "tensor([ True, False, False])"),
    ),
    Op(
        "signbit",
        "whether the sign bit of each float is set, also of -0 and NaN",
        result="bool",
        accepts="floating",
        wgsl={"float": "signbit_f32({0})"},
        derivative=FLAT,
        example=("tw.signbit([-0.0, 0.0, -3.0])", "tensor([ True, False,  True])"),
    ),
)
