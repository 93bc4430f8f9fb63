"""Distributions of 0 and 1, and of categories."""

from __future__ import annotations

import math

from tensorweb.distributions.distribution import Distribution, together
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import (
    argmax,
    asarray,
    astype,
    broadcast_to,
    expand_dims,
    log,
    log1p,
    squeeze,
    take_along_axis,
    where,
)
from tensorweb.functions import sum as sum_of
from tensorweb.nn.activations import log_softmax, logsigmoid, sigmoid, softmax
from tensorweb.nn.init import Rng, generator
from tensorweb.public_names import declare_public
from tensorweb.random.keys import Lengths
from tensorweb.shapes import broadcast_shapes
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


declare_public(__name__)
