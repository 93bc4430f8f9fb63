"""Distributions of 0 and 1, of categories, and of counts."""

from __future__ import annotations

import math

from tensorweb.distributions.distribution import Distribution, together
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import (
    argmax,
    asarray,
    astype,
    broadcast_to,
    exp,
    expand_dims,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    squeeze,
    take_along_axis,
    where,
    zeros_like,
)
from tensorweb.functions import sum as sum_of
from tensorweb.nn.activations import log_softmax, logsigmoid, sigmoid, softmax
from tensorweb.nn.classification import one_hot
from tensorweb.nn.init import Rng, generator
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.shapes import broadcast_shapes
from tensorweb.special.entropy import xlogy
from tensorweb.special.gamma import gammaln
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register


class _FromLogits(Distribution):
    """A discrete distribution, given by probabilities or by logits.

    Attributes:
        logits: logarithms of odds or of normalized probabilities.
        probs: probabilities.
    """

    logits: Tensor
    probs: Tensor

    def _given(self, probs: ArrayLike | None, logits: ArrayLike | None) -> Tensor:
        """Return what was given.

        Raises:
            DataError: none or both are given.
        """
        if (probs is None) == (logits is None):
            raise DataError(
                f"{type(self).__name__}: give either probs or logits, not "
                f"{'none' if probs is None else 'both'} of them."
            )
        (given,) = together(type(self).__name__, probs if logits is None else logits)
        return given


