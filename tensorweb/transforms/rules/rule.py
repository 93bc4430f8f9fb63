"""The interface of vjp rules, and operations on nodes to write them with.

A rule takes a step and the cotangent of its node, and returns the cotangents of the
inputs, None where there is none. Cotangents have the shape and dtype of their values;
where an operation broadcasts, the backward pass sums afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.movement import expand, expand_dims, flip, reshape
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.ops import OPS
from tensorweb.shapes import Shape


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
    """Return cumulative sums or products along the last axis, from one of its ends."""
    last = len(node.shape) - 1
    if not from_end:
        return scan(name, node, last, dtype=node.dtype)
    scanned = scan(name, flip(node, (last,)), last, dtype=node.dtype)
    return flip(scanned, (last,))
