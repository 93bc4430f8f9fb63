"""Build matrices with a pattern and coordinate grids, from index ramps."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import common_device, elementwise
from tensorweb.nodes.movement import expand, reshape
from tensorweb.nodes.selection import iota
from tensorweb.ops import OPS


def compared_indices(
    relation: str, rows: int, columns: int, k: int, device: str
) -> Node:
    """Return `column relation row + k` for each element of a matrix."""
    column = reshape(iota(columns, dtypes.int32, device), (1, columns))
    row = reshape(iota(rows, dtypes.int32, device), (rows, 1))
    # Diagonals further out are as empty or full as the next one beyond the matrix.
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
    keep = compared_indices(relation, rows, columns, k, node.device)
    zero = constant(0, node.dtype, node.device)
    return elementwise(OPS["where"], keep, node, zero)


def grids(nodes: Sequence[Node], indexing: str) -> list[Node]:
    """Return coordinate grids of nodes of one axis; `xy` puts the first one last.

    Raises:
        ShapeError: a node has more than one axis.
        DataError: `indexing` is neither `xy` nor `ij`.
    """
    if indexing not in ("xy", "ij"):
        raise DataError(f"meshgrid: indexing {indexing!r}; it is 'xy' or 'ij'.")
    if not nodes:
        return []
    common_device(OPS["add"], tuple(nodes))
    for node in nodes:
        if len(node.shape) > 1:
            raise ShapeError(f"meshgrid: shape {node.shape}; give tensors of one axis.")
    rank = len(nodes)
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[:2] = [1, 0]
    shape = [0] * rank
    for axis, node in zip(axes, nodes, strict=True):
        shape[axis] = node.size
    found = []
    for axis, node in zip(axes, nodes, strict=True):
        aligned = [1] * rank
        aligned[axis] = node.size
        found.append(expand(reshape(node, tuple(aligned)), tuple(shape)))
    return found
