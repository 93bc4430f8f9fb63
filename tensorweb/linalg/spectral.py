"""QR factors, eigenvalues and singular values, and what is computed from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from tensorweb import functions as xp
from tensorweb.dtypes import finfo
from tensorweb.errors import DataError
from tensorweb.graph.autograd import may_differentiate, set_rule
from tensorweb.graph.node import Node
from tensorweb.linalg.operands import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    as_complex,
    as_real,
    fail_where,
    floating,
    from_parts,
    is_complex,
    matrices,
    square,
)
from tensorweb.linalg.products import diagonal
from tensorweb.nodes import complex_factorizations as complex_build
from tensorweb.nodes import factorizations as real_build
from tensorweb.nodes.matrices import diagonal as build_diagonal
from tensorweb.public_names import declare_public
from tensorweb.shapes import is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis

Factors = Callable[[Node], tuple[Node, Node, Node]]


def eig(x: ArrayLike, /) -> EigResult:
    """Return eigenvalues and, as columns of length 1, eigenvectors: A V = V diag(w).

    Both are complex, in no order. A defective matrix has some eigenvectors twice and no
    derivative, nor have the vectors of equal eigenvalues. The phase of a vector is
    arbitrary: a function that is differentiated must not depend on it.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: the iteration did not converge, for NaN for example; when the
            result is read.

    >>> values, vectors = tw.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> tw.sort(tw.round(tw.imag(values)))
    tensor([-1.,  1.])
    """
    q, t, columns = schur("eig", x)
    vectors = q @ columns
    squares = xp.real(vectors) ** 2 + xp.imag(vectors) ** 2
    lengths = xp.sqrt(squares.sum(-2, keepdims=True))
    vectors = from_parts(xp.real(vectors) / lengths, xp.imag(vectors) / lengths)
    return EigResult(diagonal(t), vectors)


def eigvals(x: ArrayLike, /) -> Tensor:
    """Return the eigenvalues of square matrices, complex and in no order: `(..., n)`.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: the iteration did not converge, for NaN for example; when the
            result is read.

    >>> tw.sort(tw.round(tw.real(tw.linalg.eigvals([[2.0, 0.0], [1.0, 3.0]]))))
    tensor([2., 3.])
    """
    return diagonal(schur("eigvals", x)[1])


def schur(
    name: str, x: ArrayLike, *, must_converge: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, T and X of A = Q T Qᴴ, T X = X diag(T): unitary and upper triangular.

    T is NaN where the iteration did not converge; `must_converge` raises an error then.
    """
    source = floating(square(name, x))
    source = source.astype(source.dtype.wide)
    real, imaginary = xp.real(source), xp.imag(source)
    numbers = from_parts(real, imaginary)
    if 0 in source.shape:
        return numbers, numbers, numbers
    return _factor_scaled(
        name, complex_build.schur, numbers, must_converge=must_converge
    )


