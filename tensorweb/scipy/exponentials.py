"""Sums of exponentials and softmax, with SciPy's arguments."""

from __future__ import annotations

import math
from typing import SupportsIndex

from tensorweb.dtypes import finfo
from tensorweb.functions import clip, exp, log, minimum, sign, where, zeros_like
from tensorweb.nn import activations
from tensorweb.public_names import declare_public
from tensorweb.special.entries import as_floats
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis
from tensorweb.transforms.custom import stop_gradient


def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return `log(sum(b exp(a)))` along axes without overflow.

    Args:
        a: the exponents.
        axis: the axes to sum over; None for all.
        b: factors, which broadcast with `a`; None for ones. Where one is 0, a NaN of
            `a` does not count.
        keepdims: whether the axes stay with length 1.
        return_sign: return the logarithm of the absolute sum, and its sign.

    Returns:
        The shape without the axes; NaN where the sum is negative, unless its sign is
        returned as well.

    Raises:
        AxisError: an axis does not exist.

    >>> tw.scipy.special.logsumexp([1e4, 1e4])
    tensor(10000.693)
    >>> tw.scipy.special.logsumexp([1.0, 1.0], b=[2.0, -1.0])
    tensor(1.)
    """
    if b is None:
        (x,) = as_floats("logsumexp", a)
        value = activations.logsumexp(x, axis, keepdims=keepdims)
        signs = where(value == -math.inf, 0.0, where(value == value, 1.0, value))
        return (value, signs) if return_sign else value
    x, factors = as_floats("logsumexp", a, b)
    x = where((factors == 0) & (x != x), -math.inf, x)  # as SciPy and JAX
    highest, top = finfo(x.dtype).max, zeros_like(x).sum(axis, keepdims=True)
    if x.size:
        counted = where(factors == 0, -math.inf, stop_gradient(x))
        top = clip(counted.max(axis, keepdims=True), -highest, highest)
    # An exponent above the top has the factor 0, whose derivative is its power.
    powers = exp(minimum(x - top, 0.9 * math.log(highest)))
    total = (factors * powers).sum(axis, keepdims=True)
    value = log(abs(total) if return_sign else total) + top
    signs = sign(total)
    if not keepdims:
        axes = tuple(range(x.ndim)) if axis is None else axis
        value, signs = value.squeeze(axes), signs.squeeze(axes)
    return (value, signs) if return_sign else value


def softmax(x: ArrayLike, axis: SupportsIndex | None = None) -> Tensor:
    """Return `exp(x) / sum(exp(x))` along an axis, by default over all elements.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.scipy.special.softmax([1e4, 1e4])
    tensor([0.5, 0.5])
    """
    (values,) = as_floats("softmax", x)
    if axis is None:
        return activations.softmax(values.ravel()).reshape(values.shape)
    return activations.softmax(values, axis)


def log_softmax(x: ArrayLike, axis: SupportsIndex | None = None) -> Tensor:
    """Return the logarithm of `softmax`, exact where that is 0.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.scipy.special.log_softmax([0.0, -1e4])
    tensor([     0., -10000.])
    """
    (values,) = as_floats("log_softmax", x)
    if axis is None:
        return activations.log_softmax(values.ravel()).reshape(values.shape)
    return activations.log_softmax(values, axis)


declare_public(__name__)
