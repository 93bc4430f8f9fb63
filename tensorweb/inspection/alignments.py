"""How the operands of a broadcast operation or of a matrix product align.

The page shows them step by step: which cells of the operands make a cell of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tensorweb.graph.attributes import Groups
from tensorweb.graph.node import Node, attributes_of
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.provenance import Provenance
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.movement import expand, slice_ranges

MATRICES = (1, 1, 1)
"""Axes of rows, depth and columns of a product of matrices."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand.

    Attributes:
        given: as the program wrote it.
        repeated: broadcast; in a product along the axes of the stack only.
    """

    given: Node
    repeated: Node


@dataclass(frozen=True, slots=True)
class Alignment:
    """The operands of one operation.

    Attributes:
        rule: how their shapes are combined.
        node: the operation.
        operands: in order; those of a product are `(…, m, k)` and `(…, k, n)`.
    """

    rule: Literal["broadcast", "matmul"]
    node: Node
    operands: tuple[Operand, ...]


def alignment_of(provenance: Provenance, node: Node) -> Alignment | None:
    """Return how operands align; None without broadcasting or a product of matrices.

    Python's numbers, which fit every shape, do not count as broadcast.
    """
    inputs = provenance.inputs_of(node)
    if node.op.kind == "matmul":
        if attributes_of(node, Groups)[1:] != MATRICES:
            return None
        given = [_given(provenance, node, each) for each in inputs]
        operands = tuple(map(Operand, given, inputs))
        return Alignment("matmul", node, operands)
    shapes = {each.shape for each in inputs if each.op is not CONSTANT or each.shape}
    if node.op.kind != "map" or shapes <= {node.shape}:
        return None
    operands = tuple(
        Operand(_given(provenance, node, each), expand(each, node.shape))
        for each in inputs
    )
    return Alignment("broadcast", node, operands)


def _given(provenance: Provenance, node: Node, source: Node) -> Node:
    """Return what the program wrote for an operand, which the operation has converted.

    The operation casts and broadcasts it; products give vectors a second axis.
    """
    while getattr(source, "location", None) == getattr(node, "location", None):
        before = provenance.inputs_of(source)
        is_vector = node.op.kind == "matmul" and before and len(before[0].shape) == 1
        if source.op.name not in ("cast", "expand", "reshape" if is_vector else ""):
            break
        (source,) = before
    return source


def partial_sum(alignment: Alignment, index: Sequence[int], depth: int) -> Node:
    """Return the sum of the first terms of one cell of a product, lazy.

    Args:
        alignment: of a product.
        index: the cell of the result.
        depth: the count of terms.
    """
    *stack, row, column = index
    at = [(each, 1, 1) for each in stack]
    left, right = (operand.repeated for operand in alignment.operands)
    return contract(
        slice_ranges(left, [*at, (row, 1, 1), (0, depth, 1)]),
        slice_ranges(right, [*at, (0, depth, 1), (column, 1, 1)]),
        Groups(len(stack), *MATRICES),
    )
