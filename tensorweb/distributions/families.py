"""Distributions of the gamma family, halves of symmetric ones, and by quantiles."""

from __future__ import annotations

import math

from tensorweb.distributions.continuous import LocationScale
from tensorweb.distributions.distribution import Distribution, together
from tensorweb.dtypes import finfo
from tensorweb.errors import ShapeError
from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    argmax,
    asarray,
    astype,
    atan,
    clip,
    erf,
    exp,
    expm1,
    full_like,
    log,
    log1p,
    maximum,
    stack,
    tan,
    where,
    zeros_like,
)
from tensorweb.functions import sum as sum_of
from tensorweb.nn.classification import one_hot
from tensorweb.nn.init import Rng, generator
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.special.entropy import xlog1py, xlogy
from tensorweb.special.gamma import HALF_LOG_2PI, betaln, digamma, gammaln
from tensorweb.special.incomplete import betainc, gammainc, gammaincc
from tensorweb.special.normal import ndtri
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register


@register
class Gamma(Distribution):
    """The gamma distribution of a shape and a rate, the inverse of its scale.

    >>> tw.distributions.Gamma(2.0, 4.0).mean
    tensor(0.5)
    """

    def __init__(self, concentration: ArrayLike, rate: ArrayLike) -> None:
        """Store shape and rate, above 0; they broadcast."""
        self.concentration, self.rate = together(
            type(self).__name__, concentration, rate
        )

    @property
    def mean(self) -> Tensor:
        """The shape divided by the rate."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """0 up to the shape 1."""
        return maximum(self.concentration - 1, 0.0) / self.rate

    @property
    def variance(self) -> Tensor:
        """The mean divided by the rate."""
        return self.mean / self.rate

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return standard samples divided by the rate; see `Distribution`."""
        a = self.concentration
        source = generator(rng, a.device)
        return source.gamma(a, self.shape_of(sample_shape), a.dtype) / self.rate

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf below 0."""
        x, a = asarray(value), self.concentration
        size = xlogy(a - 1, where(x < 0, 1.0, x)) - self.rate * x
        return where(x < 0, -math.inf, size + a * log(self.rate) - gammaln(a))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a = self.concentration
        return a - log(self.rate) + gammaln(a) + (1 - a) * digamma(a)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return gammainc(self.concentration, self.rate * maximum(value, 0.0))


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


@register
class Chi2(Gamma):
    """The distribution of the sum of `df` squares of standard normal numbers.

    >>> tw.distributions.Chi2(3.0).variance
    tensor(6.)
    """

    def __init__(self, df: ArrayLike) -> None:
        """Store the degrees of freedom, above 0."""
        (freedom,) = together("Chi2", df)
        super().__init__(freedom / 2, 0.5)


@register
class Beta(Distribution):
    """The beta distribution on numbers from 0 to 1.

    >>> tw.distributions.Beta(1.0, 3.0).mean
    tensor(0.25)
    """

    def __init__(self, concentration1: ArrayLike, concentration0: ArrayLike) -> None:
        """Store both shapes, above 0: of x and of 1 - x; they broadcast."""
        self.concentration1, self.concentration0 = together(
            "Beta", concentration1, concentration0
        )

    @property
    def mean(self) -> Tensor:
        """The share of the first shape."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """`(a - 1) / (a + b - 2)`; of two shapes below 1 the end of larger density."""
        parts = stack([self.concentration1, self.concentration0], axis=-1)
        return Dirichlet(parts).mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """`m (1 - m) / (a + b + 1)` with the mean m."""
        total = self.concentration1 + self.concentration0
        return self.mean * (1 - self.mean) / (total + 1)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return samples from two gamma samples; see `Distribution`."""
        a, b = self.concentration1, self.concentration0
        source = generator(rng, a.device)
        return source.beta(a, b, self.shape_of(sample_shape), a.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf outside of 0 to 1."""
        x, a, b = asarray(value), self.concentration1, self.concentration0
        is_outside = (x < 0) | (x > 1)
        inside = where(is_outside, 0.5, x)
        size = xlogy(a - 1, inside) + xlog1py(b - 1, -inside) - betaln(a, b)
        return where(is_outside, -math.inf, size)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a, b = self.concentration1, self.concentration0
        both = (a + b - 2) * digamma(a + b)
        return betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + both

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        x = clip(value, 0.0, 1.0)
        return betainc(self.concentration1, self.concentration0, x)


@register
class Dirichlet(Distribution):
    """The distribution of shares that sum up to 1, along the last axis.

    >>> tw.distributions.Dirichlet([1.0, 3.0]).mean
    tensor([0.25, 0.75])
    """

    def __init__(self, concentration: ArrayLike) -> None:
        """Store one positive number for each share.

        Raises:
            ShapeError: it is one number.
        """
        (self.concentration,) = together("Dirichlet", concentration)
        if not self.concentration.shape:
            raise ShapeError("Dirichlet: give one number for each share, not one.")
        self.event_shape = self.concentration.shape[-1:]

    @property
    def mean(self) -> Tensor:
        """The shares of the parameters."""
        a = self.concentration
        return a / a.sum(axis=-1, keepdims=True)

    @property
    def mode(self) -> Tensor:
        """The shares of what the parameters are above 1, else all of the largest."""
        over = maximum(self.concentration - 1, 0.0)
        total = over.sum(axis=-1, keepdims=True)
        largest = one_hot(argmax(self.concentration, axis=-1), self.event_shape[0])
        shares = over / where(total > 0, total, 1.0)
        return where(total > 0, shares, astype(largest, shares.dtype))

    @property
    def variance(self) -> Tensor:
        """`m (1 - m) / (sum + 1)` with the means m."""
        total = self.concentration.sum(axis=-1, keepdims=True)
        return self.mean * (1 - self.mean) / (total + 1)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return gamma samples divided by their sum; see `Distribution`."""
        a = self.concentration
        source = generator(rng, a.device)
        shape = self.shape_of(sample_shape)[:-1]
        return source.dirichlet(a, shape, a.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of shares."""
        terms = xlogy(self.concentration - 1, asarray(value))
        return sum_of(terms, axis=-1) - self.log_normalizer()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a = self.concentration
        total = a.sum(axis=-1)
        parts = ((a - 1) * digamma(a)).sum(axis=-1)
        whole = (total - self.event_shape[0]) * digamma(total)
        return self.log_normalizer() + whole - parts

    def log_normalizer(self) -> Tensor:
        """Return the logarithm of the multivariate beta function."""
        a = self.concentration
        return gammaln(a).sum(axis=-1) - gammaln(a.sum(axis=-1))


@register
class StudentT(Distribution):
    """Student's t distribution, moved and scaled.

    >>> tw.distributions.StudentT(4.0).variance
    tensor(2.)
    """

    def __init__(
        self, df: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0
    ) -> None:
        """Store degrees of freedom, location and scale, which broadcast."""
        self.df, self.loc, self.scale = together("StudentT", df, loc, scale)

    @property
    def mean(self) -> Tensor:
        """The location; NaN up to one degree of freedom."""
        return where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite up to two degrees of freedom, NaN up to one."""
        df = where(self.df > 2, self.df, 3.0)
        low = where(self.df > 1, math.inf, math.nan)
        return where(self.df > 2, self.scale**2 * df / (df - 2), low)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return `loc + scale * t` of standard samples; see `Distribution`."""
        source = generator(rng, self.df.device)
        shape = self.shape_of(sample_shape)
        return self.loc + self.scale * source.t(self.df, shape, self.df.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density of values."""
        y, df = (asarray(value) - self.loc) / self.scale, self.df
        size = log(self.scale) + 0.5 * log(df) + betaln(0.5, df / 2)
        return -0.5 * (df + 1) * log1p(y * y / df) - size

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        df, half = self.df, (self.df + 1) / 2
        size = log(self.scale) + 0.5 * log(df) + betaln(0.5, df / 2)
        return size + half * (digamma(half) - digamma(df / 2))


class _Half(Distribution):
    """The absolute value of a symmetric distribution around 0."""

    def __init__(self, scale: ArrayLike) -> None:
        """Store the scale, above 0."""
        (self.scale,) = together(type(self).__name__, scale)

    @property
    def mode(self) -> Tensor:
        """0."""
        return zeros_like(self.scale)

    def _log_density(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the density, -inf below 0."""
        x = asarray(value)
        size = self._log_density(x / self.scale) - log(self.scale)
        return where(x < 0, -math.inf, size)


@register
class HalfNormal(_Half):
    """The distribution of absolute values of normal numbers of mean 0.

    >>> tw.distributions.HalfNormal(1.0).log_prob(-1.0)
    tensor(-inf)
    """

    @property
    def mean(self) -> Tensor:
        """`scale sqrt(2 / pi)`."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """`scale² (1 - 2 / pi)`."""
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return absolute values of normal samples; see `Distribution`."""
        source = generator(rng, self.scale.device)
        drawn = source.normal(self.shape_of(sample_shape), self.scale.dtype)
        return absolute(drawn) * self.scale

    def _log_density(self, y: Tensor) -> Tensor:
        return -0.5 * y * y + (math.log(2) - HALF_LOG_2PI)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale) + (0.5 + HALF_LOG_2PI - math.log(2))

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return erf(maximum(value, 0.0) / self.scale * math.sqrt(0.5))

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        return self.scale * ndtri((asarray(value) + 1) / 2)


@register
class HalfCauchy(_Half):
    """The distribution of absolute values of Cauchy numbers around 0.

    >>> tw.distributions.HalfCauchy(1.0).mean
    tensor(inf)
    """

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.mean

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return absolute values of Cauchy samples; see `Distribution`."""
        source = generator(rng, self.scale.device)
        drawn = source.cauchy(self.shape_of(sample_shape), self.scale.dtype)
        return absolute(drawn) * self.scale

    def _log_density(self, y: Tensor) -> Tensor:
        return math.log(2 / math.pi) - log1p(y * y)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale) + math.log(2 * math.pi)

    def cdf(self, value: ArrayLike) -> Tensor:
        """Return the probability of smaller values."""
        return atan(maximum(value, 0.0) / self.scale) * (2 / math.pi)

    def icdf(self, value: ArrayLike) -> Tensor:
        """Return the value below which a probability lies."""
        p, quarter = asarray(value), math.pi / 2
        tail = 1 / tan((1 - p) * quarter)  # Infinite at 1; π / 2 is rounded.
        return self.scale * where(p < 0.5, tan(p * quarter), tail)


EULER = 0.5772156649015329
"""The constant of Euler and Mascheroni."""


class _ByQuantile(Distribution):
    """A distribution that is sampled by its quantiles."""

    scale: Tensor

    def rsample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return quantiles of uniform numbers; see `Distribution`."""
        dtype, shape = self.scale.dtype, self.shape_of(sample_shape)
        drawn = generator(rng, self.scale.device).uniform(shape, dtype)
        return self.icdf(maximum(drawn, float(finfo(dtype).eps)))


@register
class Cauchy(_ByQuantile, LocationScale):
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
class Gumbel(_ByQuantile, LocationScale):
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


declare_public(__name__)
