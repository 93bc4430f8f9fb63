"""Balls of the elementwise functions: how each carries errors, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.ball import FLOATS, Ball, as_dtype, certain, mapped, rounded, ulp
from fuzz.program import Unfit
from tests.oracles import function
from tests.tolerances import map_tolerance

UNARY: dict[str, Callable[[Any], Any]] = {
    name: function(name)
    for name in (
        *("floor", "ceil", "trunc", "round"),
        *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "relu", "sigmoid"),
        *("erf",),
        *("sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erfinv"),
        *("negative", "positive", "abs", "sign", "square"),
    )
}
"""By name; all take floats, those of `BOTH` integers, too."""

BOTH = ("negative", "positive", "abs", "sign", "square")
WHOLE = ("floor", "ceil", "trunc", "round")
EXACT = (*WHOLE, "negative", "positive", "abs", "sign")
KEEPS_SIGNS = (*EXACT, "square", "sqrt", "sin", "tan", "asin", "atan", "sinh", "tanh")
POLES = (
    "tan",
    "reciprocal",
    "rsqrt",
    "log",
    "log2",
    "log10",
    "log1p",
    "atanh",
    "erfinv",
)
PERIODIC = ("sin", "cos", "tan")
AT_ZERO = ("reciprocal", "rsqrt", "divide", "copysign", "atan2", "nextafter", "pow")
"""Operations whose results differ for 0.0 and -0.0."""


def float_dtype(dtype: str) -> str:
    """Return the dtype of a function that is always a float."""
    return dtype if dtype in FLOATS else "float32"


def unsigned_zeros(ball: Ball, operand: Ball) -> Ball:
    """Return a ball that is unknown where the operand's zero has an unknown sign."""
    if operand.has_signs:
        return ball
    may_be_zero = np.abs(operand.centre) <= operand.radius
    radius = np.where(may_be_zero, np.inf, ball.radius)
    return Ball(ball.centre, radius, ball.dtype, ball.has_signs)


def unary_ball(name: str, ball: Ball) -> Ball:
    """Return the ball of a unary operation."""
    if not ball.is_float and name in (*BOTH, *WHOLE):
        if name in WHOLE or (name == "abs" and ball.dtype[0] == "u"):
            return ball
        return certain(UNARY[name], [ball], ball.dtype)
    dtype = float_dtype(ball.dtype)
    operand = as_dtype(ball, dtype)
    result = mapped(
        UNARY[name],
        [operand],
        dtype,
        0 if name in EXACT else map_tolerance(name, dtype),
        keeps_signs=name in KEEPS_SIGNS,
        has_poles=name in POLES,
        most=0.25 if name in PERIODIC else np.inf,
    )
    return unsigned_zeros(result, operand) if name in AT_ZERO else result


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: function(name)
    for name in (
        *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow"),
        *("hypot", "copysign", "maximum", "minimum", "atan2", "logaddexp"),
    )
}

ALWAYS_FLOAT = ("divide", "hypot", "copysign", "atan2", "logaddexp")


def promoted(a: Ball, b: Ball) -> str:
    """Return the dtype of both operands together: floats win over integers.

    Raises:
        Unfit: the device need not have the integer that holds both.
    """
    if a.dtype == b.dtype:
        return a.dtype
    if "bool" in (a.dtype, b.dtype):
        return b.dtype if a.dtype == "bool" else a.dtype
    if a.is_float != b.is_float:
        return a.dtype if a.is_float else b.dtype
    name = np.result_type(np.dtype(a.dtype), np.dtype(b.dtype)).name
    is_wider = name not in (a.dtype, b.dtype)
    if not a.is_float and is_wider and name in ("int64", "float64"):
        raise Unfit
    return str(name)


def binary_ball(name: str, a: Ball, b: Ball) -> Ball:
    """Return the ball of a binary operation.

    Raises:
        Unfit: the operation is not defined for these operands.
    """
    dtype = promoted(a, b)
    if name in ALWAYS_FLOAT:
        dtype = float_dtype(dtype)
    a, b = as_dtype(a, dtype), as_dtype(b, dtype)
    compute = BINARY[name]
    if dtype == "bool":
        if name not in ("add", "multiply", "maximum", "minimum"):
            raise Unfit
        return certain(compute, [a, b], dtype)
    if dtype not in FLOATS:
        if name in ("floor_divide", "remainder") and np.any(b.centre == 0):
            raise Unfit
        if name == "pow" and np.any((b.centre < 0) | (b.centre > 40)):
            raise Unfit
        return certain(compute, [a, b], dtype)
    if name == "logaddexp":
        return _logaddexp(a, b, dtype)
    if name in ("floor_divide", "remainder"):
        return _divided_down(name, a, b, dtype)
    result = mapped(
        compute,
        [a, b],
        dtype,
        0 if name in ("maximum", "minimum", "copysign") else map_tolerance(name, dtype),
        keeps_signs=name in ("multiply", "divide", "copysign", "add", "subtract"),
        has_poles=name in ("divide", "pow"),
    )
    if name in ("divide", "pow", "copysign"):
        result = unsigned_zeros(result, b if name != "pow" else a)
    if name == "divide":
        # A subnormal denominator may be 0, and 0 / 0 is NaN.
        may_vanish = (b.radius > 0) & (np.abs(b.centre) <= b.radius)
        radius = np.where(may_vanish, np.inf, result.radius)
        result = Ball(result.centre, radius, dtype, result.has_signs)
    if name == "pow":
        # Below zero it matters whether the exponent is an integer, and even.
        loose = (b.radius > 0) & ~(a.centre > a.radius)
        radius = np.where(loose, np.inf, result.radius)
        result = Ball(result.centre, radius, dtype, result.has_signs)
    if name == "copysign":
        # The sign of NaN means nothing.
        radius = np.where(np.isnan(b.centre), np.inf, result.radius)
        result = Ball(result.centre, radius, dtype, result.has_signs)
    if name == "atan2":
        result = unsigned_zeros(unsigned_zeros(result, a), b)
        near = (np.abs(a.centre) <= a.radius) & ((a.radius > 0) | (b.radius > 0))
        radius = np.where(near, np.inf, result.radius)
        result = Ball(result.centre, radius, dtype)
    return result


def _logaddexp(a: Ball, b: Ball, dtype: str) -> Ball:
    """Return the ball of logaddexp, whose error is in ULP of the largest operand."""
    plain = mapped(np.logaddexp, [a, b], dtype, 0)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(a.centre), np.abs(b.centre))
        size = np.maximum(np.where(np.isfinite(size), size, 0), np.abs(plain.centre))
    extra = ulp(size, dtype) * map_tolerance("logaddexp", dtype)
    rounding = 2 if dtype == "float16" else 1
    return rounded(plain.centre, plain.radius + extra * rounding, dtype, 0)


def _divided_down(name: str, a: Ball, b: Ball, dtype: str) -> Ball:
    """Return the ball of a quotient without fraction, or of what it leaves.

    It is known for exact operands and moderate quotients only.
    """
    result = mapped(BINARY[name], [a, b], dtype, 1.0)
    with np.errstate(all="ignore"):
        quotient = np.abs(a.centre / b.centre)
        exact = (a.radius == 0) & (b.radius == 0) & (quotient < 2.0**11)
        exact &= (np.abs(b.centre) > 1e-4) & (np.abs(a.centre) < 1e30)
    return Ball(result.centre, np.where(exact, result.radius, np.inf), dtype)
