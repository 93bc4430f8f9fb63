"""Layer, RMS, group and instance normalisation: statistics of each example.

Batch normalisation is in `batch_statistics.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.dtypes import finfo
from tensorweb.errors import DataError, ShapeError, expected_clash
from tensorweb.functions import broadcast_arrays, maximum, rsqrt, sqrt
from tensorweb.nn import init
from tensorweb.nn.arguments import as_float, one_axis, positive, positive_eps, trailing
from tensorweb.nn.batch_statistics import (
    ChannelNorm,
    Statistics,
    batch_norm,
    sample_count,
    update_in_place,
)
from tensorweb.nn.module import Module
from tensorweb.public_names import declare_public
from tensorweb.shapes import Shape, as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

Lengths = SupportsIndex | Sequence[SupportsIndex]


def layer_norm(
    x: ArrayLike,
    normalized_shape: Lengths,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `(x - mean) / sqrt(var + eps) weight + bias` over the last axes.

    Source: J. Ba, J. Kiros, G. Hinton, Layer normalization, 2016.

    Raises:
        ShapeError: the shape does not end in `normalized_shape`.

    >>> tw.nn.layer_norm([1.0, 3.0], (2,), eps=0.0)
    tensor([-1.,  1.])
    """
    name, shape = "layer_norm", as_shape(normalized_shape)
    tensor = as_float(name, x, weight)
    trailing(name, tensor, shape)
    factors = [_factor(name, value, tensor, shape) for value in (weight, bias)]
    return _layer_norm(tensor, len(shape), factors[0], factors[1], eps)


def _layer_norm(
    x: Tensor, rank: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    result = _standardized(x, tuple(range(-rank, 0)), eps)
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


def _standardized(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Return `x` normalised to mean 0 and variance 1 along axes."""
    centred = x - x.mean(axes, keepdims=True)
    return centred * rsqrt((centred * centred).mean(axes, keepdims=True) + eps)


def _factor(name: str, value: ArrayLike, x: Tensor, shape: Shape) -> Tensor | None:
    """Return a weight or bias as floats of a shape, None for None."""
    if value is None:
        return None
    factor = as_float(name, value, x)
    if factor.shape != shape:
        raise ShapeError(
            f"{name}: weight or bias has shape {factor.shape}; it is {shape}."
        )
    return factor


def rms_norm(
    x: ArrayLike,
    normalized_shape: Lengths,
    weight: ArrayLike = None,
    eps: float | None = None,
) -> Tensor:
    """Return `x / sqrt(mean(x²) + eps) weight` over the last axes.

    Without `eps` it is that of the dtype. Source: B. Zhang, R. Sennrich, Root mean
    square layer normalization, 2019.

    Raises:
        ShapeError: the shape does not end in `normalized_shape`.

    >>> tw.nn.rms_norm([3.0, -3.0], (2,), eps=0.0)
    tensor([ 1., -1.])
    """
    name, shape = "rms_norm", as_shape(normalized_shape)
    tensor = as_float(name, x, weight)
    trailing(name, tensor, shape)
    return _rms_norm(tensor, len(shape), _factor(name, weight, tensor, shape), eps)


def _rms_norm(x: Tensor, rank: int, weight: Tensor | None, eps: float | None) -> Tensor:
    square = (x * x).mean(tuple(range(-rank, 0)), keepdims=True)
    result = x * rsqrt(square + (finfo(x.dtype).eps if eps is None else eps))
    return result if weight is None else result * weight


def group_norm(
    x: ArrayLike,
    num_groups: SupportsIndex,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `(n, channels, ...)` with mean 0 and variance 1 in groups of channels.

    `weight` and `bias` are `(channels,)`. Source: Y. Wu, K. He, Group normalization,
    2018.

    Raises:
        ShapeError: groups do not divide the channels.

    >>> tw.nn.group_norm([[1.0, 3.0, 10.0, 30.0]], 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    name = "group_norm"
    tensor = as_float(name, x, weight)
    groups = positive(name, "num_groups", num_groups)
    if tensor.ndim < 2 or tensor.shape[1] % groups:
        raise ShapeError(
            f"{name}: the input has shape {tensor.shape}; it takes (n, channels, ...), "
            f"and {groups} groups must divide the channels."
        )
    factors = [_factor(name, f, tensor, tensor.shape[1:2]) for f in (weight, bias)]
    return _group_norm(tensor, groups, factors[0], factors[1], eps)


def _group_norm(
    x: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    rows = x.reshape(x.shape[0], groups, x.shape[1] // groups * prod(x.shape[2:]))
    result = _standardized(rows, (-1,), eps).reshape(x.shape)
    column = (x.shape[1], *(1 for _ in x.shape[2:]))
    if weight is not None:
        result = result * weight.reshape(column)
    return result if bias is None else result + bias.reshape(column)


def instance_norm(
    x: ArrayLike,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return `(n, channels, ...)`, each channel of each with mean 0 and variance 1.

    Source: D. Ulyanov and others, Instance normalization, 2016.

    Args:
        x: floats.
        running_mean: `(channels,)`, or None. With `use_input_stats` it is written.
        running_var: `(channels,)`, or None. With `use_input_stats` it is written.
        weight: `(channels,)`, or None.
        bias: `(channels,)`, or None.
        use_input_stats: whether each example's own mean and variance count.
        momentum: how much of the running statistics is replaced, by the mean of those
            of the examples.
        eps: added to variances.

    Raises:
        DataError: there are no running statistics where they count, or `eps` is not
            positive.
        ShapeError: the input has fewer than three axes, or one number a channel where
            running statistics are written.

    >>> tw.nn.instance_norm([[[1.0, 3.0]]], eps=1e-12)
    tensor([[[-1.,  1.]]])
    """
    positive_eps("instance_norm", eps)
    name = "instance_norm"
    tensor = as_float(name, x, weight)
    if tensor.ndim < 3:
        raise ShapeError(
            f"{name}: the input has shape {tensor.shape}; it takes "
            "(n, channels, ...) with at least three axes."
        )
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise DataError(
                f"{name}: there are no running statistics; give running_mean and "
                "running_var, or use_input_stats=True."
            )
        return batch_norm(tensor, running_mean, running_var, weight, bias, eps=eps)
    channels = tensor.shape[1]
    if running_mean is not None or running_var is not None:
        sample_count(name, tensor, tensor.shape[0] * channels)
        means = _mean_statistics(tensor)
        update_in_place((running_mean, running_var), means, momentum)
    factors = [_factor(name, f, tensor, (channels,)) for f in (weight, bias)]
    return _group_norm(tensor, channels, factors[0], factors[1], eps)


def _mean_statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and sample variance per channel, averaged over examples."""
    axes = tuple(range(2, x.ndim))
    return x.mean(axes).mean(0), x.var(axes, correction=1).mean(0)


class _TrailingNorm(Module):
    """A normalisation over the last axes, with a factor for each of their elements."""

    def __init__(
        self,
        normalized_shape: Lengths,
        eps: float | None,
        elementwise_affine: bool,
        maker: init.Maker,
    ) -> None:
        self.normalized_shape = as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        self.weight = maker.full(shape, 1.0) if elementwise_affine else None

    def _checked(self, x: ArrayLike) -> Tensor:
        """Return the input as floats; raise `ShapeError` unless its shape fits."""
        name = type(self).__name__
        tensor = as_float(name, x, self.weight)
        trailing(name, tensor, self.normalized_shape)
        return tensor

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class LayerNorm(_TrailingNorm):
    """`(x - mean) / sqrt(var + eps) weight + bias` over the last axes.

    Attributes:
        weight: `normalized_shape`, ones at first, or None.
        bias: `normalized_shape`, zeros at first, or None.

    >>> tw.nn.LayerNorm(4)
    LayerNorm((4,), eps=1e-05, elementwise_affine=True)
    >>> tw.nn.LayerNorm((3, 4))(tw.ones((2, 3, 4))).shape
    (2, 3, 4)
    """

    eps: float

    def __init__(
        self,
        normalized_shape: Lengths,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
    ) -> None:
        """Make a layer.

        Args:
            normalized_shape: lengths of the last axes of inputs, which are normalised
                together.
            eps: added to the variance.
            elementwise_affine: whether there is a `weight` and, with `bias`, a `bias`.
            bias: False leaves out what is added.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
        """
        maker = init.Maker(None, device, dtype)
        super().__init__(normalized_shape, eps, elementwise_affine, maker)
        has_bias = elementwise_affine and bias
        self.bias = maker.full(self.normalized_shape, 0.0) if has_bias else None

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the normalised input.

        Raises:
            ShapeError: its shape does not end in `normalized_shape`.
        """
        tensor = self._checked(x)
        rank = len(self.normalized_shape)
        return _layer_norm(tensor, rank, self.weight, self.bias, self.eps)


class RMSNorm(_TrailingNorm):
    """`x / sqrt(mean(x²) + eps) weight` over the last axes.

    Attributes:
        weight: `normalized_shape`, ones at first, or None.

    >>> tw.nn.RMSNorm(4)(tw.ones((2, 4))).shape
    (2, 4)
    """

    def __init__(
        self,
        normalized_shape: Lengths,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
    ) -> None:
        """Make a layer.

        Args:
            normalized_shape: lengths of the last axes of inputs, which are normalised
                together.
            eps: added to the mean of the squares; None for that of the dtype.
            elementwise_affine: whether there is a `weight`.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
        """
        maker = init.Maker(None, device, dtype)
        super().__init__(normalized_shape, eps, elementwise_affine, maker)

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the normalised input.

        Raises:
            ShapeError: its shape does not end in `normalized_shape`.
        """
        tensor = self._checked(x)
        rank = len(self.normalized_shape)
        return _rms_norm(tensor, rank, self.weight, self.eps)


class GroupNorm(Module):
    """Groups of channels of `(n, num_channels, ...)` with mean 0 and variance 1.

    Attributes:
        weight: `(num_channels,)`, ones at first, or None.
        bias: `(num_channels,)`, zeros at first, or None.

    >>> tw.nn.GroupNorm(2, 4)
    GroupNorm(2, 4, eps=1e-05, affine=True)
    """

    def __init__(
        self,
        num_groups: SupportsIndex,
        num_channels: SupportsIndex,
        eps: float = 1e-5,
        affine: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        bias: bool = True,
    ) -> None:
        """Make a layer.

        Args:
            num_groups: count of groups, which divides the channels.
            num_channels: count of channels, the length of axis 1.
            eps: added to the variance.
            affine: whether there is a `weight` and, with `bias`, a `bias`.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            bias: False leaves out what is added.

        Raises:
            DataError: the groups do not divide the channels.
        """
        self.num_groups = positive("GroupNorm", "num_groups", num_groups)
        self.num_channels = positive("GroupNorm", "num_channels", num_channels)
        if self.num_channels % self.num_groups:
            raise DataError(
                f"GroupNorm: {self.num_groups} groups do not divide "
                f"{self.num_channels} channels."
            )
        self.eps, self.affine = eps, affine
        maker = init.Maker(None, device, dtype)
        shape = (self.num_channels,)
        self.weight = maker.full(shape, 1.0) if affine else None
        self.bias = maker.full(shape, 0.0) if affine and bias else None

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the normalised input.

        Raises:
            ShapeError: it has another number of channels.
        """
        tensor = as_float("GroupNorm", x, self.weight)
        if tensor.ndim < 2 or tensor.shape[1] != self.num_channels:
            raise ShapeError(
                f"GroupNorm: the input has shape {tensor.shape}; it takes "
                f"(n, {self.num_channels}, ...).",
                clash=expected_clash(
                    tensor.shape, (-1, self.num_channels, *[-1] * (tensor.ndim - 2))
                ),
            )
        return _group_norm(tensor, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}"
        )


class _InstanceNorm(ChannelNorm):
    """Each channel of each example with mean 0 and variance 1."""

    def __init__(
        self,
        num_features: SupportsIndex,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        bias: bool = True,
    ) -> None:
        """Make a layer.

        Args:
            num_features: count of channels.
            eps: added to variances.
            momentum: weight of a batch in the running statistics.
            affine: whether there are `weight` and `bias`.
            track_running_stats: whether there are running statistics, which a call with
                `train=True` writes and every other call normalises by.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            bias: whether there is a `bias`, if `affine`.

        Raises:
            DataError: `eps` is not positive.
        """
        maker = init.Maker(None, device, dtype)
        factors = (affine, bias)
        self._configure(
            num_features, eps, momentum, factors, track_running_stats, maker
        )

    def _normalized(self, x: Tensor, train: bool) -> Tensor:
        """Return the normalised input; one example may do without `n`."""
        if x.ndim == self._ranks[0] - 1:
            return super()._normalized(x[None], train)[0]
        return super()._normalized(x, train)

    def _by_input(self, x: Tensor, running: Statistics | None) -> Tensor:
        if running is not None:
            self._training_count(x, x.shape[0] * self.num_features)
            running.update(*_mean_statistics(x), self.momentum or 0.0)
        return _group_norm(x, self.num_features, self.weight, self.bias, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of `(n, num_features, length)` with mean 0 and variance 1.

    >>> tw.nn.InstanceNorm1d(2)(tw.ones((1, 2, 3))).shape
    (1, 2, 3)
    """

    _ranks = (3,)
    _axes = ", length"


class InstanceNorm2d(_InstanceNorm):
    """Each channel of `(n, num_features, h, w)` with mean 0 and variance 1.

    >>> tw.nn.InstanceNorm2d(2)(tw.ones((1, 2, 3, 3))).shape
    (1, 2, 3, 3)
    """

    _ranks = (4,)
    _axes = ", h, w"


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
    tensor = as_float("normalize", x)
    along = one_axis(tensor, axis, dim)
    return tensor / maximum(norm_along(tensor, p, along), eps)


def norm_along(x: Tensor, p: float, axis: int) -> Tensor:
    """Return the norm of power `p` along an axis, which stays with length 1."""
    if p == 2.0:
        return sqrt((x * x).sum(axis, keepdims=True))
    if p == math.inf:
        return abs(x).max(axis, keepdims=True)
    if p == 0.0:
        return (x != 0.0).astype(x.dtype).sum(axis, keepdims=True)
    total: Tensor = (abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return total


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


declare_public(__name__, hidden="norm_along")
