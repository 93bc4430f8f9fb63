"""Parts, patterns, factorization nodes and triangular solves of stacks of matrices."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.devices import backend
from tensorweb.errors import ShapeError
from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import Op
from tensorweb.nodes import policy
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import (
    expand_dims,
    permute,
    reshape,
    slice_axis,
    slice_ranges,
)
from tensorweb.nodes.selection import concat, iota
from tensorweb.ops import OPS
from tensorweb.ops.factorizations import TRIANGULAR_SOLVE
from tensorweb.shapes import Shape


def compared_indices(
    relation: str, rows: int, columns: int, k: int, device: str
) -> Node:
    """Return `column relation row + k` for each element of a matrix."""
    column = reshape(iota(columns, dtypes.int32, device), (1, columns))
    row = reshape(iota(rows, dtypes.int32, device), (rows, 1))
    # A diagonal outside the matrix gives the same mask as the nearest such diagonal.
    k = min(max(k, -rows), columns)
    if k:
        shift = constant(k, dtypes.int32, device)
        row = elementwise(OPS["add"], row, shift)
    return elementwise(OPS[relation], column, row)


def triangle(name: str, relation: str, node: Node, k: int) -> Node:
    """Return each matrix where `column relation row + k`, else zeros.

    Raises:
        ShapeError: there are fewer than two axes.
    """
    if len(node.shape) < 2:
        raise ShapeError(
            f"{name}: shape {node.shape} has fewer than the two axes of a matrix."
        )
    rows, columns = node.shape[-2:]
    mask = compared_indices(relation, rows, columns, k, node.device)
    zero = constant(0, node.dtype, node.device)
    return elementwise(OPS["where"], mask, node, zero)


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


def factorization(op: Op, attrs: Factoring, shape: Shape, *inputs: Node) -> Node:
    """Return the node of a factorization; a constant if its shape is empty."""
    first = inputs[0]
    if 0 in shape:
        return constant(0, first.dtype, first.device, shape)
    if first.dtype.wide is not first.dtype:
        return cast(factorization(op, attrs, shape, *map(widened, inputs)), first.dtype)
    return Node(op, inputs, attrs, shape, first.dtype, first.device)


def is_split(node: Node, length: int, largest: int) -> bool:
    """Whether matrices longer than `largest` are split on this node's device."""
    return length > largest and node.size > 0 and backend(node.device).factors_in_halves


def widened(node: Node) -> Node:
    """Return a node of 16-bit floats cast to float32, any other node unchanged."""
    return cast(node, node.dtype.wide)


def corner(node: Node, rows: tuple[int, int], columns: tuple[int, int]) -> Node:
    """Return a block of each matrix; `rows` and `columns` are `(start, length)`."""
    return slice_axis(slice_axis(node, -2, *rows), -1, *columns)


def transposed(node: Node) -> Node:
    """Return the transposed matrices."""
    rank = len(node.shape)
    return permute(node, (*range(rank - 2), rank - 1, rank - 2))


def identity(n: int, like: Node, columns: int | None = None) -> Node:
    """Return the identity matrix `(n, columns)` in the dtype and device of `like`."""
    columns = n if columns is None else columns
    return cast(compared_indices("equal", n, columns, 0, like.device), like.dtype)


def difference(a: Node, b: Node) -> Node:
    """Return a - b."""
    return elementwise(OPS["subtract"], a, b)


def first_half(n: int, block: int) -> int:
    """Return about half of `n`, rounded up to a multiple of `block`."""
    return -(-n // (2 * block)) * block


def triangular_solve(
    triangle: Node, right: Node, *, is_upper: bool, is_unit: bool = False
) -> Node:
    """Return X of T X = B for T `(..., n, n)` and B `(..., n, k)`, equal batch axes.

    Large systems are solved by block substitution.
    """
    n, axis = triangle.shape[-1], len(triangle.shape) - 2
    if not right.size or not is_split(triangle, n, policy.TRIANGLE_BLOCK):
        attrs = Factoring(is_upper, is_unit)
        return factorization(TRIANGULAR_SOLVE, attrs, right.shape, triangle, right)
    half = first_half(n, policy.TRIANGLE_BLOCK)
    blocks = [(0, half), (half, n - half)]
    first, second = reversed(blocks) if is_upper else blocks

    def solve(block: tuple[int, int], right: Node) -> Node:
        inner = corner(triangle, block, block)
        return triangular_solve(inner, right, is_upper=is_upper, is_unit=is_unit)

    solution = solve(first, slice_axis(right, -2, *first))
    known = matmul(corner(triangle, second, first), solution)
    remainder = difference(slice_axis(right, -2, *second), known)
    solutions = [solution, solve(second, remainder)]
    return concat(solutions[::-1] if is_upper else solutions, axis)
