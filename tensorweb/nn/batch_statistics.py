"""Batch normalisation: batch statistics in training, running statistics otherwise."""

from __future__ import annotations

from typing import ClassVar, SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError, TraceError
from tensorweb.functions import rsqrt, zeros
from tensorweb.graph.tracing import open_repeat, open_trace
from tensorweb.nn import init
from tensorweb.nn.arguments import as_float, positive, positive_eps
from tensorweb.nn.module import Module
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.transforms.custom import stop_gradient

__all__ = ["BatchNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "batch_norm"]


class Statistics(Module):
    """Running means and variances of channels, updated in training.

    They are not trainable. Transformations pass this object to a function without
    copying it, so that its updates persist.

    Attributes:
        running_mean: `(channels,)`.
        running_var: `(channels,)`, sample variances, with `n - 1`.
        num_batches_tracked: count of batches, 0-d.
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, channels: int, made: init.Maker) -> None:
        """Start with mean 0 and variance 1."""
        self.register_buffer("running_mean", made.full((channels,), 0.0))
        self.register_buffer("running_var", made.full((channels,), 1.0))
        # An element of a tensor, as what is counted later is a result: so that `jit`,
        # which tells the two apart, records the first step and no other.
        counted = zeros((1,), dtype=dtypes.int32, device=made.device)
        self.register_buffer("num_batches_tracked", counted[0])

    def take_in(
        self, mean: Tensor, variance: Tensor, count: int, momentum: float | None
    ) -> None:
        """Update with the statistics of a batch of `count` numbers per channel."""
        self.num_batches_tracked = self.num_batches_tracked + 1
        share: Tensor | float
        if momentum is None:
            share = 1.0 / self.num_batches_tracked.astype(mean.dtype)
        else:
            share = momentum
        self.mix(mean, variance * (count / (count - 1)), share)

    def mix(self, mean: Tensor, sampled: Tensor, share: Tensor | float) -> None:
        """Update the moving averages with a mean and a sample variance."""
        mean, sampled = stop_gradient((mean, sampled))
        self.running_mean = self.running_mean * (1.0 - share) + mean * share
        self.running_var = self.running_var * (1.0 - share) + sampled * share


def batch_norm(
    x: ArrayLike,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return `(n, channels, ...)` with mean 0 and variance 1 a channel.

    Args:
        x: floats.
        running_mean: `(channels,)`, or None. In training it is written.
        running_var: `(channels,)`, or None. In training it is written.
        weight: `(channels,)`, or None.
        bias: `(channels,)`, or None.
        training: whether the statistics are those of the batch.
        momentum: weight of a batch in the running statistics.
        eps: added to variances.

    Raises:
        DataError: there are no running statistics outside of training, or `eps` is not
            positive.
        ShapeError: the input has one axis, or in training one number a channel.

    >>> tw.nn.batch_norm([[1.0], [3.0]], None, None, training=True, eps=1e-12)
    tensor([[-1.],
            [ 1.]])
    """
    positive_eps("batch_norm", eps)
    given = as_float("batch_norm", x, weight)
    if given.ndim < 2:
        raise ShapeError(
            f"batch_norm: the input has shape {given.shape}; it takes "
            "(n, channels, ...)."
        )
    mean, variance = running_mean, running_var
    if training:
        axes = (0, *range(2, given.ndim))
        mean, variance = given.mean(axes), given.var(axes)
        count = given.size // max(given.shape[1], 1)
        if count < 2:
            raise ShapeError(
                f"batch_norm: in training the input has shape {given.shape}, one "
                "number a channel; a variance takes two or more."
            )
        sampled = variance * (count / (count - 1))
        for running, found in ((running_mean, mean), (running_var, sampled)):
            if running is not None:
                share = stop_gradient(found) * momentum
                running[...] = running * (1.0 - momentum) + share
    if mean is None or variance is None:
        raise DataError(
            "batch_norm: there are no running statistics; give running_mean and "
            "running_var, or training=True."
        )
    column = (given.shape[1], *(1 for _ in given.shape[2:]))
    factor = rsqrt(variance + eps)
    if weight is not None:
        factor = factor * as_float("batch_norm", weight, given)
    result = (given - mean.reshape(column)) * factor.reshape(column)
    if bias is None:
        return result
    return result + as_float("batch_norm", bias, given).reshape(column)


class Tracked(Module):
    """Base of layers with optional running statistics.

    Attributes:
        statistics: the running statistics, or None.
    """

    _unnamed: ClassVar[str | None] = "statistics"

    statistics: Statistics | None

    @property
    def running_mean(self) -> Tensor | None:
        """The running means, or None."""
        return self.statistics.running_mean if self.statistics else None

    @property
    def running_var(self) -> Tensor | None:
        """The running variances, or None."""
        return self.statistics.running_var if self.statistics else None

    @property
    def num_batches_tracked(self) -> Tensor | None:
        """The count of batches in the running statistics, or None."""
        return self.statistics.num_batches_tracked if self.statistics else None

    def _count(self, x: Tensor, per: int) -> int:
        """Return how many numbers each of `per` statistics of training comes from.

        Raises:
            ShapeError: it is one, which has no variance.
            TraceError: inside of `vmap` or `checkpoint`.
        """
        name = type(self).__name__
        count = x.size // max(per, 1)
        if count < 2:
            raise ShapeError(
                f"{name}: in training the input has shape {x.shape}, one number a "
                "channel; a variance takes two or more."
            )
        trace, repeat = open_trace(), open_repeat()
        if repeat is not None or (trace is not None and trace.transform == "vmap"):
            what = "vmap" if repeat is None else "checkpoint"
            raise TraceError(
                f"{name}: train=True inside of {what} would write statistics that "
                f"nobody sees; call it outside of {what}, or without train=True."
            )
        return count


class BatchNorm(Tracked):
    """Channels of `(n, num_features, ...)` with mean 0 and variance 1 over the batch.

    In a call with `train=True` they are those of the batch, and the running statistics
    take a share `momentum` of them; otherwise the running ones count. The model that is
    called keeps them, in each style: inside of `tw.grad` and `tw.jit` as well. Source:
    S. Ioffe, C. Szegedy, Batch normalization, 2015.

    Attributes:
        weight: `(num_features,)`, ones at first, or None.
        bias: `(num_features,)`, zeros at first, or None.
        running_mean: `(num_features,)`, a buffer, or None.
        running_var: `(num_features,)`, a buffer, or None.

    >>> layer = tw.nn.BatchNorm1d(2, momentum=0.5)
    >>> x = tw.asarray([[1.0, 10.0], [3.0, 30.0]])
    >>> tw.round(layer(x, train=True))
    tensor([[-1., -1.],
            [ 1.,  1.]])
    >>> layer.running_mean, layer.running_var
    (tensor([ 1., 10.]), tensor([  1.5, 100.5]))
    """

    _ranks: ClassVar[tuple[int, ...]] = ()
    _axes: ClassVar[str] = "..."

    def __init__(
        self,
        num_features: SupportsIndex,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        bias: bool = True,
    ) -> None:
        """Make a layer.

        Args:
            num_features: count of channels.
            eps: added to variances.
            momentum: weight of a batch in the running statistics; None for
                the mean of all batches.
            affine: whether there are `weight` and `bias`.
            track_running_stats: whether there are running statistics; without them the
                batch's count in every call.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            bias: whether there is a `bias`, if `affine`.

        Raises:
            DataError: `eps` is not positive.
        """
        name = type(self).__name__
        positive_eps(name, eps)
        self.num_features = positive(name, "num_features", num_features)
        self.eps, self.momentum, self.affine = eps, momentum, affine
        self.track_running_stats = track_running_stats
        made = init.Maker(None, device, dtype)
        shape = (self.num_features,)
        self.weight = made.full(shape, 1.0) if affine else None
        self.bias = made.full(shape, 0.0) if affine and bias else None
        self.statistics = None
        if track_running_stats:
            self.statistics = Statistics(self.num_features, made)

    def forward(self, x: ArrayLike, *, train: bool = False) -> Tensor:
        """Return the normalised input.

        Args:
            x: `(n, num_features, ...)`.
            train: whether the batch's own statistics count, and are taken in.

        Raises:
            ShapeError: it has another number of axes or channels, or in training one
                number a channel, which has no variance.
            TraceError: in training inside of `vmap` or `checkpoint`.
        """
        name = type(self).__name__
        given = as_float(name, x, self.weight)
        self._check(name, given)
        axes = (0, *range(2, given.ndim))
        running = self.statistics
        if running is not None and not train:
            mean, variance = running.running_mean, running.running_var
            return self._scaled(given, mean, variance)
        mean, variance = given.mean(axes), given.var(axes)
        if running is not None:
            count = self._count(given, self.num_features)
            running.take_in(mean, variance, count, self.momentum)
        return self._scaled(given, mean, variance)

    def _scaled(self, x: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        column = (self.num_features, *(1 for _ in x.shape[2:]))
        factor = rsqrt(variance + self.eps)
        if self.weight is not None:
            factor = factor * self.weight
        result = (x - mean.reshape(column)) * factor.reshape(column)
        return result if self.bias is None else result + self.bias.reshape(column)

    def _check(self, name: str, x: Tensor) -> None:
        is_rank = x.ndim in self._ranks if self._ranks else x.ndim >= 2
        if not is_rank or x.shape[1] != self.num_features:
            raise ShapeError(
                f"{name}: the input has shape {x.shape}; it takes "
                f"(n, {self.num_features}{self._axes})."
            )

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(BatchNorm):
    """Batch normalisation of `(n, num_features)` or `(n, num_features, length)`.

    >>> tw.nn.BatchNorm1d(2)(tw.ones((4, 2))).shape
    (4, 2)
    """

    _ranks = (2, 3)
    _axes = ") or (n, channels, length"


class BatchNorm2d(BatchNorm):
    """Batch normalisation of images, `(n, num_features, h, w)`.

    >>> tw.nn.BatchNorm2d(2)(tw.ones((4, 2, 3, 3))).shape
    (4, 2, 3, 3)
    """

    _ranks = (4,)
    _axes = ", h, w"


class BatchNorm3d(BatchNorm):
    """Batch normalisation of volumes, `(n, num_features, d, h, w)`.

    >>> tw.nn.BatchNorm3d(2)(tw.ones((4, 2, 3, 3, 3))).shape
    (4, 2, 3, 3, 3)
    """

    _ranks = (5,)
    _axes = ", d, h, w"
