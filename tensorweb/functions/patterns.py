"""Make matrices with a pattern and coordinate grids: eye, tril, triu, meshgrid."""

from __future__ import annotations

import operator

from tensorweb import dtypes
from tensorweb.devices import as_device, require_dtype
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions.creation import asarray
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import cast, common_device, elementwise
from tensorweb.nodes.movement import expand, reshape
from tensorweb.nodes.selection import iota
from tensorweb.ops import OPS
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, as_operands, optional_dtype

__all__ = [
    "eye",
    "meshgrid",
    "tril",
    "triu",
]


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return a matrix with ones on a diagonal, `k` above the main one, else zeros.

    >>> tw.eye(3)
    tensor([[1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 1.]])
    >>> tw.eye(2, 3, k=1, dtype=tw.int32)
    tensor([[0, 1, 0],
            [0, 0, 1]])
    """
    rows = operator.index(n_rows)
    columns = rows if n_cols is None else operator.index(n_cols)
    if rows < 0 or columns < 0:
        raise ShapeError(f"eye: {rows} rows and {columns} columns; give 0 or more.")
    wanted = optional_dtype(dtype) or dtypes.DEFAULT_FLOAT
    target = as_device(device)
    require_dtype(wanted, target)
    return Tensor(cast(_compare("equal", rows, columns, k, target), wanted))


def tril(x: ArrayLike, /, *, k: int = 0) -> Tensor:
    """Return the lower triangle of each matrix, zeros above diagonal `k`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.tril([[1, 2], [3, 4]])
    tensor([[1, 0],
            [3, 4]])
    """
    return _triangle("tril", "less_equal", x, k)


def triu(x: ArrayLike, /, *, k: int = 0) -> Tensor:
    """Return the upper triangle of each matrix, zeros below diagonal `k`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.triu([[1, 2], [3, 4]])
    tensor([[1, 2],
            [0, 4]])
    """
    return _triangle("triu", "greater_equal", x, k)


def _triangle(name: str, relation: str, x: ArrayLike, k: int) -> Tensor:
    node = asarray(x).node
    if len(node.shape) < 2:
        raise ShapeError(
            f"{name}: shape {node.shape} has fewer than the two axes of a matrix."
        )
    rows, columns = node.shape[-2:]
    keep = _compare(relation, rows, columns, k, node.device)
    zero = constant(0, node.dtype, node.device)
    return Tensor(elementwise(OPS["where"], keep, node, zero))


def _compare(relation: str, rows: int, columns: int, k: int, device: str) -> Node:
    """Return `column relation row + k` for each element of a matrix."""
    column = reshape(iota(columns, dtypes.int32, device), (1, columns))
    row = reshape(iota(rows, dtypes.int32, device), (rows, 1))
    # Diagonals further out are as empty or full as the next one beyond the matrix.
    k = min(max(operator.index(k), -rows), columns)
    if k:
        shift = constant(k, dtypes.int32, device)
        row = elementwise(OPS["add"], row, shift)
    return elementwise(OPS[relation], column, row)


def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return coordinate grids of 1-D tensors, as views with strides of 0.

    `xy` puts the first coordinate along the columns, `ij` along the rows.

    Raises:
        ShapeError: an input has more than one axis.
        DataError: `indexing` is neither `xy` nor `ij`.

    >>> x, y = tw.meshgrid([1, 2, 3], [10, 20])
    >>> x
    tensor([[1, 2, 3],
            [1, 2, 3]])
    >>> y
    tensor([[10, 10, 10],
            [20, 20, 20]])
    """
    if indexing not in ("xy", "ij"):
        raise DataError(f"meshgrid: indexing {indexing!r}; it is 'xy' or 'ij'.")
    if not arrays:
        return ()
    nodes = as_operands(*arrays)
    common_device(OPS["add"], nodes)
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
    grids = []
    for axis, node in zip(axes, nodes, strict=True):
        aligned = [1] * rank
        aligned[axis] = node.size
        grids.append(Tensor(expand(reshape(node, tuple(aligned)), tuple(shape))))
    return tuple(grids)
