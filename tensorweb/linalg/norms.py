"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any, Literal

from tensorweb import functions as xp
from tensorweb.errors import DataError
from tensorweb.linalg.operands import floating, is_complex, matrices
from tensorweb.linalg.spectral import svdvals
from tensorweb.public_names import declare_public
from tensorweb.shapes import is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis

MatrixOrder = float | Literal["fro", "nuc"] | None


def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Tensor:
    """Return the norm of vectors along axes, or of all elements.

    Args:
        x: the vectors; integers become float32.
        axis: the axes of a vector; None for all axes.
        keepdims: whether the axes stay, with length 1.
        ord: `p` for `(Σ |xᵢ|ᵖ)^(1/p)`, whose derivative at the origin is 0 for p of at
            least 1; `inf` and `-inf` for the largest and the smallest size, 0 for the
            number of nonzero elements.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: `ord` is -inf and there are no elements.

    >>> tw.linalg.vector_norm([3.0, 4.0])
    tensor(5.)
    """
    found = floating(x)
    if ord == 0:
        return (found != 0).astype(xp.abs(found).dtype).sum(axis, keepdims=keepdims)
    sizes = xp.abs(found)
    if ord == 2:
        squares = sizes * sizes if is_complex(found) else found * found
        total = squares.sum(axis, keepdims=keepdims)
        return _or_zero(total, xp.sqrt(total))
    if ord == math.inf:
        return _largest(sizes, axis, keepdims)
    if ord == -math.inf:
        return sizes.min(axis, keepdims=keepdims)
    if ord == 1:
        return sizes.sum(axis, keepdims=keepdims)
    total = (sizes**ord).sum(axis, keepdims=keepdims)
    root = total ** (1 / ord)
    return _or_zero(total, root) if ord > 1 else root


def _largest(sizes: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return the largest of non-negative numbers, 0 for none."""
    if sizes.size:
        return sizes.max(axis, keepdims=keepdims)
    return sizes.max(axis, keepdims=keepdims, initial=0)


def _or_zero(total: Tensor, root: Tensor) -> Tensor:
    """Return a root, or its argument where that is 0.

    The derivative of a root at 0 is infinite; the derivative of a norm at the origin
    becomes 0, one of its subgradients.
    """
    return xp.where(total == 0, total, root)


def matrix_norm(
    x: ArrayLike,
    /,
    *,
    keepdims: bool = False,
    ord: MatrixOrder = "fro",
) -> Tensor:
    """Return the norm of each matrix: `(..., m, n)` gives `(...)`.

    Args:
        x: the matrices; integers become float32.
        keepdims: whether the axes stay, with length 1.
        ord: `'fro'` for the root of the sum of squares; 1 and -1 for the largest and
            smallest sum of a column, `inf` and `-inf` of a row; 2 and -2 for the
            largest and smallest singular value, `'nuc'` for their sum.

    Raises:
        ShapeError: there are fewer than two axes.
        DataError: `ord` is no norm of matrices.

    >>> tw.linalg.matrix_norm([[1.0, 2.0], [3.0, 4.0]], ord=1)
    tensor(6.)
    """
    found = floating(matrices("matrix_norm", x))
    if ord == "fro":
        return vector_norm(found, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        along = -2 if ord in (1, -1) else -1
        sums = xp.abs(found).sum(along, keepdims=True)
        is_largest = ord in (1, math.inf)
        norms = _largest(sums, (-2, -1), False) if is_largest else sums.min((-2, -1))
        return norms[..., None, None] if keepdims else norms
    if ord in (2, -2, "nuc"):
        values = svdvals(found)
        if ord == "nuc":
            norms = values.sum(-1)
        else:
            norms = _largest(values, -1, False) if ord == 2 else values.min(-1)
        return norms[..., None, None] if keepdims else norms
    raise DataError(
        f"matrix_norm: ord {ord!r}; it is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."
    )


def norm(
    x: ArrayLike,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the norm of vectors or matrices, along the axes that are given.

    Without `ord` it is the root of the sum of squares, without an axis also of all
    elements. Matrices have `fro`, `nuc`, 1, -1, 2, -2, inf and -inf, vectors any order.

    Raises:
        DataError: there is no such order, or an order of an array of three axes.

    >>> tw.linalg.norm([3.0, 4.0]), tw.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1)
    (tensor(5.), tensor(6.))
    """
    values = floating(x)
    if axis is None:
        if ord is None:
            return vector_norm(values, keepdims=keepdims, ord=2)
        if values.ndim not in (1, 2):
            raise DataError(
                f"norm: ord={ord!r} of shape {values.shape}; name the axes of "
                "vectors or matrices with axis=."
            )
        axis = tuple(range(values.ndim))
    axes = (axis,) if is_integer(axis) else tuple(axis)
    if len(axes) == 1:
        return vector_norm(
            values, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord
        )
    if len(axes) != 2:
        raise DataError(f"norm: axis={axis!r}; give one axis or two.")
    order: Any = "fro" if ord is None else ord
    matrices = values.moveaxis(axes, (-2, -1))
    result = matrix_norm(matrices, keepdims=keepdims, ord=order)
    return result.moveaxis((-2, -1), axes) if keepdims else result


declare_public(__name__)
