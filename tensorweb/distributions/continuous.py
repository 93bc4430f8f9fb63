"""Distributions of real numbers and of vectors."""

from __future__ import annotations

import math

from tensorweb.distributions.distribution import Distribution, together
from tensorweb.dtypes import finfo
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    asarray,
    broadcast_to,
    clip,
    exp,
    expand_dims,
    expm1,
    full_like,
    log,
    log1p,
    maximum,
    sign,
    squeeze,
    tril,
    where,
    zeros_like,
)
from tensorweb.functions import sum as sum_of
from tensorweb.linalg import cholesky, diagonal, solve_triangular
from tensorweb.nn.arguments import as_float
from tensorweb.nn.init import Rng, generator
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.shapes import broadcast_shapes
from tensorweb.special.gamma import HALF_LOG_2PI
from tensorweb.special.normal import ndtr, ndtri
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register


class LocationScale(Distribution):
    """Base class of `loc + scale * x`, where x has the standard distribution."""

    def __init__(self, loc: ArrayLike, scale: ArrayLike) -> None:
        """Store location and scale, which broadcast; the scale is above 0."""
        self.loc, self.scale = together(type(self).__name__, loc, scale)

    @property
    def mean(self) -> Tensor:
        """The location."""
        return self.loc

    def _standard(self, value: ArrayLike) -> Tensor:
        return (asarray(value) - self.loc) / self.scale


@register
class Normal(LocationScale):
    """The normal distribution.

    >>> tw.distributions.Normal(0.0, 1.0).log_prob(0.0)
    tensor(-0.9189385)
    """

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The square of the scale."""
        return self.scale**2

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return `loc + scale * n` of standard normal numbers; see `Distribution`."""
        source = generator(rng, self.loc.device)
        drawn = source.normal(self.shape_of(sample_shape), self.loc.dtype)
        return self.loc + self.scale * drawn

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of values."""
        return -0.5 * self._standard(value) ** 2 - log(self.scale) - HALF_LOG_2PI

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale) + (0.5 + HALF_LOG_2PI)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values.

        >>> tw.distributions.Normal(1.0, 2.0).cdf(1.0)
        tensor(0.5)
        """
        return ndtr(self._standard(value))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies.

        >>> tw.distributions.Normal(1.0, 2.0).icdf(0.5)
        tensor(1.)
        """
        return self.loc + self.scale * ndtri(value)


@register
class LogNormal(Distribution):
    """The distribution of values whose logarithm is normal.

    >>> tw.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487212)
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike) -> None:
        """Store location and scale of the logarithm, which broadcast."""
        self.base = Normal(loc, scale)

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        return exp(self.base.loc + self.base.variance / 2)

    @property
    def mode(self) -> Tensor:
        """`exp(loc - scale²)`."""
        return exp(self.base.loc - self.base.variance)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        variance = self.base.variance
        return (exp(variance) - 1) * exp(2 * self.base.loc + variance)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return the exponential of normal samples; see `Distribution`."""
        return exp(self.base.rsample(sample_shape, rng=rng))

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf up to 0."""
        x = asarray(value)
        logarithm = log(where(x <= 0, 1.0, x))
        return where(x <= 0, -math.inf, self.base.log_prob(logarithm) - logarithm)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self.base.entropy() + self.base.loc

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        x = asarray(value)
        return where(x <= 0, 0.0, self.base.cdf(log(where(x <= 0, 1.0, x))))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return exp(self.base.icdf(value))


@register
class Laplace(LocationScale):
    """The Laplace distribution, of density `exp(-|x - loc| / scale) / (2 scale)`.

    >>> tw.distributions.Laplace(0.0, 1.0).log_prob([0.0, 1.0])
    tensor([-0.6931472, -1.6931472])
    """

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Twice the square of the scale."""
        return 2 * self.scale**2

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return the quantiles of uniform numbers; see `Distribution`."""
        source = generator(rng, self.loc.device)
        drawn = source.uniform(self.shape_of(sample_shape), self.loc.dtype, -1.0, 1.0)
        least = finfo(drawn.dtype).eps - 1.0  # -1 itself would be infinity
        size = log1p(-absolute(maximum(drawn, least)))
        return self.loc - self.scale * sign(drawn) * size

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of values."""
        return -absolute(self._standard(value)) - log(2 * self.scale)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(2 * self.scale) + 1

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        z = self._standard(value)
        below = 0.5 * exp(where(z < 0, z, 0.0))
        return where(z < 0, below, 1 - 0.5 * exp(-where(z < 0, 0.0, z)))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        p = asarray(value)
        below = log(2 * where(p < 0.5, p, 0.5))
        above = log(2 - 2 * where(p < 0.5, 0.5, p))
        return self.loc + self.scale * where(p < 0.5, below, -above)


@register
class Uniform(Distribution):
    """The uniform distribution from `low` to below `high`.

    >>> tw.distributions.Uniform(0.0, 4.0).log_prob([1.0, 5.0])
    tensor([-1.3862944,       -inf])
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        """Store the bounds, which broadcast."""
        self.low, self.high = together("Uniform", low, high)

    @property
    def mean(self) -> Tensor:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Tensor:
        """Not a number: all densities are equal."""
        return full_like(self.low, math.nan)

    @property
    def variance(self) -> Tensor:
        """A twelfth of the square of the length."""
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return `low + (high - low) * u`; see `Distribution`."""
        source = generator(rng, self.low.device)
        drawn = source.uniform(self.shape_of(sample_shape), self.low.dtype)
        return self.low + (self.high - self.low) * drawn

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf outside."""
        x = asarray(value)
        is_outside = (x < self.low) | (x >= self.high)
        size = where(x == x, -log(self.high - self.low), math.nan)
        return where(is_outside, -math.inf, size)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.high - self.low)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return clip((asarray(value) - self.low) / (self.high - self.low), 0.0, 1.0)

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return self.low + (self.high - self.low) * asarray(value)


