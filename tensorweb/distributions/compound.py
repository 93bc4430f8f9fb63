"""Mixtures of distributions, and distributions of transformed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from tensorweb import tree
from tensorweb.distributions.discrete import Categorical
from tensorweb.distributions.distribution import Distribution, together
from tensorweb.errors import ShapeError
from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    asarray,
    atanh,
    broadcast_to,
    exp,
    expand_dims,
    log,
    log1p,
    sigmoid,
    squeeze,
    take_along_axis,
    tanh,
)
from tensorweb.functions import sum as sum_of
from tensorweb.nn.activations import logsumexp, softplus
from tensorweb.nn.init import Rng, generator
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.shapes import as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register


@register
class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch axis of another one.

    >>> kinds = tw.distributions
    >>> weights = kinds.Categorical(probs=[0.5, 0.5])
    >>> kinds.MixtureSameFamily(weights, kinds.Normal([-1.0, 1.0], 1.0)).variance
    tensor(2.)
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
    ) -> None:
        """Store the distribution of the categories, and one for each category.

        Raises:
            ShapeError: there are not as many components as categories.
        """
        count = mixture_distribution.logits.shape[-1:]
        if component_distribution.batch_shape[-1:] != count:
            raise ShapeError(
                f"MixtureSameFamily: {count[0]} categories for components of batch "
                f"shape {component_distribution.batch_shape}, whose last axis counts."
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        self.event_shape = component_distribution.event_shape

    def _mixed(self, x: Tensor) -> Tensor:
        """Return the weighted sum of numbers of the components."""
        weights = self.mixture_distribution.probs
        axes = tuple(range(weights.ndim, weights.ndim + len(self.event_shape)))
        weights = expand_dims(weights, axis=axes) if axes else weights
        return sum_of(weights * x, axis=-1 - len(self.event_shape))

    @property
    def mean(self) -> Tensor:
        """The weighted mean of the components."""
        return self._mixed(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        parts = self.component_distribution
        center = expand_dims(self.mean, axis=-1 - len(self.event_shape))
        return self._mixed(parts.variance + (parts.mean - center) ** 2)

    def expand(self, batch_shape: Lengths) -> Self:
        """Return the mixture with its parameters broadcast to a batch shape."""
        batch = as_shape(batch_shape)
        parts = (*batch, *self.mixture_distribution.logits.shape[-1:])
        return type(self)(
            self.mixture_distribution.expand(batch),
            self.component_distribution.expand(parts),
        )

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return samples of chosen components; see `Distribution`."""
        source = generator(rng, self.mixture_distribution.logits.device)
        drawn = self.component_distribution.sample(sample_shape, rng=source)
        at = -1 - len(self.event_shape)
        shape = self.shape_of(sample_shape)
        shape = shape[: len(shape) - len(self.event_shape)]
        logits = self.mixture_distribution.logits
        logits = broadcast_to(logits, (*self.batch_shape, *logits.shape[-1:]))
        chosen = source.categorical(logits, shape=shape)
        index = expand_dims(chosen, axis=tuple(range(at, 0)))
        return squeeze(take_along_axis(drawn, index, axis=at), axis=at)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the weighted sum of densities."""
        x = expand_dims(asarray(value), axis=-1 - len(self.event_shape))
        logits = self.mixture_distribution.logits
        return logsumexp(logits + self.component_distribution.log_prob(x), axis=-1)


class Transform:
    """A differentiable function with an inverse, of each number.

    >>> issubclass(tw.distributions.ExpTransform, tw.distributions.Transform)
    True
    """

    def __call__(self, x: ArrayLike) -> Tensor:
        """Return the values of the function."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    def inv(self, y: ArrayLike) -> Tensor:
        """Return the numbers whose values are given.

        Raises:
            NotImplementedError: a class of your own does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no inv")

    def log_abs_det_jacobian(self, x: ArrayLike, y: ArrayLike) -> Tensor:
        """Return the logarithm of the absolute derivative at x, whose value is y.

        Raises:
            NotImplementedError: a class of your own does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")


