"""SciPy's functions of triangles, LU factors and structured matrices.

Names and arguments are those of `scipy.linalg`; `overwrite_…` and `check_finite` are
left out. Stacks of matrices are solved at once.
"""

from __future__ import annotations

from tensorweb import functions as xp
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.linalg.operands import fail_where, floating, is_complex, matrices, square
from tensorweb.linalg.products import diagonal
from tensorweb.linalg.solving import cholesky, solve
from tensorweb.nodes import factorizations as build
from tensorweb.nodes.matrices import triangular_solve
from tensorweb.public_names import declare_public
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_operands

TRANSPOSED = {0: False, "N": False, 1: True, "T": True, 2: True, "C": True}
"""SciPy's names of the system that is solved; all matrices are real."""

PADE = {"float64": (13, 5.371920351148152)}
"""Degree of the rational approximation of `expm`, and the 1-norm up to which it is
exact to the dtype. Source: N. Higham, The scaling and squaring method for the matrix
exponential revisited, 2005, table 2.3."""

PADE_SHORT = (7, 3.925724783138660)
"""The same for float32 and float16, as in Eigen and JAX."""

MOST_SQUARINGS = 16
"""The 1-norm of a matrix may be the last bound times two to this power."""


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
) -> Tensor:
    """Return the solution `x` of `a @ x = b` for a triangle, by substitution.

    Args:
        a: real matrices, `(..., n, n)`; the other triangle is not read.
        b: right-hand sides: one vector `(n,)`, or matrices `(..., n, k)` whose outer
            axes broadcast with those of `a`.
        trans: 0 or `"N"` for `a`, 1 or `"T"` for its transpose.
        lower: whether the lower triangle is read, else the upper one.
        unit_diagonal: whether the diagonal is 1 and not read.

    Raises:
        ShapeError: `a` is not square, or `b` has not `n` rows.
        DTypeError: a matrix is complex.
        DataError: `trans` is unknown.
        LinAlgError: a diagonal has a zero; when the result is read.

    >>> tw.linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 5.0], lower=True)
    tensor([1., 1.])
    """
    if trans not in (*TRANSPOSED,):
        raise DataError(f"solve_triangular: trans is {trans!r}; give 0 or 1.")
    left, right = map(Tensor, as_operands(a, b))
    left, right = floating(square("solve_triangular", left)), floating(right)
    dtype = xp.result_type(left, right)
    if dtype.kind == "complex":
        raise DTypeError(
            "solve_triangular: complex triangles are not solved by substitution; "
            "tw.linalg.solve solves them."
        )
    left, right = left.astype(dtype, copy=False), right.astype(dtype, copy=False)
    is_vector = right.ndim == 1
    columns = right[:, None] if is_vector else right
    if columns.ndim < 2 or columns.shape[-2] != left.shape[-1]:
        raise ShapeError(
            f"solve_triangular: shapes {left.shape} and {right.shape}; b is a vector "
            f"of {left.shape[-1]} elements or has {left.shape[-1]} rows."
        )
    is_transposed = TRANSPOSED[trans]
    outer = broadcast_shapes(left.shape[:-2], columns.shape[:-2])
    triangle = xp.broadcast_to(
        left.mT if is_transposed else left, (*outer, *left.shape[-2:])
    )
    node = triangular_solve(
        triangle.node,
        xp.broadcast_to(columns, (*outer, *columns.shape[-2:])).node,
        is_upper=lower == is_transposed,
        is_unit=unit_diagonal,
    )
    found = Tensor(node)
    if found.size and not unit_diagonal:
        failed = xp.any(diagonal(triangle) == 0, axis=-1)
        what = "is singular: its diagonal has a zero."
        fail_where("solve_triangular", found, failed, what, left.shape)
    return found[..., 0] if is_vector else found


def cho_factor(a: ArrayLike, lower: bool = False) -> tuple[Tensor, bool]:
    """Return a Cholesky factor and whether it is the lower one, for `cho_solve`.

    Args:
        a: symmetric, positive definite matrices, `(..., n, n)`.
        lower: whether the factor is L of `a = L Lᵀ`, else U of `a = Uᵀ U`.

    Returns:
        The factor, `(..., n, n)`, and `lower`.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: a matrix is not positive definite; when the result is read.

    >>> tw.linalg.cho_solve(tw.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]]), [6.0, 7.0])
    tensor([1., 1.])
    """
    return cholesky(a, upper=not lower), lower


def cho_solve(c_and_lower: tuple[ArrayLike, bool], b: ArrayLike) -> Tensor:
    """Return the solution `x` of `a @ x = b` from a Cholesky factor of `a`.

    Args:
        c_and_lower: real factors, `(..., n, n)`, and whether they are lower triangles.
        b: right-hand sides: one vector `(n,)`, or matrices `(..., n, k)`.

    Raises:
        ShapeError: the factor is not square, or `b` has not `n` rows.
        DTypeError: the factor is complex.

    >>> lower = tw.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    >>> tw.linalg.cho_solve((lower, True), [6.0, 7.0])
    tensor([1., 1.])
    """
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=not lower, lower=lower)
    return solve_triangular(factor, first, trans=lower, lower=lower)


