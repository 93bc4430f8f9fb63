"""Softmax, log-softmax and logsumexp.

The maximum is subtracted first, so that nothing overflows; it is a constant for
differentiation, since the result does not depend on it. vjp rules are closed forms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import SupportsIndex

from tensorweb.dtypes import finfo
from tensorweb.functions import clip, exp, log, maximum, where
from tensorweb.nn.arguments import as_float, one_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis
from tensorweb.transforms.custom import custom_vjp, stop_gradient

__all__ = ["log_softmax", "logsumexp", "softmax", "softmin"]


def softmax(
    x: ArrayLike, /, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None
) -> Tensor:
    """Return `exp(x) / sum(exp(x))` along an axis, which sums up to 1.

    A row of nothing but -inf is NaN. `dim` is PyTorch's word for the axis.

    Raises:
        AxisError: the axis does not exist.
        DTypeError: it is no floating-point tensor.

    >>> tw.nn.softmax([1e4, 1e4, -1e4])
    tensor([0.5, 0.5, 0. ])
    """
    given = as_float("softmax", x)
    return softmax_along(given, one_axis(given, axis, dim))


def softmin(
    x: ArrayLike, /, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None
) -> Tensor:
    """Return the softmax of `-x` along an axis.

    >>> tw.nn.softmin([1e4, 1e4, -1e4])
    tensor([0., 0., 1.])
    """
    given = as_float("softmin", x)
    return softmax_along(-given, one_axis(given, axis, dim))


@lru_cache(maxsize=64)
def _softmax(axis: int, is_safe: bool) -> object:
    def value(x: Tensor) -> Tensor:
        shift = stop_gradient(x.max(axis, keepdims=True))
        if is_safe:
            shift = maximum(shift, finfo(x.dtype).min)
        powers = exp(x - shift)
        total = powers.sum(axis, keepdims=True)
        return powers / (where(total == 0, 1.0, total) if is_safe else total)

    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        y = value(x)
        return y, y

    # y = softmax(x); dx = y (g - sum(g y))
    def backward(y: Tensor, g: Tensor) -> tuple[Tensor]:
        return (y * (g - (g * y).sum(axis, keepdims=True)),)

    return custom_vjp(value, forward, backward)


def softmax_along(x: Tensor, axis: int, is_safe: bool = False) -> Tensor:
    """Return the softmax; with `is_safe`, rows of -inf give 0."""
    if not x.size:
        return x + 0.0
    function = _softmax(axis, is_safe)
    assert callable(function), "internal: a function with its derivative"
    found: Tensor = function(x)
    return found


def log_softmax(
    x: ArrayLike, /, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None
) -> Tensor:
    """Return the logarithm of the softmax, exact where that is 0.

    Raises:
        AxisError: the axis does not exist.
        DTypeError: it is no floating-point tensor.

    >>> tw.nn.log_softmax([0.0, -1e4])
    tensor([     0., -10000.])
    """
    given = as_float("log_softmax", x)
    return log_softmax_along(given, one_axis(given, axis, dim))


def log_softmax_along(x: Tensor, axis: int) -> Tensor:
    """Return `x - max - log(sum(exp(x - max)))`."""
    if not x.size:
        return x + 0.0

    def value(x: Tensor) -> Tensor:
        top: Tensor = stop_gradient(x.max(axis, keepdims=True))
        shifted = x - top
        return shifted - log(exp(shifted).sum(axis, keepdims=True))

    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        y = value(x)
        return y, y

    # y = log softmax(x); dx = g - exp(y) sum(g)
    def backward(y: Tensor, g: Tensor) -> tuple[Tensor]:
        return (g - exp(y) * g.sum(axis, keepdims=True),)

    found: Tensor = custom_vjp(value, forward, backward)(x)
    return found


def logsumexp(
    x: ArrayLike, /, axis: Axis = -1, *, dim: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return `log(sum(exp(x)))` along axes without overflow.

    It is -inf where all is -inf, also of nothing, with derivatives of 0.

    Raises:
        AxisError: an axis does not exist.
        DTypeError: it is no floating-point tensor.

    >>> tw.nn.logsumexp([1e4, 1e4])
    tensor(10000.693)
    """
    given = as_float("logsumexp", x)
    axes = axis if dim is None else dim
    if not given.size:
        return log(exp(given).sum(axes, keepdims=keepdims))
    highest = finfo(given.dtype).max

    def value(x: Tensor) -> Tensor:
        return _logsumexp(x, axes, highest)

    # y = log sum exp(x); dx = g softmax(x), 0 where all is -inf
    def backward(x: Tensor, g: Tensor) -> tuple[Tensor]:
        powers = exp(x - _top(x, axes, highest))
        total = powers.sum(axes, keepdims=True)
        return (powers * (g / where(total == 0, 1.0, total)),)

    kept: Tensor = custom_vjp(value, lambda x: (value(x), x), backward)(given)
    return kept if keepdims else kept.squeeze(_axes_of(kept, axes))


def _logsumexp(x: Tensor, axes: Axis, highest: float) -> Tensor:
    top = _top(x, axes, highest)
    return log(exp(x - top).sum(axes, keepdims=True)) + top


def _top(x: Tensor, axes: Axis, highest: float) -> Tensor:
    """Return the maximum as a finite constant."""
    return clip(stop_gradient(x.max(axes, keepdims=True)), -highest, highest)


def _axes_of(x: Tensor, axes: Axis) -> Axis:
    return tuple(range(x.ndim)) if axes is None else axes