@register
class ExpTransform(Transform):
    """The exponential function.

    >>> tw.distributions.ExpTransform()(0.0)
    tensor(1.)
    """

    def __call__(self, x: ArrayLike) -> Tensor:
        """Return `exp(x)`."""
        return exp(x)

    def inv(self, y: ArrayLike) -> Tensor:
        """Return `log(y)`."""
        return log(y)

    def log_abs_det_jacobian(self, x: ArrayLike, y: ArrayLike) -> Tensor:
        """Return x."""
        return asarray(x)


@register
class AffineTransform(Transform):
    """The function `loc + scale x`.

    >>> tw.distributions.AffineTransform(1.0, 2.0)(3.0)
    tensor(7.)
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike) -> None:
        """Store location and scale, which broadcast; the scale is not 0."""
        self.loc, self.scale = together("AffineTransform", loc, scale)

    def __call__(self, x: ArrayLike) -> Tensor:
        """Return `loc + scale x`."""
        return self.loc + self.scale * asarray(x)

    def inv(self, y: ArrayLike) -> Tensor:
        """Return `(y - loc) / scale`."""
        return (asarray(y) - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: ArrayLike, y: ArrayLike) -> Tensor:
        """Return `log |scale|`, in the shape of x."""
        return log(absolute(self.scale)) + 0.0 * asarray(x)


@register
class SigmoidTransform(Transform):
    """The function `1 / (1 + exp(-x))`.

    >>> tw.distributions.SigmoidTransform()(0.0)
    tensor(0.5)
    """

    def __call__(self, x: ArrayLike) -> Tensor:
        """Return the sigmoid."""
        return sigmoid(x)

    def inv(self, y: ArrayLike) -> Tensor:
        """Return `log(y / (1 - y))`."""
        return log(y) - log1p(-asarray(y))

    def log_abs_det_jacobian(self, x: ArrayLike, y: ArrayLike) -> Tensor:
        """Return `-softplus(-x) - softplus(x)`."""
        return -softplus(-asarray(x)) - softplus(asarray(x))


@register
class TanhTransform(Transform):
    """The hyperbolic tangent.

    >>> tw.distributions.TanhTransform()(0.0)
    tensor(0.)
    """

    def __call__(self, x: ArrayLike) -> Tensor:
        """Return `tanh(x)`."""
        return tanh(x)

    def inv(self, y: ArrayLike) -> Tensor:
        """Return `atanh(y)`."""
        return atanh(y)

    def log_abs_det_jacobian(self, x: ArrayLike, y: ArrayLike) -> Tensor:
        """Return `log(1 - tanh(x)²)` without cancellation."""
        x = asarray(x)
        return 2 * (math.log(2) - x - softplus(-2 * x))


@register
class TransformedDistribution(Distribution):
    """The distribution of transformed samples of another one.

    >>> kinds = tw.distributions
    >>> base = kinds.Normal(0.0, 1.0)
    >>> one = kinds.TransformedDistribution(base, [kinds.ExpTransform()])
    >>> one.log_prob(1.0) == kinds.LogNormal(0.0, 1.0).log_prob(1.0)
    tensor(True)
    """

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
    ) -> None:
        """Store a distribution and transforms, of which the first is applied first."""
        if isinstance(transforms, Transform):
            transforms = [transforms]
        self.transforms = [*transforms]
        self.event_shape = event = base_distribution.event_shape
        # A transform's parameters may be of more distributions than the base's.
        parameters = [getattr(x, "shape", ()) for x in tree.leaves(self.transforms)]
        shape = broadcast_shapes(base_distribution.batch_shape + event, *parameters)
        batch = shape[: len(shape) - len(event)]
        if batch != base_distribution.batch_shape:
            base_distribution = base_distribution.expand(batch)
        self.base_dist = base_distribution

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The base's."""
        return self.base_dist.batch_shape

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return transformed samples; see `Distribution`."""
        return self._transformed(self.base_dist.rsample(sample_shape, rng=rng))

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return transformed samples; see `Distribution`."""
        return self._transformed(self.base_dist.sample(sample_shape, rng=rng))

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density: the base's and the derivatives'."""
        y, total = asarray(value), asarray(0.0)
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            size = transform.log_abs_det_jacobian(x, y)
            axes = tuple(range(-len(self.event_shape), 0))
            total = total + (sum_of(size, axis=axes) if axes else size)
            y = x
        return self.base_dist.log_prob(y) - total


declare_public(__name__)
