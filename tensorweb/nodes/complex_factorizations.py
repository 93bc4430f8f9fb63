"""Build factorizations of complex matrices, and real matrices that represent them.

Operands are complex nodes; a factorization reads both parts and packs pairs.
"""

from __future__ import annotations

from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, complex_of, constant
from tensorweb.graph.op import Op
from tensorweb.nodes.complex_parts import imaginary_part, real_part
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.factorizations import PLAIN
from tensorweb.nodes.matrices import factorization, identity
from tensorweb.nodes.movement import expand, expand_dims, reshape, slice_axis
from tensorweb.nodes.selection import concat
from tensorweb.ops import OPS
from tensorweb.ops.factorizations import COMPLEX_EIGH, COMPLEX_QR, COMPLEX_SVD, SCHUR
from tensorweb.shapes import Shape, size


def as_real(node: Node) -> Node:
    """Return `(..., m, n)` as `(..., 2 m, 2 n)`, `a + bi` as `[[a, -b], [b, a]]`.

    Products, inverses and triangles of these matrices have the same form, so that their
    real factors represent complex ones.
    """
    *outer, m, n = node.shape
    real, imaginary = real_part(node), imaginary_part(node)
    minus = elementwise(OPS["negative"], imaginary)
    last = len(node.shape)
    upper = concat([expand_dims(node, (last,)) for node in (real, minus)], last)
    lower = concat([expand_dims(node, (last,)) for node in (imaginary, real)], last)
    rows = [expand_dims(node, (last - 1,)) for node in (upper, lower)]
    return reshape(concat(rows, last - 1), (*outer, 2 * m, 2 * n))


def pairs_of_flat(flat: Node, start: int, shape: Shape) -> Node:
    """Return the complex numbers that rows store as pairs from element `start` on."""
    pairs = slice_axis(flat, -1, start, 2 * size(shape))
    return complex_of(reshape(pairs, (*flat.shape[:-1], *shape, 2)))


def _parts(node: Node) -> tuple[Node, Node]:
    return real_part(node), imaginary_part(node)


def qr(node: Node, *, is_complete: bool = False) -> tuple[Node, Node]:
    """Return Q and R: `(..., m, k)` and `(..., k, n)`, k the least of both or m.

    The diagonal of R is real.
    """
    *outer, rows, columns = node.shape
    width = rows if is_complete else min(rows, columns)
    if rows and not columns:
        one = cast(identity(rows, real_part(node), width), node.dtype)
        q = expand(one, (*outer, rows, width))
        return q, constant(0, node.dtype, node.device, (*outer, width, columns))
    elements = 2 * (rows * width + width * columns)
    attrs = Factoring(is_complete=is_complete)
    flat = factorization(COMPLEX_QR, attrs, (*outer, elements), *_parts(node))
    return unpacked_qr(flat, rows, columns, width)


def unpacked_qr(flat: Node, rows: int, columns: int, width: int) -> tuple[Node, Node]:
    """Unpack the factors of `qr`, or their cotangents."""
    left = pairs_of_flat(flat, 0, (rows, width))
    return left, pairs_of_flat(flat, 2 * rows * width, (width, columns))


def svd(node: Node) -> tuple[Node, Node, Node]:
    """Return Uᵀ, descending values, and Vᴴ.

    Matrices have at least as many rows as columns. Uᵀ is `(..., n, m)`; its rows for
    a value of 0 may be 0.
    """
    *outer, rows, columns = node.shape
    elements = columns * (2 * rows + 1 + 2 * columns)
    flat = factorization(COMPLEX_SVD, PLAIN, (*outer, elements), *_parts(node))
    return unpacked_svd(flat, rows, columns)


def unpacked_svd(flat: Node, rows: int, columns: int) -> tuple[Node, Node, Node]:
    """Unpack the factors of `svd`, or their cotangents."""
    start = 2 * columns * rows
    left = pairs_of_flat(flat, 0, (columns, rows))
    values = slice_axis(flat, -1, start, columns)
    return left, values, pairs_of_flat(flat, start + columns, (columns, columns))


def schur(node: Node) -> tuple[Node, Node, Node]:
    """Return Q, T and X of A = Q T Qᴴ and T X = X diag(T), `(..., n, n)`.

    Columns of X have any length.
    """
    return _schur(SCHUR, node)


def eigh(node: Node) -> tuple[Node, Node, Node]:
    """Return Q, T and X of Hermitian A: T is diagonal, eigenvalues unordered."""
    return _schur(COMPLEX_EIGH, node)


def _schur(op: Op, node: Node) -> tuple[Node, Node, Node]:
    *outer, n, _ = node.shape
    flat = factorization(op, PLAIN, (*outer, 6 * n * n), *_parts(node))
    return unpacked_schur(flat, n)


def unpacked_schur(flat: Node, n: int) -> tuple[Node, Node, Node]:
    """Unpack the factors of `schur` and `eigh`, or their cotangents."""
    q, t, x = (pairs_of_flat(flat, 2 * n * n * index, (n, n)) for index in range(3))
    return q, t, x
