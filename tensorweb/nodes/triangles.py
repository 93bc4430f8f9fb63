"""Factorization nodes, blocks of matrices, and recursive triangular solves."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.devices import backend
from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import Op
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import permute, slice_ranges
from tensorweb.nodes.patterns import compared_indices
from tensorweb.nodes.selection import concat
from tensorweb.ops import OPS
from tensorweb.ops.factorizations import TRIANGULAR_SOLVE
from tensorweb.shapes import Shape

BLOCK = 64
"""Largest length of a triangular block that one kernel solves."""


def factored(op: Op, attrs: Factoring, shape: Shape, *inputs: Node) -> Node:
    """Return the node of a factorization; a constant if its shape is empty."""
    first = inputs[0]
    if 0 in shape:
        return constant(0, first.dtype, first.device, shape)
    if first.dtype is dtypes.float16:
        wide = [cast(each, dtypes.float32) for each in inputs]
        return cast(factored(op, attrs, shape, *wide), dtypes.float16)
    return Node(op, inputs, attrs, shape, first.dtype, first.device)


def is_cut(node: Node, length: int, most: int) -> bool:
    """Whether matrices longer than `most` are split on this node's device."""
    return length > most and node.size > 0 and backend(node.device).factors_in_halves


def widened(node: Node) -> Node:
    """Return a float16 node cast to float32, any other node unchanged."""
    return cast(node, dtypes.float32) if node.dtype is dtypes.float16 else node


def part(node: Node, axis: int, start: int, length: int) -> Node:
    """Return `length` adjacent elements along an axis, beginning at `start`."""
    ranges = [(0, n, 1) for n in node.shape]
    ranges[axis] = (start if length else 0, length, 1)
    return slice_ranges(node, ranges)


def corner(node: Node, rows: tuple[int, int], columns: tuple[int, int]) -> Node:
    """Return a block of each matrix; `rows` and `columns` are `(start, length)`."""
    return part(part(node, -2, *rows), -1, *columns)


def transposed(node: Node) -> Node:
    """Return the transposed matrices."""
    rank = len(node.shape)
    return permute(node, (*range(rank - 2), rank - 1, rank - 2))


def identity(n: int, like: Node, columns: int | None = None) -> Node:
    """Return the identity matrix `(n, columns)` in the dtype and device of `like`."""
    across = n if columns is None else columns
    return cast(compared_indices("equal", n, across, 0, like.device), like.dtype)


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
    if not right.size or not is_cut(triangle, n, BLOCK):
        attrs = Factoring(is_upper, is_unit)
        return factored(TRIANGULAR_SOLVE, attrs, right.shape, triangle, right)
    half = first_half(n, BLOCK)
    blocks = [(0, half), (half, n - half)]
    one, two = reversed(blocks) if is_upper else blocks

    def solve(block: tuple[int, int], right: Node) -> Node:
        inner = corner(triangle, block, block)
        return triangular_solve(inner, right, is_upper=is_upper, is_unit=is_unit)

    found = solve(one, part(right, -2, *one))
    rest = difference(part(right, -2, *two), matmul(corner(triangle, two, one), found))
    both = [found, solve(two, rest)]
    return concat(both[::-1] if is_upper else both, axis)
