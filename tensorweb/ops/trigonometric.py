"""Rows of trigonometric and hyperbolic functions; angles are in radians."""

from __future__ import annotations

from typing import Any

from tensorweb.graph.op import TRANSCENDENTAL, Derivative, Op, steep


def _float(
    name: str,
    numpy: str,
    doc: str,
    domain: tuple[float, float] = (-10.0, 10.0),
    *,
    derivative: Derivative,
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
        derivative=derivative,
    )


def _angle_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """b/h² and -a/h², h the distance to the origin; 0 there."""
    distance = xp.hypot(a, b)
    whole = xp.where(distance == 0, 1, distance)
    left = xp.where(distance == 0, 0, b / whole / whole)
    return left, xp.where(distance == 0, 0, -a / whole / whole)


ROWS: tuple[Op, ...] = (
    _float(
        "sin", "sin", "the sine", derivative=Derivative(lambda xp, y, x: (xp.cos(x),))
    ),
    _float(
        "cos",
        "cos",
        "the cosine",
        derivative=Derivative(lambda xp, y, x: (-xp.sin(x),)),
    ),
    _float(
        "tan",
        "tan",
        "the tangent",
        (-1.5, 1.5),
        derivative=steep(lambda xp, y, x: (1 + y * y,)),
    ),
    _float(
        "asin",
        "arcsin",
        "the inverse sine",
        (-1.0, 1.0),
        derivative=steep(lambda xp, y, x: (1 / xp.sqrt((1 - x) * (1 + x)),)),
    ),
    _float(
        "acos",
        "arccos",
        "the inverse cosine",
        (-1.0, 1.0),
        derivative=steep(lambda xp, y, x: (-1 / xp.sqrt((1 - x) * (1 + x)),)),
    ),
    _float(
        "atan",
        "arctan",
        "the inverse tangent",
        derivative=Derivative(lambda xp, y, x: (1 / (1 + x * x),)),
    ),
    _float(
        "sinh",
        "sinh",
        "the hyperbolic sine",
        derivative=steep(lambda xp, y, x: (xp.cosh(x),)),
    ),
    _float(
        "cosh",
        "cosh",
        "the hyperbolic cosine",
        derivative=steep(lambda xp, y, x: (xp.sinh(x),)),
    ),
    _float(
        "tanh",
        "tanh",
        "the hyperbolic tangent",
        derivative=Derivative(lambda xp, y, x: ((1 - y) * (1 + y),)),
    ),
    _float(
        "asinh",
        "arcsinh",
        "the inverse hyperbolic sine",
        derivative=Derivative(lambda xp, y, x: (1 / xp.hypot(x, 1),)),
    ),
    _float(
        "acosh",
        "arccosh",
        "the inverse hyperbolic cosine",
        (1.0, 100.0),
        derivative=steep(lambda xp, y, x: (1 / xp.sqrt((x - 1) * (x + 1)),)),
    ),
    _float(
        "atanh",
        "arctanh",
        "the inverse hyperbolic tangent",
        (-0.99, 0.99),
        derivative=steep(lambda xp, y, x: (1 / ((1 - x) * (1 + x)),)),
    ),
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
        derivative=Derivative(_angle_factors),
    ),
)
