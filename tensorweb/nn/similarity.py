"""Normalisation and similarity of vectors."""

from __future__ import annotations

import math
from typing import SupportsIndex

from tensorweb.functions import broadcast_arrays, maximum, sqrt
from tensorweb.nn.arguments import as_float, one_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = ["cosine_similarity", "normalize"]


def normalize(
    x: ArrayLike,
    p: float = 2.0,
    axis: SupportsIndex = 1,
    eps: float = 1e-12,
    *,
    dim: SupportsIndex | None = None,
) -> Tensor:
    """Return `x / max(norm(x), eps)` along an axis, norms being of power `p`.

    With `inf` that is the largest size, with 0 the number of elements that are not 0.

    >>> tw.nn.normalize([[3.0, 4.0]])
    tensor([[0.6, 0.8]])
    """
    given = as_float("normalize", x)
    along = one_axis(given, axis, dim)
    if p == 2.0:
        norm = sqrt((given * given).sum(along, keepdims=True))
    elif p == math.inf:
        norm = abs(given).max(along, keepdims=True)
    elif p == 0.0:
        norm = (given != 0.0).astype(given.dtype).sum(along, keepdims=True)
    else:
        norm = (abs(given) ** p).sum(along, keepdims=True) ** (1 / p)
    return given / maximum(norm, eps)


def cosine_similarity(
    x1: ArrayLike,
    x2: ArrayLike,
    axis: SupportsIndex = 1,
    eps: float = 1e-8,
    *,
    dim: SupportsIndex | None = None,
) -> Tensor:
    """Return the cosine of the angle between vectors along an axis.

    The operands broadcast; the axis is one of the shape they have then.

    >>> tw.nn.cosine_similarity([[1.0, 0.0]], [[1.0, 1.0]])
    tensor([0.70710677])
    """
    a = as_float("cosine_similarity", x1, x2)
    b = as_float("cosine_similarity", x2, a)
    a, b = broadcast_arrays(a, b)
    along = one_axis(a, axis, dim)
    lengths = [maximum(sqrt((v * v).sum(along)), eps) for v in (a, b)]
    return (a * b).sum(along) / (lengths[0] * lengths[1])
