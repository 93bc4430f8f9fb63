"""Distributions give what PyTorch's give, and samples have their moments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distribution_cases import CASES, CHANCES, OTHERS

import tensorweb as tw
from tensorweb import distributions

FILE = Path(__file__).parents[1] / "references" / "distributions.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())["cases"]


def made(name: str, parameters: dict[str, Any], dtype: Any) -> Any:
    given = {key: tw.asarray(value, dtype) for key, value in parameters.items()}
    return getattr(distributions, CASES[name][0])(**given)


MOMENTLESS = (
    *("categorical", "categorical, logits", "student", "half cauchy"),
    *("cauchy", "pareto", "inverse gamma"),
)
"""Without a mean, or without a variance whose estimate converges."""


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_pytorch(name: str, device: str) -> None:
    dtype, bound = ("float64", 1e-10) if device == "cpu" else ("float32", 2e-5)
    with tw.device(device):
        _, parameters, values = CASES[name]
        one = made(name, parameters, dtype)
        is_float = tw.asarray(values).dtype.kind == "float"
        x = tw.asarray(values, dtype if is_float else None)
        how: dict[str, Callable[[], tw.Tensor]] = {
            "log_prob": lambda: one.log_prob(x),
            "mean": lambda: one.mean,
            "mode": lambda: one.mode,
            "variance": lambda: one.variance,
            "entropy": one.entropy,
            "cdf": lambda: one.cdf(x),
            "icdf": lambda: one.icdf(tw.asarray(CHANCES, dtype)),
            "kl_divergence": lambda: distributions.kl_divergence(
                one, made(name, OTHERS[name], dtype)
            ),
        }
        for key, (shape, numbers) in RECORDED[name].items():
            found = how[key]()
            assert list(found.shape) == shape, key
            expected = [float(x) for x in numbers]
            got = found.reshape(-1).tolist()
            assert got == pytest.approx(expected, bound, bound, nan_ok=True), key


@pytest.mark.parametrize("name", [x for x in CASES if x not in MOMENTLESS])
def test_samples_have_the_moments(name: str) -> None:
    one = made(name, CASES[name][1], "float32")
    drawn = one.sample((20_000,), rng=7)
    assert drawn.shape == (20_000, *one.batch_shape, *one.event_shape)
    mean, spread = drawn.mean(axis=0), one.stddev / math.sqrt(20_000)
    assert ((mean - one.mean).abs() <= 5 * spread + 1e-6).all()
    assert ((drawn.std(axis=0) - one.stddev).abs() <= 0.1 * one.stddev + 1e-6).all()


QUANTILES = [x for x in CASES if {"cdf", "icdf"} & {*RECORDED[x]}]


@pytest.mark.parametrize("name", QUANTILES)
def test_samples_have_the_quantiles(name: str) -> None:
    one = made(name, CASES[name][1], "float32")
    shares = one.cdf(one.sample((20_000,), rng=7))
    for chance in CHANCES:
        found = (shares < chance).astype("float32").mean(0)
        assert ((found - chance).abs() < 0.02).all()
    if "icdf" in RECORDED[name]:
        p = tw.linspace(0.05, 0.95, 7).reshape((-1, *[1] * len(one.batch_shape)))
        assert ((one.cdf(one.icdf(p)) - p).abs() < 1e-5).all()
        x = one.icdf(p)
        density = tw.grad(lambda x: one.cdf(x).sum())(x)
        assert ((density.log() - one.log_prob(x)).abs() < 1e-3).all()
        inverse = tw.grad(lambda p: one.icdf(p).sum())(p + 0.0 * x)
        assert ((density * inverse - 1).abs() < 1e-3).all()
    one = distributions.Beta(2.0, 3.0)
    assert one.cdf([-1.0, 0.5, 2.0]).tolist() == pytest.approx([0, 0.6875, 1])
    with pytest.raises(tw.DataError, match="Beta: its icdf has no formula"):
        one.icdf(0.5)


def test_categories_come_as_often_as_their_probability() -> None:
    one = distributions.Categorical(
        probs=tw.asarray([[1.0, 2.0, 5.0], [8.0, 0.0, 0.0]])
    )
    drawn = one.sample((8_000,), rng=3)
    assert (drawn.shape, str(drawn.dtype)) == ((8_000, 2), "int32")
    for row in range(2):
        shares = [(drawn[:, row] == k).mean(dtype="float32").item() for k in range(3)]
        assert shares == pytest.approx(one.probs[row].tolist(), abs=0.02)


def test_a_sample_is_differentiated_by_its_parameters(device: str) -> None:
    with tw.device(device):

        def mean_of_squares(loc: tw.Tensor, scale: tw.Tensor) -> tw.Tensor:
            drawn = distributions.Normal(loc, scale).rsample((4_000,), rng=1)
            return (drawn**2).mean()

        by_loc, by_scale = tw.grad(mean_of_squares, (0, 1))(0.5, 2.0)
        assert by_loc.item() == pytest.approx(1.0, abs=0.2)
        assert by_scale.item() == pytest.approx(4.0, abs=0.4)
        stopped = tw.grad(lambda x: distributions.Normal(x, 1.0).sample(rng=1))(0.5)
        assert stopped.item() == 0


def test_the_score_of_a_policy_has_its_gradient(device: str) -> None:
    with tw.device(device):
        logits = tw.asarray([[0.5, -1.0, 2.0], [0.0, 0.0, 1.0]])
        actions = tw.asarray([2, 0])

        def loss(logits: tw.Tensor) -> tw.Tensor:
            return -distributions.Categorical(logits=logits).log_prob(actions).sum()

        chosen = tw.asarray([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
        expected = tw.nn.softmax(logits, axis=-1) - chosen
        for found in (tw.grad(loss)(logits), tw.jit(tw.grad(loss))(logits)):
            assert (found - expected).abs().max().item() < 1e-6


def test_edges_of_the_support(device: str) -> None:
    with tw.device(device):
        certain = distributions.Bernoulli(probs=tw.asarray([0.0, 1.0]))
        assert certain.log_prob(certain.sample(rng=0)).tolist() == [0.0, 0.0]
        assert certain.entropy().tolist() == [0.0, 0.0]
        below = tw.asarray([-1.0, 0.0])
        assert distributions.Exponential(2.0).log_prob(below)[0].item() == -math.inf
        edge = distributions.LogNormal(0.0, 1.0).log_prob(below)
        assert edge.tolist() == [-math.inf, -math.inf]
        masked = tw.asarray([-math.inf, 0.0, 0.0])
        gradient = tw.grad(lambda x: distributions.Categorical(logits=x).entropy())
        assert gradient(masked).tolist() == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_edges_of_probabilities_and_logits(device: str) -> None:
    with tw.device(device):
        kinds = distributions
        far = tw.asarray([0.0, -200.0])
        second = tw.asarray([0.0, 1.0])
        for kind in (kinds.OneHotCategorical, kinds.Multinomial):
            assert kind(logits=far).log_prob(second).item() == pytest.approx(-200.0)
            score = tw.grad(lambda x, kind=kind: kind(logits=x).log_prob(second))
            assert score(far).tolist() == [-1.0, 1.0]
            assert kind(probs=second).log_prob(second).item() == 0.0
        certain = kinds.Geometric(tw.asarray(1.0))
        assert certain.log_prob(0.0).item() == certain.entropy().item() == 0.0
        assert kinds.Weibull(tw.asarray(1.0), 1.0).log_prob(0.0).item() == 0.0
        ends = kinds.Cauchy(tw.asarray(0.0), 1.0).icdf([0.0, 1e-7, 0.5, 1.0])
        assert ends.tolist() == pytest.approx([-math.inf, -1e7 / math.pi, 0, math.inf])
        half = kinds.HalfCauchy(tw.asarray(1.0)).icdf([0.0, 1.0])
        assert half.tolist() == [0.0, math.inf]


@pytest.mark.parametrize("kind", ["Binomial", "NegativeBinomial"])
def test_a_number_as_count_keeps_the_precision(kind: str) -> None:
    one = getattr(distributions, kind)(4, tw.asarray(0.5, "float16"))
    assert str(one.total_count.dtype) == str(one.mean.dtype) == "float16"


def test_the_density_of_nan_is_nan() -> None:
    kinds = distributions
    for one in (
        *(kinds.Gamma(2.0, 1.0), kinds.Chi2(3.0), kinds.Exponential(1.0)),
        *(kinds.Beta(2.0, 2.0), kinds.LogNormal(0.0, 1.0), kinds.Uniform(0.0, 1.0)),
        *(kinds.HalfNormal(1.0), kinds.HalfCauchy(1.0)),
    ):
        assert math.isnan(one.log_prob(math.nan).item()), one


def test_tails_of_the_normal_distribution(device: str) -> None:
    with tw.device(device):
        one = distributions.Normal(0.0, 1.0)
        assert one.cdf(-10.0).item() == pytest.approx(7.619853e-24, rel=1e-4)
        assert one.icdf(1e-10).item() == pytest.approx(-6.3613409)


def test_parameters_of_a_transform_are_a_batch() -> None:
    kinds = distributions
    affine = kinds.AffineTransform(tw.zeros(3), 1.0)
    for base, batch in (
        (kinds.Normal(0.0, 1.0), (3,)),
        (kinds.Normal(tw.zeros((2, 1)), 1.0), (2, 3)),
        (
            kinds.MixtureSameFamily(
                kinds.Categorical(probs=[0.5, 0.5]), kinds.Normal([-1.0, 1.0], 1.0)
            ),
            (3,),
        ),
    ):
        one = kinds.TransformedDistribution(base, [affine])
        drawn = one.sample(rng=0)
        assert one.batch_shape == drawn.shape == one.log_prob(0.0).shape == batch
        assert len(set(drawn.ravel().tolist())) == drawn.size
    vectors = kinds.MultivariateNormal(tw.zeros(3), tw.eye(3))
    one = kinds.TransformedDistribution(vectors, affine)
    assert (one.batch_shape, vectors.expand((2,)).sample().shape) == ((), (2, 3))


def test_only_the_lower_triangle_of_a_factor_counts() -> None:
    one = distributions.MultivariateNormal(
        tw.zeros(2), scale_tril=tw.asarray([[1.0, 9.0], [0.0, 1.0]])
    )
    other = distributions.MultivariateNormal(tw.zeros(2), scale_tril=tw.eye(2))
    x = tw.asarray([1.0, -1.0])
    assert one.log_prob(x).item() == other.log_prob(x).item()
    assert distributions.kl_divergence(one, other).item() == pytest.approx(0, abs=1e-6)


def test_independent_sums_over_a_sample() -> None:
    base = distributions.Normal(tw.zeros((4, 3)), 2.0)
    one = distributions.Independent(base, 1)
    x = tw.arange(3.0)
    assert (one.batch_shape, one.event_shape) == ((4,), (3,))
    assert one.log_prob(x).tolist() == base.log_prob(x).sum(axis=1).tolist()
    assert one.entropy().shape == (4,)
    assert one.sample((2,), rng=0).shape == (2, 4, 3)
    other = distributions.Independent(distributions.Normal(tw.ones((4, 3)), 2.0), 1)
    assert distributions.kl_divergence(one, other).tolist() == pytest.approx(
        [0.375] * 4
    )


def test_a_distribution_is_an_argument_of_jit(device: str) -> None:
    with tw.device(device):
        f = tw.jit(lambda one, x: one.log_prob(x))
        for scale in (1.0, 2.0):
            one = distributions.Normal(tw.zeros(2), tw.asarray(scale))
            assert f(one, tw.ones(2)).tolist() == one.log_prob(tw.ones(2)).tolist()


def test_a_seed_gives_equal_samples_and_none_the_next() -> None:
    one = distributions.Normal(0.0, 1.0)
    assert one.sample((3,), rng=5).tolist() == one.sample((3,), rng=5).tolist()
    assert one.sample((3,)).tolist() != one.sample((3,)).tolist()


def test_counts_of_categories_are_multinomial(device: str) -> None:
    with tw.device(device):
        one = distributions.Multinomial(10, probs=[0.2, 0.3, 0.5])
        if device == "cpu":  # The kernels of the draw take seconds to compile.
            drawn = one.sample((20,), rng=1)
            assert (drawn.shape, drawn.sum(-1).tolist()) == ((20, 3), [10.0] * 20)
        # 10! / (2! 3! 5!) 0.2² 0.3³ 0.5⁵
        chance = 2520 * 0.2**2 * 0.3**3 * 0.5**5
        found = one.log_prob(tw.asarray([2.0, 3.0, 5.0])).item()
        assert found == pytest.approx(math.log(chance), rel=1e-5)


def test_a_mixture_is_the_weighted_sum_of_its_parts(device: str) -> None:
    with tw.device(device):
        weights = distributions.Categorical(probs=[[0.25, 0.75], [0.5, 0.5]])
        parts = distributions.Normal(tw.asarray([[-3.0, 1.0], [0.0, 5.0]]), 0.5)
        one = distributions.MixtureSameFamily(weights, parts)
        x = tw.asarray([-2.5, 4.0])
        densities = tw.exp(parts.log_prob(x[:, None])) * weights.probs
        expected = tw.log(densities.sum(-1)).tolist()
        assert one.log_prob(x).tolist() == pytest.approx(expected, rel=1e-5)
        drawn = one.sample((2_000,), rng=2)
        assert drawn.shape == (2_000, 2)
        spread = 5 * one.stddev / math.sqrt(2_000)
        assert ((drawn.mean(axis=0) - one.mean).abs() <= spread).all()
        assert ((drawn.std(axis=0) / one.stddev - 1).abs() < 0.1).all()


def test_a_mixture_of_vectors_shares_its_weights() -> None:
    means = tw.asarray([[0.0, 0.0], [4.0, 4.0], [0.0, 9.0]])
    parts = distributions.MultivariateNormal(means, tw.eye(2))
    weights = distributions.Categorical(logits=tw.zeros(3))
    one = distributions.MixtureSameFamily(weights, parts)
    assert one.sample((5,), rng=0).shape == (5, 2)
    assert one.mean.tolist() == pytest.approx([4 / 3, 13 / 3])
    assert one.log_prob(tw.zeros((7, 2))).shape == (7,)


def test_transforms_move_densities(device: str) -> None:
    with tw.device(device):
        kinds = distributions
        base = kinds.Normal(tw.asarray([0.5, -1.0]), 0.7)
        affine = [kinds.AffineTransform(1.0, -2.0), kinds.SigmoidTransform()]
        for transforms in (affine, [kinds.TanhTransform()], kinds.ExpTransform()):
            one = kinds.TransformedDistribution(base, transforms)
            y = one.rsample((3,), rng=4)
            low, high = y - 1e-3 * y, y + 1e-3 * y

            def back(y: tw.Tensor, one: Any = one) -> tw.Tensor:
                for transform in reversed(one.transforms):
                    y = transform.inv(y)
                return y

            width = (back(high) - back(low)).abs() / (high - low).abs()
            expected = base.log_prob(back(y)) + tw.log(width)
            assert (one.log_prob(y) - expected).abs().max().item() < 0.02


def test_a_vector_has_one_density_of_transformed_numbers() -> None:
    kinds = distributions
    base = kinds.MultivariateNormal(tw.zeros(2), tw.eye(2))
    one = kinds.TransformedDistribution(base, kinds.ExpTransform())
    apart = kinds.LogNormal(tw.zeros(2), 1.0)
    x = tw.asarray([0.5, 3.0])
    assert one.log_prob(x).item() == pytest.approx(apart.log_prob(x).sum().item())
    assert one.sample((4,), rng=0).shape == (4, 2)


def test_gamma_samples_are_differentiated_by_their_shape() -> None:
    def mean(a: tw.Tensor) -> tw.Tensor:
        return distributions.Gamma(a, 2.0).rsample((2_000,), rng=1).mean()

    assert tw.grad(mean)(tw.asarray(3.0)).item() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda d: d.Bernoulli(), tw.DataError, "either probs or logits, not none"),
        (lambda d: d.Categorical([0.5], [0.5]), tw.DataError, "not both"),
        (lambda d: d.Categorical(0.5), tw.ShapeError, "each category"),
        (lambda d: d.Categorical([0.5, 0.5]).log_prob(1.9), tw.DTypeError, "integers"),
        (
            lambda d: d.Categorical([0.3, 0.7]).log_prob(tw.asarray(-1)).item(),
            tw.TensorIndexError,
            "out of range",
        ),
        (lambda d: d.Multinomial(2, [0.5, 0.5]).entropy(), tw.DataError, "log_prob"),
        (lambda d: d.NegativeBinomial(2.0, 0.5).entropy(), tw.DataError, "log_prob"),
        (
            lambda d: d.kl_divergence(d.Categorical([1.0]), d.Categorical([0.5, 0.5])),
            tw.ShapeError,
            "1 and 2 categories",
        ),
        (lambda d: d.Normal(tw.ones(2), tw.ones(3)), tw.ShapeError, "2"),
        (lambda d: d.Normal(tw.asarray([1]), 1.0), tw.DTypeError, "astype"),
        (lambda d: d.MultivariateNormal(tw.ones(2)), tw.DataError, "either"),
        (
            lambda d: d.MultivariateNormal(tw.ones(2), tw.ones((3, 3))),
            tw.ShapeError,
            "do not fit",
        ),
        (lambda d: d.Independent(d.Normal(0.0, 1.0), 1), tw.ShapeError, "0"),
        (lambda d: d.Bernoulli(0.5).rsample(), tw.TransformError, "log_prob"),
        (lambda d: d.Poisson(0.5).rsample(), tw.TransformError, "log_prob"),
        (lambda d: d.Dirichlet(0.5), tw.ShapeError, "each share"),
        (
            lambda d: d.MixtureSameFamily(
                d.Categorical([0.5, 0.5]), d.Normal(tw.zeros(3), 1.0)
            ),
            tw.ShapeError,
            "2 categories",
        ),
        (
            lambda d: d.kl_divergence(d.Normal(0.0, 1.0), d.Laplace(0.0, 1.0)),
            tw.DataError,
            "no formula",
        ),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(distributions)


@pytest.mark.parametrize("what", ["mean", "variance"])
def test_moments_without_a_formula_say_so(what: str) -> None:
    base = distributions.Normal(0.0, 1.0)
    made = distributions.TransformedDistribution(
        base, [distributions.SigmoidTransform()]
    )
    with pytest.raises(tw.DataError, match=f"its {what} has no formula; estimate"):
        getattr(made, what)
