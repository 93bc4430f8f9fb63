"""What follows from orthogonal factors: QR, eigenvalues, singular values."""

from __future__ import annotations

from typing import Literal

from tensorweb import functions as xp
from tensorweb.dtypes import finfo
from tensorweb.errors import DataError
from tensorweb.graph.history import Mark, is_kept, mark
from tensorweb.graph.node import Node
from tensorweb.linalg.complex_matrices import as_complex, as_real
from tensorweb.linalg.eigenvalues import hermitian
from tensorweb.linalg.operands import (
    fails_where,
    floating,
    is_complex,
    matrices,
    square,
)
from tensorweb.linalg.results import EighResult, QRResult, SVDResult
from tensorweb.nodes import complex_factorizations as complex_build
from tensorweb.nodes import factorizations as real_build
from tensorweb.nodes.diagonals import diagonal
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "eigh",
    "eigvalsh",
    "matrix_rank",
    "pinv",
    "qr",
    "svd",
    "svdvals",
]

_NOT_FINITE = "has elements that are NaN or infinite; no values are found."


def qr(
    x: ArrayLike, /, *, mode: Literal["reduced", "complete"] = "reduced"
) -> QRResult:
    """Return Q and R of A = Q R: orthonormal columns, and an upper triangle.

    Args:
        x: the matrices, `(..., m, n)`.
        mode: `'reduced'` for Q of `(..., m, k)` and R of `(..., k, n)`, k the least of
            m and n; `'complete'` for `(..., m, m)` and `(..., m, n)`.

    Raises:
        ShapeError: there are fewer than two axes.
        DataError: the mode is neither.

    >>> q, r = tw.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> tw.round(q @ r)
    tensor([[3., 1.],
            [4., 2.]])
    """
    if mode not in ("reduced", "complete"):
        raise DataError(f"qr: mode {mode!r}; it is 'reduced' or 'complete'.")
    return _qr(floating(matrices("qr", x)), mode == "complete")


def _qr(x: Tensor, is_complete: bool) -> QRResult:
    build = complex_build if is_complex(x) else real_build
    return QRResult(*map(Tensor, build.qr(x.node, is_complete=is_complete)))


def eigh(x: ArrayLike, /) -> EighResult:
    """Return values in rising order, and vectors as columns, of symmetric matrices.

    A V = V diag(w). The lower triangle is read. A vector's sign is arbitrary. Complex
    matrices are Hermitian ones, with real values and a direction that is arbitrary.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: an element is NaN or infinite; when the result is read.

    >>> tw.round(tw.linalg.eigh([[2.0, 1.0], [1.0, 2.0]]).eigenvalues)
    tensor([1., 3.])
    """
    return _eigh("eigh", x)


def _eigh(name: str, x: ArrayLike) -> EighResult:
    source = floating(square(name, x))
    if is_complex(source):
        return hermitian(name, source)
    values, vectors = map(Tensor, real_build.eigh(source.node))
    _must_be_finite(name, values, source.shape)
    return EighResult(values, vectors)


def eigvalsh(x: ArrayLike, /) -> Tensor:
    """Return the eigenvalues of symmetric matrices in rising order: `(..., n)`.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: an element is NaN or infinite; when the result is read.

    >>> tw.round(tw.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    return _eigh("eigvalsh", x).eigenvalues


def svd(x: ArrayLike, /, *, full_matrices: bool = True) -> SVDResult:
    """Return U, values S in falling order, and Vᴴ of A = U diag(S) Vᴴ.

    Args:
        x: the matrices, `(..., m, n)`.
        full_matrices: whether U is `(..., m, m)` and Vᴴ `(..., n, n)`; else they are
            `(..., m, k)` and `(..., k, n)`, k the least of m and n. S is real.

    Raises:
        ShapeError: there are fewer than two axes.
        LinAlgError: an element is NaN or infinite; when the result is read.

    >>> u, s, vh = tw.linalg.svd([[3.0, 0.0], [0.0, -2.0]])
    >>> tw.round(s)
    tensor([3., 2.])
    """
    source = floating(matrices("svd", x))
    is_wide = source.shape[-2] < source.shape[-1]
    left, values, right = _svd(_adjoint(source) if is_wide else source)
    _must_be_finite("svd", values, source.shape)
    left = _completed(left, full_matrices)
    if is_wide:
        left, right = _adjoint(right), _adjoint(left)
    return SVDResult(left, values, right)


def _adjoint(x: Tensor) -> Tensor:
    return xp.conj(x.mT)


def _svd(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return factors of no fewer rows than columns; U is 0 where values are."""
    if not is_complex(x):
        left, values, right = map(Tensor, real_build.svd(x.node))
        return left, values, right
    rows, values, right = map(Tensor, complex_build.svd(x.node))
    return rows.mT, values, right


