"""What the functions of `tw.linalg` ask of their arguments."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.errors import LinAlgError, MatrixShapeError
from tensorweb.functions.creation import asarray
from tensorweb.graph.deferred_errors import doubt
from tensorweb.graph.node import Node
from tensorweb.nodes.diagonals import diagonal
from tensorweb.nodes.triangles import part
from tensorweb.shapes import unravel_index
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def matrices(name: str, x: ArrayLike) -> Tensor:
    """Return a stack of matrices, `(..., m, n)`.

    Raises:
        MatrixShapeError: there are fewer than two axes.
    """
    found = asarray(x)
    if found.ndim < 2:
        raise MatrixShapeError(
            f"{name}: shape {found.shape} has fewer than the two axes of a matrix."
        )
    return found


def square(name: str, x: ArrayLike) -> Tensor:
    """Return a stack of square matrices, `(..., n, n)`.

    Raises:
        MatrixShapeError: there are fewer than two axes, or the last two differ.
    """
    found = matrices(name, x)
    if found.shape[-2] != found.shape[-1]:
        raise MatrixShapeError(
            f"{name}: shape {found.shape}; the last two axes must be equal, the "
            "matrices square."
        )
    return found


def floating(x: ArrayLike) -> Tensor:
    """Return a tensor of floats: integers and bool become the default float."""
    found = asarray(x)
    return found.astype(dtypes.DEFAULT_FLOAT) if is_exact(found) else found


def is_exact(x: Tensor) -> bool:
    """Whether a tensor has integers or bool."""
    return x.dtype.kind in ("bool", "int", "uint")


def is_complex(x: Tensor) -> bool:
    """Whether a tensor has complex numbers."""
    return x.dtype.kind == "complex"


def zero_pivots(packed: Node) -> Tensor:
    """Return for each matrix whether its LU factorization has a zero pivot."""
    pivots = diagonal(part(packed, -1, 0, packed.shape[-2]))
    return (Tensor(pivots) == 0).any(-1)


def fails_where(
    name: str,
    result: Tensor,
    failed: Tensor,
    what: str,
    shape: tuple[int, ...] | None = None,
) -> None:
    """Let a read of what hangs on a result raise `LinAlgError` where it is none.

    Args:
        name: of the function.
        result: what it returns.
        failed: bool, one for each matrix.
        what: what a matrix is then.
        shape: of the stack of matrices, where that is not the result's.
    """
    whole = result.shape if shape is None else shape
    outer, matrix = failed.shape, tuple(whole[-2:])

    def error(place: int) -> LinAlgError:
        if not outer:
            return LinAlgError(f"{name}: the matrix of shape {matrix} {what}")
        at = unravel_index(place, outer)
        where = at[0] if len(at) == 1 else at
        return LinAlgError(f"{name}: matrix {where} of the stack of {whole} {what}")

    doubt(result.node.base, failed.node, error)
