"""Samples follow their distributions: moments, tails and frequencies, within 5 sigma.

Keys are fixed, so that a result is right or wrong and never now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import pytest

import tensorweb as tw

COUNT = 200_000
SIGMAS = 5

Cumulative = Callable[[float], float]
"""The share of a distribution below a number."""

EULER = 0.5772156649015329


def key(seed: int = 11) -> tw.Tensor:
    return tw.random.key(seed)


def truncated(x: float) -> float:
    whole = NormalDist()
    low, high = whole.cdf(-1), whole.cdf(2)
    return (min(max(whole.cdf(x), low), high) - low) / (high - low)


DISTRIBUTIONS: dict[str, tuple[Callable[[], tw.Tensor], Cumulative, float, float]] = {
    "uniform": (
        lambda: tw.random.uniform(key(), COUNT, minval=2, maxval=6),
        lambda x: min(max((x - 2) / 4, 0), 1),
        4,
        16 / 12,
    ),
    "normal": (lambda: tw.random.normal(key(), COUNT), NormalDist().cdf, 0, 1),
    "truncated_normal": (
        lambda: tw.random.truncated_normal(key(), -1.0, 2.0, COUNT),
        truncated,
        0.2296,
        0.5199,
    ),
    "exponential": (
        lambda: tw.random.exponential(key(), COUNT),
        lambda x: 1 - math.exp(-max(x, 0)),
        1,
        1,
    ),
    "gumbel": (
        lambda: tw.random.gumbel(key(), COUNT),
        lambda x: math.exp(-math.exp(-x)),
        EULER,
        math.pi**2 / 6,
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_samples_have_their_moments_and_shares(name: str, cpu: str) -> None:
    sample, below, mean, variance = DISTRIBUTIONS[name]
    drawn = tw.realize(sample())
    error = SIGMAS * math.sqrt(variance / COUNT)
    assert drawn.mean().item() == pytest.approx(mean, abs=error)
    assert drawn.var().item() == pytest.approx(variance, rel=0.03)
    for x in (-2.5, -1.0, -0.1, 0.4, 1.3, 2.5, 3.3, 5.0):
        share, expected = (drawn < x).astype(tw.float32).mean().item(), below(x)
        slack = SIGMAS * math.sqrt(expected * (1 - expected) / COUNT) + 1e-6
        assert share == pytest.approx(expected, abs=slack), x


def chi_square(found: list[int], expected: list[float]) -> float:
    """Return how many sigmas the sum of squares is above what is expected."""
    pairs = zip(found, expected, strict=True)
    total = sum((got - want) ** 2 / want for got, want in pairs)
    freedom = len(found) - 1
    return (total - freedom) / math.sqrt(2 * freedom)


def frequencies(drawn: tw.Tensor, count: int) -> list[int]:
    return [(drawn == value).sum().item() for value in range(count)]


WEIGHTS = (0.05, 0.1, 0.15, 0.3, 0.4)

COUNTED: dict[str, tuple[Callable[[], tw.Tensor], tuple[float, ...]]] = {
    "randint": (lambda: tw.random.randint(key(), COUNT, 0, 7), (1 / 7,) * 7),
    "randint of tensors": (
        lambda: tw.random.randint(key(), COUNT, 0, tw.asarray(7)),
        (1 / 7,) * 7,
    ),
    "bernoulli": (
        lambda: tw.random.bernoulli(key(), 0.3, COUNT).astype(tw.int32),
        (0.7, 0.3),
    ),
    "categorical": (
        lambda: tw.random.categorical(key(), tw.log(WEIGHTS), shape=COUNT),
        WEIGHTS,
    ),
    "choice": (
        lambda: tw.random.choice(key(), 5, (COUNT,), p=tw.asarray(WEIGHTS)),
        WEIGHTS,
    ),
    "first of an order": (
        lambda: tw.vmap(lambda key: tw.random.permutation(key, 6)[0])(
            tw.random.split(key(), 6000)
        ),
        (1 / 6,) * 6,
    ),
    "first of two without replacement": (
        lambda: tw.vmap(
            lambda key: tw.random.choice(
                key, 5, (2,), replace=False, p=tw.asarray(WEIGHTS)
            )[0]
        )(tw.random.split(key(), 6000)),
        WEIGHTS,
    ),
    "low bits": (
        lambda: (tw.random.bits(key(), COUNT) & 15).astype(tw.int32),
        (1 / 16,) * 16,
    ),
    "high bits": (
        lambda: (tw.random.bits(key(), COUNT) >> 28).astype(tw.int32),
        (1 / 16,) * 16,
    ),
    "pairs of neighbours": (
        lambda: tw.sum(
            (tw.random.bits(key(), (COUNT, 2)) >> 30).astype(tw.int32)
            * tw.asarray([1, 4]),
            axis=1,
        ),
        (1 / 16,) * 16,
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_values_are_as_frequent_as_they_shall_be(name: str, cpu: str) -> None:
    sample, shares = COUNTED[name]
    drawn = tw.realize(sample())
    found = frequencies(drawn, len(shares))
    assert sum(found) == drawn.size
    assert abs(chi_square(found, [drawn.size * x for x in shares])) < SIGMAS


def test_an_order_has_everything_once(cpu: str) -> None:
    order = tw.random.permutation(key(), 5000)
    assert sorted(order.tolist()) == [*range(5000)]
    fixed = (order == tw.arange(5000)).sum().item()
    assert fixed < 8
    rows = tw.random.permutation(key(), tw.arange(60).reshape((6, 10)), axis=1)
    columns = rows.T.tolist()
    assert sorted(columns) == [[*range(n, 60, 10)] for n in range(10)]
    drawn = tw.random.choice(key(), 50, (50,), replace=False)
    assert sorted(drawn.tolist()) == [*range(50)]
