"""`np.random`: distributions by their moments, seeds, orders and choices."""

from __future__ import annotations

import math

import numpy
import pytest

import tensorweb.numpy as np
from tensorweb.errors import DataError, RangeError, TraceError
from tensorweb.transforms.jit import jit

COUNT = 4000

MOMENTS: dict[str, tuple[float, float]] = {
    "uniform(-1, 3)": (1, 16 / 12),
    "normal(2, 3)": (2, 9),
    "exponential(2)": (2, 4),
    "gumbel(1, 2)": (1 + 2 * 0.5772, math.pi**2 / 6 * 4),
    "laplace(1, 2)": (1, 8),
    "logistic(1, 0.5)": (1, math.pi**2 / 12),
    "lognormal(0, 0.5)": (math.exp(0.125), (math.exp(0.25) - 1) * math.exp(0.25)),
    "rayleigh(2)": (2 * math.sqrt(math.pi / 2), (4 - math.pi) / 2 * 4),
    "weibull(2)": (math.sqrt(math.pi) / 2, 1 - math.pi / 4),
    "power(2)": (2 / 3, 1 / 18),
    "triangular(0, 1, 3)": (4 / 3, 7 / 18),
    "standard_gamma(0.5)": (0.5, 0.5),
    "gamma(3, 2)": (6, 12),
    "beta(2, 3)": (0.4, 0.04),
    "chisquare(3)": (3, 6),
    "standard_t(12)": (0, 1.2),
    "poisson(0.7)": (0.7, 0.7),
    "poisson(150)": (150, 150),
    "binomial(12, 0.3)": (3.6, 2.52),
    "geometric(0.4)": (2.5, 3.75),
    "negative_binomial(3, 0.4)": (4.5, 11.25),
    "hypergeometric(12, 8, 5)": (3, 5 * 0.6 * 0.4 * 15 / 19),
    "randint(-3, 5)": (0.5, 63 / 12),
    "random()": (0.5, 1 / 12),
}


@pytest.mark.parametrize("call", MOMENTS)
def test_distributions_have_their_mean_and_variance(cpu: str, call: str) -> None:
    np.random.seed(5)
    draw = call[:-1] + (", " if call[-2] != "(" else "") + f"size={COUNT})"
    sample = eval(f"np.random.{draw}").numpy().astype("float64")
    mean, variance = MOMENTS[call]
    spread = 4.5 * math.sqrt(variance / COUNT)
    assert abs(sample.mean() - mean) < spread
    assert 0.8 * variance < sample.var() < 1.25 * variance


def test_a_seed_begins_anew(device: str) -> None:
    np.random.seed(1)
    first = [np.random.rand(3), np.random.randint(0, 9, 4)]
    np.random.seed(1)
    again = [np.random.rand(3), np.random.randint(0, 9, 4)]
    for a, b in zip(first, again, strict=True):
        assert a.device == device
        assert a.tolist() == b.tolist()
    assert np.random.rand(3).tolist() != first[0].tolist()
    seeds = [np.random.default_rng(seed).random().item() for seed in (7, 7, [7, 1])]
    assert seeds[0] == seeds[1] != seeds[2]


def test_orders_and_choices(cpu: str) -> None:
    rng = np.random.default_rng(3)
    x = np.arange(12).reshape(4, 3)
    kept = sorted(x.tolist())
    rng.shuffle(x)
    words = list("abcdef")
    rng.shuffle(words)
    assert sorted(x.tolist()) == kept
    assert "".join(sorted(words)) == "abcdef"
    assert sorted(rng.permutation(7).tolist()) == list(range(7))
    assert rng.permuted(x, axis=1).sum(1).tolist() == x.sum(1).tolist()
    assert sorted(rng.choice(5, 5, replace=False).tolist()) == list(range(5))
    drawn = rng.choice([1.0, 2.0, 3.0], 500, p=[0.0, 0.25, 0.75])
    assert 0.65 < (drawn == 3).mean().item() < 0.85
    assert (drawn == 1).sum().item() == 0
    ends = rng.integers(2, 4, size=60, endpoint=True)
    assert sorted(set(ends.tolist())) == [2, 3, 4]


def test_vectors_of_numbers(cpu: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([1, -1], [[2, 1], [1, 3]], 3000)
    assert numpy.allclose(rows.mean(0).numpy(), [1, -1], atol=0.15)
    assert numpy.allclose(np.cov(rows.T).numpy(), [[2, 1], [1, 3]], atol=0.35)
    assert numpy.allclose(
        rng.dirichlet([1, 2, 5], 2000).mean(0).numpy(), [1 / 8, 1 / 4, 5 / 8], atol=0.03
    )
    counts = rng.multinomial(50, [0.2, 0.3, 0.5], 200)
    assert counts.sum(1).tolist() == [50] * 200
    assert numpy.allclose(counts.astype(float).mean(0).numpy(), [10, 15, 25], atol=1.2)
    means = rng.poisson(np.asarray([[1.0], [40.0]]), (2, 900)).mean(1)
    assert numpy.allclose(means.numpy(), [1, 40], rtol=0.1)
    assert rng.normal(np.asarray([0.0, 100.0]), 1).shape == (2,)


def test_wrong_parameters_are_refused(cpu: str) -> None:
    with pytest.raises(DataError, match="scale is -1"):
        np.random.normal(0, -1)
    with pytest.raises(RangeError, match="lam is -2"):
        np.random.poisson(-2)
    with pytest.raises(RangeError, match="and p 1"):
        np.random.binomial(3, 1.5)
    with pytest.raises(AttributeError, match="no attribute 'wald'"):
        getattr(np.random, "wald")  # noqa: B009  # type checkers know it is not there


def test_a_recording_draws_nothing_that_is_hidden(webgpu: str) -> None:
    np.random.seed(0)
    for _ in range(2):  # before and after there is a key
        with pytest.raises(TraceError, match=r"np\.random|Generator"):
            jit(lambda x: x + np.random.rand(3))(np.zeros(3))
        np.random.rand(1)


def test_the_last_outcome_has_the_remaining_probability(cpu: str) -> None:
    rng = np.random.default_rng(5)
    counts = rng.multinomial(1000, [0.25, 0.5])
    assert 200 < counts[0].item() < 300
    with pytest.raises(DataError, match="all but the last one together"):
        rng.multinomial(10, [0.9, 0.3, 0.1])
