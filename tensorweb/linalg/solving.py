"""Solutions, inverses and determinants, by LU and Cholesky factorizations."""

from __future__ import annotations

import operator
from collections.abc import Callable

from tensorweb import dtypes
from tensorweb import functions as xp
from tensorweb.errors import ShapeError
from tensorweb.graph.autograd import may_differentiate, set_rule
from tensorweb.graph.node import Node, complex_of, like, pair_of
from tensorweb.linalg.operands import (
    SlogdetResult,
    as_complex,
    as_real,
    columns_as_complex,
    columns_as_real,
    fail_where,
    floating,
    from_parts,
    is_complex,
    square,
    zero_pivots,
)
from tensorweb.linalg.products import diagonal
from tensorweb.linalg.spectral import schur
from tensorweb.nodes import factorizations as build
from tensorweb.nodes.matrices import diagonal as build_diagonal
from tensorweb.nodes.movement import alias, slice_axis
from tensorweb.public_names import declare_public
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_operands

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
        fail_where("cholesky", found, failed, what, source.shape)
    if is_complex(source):
        found = as_complex(found)
        # Rounding may leave small imaginary parts on the diagonal.
        n = found.shape[-1]
        is_real = xp.eye(n, dtype=dtypes.bool, device=found.device)
        found = from_parts(xp.real(found), xp.where(is_real, 0, xp.imag(found)))
    return xp.conj(found.mT) if upper else found


def solve(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the solution `x` of `x1 @ x = x2`, by elimination with pivots.

    Args:
        x1: square matrices, `(..., n, n)`.
        x2: right-hand sides: one vector `(n,)`, or matrices `(..., n, k)` whose outer
            axes broadcast with those of `x1`.

    Raises:
        ShapeError: `x1` is not square, or `x2` has not `n` rows.
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
            f"solve: shapes {a.shape} and {b.shape}; x2 is a vector of {a.shape[-1]} "
            f"elements or has {a.shape[-1]} rows, its last axis but one."
        )
    if is_complex(a):
        solved = _solve_or_fail("solve", as_real(a), columns_as_real(right), a.shape)
        found = columns_as_complex(solved)
    else:
        found = _solve_or_fail("solve", a, right, a.shape)
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
    found = _solve_or_fail("inv", real, one, source.shape)
    return as_complex(found) if is_complex(source) else found


def inverse_or_nan(x: Tensor) -> Tensor:
    """Return the inverse of each square matrix, NaN where a matrix is singular."""
    source = floating(square("cond", x))
    real = as_real(source) if is_complex(source) else source
    one = xp.eye(real.shape[-1], dtype=real.dtype, device=source.device)
    found, packed = _solve(real, one)
    failed = zero_pivots(packed)[..., None, None]
    found = xp.where(failed, xp.nan, found)
    return as_complex(found) if is_complex(source) else found