@register
class Bernoulli(_FromLogits):
    """The distribution of 1 with probability `probs`, else 0; samples are floats.

    >>> tw.distributions.Bernoulli(probs=[0.25, 0.5]).log_prob([1.0, 0.0])
    tensor([-1.3862944, -0.6931472])
    """

    def __init__(
        self, probs: ArrayLike | None = None, logits: ArrayLike | None = None
    ) -> None:
        """Store probabilities, or logits, their log odds.

        Raises:
            DataError: none or both are given.
        """
        given = self._given(probs, logits)
        self.probs = given if logits is None else sigmoid(given)
        self.logits = log(given) - log1p(-given) if logits is None else given

    @property
    def mean(self) -> Tensor:
        """The probability of 1."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """1 above a probability of a half, NaN at it."""
        half = where(self.probs == 0.5, math.nan, 0.0)
        return where(self.probs > 0.5, 1.0, half)

    @property
    def variance(self) -> Tensor:
        """`probs (1 - probs)`."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return 0.0 and 1.0; see `Distribution`."""
        source = generator(rng, self.probs.device)
        drawn = source.bernoulli(self.probs, self.shape_of(sample_shape))
        return astype(drawn, self.probs.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of 0 or 1."""
        x = asarray(value)
        return self._log_chances(x, 1 - x)

    def _log_chances(self, ones: Tensor, zeros: Tensor) -> Tensor:
        """Return the logarithm of the probability of a sequence, by its counts."""
        return _product(ones, logsigmoid(self.logits)) + _product(
            zeros, logsigmoid(-self.logits)
        )

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -self.log_prob(self.probs)


@register
class Categorical(_FromLogits):
    """The distribution of categories 0, 1, … along the last axis of its parameters.

    >>> tw.distributions.Categorical(probs=[0.25, 0.75]).log_prob(0)
    tensor(-1.3862944)
    """

    def __init__(
        self, probs: ArrayLike | None = None, logits: ArrayLike | None = None
    ) -> None:
        """Store probabilities, or logits, normalized along the last axis.

        Raises:
            DataError: none or both are given.
            ShapeError: they have no axis.
        """
        given = self._given(probs, logits)
        if not given.shape:
            raise ShapeError("Categorical: give one number for each category, not one.")
        if logits is None:
            self.probs = given / sum_of(given, axis=-1, keepdims=True)
            self.logits = log(self.probs)
        else:
            self.logits = log_softmax(given, axis=-1)
            self.probs = softmax(given, axis=-1)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of independent distributions."""
        return self.logits.shape[:-1]

    @property
    def mean(self) -> Tensor:
        """Not a number: categories have no mean."""
        return broadcast_to(asarray(math.nan, self.logits.dtype), self.batch_shape)

    @property
    def mode(self) -> Tensor:
        """The most probable category, an integer."""
        return argmax(self.probs, axis=-1)

    @property
    def variance(self) -> Tensor:
        """Not a number: categories have no variance."""
        return self.mean

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return categories, int32; see `Distribution`."""
        source = generator(rng, self.logits.device)
        return source.categorical(self.logits, shape=self.shape_of(sample_shape))

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of categories, integers.

        Raises:
            DTypeError: the values are no integers.
            ShapeError: the shapes do not broadcast.
            TensorIndexError: there is no such category.
        """
        category = asarray(value)
        if category.dtype.kind not in ("int", "uint"):
            raise DTypeError(
                f"Categorical: values are {category.dtype}; categories are integers, "
                "convert them with astype(tw.int32)."
            )
        shape = broadcast_shapes(category.shape, self.batch_shape)
        categories = self.logits.shape[-1]
        if category.dtype.kind == "int":  # Below 0 it would count from the last one.
            end = asarray(categories, device=category.device)
            category = where(category < 0, end, category)
        index = expand_dims(broadcast_to(category, shape), axis=-1)
        logits = broadcast_to(self.logits, (*shape, categories))
        return squeeze(take_along_axis(logits, index, axis=-1), axis=-1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats; a category of probability 0 adds nothing."""
        return -sum_of(_product(self.probs, self.logits), axis=-1)


def _product(chance: Tensor, logarithm: Tensor) -> Tensor:
    """Return the product, 0 with derivatives of 0 where the chance is 0."""
    return chance * where(chance != 0, logarithm, 0.0)


@register
class Poisson(Distribution):
    """The Poisson distribution of a rate; samples are floats.

    >>> tw.distributions.Poisson(3.0).log_prob(0.0)
    tensor(-3.)
    """

    def __init__(self, rate: ArrayLike) -> None:
        """Store the rate, from 0."""
        (self.rate,) = together("Poisson", rate)

    @property
    def mean(self) -> Tensor:
        """The rate."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """The rate, rounded down."""
        return floor(self.rate)

    @property
    def variance(self) -> Tensor:
        """The rate."""
        return self.rate

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return counts as floats; see `Distribution`."""
        source = generator(rng, self.rate.device)
        drawn = source.poisson(self.rate, self.shape_of(sample_shape))
        return astype(drawn, self.rate.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of counts."""
        x = asarray(value)
        return xlogy(x, self.rate) - self.rate - gammaln(x + 1)


@register
class Geometric(Bernoulli):
    """The distribution of failures before the first success.

    >>> tw.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    @property
    def mean(self) -> Tensor:
        """`1 / probs - 1`."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        """0."""
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """The mean divided by `probs`."""
        return self.mean / self.probs

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return counts as floats; see `Distribution`."""
        source = generator(rng, self.probs.device)
        drawn = source.exponential(self.shape_of(sample_shape), self.probs.dtype)
        return floor(drawn / -log1p(-self.probs))

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of counts."""
        x = asarray(value)
        return _product(x, logsigmoid(-self.logits)) + logsigmoid(self.logits)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -self.log_prob(self.mean)


@register
class Binomial(Bernoulli):
    """The distribution of successes among a count of trials; samples are floats.

    >>> tw.distributions.Binomial(4, 0.25).log_prob(4.0)
    tensor(-5.5451775)
    """

    def __init__(
        self,
        total_count: ArrayLike = 1,
        probs: ArrayLike | None = None,
        logits: ArrayLike | None = None,
    ) -> None:
        """Store the count of trials, and probabilities or log odds of successes.

        Raises:
            DataError: none or both are given.
        """
        super().__init__(probs, logits)
        self.total_count, self.probs, self.logits = together(
            type(self).__name__, total_count, self.probs, self.logits
        )

    @property
    def mean(self) -> Tensor:
        """The probability times the count."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """`(total_count + 1) probs`, rounded down, and at most the count."""
        return minimum(floor((self.total_count + 1) * self.probs), self.total_count)

    @property
    def variance(self) -> Tensor:
        """`total_count probs (1 - probs)`."""
        return self.mean * (1 - self.probs)

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return counts as floats; see `Distribution`."""
        count = self.total_count
        source = generator(rng, count.device)
        shape = self.shape_of(sample_shape)
        return source.binomial(count, self.probs, shape, count.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of counts."""
        x = asarray(value)
        rest = self.total_count - x
        ways = gammaln(x + rest + 1) - gammaln(x + 1) - gammaln(rest + 1)
        return ways + self._log_chances(x, rest)

    entropy = Distribution.entropy


@register
class NegativeBinomial(Binomial):
    """The distribution of successes of probability `probs` before failures.

    >>> tw.distributions.NegativeBinomial(2.0, 0.5).mean
    tensor(2.)
    """

    def __init__(
        self,
        total_count: ArrayLike,
        probs: ArrayLike | None = None,
        logits: ArrayLike | None = None,
    ) -> None:
        """Store the count of failures, and probabilities or log odds of successes.

        Raises:
            DataError: none or both are given.
        """
        super().__init__(total_count, probs, logits)

    @property
    def mean(self) -> Tensor:
        """`total_count` times the odds."""
        return self.total_count * exp(self.logits)

    @property
    def mode(self) -> Tensor:
        """0 up to one failure."""
        return maximum(floor((self.total_count - 1) * exp(self.logits)), 0.0)

    @property
    def variance(self) -> Tensor:
        """The mean divided by the probability of a failure."""
        return self.mean / (1 - self.probs)

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return Poisson samples of gamma distributed rates; see `Distribution`."""
        count = self.total_count
        source = generator(rng, count.device)
        shape = self.shape_of(sample_shape)
        rate = source.gamma(count, shape, count.dtype) * exp(self.logits)
        return astype(source.poisson(rate), count.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of counts."""
        x, count = asarray(value), self.total_count
        ways = gammaln(count + x) - gammaln(x + 1) - gammaln(count)
        return self._log_chances(x, count) + ways


@register
class OneHotCategorical(Categorical):
    """The distribution of categories as vectors: 1 at the category, else 0.

    >>> tw.distributions.OneHotCategorical(probs=[0.25, 0.75]).log_prob([1.0, 0.0])
    tensor(-1.3862944)
    """

    def __init__(
        self, probs: ArrayLike | None = None, logits: ArrayLike | None = None
    ) -> None:
        """Store probabilities, or logits, normalized along the last axis.

        Raises:
            DataError: none or both are given.
            ShapeError: they have no axis.
        """
        super().__init__(probs, logits)
        self.event_shape = self.logits.shape[-1:]

    @property
    def mean(self) -> Tensor:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The vector of the most probable category."""
        return astype(one_hot(super().mode, self.event_shape[0]), self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        """`probs (1 - probs)`."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return vectors of 0 and 1, floats; see `Distribution`."""
        source = generator(rng, self.logits.device)
        shape = self.shape_of(sample_shape)[:-1]
        drawn = source.categorical(self.logits, shape=shape)
        return astype(one_hot(drawn, self.event_shape[0]), self.logits.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of vectors of 0 and 1."""
        return sum_of(_product(asarray(value), self.logits), axis=-1)


@register
class Multinomial(OneHotCategorical):
    """The distribution of how often each category comes in a count of draws.

    >>> tw.distributions.Multinomial(4, probs=[0.25, 0.75]).mean
    tensor([1., 3.])
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: ArrayLike | None = None,
        logits: ArrayLike | None = None,
    ) -> None:
        """Store the count, and probabilities or logits along the last axis.

        Raises:
            DataError: none or both are given.
            ShapeError: they have no axis.
        """
        super().__init__(probs, logits)
        self.total_count = total_count

    @property
    def mean(self) -> Tensor:
        """The probabilities times the count."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """`total_count probs (1 - probs)`."""
        return self.mean * (1 - self.probs)

    def sample(self, sample_shape: Lengths = (), *, rng: Rng = None) -> Tensor:
        """Return counts as floats; see `Distribution`."""
        source = generator(rng, self.probs.device)
        shape = self.shape_of(sample_shape)
        chances = broadcast_to(self.probs, shape)
        return source.multinomial(self.total_count, chances, dtype=self.probs.dtype)

    def log_prob(self, value: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of counts."""
        x = asarray(value)
        ways = gammaln(sum_of(x, axis=-1) + 1) - sum_of(gammaln(x + 1), axis=-1)
        return ways + super().log_prob(x)

    mode, entropy = Distribution.mode, Distribution.entropy


declare_public(__name__)
