"""Build factorizations of stacks of real matrices.

A factorization is one node whose result packs all factors; builders return views of it.
On devices that run kernels, large matrices are factored recursively in blocks, so that
matrix products dominate. float16 is computed in float32.

- LU: Toledo, Locality of reference in LU decomposition with partial pivoting, 1997.
- QR: Elmroth and Gustavson, Applying recursion to serial and parallel QR factorization
  leads to better performance, 2000; Schreiber and Van Loan, A storage-efficient WY
  representation for products of Householder transformations, 1989.
- QR of tall matrices by independent blocks of rows: Demmel, Grigori, Hoemmen and
  Langou, Communication-optimal parallel and sequential QR and LU factorizations, 2012.
- Eigenvalues by blocks: Bečka, Okša and Vajteršic, Dynamic ordering for a parallel
  block-Jacobi SVD algorithm, 2002; here in fixed rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tensorweb import dtypes
from tensorweb.devices import backend
from tensorweb.graph.attributes import Factoring
from tensorweb.graph.autograd import may_differentiate, set_rule
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import pack
from tensorweb.nodes import policy
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.matrices import (
    compared_indices,
    corner,
    diagonal,
    difference,
    factorization,
    first_half,
    identity,
    is_split,
    transposed,
    triangle,
    triangular_solve,
    widened,
)
from tensorweb.nodes.movement import expand, expand_dims, permute, reshape, slice_axis
from tensorweb.nodes.ranges import promise_interval
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import concat, iota, pad
from tensorweb.nodes.sorting import argsort
from tensorweb.ops import OPS
from tensorweb.ops.factorizations import CHOLESKY, EIGH, LU, QR, SVD

PLAIN = Factoring()


def cholesky(node: Node) -> Node:
    """Return L of A = L Lᵀ for symmetric matrices; reads the lower triangle.

    Large matrices are factored recursively, so that matrix products dominate.
    """
    *outer, n, _ = node.shape
    largest = min(policy.LARGEST_LU, backend(node.device).largest_triangle)
    if not is_split(node, n, largest):
        return factorization(CHOLESKY, PLAIN, node.shape, node)
    half = first_half(n, policy.TRIANGLE_BLOCK)
    one, two, axis = (0, half), (half, n - half), len(outer)
    first = cholesky(corner(node, one, one))
    right = transposed(corner(node, two, one))
    upper = triangular_solve(first, right, is_upper=False)
    lower = transposed(upper)
    remainder = difference(corner(node, two, two), matmul(lower, upper))
    zeros = constant(0, node.dtype, node.device, (*outer, half, n - half))
    top = concat([first, zeros], axis + 1)
    return concat([top, concat([lower, cholesky(remainder)], axis + 1)], axis)


def lu(node: Node) -> Node:
    """Return the factors of P A = L U: `(..., m, n)` gives `(..., m, n + 2)`.

    A row holds L below the diagonal and U from the diagonal on, then the index of the
    row of A at this position, and -1 if two rows were swapped in this step.
    """
    *outer, rows, columns = node.shape
    if not is_split(node, min(rows, columns), policy.LARGEST_LU):
        return factorization(LU, PLAIN, (*outer, rows, columns + 2), node)
    source = widened(node)
    packed = lu_by_halves(source)
    set_rule(packed, (source,), LU)
    return cast(packed, node.dtype)


def lu_solve(packed: Node, right: Node) -> Node:
    """Return X of A X = B from the packed LU factors of A; batch axes are equal."""
    n = packed.shape[-2]
    triangles = slice_axis(packed, -1, 0, n)
    permuted = _permuted(packed, right)
    solution = triangular_solve(triangles, permuted, is_upper=False, is_unit=True)
    return triangular_solve(triangles, solution, is_upper=True)


def qr(node: Node, *, is_complete: bool = False) -> tuple[Node, Node]:
    """Return Q `(..., m, k)` and R `(..., k, n)`.

    k is m if `is_complete`, else `min(m, n)`.
    """
    *outer, rows, columns = node.shape
    width = rows if is_complete else min(rows, columns)
    if rows and not columns:
        q = expand(identity(rows, node, width), (*outer, rows, width))
        return q, constant(0, node.dtype, node.device, (*outer, width, columns))
    by_rows = is_tall(node) and not is_complete
    if by_rows or is_split(node, min(rows, columns), policy.LARGEST_QR):
        source = widened(node)
        q, r = qr_by_rows(source) if by_rows else qr_by_halves(source, width)
        if not may_differentiate(node):
            return cast(q, node.dtype), cast(r, node.dtype)
        packed = packed_factors([transposed(q), r])
        set_rule(packed, (source,), QR)
        flat = cast(packed, node.dtype)
    else:
        size = rows * width + width * columns
        attrs = Factoring(is_complete=is_complete)
        flat = factorization(QR, attrs, (*outer, size), node)
    left = slice_axis(flat, -1, 0, rows * width)
    right = slice_axis(flat, -1, rows * width, width * columns)
    return (
        transposed(reshape(left, (*outer, width, rows))),
        reshape(right, (*outer, width, columns)),
    )


def packed_factors(factors: Sequence[Node]) -> Node:
    """Return factors flattened and concatenated to one vector per matrix."""
    outer = factors[0].shape[:-2]
    rows = [reshape(node, (*outer, prod(node.shape[-2:]))) for node in factors]
    return concat(rows, len(outer))


def eigh(node: Node) -> tuple[Node, Node]:
    """Return ascending eigenvalues, and eigenvectors as columns.

    The matrices are symmetric.
    """
    *outer, n, _ = node.shape
    if is_split(node, n, backend(node.device).largest_triangle):
        source = widened(node)
        wide = eigh_by_blocks(source)
        set_rule(wide, (source,), EIGH)
        packed = cast(wide, node.dtype)
    else:
        packed = factorization(EIGH, PLAIN, (*outer, n + 1, n), node)
    values = reshape(slice_axis(packed, -2, 0, 1), (*outer, n))
    return values, slice_axis(packed, -2, 1, n)


def eigh_by_blocks(node: Node) -> Node:
    """Return a row of values and the vectors as columns: `(..., n + 1, n)`.

    Rows and columns are divided into blocks. Each round pairs all blocks, diagonalizes
    what the two blocks of each pair have in common, and rotates all rows and columns.
    The first block of a pair gets the smaller values, so that blocks become sorted,
    which makes the sweeps converge quadratically.
    """
    *outer, n, _ = node.shape
    rank = len(outer)
    lower = triangle("tril", "less_equal", node, 0)
    strict = triangle("tril", "less_equal", node, -1)
    full = elementwise(OPS["add"], lower, transposed(strict))
    sizes = elementwise(OPS["abs"], full)
    largest = reduce("max", sizes, (rank, rank + 1), keepdims=True)
    smallest = constant(
        dtypes.finfo(node.dtype).smallest_normal, node.dtype, node.device
    )
    scale = elementwise(OPS["maximum"], largest, smallest)
    scaled = elementwise(OPS["divide"], full, scale)
    count = 2 * -(-n // (2 * policy.EIGH_BLOCK))
    diagonals, rows = _rotate_blocks(_pad_blocks(scaled, count), count)
    order = slice_axis(argsort(diagonals, rank), -1, 0, n)
    columns = transposed(slice_axis(_permute_rows(rows, order), -1, 0, n))
    columns = _orthogonalize(columns)
    image = elementwise(OPS["multiply"], columns, matmul(scaled, columns))
    values = reduce("sum", image, (rank,))
    order = argsort(values, rank)  # rounding may have exchanged neighbours
    columns = transposed(_permute_rows(transposed(columns), order))
    values = expand_dims(take_along(values, order, rank), (rank,))
    return concat([elementwise(OPS["multiply"], values, scale), columns], rank)


def _pad_blocks(node: Node, count: int) -> Node:
    """Return the matrix with rows that fill `count` equal blocks.

    The values of these rows are larger than all others, as no element exceeds 1.
    """
    *outer, n, _ = node.shape
    size = -(-n // count) * count
    zero, edge = constant(0, node.dtype, node.device), (0, size - n)
    padded = pad(node, [*((0, 0) for _ in outer), edge, edge], zero)
    indices = iota(size, dtypes.int32, node.device)
    first = constant(n, dtypes.int32, node.device)
    added = elementwise(OPS["greater_equal"], indices, first)
    on_diagonal = compared_indices("equal", size, size, 0, node.device)
    outside = elementwise(OPS["logical_and"], on_diagonal, added)
    larger = constant(2 * n, node.dtype, node.device)
    return elementwise(OPS["where"], outside, larger, padded)


def _rotate_blocks(matrix: Node, count: int) -> tuple[Node, Node]:
    """Return the diagonal of the diagonalized matrix, and the vectors as rows."""
    *outer, size, _ = matrix.shape
    block = size // count
    vectors = expand(identity(size, matrix), (*outer, size, size))
    sweeps = policy.EIGH_SWEEPS + (count - 1).bit_length()
    if matrix.dtype is dtypes.float64:
        sweeps *= 2
    shape = (*outer, count // 2, 2 * block, size)
    attrs = Factoring(sweeps=policy.EIGH_PAIR_SWEEPS)
    packed_shape = (*shape[:-2], 2 * block + 1, 2 * block)
    indices: dict[tuple[int, ...], Node] = {}
    before = list(range(count))
    for order in _block_pairs(count) * sweeps:
        moves = tuple(before.index(which) for which in order)
        if moves not in indices:
            indices[moves] = _rows_of_blocks(moves, block, matrix.device)
        rows = indices[moves]
        matrix = _permute_rows(transposed(_permute_rows(matrix, rows)), rows)
        vectors = _permute_rows(vectors, rows)
        blocks = _diagonal_blocks(matrix, count // 2)
        packed = factorization(EIGH, attrs, packed_shape, blocks)
        rotation = transposed(slice_axis(packed, -2, 1, 2 * block))
        for _ in range(2):  # rows, then columns, which are rows of the transposed
            product = matmul(rotation, reshape(matrix, shape))
            matrix = transposed(reshape(product, (*outer, size, size)))
        product = matmul(rotation, reshape(vectors, shape))
        vectors = reshape(product, (*outer, size, size))
        before = order
    return diagonal(matrix), vectors


def _block_pairs(count: int) -> list[list[int]]:
    """Return the rounds of a tournament: orders of blocks, of which neighbours pair."""
    rounds = []
    for start in range(count - 1):
        ring = [1 + (start + seat) % (count - 1) for seat in range(count - 1)]
        seats = [0, *ring]
        pairs = zip(seats[: count // 2], reversed(seats[count // 2 :]), strict=True)
        rounds.append([block for pair in pairs for block in sorted(pair)])
    return rounds


def _rows_of_blocks(order: Sequence[int], block: int, device: str) -> Node:
    """Return the indices of the rows of blocks in this order, as int32."""
    rows = [which * block + row for which in order for row in range(block)]
    shape = (len(rows),)
    node = leaf(HostData(pack(rows, dtypes.int32, shape)), shape, dtypes.int32, device)
    promise_interval(node, 0, len(rows) - 1)
    return node


def _permute_rows(node: Node, rows: Node) -> Node:
    """Return the rows of each matrix in another order."""
    *outer, _, columns = node.shape
    indices = expand_dims(rows, (len(rows.shape),))
    shape = (*outer, rows.shape[-1], columns)
    return take_along(node, expand(indices, shape), len(outer))


def _diagonal_blocks(node: Node, count: int) -> Node:
    """Return the `count` square blocks on the diagonal of each matrix."""
    *outer, size, _ = node.shape
    rank, side = len(outer), size // count
    blocks = reshape(node, (*outer, count, side, count, side))
    blocks = permute(blocks, (*range(rank), rank, rank + 2, rank + 1, rank + 3))
    which = reshape(iota(count, dtypes.int32, node.device), (count, 1, 1, 1))
    indices = expand(which, (*outer, count, 1, side, side))
    chosen = take_along(blocks, indices, rank + 1)
    return reshape(chosen, (*outer, count, side, side))


def _orthogonalize(columns: Node) -> Node:
    """Return nearly orthogonal columns after one Newton-Schulz step.

    `(3 V - V Vᵀ V) / 2`: Higham, Functions of Matrices, 2008, section 8.3.
    """
    half = constant(0.5, columns.dtype, columns.device)
    product = matmul(columns, matmul(transposed(columns), columns))
    change = elementwise(OPS["multiply"], difference(columns, product), half)
    return elementwise(OPS["add"], columns, change)


def svd(node: Node) -> tuple[Node, Node, Node]:
    """Return U `(..., m, k)`, the descending singular values, and Vᵀ.

    Columns of U may be 0 where the singular value is 0. For a tall matrix the SVD of
    its R is computed, which has fewer rows.
    """
    *outer, rows, columns = node.shape
    if rows < columns:
        left, values, right = svd(transposed(node))
        return transposed(right), values, transposed(left)
    if rows >= 2 * columns and is_split(node, rows, policy.LARGEST_QR):
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
        packed = packed_factors([transposed(left), row, right])
        set_rule(packed, (source,), SVD)
        flat = cast(packed, node.dtype)
    else:
        size = columns * (rows + 1 + columns)
        flat = factorization(SVD, PLAIN, (*outer, size), node)
    left = reshape(slice_axis(flat, -1, 0, columns * rows), (*outer, columns, rows))
    values = slice_axis(flat, -1, columns * rows, columns)
    right = slice_axis(flat, -1, columns * (rows + 1), columns * columns)
    return transposed(left), values, reshape(right, (*outer, columns, columns))


def _permuted(packed: Node, right: Node) -> Node:
    """Return the rows of B permuted by the pivots of an LU factorization of A."""
    n = packed.shape[-2]
    if 0 in right.shape:
        return right
    order = cast(slice_axis(packed, -1, packed.shape[-1] - 2, 1), dtypes.int32)
    promise_interval(order, 0, n - 1)
    return _permute_rows(right, reshape(order, order.shape[:-1]))


def lu_by_halves(node: Node) -> Node:
    """Return the packed LU factors of `(..., m, n)` in the format of `lu`.

    The left columns are factored first, with pivots from all rows. The right columns
    are permuted and updated, and their lower block is factored recursively.
    """
    *outer, rows, columns = node.shape
    steps, axis = min(rows, columns), len(outer)
    if steps <= policy.PANEL:
        return factorization(LU, PLAIN, (*outer, rows, columns + 2), node)
    half = first_half(steps, policy.PANEL)
    width = columns - half
    upper, lower = (0, half), (half, rows - half)
    left = lu_by_halves(slice_axis(node, -1, *upper))
    right = _permuted(left, slice_axis(node, -1, half, width))
    above = triangular_solve(
        corner(left, upper, upper),
        slice_axis(right, -2, *upper),
        is_upper=False,
        is_unit=True,
    )
    product = matmul(corner(left, lower, upper), above)
    below = lu_by_halves(difference(slice_axis(right, -2, *lower), product))
    permuted = _permuted(below, corner(left, lower, (0, half + 1)))
    top = [corner(left, upper, upper), above, corner(left, upper, (half, 2))]
    bottom = [
        slice_axis(permuted, -1, 0, half),
        slice_axis(below, -1, 0, width),
        slice_axis(permuted, -1, half, 1),
        slice_axis(below, -1, width + 1, 1),
    ]
    return concat([concat(top, axis + 1), concat(bottom, axis + 1)], axis)


def qr_by_halves(node: Node, width: int) -> tuple[Node, Node]:
    """Return Q and R of `(..., m, n)`; Q has `width` columns, at least `min(m, n)`.

    Q is `1 - V T Vᵀ` with a lower triangular V and an upper triangular T.
    """
    *_, rows, columns = node.shape
    steps = min(rows, columns)
    vectors, factor, upper = _reflections(slice_axis(node, -1, 0, steps))
    if columns > steps:
        right = slice_axis(node, -1, steps, columns - steps)
        reflected = _apply_reflections(vectors, factor, right)
        upper = concat([upper, reflected], len(upper.shape) - 1)
    if width > steps:
        shape = (*upper.shape[:-2], width - steps, columns)
        zeros = constant(0, upper.dtype, upper.device, shape)
        upper = concat([upper, zeros], len(shape) - 2)
    product = matmul(factor, transposed(slice_axis(vectors, -2, 0, width)))
    return difference(identity(rows, node, width), matmul(vectors, product)), upper


def _reflections(node: Node) -> tuple[Node, Node, Node]:
    """Return V `(..., m, n)`, T and R `(..., n, n)` of `(..., m, n)`, n at most m."""
    *outer, rows, columns = node.shape
    if columns <= policy.PANEL:
        return _panel(node)
    half = first_half(columns, policy.PANEL)
    axis, width = len(outer), columns - half
    vectors, factor, upper = _reflections(slice_axis(node, -1, 0, half))
    reflected = _apply_reflections(vectors, factor, slice_axis(node, -1, half, width))
    others, second, lower = _reflections(slice_axis(reflected, -2, half, rows - half))
    products = matmul(transposed(slice_axis(vectors, -2, half, rows - half)), others)
    right = elementwise(OPS["negative"], matmul(matmul(factor, products), second))
    zeros = constant(0, node.dtype, node.device, (*outer, half, width))
    all_vectors = [vectors, concat([zeros, others], axis)]
    return (
        concat(all_vectors, axis + 1),
        _upper_blocks(factor, right, second),
        _upper_blocks(upper, slice_axis(reflected, -2, 0, half), lower),
    )


def _apply_reflections(vectors: Node, factor: Node, node: Node) -> Node:
    """Return `(1 - V Tᵀ Vᵀ) A`."""
    inner = matmul(transposed(factor), matmul(transposed(vectors), node))
    return difference(node, matmul(vectors, inner))


def _upper_blocks(upper: Node, right: Node, lower: Node) -> Node:
    """Return the block matrix `[[upper, right], [0, lower]]`."""
    axis = len(upper.shape) - 1
    shape = (*upper.shape[:-2], lower.shape[-1], upper.shape[-1])
    zeros = constant(0, upper.dtype, upper.device, shape)
    rows = [concat([upper, right], axis), concat([zeros, lower], axis)]
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
    packed = factorization(QR, attrs, (*outer, columns, rows + 1), node)
    reflected = transposed(slice_axis(packed, -1, 0, rows))
    eye = identity(rows, node, columns)
    below = triangle("tril", "less_equal", reflected, -1)
    vectors = elementwise(OPS["add"], below, eye)
    upper = triangle("triu", "greater_equal", slice_axis(reflected, -2, 0, columns), 0)
    factors = slice_axis(packed, -1, rows, 1)
    products = matmul(transposed(vectors), vectors)
    strict = triangle("triu", "greater_equal", products, 1)
    one = identity(columns, node)
    inner = elementwise(OPS["add"], one, elementwise(OPS["multiply"], factors, strict))
    diagonal = elementwise(OPS["multiply"], factors, one)
    factor = triangular_solve(inner, diagonal, is_upper=True, is_unit=True)
    return vectors, factor, upper


def is_tall(node: Node) -> bool:
    """Whether the QR of matrices is computed by blocks of rows."""
    rows, columns = node.shape[-2:]
    return is_split(node, rows, max(policy.TALL_ROWS - 1, 2 * _block_rows(columns)))


def qr_by_rows(node: Node) -> tuple[Node, Node]:
    """Return Q `(..., m, n)` and R of tall matrices `(..., m, n)`.

    Each block of rows is factored. The first n rows and the R of all blocks below them
    have the R of the matrix. As the first n rows stay first, the diagonal of R has the
    signs that it has without blocks.
    """
    *outer, rows, columns = node.shape
    height, axis = _block_rows(columns), len(outer)
    count = (rows - columns) // height
    block_rows, factor_rows = count * height, count * columns
    blocks = slice_axis(node, -2, columns, block_rows)
    q, r = qr(reshape(blocks, (*outer, count, height, columns)))
    last_rows = rows - columns - block_rows
    last = [slice_axis(node, -2, rows - last_rows, last_rows)] if last_rows else []
    first = slice_axis(node, -2, 0, columns)
    stacked = [first, reshape(r, (*outer, factor_rows, columns)), *last]
    left, upper = qr(concat(stacked, axis))
    factors = slice_axis(left, -2, columns, factor_rows)
    factors = reshape(factors, (*outer, count, columns, columns))
    middle = reshape(matmul(q, factors), (*outer, block_rows, columns))
    start = columns + factor_rows
    below = [slice_axis(left, -2, start, last_rows)] if last_rows else []
    return concat([slice_axis(left, -2, 0, columns), middle, *below], axis), upper


def _block_rows(columns: int) -> int:
    return max(policy.TALL_BLOCK_ROWS, 4 * columns)
