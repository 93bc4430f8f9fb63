"""Draws of families: distributions, derivatives, edges, `jit`, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw

COUNT = 4_000

CONTINUOUS: dict[str, tuple[Callable[[tw.Tensor], tw.Tensor], Any]] = {
    "gamma, 1/2": (
        lambda key: tw.random.gamma(key, 0.5, (COUNT,)),
        lambda x: math.erf(math.sqrt(x)),
    ),
    "gamma, 3": (
        lambda key: tw.random.gamma(key, 3.0, (COUNT,)),
        lambda x: 1 - math.exp(-x) * (1 + x + x * x / 2),
    ),
    "beta": (lambda key: tw.random.beta(key, 2.0, 1.0, (COUNT,)), lambda x: x * x),
    "t": (
        lambda key: tw.random.t(key, 2.0, (COUNT,)),
        lambda x: 0.5 + x / (2 * math.sqrt(2 + x * x)),
    ),
    "cauchy": (
        lambda key: tw.random.cauchy(key, (COUNT,)),
        lambda x: 0.5 + math.atan(x) / math.pi,
    ),
    "logistic": (
        lambda key: tw.random.logistic(key, (COUNT,)),
        lambda x: 1 / (1 + math.exp(-x)),
    ),
    "ball": (
        lambda key: tw.sqrt((tw.random.ball(key, 3, shape=(COUNT,)) ** 2).sum(-1)),
        lambda x: x**3,
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_shares_are_those_of_the_distribution(name: str, cpu: str) -> None:
    """Kolmogorov and Smirnov: 1.95 / sqrt(n) is passed once in a thousand keys."""
    sample, below = CONTINUOUS[name]
    drawn = sorted(sample(tw.random.key(5)).tolist())
    gaps = [abs(below(x) - (k + 0.5) / COUNT) for k, x in enumerate(drawn)]
    assert max(gaps) < 1.95 / math.sqrt(COUNT)


@pytest.mark.parametrize(
    ("sample", "mean", "variance"),
    [
        (lambda key: tw.random.poisson(key, 4.0, (COUNT,)), 4, 4),
        (lambda key: tw.random.poisson(key, 50.0, (COUNT,)), 50, 50),
        (lambda key: tw.random.binomial(key, 20, 0.3, (COUNT,)), 6, 4.2),
        (lambda key: tw.random.binomial(key, 200, 0.7, (COUNT,)), 140, 42),
    ],
)
def test_counts_have_their_moments(
    sample: Any, mean: float, variance: float, cpu: str
) -> None:
    drawn = sample(tw.random.key(9)).astype("float32")
    assert drawn.mean().item() == pytest.approx(
        mean, abs=5 * math.sqrt(variance / COUNT)
    )
    assert drawn.var().item() == pytest.approx(variance, rel=0.12)


@pytest.mark.parametrize("shape", [0.05, 0.7, 3.0, 60.0])
@tw.device("cpu")
def test_a_gamma_sample_moves_with_its_shape_as_its_quantile(shape: float) -> None:
    key = tw.random.key(3)
    a = tw.full((5,), shape, dtype="float64", device="cpu")

    def drawn(a: tw.Tensor) -> tw.Tensor:
        return tw.random.gamma(key, a, dtype="float64")

    special = tw.scipy.special
    x, found = drawn(a), tw.grad(lambda a: drawn(a).sum())(a)
    # The probability below a quantile does not change.
    step = 1e-6 * shape
    by_shape = special.gammainc(a + step, x) - special.gammainc(a - step, x)
    density = tw.grad(lambda x: special.gammainc(a, x).sum())(x)
    expected = -by_shape / (2 * step) / density
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-12)

    def logarithm(a: tw.Tensor) -> tw.Tensor:
        return tw.random.loggamma(key, a, dtype="float64").sum()

    ratio = tw.grad(logarithm)(a) * x / found
    assert ratio.tolist() == pytest.approx([1.0] * 5, rel=1e-6)


def test_draws_are_compiled_and_mapped(device: str) -> None:
    def draw(key: tw.Tensor) -> tw.Tensor:
        return tw.random.gamma(key, 1.5, (3,))

    keys = tw.random.split(tw.random.key(1, device=device), 2)
    expected = [draw(keys[i]).tolist() for i in range(2)]
    assert tw.jit(draw)(keys[0]).tolist() == pytest.approx(expected[0])
    for found, row in zip(tw.vmap(draw)(keys).tolist(), expected, strict=True):
        assert found == pytest.approx(row)


def test_edges_of_parameters(cpu: str) -> None:
    key = tw.random.key(0)
    assert tw.random.gamma(key, tw.ones((0, 2))).shape == (0, 2)
    assert tw.random.poisson(key, 0.0, (3,)).tolist() == [0, 0, 0]
    assert tw.random.binomial(key, 7, tw.asarray([0.0, 1.0])).tolist() == [0.0, 7.0]
    assert math.isnan(tw.random.binomial(key, 7, 1.5).item())
    assert tw.random.poisson(key, tw.ones((0,))).shape == (0,)
    small = tw.random.beta(key, 0.001, 0.001, (9,))
    assert bool(((small >= 0) & (small <= 1)).all())


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda r, k: r.poisson(k, 1.0, dtype="float32"), tw.DTypeError, "integer"),
        (lambda r, k: r.gamma(k, 1.0, dtype="int32"), tw.DTypeError, "float"),
        (lambda r, k: r.gamma(k, tw.ones(3), (2,)), tw.ShapeError, "broadcast"),
        (lambda r, k: r.dirichlet(k, 1.0), tw.ShapeError, "each share"),
        (
            lambda r, k: r.multivariate_normal(k, tw.ones(2), tw.eye(3)),
            tw.ShapeError,
            "do not fit",
        ),
        (lambda r, k: r.gamma(7, 1.0), tw.DTypeError, "key"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(tw.random, tw.random.key(0))


def test_a_poisson_sample_of_nan_is_that_of_jax() -> None:
    mean = tw.asarray([math.nan, 0.0])
    assert tw.random.poisson(tw.random.key(0), mean).tolist() == [-1, 0]
