"""Activation functions, with vjp rules in closed form.

A derivative that takes several operations is recomputed from `x`, so that forward and
backward pass store no intermediate values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import SupportsIndex

from tensorweb.dtypes import finfo
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import (
    clip,
    erf,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    minimum,
    moveaxis,
    where,
)
from tensorweb.functions import relu as relu
from tensorweb.functions import sigmoid as sigmoid
from tensorweb.functions import tanh as tanh
from tensorweb.nn.arguments import as_float, one_axis
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis
from tensorweb.transforms.custom import custom_vjp, stop_gradient

Function = Callable[[Tensor], Tensor]


ROOT_OF_HALF = math.sqrt(0.5)


DENSITY = 1 / math.sqrt(2 * math.pi)


TANH_SCALE = math.sqrt(2 / math.pi)


CUBE = 0.044715


# The tanh of gelu is 1 beyond this in every dtype; the cube of larger numbers may
# overflow.
FLAT_BEYOND = 12.0


SELU_ALPHA = 1.6732632423543772848170429916717


SELU_SCALE = 1.0507009873554804934193349852946


def _with_derivative(value: Function, derivative: Function) -> Function:
    """Return an elementwise function whose derivative is another such function."""
    return custom_vjp(
        value,
        lambda x: (value(x), x),
        lambda x, cotangent: (cotangent * derivative(x),),
    )


def relu6(x: ArrayLike, /) -> Tensor:
    """Return `x` clipped to [0, 6]; its derivative is 0 at and beyond both ends.

    >>> tw.nn.relu6([-1.0, 2.0, 9.0])
    tensor([0., 2., 6.])
    """
    return hardtanh(x, 0.0, 6.0)


def hardtanh(x: ArrayLike, /, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return `x` clipped to a range; its derivative is 0 at and beyond both ends.

    Raises:
        DataError: the numbers are in the wrong order.

    >>> tw.nn.hardtanh([-3.0, 0.5, 3.0])
    tensor([-1. ,  0.5,  1. ])
    """
    if not min_val < max_val:
        raise DataError(
            f"hardtanh: min_val {min_val} is not below max_val {max_val}; exchange "
            "them."
        )
    tensor = as_float("hardtanh", x)
    inside = where((tensor > min_val) & (tensor < max_val), tensor, 0.0)
    edges = where(tensor >= max_val, max_val, where(tensor <= min_val, min_val, 0.0))
    return inside + where(tensor == tensor, edges.astype(tensor.dtype), tensor)


def leaky_relu(x: ArrayLike, /, negative_slope: float = 0.01) -> Tensor:
    """Return `x` where it is positive, else `negative_slope x`.

    >>> tw.nn.leaky_relu([-2.0, 3.0], 0.5)
    tensor([-1.,  3.])
    """
    tensor = as_float("leaky_relu", x, negative_slope)
    return where(tensor > 0, tensor, tensor * negative_slope)


def prelu(x: ArrayLike, weight: ArrayLike, /) -> Tensor:
    """Return `x` where it is positive, else `weight x`, a weight for each channel.

    Args:
        x: `(n, channels, ...)`, or any shape for one weight.
        weight: `(channels,)` or `(1,)`.

    >>> tw.nn.prelu([[-2.0, -2.0]], [0.5, 0.25])
    tensor([[-1. , -0.5]])
    """
    tensor = as_float("prelu", x, weight)
    factors = as_float("prelu", weight, tensor)
    if factors.size > 1 and tensor.ndim > 2:
        factors = factors.reshape(-1, *(1 for _ in tensor.shape[2:]))
    return where(tensor > 0, tensor, tensor * factors)


def elu(x: ArrayLike, /, alpha: float = 1.0) -> Tensor:
    """Return `x` where it is positive, else `alpha (exp(x) - 1)`.

    Source: D. Clevert, T. Unterthiner, S. Hochreiter, Fast and accurate deep network
    learning by exponential linear units, 2015.

    >>> tw.nn.elu([-1e4, 0.0, 2.0])
    tensor([-1.,  0.,  2.])
    """
    tensor = as_float("elu", x)
    function = _with_derivative(
        lambda x: where(x > 0, x, alpha * expm1(minimum(x, 0.0))),
        lambda x: where(x > 0, 1.0, alpha * exp(minimum(x, 0.0))),
    )
    return function(tensor)


def celu(x: ArrayLike, /, alpha: float = 1.0) -> Tensor:
    """Return `x` where it is positive, else `alpha (exp(x / alpha) - 1)`.

    >>> tw.nn.celu([-1e4, 0.0, 2.0], 2.0)
    tensor([-2.,  0.,  2.])
    """
    tensor = as_float("celu", x)
    function = _with_derivative(
        lambda x: where(x > 0, x, alpha * expm1(minimum(x, 0.0) / alpha)),
        lambda x: where(x > 0, 1.0, exp(minimum(x, 0.0) / alpha)),
    )
    return function(tensor)


def selu(x: ArrayLike, /) -> Tensor:
    """Return `scale elu(x, alpha)` with the numbers that keep mean 0 and variance 1.

    Source: G. Klambauer and others, Self-normalizing neural networks, 2017.

    >>> tw.nn.selu([0.0, 1.0])
    tensor([0.      , 1.050701])
    """
    return elu(x, SELU_ALPHA) * SELU_SCALE


def gelu(x: ArrayLike, /, approximate: str = "none") -> Tensor:
    """Return `x Φ(x)`, `Φ` the distribution of normal numbers.

    With `approximate="tanh"` it is `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))`. Source:
    D. Hendrycks, K. Gimpel, Gaussian error linear units, 2016.

    Raises:
        DataError: `approximate` is neither `none` nor `tanh`.

    >>> tw.nn.gelu([-1e4, 0.0, 1e4])
    tensor([   -0.,     0., 10000.])
    """
    if approximate not in ("none", "tanh"):
        raise DataError(
            f"gelu: approximate {approximate!r}; it is 'none', which is exact, or "
            "'tanh'."
        )
    tensor = as_float("gelu", x)
    return (_gelu if approximate == "none" else _gelu_by_tanh)(tensor)


def _normal_share(x: Tensor) -> Tensor:
    """Return Φ(x), the standard normal distribution function."""
    return 0.5 * (1.0 + erf(x * ROOT_OF_HALF))


# y = x Φ(x); dx = Φ(x) + x φ(x)
_gelu = _with_derivative(
    lambda x: x * _normal_share(x),
    lambda x: _normal_share(x) + x * (DENSITY * exp(-0.5 * (x * x))),
)


def _tanh_of_gelu(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return `x`, clipped to where the tanh is below 1, and the tanh."""
    near = clip(x, -FLAT_BEYOND, FLAT_BEYOND)
    return near, tanh(TANH_SCALE * near * (1.0 + CUBE * (near * near)))


def _slope_by_tanh(x: Tensor) -> Tensor:
    near, t = _tanh_of_gelu(x)
    inner = TANH_SCALE * near * (1.0 + 3 * CUBE * (near * near))
    return 0.5 * (1.0 + t) * (1.0 + (1.0 - t) * inner)


# y = x/2 (1 + t); dx = (1 + t)/2 + x/2 (1 - t²) u', the tanh's inside u
_gelu_by_tanh = _with_derivative(
    lambda x: 0.5 * x * (1.0 + _tanh_of_gelu(x)[1]), _slope_by_tanh
)


def _slope_of_silu(x: Tensor) -> Tensor:
    s = sigmoid(x)
    return s * (1.0 + x * (1.0 - s))


# y = x sigmoid(x); dx = sigmoid(x) (1 + x (1 - sigmoid(x)))
_silu = _with_derivative(lambda x: x * sigmoid(x), _slope_of_silu)


def silu(x: ArrayLike, /) -> Tensor:
    """Return `x sigmoid(x)`, also known as swish.

    >>> tw.nn.silu([-1e4, 0.0, 1e4])
    tensor([   -0.,     0., 10000.])
    """
    return _silu(as_float("silu", x))


def softplus(x: ArrayLike, /, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return `log(1 + exp(beta x)) / beta`; `x` itself where `beta x > threshold`.

    >>> tw.nn.softplus([-1e4, 1e4])
    tensor([    0., 10000.])
    """
    tensor = as_float("softplus", x)

    def value(x: Tensor) -> Tensor:
        scaled = x * beta
        return where(scaled > threshold, x, _softplus(scaled) * (1 / beta))

    # y = log(1 + exp(b x)) / b; dx = sigmoid(b x)
    function = _with_derivative(
        value, lambda x: where(x * beta > threshold, 1.0, sigmoid(x * beta))
    )
    return function(tensor)


# y = log(1 + exp(x)); dx = sigmoid(x)
_softplus = _with_derivative(lambda x: maximum(x, 0.0) + log1p(exp(-abs(x))), sigmoid)


# y = -log(1 + exp(-x)); dx = sigmoid(-x)
_logsigmoid = _with_derivative(lambda x: -_softplus(-x), lambda x: sigmoid(-x))


def logsigmoid(x: ArrayLike, /) -> Tensor:
    """Return `log sigmoid(x)` without overflow.

    >>> tw.nn.logsigmoid([-1e4, 1e4])
    tensor([-10000.,     -0.])
    """
    return _logsigmoid(as_float("logsigmoid", x))


def mish(x: ArrayLike, /) -> Tensor:
    """Return `x tanh(softplus(x))`.

    >>> tw.nn.mish([-1e4, 0.0, 1e4])
    tensor([   -0.,     0., 10000.])
    """
    return _mish(as_float("mish", x))


def _slope_of_mish(x: Tensor) -> Tensor:
    t = tanh(_softplus(x))
    return t + x * ((1.0 - t) * (1.0 + t)) * sigmoid(x)


# y = x tanh(s), s = softplus(x); dx = tanh(s) + x (1 - tanh²(s)) sigmoid(x)
_mish = _with_derivative(lambda x: x * tanh(_softplus(x)), _slope_of_mish)


def softsign(x: ArrayLike, /) -> Tensor:
    """Return `x / (1 + |x|)`.

    >>> tw.nn.softsign([-1.0, 3.0])
    tensor([-0.5 ,  0.75])
    """
    tensor = as_float("softsign", x)
    return tensor / (1.0 + abs(tensor))


def tanhshrink(x: ArrayLike, /) -> Tensor:
    """Return `x - tanh(x)`.

    >>> tw.nn.tanhshrink([0.0, 1e4])
    tensor([   0., 9999.])
    """
    tensor = as_float("tanhshrink", x)
    return tensor - tanh(tensor)


def hardsigmoid(x: ArrayLike, /) -> Tensor:
    """Return `x / 6 + 1/2` between 0 and 1.

    >>> tw.nn.hardsigmoid([-4.0, 0.0, 4.0])
    tensor([0. , 0.5, 1. ])
    """
    tensor = as_float("hardsigmoid", x)
    return relu6(tensor + 3.0) * (1 / 6)


def hardswish(x: ArrayLike, /) -> Tensor:
    """Return `x hardsigmoid(x)`.

    >>> tw.nn.hardswish([-4.0, 0.0, 4.0])
    tensor([-0.,  0.,  4.])
    """
    tensor = as_float("hardswish", x)
    return tensor * hardsigmoid(tensor)


def glu(
    x: ArrayLike, /, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None
) -> Tensor:
    """Return the first half of an axis times the sigmoid of the second.

    Source: Y. Dauphin and others, Language modeling with gated convolutional networks,
    2016.

    Raises:
        ShapeError: the axis cannot be halved.

    >>> tw.nn.glu([3.0, 4.0, 0.0, 1e4])
    tensor([1.5, 4. ])
    """
    tensor = as_float("glu", x)
    along = one_axis(tensor, axis, dim)
    length = tensor.shape[along]
    if length % 2:
        raise ShapeError(
            f"glu: axis {along} of shape {tensor.shape} has length {length}, which "
            "cannot be halved."
        )
    last = moveaxis(tensor, along, -1)
    halves = last[..., : length // 2] * sigmoid(last[..., length // 2 :])
    return moveaxis(halves, -1, along)


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
    tensor = as_float("softmax", x)
    return softmax_along(tensor, one_axis(tensor, axis, dim))


def softmin(
    x: ArrayLike, /, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None
) -> Tensor:
    """Return the softmax of `-x` along an axis.

    >>> tw.nn.softmin([1e4, 1e4, -1e4])
    tensor([0., 0., 1.])
    """
    tensor = as_float("softmin", x)
    return softmax_along(-tensor, one_axis(tensor, axis, dim))


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
    result: Tensor = function(x)
    return result


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
    tensor = as_float("log_softmax", x)
    return log_softmax_along(tensor, one_axis(tensor, axis, dim))


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

    result: Tensor = custom_vjp(value, forward, backward)(x)
    return result


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
    tensor = as_float("logsumexp", x)
    axes = axis if dim is None else dim
    if not tensor.size:
        return log(exp(tensor).sum(axes, keepdims=keepdims))
    highest = finfo(tensor.dtype).max

    def value(x: Tensor) -> Tensor:
        return _logsumexp(x, axes, highest)

    # y = log sum exp(x); dx = g softmax(x), 0 where all is -inf
    def backward(x: Tensor, g: Tensor) -> tuple[Tensor]:
        powers = exp(x - _top(x, axes, highest))
        total = powers.sum(axes, keepdims=True)
        return (powers * (g / where(total == 0, 1.0, total)),)

    result: Tensor = custom_vjp(value, lambda x: (value(x), x), backward)(tensor)
    return result if keepdims else result.squeeze(_axes_of(result, axes))


def _logsumexp(x: Tensor, axes: Axis, highest: float) -> Tensor:
    top = _top(x, axes, highest)
    return log(exp(x - top).sum(axes, keepdims=True)) + top


def _top(x: Tensor, axes: Axis, highest: float) -> Tensor:
    """Return the maximum as a finite constant."""
    return clip(stop_gradient(x.max(axes, keepdims=True)), -highest, highest)


def _axes_of(x: Tensor, axes: Axis) -> Axis:
    return tuple(range(x.ndim)) if axes is None else axes


declare_public(
    __name__,
    *("relu", "sigmoid", "tanh"),
    hidden="log_softmax_along softmax_along",
)
