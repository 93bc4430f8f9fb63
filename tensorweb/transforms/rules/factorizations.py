"""vjp rules of factorizations of real and complex matrices, computed from the factors.

Real matrices equal their conjugates. Gradients of complex ones are `∂/∂x + i ∂/∂y`;
results are assumed not to depend on the free phases of the vectors. Vectors of equal
values have no derivative; their infinite terms are omitted.

Formulas: M. Giles, Collected matrix derivative results for forward and reverse mode
algorithmic differentiation (2008); I. Murray, Differentiation of the Cholesky
decomposition (2016); J. Townsend, Differentiating the singular value decomposition
(2016); D. Roberts and L. Roberts, QR and LQ decomposition matrix backpropagation
algorithms for square, wide, and deep matrices (2020); C. Boeddeker et al., On the
computation of complex-valued gradients with application to statistically optimum
beamforming (2017); Z. Wan and S. Zhang, Automatic differentiation for complex valued
SVD (2019); M. Seeger et al., Auto-differentiating linear algebra (2017).
"""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb import functions as xp
from tensorweb.errors import TransformError
from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, attributes_of
from tensorweb.nodes.complex_factorizations import (
    as_real,
    unpacked_qr,
    unpacked_schur,
    unpacked_svd,
)
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.factorizations import lu, lu_solve
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.matrices import (
    diagonal,
    diagonal_matrix,
    transposed,
    triangular_solve,
)
from tensorweb.nodes.movement import expand, reshape, slice_axis
from tensorweb.nodes.ranges import promise_interval
from tensorweb.nodes.sorting import argsort
from tensorweb.tensor import Tensor
from tensorweb.transforms.rules.rule import Cotangents, Rule, Step

OF_COMPLETE = (
    "qr: the columns that mode 'complete' adds have no derivative; use mode 'reduced'."
)


def _adjoint(x: Tensor) -> Tensor:
    return xp.conj(x.mT)


def _hermitian(x: Tensor) -> Tensor:
    """Return (A + Aᴴ) / 2."""
    return (x + _adjoint(x)) * 0.5


def _diagonal(x: Tensor) -> Tensor:
    return Tensor(diagonal(x.node))


def _placed(x: Tensor) -> Tensor:
    """Return diagonal matrices."""
    return Tensor(diagonal_matrix(x.node))


def _inverse(x: Tensor) -> Tensor:
    """Return 1 / x, and 0 where x is 0."""
    is_nothing = x == 0
    return xp.where(is_nothing, 0, 1 / xp.where(is_nothing, 1, x))


def _differences(x: Tensor) -> Tensor:
    """Return xⱼ - xᵢ for each row i and column j."""
    return x[..., None, :] - x[..., :, None]


def _solved(upper: Tensor, right: Tensor, *, is_unit: bool = False) -> Tensor:
    """Return U⁻¹ B for an upper triangle U."""
    if upper.dtype.kind != "complex":
        solved = triangular_solve(
            upper.node, right.node, is_upper=True, is_unit=is_unit
        )
        return Tensor(solved)
    real = as_real(upper.node), as_real(right.node)
    return _as_complex(triangular_solve(*real, is_upper=True))


def _behind(x: Tensor, upper: Tensor) -> Tensor:
    """Return A U⁻ᴴ, for an upper triangle U."""
    return _adjoint(_solved(upper, _adjoint(x)))


def _as_complex(real: Node) -> Tensor:
    result = Tensor(real)
    return Tensor(join_parts(result[..., ::2, ::2].node, result[..., 1::2, ::2].node))


def _is_complex(step: Step) -> bool:
    """Whether a factorization reads real and imaginary parts."""
    return len(step.inputs) == 2


def _cotangents(step: Step, x: Tensor) -> Cotangents:
    return [xp.real(x).node, xp.imag(x).node] if _is_complex(step) else [x.node]


def of_cholesky(step: Step, cotangent: Node) -> Cotangents:
    """A = L Lᵀ; dA is the symmetric part of L⁻ᵀ Φ(Lᵀ dL) L⁻¹, Φ halves the diagonal."""
    upper = Tensor(step.node).mT
    product = upper @ Tensor(cotangent)
    half = (xp.tril(product) + xp.tril(product, k=-1)) * 0.5
    return [_hermitian(_behind(_solved(upper, half), upper)).node]


