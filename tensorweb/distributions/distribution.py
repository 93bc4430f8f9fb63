"""What all distributions have, and batches as one distribution."""

from __future__ import annotations

from typing import Any, Self

from tensorweb import tree
from tensorweb.errors import DataError, ShapeError, TransformError
from tensorweb.functions import broadcast_arrays, broadcast_to, sqrt
from tensorweb.functions import sum as sum_of
from tensorweb.nn.arguments import as_float
from tensorweb.nn.init import Rng
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.custom import stop_gradient
from tensorweb.trees import register


def together(name: str, *parameters: ArrayLike) -> tuple[Tensor, ...]:
    """Return parameters as floats on one device and of one shape.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: a tensor is of another dtype.
    """
    tensors = [as_float(name, parameter, *parameters) for parameter in parameters]
    return broadcast_arrays(*tensors)


class Distribution:
    """A distribution, or a batch of independent ones; the base of all others.

    Attributes:
        batch_shape: shape of the parameters.
        event_shape: shape of one sample of one distribution.

    >>> issubclass(tw.distributions.Normal, tw.distributions.Distribution)
    True
    """

    event_shape: tuple[int, ...] = ()

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of independent distributions."""
        return self.mean.shape[: len(self.mean.shape) - len(self.event_shape)]

    @property
    def mean(self) -> Tensor:
        """The expected value, of shape `batch_shape + event_shape`.

        Raises:
            DataError: the distribution has no formula of it.
        """
        raise self._without("mean")

    @property
    def mode(self) -> Tensor:
        """The value of largest density or probability, of the mean's shape.

        Raises:
            DataError: the distribution has no formula of it.
        """
        raise self._without("mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each number, of shape `batch_shape + event_shape`.

        Raises:
            DataError: the distribution has no formula of it.
        """
        raise self._without("variance")

    def _without(self, what: str) -> DataError:
        return DataError(
            f"{type(self).__name__}: its {what} has no formula; estimate it from "
            "samples."
        )

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance.

        >>> tw.distributions.Normal(0.0, 2.0).stddev
        tensor(2.)
        """
        return sqrt(self.variance)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return samples that are differentiable functions of the parameters.

        Args:
            sample_shape: shape of independent samples.
            rng: a generator, a key or a seed; None for the program's generator.

        Returns:
            Shape `sample_shape + batch_shape + event_shape`.

        Raises:
            TransformError: the distribution has no such samples.
        """
        raise TransformError(
            f"{type(self).__name__}: a sample is no differentiable function of the "
            "parameters; use `sample` and the derivative of `log_prob`."
        )

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return samples without derivatives.

        Args:
            sample_shape: shape of independent samples.
            rng: a generator, a key or a seed; None for the program's generator.

        Returns:
            Shape `sample_shape + batch_shape + event_shape`.

        >>> tw.distributions.Normal(tw.zeros(3), 1.0).sample((2,)).shape
        (2, 3)
        """
        return stop_gradient(self.rsample(sample_shape, rng=rng))

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density or probability of values.

        Args:
            value: broadcasts with `batch_shape + event_shape`.

        Returns:
            The shape of both together without `event_shape`.

        Raises:
            NotImplementedError: a class of your own does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of values up to one; shape as of `log_prob`.

        Args:
            value: broadcasts with `batch_shape`.

        Raises:
            DataError: the distribution has no formula of it.
        """
        raise self._without("cdf")

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the quantile, the value below which a probability lies.

        Args:
            value: a probability; broadcasts with `batch_shape`.

        Raises:
            DataError: the distribution has no formula of it.
        """
        raise self._without("icdf")

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats; shape `batch_shape`.

        Raises:
            DataError: the distribution has no formula of it.
        """
        raise DataError(
            f"{type(self).__name__}: its entropy has no formula; estimate it by "
            "the mean of `-log_prob` of samples."
        )

    def expand(self, batch_shape: Lengths) -> Self:
        """Return the distribution with its parameters broadcast to a batch shape.

        >>> tw.distributions.Normal(0.0, 1.0).expand((3,)).sample().shape
        (3,)
        """
        batch, axes = as_shape(batch_shape), len(self.batch_shape)

        def expanded(x: Any) -> Any:
            is_tensor = isinstance(x, Tensor)  # and no length of a shape
            return broadcast_to(x, (*batch, *x.shape[axes:])) if is_tensor else x

        result: Self = tree.map(expanded, self)
        return result

    def shape_of(self, sample_shape: Lengths) -> tuple[int, ...]:
        """Return the shape of samples."""
        return (*as_shape(sample_shape), *self.batch_shape, *self.event_shape)

    def __repr__(self) -> str:
        """Return the class with its shapes."""
        shapes = f"batch_shape={self.batch_shape}, event_shape={self.event_shape}"
        return f"{type(self).__name__}({shapes})"


@register
class Independent(Distribution):
    """A distribution whose last batch axes count as axes of one sample.

    >>> plane = tw.distributions.Normal(tw.zeros((5, 3)), 1.0)
    >>> tw.distributions.Independent(plane, 1).log_prob(tw.zeros(3)).shape
    (5,)
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int
    ) -> None:
        """Store a distribution, and how many batch axes belong to a sample.

        Raises:
            ShapeError: the distribution has fewer batch axes.
        """
        batch = base_distribution.batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise ShapeError(
                f"Independent: {reinterpreted_batch_ndims} axes of a batch of shape "
                f"{batch} cannot belong to a sample; it has {len(batch)}."
            )
        self.base_dist = base_distribution
        self.ndims = reinterpreted_batch_ndims
        own = batch[len(batch) - reinterpreted_batch_ndims :]
        self.event_shape = (*own, *base_distribution.event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of independent distributions."""
        batch = self.base_dist.batch_shape
        return batch[: len(batch) - self.ndims]

    @property
    def mean(self) -> Tensor:
        """The base's."""
        return self.base_dist.mean

    @property
    def variance(self) -> Tensor:
        """The base's."""
        return self.base_dist.variance

    @property
    def mode(self) -> Tensor:
        """The base's."""
        return self.base_dist.mode

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return the base's samples."""
        return self.base_dist.rsample(sample_shape, rng=rng)

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return the base's samples."""
        return self.base_dist.sample(sample_shape, rng=rng)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the sum of the base's log densities over the axes of a sample."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        """Return the sum of the base's entropies, in nats."""
        return self._summed(self.base_dist.entropy())

    def _summed(self, x: Tensor) -> Tensor:
        """Return the sum of numbers of a batch over the axes of a sample."""
        return sum_of(x, axis=tuple(range(-self.ndims, 0))) if self.ndims else x


declare_public(__name__, hidden="together")
