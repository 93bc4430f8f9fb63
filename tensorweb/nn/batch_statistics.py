"""Batch normalisation: batch statistics in training, running statistics otherwise."""

from __future__ import annotations

from typing import ClassVar, SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError, TraceError, expected_clash
from tensorweb.functions import rsqrt, zeros
from tensorweb.graph.tracing import open_repeat, open_trace
from tensorweb.nn import init
from tensorweb.nn.arguments import as_float, positive, positive_eps
from tensorweb.nn.module import Module, warn_of_mode
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
        # The count is a view, not a constant: `jit` distinguishes constants from
        # results, and with a constant here it would record the second step again.
        zero = zeros((1,), dtype=dtypes.int32, device=made.device)[0]
        self.register_buffer("num_batches_tracked", zero)

    def add_batch(
        self, mean: Tensor, variance: Tensor, count: int, momentum: float | None
    ) -> None:
        """Update with the statistics of a batch of `count` numbers per channel."""
        self.num_batches_tracked = self.num_batches_tracked + 1
        weight: Tensor | float
        if momentum is None:
            weight = 1.0 / self.num_batches_tracked.astype(mean.dtype)
        else:
            weight = momentum
        self.update(mean, variance * (count / (count - 1)), weight)

    def update(self, mean: Tensor, variance: Tensor, weight: Tensor | float) -> None:
        """Update the moving averages with a mean and a sample variance."""
        mean, variance = stop_gradient((mean, variance))
        self.running_mean = self.running_mean * (1.0 - weight) + mean * weight
        self.running_var = self.running_var * (1.0 - weight) + variance * weight


def update_in_place(
    running: tuple[Tensor | None, Tensor | None],
    values: tuple[Tensor, Tensor],
    momentum: float,
) -> None:
    """Write moving averages of mean and sample variance, where there are any."""
    for average, value in zip(running, values, strict=True):
        if average is not None:
            added = stop_gradient(value) * momentum
            average[...] = average * (1.0 - momentum) + added


