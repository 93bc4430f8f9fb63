"""Matrices of a pattern: diagonals, triangles, powers; and diagonals taken out."""

from __future__ import annotations

import builtins
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import AxisError, ShapeError
from tensorweb.numpy.arguments import (
    Out,
    check_creation,
    check_unused,
    into,
)
from tensorweb.numpy.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    order: str = "C",
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return a matrix with ones on a diagonal, `k` above the main one, else zeros.

    >>> np.eye(2, 3, 1)
    tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    check_creation("eye", order, like)
    return tw.eye(N, M, k=k, dtype=dtype, device=device)


def identity(n: int, dtype: DTypeLike = None, *, like: ArrayLike = None) -> Tensor:
    """Return a square matrix with ones on the main diagonal, else zeros.

    >>> np.identity(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    check_unused("identity", like=like)
    return tw.eye(n, dtype=dtype)


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    *,
    like: ArrayLike = None,
) -> Tensor:
    """Return ones at and below a diagonal, `k` above the main one, else zeros.

    >>> np.tri(2, 3, dtype=int)
    tensor([[1, 0, 0],
            [1, 1, 0]])
    """
    check_unused("tri", like=like)
    rows = tw.arange(N).reshape((-1, 1))
    columns = tw.arange(N if M is None else M)
    return tw.less_equal(columns, rows + k).astype(dtype)


def tril(m: ArrayLike, k: int = 0) -> Tensor:
    """Return the lower triangle of each matrix, zeros above diagonal `k`.

    >>> np.tril([[1, 2], [3, 4]])
    tensor([[1, 0],
            [3, 4]])
    """
    return tw.tril(_matrix(m), k=k)


def triu(m: ArrayLike, k: int = 0) -> Tensor:
    """Return the upper triangle of each matrix, zeros below diagonal `k`.

    >>> np.triu([[1, 2], [3, 4]])
    tensor([[1, 2],
            [0, 4]])
    """
    return tw.triu(_matrix(m), k=k)


def _matrix(m: ArrayLike) -> Tensor:
    """Return an operand as matrices; a vector is every row of a square one."""
    x = asarray(m)
    return x.broadcast_to((x.shape[0], x.shape[0])) if x.ndim == 1 else x


def diag(v: ArrayLike, k: int = 0) -> Tensor:
    """Return a vector as the diagonal of a matrix, or the diagonal of a matrix.

    Raises:
        ShapeError: there are neither one nor two axes.

    >>> np.diag([1, 2])
    tensor([[1, 0],
            [0, 2]])
    >>> np.diag([[1, 2], [3, 4]], 1)
    tensor([2])
    """
    x = asarray(v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(f"diag: shape {x.shape}; give a vector or a matrix.")
    return diagflat(x, k)


def diagflat(v: ArrayLike, k: int = 0) -> Tensor:
    """Return all elements as the diagonal of a matrix.

    >>> np.diagflat([[1, 2]], 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    x = asarray(v).ravel()
    n = x.size
    length = n + abs(k)
    # Rows one longer than the matrix put each element one column further than the last.
    rows = x.reshape((n, 1)).pad([(0, 0), (0, length)])
    square = rows.ravel()[: n * length].reshape((n, length))
    above, left = max(-k, 0), max(k, 0)
    if left:
        square = square.roll(left, 1)
    return square.pad([(above, length - n - above), (0, 0)])


def diagonal(
    a: ArrayLike, offset: int = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> Tensor:
    """Return the diagonal of two axes, as the last axis of the result.

    Raises:
        AxisError: an axis does not exist, or both are the same.

    >>> np.diagonal([[1, 2], [3, 4]])
    tensor([1, 4])
    """
    x = asarray(a)
    first, second = normalize_axis(axis1, x.ndim), normalize_axis(axis2, x.ndim)
    if first == second:
        raise AxisError(f"diagonal: axis1 and axis2 are both {first}; give two axes.")
    x = x.moveaxis((first, second), (-2, -1))
    above, left = max(-offset, 0), max(offset, 0)
    x = x[..., above:, left:]
    rows, columns = x.shape[-2:]
    n = min(rows, columns)
    square = x[..., :n, :n]
    # Behind its diagonal element a row has n more until the next one.
    flat = square.reshape((*square.shape[:-2], n * n))
    return flat[..., :: n + 1] if n else flat


def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor:
    """Return the sum of the diagonal of two axes.

    Raises:
        AxisError: an axis does not exist, or both are the same.

    >>> np.trace([[1, 2], [3, 4]])
    tensor(5)
    """
    return into(tw.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype), out)


def vander(
    x: ArrayLike, N: int | None = None, increasing: builtins.bool = False
) -> Tensor:
    """Return powers of a vector as columns, the highest first.

    Raises:
        ShapeError: there is not one axis.

    >>> np.vander([1, 2, 3])
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    values = asarray(x)
    if values.ndim != 1:
        raise ShapeError(f"vander: shape {values.shape}; give a vector.")
    count = values.size if N is None else N
    if values.dtype.kind in ("int", "uint", "bool") and values.dtype.bits < 32:
        values = values.astype(int)  # NumPy multiplies small integers in its own, too
    columns = [tw.ones_like(values)]
    while len(columns) < count:
        columns.append(columns[-1] * values)
    if not count:
        return tw.zeros((values.size, 0), values.dtype, device=values.device)
    columns = columns[:count]
    return tw.stack(columns if increasing else columns[::-1], axis=1)


declare_public(__name__)