def lu(a: ArrayLike) -> tuple[Tensor, Tensor, Tensor]:
    """Return P, L and U of `a = P @ L @ U`, by elimination with pivots.

    Args:
        a: real matrices, `(..., m, n)`.

    Returns:
        A permutation `(..., m, m)`, a lower triangle with unit diagonal `(..., m, k)`
        and an upper triangle `(..., k, n)`; k is `min(m, n)`.

    Raises:
        ShapeError: there are fewer than two axes.
        DTypeError: the matrices are complex.

    >>> p, lower, upper = tw.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> lower, upper
    (tensor([[1.  , 0.  ],
            [0.25, 1.  ]]), tensor([[4., 4.],
            [0., 1.]]))
    """
    source = floating(matrices("lu", a))
    if is_complex(source):
        raise DTypeError("lu: complex matrices have no factors here; use tw.linalg.qr.")
    *_, rows, columns = source.shape
    size = min(rows, columns)
    packed = Tensor(build.lu(source.node))
    one = xp.eye(rows, size, dtype=source.dtype, device=source.device)
    lower = xp.tril(packed[..., :size], k=-1) + one
    upper = xp.triu(packed[..., :size, :columns])
    order = packed[..., columns].astype("int32")
    numbers = xp.arange(rows, device=source.device)
    permutation = (numbers[:, None] == order[..., None, :]).astype(source.dtype)
    return permutation, lower, upper


def expm(A: ArrayLike) -> Tensor:  # SciPy's name of the argument
    """Return the exponential `1 + A + A²/2 + …` of each square matrix.

    Args:
        A: the matrices, `(..., n, n)`; a 1-norm above 2¹⁶ times 3.9 gives NaN.

    Raises:
        ShapeError: the matrices are not square.

    >>> tw.round(100 * tw.linalg.expm([[0.0, 1.0], [-1.0, 0.0]]))
    tensor([[ 54.,  84.],
            [-84.,  54.]])
    """
    source = floating(square("expm", A))
    if not source.size:
        return source
    degree, bound = PADE.get(str(source.dtype.part), PADE_SHORT)
    norm = xp.max(xp.sum(xp.abs(source), axis=-2), axis=-1)[..., None, None]
    squarings = xp.maximum(xp.ceil(xp.log2(xp.maximum(norm, 1e-6) / bound)), 0.0)
    scaled = source / 2.0**squarings
    square_of = scaled @ scaled
    one = xp.eye(source.shape[-1], dtype=source.dtype, device=source.device)
    weights = [1.0]
    for j in range(1, degree + 1):
        weights.append(weights[-1] * (degree - j + 1) / ((2 * degree - j + 1) * j))
    odd, even = one * weights[-1], one * weights[-2]
    for j in range(degree - 2, 0, -2):
        odd = odd @ square_of + weights[j] * one
        even = even @ square_of + weights[j - 1] * one
    odd = scaled @ odd
    found = solve(even - odd, even + odd)
    for step in range(MOST_SQUARINGS):
        found = xp.where(step < squarings, found @ found, found)
    return xp.where(squarings > MOST_SQUARINGS, xp.nan, found)


def block_diag(*arrs: ArrayLike) -> Tensor:
    """Return the matrix with the given ones along its diagonal, zeros elsewhere.

    Args:
        *arrs: matrices; a vector is a matrix of one row, a number of one element.

    Raises:
        ShapeError: one has more than two axes.

    >>> tw.linalg.block_diag([[1, 2]], 3)
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    blocks = [xp.asarray(each) for each in arrs] or [xp.zeros((1, 0))]
    if any(block.ndim > 2 for block in blocks):
        shapes = ", ".join(str(block.shape) for block in blocks)
        raise ShapeError(f"block_diag: shapes {shapes}; each has at most two axes.")
    blocks = [block.reshape((1,) * (2 - block.ndim) + block.shape) for block in blocks]
    width = sum(block.shape[1] for block in blocks)
    strips, start = [], 0
    for block in blocks:
        after = width - start - block.shape[1]
        strips.append(xp.pad(block, ((0, 0), (start, after))))
        start += block.shape[1]
    return xp.concat(strips, axis=0)


def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Tensor:
    """Return the matrix with equal elements along each diagonal.

    Args:
        c: the first column, `(m,)`.
        r: the first row, `(n,)`, whose first element is not read; None for the
            conjugate of `c`.

    Returns:
        Shape `(m, n)`.

    Raises:
        ShapeError: one is no vector.

    >>> tw.linalg.toeplitz([1, 2, 3], [1, 7, 8])
    tensor([[1, 7, 8],
            [2, 1, 7],
            [3, 2, 1]])
    """
    column = xp.asarray(c)
    row = xp.conj(column) if r is None else xp.asarray(r)
    for x in (column, row):
        if x.ndim != 1:
            raise ShapeError(f"toeplitz: a shape is {x.shape}; give vectors.")
    values = xp.concat([xp.flip(column), row[1:]])
    down = xp.arange(len(column) - 1, -1, -1, device=column.device)
    index = down[:, None] + xp.arange(len(row), device=column.device)
    return xp.take(values, index.reshape(-1)).reshape(index.shape)


declare_public(__name__)
