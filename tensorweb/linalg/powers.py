"""Powers of square matrices."""

from __future__ import annotations

import operator

from tensorweb import functions as xp
from tensorweb.linalg.operands import square
from tensorweb.linalg.solving import inv
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = ["matrix_power"]


def matrix_power(x: ArrayLike, n: int, /) -> Tensor:
    """Return each square matrix multiplied with itself, `n` times.

    The power 0 is the identity, a negative one that of the inverse; integers become
    floats then. Products are made by squaring.

    Raises:
        ShapeError: the matrices are not square.
        LinAlgError: `n` is negative and a matrix is singular.

    >>> tw.linalg.matrix_power([[1, 1], [1, 0]], 10)
    tensor([[89, 55],
            [55, 34]])
    """
    base, left = square("matrix_power", x), operator.index(n)
    if left < 0:
        base, left = inv(base), -left
    if left == 0:
        one = xp.eye(base.shape[-1], dtype=base.dtype, device=base.device)
        return xp.broadcast_to(one, base.shape)
    while not left & 1:
        base, left = base @ base, left >> 1
    found, left = base, left >> 1
    while left:
        base = base @ base
        found = found @ base if left & 1 else found
        left >>= 1
    return found
