"""What follows from eliminating unknowns: solutions, inverses and determinants."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb import functions as xp
from tensorweb.errors import ShapeError
from tensorweb.graph.node import Node
from tensorweb.linalg.complex_determinants import complex_det, complex_slogdet
from tensorweb.linalg.complex_matrices import (
    as_complex,
    as_real,
    columns_as_complex,
    columns_as_real,
    joined,
)
from tensorweb.linalg.operands import (
    fails_where,
    floating,
    is_complex,
    square,
    zero_pivots,
)
from tensorweb.linalg.results import SlogdetResult
from tensorweb.nodes import factorizations as build
from tensorweb.nodes.diagonals import diagonal
from tensorweb.nodes.triangles import part
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_operands

__all__ = ["cholesky", "det", "inv", "slogdet", "solve"]

_SINGULAR = (
    "is singular: no inverse exists. tw.linalg.pinv gives the nearest thing to one."
)


def cholesky(x: ArrayLike, /, *, upper: bool = False) -> Tensor:
    """Return L of A = L Lᵀ, a lower triangle, for positive definite matrices.

    Args:
        x: the matrices, `(..., n, n)`, symmetric; the lower triangle is read.
        upper: whether to return Lᵀ, so that A = Uᵀ U.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: a matrix is not positive definite; when the result is read.

    >>> tw.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    tensor([[2., 0.],
            [1., 2.]])
    """
    source = floating(square("cholesky", x))
    real = as_real(source) if is_complex(source) else source
    found = Tensor(build.cholesky(real.node))
    if found.size:
        failed, what = xp.isnan(found[..., -1, -1]), "is not positive definite."
        fails_where("cholesky", found, failed, what, source.shape)
    if is_complex(source):
        found = as_complex(found)
        # Rounding may leave a trace of an imaginary part on the diagonal.
        n = found.shape[-1]
        is_real = xp.eye(n, dtype=dtypes.bool, device=found.device)
        found = joined(xp.real(found), xp.where(is_real, 0, xp.imag(found)))
    return xp.conj(found.mT) if upper else found


def solve(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return X of A X = B by elimination with pivots.

    Args:
        x1: the square matrices A, `(..., n, n)`.
        x2: B, one vector `(n,)` or matrices `(..., n, k)`; outer axes broadcast.

    Raises:
        ShapeError: A is not square, or the shapes do not fit.
        LinAlgError: a matrix is singular; when the result is read.

    >>> tw.linalg.solve([[2.0, 1.0], [1.0, 3.0]], [3.0, 5.0])
    tensor([0.8, 1.4])
    """
    a, b = map(Tensor, as_operands(x1, x2))
    a, b = floating(square("solve", a)), floating(b)
    dtype = xp.result_type(a, b)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    is_vector = b.ndim == 1
    right = b[:, None] if is_vector else b
    if right.ndim < 2 or right.shape[-2] != a.shape[-1]:
        raise ShapeError(
            f"solve: shapes {a.shape} and {b.shape}; B is a vector of {a.shape[-1]} "
            f"elements or has {a.shape[-1]} rows, its last axis but one."
        )
    if is_complex(a):
        solved = _solved("solve", as_real(a), columns_as_real(right), a.shape)
        found = columns_as_complex(solved)
    else:
        found = _solved("solve", a, right, a.shape)
    return found[..., 0] if is_vector else found


def inv(x: ArrayLike, /) -> Tensor:
    """Return the inverse of each square matrix.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: a matrix is singular; when the result is read.

    >>> tw.linalg.inv([[2.0, 0.0], [1.0, 4.0]])
    tensor([[ 0.5  ,  0.   ],
            [-0.125,  0.25 ]])
    """
    source = floating(square("inv", x))
    real = as_real(source) if is_complex(source) else source
    one = xp.eye(real.shape[-1], dtype=real.dtype, device=source.device)
    found = _solved("inv", real, one, source.shape)
    return as_complex(found) if is_complex(source) else found


def inverse_or_nan(x: Tensor) -> Tensor:
    """Return the inverse of each square matrix, NaN where a matrix is singular."""
    source = floating(square("cond", x))
    real = as_real(source) if is_complex(source) else source
    one = xp.eye(real.shape[-1], dtype=real.dtype, device=source.device)
    found, packed = _eliminated(real, one)
    failed = zero_pivots(packed)[..., None, None]
    found = xp.where(failed, xp.nan, found)
    return as_complex(found) if is_complex(source) else found


def _solved(name: str, a: Tensor, b: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return X of A X = B; the tensor raises where a matrix is singular."""
    found, packed = _eliminated(a, b)
    if found.size:
        fails_where(name, found, zero_pivots(packed), _SINGULAR, shape)
    return found


def _eliminated(a: Tensor, b: Tensor) -> tuple[Tensor, Node]:
    """Return X of A X = B, and the factors of A.

    Both have two axes at least, whose outer ones broadcast.
    """
    outer = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    packed = build.lu(a.node)
    right = xp.broadcast_to(b, (*outer, *b.shape[-2:]))
    whole = xp.broadcast_to(Tensor(packed), (*outer, *packed.shape[-2:]))
    return Tensor(build.lu_solve(whole.node, right.node)), packed


def det(x: ArrayLike, /) -> Tensor:
    """Return the determinant of each square matrix: `(..., n, n)` gives `(...)`.

    Raises:
        ShapeError: the matrices are not square.

    >>> tw.linalg.det([[2.0, 1.0], [4.0, 5.0]])
    tensor(6.)
    """
    source = floating(square("det", x))
    if is_complex(source):
        return complex_det(source)
    pivots, signs = _pivots(source)
    return pivots.prod(-1) * signs.prod(-1)


def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """Return sign and logarithm of the size of each determinant.

    A singular matrix has sign 0 and logarithm -inf.

    Raises:
        ShapeError: the matrices are not square.

    >>> tw.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
    SlogdetResult(sign=tensor(-1.), logabsdet=tensor(0.))
    """
    source = floating(square("slogdet", x))
    if is_complex(source):
        return SlogdetResult(*complex_slogdet(source))
    pivots, signs = _pivots(source)
    sign = xp.sign(pivots).prod(-1) * signs.prod(-1)
    return SlogdetResult(sign, xp.log(xp.abs(pivots)).sum(-1))


def _pivots(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the diagonal of U, and -1 for each two rows that were swapped, else 1."""
    n, packed = x.shape[-1], build.lu(x.node)
    signs = Tensor(packed)[..., n + 1]
    return Tensor(diagonal(part(packed, -1, 0, n))), signs