@register
class Exponential(Distribution):
    """The exponential distribution of a rate.

    >>> tw.distributions.Exponential(2.0).mean
    tensor(0.5)
    """

    def __init__(self, rate: ArrayLike) -> None:
        """Store the rate, above 0."""
        (self.rate,) = together("Exponential", rate)

    @property
    def mean(self) -> Tensor:
        """The inverse of the rate."""
        return 1 / self.rate

    @property
    def mode(self) -> Tensor:
        """0."""
        return zeros_like(self.rate)

    @property
    def variance(self) -> Tensor:
        """The inverse of the rate's square."""
        return self.rate**-2

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return standard samples divided by the rate; see `Distribution`."""
        source = generator(rng, self.rate.device)
        return (
            source.exponential(self.shape_of(sample_shape), self.rate.dtype) / self.rate
        )

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf below 0."""
        x = asarray(value)
        return where(x < 0, -math.inf, log(self.rate) - self.rate * x)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 1 - log(self.rate)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return -expm1(-self.rate * maximum(value, 0.0))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return -log1p(-asarray(value)) / self.rate


@register
class MultivariateNormal(Distribution):
    """The normal distribution of vectors, by its covariance or by a factor of it.

    Attributes:
        loc: the mean vectors, of shape `batch_shape + event_shape`.
        scale_tril: lower triangular; times its transpose it is the covariance.

    >>> covariance = tw.asarray([[4.0, 0.0], [0.0, 1.0]])
    >>> vectors = tw.distributions.MultivariateNormal(tw.zeros(2), covariance)
    >>> vectors.log_prob([0.0, 0.0])
    tensor(-2.5310242)
    """

    def __init__(
        self,
        loc: ArrayLike,
        covariance_matrix: ArrayLike | None = None,
        scale_tril: ArrayLike | None = None,
    ) -> None:
        """Store the mean, and the Cholesky factor of the covariance.

        Args:
            loc: mean vectors, of shape `(..., n)`.
            covariance_matrix: symmetric and positive definite, of shape `(..., n, n)`.
            scale_tril: its Cholesky factor instead.

        Raises:
            DataError: none or both of the matrices are given.
            ShapeError: the matrix does not fit the mean.
        """
        if (covariance_matrix is None) == (scale_tril is None):
            raise DataError(
                "MultivariateNormal: give either covariance_matrix or scale_tril."
            )
        name = "MultivariateNormal"
        matrix = scale_tril if covariance_matrix is None else covariance_matrix
        mean = as_float(name, loc, matrix)
        given = as_float(name, matrix, mean)
        length = mean.shape[-1:]
        if not mean.shape or given.shape[-2:] != length * 2:
            raise ShapeError(
                f"{name}: a mean of shape {mean.shape} and a matrix of "
                f"shape {given.shape} do not fit; give (..., n) and (..., n, n)."
            )
        factor = tril(given) if covariance_matrix is None else cholesky(given)
        batch = broadcast_shapes(mean.shape[:-1], factor.shape[:-2])
        self.loc = broadcast_to(mean, (*batch, *length))
        self.scale_tril = broadcast_to(factor, (*batch, *length, *length))
        self.event_shape = length

    @property
    def mean(self) -> Tensor:
        """The mean vectors."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The mean vectors."""
        return self.loc

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance, of shape `batch_shape + (n, n)`."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        return sum_of(self.scale_tril**2, axis=-1)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return `loc + scale_tril @ n`; see `Distribution`."""
        source = generator(rng, self.loc.device)
        drawn = source.normal(self.shape_of(sample_shape), self.loc.dtype)
        return self.loc + squeeze(
            self.scale_tril @ expand_dims(drawn, axis=-1), axis=-1
        )

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of vectors."""
        distance = squared(self.scale_tril, asarray(value) - self.loc)
        size = self.event_shape[0] * HALF_LOG_2PI
        return -0.5 * distance - half_log_det(self.scale_tril) - size

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return half_log_det(self.scale_tril) + self.event_shape[0] * (
            0.5 + HALF_LOG_2PI
        )


def half_log_det(factor: Tensor) -> Tensor:
    """Return half of the log determinant of the matrix with a Cholesky factor."""
    return sum_of(log(diagonal(factor)), axis=-1)


def squared(factor: Tensor, difference: Tensor) -> Tensor:
    """Return the squared length of `factor^-1 difference`."""
    batch = broadcast_shapes(factor.shape[:-2], difference.shape[:-1])
    matrix = broadcast_to(factor, (*batch, *factor.shape[-2:]))
    vector = broadcast_to(difference, (*batch, *difference.shape[-1:]))
    found = solve_triangular(matrix, expand_dims(vector, axis=-1), lower=True)
    return sum_of(found**2, axis=(-2, -1))


declare_public(__name__, hidden="LocationScale half_log_det squared")
