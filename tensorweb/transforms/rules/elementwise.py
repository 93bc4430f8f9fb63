"""Rules of the elementwise rows: the local derivative times the cotangent."""

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
"""A factor between this and its reciprocal is an ordinary number of every dtype."""


def by_row(step: Step, cotangent: Node) -> Cotangents:
    """Multiply the row's local derivatives by the cotangent."""
    node = step.node
    derivative = node.op.derivative
    assert derivative is not None, f"internal: {node.op.name} has no derivative"
    operands = [Tensor.around(each) for each in step.inputs]
    factors = derivative.local(functions, Tensor.around(node), *operands)
    return [
        _scaled(cotangent, factor, derivative.is_steep) if is_wanted else None
        for factor, is_wanted in zip(factors, step.wanted, strict=True)
    ]


def _scaled(cotangent: Node, factor: Any, is_steep: bool) -> Node | None:
    """Return cotangent · factor; where the row is steep, 0 stays 0."""
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
    """Between floats: cast back. Integers and bools have no derivative."""
    source = step.inputs[0].dtype
    return [cast(cotangent, source) if source.kind == "float" else None]


def of_where(step: Step, cotangent: Node) -> Cotangents:
    """Each branch has the cotangent where it was chosen, else 0."""
    condition = step.inputs[0]
    nothing = zeros(cotangent, ())
    return [
        None,
        choose(condition, cotangent, nothing),
        choose(condition, nothing, cotangent),
    ]


def of_divide(step: Step, cotangent: Node) -> Cotangents:
    """By a number: times its reciprocal, which is finite and known. Else the row's."""
    divisor = step.inputs[1]
    if divisor.op is CONSTANT and divisor.storage is None and not step.wanted[1]:
        value = number_of_constant(divisor)
        factor = 1 / value if value else math.inf
        if LEAST < abs(factor) < 1 / LEAST:
            return [times(cotangent, number(factor, cotangent)), None]
    return by_row(step, cotangent)


OWN: dict[str, Rule] = {"cast": of_cast, "where": of_where, "divide": of_divide}
"""Elementwise rows whose operands are not alike."""


def _rule(op: Op) -> Rule:
    return OWN.get(op.name, by_row)


RULES: dict[str, Rule] = {op.name: _rule(op) for op in OPS.values() if op.kind == "map"}
