"""Linear algebra with NumPy's arguments: `np.linalg`, made of `tw.linalg`.

>>> np.linalg.norm([[3.0, 4.0], [0.0, 0.0]])
tensor(5.)
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tensorweb import functions as tw
from tensorweb import linalg as standard
from tensorweb.advice import unknown
from tensorweb.errors import DataError, ShapeError
from tensorweb.errors import LinAlgError as LinAlgError
from tensorweb.linalg.operands import EighResult, QRResult, SVDResult
from tensorweb.linalg.solving import inverse_or_nan
from tensorweb.numpy.arguments import (
    Out,
    as_first_operand,
    as_floats,
    as_tensors,
    into,
)
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

cholesky = standard.cholesky
cross = standard.cross
det = standard.det
diagonal = standard.diagonal
inv = standard.inv
lstsq = standard.lstsq
matmul = standard.matmul
matrix_norm = standard.matrix_norm
matrix_transpose = standard.matrix_transpose
norm = standard.norm
outer = standard.outer
slogdet = standard.slogdet
solve = standard.solve
svdvals = standard.svdvals
tensordot = standard.tensordot
trace = standard.trace
vecdot = standard.vecdot
vector_norm = standard.vector_norm

if not TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> object:
        """Return what `tw.linalg` has under a name, such as `eig`."""
        if name in standard.__all__:
            return getattr(standard, name)
        raise unknown("tensorweb.numpy.linalg", name, globals()["__all__"])


def cond(x: ArrayLike, p: Any = None) -> Tensor:
    """Return the condition number of matrices: the largest by the least singular value.

    With another order `p` of norm it is `norm(x, p) norm(inv(x), p)`. Of a singular
    matrix it is infinite.

    Raises:
        LinAlgError: there are no elements.

    >>> np.linalg.cond([[2.0, 0.0], [0.0, 1.0]])
    tensor(2.)
    """
    values = as_floats(x)
    if not values.size:
        raise LinAlgError(f"cond: shape {values.shape} has no elements; give some.")
    if p in (None, 2, -2):
        singular = standard.svdvals(values)
        first, last = singular[..., 0], singular[..., -1]
        result = last / first if p == -2 else first / last
    else:
        inverse = inverse_or_nan(values)
        result = norm(values, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    has_nan = tw.any(tw.isnan(values), axis=(-2, -1))
    return tw.where(tw.isnan(result) & ~has_nan, math.inf, result)


def matrix_rank(
    A: ArrayLike,
    tol: ArrayLike = None,
    hermitian: builtins.bool = False,
    *,
    rtol: ArrayLike = None,
) -> Tensor:
    """Return the count of singular values above a threshold.

    It is `tol`, or `rtol` times the largest.

    Raises:
        DataError: both are given.

    >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    tensor(1)
    """
    if tol is not None and rtol is not None:
        raise DataError("matrix_rank: tol= and rtol= are both given; give one.")
    values = as_floats(as_first_operand(A, tol, rtol))
    if values.ndim < 2:
        return tw.any(values != 0).astype(int)
    if tol is None:
        return standard.matrix_rank(values, rtol=rtol)
    limit = as_tensors((values, tol))[1][..., None]
    return tw.sum((standard.svdvals(values) > limit).astype(int), axis=-1)


def matrix_power(a: ArrayLike, n: int) -> Tensor:
    """Return integer powers of square matrices; negative ones of their inverses.

    >>> np.linalg.matrix_power([[1, 1], [0, 1]], 5)
    tensor([[1, 5],
            [0, 1]])
    """
    return standard.matrix_power(a, n)


def pinv(
    a: ArrayLike,
    rcond: ArrayLike = None,
    hermitian: builtins.bool = False,
    *,
    rtol: ArrayLike = None,
) -> Tensor:
    """Return the pseudo-inverse of matrices, from their singular values.

    Those below `rcond` (or `rtol`) times the largest count as 0.

    Raises:
        DataError: both are given.

    >>> np.round(np.linalg.pinv([[2.0, 0.0], [0.0, 4.0], [0.0, 0.0]]), 3)
    tensor([[0.5 , 0.  , 0.  ],
            [0.  , 0.25, 0.  ]])
    """
    if rcond is not None and rtol is not None:
        raise DataError("pinv: rcond= and rtol= are both given; give one.")
    return standard.pinv(as_floats(a), rtol=rcond if rtol is None else rtol)


@overload
def svd(
    a: ArrayLike,
    full_matrices: builtins.bool = True,
    compute_uv: Literal[True] = True,
    hermitian: builtins.bool = False,
) -> SVDResult: ...


@overload
def svd(
    a: ArrayLike,
    full_matrices: builtins.bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: builtins.bool = False,
) -> Tensor: ...


@overload
def svd(
    a: ArrayLike,
    full_matrices: builtins.bool = True,
    compute_uv: builtins.bool = True,
    hermitian: builtins.bool = False,
) -> Any: ...


def svd(
    a: ArrayLike,
    full_matrices: builtins.bool = True,
    compute_uv: builtins.bool = True,
    hermitian: builtins.bool = False,
) -> Any:
    """Return the singular value decomposition `a = U diag(S) Vh`, or `S` alone.

    >>> np.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    tensor([4., 3.])
    """
    values = as_floats(a)
    if not compute_uv:
        return standard.svdvals(values)
    return standard.svd(values, full_matrices=full_matrices)


@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...


@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> Tensor: ...


@overload
def qr(a: ArrayLike, mode: str = "reduced") -> Any: ...


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """Return `Q` and `R` of which matrices are products; `R` alone for mode `r`.

    Raises:
        DataError: the mode is none of `reduced`, `complete` and `r`.

    >>> q, r = np.linalg.qr([[3.0, 1.0], [4.0, 1.0]])
    >>> np.round(q @ r, 3)
    tensor([[3., 1.],
            [4., 1.]])
    """
    if mode not in ("reduced", "complete", "r"):
        raise DataError(f"qr: mode={mode!r}; it is reduced, complete or r.")
    if mode == "complete":
        return standard.qr(as_floats(a), mode="complete")
    result = standard.qr(as_floats(a))
    return result.R if mode == "r" else result


def eigh(a: ArrayLike, UPLO: str = "L") -> EighResult:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Only one triangle is read, the lower one, or the upper one for `U`.

    Raises:
        DataError: `UPLO` is neither.

    >>> np.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
    tensor([1., 2.])
    """
    return standard.eigh(_mirror_triangle(a, UPLO))


