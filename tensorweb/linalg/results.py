"""Named tuples of results."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.tensor import Tensor


class EigResult(NamedTuple):
    """Eigenvalues and, as columns, eigenvectors: `(..., n)` and `(..., n, n)`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """Ascending eigenvalues and, as columns, eigenvectors of symmetric matrices."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangle: `(..., m, k)` and `(..., k, n)`."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """Sign and logarithm of a determinant's size: `(...)` both."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Left vectors, descending singular values, right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor
