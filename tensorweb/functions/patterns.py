"""Make matrices with a pattern and coordinate grids: eye, tril, triu, meshgrid."""

from __future__ import annotations

import operator

from tensorweb import dtypes
from tensorweb.devices import as_device, usable_dtype
from tensorweb.errors import ShapeError
from tensorweb.functions.creation import asarray
from tensorweb.nodes import patterns as build
from tensorweb.nodes.elementwise import cast
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
    target = as_device(device)
    wanted = usable_dtype(optional_dtype(dtype) or dtypes.DEFAULT_FLOAT, target)
    ones = build.compared_indices("equal", rows, columns, operator.index(k), target)
    return Tensor(cast(ones, wanted))


def tril(x: ArrayLike, /, *, k: int = 0) -> Tensor:
    """Return the lower triangle of each matrix, zeros above diagonal `k`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.tril([[1, 2], [3, 4]])
    tensor([[1, 0],
            [3, 4]])
    """
    node = asarray(x).node
    return Tensor(build.triangle("tril", "less_equal", node, operator.index(k)))


def triu(x: ArrayLike, /, *, k: int = 0) -> Tensor:
    """Return the upper triangle of each matrix, zeros below diagonal `k`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.triu([[1, 2], [3, 4]])
    tensor([[1, 2],
            [0, 4]])
    """
    node = asarray(x).node
    return Tensor(build.triangle("triu", "greater_equal", node, operator.index(k)))


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
    nodes = as_operands(*arrays) if arrays else ()
    return tuple(Tensor(node) for node in build.grids(nodes, indexing))
