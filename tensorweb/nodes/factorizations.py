"""Build factorizations of stacks of real matrices.

A factorization is one node whose result packs all factors; builders return views of it.
On devices that run kernels, large matrices are factored recursively in blocks. float16
is computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tensorweb.graph.attributes import Factoring
from tensorweb.graph.autograd import may_differentiate, set_rule
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.blocked_factors import lu_by_halves, permuted, qr_by_halves
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.movement import expand, reshape
from tensorweb.nodes.selection import concat
from tensorweb.nodes.tall_factors import is_tall, qr_by_rows
from tensorweb.nodes.triangles import (
    BLOCK,
    corner,
    difference,
    factored,
    first_half,
    identity,
    is_cut,
    part,
    transposed,
    triangular_solve,
    widened,
)
from tensorweb.ops.factorizations import CHOLESKY, EIGH, LU, QR, SVD

PLAIN = Factoring()

WHOLE, LARGEST_QR = 128, 64
"""Largest length of matrices factored by one kernel: of Cholesky and LU, and of QR."""


def cholesky(node: Node) -> Node:
    """Return L of A = L Lᵀ for symmetric matrices; reads the lower triangle.

    Large matrices are factored recursively, so that matrix products dominate.
    """
    *outer, n, _ = node.shape
    if not is_cut(node, n, WHOLE):
        return factored(CHOLESKY, PLAIN, node.shape, node)
    half = first_half(n, BLOCK)
    one, two, axis = (0, half), (half, n - half), len(outer)
    first = cholesky(corner(node, one, one))
    turned = transposed(corner(node, two, one))
    upper = triangular_solve(first, turned, is_upper=False)
    lower = transposed(upper)
    rest = difference(corner(node, two, two), matmul(lower, upper))
    nothing = constant(0, node.dtype, node.device, (*outer, half, n - half))
    top = concat([first, nothing], axis + 1)
    return concat([top, concat([lower, cholesky(rest)], axis + 1)], axis)


def lu(node: Node) -> Node:
    """Return the factors of P A = L U: `(..., m, n)` gives `(..., m, n + 2)`.

    A row holds L below the diagonal and U from the diagonal on, then the index of the
    row of A at this position, and -1 if two rows were swapped in this step.
    """
    *outer, rows, columns = node.shape
    if not is_cut(node, min(rows, columns), WHOLE):
        return factored(LU, PLAIN, (*outer, rows, columns + 2), node)
    source = widened(node)
    found = lu_by_halves(source)
    set_rule(found, (source,), LU)
    return cast(found, node.dtype)


def lu_solve(packed: Node, right: Node) -> Node:
    """Return X of A X = B from the packed LU factors of A; batch axes are equal."""
    n = packed.shape[-2]
    triangles = part(packed, -1, 0, n)
    below = triangular_solve(
        triangles, permuted(packed, right), is_upper=False, is_unit=True
    )
    return triangular_solve(triangles, below, is_upper=True)


def qr(node: Node, *, is_complete: bool = False) -> tuple[Node, Node]:
    """Return Q `(..., m, k)` and R `(..., k, n)`.

    k is m if `is_complete`, else `min(m, n)`.
    """
    *outer, rows, columns = node.shape
    width = rows if is_complete else min(rows, columns)
    if rows and not columns:
        whole = expand(identity(rows, node, width), (*outer, rows, width))
        return whole, constant(0, node.dtype, node.device, (*outer, width, columns))
    by_rows = is_tall(node) and not is_complete
    if by_rows or is_cut(node, min(rows, columns), LARGEST_QR):
        source = widened(node)
        q, r = qr_by_rows(source, qr) if by_rows else qr_by_halves(source, width)
        if not may_differentiate(node):
            return cast(q, node.dtype), cast(r, node.dtype)
        whole = joined([transposed(q), r])
        set_rule(whole, (source,), QR)
        flat = cast(whole, node.dtype)
    else:
        size = rows * width + width * columns
        attrs = Factoring(is_complete=is_complete)
        flat = factored(QR, attrs, (*outer, size), node)
    left = part(flat, -1, 0, rows * width)
    right = part(flat, -1, rows * width, width * columns)
    return (
        transposed(reshape(left, (*outer, width, rows))),
        reshape(right, (*outer, width, columns)),
    )


def joined(parts: Sequence[Node]) -> Node:
    """Return parts flattened and concatenated to one vector per matrix."""
    outer = parts[0].shape[:-2]
    rows = [reshape(each, (*outer, prod(each.shape[-2:]))) for each in parts]
    return concat(rows, len(outer))


def eigh(node: Node) -> tuple[Node, Node]:
    """Return ascending eigenvalues, and eigenvectors as columns.

    The matrices are symmetric.
    """
    *outer, n, _ = node.shape
    packed = factored(EIGH, PLAIN, (*outer, n + 1, n), node)
    values = reshape(part(packed, -2, 0, 1), (*outer, n))
    return values, part(packed, -2, 1, n)


def svd(node: Node) -> tuple[Node, Node, Node]:
    """Return U `(..., m, k)`, the descending singular values, and Vᵀ.

    Columns of U may be 0 where the singular value is 0. For a tall matrix the SVD of
    its R is computed, which has fewer rows.
    """
    *outer, rows, columns = node.shape
    if rows < columns:
        left, values, right = svd(transposed(node))
        return transposed(right), values, transposed(left)
    if rows >= 2 * columns and is_cut(node, rows, LARGEST_QR):
        source = widened(node)
        q, r = qr(source)
        left, values, right = svd(r)
        left = matmul(q, left)
        if not may_differentiate(node):
            return (
                cast(left, node.dtype),
                cast(values, node.dtype),
                cast(right, node.dtype),
            )
        row = reshape(values, (*outer, 1, columns))
        whole = joined([transposed(left), row, right])
        set_rule(whole, (source,), SVD)
        flat = cast(whole, node.dtype)
    else:
        size = columns * (rows + 1 + columns)
        flat = factored(SVD, PLAIN, (*outer, size), node)
    left = reshape(part(flat, -1, 0, columns * rows), (*outer, columns, rows))
    values = part(flat, -1, columns * rows, columns)
    right = part(flat, -1, columns * (rows + 1), columns * columns)
    return transposed(left), values, reshape(right, (*outer, columns, columns))
