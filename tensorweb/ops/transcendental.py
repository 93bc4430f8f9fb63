"""Entries of exponentials, logarithms and functions of angles in radians."""

from __future__ import annotations

import math
from typing import Any

from tensorweb.graph.op import TRANSCENDENTAL, Derivative, Op, float_function, steep
from tensorweb.ops.inverse_error import inverse_error


def _logaddexp_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Sigmoids of a - b and of b - a, a half each where both are one infinity."""
    gap = xp.where((a == b) & xp.isinf(a), 0, a - b)
    return 1 / (1 + xp.exp(-gap)), 1 / (1 + xp.exp(gap))


def _sigmoid(np: Any, x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), without an exponential of a large number."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)


def _erf(np: Any, x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[x.dtype])(x) if x.size else x


EXPONENTIAL: tuple[Op, ...] = (
    float_function(
        "exp",
        "e to the power of each element",
        ("tw.round(tw.exp([0.0, 1.0]) * 1000)", "tensor([1000., 2718.])"),
        weight=8,
        derivative=steep(lambda xp, y, x: (y,)),
    ),
    float_function(
        "exp2",
        "2 to the power of each element",
        ("tw.exp2([0, 3])", "tensor([1., 8.])"),
        weight=8,
        derivative=steep(lambda xp, y, x: (y * math.log(2),)),
    ),
    float_function(
        "expm1",
        "`exp(x) - 1`, exact near 0",
        ("tw.expm1([0.0, 1e-8])", "tensor([0.e+00, 1.e-08])"),
        weight=12,
        derivative=steep(lambda xp, y, x: (y + 1,)),
    ),
    float_function(
        "log",
        "the natural logarithm; `log(0)` is -inf, below 0 it is NaN",
        ("tw.log([1.0, 0.0])", "tensor([  0., -inf])"),
        weight=12,
        domain=(1e-3, 100.0),
        derivative=steep(lambda xp, y, x: (1 / x,)),
    ),
    float_function(
        "log1p",
        "`log(1 + x)`, exact near 0",
        ("tw.log1p([0.0, 1e-8])", "tensor([0.e+00, 1.e-08])"),
        weight=12,
        domain=(-0.99, 100.0),
        derivative=steep(lambda xp, y, x: (1 / (1 + x),)),
    ),
    float_function(
        "log2",
        "the logarithm to base 2",
        ("tw.log2([1, 8])", "tensor([0., 3.])"),
        weight=12,
        domain=(1e-3, 100.0),
        derivative=steep(lambda xp, y, x: (1 / (x * math.log(2)),)),
    ),
    float_function(
        "log10",
        "the logarithm to base 10",
        ("tw.log10([1, 10])", "tensor([0., 1.])"),
        weight=12,
        domain=(1e-3, 100.0),
        derivative=steep(lambda xp, y, x: (1 / (x * math.log(10)),)),
    ),
    Op(
        "logaddexp",
        "`log(exp(x1) + exp(x2))` without overflow",
        arity=2,
        result="float",
        wgsl={"float": "logaddexp_f32({0}, {1})"},
        weight=24,
        ulp=TRANSCENDENTAL,
        derivative=steep(_logaddexp_factors),
        example=("tw.logaddexp(1000.0, -1000.0)", "tensor(1000.)"),
    ),
    float_function(
        "sigmoid",
        "`1 / (1 + exp(-x))`, between 0 and 1 without overflow",
        ("tw.sigmoid([0.0, 1000.0])", "tensor([0.5, 1. ])"),
        numpy=_sigmoid,
        weight=12,
        derivative=Derivative(lambda xp, y, x: (y * (1 - y),)),
    ),
    float_function(
        "erf",
        "the error function of each element",
        ("tw.erf([0.0, tw.inf])", "tensor([0., 1.])"),
        numpy=_erf,
        domain=(-4.0, 4.0),
        derivative=Derivative(
            lambda xp, y, x: (2 / math.sqrt(math.pi) * xp.exp(-x * x),)
        ),
    ),
    float_function(
        "erfinv",
        "the inverse of the error function: `erf` of the result is `x`",
        (
            "tw.round(tw.erfinv([0.0, 0.5, 1.0]) * 10_000)",
            "tensor([   0., 4769.,   inf])",
        ),
        numpy=inverse_error,
        weight=32,
        domain=(-0.99, 0.99),
        derivative=steep(lambda xp, y, x: (math.sqrt(math.pi) / 2 * xp.exp(y * y),)),
        details="It is infinite at -1 and 1, and NaN beyond.",
    ),
)


def _angle_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """b/h² and -a/h², h the distance to the origin; 0 there."""
    distance = xp.hypot(a, b)
    divisor = xp.where(distance == 0, 1, distance)
    first = xp.where(distance == 0, 0, b / divisor / divisor)
    return first, xp.where(distance == 0, 0, -a / divisor / divisor)


TRIGONOMETRIC: tuple[Op, ...] = (
    float_function(
        "sin",
        "the sine",
        ("tw.sin([0.0])", "tensor([0.])"),
        derivative=Derivative(lambda xp, y, x: (xp.cos(x),)),
    ),
    float_function(
        "cos",
        "the cosine",
        ("tw.cos([0.0])", "tensor([1.])"),
        derivative=Derivative(lambda xp, y, x: (-xp.sin(x),)),
    ),
    float_function(
        "tan",
        "the tangent",
        ("tw.tan([0.0])", "tensor([0.])"),
        domain=(-1.5, 1.5),
        derivative=steep(lambda xp, y, x: (1 + y * y,)),
    ),
    float_function(
        "asin",
        "the angle of a sine, from -pi/2 to pi/2; NaN outside [-1, 1]",
        ("tw.round(tw.asin([0.0, 1.0]) * 1000)", "tensor([   0., 1571.])"),
        numpy="arcsin",
        domain=(-1.0, 1.0),
        derivative=steep(lambda xp, y, x: (1 / xp.sqrt((1 - x) * (1 + x)),)),
    ),
    float_function(
        "acos",
        "the angle of a cosine, from 0 to pi; NaN outside [-1, 1]",
        ("tw.round(tw.acos([1.0, 0.0]) * 1000)", "tensor([   0., 1571.])"),
        numpy="arccos",
        domain=(-1.0, 1.0),
        derivative=steep(lambda xp, y, x: (-1 / xp.sqrt((1 - x) * (1 + x)),)),
    ),
    float_function(
        "atan",
        "the angle of a tangent, from -pi/2 to pi/2",
        ("tw.round(tw.atan([0.0, 1.0]) * 1000)", "tensor([  0., 785.])"),
        numpy="arctan",
        derivative=Derivative(lambda xp, y, x: (1 / (1 + x * x),)),
    ),
    float_function(
        "sinh",
        "the hyperbolic sine",
        ("tw.sinh([0.0])", "tensor([0.])"),
        derivative=steep(lambda xp, y, x: (xp.cosh(x),)),
    ),
    float_function(
        "cosh",
        "the hyperbolic cosine",
        ("tw.cosh([0.0])", "tensor([1.])"),
        derivative=steep(lambda xp, y, x: (xp.sinh(x),)),
    ),
    float_function(
        "tanh",
        "the hyperbolic tangent",
        ("tw.tanh([0.0, tw.inf])", "tensor([0., 1.])"),
        derivative=Derivative(lambda xp, y, x: ((1 - y) * (1 + y),)),
    ),
    float_function(
        "asinh",
        "the inverse hyperbolic sine",
        ("tw.asinh([0.0])", "tensor([0.])"),
        numpy="arcsinh",
        derivative=Derivative(lambda xp, y, x: (1 / xp.hypot(x, 1),)),
    ),
    float_function(
        "acosh",
        "the inverse hyperbolic cosine; NaN below 1",
        ("tw.acosh([1.0])", "tensor([0.])"),
        numpy="arccosh",
        domain=(1.0, 100.0),
        derivative=steep(lambda xp, y, x: (1 / xp.sqrt((x - 1) * (x + 1)),)),
    ),
    float_function(
        "atanh",
        "the inverse hyperbolic tangent; infinite at -1 and 1",
        ("tw.atanh([0.0, 1.0])", "tensor([ 0., inf])"),
        numpy="arctanh",
        domain=(-0.99, 0.99),
        derivative=steep(lambda xp, y, x: (1 / ((1 - x) * (1 + x)),)),
    ),
    Op(
        "atan2",
        "the angle of the point `(x2, x1)`, from -pi to pi",
        arity=2,
        result="float",
        numpy="arctan2",
        wgsl={"float": "atan2_f32({0}, {1})"},
        weight=20,
        ulp=TRANSCENDENTAL,
        derivative=Derivative(_angle_factors),
        example=(
            "tw.round(tw.atan2([1.0, 0.0], [0.0, -1.0]) * 1000)",
            "tensor([1571., 3142.])",
        ),
    ),
)
