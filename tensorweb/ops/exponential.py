"""Rows of exponentials, logarithms and what is built from them."""

from __future__ import annotations

import math
from typing import Any

from tensorweb.graph.op import TRANSCENDENTAL, Derivative, Op, steep
from tensorweb.ops.inverse_error import inverse_error


def _float(
    name: str,
    doc: str,
    numpy: object = None,
    weight: int = 12,
    domain: tuple[float, float] = (-10.0, 10.0),
    *,
    derivative: Derivative,
) -> Op:
    rule = numpy if callable(numpy) else name
    return Op(
        name,
        "map",
        doc,
        result="float",
        numpy=rule,
        wgsl={"float": f"{name}_f32({{0}})"},
        weight=weight,
        ulp=TRANSCENDENTAL,
        domain=(domain,),
        derivative=derivative,
    )


def _logaddexp_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Sigmoids of a - b and of b - a, a half each where both are one infinity."""
    gap = xp.where((a == b) & xp.isinf(a), 0, a - b)
    return 1 / (1 + xp.exp(-gap)), 1 / (1 + xp.exp(gap))


ROWS: tuple[Op, ...] = (
    _float(
        "exp", "e to the power x", weight=8, derivative=steep(lambda xp, y, x: (y,))
    ),
    _float(
        "exp2",
        "2 to the power x",
        weight=8,
        derivative=steep(lambda xp, y, x: (y * math.log(2),)),
    ),
    _float(
        "expm1", "exp(x) - 1, exact near 0", derivative=steep(lambda xp, y, x: (y + 1,))
    ),
    _float(
        "log",
        "the natural logarithm; log(0) is -inf",
        domain=(1e-3, 100.0),
        derivative=steep(lambda xp, y, x: (1 / x,)),
    ),
    _float(
        "log1p",
        "log(1 + x), exact near 0",
        domain=(-0.99, 100.0),
        derivative=steep(lambda xp, y, x: (1 / (1 + x),)),
    ),
    _float(
        "log2",
        "the logarithm to base 2",
        domain=(1e-3, 100.0),
        derivative=steep(lambda xp, y, x: (1 / (x * math.log(2)),)),
    ),
    _float(
        "log10",
        "the logarithm to base 10",
        domain=(1e-3, 100.0),
        derivative=steep(lambda xp, y, x: (1 / (x * math.log(10)),)),
    ),
    Op(
        "logaddexp",
        "map",
        "log(exp(a) + exp(b)) without overflow",
        arity=2,
        result="float",
        numpy="logaddexp",
        wgsl={"float": "logaddexp_f32({0}, {1})"},
        weight=24,
        ulp=TRANSCENDENTAL,
        derivative=steep(_logaddexp_factors),
    ),
    _float(
        "sigmoid",
        "1 / (1 + exp(-x))",
        numpy=lambda np, x: np.where(
            x >= 0,
            1 / (1 + np.exp(-np.abs(x))),
            np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))),
        ).astype(x.dtype),
        derivative=Derivative(lambda xp, y, x: (y * (1 - y),)),
    ),
    _float(
        "erf",
        "the error function",
        numpy=lambda np, x: (
            np.vectorize(math.erf, otypes=[x.dtype])(x) if x.size else x
        ),
        weight=16,
        domain=(-4.0, 4.0),
        derivative=Derivative(
            lambda xp, y, x: (2 / math.sqrt(math.pi) * xp.exp(-x * x),)
        ),
    ),
    _float(
        "erfinv",
        "the inverse of the error function; NaN beyond -1 and 1",
        numpy=inverse_error,
        weight=32,
        domain=(-0.99, 0.99),
        derivative=steep(lambda xp, y, x: (math.sqrt(math.pi) / 2 * xp.exp(y * y),)),
    ),
)
