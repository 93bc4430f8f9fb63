"""Entries of matrix factorizations, and of solving with the factors.

Each result is one tensor that holds all factors; `nodes/factorizations.py` slices it.
The computation in NumPy is in `backends/numpy_rules.py`.
"""

from __future__ import annotations

from tensorweb.graph.op import Op

CHOLESKY = Op("cholesky", "the lower triangle whose square A is", "factor", ulp=16)
LU = Op("lu", "lower times upper triangle of permuted rows", "factor", ulp=16)
TRIANGULAR_SOLVE = Op(
    "triangular_solve", "X of T X = B for a triangle T", "factor", arity=2, ulp=16
)
QR = Op("qr", "orthonormal columns times an upper triangle", "factor", ulp=16)
EIGH = Op("eigh", "eigenvalues and vectors of symmetric matrices", "factor", ulp=16)
SCHUR = Op(
    "schur",
    "unitary times triangular matrices, and vectors; of real and imaginary parts",
    "factor",
    arity=2,
    ulp=16,
)
SVD = Op("svd", "singular values and vectors", "factor", ulp=16)
COMPLEX_QR = Op("complex_qr", "as qr, of real and imaginary parts", "factor", 2, ulp=16)
COMPLEX_EIGH = Op(
    "complex_eigh",
    "unitary matrices and eigenvalues, as schur; of parts of Hermitian matrices",
    "factor",
    arity=2,
    ulp=16,
)
COMPLEX_SVD = Op(
    "complex_svd", "as svd, of real and imaginary parts", "factor", 2, ulp=16
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