def of_lu(step: Step, cotangent: Node) -> Cotangents:
    """P A = L U; P dA is L⁻ᵀ (tril(Lᵀ dL, -1) + triu(dU Uᵀ)) U⁻ᵀ; A is square."""
    n = step.node.shape[-2]
    packed, above = Tensor(step.node)[..., :n], Tensor(cotangent)[..., :n]
    upper = xp.triu(packed)
    lower = xp.tril(packed, k=-1) + _placed(xp.ones_like(_diagonal(packed)))
    inner = xp.tril(lower.mT @ xp.tril(above, k=-1), k=-1)
    inner = inner + xp.triu(xp.triu(above) @ upper.mT)
    result = _behind(_solved(lower.mT, inner, is_unit=True), upper).node
    order = cast(slice_axis(step.node, -1, n, 1), dtypes.int32)
    back = argsort(order, len(order.shape) - 2, False)
    promise_interval(back, 0, n - 1)
    return [take_along(result, expand(back, result.shape), len(result.shape) - 2)]


def of_triangular_solve(step: Step, cotangent: Node) -> Cotangents:
    """X = T⁻¹ B; dB = T⁻ᵀ dX, dT = -dB Xᵀ inside of the triangle."""
    attrs = attributes_of(step.node, Factoring)
    right = triangular_solve(
        transposed(step.inputs[0]),
        cotangent,
        is_upper=not attrs.is_upper,
        is_unit=attrs.is_unit,
    )
    outside = Tensor(right) @ Tensor(step.node).mT
    first = int(attrs.is_unit)
    inside = xp.triu(outside, k=first) if attrs.is_upper else xp.tril(outside, k=-first)
    return [(inside * -1).node, right]


def of_qr(step: Step, cotangent: Node) -> Cotangents:
    """A = Q R; dA = (dQ + Q sym(M)) R⁻ᴴ, M = R dRᴴ - dQᴴ Q, sym repeats the lower part.

    Of a wide A = [X Y] and R = [U V], V = Qᴴ Y as well: dQ gets Y dVᴴ, and dY = Q dV.
    """
    source = step.inputs[0]
    *_, rows, columns = source.shape
    reduced = min(rows, columns) * (rows + columns) * len(step.inputs)
    if step.node.shape[-1] != reduced:
        raise TransformError(OF_COMPLETE)
    q, r = _parts_of_qr(step, step.node)
    d_q, d_r = _parts_of_qr(step, cotangent)
    if rows >= columns:
        return _cotangents(step, _of_tall(q, r, d_q, d_r))
    remainder = q @ r[..., rows:] if _is_complex(step) else Tensor(source)[..., rows:]
    d_remainder = d_r[..., rows:]
    d_q = d_q + remainder @ _adjoint(d_remainder)
    first = _of_tall(q, r[..., :rows], d_q, d_r[..., :rows])
    return _cotangents(step, xp.concat([first, q @ d_remainder], axis=-1))


def _parts_of_qr(step: Step, flat: Node) -> tuple[Tensor, Tensor]:
    *_, rows, columns = step.inputs[0].shape
    width, outer = min(rows, columns), flat.shape[:-1]
    if _is_complex(step):
        q, r = unpacked_qr(flat, rows, columns, width)
        return Tensor(q), Tensor(r)
    left = reshape(slice_axis(flat, -1, 0, rows * width), (*outer, width, rows))
    right = slice_axis(flat, -1, rows * width, width * columns)
    return Tensor(left).mT, Tensor(reshape(right, (*outer, width, columns)))


def _of_tall(q: Tensor, r: Tensor, d_q: Tensor, d_r: Tensor) -> Tensor:
    inner = r @ _adjoint(d_r) - _adjoint(d_q) @ q
    below = xp.tril(inner, k=-1)
    repeated = below + _adjoint(below) + _placed(xp.real(_diagonal(inner)))
    return _behind(d_q + q @ repeated, r)


