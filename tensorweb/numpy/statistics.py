"""Weighted means, covariances and correlations."""

from __future__ import annotations

from typing import Literal, overload

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_floats,
    as_operand_like,
    as_tensors,
    is_inexact,
)
from tensorweb.shapes import normalize_axis_order
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.reductions import Axis

__all__ = [
    "average",
    "corrcoef",
    "cov",
]


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> Tensor: ...


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]: ...


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...


def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the mean along axes, of weighted values if there are weights.

    Weights have the shape of `a` or that of the axes. With `returned` the sums of
    weights come as well. Weights that sum up to 0 give infinities or NaN.

    Raises:
        DataError: the weights have another shape, and no axis is given.
        ShapeError: they have not the shape of the axes.

    >>> np.average([1.0, 2.0, 6.0], weights=[3, 2, 1])
    tensor(2.1666667)
    >>> np.average([[1, 2], [3, 4]], 0, weights=[1, 3], returned=True)
    (tensor([2.5, 3.5]), tensor([4., 4.]))
    """
    x = as_floats(as_first_operand(a, weights))
    if weights is None:
        mean = x.mean(axis, keepdims=keepdims)
        count = tw.full_like(mean, x.size // max(mean.size, 1))
        return (mean, count) if returned else mean
    given = _weights(x, axis, weights)
    total = given.sum(axis, keepdims=keepdims)
    mean = (x * given).sum(axis, keepdims=keepdims) / total
    return (mean, total) if returned else mean


def _weights(x: Tensor, axis: Axis, weights: ArrayLike) -> Tensor:
    """Return weights as floats of the shape of `x`."""
    given = as_floats(as_operand_like(weights, x))
    if given.shape == x.shape:
        return given
    if axis is None:
        raise DataError(
            f"average: weights of shape {given.shape} for values of shape {x.shape}; "
            "say along which axes they go with axis=."
        )
    axes = normalize_axis_order(axis, x.ndim)
    if given.shape != tuple(x.shape[each] for each in axes):
        raise ShapeError(
            f"average: weights of shape {given.shape} for the axes {axes} of shape "
            f"{x.shape}; give one weight for each value along them."
        )
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    placed = [x.shape[each] if each in axes else 1 for each in range(x.ndim)]
    return tw.broadcast_to(tw.permute_dims(given, order).reshape(placed), x.shape)


def cov(
    m: ArrayLike,
    y: ArrayLike = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike = None,
    aweights: ArrayLike = None,
    *,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return the covariances of variables, which are rows: `(k, n)` gives `(k, k)`.

    `fweights` say how often an observation occurs, `aweights` how much it counts.

    Raises:
        ShapeError: there are more than two axes, or weights of another length.

    >>> np.cov([[0, 1, 2], [2, 1, 0]])
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise DataError(f"cov: ddof is {ddof}; give an integer.")
    first = as_first_operand(m, y, fweights, aweights)
    rows = _variables("cov", first, y, rowvar, dtype)
    freedom = (0 if bias else 1) if ddof is None else ddof
    weights = _observed(rows, fweights, aweights)
    if weights is None:
        centred = rows - rows.mean(1, keepdims=True)
        return tw.squeeze(_products(centred, centred) / max(rows.shape[1] - freedom, 0))
    total = weights.sum()
    centred = rows - (rows * weights).sum(1, keepdims=True) / total
    lost: ArrayLike = freedom
    if aweights is not None:
        counts = as_floats(as_operand_like(aweights, rows))
        lost = freedom * (weights * counts).sum() / total
    found = _products(centred, centred * weights)
    return tw.squeeze(found / tw.maximum(total - lost, 0))


def _products(a: Tensor, b: Tensor) -> Tensor:
    """Return the sums of products of rows, the second conjugates: `(k, k)`."""
    return tw.matmul(a, tw.conj(tw.matrix_transpose(b)))


def _variables(
    name: str, m: ArrayLike, y: ArrayLike, rowvar: bool, dtype: DTypeLike
) -> Tensor:
    """Return variables as rows `(k, n)` of floats."""
    parts: list[Tensor] = []
    for x in as_tensors((m,) if y is None else (m, y)):
        if x.ndim > 2:
            raise ShapeError(
                f"{name}: shape {x.shape} has {x.ndim} axes; variables are the rows of "
                "a matrix."
            )
        is_row = x.ndim < 2 or (bool(parts) and x.shape[0] == 1)
        x = as_floats(x) if dtype is None else x.astype(dtype)
        x = x.reshape((1, -1)) if x.ndim < 2 else x
        parts.append(x if rowvar or is_row else tw.matrix_transpose(x))
    return parts[0] if len(parts) == 1 else tw.concat(parts, 0)


def _observed(rows: Tensor, *weights: ArrayLike) -> Tensor | None:
    """Return the products of weights of observations, None without any."""
    found: Tensor | None = None
    for each in weights:
        if each is None:
            continue
        given = as_floats(as_operand_like(each, rows))
        if given.shape != (rows.shape[1],):
            raise ShapeError(
                f"cov: weights of shape {given.shape} for {rows.shape[1]} observations;"
                " give one for each."
            )
        found = given if found is None else found * given
    return found


def corrcoef(
    x: ArrayLike,
    y: ArrayLike = None,
    rowvar: bool = True,
    *,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return the correlations of variables, which are rows: `(k, n)` gives `(k, k)`.

    A variable that never changes gives NaN.

    Raises:
        ShapeError: there are more than two axes.

    >>> np.corrcoef([0, 1, 2], [2, 1, 0])
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    i = tw.arange(found.shape[0], device=found.device)
    spread = tw.sqrt(tw.real(found[i, i]))
    scaled = found / spread[:, None] / spread[None, :]
    if scaled.dtype.kind == "complex":
        parts = [tw.clip(part, -1, 1) for part in (tw.real(scaled), tw.imag(scaled))]
        return parts[0] + 1j * parts[1]
    return tw.clip(scaled, -1, 1) if is_inexact(scaled.dtype) else scaled
