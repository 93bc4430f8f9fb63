"""QR of tall matrices by independent blocks of rows (TSQR).

(Demmel, Grigori, Hoemmen and Langou, Communication-optimal parallel and sequential QR
and LU factorizations, 2012)
"""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.graph.node import Node
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.movement import reshape
from tensorweb.nodes.selection import concat
from tensorweb.nodes.triangles import is_cut, part

LEAST = 2048
"""Rows of the shortest matrix that is cut."""

BLOCK_ROWS = 512
"""Rows of a block at least; it has four times as many rows as columns, or more."""


def is_tall(node: Node) -> bool:
    """Whether matrices are cut into blocks of rows."""
    rows, columns = node.shape[-2:]
    return is_cut(node, rows, max(LEAST - 1, 2 * _block_rows(columns)))


def qr_by_rows(
    node: Node, qr: Callable[[Node], tuple[Node, Node]]
) -> tuple[Node, Node]:
    """Return Q `(..., m, n)` and R of tall matrices.

    Each block has an R; below the first n rows of the matrix they have the R of all of
    it. As those rows stay first, its diagonal has the signs that it has without blocks.

    Args:
        node: of shape `(..., m, n)`.
        qr: what factors the blocks, and what they leave.
    """
    *outer, rows, columns = node.shape
    height, axis = _block_rows(columns), len(outer)
    count = (rows - columns) // height
    inside, found = count * height, count * columns
    middle = part(node, -2, columns, inside)
    q, r = qr(reshape(middle, (*outer, count, height, columns)))
    rest = rows - columns - inside
    last = [part(node, -2, rows - rest, rest)] if rest else []
    first = [part(node, -2, 0, columns), reshape(r, (*outer, found, columns)), *last]
    left, upper = qr(concat(first, axis))
    turns = reshape(part(left, -2, columns, found), (*outer, count, columns, columns))
    turned = reshape(matmul(q, turns), (*outer, inside, columns))
    below = [part(left, -2, columns + found, rest)] if rest else []
    return concat([part(left, -2, 0, columns), turned, *below], axis), upper


def _block_rows(columns: int) -> int:
    return max(BLOCK_ROWS, 4 * columns)