def of_eigh(step: Step, cotangent: Node) -> Cotangents:
    """A = V diag(w) Vᴴ; dA = V (diag(dw) + F ∘ Vᴴ dV) Vᴴ, Fᵢⱼ = 1 / (wⱼ - wᵢ)."""
    values, vectors = _parts_of_eigh(step, step.node)
    d_values, d_vectors = _parts_of_eigh(step, cotangent)
    inner = _inverse(_differences(values)) * (_adjoint(vectors) @ d_vectors)
    inner = inner + _placed(d_values)
    result = vectors @ inner @ _adjoint(vectors)
    return _cotangents(step, _hermitian(result))


def _parts_of_eigh(step: Step, packed: Node) -> tuple[Tensor, Tensor]:
    if _is_complex(step):
        q, t, _ = unpacked_schur(packed, step.inputs[0].shape[-1])
        return xp.real(_diagonal(Tensor(t))), Tensor(q)
    return Tensor(packed)[..., 0, :], Tensor(packed)[..., 1:, :]


def of_schur(step: Step, cotangent: Node) -> Cotangents:
    """A = Q T Qᴴ, T X = X diag(w); of w and the vectors V = Q X alone, Q as it stands.

    dA = V⁻ᴴ (diag(dw) + F̄ ∘ Vᴴ dV) Vᴴ, Fᵢⱼ = 1 / (wⱼ - wᵢ), and Vᴴ dV = Xᴴ dX.
    """
    n = step.inputs[0].shape[-1]
    q, t, x = map(Tensor, unpacked_schur(step.node, n))
    _, d_t, d_x = map(Tensor, unpacked_schur(cotangent, n))
    inverse = xp.conj(_inverse(_differences(_diagonal(t))))
    inner = _placed(_diagonal(d_t)) + inverse * (_adjoint(x) @ d_x)
    vectors = _adjoint(q @ x)
    unit = 1 / xp.max(xp.abs(vectors), axis=-1, keepdims=True).detach()
    packed = lu(as_real((vectors * unit).node))
    solved = lu_solve(packed, as_real((inner * unit).node))
    return _cotangents(step, _as_complex(solved) @ vectors)


def of_svd(step: Step, cotangent: Node) -> Cotangents:
    """A = U S Vᴴ, S = diag(s); Fᵢⱼ = 1 / (sⱼ² - sᵢ²), J = F ∘ Uᴴ dU, K = F ∘ Vᴴ dV.

    dA = U ((J + Jᴴ) S + S (K + Kᴴ) + diag(ds + i Im(Uᴴ dU) / s)) Vᴴ
    + (1 - U Uᴴ) dU S⁻¹ Vᴴ.
    """
    left, values, right = _parts_of_svd(step, step.node)
    d_left, d_values, d_right = _parts_of_svd(step, cotangent)
    inverse = _inverse(_differences(values * values))
    across, down = values[..., None, :], values[..., :, None]
    along = _adjoint(left) @ d_left
    j, k = inverse * along, inverse * (right @ _adjoint(d_right))
    inner = (j + _adjoint(j)) * across + down * (k + _adjoint(k))
    if _is_complex(step):
        d_values = 1j * xp.imag(_diagonal(along)) * _inverse(values) + d_values
    whole = left @ (inner + _placed(d_values))
    outside = d_left - left @ along
    return _cotangents(step, (whole + outside * _inverse(across)) @ right)


def _parts_of_svd(step: Step, flat: Node) -> tuple[Tensor, Tensor, Tensor]:
    *outer, rows, columns = step.inputs[0].shape
    if _is_complex(step):
        left, values, right = unpacked_svd(flat, rows, columns)
    else:
        begin = columns * rows
        left = reshape(slice_axis(flat, -1, 0, begin), (*outer, columns, rows))
        values = slice_axis(flat, -1, begin, columns)
        right = slice_axis(flat, -1, begin + columns, columns * columns)
        right = reshape(right, (*outer, columns, columns))
    return Tensor(left).mT, Tensor(values), Tensor(right)


RULES: dict[str, Rule] = {
    "cholesky": of_cholesky,
    "lu": of_lu,
    "triangular_solve": of_triangular_solve,
    "qr": of_qr,
    "complex_qr": of_qr,
    "eigh": of_eigh,
    "complex_eigh": of_eigh,
    "schur": of_schur,
    "svd": of_svd,
    "complex_svd": of_svd,
}
