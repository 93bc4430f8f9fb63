"""The rule of the matrix product: two products with the cotangent.

An operand that is only repeated along the batch gets its gradient added up inside the
product: the batch is part of the depth there.
"""

from __future__ import annotations

from tensorweb.graph.attributes import Groups
from tensorweb.graph.node import Node, attributes_of
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.movement import permute
from tensorweb.transforms.rules.rule import Cotangents, Rule, Step


def of_matmul(step: Step, cotangent: Node) -> Cotangents:
    """G · Bᵀ and Aᵀ · g, group by group."""
    groups = attributes_of(step.node, Groups)
    batch, rows, depth, columns = groups
    a, b = step.inputs
    found: list[Node | None] = [None, None]
    if step.wanted[0]:
        turned = _swapped(b, batch, depth, columns)
        found[0] = contract(cotangent, turned, Groups(batch, rows, columns, depth))
    if step.wanted[1]:
        turned = _swapped(a, batch, rows, depth)
        found[1] = contract(turned, cotangent, Groups(batch, depth, rows, columns))
    return found


def _swapped(node: Node, batch: int, first: int, second: int) -> Node:
    """Return a node with two groups of axes behind the batch in the other order."""
    front = range(batch)
    middle = range(batch, batch + first)
    back = range(batch + first, batch + first + second)
    return permute(node, (*front, *back, *middle))


RULES: dict[str, Rule] = {"matmul": of_matmul}
