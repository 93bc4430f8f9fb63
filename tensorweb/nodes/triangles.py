"""Nodes that take matrices apart, and solutions by triangles, large ones in halves."""

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
"""Rows of the blocks in which triangles and positive definite matrices are cut; one
block is one kernel."""


def factored(op: Op, attrs: Factoring, shape: Shape, *inputs: Node) -> Node:
    """Return the node of a factorization; a shape without elements is a constant."""
    first = inputs[0]
    if 0 in shape:
        return constant(0, first.dtype, first.device, shape)
    if first.dtype is dtypes.float16:
        wide = [cast(each, dtypes.float32) for each in inputs]
        return cast(factored(op, attrs, shape, *wide), dtypes.float16)
    return Node(op, inputs, attrs, shape, first.dtype, first.device)


def is_cut(node: Node, length: int, most: int) -> bool:
    """Whether matrices of a length are cut in halves, where one kernel takes `most`."""
    return length > most and node.size > 0 and backend(node.device).factors_in_halves


def widened(node: Node) -> Node:
    """Return what is computed with: float16 in float32."""
    return cast(node, dtypes.float32) if node.dtype is dtypes.float16 else node


def part(node: Node, axis: int, start: int, length: int) -> Node:
    """Return some neighbouring elements along an axis."""
    ranges = [(0, n, 1) for n in node.shape]
    ranges[axis] = (start if length else 0, length, 1)
    return slice_ranges(node, ranges)


def corner(node: Node, rows: tuple[int, int], columns: tuple[int, int]) -> Node:
    """Return neighbouring rows and columns; each pair is a start and a length."""
    return part(part(node, -2, *rows), -1, *columns)


def transposed(node: Node) -> Node:
    """Return each matrix with rows for columns."""
    rank = len(node.shape)
    return permute(node, (*range(rank - 2), rank - 1, rank - 2))


def identity(n: int, like: Node, columns: int | None = None) -> Node:
    """Return ones on the diagonal, else zeros."""
    across = n if columns is None else columns
    return cast(compared_indices("equal", n, across, 0, like.device), like.dtype)


def difference(a: Node, b: Node) -> Node:
    """Return a - b."""
    return elementwise(OPS["subtract"], a, b)


def first_half(n: int, block: int) -> int:
    """Return about a half, in whole blocks."""
    return -(-n // (2 * block)) * block


def triangular_solve(
    triangle: Node, right: Node, *, is_upper: bool, is_unit: bool = False
) -> Node:
    """Return X of T X = B, `(..., n, n)` and `(..., n, k)`, of equal outer axes.

    Of large triangles one half of the unknowns is found first, and taken away.
    """
    n, axis = triangle.shape[-1], len(triangle.shape) - 2
    if not right.size or not is_cut(triangle, n, BLOCK):
        attrs = Factoring(is_upper, is_unit)
        return factored(TRIANGULAR_SOLVE, attrs, right.shape, triangle, right)
    half = first_half(n, BLOCK)
    places = [(0, half), (half, n - half)]
    one, two = reversed(places) if is_upper else places

    def solve(place: tuple[int, int], wanted: Node) -> Node:
        inner = corner(triangle, place, place)
        return triangular_solve(inner, wanted, is_upper=is_upper, is_unit=is_unit)

    found = solve(one, part(right, -2, *one))
    rest = difference(part(right, -2, *two), matmul(corner(triangle, two, one), found))
    both = [found, solve(two, rest)]
    return concat(both[::-1] if is_upper else both, axis)
