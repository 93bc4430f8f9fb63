"""Balls of the elementwise operations of the op table: how each carries errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fuzz.ball import (
    FLOATS,
    Array,
    Ball,
    Function,
    as_dtype,
    certain,
    compared,
    mapped,
    rounded,
    tested,
    ulp,
)
from fuzz.program import Unfit
from tensorweb.dtypes import BY_NAME
from tensorweb.ops import OPS
from tests.oracles import function, takes
from tests.tolerances import map_tolerance

EXACT = (
    *("floor", "ceil", "trunc", "round", "negative", "positive", "abs", "sign"),
    *("maximum", "minimum", "copysign"),
)
KEEPS_SIGNS = (
    *("floor", "ceil", "trunc", "round", "negative", "positive", "abs", "sign"),
    *("square", "sqrt", "cbrt", "sin", "tan", "asin", "atan", "sinh", "tanh"),
    *("multiply", "divide", "copysign", "add", "subtract"),
)
POLES = (
    *("tan", "reciprocal", "rsqrt", "log", "log2", "log10", "log1p", "atanh"),
    *("erfinv", "divide", "pow"),
)
PERIODIC = ("sin", "cos", "tan")
AT_ZERO = {
    **dict.fromkeys(("reciprocal", "rsqrt", "pow"), (0,)),
    **dict.fromkeys(("divide", "copysign"), (1,)),
    "atan2": (0, 1),
}
"""Operands whose zeros of both signs give different results."""


def float_dtype(dtype: str) -> str:
    """Return the dtype of a function that is always a float."""
    return dtype if dtype in FLOATS else "float32"


def promoted(*balls: Ball) -> str:
    """Return the dtype of operands together: floats win over integers.

    Raises:
        Unfit: the device need not have the integer that holds both.
    """
    dtype = balls[0].dtype
    for other in (ball.dtype for ball in balls[1:]):
        if "bool" in (dtype, other):
            dtype = other if dtype == "bool" else dtype
        elif (dtype in FLOATS) != (other in FLOATS):
            dtype = dtype if dtype in FLOATS else other
        elif dtype != other:
            name = np.result_type(np.dtype(dtype), np.dtype(other)).name
            if dtype not in FLOATS and name not in (dtype, other) and "64" in name:
                raise Unfit
            dtype = str(name)
    return dtype


def map_ball(name: str, *balls: Ball) -> Ball:
    """Return the ball of an elementwise entry of the op table.

    Raises:
        Unfit: the operation is not defined for these operands.
    """
    entry, compute, dtype = OPS[name], function(name), promoted(*balls)
    if not takes(name, BY_NAME[dtype]):
        raise Unfit
    if entry.result == "logical":
        return certain(compute, [as_dtype(ball, "bool") for ball in balls], "bool")
    if entry.result == "float":
        dtype = float_dtype(dtype)
    given = [as_dtype(ball, dtype) for ball in balls]
    if entry.result == "bool" and entry.arity == 2:
        return compared(compute, *given)
    if entry.result == "bool":
        return tested(compute, as_dtype(given[0], float_dtype(dtype)))
    if dtype not in FLOATS:
        return _of_integers(name, given, dtype)
    if name in OTHERWISE:
        return OTHERWISE[name](name, given[0], given[1])
    result = mapped(
        compute,
        given,
        dtype,
        0 if name in EXACT else map_tolerance(name, dtype),
        keeps_signs=name in KEEPS_SIGNS,
        has_poles=name in POLES,
        most=0.25 if name in PERIODIC else np.inf,
    )
    for operand in (given[index] for index in AT_ZERO.get(name, ())):
        if not operand.has_signs:
            result = unknown(result, np.abs(operand.centre) <= operand.radius)
    if name in JUMPS:
        result = unknown(result, JUMPS[name](*given))
    return replace(result, has_signs=False) if name == "atan2" else result


def unknown(ball: Ball, where: Array) -> Ball:
    """Return a ball of which some elements are unknown."""
    return replace(ball, radius=np.where(where, np.inf, ball.radius))


JUMPS: dict[str, Function] = {
    # A subnormal denominator may be 0, and 0 / 0 is NaN.
    "divide": lambda a, b: (b.radius > 0) & (np.abs(b.centre) <= b.radius),
    # Below zero it matters whether the exponent is an integer, and even.
    "pow": lambda a, b: (b.radius > 0) & ~(a.centre > a.radius),
    "copysign": lambda a, b: np.isnan(b.centre),  # the sign of NaN means nothing
    "atan2": lambda a, b: (
        (np.abs(a.centre) <= a.radius) & ((a.radius > 0) | (b.radius > 0))
    ),
}
"""Where results are unknown for other reasons than the operands' distance."""


def _of_integers(name: str, given: list[Ball], dtype: str) -> Ball:
    """Return the ball of an operation on integers or bool."""
    last = given[-1].centre
    if name in ("floor_divide", "remainder") and np.any(last == 0):
        raise Unfit
    if name == "pow" and np.any((last < 0) | (last > 40)):
        raise Unfit
    if name.endswith("shift") and np.any((last < 0) | (last >= np.iinfo(dtype).bits)):
        raise Unfit
    return certain(function(name), given, dtype)


def _logaddexp(name: str, a: Ball, b: Ball) -> Ball:
    """Return the ball of logaddexp, whose error is in ULP of the largest operand."""
    plain = mapped(np.logaddexp, [a, b], a.dtype, 0)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(a.centre), np.abs(b.centre))
        size = np.maximum(np.where(np.isfinite(size), size, 0), np.abs(plain.centre))
    extra = ulp(size, a.dtype) * map_tolerance(name, a.dtype)
    rounding = 2 if a.dtype == "float16" else 1
    return rounded(plain.centre, plain.radius + extra * rounding, a.dtype, 0)


def _divided_down(name: str, a: Ball, b: Ball) -> Ball:
    """Return the ball of a quotient without fraction, or of what it leaves.

    It is known for exact operands and moderate quotients only.
    """
    result = mapped(function(name), [a, b], a.dtype, 1.0)
    with np.errstate(all="ignore"):
        is_known = (a.radius == 0) & (b.radius == 0)
        is_known &= np.abs(a.centre / b.centre) < 2.0**11
        is_known &= (np.abs(b.centre) > 1e-4) & (np.abs(a.centre) < 1e30)
    return unknown(result, ~is_known)


def _nextafter(name: str, a: Ball, b: Ball) -> Ball:
    """Return the ball of a neighbour, known for exact operands that differ."""
    if not a.has_signs:
        raise Unfit
    with np.errstate(all="ignore"):
        ends = [ball.centre.astype(a.dtype) for ball in (a, b)]
        near = np.nextafter(*ends).astype(np.float64)
    result = rounded(near, np.zeros(near.shape), a.dtype, 0)
    return unknown(result, (a.radius > 0) | (b.radius > 0) | (ends[0] == ends[1]))


OTHERWISE: dict[str, Callable[[str, Ball, Ball], Ball]] = {
    "logaddexp": _logaddexp,
    "floor_divide": _divided_down,
    "remainder": _divided_down,
    "nextafter": _nextafter,
}
"""Operations whose errors do not follow from the distance of their operands."""
