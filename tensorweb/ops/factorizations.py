"""Entries of matrix factorizations, and of solving with the factors.

Each result is one tensor that holds all factors; `nodes/factorizations.py` slices it.
The computation in NumPy is in `backends/numpy_rules.py`.
"""

from __future__ import annotations

from tensorweb.graph.op import Op

CHOLESKY = Op("cholesky", "factor", "the lower triangle whose square A is", ulp=16)
LU = Op("lu", "factor", "lower times upper triangle of permuted rows", ulp=16)
TRIANGULAR_SOLVE = Op(
    "triangular_solve", "factor", "X of T X = B for a triangle T", arity=2, ulp=16
)
QR = Op("qr", "factor", "orthonormal columns times an upper triangle", ulp=16)
EIGH = Op("eigh", "factor", "eigenvalues and vectors of symmetric matrices", ulp=16)
SCHUR = Op(
    "schur",
    "factor",
    "unitary times triangular matrices, and vectors; of real and imaginary parts",
    arity=2,
    ulp=16,
)
SVD = Op("svd", "factor", "singular values and vectors", ulp=16)
COMPLEX_QR = Op("complex_qr", "factor", "as qr, of real and imaginary parts", 2, ulp=16)
COMPLEX_EIGH = Op(
    "complex_eigh",
    "factor",
    "unitary matrices and eigenvalues, as schur; of parts of Hermitian matrices",
    arity=2,
    ulp=16,
)
COMPLEX_SVD = Op(
    "complex_svd", "factor", "as svd, of real and imaginary parts", 2, ulp=16
)

FACTORIZATIONS: tuple[Op, ...] = (
    CHOLESKY,
    LU,
    TRIANGULAR_SOLVE,
    QR,
    EIGH,
    SCHUR,
    SVD,
    COMPLEX_QR,
    COMPLEX_EIGH,
    COMPLEX_SVD,
)
