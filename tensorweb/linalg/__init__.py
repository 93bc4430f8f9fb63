"""Linear algebra: the Array API's extension `linalg`, for stacks of matrices.

The last two axes are those of a matrix, `(..., m, n)`; all others are batch axes.

>>> a = tw.asarray([[2.0, 1.0], [1.0, 3.0]])
>>> tw.linalg.trace(a)
tensor(5.)
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.errors import LinAlgError
from tensorweb.functions.linear_algebra import matmul, outer, tensordot, vecdot
from tensorweb.linalg.least_squares import lstsq, sqrtm
from tensorweb.linalg.norms import matrix_norm, norm, vector_norm
from tensorweb.linalg.products import cross, diagonal, matrix_transpose, trace
from tensorweb.linalg.solving import cholesky, det, inv, matrix_power, slogdet, solve
from tensorweb.linalg.spectral import (
    eig,
    eigh,
    eigvals,
    eigvalsh,
    matrix_rank,
    pinv,
    qr,
    svd,
    svdvals,
)
from tensorweb.linalg.structured import (
    block_diag,
    cho_factor,
    cho_solve,
    expm,
    lu,
    solve_triangular,
    toeplitz,
)
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__ = [
    "LinAlgError",
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "tensordot",
    "toeplitz",
    "trace",
    "vecdot",
    "vector_norm",
]

_answer_torch_words(globals(), __all__)

if not _typing.TYPE_CHECKING:  # Type checkers report unknown names.

    def __getattr__(name: str) -> object:
        """Raise AttributeError, with the equivalent of a name of NumPy or PyTorch."""
        raise _unknown("tensorweb.linalg", name, __all__)