def _completed(left: Tensor, is_full: bool) -> Tensor:
    """Return orthonormal columns for those that may be 0, and more up to a square.

    A reflection keeps a column up to its sign, and puts any other where one is 0.
    """
    q, r = _qr(left, is_full)
    n = left.shape[-1]
    corners = xp.expand_dims(xp.real(Tensor(diagonal(r.node))), axis=-2)
    kept = q[..., :n] * xp.where(corners < 0, -1, 1).astype(corners.dtype)
    if not is_full or q.shape[-1] == n:
        return kept
    return xp.concat([kept, q[..., n:]], axis=-1)


def svdvals(x: ArrayLike, /) -> Tensor:
    """Return the singular values of each matrix in falling order: `(..., k)`.

    Raises:
        ShapeError: there are fewer than two axes.
        LinAlgError: an element is NaN or infinite; when the result is read.

    >>> tw.round(tw.linalg.svdvals([[3.0, 0.0], [0.0, -2.0]]))
    tensor([3., 2.])
    """
    source = floating(matrices("svdvals", x))
    is_wide = source.shape[-2] < source.shape[-1]
    values = _svd(source.mT if is_wide else source)[1]
    _must_be_finite("svdvals", values, source.shape)
    return values


def _must_be_finite(name: str, values: Tensor, shape: tuple[int, ...]) -> None:
    if values.size:
        failed = xp.isnan(values[..., 0])
        fails_where(name, values, failed, _NOT_FINITE, shape)


def _threshold(values: Tensor, x: Tensor, rtol: ArrayLike) -> Tensor:
    """Return below which singular values count as 0: `(..., 1)`."""
    share = xp.asarray(_share(x) if rtol is None else rtol, device=x.device)
    share = share.astype(values.dtype)[..., None]
    return share * xp.max(values, axis=-1, keepdims=True)


def _share(x: Tensor) -> float:
    return max(x.shape[-2:]) * float(finfo(x.dtype).eps)


def matrix_rank(x: ArrayLike, /, *, rtol: ArrayLike = None) -> Tensor:
    """Return how many singular values of each matrix count: shape `(...)`.

    Args:
        x: the matrices.
        rtol: which share of the largest one a value must exceed, `(...)`; None for the
            larger length times the spacing of floats at 1.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    tensor(1)
    """
    source = floating(matrices("matrix_rank", x))
    values = svdvals(source)
    if not values.shape[-1]:
        return xp.sum(values != 0, axis=-1)
    return xp.sum(values > _threshold(values, source, rtol), axis=-1)


def pinv(x: ArrayLike, /, *, rtol: ArrayLike = None) -> Tensor:
    """Return the pseudo-inverse of each matrix: `(..., m, n)` gives `(..., n, m)`.

    Args:
        x: the matrices.
        rtol: which share of the largest singular value others must exceed, `(...)`, not
            to count as 0; None for the larger length times the spacing of floats at 1.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.round(tw.linalg.pinv([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]) * 4)
    tensor([[4., 0., 0.],
            [0., 2., 0.]])
    """
    source = floating(matrices("pinv", x))
    if is_complex(source):
        if rtol is None:
            rtol = _share(source)
        return as_complex(pinv(as_real(source), rtol=rtol))
    left, values, right = map(Tensor, real_build.svd(source.node))
    if 0 in source.shape:
        shape = (*source.shape[:-2], source.shape[-1], source.shape[-2])
        return xp.zeros(shape, dtype=source.dtype, device=source.device)
    counts = values > _threshold(values, source, rtol)
    inverse = xp.where(counts, 1 / xp.where(counts, values, 1), 0).astype(source.dtype)
    found = right.mT * inverse[..., None, :] @ left.mT
    _must_be_finite("pinv", found[..., 0], source.shape)
    return Tensor(_with_rule(found.node, source.node))


def _with_rule(inverse: Node, source: Node) -> Node:
    """Return a pseudo-inverse whose way back is that of the whole, not of its factors.

    dA = (1 - A P) dPᵀ P Pᵀ + Pᵀ P dPᵀ (1 - P A) - Pᵀ dP Pᵀ, for matrices of one rank.
    (Golub and Pereyra, The differentiation of pseudo-inverses, 1973)
    """
    if not is_kept() and source.past is None:
        return inverse

    def rule(cotangent: Node) -> tuple[Node]:
        p, a, g = Tensor(inverse), Tensor(source), Tensor(cotangent)
        turned = p.mT
        first = g.mT @ p @ turned
        second = turned @ p @ g.mT
        whole = first - a @ (p @ first) + second - (second @ p) @ a
        return ((whole - turned @ g @ turned).node,)

    mark(inverse, Mark((source,), rule))
    return inverse