def _factor_scaled(
    name: str, factors: Factors, x: Tensor, *, must_converge: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return Q, T and X, computed from matrices whose largest element is about 1."""
    scale = xp.max(xp.abs(x), axis=(-2, -1), keepdims=True).detach()
    scale = xp.where(scale > 0, scale, 1).astype(scale.dtype)
    q, t, columns = map(Tensor, factors((x / scale).node))
    if must_converge:
        failed = xp.any(xp.isnan(xp.real(t)), axis=(-2, -1))
        what = "has no eigenvalues that were found; are elements NaN or infinite?"
        fail_where(name, t, failed, what, x.shape)
    return q, t * scale, columns


def _hermitian(name: str, x: Tensor) -> EighResult:
    """Return ascending eigenvalues and eigenvectors of complex Hermitian matrices."""
    if 0 in x.shape:
        return EighResult(diagonal(xp.real(x)), x)
    lower = xp.tril(x, k=-1)
    corners = xp.real(x) * xp.eye(x.shape[-1], dtype=xp.real(x).dtype, device=x.device)
    full = lower + xp.conj(lower.mT) + from_parts(corners, xp.zeros_like(corners))
    q, t, _ = _factor_scaled(name, complex_build.eigh, full)
    values = xp.real(diagonal(t))
    order = xp.argsort(values, axis=-1)
    columns = xp.broadcast_to(order[..., None, :], q.shape)
    vectors = xp.take_along_axis(q, columns, axis=-1)
    return EighResult(xp.take_along_axis(values, order, axis=-1), vectors)


_NOT_FINITE = "has elements that are NaN or infinite; no values are found."


def qr(
    x: ArrayLike, /, *, mode: Literal["reduced", "complete"] = "reduced"
) -> QRResult:
    """Return Q and R of A = Q R: orthonormal columns, and an upper triangle.

    Args:
        x: the matrices, `(..., m, n)`.
        mode: `'reduced'` for Q of `(..., m, k)` and R of `(..., k, n)`, k the smaller
            of m and n; `'complete'` for `(..., m, m)` and `(..., m, n)`.

    Raises:
        ShapeError: there are fewer than two axes.
        DataError: the mode is unknown.

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
    """Return ascending eigenvalues, and eigenvectors as columns, of symmetric matrices.

    A V = V diag(w). The lower triangle is read. Complex matrices are Hermitian; their
    eigenvalues are real. The sign (or phase) of a vector is arbitrary.

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
        return _hermitian(name, source)
    values, vectors = map(Tensor, real_build.eigh(source.node))
    _must_be_finite(name, values, source.shape)
    return EighResult(values, vectors)


def eigvalsh(x: ArrayLike, /) -> Tensor:
    """Return the eigenvalues of symmetric matrices in ascending order: `(..., n)`.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: an element is NaN or infinite; when the result is read.

    >>> tw.round(tw.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    return _eigh("eigvalsh", x).eigenvalues


def svd(x: ArrayLike, /, *, full_matrices: bool = True) -> SVDResult:
    """Return U, descending singular values S, and Vᴴ of A = U diag(S) Vᴴ.

    Args:
        x: the matrices, `(..., m, n)`.
        full_matrices: whether U is `(..., m, m)` and Vᴴ `(..., n, n)`; else they are
            `(..., m, k)` and `(..., k, n)`, k the smaller of m and n. S is real.

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
    left = _complete(left, full_matrices)
    if is_wide:
        left, right = _adjoint(right), _adjoint(left)
    return SVDResult(left, values, right)


def _adjoint(x: Tensor) -> Tensor:
    return xp.conj(x.mT)


def _svd(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S and V of a matrix that is not wide; U is 0 where S is 0."""
    if not is_complex(x):
        left, values, right = map(Tensor, real_build.svd(x.node))
        return left, values, right
    rows, values, right = map(Tensor, complex_build.svd(x.node))
    return rows.mT, values, right


def _complete(left: Tensor, is_full: bool) -> Tensor:
    """Replace columns of zeros by orthonormal ones; if `is_full`, complete a square.

    Householder reflections preserve an orthonormal column up to its sign, and give
    some orthonormal column for a column of zeros.
    """
    q, r = _qr(left, is_full)
    n = left.shape[-1]
    corners = xp.expand_dims(xp.real(Tensor(build_diagonal(r.node))), axis=-2)
    columns = q[..., :n] * xp.where(corners < 0, -1, 1).astype(corners.dtype)
    if not is_full or q.shape[-1] == n:
        return columns
    return xp.concat([columns, q[..., n:]], axis=-1)


def svdvals(x: ArrayLike, /) -> Tensor:
    """Return the singular values of each matrix in descending order: `(..., k)`.

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
        fail_where(name, values, failed, _NOT_FINITE, shape)


def _threshold(values: Tensor, x: Tensor, rtol: ArrayLike) -> Tensor:
    """Return the limit below which singular values count as 0: `(..., 1)`."""
    share = xp.asarray(_share(x) if rtol is None else rtol, device=x.device)
    share = share.astype(values.dtype)[..., None]
    return share * xp.max(values, axis=-1, keepdims=True)


def _share(x: Tensor) -> float:
    return max(x.shape[-2:]) * float(finfo(x.dtype).eps)


def matrix_rank(x: ArrayLike, /, *, rtol: ArrayLike = None) -> Tensor:
    """Return the number of singular values of each matrix above a limit: `(...)`.

    Args:
        x: the matrices.
        rtol: the limit as a fraction of the largest singular value, `(...)`; None for
            the larger length times the spacing of floats at 1.

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
        rtol: the fraction of the largest singular value, `(...)`, below which others
            count as 0; None for the larger length times the spacing of floats at 1.

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
    """Return a pseudo-inverse with a vjp of its own instead of that of its factors.

    dA = (1 - A P) dPᵀ P Pᵀ + Pᵀ P dPᵀ (1 - P A) - Pᵀ dP Pᵀ, for matrices of
    constant rank. (Golub and Pereyra, The differentiation of pseudo-inverses, 1973)
    """
    if not may_differentiate(source):
        return inverse

    def rule(cotangent: Node) -> tuple[Node]:
        p, a, g = Tensor(inverse), Tensor(source), Tensor(cotangent)
        adjoint = p.mT
        first = g.mT @ p @ adjoint
        second = adjoint @ p @ g.mT
        total = first - a @ (p @ first) + second - (second @ p) @ a
        return ((total - adjoint @ g @ adjoint).node,)

    set_rule(inverse, (source,), rule)
    return inverse


MatrixOrder = float | Literal["fro", "nuc"] | None


def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Tensor:
    """Return the norm of vectors along axes, or of all elements.

    Args:
        x: the vectors; integers become float32.
        axis: the axes of a vector; None for all axes.
        keepdims: whether the axes stay, with length 1.
        ord: `p` for `(Σ |xᵢ|ᵖ)^(1/p)`, whose derivative at the origin is 0 for p of at
            least 1; `inf` and `-inf` for the largest and the smallest size, 0 for the
            number of nonzero elements.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: `ord` is -inf and there are no elements.

    >>> tw.linalg.vector_norm([3.0, 4.0])
    tensor(5.)
    """
    found = floating(x)
    if ord == 0:
        return (found != 0).astype(xp.abs(found).dtype).sum(axis, keepdims=keepdims)
    sizes = xp.abs(found)
    if ord == 2:
        squares = sizes * sizes if is_complex(found) else found * found
        total = squares.sum(axis, keepdims=keepdims)
        return _or_zero(total, xp.sqrt(total))
    if ord == math.inf:
        return _largest(sizes, axis, keepdims)
    if ord == -math.inf:
        return sizes.min(axis, keepdims=keepdims)
    if ord == 1:
        return sizes.sum(axis, keepdims=keepdims)
    total = (sizes**ord).sum(axis, keepdims=keepdims)
    root = total ** (1 / ord)
    return _or_zero(total, root) if ord > 1 else root


def _largest(sizes: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return the largest of non-negative numbers, 0 for none."""
    if sizes.size:
        return sizes.max(axis, keepdims=keepdims)
    return sizes.max(axis, keepdims=keepdims, initial=0)


def _or_zero(total: Tensor, root: Tensor) -> Tensor:
    """Return a root, or its argument where that is 0.

    The derivative of a root at 0 is infinite; the derivative of a norm at the origin
    becomes 0, one of its subgradients.
    """
    return xp.where(total == 0, total, root)


def matrix_norm(
    x: ArrayLike,
    /,
    *,
    keepdims: bool = False,
    ord: MatrixOrder = "fro",
) -> Tensor:
    """Return the norm of each matrix: `(..., m, n)` gives `(...)`.

    Args:
        x: the matrices; integers become float32.
        keepdims: whether the axes stay, with length 1.
        ord: `'fro'` for the root of the sum of squares; 1 and -1 for the largest and
            smallest sum of a column, `inf` and `-inf` of a row; 2 and -2 for the
            largest and smallest singular value, `'nuc'` for their sum.

    Raises:
        ShapeError: there are fewer than two axes.
        DataError: `ord` is no norm of matrices.

    >>> tw.linalg.matrix_norm([[1.0, 2.0], [3.0, 4.0]], ord=1)
    tensor(6.)
    """
    found = floating(matrices("matrix_norm", x))
    if ord == "fro":
        return vector_norm(found, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        along = -2 if ord in (1, -1) else -1
        sums = xp.abs(found).sum(along, keepdims=True)
        is_largest = ord in (1, math.inf)
        norms = _largest(sums, (-2, -1), False) if is_largest else sums.min((-2, -1))
        return norms[..., None, None] if keepdims else norms
    if ord in (2, -2, "nuc"):
        values = svdvals(found)
        if ord == "nuc":
            norms = values.sum(-1)
        else:
            norms = _largest(values, -1, False) if ord == 2 else values.min(-1)
        return norms[..., None, None] if keepdims else norms
    raise DataError(
        f"matrix_norm: ord {ord!r}; it is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."
    )


def norm(
    x: ArrayLike,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the norm of vectors or matrices, along the axes that are given.

    Without `ord` it is the root of the sum of squares, without an axis also of all
    elements. Matrices have `fro`, `nuc`, 1, -1, 2, -2, inf and -inf, vectors any order.

    Raises:
        DataError: there is no such order, or an order of an array of three axes.

    >>> tw.linalg.norm([3.0, 4.0]), tw.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1)
    (tensor(5.), tensor(6.))
    """
    values = floating(x)
    if axis is None:
        if ord is None:
            return vector_norm(values, keepdims=keepdims, ord=2)
        if values.ndim not in (1, 2):
            raise DataError(
                f"norm: ord={ord!r} of shape {values.shape}; name the axes of "
                "vectors or matrices with axis=."
            )
        axis = tuple(range(values.ndim))
    axes = (axis,) if is_integer(axis) else tuple(axis)
    if len(axes) == 1:
        return vector_norm(
            values, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord
        )
    if len(axes) != 2:
        raise DataError(f"norm: axis={axis!r}; give one axis or two.")
    order: Any = "fro" if ord is None else ord
    matrices = values.moveaxis(axes, (-2, -1))
    result = matrix_norm(matrices, keepdims=keepdims, ord=order)
    return result.moveaxis((-2, -1), axes) if keepdims else result


declare_public(__name__, hidden="schur")
