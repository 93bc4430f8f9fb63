"""Build diagonals of matrices, and matrices with a given diagonal."""

from __future__ import annotations

from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.movement import expand_dims, reshape, slice_ranges
from tensorweb.nodes.patterns import compared_indices
from tensorweb.ops import OPS


def diagonal(node: Node, offset: int = 0) -> Node:
    """Return a diagonal of each matrix, `offset` above the main one: a view.

    The flat matrix has its diagonal in steps of a row and one more.
    """
    *outer, rows, columns = node.shape
    below, above = max(-offset, 0), max(offset, 0)
    length = max(min(rows - below, columns - above), 0)
    flat = reshape(node, (*outer, rows * columns))
    start = below * columns + above if length else 0
    ranges = [*((0, n, 1) for n in outer), (start, length, columns + 1)]
    return slice_ranges(flat, ranges)


def diagonal_matrix(node: Node) -> Node:
    """Return matrices with the last axis on the diagonal, else zeros."""
    n = node.shape[-1]
    zero = constant(0, node.dtype, node.device)
    mask = compared_indices("equal", n, n, 0, node.device)
    rows = expand_dims(node, (len(node.shape) - 1,))
    return elementwise(OPS["where"], mask, rows, zero)
