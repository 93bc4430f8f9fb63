"""Entries of trigonometric and hyperbolic functions; angles are in radians."""

from __future__ import annotations

from typing import Any

from tensorweb.graph.op import TRANSCENDENTAL, Derivative, Op, float_function, steep


def _angle_factors(xp: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """b/h² and -a/h², h the distance to the origin; 0 there."""
    distance = xp.hypot(a, b)
    divisor = xp.where(distance == 0, 1, distance)
    first = xp.where(distance == 0, 0, b / divisor / divisor)
    return first, xp.where(distance == 0, 0, -a / divisor / divisor)


ENTRIES: tuple[Op, ...] = (
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
        "map",
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
