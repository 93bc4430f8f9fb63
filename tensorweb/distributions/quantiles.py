"""Distributions whose samples are quantiles of uniform numbers, and inverse gamma."""

from __future__ import annotations

import math

from tensorweb.distributions.continuous import _LocationScale
from tensorweb.distributions.distribution import Distribution, together
from tensorweb.distributions.families import Gamma
from tensorweb.dtypes import finfo
from tensorweb.functions import (
    asarray,
    atan,
    exp,
    expm1,
    full_like,
    log,
    log1p,
    maximum,
    tan,
    where,
)
from tensorweb.nn.init import Rng, generator
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.special.entropy import xlogy
from tensorweb.special.gamma import digamma, gammaln
from tensorweb.special.incomplete import gammaincc
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register

EULER = 0.5772156649015329
"""The constant of Euler and Mascheroni."""


class _ByQuantile(Distribution):
    """A distribution that is sampled by its quantiles."""

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return quantiles of uniform numbers; see `Distribution`."""
        like = self.mean
        shape = self.shape_of(sample_shape)
        drawn = generator(rng, like.device).uniform(shape, like.dtype)
        return self.icdf(maximum(drawn, float(finfo(like.dtype).eps)))


@register
class Cauchy(_ByQuantile, _LocationScale):
    """The Cauchy distribution, the ratio of two normal numbers.

    >>> tw.distributions.Cauchy(0.0, 1.0).cdf(1.0)
    tensor(0.75)
    """

    @property
    def mean(self) -> Tensor:
        """Not a number: the integral does not converge."""
        return full_like(self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return full_like(self.loc, math.inf)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of values."""
        z = self._standard(value)
        return -math.log(math.pi) - log(self.scale) - log1p(z * z)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale) + math.log(4 * math.pi)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return atan(self._standard(value)) / math.pi + 0.5

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        p = asarray(value)
        rest = where(p < 0.5, p, 1 - p)
        # π / 2 is rounded to a number above or below: its tangent has no sure sign.
        tail = where(p < 0.5, -1.0, 1.0) / tan(math.pi * rest)
        middle = tan(math.pi * (p - 0.5))
        return self.loc + self.scale * where(rest < 0.25, tail, middle)


@register
class Gumbel(_ByQuantile, _LocationScale):
    """The Gumbel distribution, of the largest of many numbers.

    >>> tw.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772157)
    """

    @property
    def mean(self) -> Tensor:
        """`loc + 0.577… scale`, with Euler's constant."""
        return self.loc + EULER * self.scale

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """`(π scale)² / 6`."""
        return self.scale**2 * (math.pi**2 / 6)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of values."""
        z = self._standard(value)
        return -z - exp(-z) - log(self.scale)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale) + (1 + EULER)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return exp(-exp(-self._standard(value)))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return self.loc - self.scale * log(-log(value))


@register
class Weibull(_ByQuantile):
    """The Weibull distribution of times of life.

    >>> tw.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    def __init__(self, scale: ArrayLike, concentration: ArrayLike) -> None:
        """Store scale and shape, above 0; they broadcast."""
        self.scale, self.concentration = together("Weibull", scale, concentration)

    def _moment(self, n: int) -> Tensor:
        return self.scale**n * exp(gammaln(1 + n / self.concentration))

    @property
    def mean(self) -> Tensor:
        """`scale Γ(1 + 1 / concentration)`."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """0 up to the shape 1."""
        k = maximum(self.concentration, 1.0)
        return self.scale * ((k - 1) / k) ** (1 / k)

    @property
    def variance(self) -> Tensor:
        """The mean of squares without the square of the mean."""
        return self._moment(2) - self._moment(1) ** 2

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf below 0."""
        x, k = asarray(value), self.concentration
        size = where(x < 0, 1.0, x) / self.scale
        density = log(k / self.scale) + xlogy(k - 1, size) - size**k
        return where(x < 0, -math.inf, density)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        k = self.concentration
        return EULER * (1 - 1 / k) + log(self.scale / k) + 1

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return -expm1(-((maximum(value, 0.0) / self.scale) ** self.concentration))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return self.scale * (-log1p(-asarray(value))) ** (1 / self.concentration)


@register
class Pareto(_ByQuantile):
    """The Pareto distribution of values from `scale` on, with a tail of power `alpha`.

    >>> tw.distributions.Pareto(1.0, 3.0).mean
    tensor(1.5)
    """

    def __init__(self, scale: ArrayLike, alpha: ArrayLike) -> None:
        """Store the smallest value and the power, above 0; they broadcast."""
        self.scale, self.alpha = together("Pareto", scale, alpha)

    @property
    def mean(self) -> Tensor:
        """Infinite up to the power 1."""
        a = maximum(self.alpha, 1.0)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """Infinite up to the power 2."""
        a = maximum(self.alpha, 2.0)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf below the scale."""
        x, a = asarray(value), self.alpha
        size = log(where(x < self.scale, self.scale, x))
        density = log(a) + a * log(self.scale) - (a + 1) * size
        return where(x < self.scale, -math.inf, density)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale / self.alpha) + 1 + 1 / self.alpha

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        share = log(self.scale / maximum(value, self.scale))
        return -expm1(self.alpha * share)

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return self.scale * exp(-log1p(-asarray(value)) / self.alpha)


@register
class InverseGamma(Gamma):
    """The distribution of inverses of gamma numbers, a prior of variances.

    >>> tw.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    @property
    def mean(self) -> Tensor:
        """Infinite up to the shape 1."""
        return self.rate / (maximum(self.concentration, 1.0) - 1)

    @property
    def mode(self) -> Tensor:
        """`rate / (concentration + 1)`."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """Infinite up to the shape 2."""
        a = maximum(self.concentration, 2.0)
        return self.rate**2 / ((a - 1) ** 2 * (a - 2))

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return inverses of gamma samples; see `Distribution`."""
        return 1 / super().rsample(sample_shape, rng=rng)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf up to 0."""
        x = asarray(value)
        inside = where(x <= 0, 1.0, x)
        size = super().log_prob(1 / inside) - 2 * log(inside)
        return where(x <= 0, -math.inf, size)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a = self.concentration
        return a + log(self.rate) + gammaln(a) - (1 + a) * digamma(a)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        x = maximum(value, float(finfo(self.rate.dtype).smallest_normal))
        return gammaincc(self.concentration, self.rate / x)


declare_public(__name__)
