"""vjp rules of the elementwise operations: the local derivative times the cotangent."""

from __future__ import annotations

import math
from typing import Any

from tensorweb import functions
from tensorweb.graph.node import Node, number_of_constant
from tensorweb.graph.op import CONSTANT, Op
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.ops import OPS
from tensorweb.tensor import Tensor
from tensorweb.transforms.rules.rule import (
    Cotangents,
    Rule,
    Step,
    choose,
    number,
    times,
    zeros,
)

LEAST = 1e-4
"""Factors between this and its reciprocal are normal numbers of every dtype."""


def by_row(step: Step, cotangent: Node) -> Cotangents:
    """Multiply the operation's local derivatives by the cotangent."""
    node = step.node
    derivative = node.op.derivative
    assert derivative is not None, f"internal: {node.op.name} has no derivative"
    operands = [Tensor.without_registering(operand) for operand in step.inputs]
    factors = derivative.local(functions, Tensor.without_registering(node), *operands)
    return [
        _scaled(cotangent, factor, derivative.is_steep) if is_wanted else None
        for factor, is_wanted in zip(factors, step.needs_cotangent, strict=True)
    ]


def _scaled(cotangent: Node, factor: Any, is_steep: bool) -> Node | None:
    """Return cotangent · factor; if `is_steep`, 0 times infinity is 0."""
    if factor is None:
        return None
    if not isinstance(factor, Tensor):
        if factor == 1:
            return cotangent
        assert factor == -1, "internal: other factors are tensors"
        return elementwise(OPS["negative"], cotangent)
    local = cast(factor.node, cotangent.dtype)
    if is_steep:
        is_finite = elementwise(OPS["isfinite"], local)
        is_felt = elementwise(OPS["not_equal"], cotangent, number(0, cotangent))
        either = elementwise(OPS["logical_or"], is_finite, is_felt)
        local = choose(either, local, number(0, local))
    return times(cotangent, local)


def of_cast(step: Step, cotangent: Node) -> Cotangents:
    """Cast the cotangent back to the source's dtype; integers and bools have none."""
    source = step.inputs[0].dtype
    return [cast(cotangent, source) if source.kind == "float" else None]


def of_where(step: Step, cotangent: Node) -> Cotangents:
    """Pass the cotangent to the chosen branch, 0 to the other."""
    condition = step.inputs[0]
    nothing = zeros(cotangent, ())
    return [
        None,
        choose(condition, cotangent, nothing),
        choose(condition, nothing, cotangent),
    ]


def of_divide(step: Step, cotangent: Node) -> Cotangents:
    """Multiply by the reciprocal of a constant divisor; otherwise apply `by_row`."""
    divisor = step.inputs[1]
    if (
        divisor.op is CONSTANT
        and divisor.storage is None
        and not step.needs_cotangent[1]
    ):
        value = number_of_constant(divisor)
        factor = 1 / value if value else math.inf
        if LEAST < abs(factor) < 1 / LEAST:
            return [times(cotangent, number(factor, cotangent)), None]
    return by_row(step, cotangent)


OWN: dict[str, Rule] = {"cast": of_cast, "where": of_where, "divide": of_divide}
"""Elementwise operations with a rule of their own."""


def _rule(op: Op) -> Rule:
    return OWN.get(op.name, by_row)


RULES: dict[str, Rule] = {op.name: _rule(op) for op in OPS.values() if op.kind == "map"}
