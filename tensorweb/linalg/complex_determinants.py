"""Determinants of complex matrices: products of their eigenvalues.

Their way back does not ask for eigenvectors, which a matrix may lack.
"""

from __future__ import annotations

from collections.abc import Callable

from tensorweb import functions as xp
from tensorweb.graph.complex_pairs import like, pair_of
from tensorweb.graph.history import Mark, is_kept, mark
from tensorweb.graph.node import Node, complex_of
from tensorweb.linalg.complex_matrices import as_complex, as_real
from tensorweb.linalg.eigenvalues import schur
from tensorweb.linalg.products import diagonal
from tensorweb.nodes import factorizations as build
from tensorweb.nodes.movement import alias
from tensorweb.tensor import Tensor


def complex_det(x: Tensor) -> Tensor:
    """Return the determinant of each matrix."""
    found = xp.prod(_values("det", x), axis=-1)
    return _with_rule(found, x, lambda cotangent: cotangent * xp.conj(found))


def complex_slogdet(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return direction and logarithm of the size of each determinant."""
    values = _values("slogdet", x)
    sign = xp.prod(xp.sign(values), axis=-1)
    size = xp.log(xp.abs(values)).sum(-1)
    turned = _with_rule(sign, x, lambda g: 1j * xp.imag(g * xp.conj(sign)))
    return turned, _with_rule(size, x, lambda g: g)


def _values(name: str, x: Tensor) -> Tensor:
    return diagonal(schur(name, x, must_be_found=False)[1])


def _with_rule(found: Tensor, x: Tensor, weight: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a result whose way back is `weight · A⁻ᴴ`, as of d log det A = tr A⁻¹ dA.

    Args:
        found: one number for each matrix.
        x: the matrices A.
        weight: from the result's cotangent, complex as the result is.
    """
    source = pair_of(x.node)
    if (not is_kept() and source.past is None) or not found.size:
        return found

    def rule(cotangent: Node) -> tuple[Node]:
        is_complex = found.dtype.kind == "complex"
        given = Tensor(complex_of(cotangent) if is_complex else cotangent)
        return (pair_of((weight(given)[..., None, None] * _inverse(x)).node),)

    node = alias(pair_of(found.node))  # whose parts are not looked for behind it
    mark(node, Mark((source,), rule))
    return Tensor(like(found.node, node))


def _inverse(x: Tensor) -> Tensor:
    """A⁻ᴴ; infinities and NaN of singular matrices."""
    real = as_real(xp.conj(x.mT))
    one = xp.eye(real.shape[-1], dtype=real.dtype, device=x.device)
    right = xp.broadcast_to(one, real.shape)
    return as_complex(Tensor(build.lu_solve(build.lu(real.node), right.node)))
