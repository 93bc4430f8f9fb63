"""vjp rules of factorizations, computed from the factors.

Formulas: M. Giles, Collected matrix derivative results for forward and reverse mode
algorithmic differentiation (2008); I. Murray, Differentiation of the Cholesky
decomposition (2016); J. Townsend, Differentiating the singular value decomposition
(2016); D. Roberts and L. Roberts, QR and LQ decomposition matrix backpropagation
algorithms for square, wide, and deep matrices (2020). Vectors of equal values have no
derivative; their infinite terms are omitted.
"""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.errors import TransformError
from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, attributes_of
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.matrices import (
    diagonal,
    diagonal_matrix,
    transposed,
    triangle,
    triangular_solve,
)
from tensorweb.nodes.movement import expand, expand_dims, reshape, slice_axis
from tensorweb.nodes.ranges import promise_interval
from tensorweb.nodes.selection import concat
from tensorweb.nodes.sorting import argsort
from tensorweb.transforms.rules.rule import (
    Cotangents,
    Rule,
    Step,
    choose,
    equal,
    minus,
    number,
    ones,
    over,
    plus,
    times,
    zeros,
)

OF_COMPLETE = (
    "qr: the columns that mode 'complete' adds have no derivative; use mode 'reduced'."
)


def _lower(node: Node, k: int = 0) -> Node:
    return triangle("tril", "less_equal", node, k)


def _upper(node: Node, k: int = 0) -> Node:
    return triangle("triu", "greater_equal", node, k)


def _symmetric(node: Node) -> Node:
    """Return (A + Aᵀ) / 2."""
    return times(plus(node, transposed(node)), number(0.5, node))


def _behind(node: Node, upper: Node) -> Node:
    """Return A U⁻ᵀ, for an upper triangle U."""
    solved = triangular_solve(upper, transposed(node), is_upper=True)
    return transposed(solved)


def of_cholesky(step: Step, cotangent: Node) -> Cotangents:
    """A = L Lᵀ; dA is the symmetric part of L⁻ᵀ Φ(Lᵀ dL) L⁻¹, Φ halves the diagonal."""
    factor = step.node
    product = matmul(transposed(factor), cotangent)
    half = times(plus(_lower(product), _lower(product, -1)), number(0.5, product))
    upper = transposed(factor)
    solved = triangular_solve(upper, half, is_upper=True)
    return [_symmetric(_behind(solved, upper))]


def of_lu(step: Step, cotangent: Node) -> Cotangents:
    """P A = L U; P dA is L⁻ᵀ (tril(Lᵀ dL, -1) + triu(dU Uᵀ)) U⁻ᵀ; A is square."""
    n = step.node.shape[-2]
    packed, above = slice_axis(step.node, -1, 0, n), slice_axis(cotangent, -1, 0, n)
    upper = _upper(packed)
    lower = plus(_lower(packed, -1), diagonal_matrix(ones(diagonal(packed))))
    inner = plus(
        _lower(matmul(transposed(lower), _lower(above, -1)), -1),
        _upper(matmul(_upper(above), transposed(upper))),
    )
    solved = triangular_solve(transposed(lower), inner, is_upper=True, is_unit=True)
    result = _behind(solved, upper)
    order = cast(slice_axis(step.node, -1, n, 1), dtypes.int32)
    back = argsort(order, len(order.shape) - 2, False)
    promise_interval(back, 0, n - 1)
    return [take_along(result, expand(back, result.shape), len(result.shape) - 2)]


def of_triangular_solve(step: Step, cotangent: Node) -> Cotangents:
    """X = T⁻¹ B; dB = T⁻ᵀ dX, dT = -dB Xᵀ inside of the triangle."""
    attrs = attributes_of(step.node, Factoring)
    adjoint = transposed(step.inputs[0])
    right = triangular_solve(
        adjoint, cotangent, is_upper=not attrs.is_upper, is_unit=attrs.is_unit
    )
    outside = matmul(right, transposed(step.node))
    first_diagonal = int(attrs.is_unit)
    inside = (
        _upper(outside, first_diagonal)
        if attrs.is_upper
        else _lower(outside, -first_diagonal)
    )
    return [times(inside, number(-1, inside)), right]


