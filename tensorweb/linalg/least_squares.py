"""Least squares, and square roots of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tensorweb import functions as xp
from tensorweb.dtypes import finfo
from tensorweb.errors import MatrixShapeError
from tensorweb.graph.autograd import may_differentiate, set_rule
from tensorweb.graph.node import Node, complex_of, like, pair_of
from tensorweb.graph.tracing import is_traced
from tensorweb.linalg.operands import floating, is_complex, square
from tensorweb.linalg.products import diagonal
from tensorweb.linalg.spectral import schur, svd
from tensorweb.nodes.movement import alias
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_operands


class LstsqResult(NamedTuple):
    """Solution, sums of squared residuals, rank and singular values."""

    solution: Tensor
    residuals: Tensor
    rank: int | Tensor
    singular_values: Tensor


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> LstsqResult:
    """Return the `x` that makes `|b - a x|` least, of these the shortest.

    With it the sums of squared residuals (none unless `a` has more rows than columns
    and full rank), the rank, which is read, and the singular values. Below `vmap` and
    `jit`, which read nothing, the rank is a tensor, and the sums are NaN where the rank
    is not full. Singular values below
    `rcond` times the largest count as 0; the default is the precision of the dtype
    times the longer side.

    Raises:
        MatrixShapeError: row counts of `a` and `b` differ, or `a` is no matrix.

    >>> line = tw.stack([tw.arange(4.0), tw.ones(4)], axis=1)
    >>> tw.round(tw.linalg.lstsq(line, [-1.0, 1.0, 3.0, 5.0])[0], 3)
    tensor([ 2., -1.])
    """
    matrix, right = (floating(Tensor(x)) for x in as_operands(a, b))
    if matrix.ndim != 2 or right.ndim not in (1, 2):
        raise MatrixShapeError(
            f"lstsq: shapes {matrix.shape} and {right.shape}; give a matrix, and a "
            "vector or matrix of as many rows."
        )
    count, width = matrix.shape
    if count != right.shape[0]:
        raise MatrixShapeError(
            f"lstsq: {count} rows and {right.shape[0]}; both must be equal."
        )
    columns = right if right.ndim == 2 else right[:, None]
    left, singular, rows = svd(matrix, full_matrices=False)
    threshold = rcond
    if threshold is None or threshold < 0:
        threshold = finfo(matrix.dtype).eps * (
            max(count, width) if rcond is None else 1
        )
    counts = singular > (xp.max(singular) * threshold if singular.size else 0)
    weights = xp.where(counts, 1 / xp.where(counts, singular, 1), 0)
    solution = xp.conj(rows.mT) @ (weights[:, None] * (xp.conj(left.mT) @ columns))
    rank: int | Tensor = xp.sum(counts)
    is_known = not is_traced(xp.asarray(rank).node)
    if is_known:
        rank = int(rank)
    residuals = xp.zeros(0, singular.dtype, device=matrix.device)
    if count > width and not (is_known and rank < width):
        residuals = xp.sum(xp.square(xp.abs(columns - matrix @ solution)), axis=0)
        if not is_known:
            residuals = xp.where(rank == width, residuals, math.nan)
    solution = solution if right.ndim == 2 else solution[:, 0]
    return LstsqResult(solution, residuals, rank, singular)


def sqrtm(A: ArrayLike) -> Tensor:  # SciPy's name of the argument
    """Return the principal square root of each square matrix, complex as in JAX.

    A. Björck and S. Hammarling, A Schur method for the square root of a matrix, 1983.

    Args:
        A: the matrices, `(..., n, n)`.

    Raises:
        ShapeError: the matrices are not square.

    >>> tw.real(tw.linalg.sqrtm([[5.0, 4.0], [4.0, 5.0]])).round(3)
    tensor([[2., 1.],
            [1., 2.]])
    """
    x = floating(square("sqrtm", A))

    # R² = A: R dR + dR R = dA
    def rule(cotangent: Tensor) -> tuple[Tensor]:
        found = _sylvester(xp.conj(sqrtm(x).mT), cotangent)
        return (found if is_complex(x) else xp.real(found),)

    return _with_rule(_root(x), (x,), rule)


def _with_rule(
    found: Tensor,
    inputs: tuple[Tensor, ...],
    rule: Callable[[Tensor], Sequence[Tensor]],
) -> Tensor:
    """Return a complex result with a custom vjp rule.

    Args:
        found: the result.
        inputs: the tensors that it depends on.
        rule: maps the cotangent of the result to one cotangent per input.
    """
    sources = tuple([pair_of(x.node) for x in inputs])
    if not any(map(may_differentiate, sources)) or 0 in found.shape:
        return found

    def pairs(cotangent: Node) -> tuple[Node, ...]:
        return tuple([pair_of(x.node) for x in rule(Tensor(complex_of(cotangent)))])

    node = alias(pair_of(found.node))
    set_rule(node, sources, pairs)
    return Tensor(like(found.node, node))


def _root(x: Tensor) -> Tensor:
    """Return the square root, by that of Schur's triangle."""
    q, triangle, _ = schur("sqrtm", x)
    if 0 in q.shape:
        return q
    distance, sums = _diagonals(xp.sqrt(diagonal(triangle)))
    root = xp.where(distance == 0, 0.5 * sums, 0)
    # Of each element above the diagonal, all products lie nearer to it.
    for d in range(1, q.shape[-1]):
        root = xp.where(distance == d, (triangle - root @ root) / sums, root)
    return q @ root @ xp.conj(q.mT)


def _diagonals(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return columns minus rows, and the sum of a value of each, 1 where that is 0."""
    number = xp.arange(values.shape[-1], device=values.device)
    sums = values[..., :, None] + values[..., None, :]
    distance = number - number[:, None]
    return distance, xp.where((sums == 0) & (distance != 0), 1, sums)


def _sylvester(root: Tensor, given: Tensor) -> Tensor:
    """Return W of R W + W R = G, by Schur's triangle of R."""
    q, triangle, _ = schur("sqrtm", root)
    adjoint, size = xp.conj(q.mT), q.shape[-1]
    distance, sums = _diagonals(diagonal(triangle))
    rotated = adjoint @ given @ q
    strict = xp.where(distance > 0, triangle, 0)
    found = xp.zeros_like(rotated)
    for d in range(1 - size, size):
        rest = rotated - strict @ found - found @ strict
        found = xp.where(distance == d, rest / sums, found)
    result = q @ found @ adjoint

    def rule(cotangent: Tensor) -> tuple[Tensor, Tensor]:
        moved = _sylvester(xp.conj(root.mT), cotangent)
        factor = xp.conj(_sylvester(root, given).mT)
        return -(moved @ factor + factor @ moved), moved

    return _with_rule(result, (root, given), rule)


declare_public(__name__, hidden="LstsqResult")
