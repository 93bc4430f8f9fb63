"""Rows of trigonometric and hyperbolic functions; angles are in radians."""

from __future__ import annotations

from tensorweb.graph.op import TRANSCENDENTAL, Op


def _float(
    name: str,
    numpy: str,
    doc: str,
    domain: tuple[float, float] = (-10.0, 10.0),
) -> Op:
    return Op(
        name,
        "map",
        doc,
        result="float",
        numpy=numpy,
        wgsl={"float": f"{name}_f32({{0}})"},
        weight=16,
        ulp=TRANSCENDENTAL,
        domain=(domain,),
    )


ROWS: tuple[Op, ...] = (
    _float("sin", "sin", "the sine"),
    _float("cos", "cos", "the cosine"),
    _float("tan", "tan", "the tangent", (-1.5, 1.5)),
    _float("asin", "arcsin", "the inverse sine", (-1.0, 1.0)),
    _float("acos", "arccos", "the inverse cosine", (-1.0, 1.0)),
    _float("atan", "arctan", "the inverse tangent"),
    _float("sinh", "sinh", "the hyperbolic sine"),
    _float("cosh", "cosh", "the hyperbolic cosine"),
    _float("tanh", "tanh", "the hyperbolic tangent"),
    _float("asinh", "arcsinh", "the inverse hyperbolic sine"),
    _float("acosh", "arccosh", "the inverse hyperbolic cosine", (1.0, 100.0)),
    _float("atanh", "arctanh", "the inverse hyperbolic tangent", (-0.99, 0.99)),
    Op(
        "atan2",
        "map",
        "the angle of the point (b, a)",
        arity=2,
        result="float",
        numpy="arctan2",
        wgsl={"float": "atan2_f32({0}, {1})"},
        weight=20,
        ulp=TRANSCENDENTAL,
    ),
)