def scaled(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Tensor:
    """Return `(n, channels, ...)` normalised by statistics of channels, unchecked."""
    column = (x.shape[1], *(1 for _ in x.shape[2:]))
    factor = rsqrt(variance + eps)
    if weight is not None:
        factor = factor * weight
    result = (x - mean.reshape(column)) * factor.reshape(column)
    return result if bias is None else result + bias.reshape(column)


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
    tensor = as_float("batch_norm", x, weight, running_mean, running_var, bias)
    if tensor.ndim < 2:
        raise ShapeError(
            f"batch_norm: the input has shape {tensor.shape}; it takes "
            "(n, channels, ...)."
        )
    mean, variance = running_mean, running_var
    if training:
        axes = (0, *range(2, tensor.ndim))
        mean, variance = tensor.mean(axes), tensor.var(axes)
        count = sample_count("batch_norm", tensor, tensor.shape[1])
        sample_variance = variance * (count / (count - 1))
        update_in_place((running_mean, running_var), (mean, sample_variance), momentum)
    if mean is None or variance is None:
        raise DataError(
            "batch_norm: there are no running statistics; give running_mean and "
            "running_var, or training=True."
        )
    mean, variance = (as_float("batch_norm", x, tensor) for x in (mean, variance))
    factors = [
        None if value is None else as_float("batch_norm", value, tensor)
        for value in (weight, bias)
    ]
    return scaled(tensor, mean, variance, factors[0], factors[1], eps)


def sample_count(name: str, x: Tensor, statistics: int) -> int:
    """Return from how many numbers each of some statistics of training is computed.

    Raises:
        ShapeError: it is one, which has no variance.
    """
    count = x.size // max(statistics, 1)
    if count < 2:
        raise ShapeError(
            f"{name}: in training the input has shape {x.shape}, one number a "
            "channel; a variance takes two or more."
        )
    return count


class ChannelNorm(Module):
    """Base of normalisation by channel, with optional running statistics.

    Attributes:
        weight: `(num_features,)`, ones at first, or None.
        bias: `(num_features,)`, zeros at first, or None.
        statistics: the running statistics, or None.
    """

    _unnamed: ClassVar[str | None] = "statistics"
    _ranks: ClassVar[tuple[int, ...]] = ()
    _axes: ClassVar[str] = "..."

    statistics: Statistics | None

    def _configure(
        self,
        num_features: SupportsIndex,
        eps: float,
        momentum: float | None,
        has_factors: tuple[bool, bool],
        track_running_stats: bool,
        made: init.Maker,
    ) -> None:
        """Check and store the settings, and make weight, bias and statistics."""
        name = type(self).__name__
        positive_eps(name, eps)
        self.num_features = positive(name, "num_features", num_features)
        self.eps, self.momentum, self.affine = eps, momentum, has_factors[0]
        self.track_running_stats = track_running_stats
        shape = (self.num_features,)
        self.weight = made.full(shape, 1.0) if has_factors[0] else None
        self.bias = made.full(shape, 0.0) if all(has_factors) else None
        self.statistics = None
        if track_running_stats:
            self.statistics = Statistics(self.num_features, made)

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

    def forward(self, x: ArrayLike, *, train: bool | None = None) -> Tensor:
        """Return the normalised input.

        Args:
            x: `(n, num_features, ...)`.
            train: whether to normalise by the statistics of the input where there are
                running ones, and to update these; None for the mode that `train()` set.

        Raises:
            ShapeError: it has another number of axes or channels, or in training one
                number a channel, which has no variance.
            TraceError: in training inside of `vmap` or `checkpoint`.
        """
        tensor = as_float(type(self).__name__, x, self.weight)
        if train is None:
            train = self.training
            if not train and self.statistics is not None:
                warn_of_mode(self, tensor, "leaves its running statistics as they are")
        return self._normalized(tensor, train)

    def _normalized(self, x: Tensor, train: bool) -> Tensor:
        """Return the normalised input, of any rank."""
        is_rank = x.ndim in self._ranks if self._ranks else x.ndim >= 2
        if not is_rank or x.shape[1] != self.num_features:
            rank = x.ndim if is_rank else (*self._ranks, 2)[0]
            raise ShapeError(
                f"{type(self).__name__}: the input has shape {x.shape}; it takes "
                f"(n, {self.num_features}{self._axes}).",
                clash=expected_clash(
                    x.shape,
                    (-1, self.num_features, *[-1] * (rank - 2)),
                    layer=type(self).__name__,
                ),
            )
        running = self.statistics
        if running is None or train:
            return self._by_input(x, running)
        mean, variance = running.running_mean, running.running_var
        return scaled(x, mean, variance, self.weight, self.bias, self.eps)

    def _by_input(self, x: Tensor, running: Statistics | None) -> Tensor:
        """Return `x` normalised by its own statistics; update the running ones."""
        raise NotImplementedError

    def _training_count(self, x: Tensor, statistics: int) -> int:
        """Return from how many numbers each of some statistics is computed.

        Raises:
            ShapeError: it is one, which has no variance.
            TraceError: inside of `vmap` or `checkpoint`.
        """
        name = type(self).__name__
        count = sample_count(name, x, statistics)
        trace, repeat = open_trace(), open_repeat()
        if repeat is not None or (trace is not None and trace.transform == "vmap"):
            transform = "vmap" if repeat is None else "checkpoint"
            raise TraceError(
                f"{name}: train=True inside of {transform} would write statistics that "
                f"nobody sees; call it outside of {transform}, or without train=True."
            )
        return count

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm(ChannelNorm):
    """Channels of `(n, num_features, ...)` with mean 0 and variance 1 over the batch.

    A call with `train=True` normalises by the statistics of the batch, and updates the
    running statistics, of which `momentum` is replaced; any other call normalises by
    the running statistics. They are updated inside of `tw.grad` and `tw.jit` as well.
    Source: S. Ioffe, C. Szegedy, Batch normalization, 2015.

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
        maker = init.Maker(None, device, dtype)
        factors = (affine, bias)
        self._configure(
            num_features, eps, momentum, factors, track_running_stats, maker
        )

    def _by_input(self, x: Tensor, running: Statistics | None) -> Tensor:
        axes = (0, *range(2, x.ndim))
        mean, variance = x.mean(axes), x.var(axes)
        if running is not None:
            count = self._training_count(x, self.num_features)
            running.add_batch(mean, variance, count, self.momentum)
        return scaled(x, mean, variance, self.weight, self.bias, self.eps)


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
