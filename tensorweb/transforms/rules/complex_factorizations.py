"""vjp rules of factorizations of complex matrices, computed from the factors.

They are those of `factorizations.py` with conjugates; gradients are `∂/∂x + i ∂/∂y`.
Results are assumed not to depend on the free phases of the vectors.

Formulas: C. Boeddeker et al., On the computation of complex-valued gradients with
application to statistically optimum beamforming (2017); Z. Wan and S. Zhang, Automatic
differentiation for complex valued SVD (2019); M. Seeger et al., Auto-differentiating
linear algebra (2017).
"""

from __future__ import annotations

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
from tensorweb.nodes.factorizations import lu, lu_solve
from tensorweb.nodes.matrices import diagonal, diagonal_matrix, triangular_solve
from tensorweb.tensor import Tensor
from tensorweb.transforms.rules.factorizations import OF_COMPLETE
from tensorweb.transforms.rules.rule import Cotangents, Rule, Step


def _adjoint(x: Tensor) -> Tensor:
    return xp.conj(x.mT)


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


def _solved(upper: Tensor, right: Tensor) -> Tensor:
    """Return U⁻¹ B for an upper triangle U."""
    real = as_real(upper.node), as_real(right.node)
    return _as_complex(triangular_solve(*real, is_upper=True))


def _as_complex(real: Node) -> Tensor:
    result = Tensor(real)
    return Tensor(join_parts(result[..., ::2, ::2].node, result[..., 1::2, ::2].node))


def _parts(x: Tensor) -> Cotangents:
    return [xp.real(x).node, xp.imag(x).node]


def of_qr(step: Step, cotangent: Node) -> Cotangents:
    """A = Q R; dA = (dQ + Q sym(M)) R⁻ᴴ, M = R dRᴴ - dQᴴ Q, sym repeats the lower part.

    Of a wide A = [X Y] and R = [U V], V = Qᴴ Y as well: dQ gets Y dVᴴ, and dY = Q dV.
    """
    *_, rows, columns = step.inputs[0].shape
    if attributes_of(step.node, Factoring).is_complete and rows > columns:
        raise TransformError(OF_COMPLETE)
    width = min(rows, columns)
    q, r = map(Tensor, unpacked_qr(step.node, rows, columns, width))
    d_q, d_r = map(Tensor, unpacked_qr(cotangent, rows, columns, width))
    if rows >= columns:
        return _parts(_of_tall(q, r, d_q, d_r))
    remainder = q @ r[..., rows:]
    d_remainder = d_r[..., rows:]
    d_q = d_q + remainder @ _adjoint(d_remainder)
    first = _of_tall(q, r[..., :rows], d_q, d_r[..., :rows])
    return _parts(xp.concat([first, q @ d_remainder], axis=-1))


def _of_tall(q: Tensor, r: Tensor, d_q: Tensor, d_r: Tensor) -> Tensor:
    inner = r @ _adjoint(d_r) - _adjoint(d_q) @ q
    below = xp.tril(inner, k=-1)
    repeated = below + _adjoint(below) + _placed(xp.real(_diagonal(inner)))
    return _adjoint(_solved(r, _adjoint(d_q + q @ repeated)))


def of_eigh(step: Step, cotangent: Node) -> Cotangents:
    """A = V diag(w) Vᴴ; dA = V (diag(dw) + F ∘ Vᴴ dV) Vᴴ, Fᵢⱼ = 1 / (wⱼ - wᵢ)."""
    n = step.inputs[0].shape[-1]
    vectors, triangle, _ = map(Tensor, unpacked_schur(step.node, n))
    d_vectors, d_triangle, _ = map(Tensor, unpacked_schur(cotangent, n))
    values, d_values = xp.real(_diagonal(triangle)), xp.real(_diagonal(d_triangle))
    inner = _inverse(_differences(values)) * (_adjoint(vectors) @ d_vectors)
    inner = inner + _placed(d_values)
    result = vectors @ inner @ _adjoint(vectors)
    return _parts(0.5 * (result + _adjoint(result)))


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
    return _parts(_as_complex(solved) @ vectors)


def of_svd(step: Step, cotangent: Node) -> Cotangents:
    """A = U S Vᴴ, S = diag(s); Fᵢⱼ = 1 / (sⱼ² - sᵢ²), J = F ∘ Uᴴ dU, K = F ∘ Vᴴ dV.

    dA = U ((J + Jᴴ) S + S (K + Kᴴ) + diag(ds + i Im(Uᴴ dU) / s)) Vᴴ
    + (1 - U Uᴴ) dU S⁻¹ Vᴴ.
    """
    *_, rows, columns = step.inputs[0].shape
    left, values, right = map(Tensor, unpacked_svd(step.node, rows, columns))
    d_left, d_values, d_right = map(Tensor, unpacked_svd(cotangent, rows, columns))
    left, d_left = left.mT, d_left.mT
    inverse = _inverse(_differences(values * values))
    across, down = values[..., None, :], values[..., :, None]
    along = _adjoint(left) @ d_left
    j, k = inverse * along, inverse * (right @ _adjoint(d_right))
    rotations = 1j * xp.imag(_diagonal(along)) * _inverse(values)
    inner = (j + _adjoint(j)) * across + down * (k + _adjoint(k))
    whole = left @ (inner + _placed(rotations + d_values))
    outside = d_left - left @ along
    return _parts((whole + outside * _inverse(across)) @ right)


RULES: dict[str, Rule] = {
    "complex_qr": of_qr,
    "complex_eigh": of_eigh,
    "schur": of_schur,
    "complex_svd": of_svd,
}
