"""Recursive LU and QR of large matrices, dominated by matrix products.

Columns are split in two until at most `PANEL` are left, which one kernel factors.
(LU: Toledo, Locality of reference in LU decomposition with partial pivoting, 1997; QR:
Elmroth and Gustavson, Applying recursion to serial and parallel QR factorization leads
to better performance, 2000; Schreiber and Van Loan, A storage-efficient WY
representation for products of Householder transformations, 1989)
"""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.movement import expand
from tensorweb.nodes.patterns import triangle
from tensorweb.nodes.ranges import promise_interval
from tensorweb.nodes.selection import concat
from tensorweb.nodes.triangles import (
    corner,
    difference,
    factored,
    first_half,
    identity,
    part,
    transposed,
    triangular_solve,
)
from tensorweb.ops import OPS
from tensorweb.ops.factorizations import LU, QR

PANEL = 64
"""Largest count of columns that one kernel factors."""


def permuted(packed: Node, right: Node) -> Node:
    """Return the rows of B permuted by the pivots of an LU factorization of A."""
    n = packed.shape[-2]
    if 0 in right.shape:
        return right
    order = cast(part(packed, -1, packed.shape[-1] - 2, 1), dtypes.int32)
    promise_interval(order, 0, n - 1)
    return take_along(right, expand(order, right.shape), len(right.shape) - 2)


def lu_by_halves(node: Node) -> Node:
    """Return the packed LU factors of `(..., m, n)` in the format of `lu`.

    The left columns are factored first, with pivots from all rows. The right columns
    are permuted and updated, and their lower block is factored recursively.
    """
    *outer, rows, columns = node.shape
    least, axis = min(rows, columns), len(outer)
    if least <= PANEL:
        shape = (*outer, rows, columns + 2)
        return factored(LU, Factoring(), shape, node)
    half = first_half(least, PANEL)
    upper, lower, beside = (0, half), (half, rows - half), (half, columns - half)
    left = lu_by_halves(part(node, -1, *upper))
    right = permuted(left, part(node, -1, *beside))
    above = triangular_solve(
        corner(left, upper, upper),
        part(right, -2, *upper),
        is_upper=False,
        is_unit=True,
    )
    known = matmul(corner(left, lower, upper), above)
    rest = lu_by_halves(difference(part(right, -2, *lower), known))
    moved = permuted(rest, corner(left, lower, (0, half + 1)))
    width = columns - half
    top = [corner(left, upper, upper), above, corner(left, upper, (half, 2))]
    bottom = [
        part(moved, -1, 0, half),
        part(rest, -1, 0, width),
        part(moved, -1, half, 1),
        part(rest, -1, width + 1, 1),
    ]
    return concat([concat(top, axis + 1), concat(bottom, axis + 1)], axis)


def qr_by_halves(node: Node, width: int) -> tuple[Node, Node]:
    """Return Q and R of `(..., m, n)`; Q has `width` columns, at least `min(m, n)`.

    Q is `1 - V T Vᵀ` with a lower triangular V and an upper triangular T.
    """
    *_, rows, columns = node.shape
    steps = min(rows, columns)
    vectors, factor, upper = _reflections(part(node, -1, 0, steps))
    if columns > steps:
        rest = part(node, -1, steps, columns - steps)
        reflected = _apply_reflections(vectors, factor, rest)
        upper = concat([upper, reflected], len(upper.shape) - 1)
    if width > steps:
        upper = _below(upper, width - steps)
    across = matmul(factor, transposed(part(vectors, -2, 0, width)))
    found = difference(identity(rows, node, width), matmul(vectors, across))
    return found, upper


def _reflections(node: Node) -> tuple[Node, Node, Node]:
    """Return V `(..., m, n)`, T and R `(..., n, n)` of `(..., m, n)`, n at most m."""
    *outer, rows, columns = node.shape
    if columns <= PANEL:
        return _panel(node)
    half = first_half(columns, PANEL)
    axis, width = len(outer), columns - half
    vectors, factor, upper = _reflections(part(node, -1, 0, half))
    reflected = _apply_reflections(vectors, factor, part(node, -1, half, width))
    others, second, lower = _reflections(part(reflected, -2, half, rows - half))
    shared = matmul(transposed(part(vectors, -2, half, rows - half)), others)
    beside = elementwise(OPS["negative"], matmul(matmul(factor, shared), second))
    nothing = constant(0, node.dtype, node.device, (*outer, half, width))
    all_vectors = [vectors, concat([nothing, others], axis)]
    return (
        concat(all_vectors, axis + 1),
        _triangle_of(factor, beside, second),
        _triangle_of(upper, part(reflected, -2, 0, half), lower),
    )


def _apply_reflections(vectors: Node, factor: Node, node: Node) -> Node:
    """Return `(1 - V Tᵀ Vᵀ) A`."""
    inner = matmul(transposed(factor), matmul(transposed(vectors), node))
    return difference(node, matmul(vectors, inner))


def _triangle_of(upper: Node, beside: Node, lower: Node) -> Node:
    """Return the block matrix `[[upper, beside], [0, lower]]`."""
    axis = len(upper.shape) - 1
    half, width = upper.shape[-1], lower.shape[-1]
    nothing = constant(0, upper.dtype, upper.device, (*upper.shape[:-2], width, half))
    rows = [concat([upper, beside], axis), concat([nothing, lower], axis)]
    return concat(rows, axis - 1)


def _below(node: Node, rows: int) -> Node:
    """Return a matrix with `rows` rows of zeros appended."""
    shape = (*node.shape[:-2], rows, node.shape[-1])
    nothing = constant(0, node.dtype, node.device, shape)
    return concat([node, nothing], len(shape) - 2)


def _panel(node: Node) -> tuple[Node, Node, Node]:
    """Return V, T and R of at most `PANEL` columns.

    With t the scale factors of the reflections, T is
    `(1 + diag(t) triu(Vᵀ V, 1))⁻¹ diag(t)`.
    (Puglisi, Modification of the Householder method based on the compact WY
    representation, 1992)
    """
    *outer, rows, columns = node.shape
    attrs = Factoring(is_packed=True)
    packed = factored(QR, attrs, (*outer, columns, rows + 1), node)
    reflected = transposed(part(packed, -1, 0, rows))
    eye = identity(rows, node, columns)
    below = triangle("tril", "less_equal", reflected, -1)
    vectors = elementwise(OPS["add"], below, eye)
    upper = triangle("triu", "greater_equal", part(reflected, -2, 0, columns), 0)
    factors = part(packed, -1, rows, 1)
    products = matmul(transposed(vectors), vectors)
    beside = triangle("triu", "greater_equal", products, 1)
    one = identity(columns, node)
    inner = elementwise(OPS["add"], one, elementwise(OPS["multiply"], factors, beside))
    outside = elementwise(OPS["multiply"], factors, one)
    factor = triangular_solve(inner, outside, is_upper=True, is_unit=True)
    return vectors, factor, upper
