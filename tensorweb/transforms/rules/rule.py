"""The interface of vjp rules, what they are written with, and elementwise rules.

A rule takes a step and the cotangent of its node, and returns the cotangents of the
inputs, None where there is none. Cotangents have the shape and dtype of their values;
where an operation broadcasts, the backward pass sums afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tensorweb import functions
from tensorweb.graph.node import Node, constant, number_of_constant
from tensorweb.graph.op import CONSTANT
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import expand, expand_dims, flip, reshape
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.ops import OPS
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor


@dataclass(slots=True)
class Step:
    """A node of the backward pass.

    Attributes:
        node: the operation.
        inputs: its inputs, even if the node itself has released them.
        needs_cotangent: for each input, whether its cotangent is required.
    """

    node: Node
    inputs: tuple[Node, ...]
    needs_cotangent: tuple[bool, ...]


Cotangents = Sequence[Node | None]
Rule = Callable[[Step, Node], Cotangents]


def plus(a: Node, b: Node) -> Node:
    """Return a + b."""
    return elementwise(OPS["add"], a, b)


def minus(a: Node, b: Node) -> Node:
    """Return a - b."""
    return elementwise(OPS["subtract"], a, b)


def times(a: Node, b: Node) -> Node:
    """Return a · b."""
    return elementwise(OPS["multiply"], a, b)


def over(a: Node, b: Node) -> Node:
    """Return a / b."""
    return elementwise(OPS["divide"], a, b)


def equal(a: Node, b: Node) -> Node:
    """Return where a = b."""
    return elementwise(OPS["equal"], a, b)


def choose(condition: Node, a: Node, b: Node) -> Node:
    """Return a where the condition holds, else b."""
    return elementwise(OPS["where"], condition, a, b)


def number(value: float, like: Node, shape: Shape = ()) -> Node:
    """Return a constant in a node's dtype, on its device."""
    return constant(value, like.dtype, like.device, shape)


def ones(like: Node) -> Node:
    """Return ones of a node's shape and dtype."""
    return number(1, like, like.shape)


def zeros(like: Node, shape: Shape | None = None) -> Node:
    """Return zeros in a node's dtype, of its shape or of `shape`."""
    return number(0, like, like.shape if shape is None else shape)


def summed_to(node: Node, shape: Shape) -> Node:
    """Return a node summed over the axes that `shape` lacks or has as 1."""
    if node.shape == shape:
        return node
    added = len(node.shape) - len(shape)
    axes = tuple(
        axis
        for axis, length in enumerate(node.shape)
        if axis < added or (shape[axis - added] == 1 and length != 1)
    )
    total = reduce("sum", node, axes, dtype=node.dtype) if axes else node
    return reshape(total, shape)


def spread_along(node: Node, axes: Sequence[int], shape: Shape) -> Node:
    """Return a reduction's result, broadcast to the shape before the reduction."""
    return expand(expand_dims(node, axes), shape)


def running(name: str, node: Node, *, from_end: bool = False) -> Node:
    """Return the scan `name` along the last axis; with `from_end` it runs backwards."""
    last = len(node.shape) - 1
    if not from_end:
        return scan(name, node, last, dtype=node.dtype)
    scanned = scan(name, flip(node, (last,)), last, dtype=node.dtype)
    return flip(scanned, (last,))


LEAST = 1e-4
"""Factors between this and its reciprocal are normal numbers of every dtype."""


def by_local_derivatives(step: Step, cotangent: Node) -> Cotangents:
    """Multiply the cotangent by the derivatives in the entry of the op table."""
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
    """Multiply by the reciprocal of a constant divisor; else use local derivatives."""
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
    return by_local_derivatives(step, cotangent)


OWN: dict[str, Rule] = {"cast": of_cast, "where": of_where, "divide": of_divide}
"""Elementwise operations with a rule of their own."""


ELEMENTWISE: dict[str, Rule] = {
    op.name: OWN.get(op.name, by_local_derivatives)
    for op in OPS.values()
    if op.kind == "map"
}
