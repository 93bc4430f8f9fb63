"""Build the nearest numbers of some decimals: floats by scaling, integers exactly."""

from __future__ import annotations

from tensorweb.dtypes import finfo, integer_range
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import COMPLEX
from tensorweb.nodes.complex_parts import join_by_part
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS

MOST_DECIMALS = 400
"""No float has as many digits before or after its point."""


def rounded(node: Node, decimals: int) -> Node:
    """Return the nearest number with `decimals` decimals, halves to even."""
    decimals = max(-MOST_DECIMALS, min(decimals, MOST_DECIMALS))
    if not decimals or node.dtype.kind == "bool":
        return elementwise(OPS["round"], node)
    if node.op is COMPLEX:
        return join_by_part(lambda part: rounded(part, decimals), node)
    if node.dtype.kind != "float":
        return node if decimals > 0 else _rounded_integers(node, 10**-decimals)
    scale = 10 ** abs(decimals)
    if scale > finfo(node.dtype).max:
        return node if decimals > 0 else _times(node, 0.0)
    factor = constant(float(scale), node.dtype, node.device)
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    whole = elementwise(OPS["round"], elementwise(OPS[there], node, factor))
    return elementwise(OPS[back], whole, factor)


def _times(node: Node, number: float) -> Node:
    factor = constant(number, node.dtype, node.device)
    return elementwise(OPS["multiply"], node, factor)


def _rounded_integers(node: Node, step: int) -> Node:
    """Return the nearest multiples of a step; compares with what is left of it."""
    if step > integer_range(node.dtype)[1]:
        return _times(node, 0)
    parts = constant(step, node.dtype, node.device)
    below = elementwise(OPS["floor_divide"], node, parts)
    rest = elementwise(OPS["remainder"], node, parts)
    missing = elementwise(OPS["subtract"], parts, rest)
    none, one, two = (constant(i, node.dtype, node.device) for i in range(3))
    is_odd = elementwise(OPS["remainder"], below, two)
    at_half = elementwise(OPS["equal"], rest, missing)
    half = elementwise(OPS["where"], at_half, is_odd, none)
    over = elementwise(OPS["greater"], rest, missing)
    up = elementwise(OPS["where"], over, one, half)
    return elementwise(OPS["multiply"], elementwise(OPS["add"], below, up), parts)
