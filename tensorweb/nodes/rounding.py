"""Round to a count of decimals: floats by scaling, integers exactly."""

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
    """Round to `decimals` decimals, halves to even."""
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
    scale_op, unscale_op = OPS["multiply"], OPS["divide"]
    if decimals < 0:
        scale_op, unscale_op = unscale_op, scale_op
    integers = elementwise(OPS["round"], elementwise(scale_op, node, factor))
    return elementwise(unscale_op, integers, factor)


def _times(node: Node, number: float) -> Node:
    factor = constant(number, node.dtype, node.device)
    return elementwise(OPS["multiply"], node, factor)


def _rounded_integers(node: Node, step: int) -> Node:
    """Return the nearest multiples of a step, halves to even."""
    if step > integer_range(node.dtype)[1]:
        return _times(node, 0)
    steps = constant(step, node.dtype, node.device)
    quotient = elementwise(OPS["floor_divide"], node, steps)
    remainder = elementwise(OPS["remainder"], node, steps)
    missing = elementwise(OPS["subtract"], steps, remainder)
    zero, one, two = (constant(i, node.dtype, node.device) for i in range(3))
    is_odd = elementwise(OPS["remainder"], quotient, two)
    is_half = elementwise(OPS["equal"], remainder, missing)
    tie = elementwise(OPS["where"], is_half, is_odd, zero)
    is_above = elementwise(OPS["greater"], remainder, missing)
    up = elementwise(OPS["where"], is_above, one, tie)
    return elementwise(OPS["multiply"], elementwise(OPS["add"], quotient, up), steps)