def eigvalsh(a: ArrayLike, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric or Hermitian matrices, the least first.

    Raises:
        DataError: `UPLO` is neither `L` nor `U`.

    >>> np.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    tensor([1., 2.])
    """
    return standard.eigvalsh(_mirror_triangle(a, UPLO))


def _mirror_triangle(a: ArrayLike, triangle: str) -> Tensor:
    """Return matrices whose other triangle is the mirror of the one that counts."""
    values = as_floats(a)
    if triangle not in ("L", "U", "l", "u"):
        raise DataError(f"UPLO={triangle!r}; it is L or U.")
    lower = values if triangle in "Ll" else tw.conj(values.mT)
    below = tw.tril(lower, k=-1)
    return tw.tril(lower) + tw.conj(below.mT)


def multi_dot(arrays: Sequence[ArrayLike], *, out: Out = None) -> Tensor:
    """Return the product of several matrices, in the order that costs least.

    The first and the last may be vectors.

    Raises:
        ShapeError: there are fewer than two, or inner lengths differ.

    >>> np.linalg.multi_dot([[1.0, 2.0], np.eye(2), [[3.0], [4.0]]])
    tensor([11.])
    """
    parts = as_tensors(arrays)
    if len(parts) < 2:
        raise ShapeError(f"multi_dot: {len(parts)} arrays; give two or more.")
    first, last = parts[0].ndim, parts[-1].ndim
    parts[0] = parts[0][None, :] if first == 1 else parts[0]
    parts[-1] = parts[-1][:, None] if last == 1 else parts[-1]
    product = _multiply_chain(parts)
    product = product[0] if first == 1 else product
    return into(product[..., 0] if last == 1 else product, out)


def _multiply_chain(parts: list[Tensor]) -> Tensor:
    """Return a product of matrices by the cheapest order: Cormen et al., chapter 15.2.

    The cost of a product from i to j is the least sum of the costs of its two parts and
    of their product, over all ways to split it in two.
    """
    lengths = [parts[0].shape[0], *(part.shape[1] for part in parts)]

    @functools.cache
    def cost_and_split(i: int, j: int) -> tuple[int, int]:
        return (
            min(
                (
                    cost_and_split(i, k)[0]
                    + cost_and_split(k + 1, j)[0]
                    + lengths[i] * lengths[k + 1] * lengths[j + 1],
                    k,
                )
                for k in range(i, j)
            )
            if i < j
            else (0, i)
        )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        _, split = cost_and_split(i, j)
        return product(i, split) @ product(split + 1, j)

    return product(0, len(parts) - 1)


def tensorsolve(
    a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None
) -> Tensor:
    """Return the `x` with `tensordot(a, x, x.ndim) == b`; `axes` of `a` are moved last.

    Raises:
        ShapeError: the axes of `b` are no square matrix with the others of `a`.

    >>> np.linalg.tensorsolve(np.eye(4).reshape(2, 2, 4), np.ones((2, 2)))
    tensor([1., 1., 1., 1.])
    """
    matrix, right = map(as_floats, as_tensors((a, b)))
    if axes is not None:
        ends = range(matrix.ndim - len(axes), matrix.ndim)
        matrix = matrix.moveaxis(tuple(axes), tuple(ends))
    shape = matrix.shape[right.ndim :]
    square = matrix.reshape((right.size, math.prod(shape)))
    return standard.solve(square, right.ravel()).reshape(shape)


def tensorinv(a: ArrayLike, ind: int = 2) -> Tensor:
    """Return the inverse of the matrix whose rows are the first `ind` axes.

    Raises:
        ShapeError: it is not square.

    >>> np.linalg.tensorinv(np.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)
    """
    values = as_floats(a)
    if ind < 1:
        raise ShapeError(f"tensorinv: ind is {ind}; it is 1 or more.")
    rows, columns = values.shape[:ind], values.shape[ind:]
    square = values.reshape((math.prod(rows), math.prod(columns)))
    return standard.inv(square).reshape((*columns, *rows))


declare_public(
    __name__, "LinAlgError", *(name for name in standard.__all__ if name in globals())
)