def _solve_or_fail(name: str, a: Tensor, b: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return X of A X = B; reading it raises if a matrix is singular."""
    found, packed = _solve(a, b)
    if found.size:
        fail_where(name, found, zero_pivots(packed), _SINGULAR, shape)
    return found


def _solve(a: Tensor, b: Tensor) -> tuple[Tensor, Node]:
    """Return X of A X = B, and the packed LU factors of A.

    Both operands have two axes at least; batch axes broadcast.
    """
    outer = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    packed = build.lu(a.node)
    right = xp.broadcast_to(b, (*outer, *b.shape[-2:]))
    factors = xp.broadcast_to(Tensor(packed), (*outer, *packed.shape[-2:]))
    return Tensor(build.lu_solve(factors.node, right.node)), packed


def det(x: ArrayLike, /) -> Tensor:
    """Return the determinant of each square matrix: `(..., n, n)` gives `(...)`.

    Raises:
        ShapeError: the matrices are not square.

    >>> tw.linalg.det([[2.0, 1.0], [4.0, 5.0]])
    tensor(6.)
    """
    source = floating(square("det", x))
    if is_complex(source):
        return _complex_det(source)
    pivots, signs = _pivots(source)
    return pivots.prod(-1) * signs.prod(-1)


def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """Return the sign and the logarithm of the size of each determinant.

    A singular matrix has sign 0 and logarithm -inf.

    Raises:
        ShapeError: the matrices are not square.

    >>> tw.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
    SlogdetResult(sign=tensor(-1.), logabsdet=tensor(0.))
    """
    source = floating(square("slogdet", x))
    if is_complex(source):
        return SlogdetResult(*_complex_slogdet(source))
    pivots, signs = _pivots(source)
    sign = xp.sign(pivots).prod(-1) * signs.prod(-1)
    return SlogdetResult(sign, xp.log(xp.abs(pivots)).sum(-1))


def _pivots(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the diagonal of U, and for each step -1 if it swapped two rows, else 1."""
    n, packed = x.shape[-1], build.lu(x.node)
    signs = Tensor(packed)[..., n + 1]
    return Tensor(build_diagonal(slice_axis(packed, -1, 0, n))), signs


# Powers of square matrices.


def matrix_power(x: ArrayLike, n: int, /) -> Tensor:
    """Return the n-th power of each square matrix.

    The power 0 is the identity. A negative power is one of the inverse; integers become
    floats then. The power is computed by repeated squaring.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: `n` is negative and a matrix is singular.

    >>> tw.linalg.matrix_power([[1, 1], [1, 0]], 10)
    tensor([[89, 55],
            [55, 34]])
    """
    base, left = square("matrix_power", x), operator.index(n)
    if left < 0:
        base, left = inv(base), -left
    if left == 0:
        one = xp.eye(base.shape[-1], dtype=base.dtype, device=base.device)
        return xp.broadcast_to(one, base.shape)
    while not left & 1:
        base, left = base @ base, left >> 1
    found, left = base, left >> 1
    while left:
        base = base @ base
        found = found @ base if left & 1 else found
        left >>= 1
    return found


# Determinants of complex matrices: products of their eigenvalues.
#
# Their backward pass needs no eigenvectors, which a defective matrix lacks.


def _complex_det(x: Tensor) -> Tensor:
    """Return the determinant of each matrix."""
    found = xp.prod(_values("det", x), axis=-1)
    return _with_rule(found, x, lambda cotangent: cotangent * xp.conj(found))


def _complex_slogdet(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sign and the logarithm of the size of each determinant."""
    values = _values("slogdet", x)
    sign = xp.prod(xp.sign(values), axis=-1)
    size = xp.log(xp.abs(values)).sum(-1)
    direction = _with_rule(sign, x, lambda g: 1j * xp.imag(g * xp.conj(sign)))
    return direction, _with_rule(size, x, lambda g: g)


def _values(name: str, x: Tensor) -> Tensor:
    return diagonal(schur(name, x, must_converge=False)[1])


def _with_rule(found: Tensor, x: Tensor, weight: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a result whose vjp is `weight · A⁻ᴴ`, by d log det A = tr A⁻¹ dA.

    Args:
        found: a number of each matrix.
        x: the matrices A.
        weight: maps the result's cotangent, which is complex if the result is.
    """
    source = pair_of(x.node)
    if not may_differentiate(source) or not found.size:
        return found

    def rule(cotangent: Node) -> tuple[Node]:
        is_complex = found.dtype.kind == "complex"
        given = Tensor(complex_of(cotangent) if is_complex else cotangent)
        return (pair_of((weight(given)[..., None, None] * _inverse(x)).node),)

    node = alias(pair_of(found.node))  # not a pair of joined parts, which are reused
    set_rule(node, (source,), rule)
    return Tensor(like(found.node, node))


def _inverse(x: Tensor) -> Tensor:
    """Return A⁻ᴴ; infinities and NaN for singular matrices."""
    real = as_real(xp.conj(x.mT))
    one = xp.eye(real.shape[-1], dtype=real.dtype, device=x.device)
    right = xp.broadcast_to(one, real.shape)
    return as_complex(Tensor(build.lu_solve(build.lu(real.node), right.node)))


declare_public(__name__, hidden="inverse_or_nan")
