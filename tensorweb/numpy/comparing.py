"""Whether arrays are equal, nearly or wholly."""

from __future__ import annotations

import builtins

from tensorweb import functions as tw
from tensorweb.errors import ShapeError
from tensorweb.numpy.arguments import as_pair, as_tensors, is_inexact
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
]


def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: builtins.bool = False,
) -> Tensor:
    """Return whether `|a - b| <= atol + rtol |b|` for each pair of elements.

    Infinities are close to themselves only; NaN to NaN for `equal_nan`.

    >>> np.isclose([1.0, 1e10], [1.000001, 1.1e10])
    tensor([ True, False])
    """
    x, y = as_pair(a, b)
    if not is_inexact(x.dtype):
        return _apart(x, y) <= tw.abs(y.astype(float)) * rtol + atol
    near = tw.abs(x - y) <= tw.abs(y) * rtol + atol
    near = tw.logical_and(near, tw.isfinite(y))
    found = tw.logical_or(near, x == y)
    if equal_nan:
        both = tw.logical_and(tw.isnan(x), tw.isnan(y))
        found = tw.logical_or(found, both)
    return found


def _apart(x: Tensor, y: Tensor) -> Tensor:
    """Return how far integers are from each other, as floats, without overflow."""
    if x.dtype.kind == "bool":
        x, y = x.astype(int), y.astype(int)
    name = x.dtype.name if x.dtype.kind == "uint" else f"u{x.dtype.name}"
    larger, smaller = tw.maximum(x, y), tw.minimum(x, y)
    return (larger.astype(name) - smaller.astype(name)).astype(float)


def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: builtins.bool = False,
) -> builtins.bool:
    """Return whether all pairs of elements are close; reads the answer.

    >>> np.allclose([1.0, 2.0], [1.0, 2.000001])
    True
    """
    return builtins.bool(tw.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(
    a1: ArrayLike, a2: ArrayLike, equal_nan: builtins.bool = False
) -> builtins.bool:
    """Return whether shapes and all elements are equal; reads the answer.

    >>> np.array_equal([1, 2], [1, 2]), np.array_equal([1, 2], [[1, 2]])
    (True, False)
    """
    x, y = as_tensors((a1, a2))
    if x.shape != y.shape:
        return False
    found = tw.equal(x, y)
    if equal_nan and is_inexact(x.dtype) and is_inexact(y.dtype):
        both = tw.logical_and(tw.isnan(x), tw.isnan(y))
        found = tw.logical_or(found, both)
    return builtins.bool(tw.all(found))


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> builtins.bool:
    """Return whether arrays broadcast and all elements are equal; reads the answer.

    >>> np.array_equiv([1, 2], [[1, 2], [1, 2]])
    True
    """
    x, y = as_tensors((a1, a2))
    try:
        broadcast_shapes(x.shape, y.shape)
    except ShapeError:
        return False
    return builtins.bool(tw.all(tw.equal(x, y)))