def of_qr(step: Step, cotangent: Node) -> Cotangents:
    """A = Q R; dA = (dQ + Q sym(M)) R⁻ᵀ, M = R dRᵀ - dQᵀ Q, sym repeats the lower part.

    Of a wide A = [X Y] and R = [U V], V = Qᵀ Y as well: dQ gets Y dVᵀ, and dY = Q dV.
    """
    (source,) = step.inputs
    *_, rows, columns = source.shape
    if step.node.shape[-1] != min(rows, columns) * (rows + columns):
        raise TransformError(OF_COMPLETE)
    left, right = _parts_of_qr(step.node, rows, columns)
    d_left, d_right = _parts_of_qr(cotangent, rows, columns)
    if rows >= columns:
        return [_of_tall(left, right, d_left, d_right)]
    remainder, remaining = slice_axis(source, -1, rows, columns - rows), columns - rows
    d_remainder = slice_axis(d_right, -1, rows, remaining)
    d_left = plus(d_left, matmul(remainder, transposed(d_remainder)))
    square, d_square = slice_axis(right, -1, 0, rows), slice_axis(d_right, -1, 0, rows)
    first = _of_tall(left, square, d_left, d_square)
    return [concat([first, matmul(left, d_remainder)], len(source.shape) - 1)]


def _parts_of_qr(flat: Node, rows: int, columns: int) -> tuple[Node, Node]:
    width, outer = min(rows, columns), flat.shape[:-1]
    left = reshape(slice_axis(flat, -1, 0, rows * width), (*outer, width, rows))
    right = slice_axis(flat, -1, rows * width, width * columns)
    return transposed(left), reshape(right, (*outer, width, columns))


def _of_tall(left: Node, right: Node, d_left: Node, d_right: Node) -> Node:
    inner = minus(matmul(right, transposed(d_right)), matmul(transposed(d_left), left))
    repeated = plus(_lower(inner), transposed(_lower(inner, -1)))
    return _behind(plus(d_left, matmul(left, repeated)), right)


def _inverse(node: Node) -> Node:
    """Return 1 / x, and 0 where x is 0."""
    is_nothing = equal(node, number(0, node))
    return choose(
        is_nothing, zeros(node), over(ones(node), choose(is_nothing, ones(node), node))
    )


def _differences(values: Node) -> Node:
    """Return xⱼ - xᵢ for each row i and column j."""
    last = len(values.shape)
    return minus(expand_dims(values, (last - 1,)), expand_dims(values, (last,)))


def of_eigh(step: Step, cotangent: Node) -> Cotangents:
    """A = V diag(w) Vᵀ; dA = V (diag(dw) + F ∘ Vᵀ dV) Vᵀ, Fᵢⱼ = 1 / (wⱼ - wᵢ)."""
    values, vectors = _parts_of_eigh(step.node)
    d_values, d_vectors = _parts_of_eigh(cotangent)
    inverse_vectors = transposed(vectors)
    inner = times(_inverse(_differences(values)), matmul(inverse_vectors, d_vectors))
    inner = plus(inner, diagonal_matrix(d_values))
    return [_symmetric(matmul(matmul(vectors, inner), inverse_vectors))]


def _parts_of_eigh(packed: Node) -> tuple[Node, Node]:
    *outer, _, n = packed.shape
    return reshape(slice_axis(packed, -2, 0, 1), (*outer, n)), slice_axis(
        packed, -2, 1, n
    )


def of_svd(step: Step, cotangent: Node) -> Cotangents:
    """A = U S Vᵀ, S = diag(s); Fᵢⱼ = 1 / (sⱼ² - sᵢ²), J = F ∘ Uᵀ dU, K = F ∘ Vᵀ dV.

    dA = U ((J + Jᵀ) S + S (K + Kᵀ) + diag(ds)) Vᵀ + (1 - U Uᵀ) dU S⁻¹ Vᵀ.
    """
    *_, rows, columns = step.inputs[0].shape
    left, values, right = _parts_of_svd(step.node, rows, columns)
    d_left, d_values, d_right = _parts_of_svd(cotangent, rows, columns)
    inverse = _inverse(_differences(times(values, values)))
    across = expand_dims(values, (len(values.shape) - 1,))
    down = expand_dims(values, (len(values.shape),))
    along = matmul(transposed(left), d_left)
    j = times(inverse, along)
    k = times(inverse, matmul(right, transposed(d_right)))
    inner = plus(
        times(plus(j, transposed(j)), across), times(down, plus(k, transposed(k)))
    )
    whole = matmul(left, plus(inner, diagonal_matrix(d_values)))
    outside = minus(d_left, matmul(left, along))
    return [matmul(plus(whole, times(outside, _inverse(across))), right)]


def _parts_of_svd(flat: Node, rows: int, columns: int) -> tuple[Node, Node, Node]:
    outer, begin = flat.shape[:-1], columns * rows
    left = reshape(slice_axis(flat, -1, 0, begin), (*outer, columns, rows))
    right = slice_axis(flat, -1, begin + columns, columns * columns)
    values = slice_axis(flat, -1, begin, columns)
    return transposed(left), values, reshape(right, (*outer, columns, columns))


RULES: dict[str, Rule] = {
    "cholesky": of_cholesky,
    "lu": of_lu,
    "triangular_solve": of_triangular_solve,
    "qr": of_qr,
    "eigh": of_eigh,
    "svd": of_svd,
}
