"""Rows of exponentials, logarithms and what is built from them."""

from __future__ import annotations

import math

from tensorweb.graph.op import TRANSCENDENTAL, Op


def _float(
    name: str,
    doc: str,
    numpy: object = None,
    weight: int = 12,
    domain: tuple[float, float] = (-10.0, 10.0),
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
    )


ROWS: tuple[Op, ...] = (
    _float("exp", "e to the power x", weight=8),
    _float("exp2", "2 to the power x", weight=8),
    _float("expm1", "exp(x) - 1, exact near 0"),
    _float("log", "the natural logarithm; log(0) is -inf", domain=(1e-3, 100.0)),
    _float("log1p", "log(1 + x), exact near 0", domain=(-0.99, 100.0)),
    _float("log2", "the logarithm to base 2", domain=(1e-3, 100.0)),
    _float("log10", "the logarithm to base 10", domain=(1e-3, 100.0)),
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
    ),
    _float(
        "sigmoid",
        "1 / (1 + exp(-x))",
        numpy=lambda np, x: np.where(
            x >= 0,
            1 / (1 + np.exp(-np.abs(x))),
            np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))),
        ).astype(x.dtype),
    ),
    _float(
        "erf",
        "the error function",
        numpy=lambda np, x: (
            np.vectorize(math.erf, otypes=[x.dtype])(x) if x.size else x
        ),
        weight=16,
        domain=(-4.0, 4.0),
    ),
)
