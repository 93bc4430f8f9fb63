"""Check the arguments of `tw.linalg`, and report matrices without a result."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb import dtypes
from tensorweb import functions as xp
from tensorweb.errors import LinAlgError, MatrixShapeError
from tensorweb.functions.creation import asarray
from tensorweb.graph.deferred_errors import doubt
from tensorweb.graph.node import Node
from tensorweb.nodes import complex_factorizations as build
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.nodes.matrices import diagonal
from tensorweb.nodes.movement import slice_axis
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
    """Return whether a tensor has integers or bool."""
    return x.dtype.kind in ("bool", "int", "uint")


def is_complex(x: Tensor) -> bool:
    """Return whether a tensor has complex numbers."""
    return x.dtype.kind == "complex"


def zero_pivots(packed: Node) -> Tensor:
    """Return for each matrix whether its LU factorization has a zero pivot."""
    pivots = diagonal(slice_axis(packed, -1, 0, packed.shape[-2]))
    return (Tensor(pivots) == 0).any(-1)


def fail_where(
    name: str,
    result: Tensor,
    failed: Tensor,
    what: str,
    shape: tuple[int, ...] | None = None,
) -> None:
    """Raise `LinAlgError` when a result of a failed matrix, or a dependent, is read.

    Args:
        name: name of the function.
        result: its result.
        failed: bool, one per matrix.
        what: predicate of a failed matrix in the message.
        shape: shape of the stack of matrices; that of the result by default.
    """
    stack = result.shape if shape is None else shape
    outer, matrix = failed.shape, tuple(stack[-2:])

    def error(number: int) -> LinAlgError:
        if not outer:
            return LinAlgError(f"{name}: the matrix of shape {matrix} {what}")
        at = unravel_index(number, outer)
        where = at[0] if len(at) == 1 else at
        return LinAlgError(f"{name}: matrix {where} of the stack of {stack} {what}")

    doubt(result.node.base, failed.node, error)


# Complex matrices as real ones of twice the size: each number is a 2 x 2 block.


def from_parts(real: Tensor, imaginary: Tensor) -> Tensor:
    """Return complex numbers from real and imaginary parts."""
    return Tensor(join_parts(real.node, imaginary.node))


def as_real(x: Tensor) -> Tensor:
    """Return `(..., m, n)` as `(..., 2 m, 2 n)`, `a + bi` as `[[a, -b], [b, a]]`."""
    return Tensor(build.as_real(x.node))


def as_complex(x: Tensor) -> Tensor:
    """Return `(..., 2 m, 2 n)` as `(..., m, n)`."""
    return from_parts(x[..., 0::2, 0::2], x[..., 1::2, 0::2])


def columns_as_real(x: Tensor) -> Tensor:
    """Return `(..., m, n)` as `(..., 2 m, n)`, a right factor of `as_real`."""
    *outer, m, n = x.shape
    pairs = xp.stack([xp.real(x), xp.imag(x)], axis=-2)
    return pairs.reshape((*outer, 2 * m, n))


def columns_as_complex(x: Tensor) -> Tensor:
    """Return `(..., 2 m, n)` as `(..., m, n)`."""
    return from_parts(x[..., 0::2, :], x[..., 1::2, :])


class EigResult(NamedTuple):
    """Eigenvalues and, as columns, eigenvectors: `(..., n)` and `(..., n, n)`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """Ascending eigenvalues and, as columns, eigenvectors of symmetric matrices."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangle: `(..., m, k)` and `(..., k, n)`."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """Sign and logarithm of a determinant's size: `(...)` both."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Left vectors, descending singular values, right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor
