"""Eigenvalues of any square matrices, by Schur's form; they are complex numbers."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb import dtypes
from tensorweb import functions as xp
from tensorweb.graph.node import Node
from tensorweb.linalg.complex_matrices import joined
from tensorweb.linalg.operands import fails_where, floating, square
from tensorweb.linalg.products import diagonal
from tensorweb.linalg.results import EighResult, EigResult
from tensorweb.nodes import complex_factorizations as build
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = ["eig", "eigvals"]

Factors = Callable[[Node], tuple[Node, Node, Node]]


def eig(x: ArrayLike, /) -> EigResult:
    """Return eigenvalues and, as columns of length 1, eigenvectors: A V = V diag(w).

    They are complex, in no order. Matrices that lack vectors have some twice; they have
    no derivatives, nor have vectors of equal values. The direction of a vector is
    arbitrary: what is differentiated must not hang on it.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: no values were found, of NaN for example; when the result is read.

    >>> values, vectors = tw.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> tw.sort(tw.round(tw.imag(values)))
    tensor([-1.,  1.])
    """
    q, t, columns = schur("eig", x)
    vectors = q @ columns
    squares = xp.real(vectors) ** 2 + xp.imag(vectors) ** 2
    lengths = xp.sqrt(squares.sum(-2, keepdims=True))
    vectors = joined(xp.real(vectors) / lengths, xp.imag(vectors) / lengths)
    return EigResult(diagonal(t), vectors)


def eigvals(x: ArrayLike, /) -> Tensor:
    """Return the eigenvalues of square matrices, complex and in no order: `(..., n)`.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: no values were found, of NaN for example; when the result is read.

    >>> tw.sort(tw.round(tw.real(tw.linalg.eigvals([[2.0, 0.0], [1.0, 3.0]]))))
    tensor([2., 3.])
    """
    return diagonal(schur("eigvals", x)[1])


def schur(
    name: str, x: ArrayLike, *, must_be_found: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, T and X of A = Q T Qᴴ, T X = X diag(T): unitary and upper triangles.

    Where nothing is found T is NaN, which an error tells of if it `must_be_found`.
    """
    source = floating(square(name, x))
    if source.dtype is dtypes.float16:
        source = source.astype(dtypes.float32)
    real, imaginary = xp.real(source), xp.imag(source)
    whole = joined(real, imaginary)
    if 0 in source.shape:
        return whole, whole, whole
    return _unpacked(name, build.schur, whole, must_be_found=must_be_found)


def _unpacked(
    name: str, factors: Factors, x: Tensor, *, must_be_found: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, T and X, from numbers that are at most about 1."""
    scale = xp.max(xp.abs(x), axis=(-2, -1), keepdims=True).detach()
    scale = xp.where(scale > 0, scale, 1).astype(scale.dtype)
    q, t, columns = map(Tensor, factors((x / scale).node))
    if must_be_found:
        failed = xp.any(xp.isnan(xp.real(t)), axis=(-2, -1))
        what = "has no eigenvalues that were found; are elements NaN or infinite?"
        fails_where(name, t, failed, what, x.shape)
    return q, t * scale, columns


def hermitian(name: str, x: Tensor) -> EighResult:
    """Return values in rising order and vectors of complex Hermitian matrices."""
    if 0 in x.shape:
        return EighResult(diagonal(xp.real(x)), x)
    lower = xp.tril(x, k=-1)
    corners = xp.real(x) * xp.eye(x.shape[-1], dtype=xp.real(x).dtype, device=x.device)
    whole = lower + xp.conj(lower.mT) + joined(corners, xp.zeros_like(corners))
    q, t, _ = _unpacked(name, build.eigh, whole)
    values = xp.real(diagonal(t))
    order = xp.argsort(values, axis=-1)
    places = xp.broadcast_to(order[..., None, :], q.shape)
    vectors = xp.take_along_axis(q, places, axis=-1)
    return EighResult(xp.take_along_axis(values, order, axis=-1), vectors)
