"""Products of vectors and matrices, and parts of matrices."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from tensorweb import functions as xp
from tensorweb.errors import AxisError, DTypeError, ShapeError
from tensorweb.linalg.operands import matrices
from tensorweb.nodes.matrices import diagonal as build_diagonal
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, as_operands


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: SupportsIndex = -1) -> Tensor:
    """Return the cross product of vectors of three elements, other axes broadcast.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis has not 3 elements, or other axes do not broadcast.
        DTypeError: both operands are bool.

    >>> tw.linalg.cross([1, 0, 0], [0, 1, 0])
    tensor([0, 0, 1])
    """
    a, b = map(Tensor, as_operands(x1, x2))
    if a.dtype.kind == "bool" == b.dtype.kind:
        raise DTypeError("cross: bool operands; convert with astype(tw.int32).")
    along = operator.index(axis)
    axes = [normalize_axis(along, x.ndim) for x in (a, b)]
    for x, own in zip((a, b), axes, strict=True):
        if x.shape[own] != 3:
            raise ShapeError(
                f"cross: axis {along} of shape {x.shape} has {x.shape[own]} "
                "elements; a cross product is one of 3 with 3."
            )
    a, b = (xp.moveaxis(x, own, -1) for x, own in zip((a, b), axes, strict=True))
    (a0, a1, a2), (b0, b1, b2) = ([x[..., i] for i in range(3)] for x in (a, b))
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)
    found = xp.stack(parts, axis=-1)
    if along >= 0 and a.ndim != b.ndim:
        raise AxisError(
            f"cross: axis {along} of operands with {a.ndim} and {b.ndim} axes; count "
            "it from the end, with a negative number."
        )
    return xp.moveaxis(found, -1, along)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Tensor:
    """Return a diagonal of each matrix: `(..., m, n)` gives `(..., length)`.

    Args:
        x: the matrices.
        offset: distance above the main diagonal; negative below it.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.linalg.diagonal([[1, 2, 3], [4, 5, 6]], offset=1)
    tensor([2, 6])
    """
    source = matrices("diagonal", x)
    return Tensor(build_diagonal(source.node, operator.index(offset)))


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Tensor:
    """Return the sum of a diagonal of each matrix: `(..., m, n)` gives `(...)`.

    Small integers are summed in int32, as by `sum`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.linalg.trace([[1, 2], [3, 4]])
    tensor(5)
    """
    source = matrices("trace", x)
    return Tensor(build_diagonal(source.node, operator.index(offset))).sum(
        -1, dtype=dtype
    )


def matrix_transpose(x: ArrayLike, /) -> Tensor:
    """Transpose each matrix: `(..., m, n)` gives `(..., n, m)`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.linalg.matrix_transpose([[1, 2], [3, 4]])
    tensor([[1, 3],
            [2, 4]])
    """
    return xp.matrix_transpose(x)


declare_public(__name__)
