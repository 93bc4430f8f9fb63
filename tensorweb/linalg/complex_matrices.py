"""Complex matrices as real ones of twice the size, in which each number is a square."""

from __future__ import annotations

from tensorweb import functions as xp
from tensorweb.nodes import complex_factorizations as build
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.tensor import Tensor


def joined(real: Tensor, imaginary: Tensor) -> Tensor:
    """Return complex numbers of their parts."""
    return Tensor(join_parts(real.node, imaginary.node))


def as_real(x: Tensor) -> Tensor:
    """Return `(..., m, n)` as `(..., 2 m, 2 n)`, `a + bi` as `[[a, -b], [b, a]]`."""
    return Tensor(build.as_real(x.node))


def as_complex(x: Tensor) -> Tensor:
    """Return `(..., 2 m, 2 n)` as `(..., m, n)`."""
    return joined(x[..., 0::2, 0::2], x[..., 1::2, 0::2])


def columns_as_real(x: Tensor) -> Tensor:
    """Return `(..., m, n)` as `(..., 2 m, n)`, the factor right of a real matrix."""
    *outer, m, n = x.shape
    pairs = xp.stack([xp.real(x), xp.imag(x)], axis=-2)
    return pairs.reshape((*outer, 2 * m, n))


def columns_as_complex(x: Tensor) -> Tensor:
    """Return `(..., 2 m, n)` as `(..., m, n)`."""
    return joined(x[..., 0::2, :], x[..., 1::2, :])
