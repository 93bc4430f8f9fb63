"""Generators: keys that split themselves, trees of one tensor, refused if captured."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb import tree
from tensorweb.errors import TraceError
from tensorweb.random import Generator

Draw = Callable[..., tw.Tensor]

CALLS: dict[str, Callable[[Draw], tw.Tensor]] = {
    "bits": lambda draw: draw((3, 5)),
    "uniform": lambda draw: draw(3, tw.float32, 2, 5),
    "normal": lambda draw: draw((2, 3)),
    "truncated_normal": lambda draw: draw(-1, 1, 3),
    "exponential": lambda draw: draw(3),
    "gumbel": lambda draw: draw(3),
    "bernoulli": lambda draw: draw(0.3, 9),
    "randint": lambda draw: draw(9, 0, 6),
    "categorical": lambda draw: draw(tw.zeros((2, 3)), 0, (4, 3)),
    "permutation": lambda draw: draw(9),
    "choice": lambda draw: draw(9, (3,), False),
    "split": lambda draw: draw(3),
    "ball": lambda draw: draw(3),
    "beta": lambda draw: draw(2.0, 3.0),
    "binomial": lambda draw: draw(1000, 0.5, (3,)),
    "cauchy": lambda draw: draw(3),
    "chisquare": lambda draw: draw(3.0),
    "dirichlet": lambda draw: draw(tw.ones(3)),
    "gamma": lambda draw: draw(2.0),
    "laplace": lambda draw: draw(3),
    "loggamma": lambda draw: draw(2.0),
    "logistic": lambda draw: draw(3),
    "multinomial": lambda draw: draw(1000, tw.asarray([0.5, 0.5])),
    "multivariate_normal": lambda draw: draw(tw.zeros(2), tw.eye(2)),
    "orthogonal": lambda draw: draw(2),
    "poisson": lambda draw: draw(300.0, (3,)),
    "rademacher": lambda draw: draw(30),
    "t": lambda draw: draw(3.0),
}


def test_every_sampler_is_a_method() -> None:
    offered = {name for name in tw.random.__all__ if name[0].islower()}
    assert offered - {"key", "fold_in"} == {*CALLS}
    assert all(callable(getattr(Generator, name)) for name in CALLS)


LARGE = frozenset({"ball", "beta", "binomial", "dirichlet", "multinomial", "poisson"})
"""Their kernels take seconds to compile on a software GPU, and are made of others."""

DRAWN = [
    (device, name)
    for device in ("cpu", "webgpu")
    for name in CALLS
    if device == "cpu" or name not in LARGE
]


@pytest.mark.parametrize(("device", "name"), DRAWN, indirect=["device"])
def test_a_method_draws_with_a_new_key(name: str, device: str) -> None:
    rng, call = Generator(7), CALLS[name]
    keys = tw.random.split(tw.random.key(7))
    sampler = getattr(tw.random, name)
    expected = call(lambda *given: sampler(keys[1], *given))
    assert_equal(call(getattr(rng, name)), expected.tolist())
    assert_equal(rng.key, keys[0].tolist())
    assert call(getattr(rng, name)).tolist() != expected.tolist()


def test_generators_of_one_seed_agree_on_their_device(cpu: str) -> None:
    first, second = Generator(3), Generator(tw.random.key(3))
    assert first.normal(4).tolist() == second.normal(4).tolist()
    third = copy.copy(first)
    assert first.normal(4).tolist() == third.normal(4).tolist()
    assert repr(Generator(1, device="cpu")) == "Generator(device='cpu')"


def test_a_generator_is_a_tree_of_its_key(cpu: str) -> None:
    rng = Generator(5)
    leaves, structure = tree.flatten(rng)
    assert leaves[0] is rng.key
    again = tree.unflatten(structure, leaves)
    assert again.normal(3).tolist() == rng.normal(3).tolist()


def test_a_recorded_function_draws_from_its_argument(device: str) -> None:
    @tw.jit
    def noisy(x: tw.Tensor, rng: Generator) -> tw.Tensor:
        return x + rng.normal(x.shape) * rng.uniform()

    x, rng, plain = tw.ones(5), Generator(1), Generator(1)
    for _ in range(3):
        expected = x + plain.normal(x.shape) * plain.uniform()
        assert noisy(x, rng).tolist() == pytest.approx(expected.tolist(), rel=1e-6)
        assert_equal(rng.key, plain.key.tolist())
    assert noisy.recordings == (1 if device == "webgpu" else noisy.recordings)


def test_a_recording_refuses_a_generator_from_outside(webgpu: str) -> None:
    rng = Generator(1)

    @tw.jit
    def noisy(x: tw.Tensor) -> tw.Tensor:
        return x + rng.normal(x.shape)

    with pytest.raises(TraceError, match=r"noisy draws .* Give it to noisy as an arg"):
        noisy(tw.ones(3))
    assert rng.key.tolist() == [0, 1]

    @tw.jit
    def seeded(x: tw.Tensor) -> tw.Tensor:
        return x + Generator(1).normal(x.shape)

    expected = tw.ones(3) + Generator(1).normal(3)
    # A GPU's compiler may round what is drawn and added at once.
    found = seeded(tw.ones(3)).tolist()
    assert found == pytest.approx(expected.tolist(), rel=2.0**-22)


def test_examples_of_a_batch_may_not_share_a_generator(device: str) -> None:
    rng = Generator(1)

    def noisy(x: tw.Tensor) -> tw.Tensor:
        return x + rng.normal(x.shape)

    with pytest.raises(TraceError, match=r"a key for each example"):
        tw.vmap(noisy)(tw.ones((2, 3)))

    def inside(x: tw.Tensor, rng: Generator) -> tw.Tensor:
        return tw.vmap(lambda row: row + rng.normal(row.shape))(x)

    if device == "webgpu":
        with pytest.raises(TraceError, match=r"a key for each example"):
            tw.jit(inside)(tw.ones((2, 3)), Generator(1))


def test_a_batch_of_generators_is_one_for_each_example(device: str) -> None:
    keys = tw.random.split(tw.random.key(2), 3)

    def noisy(x: tw.Tensor, key: tw.Tensor) -> tw.Tensor:
        return x + Generator(key).normal(x.shape)

    found = tw.vmap(noisy)(tw.zeros((3, 4)), keys)
    expected = [Generator(keys[i]).normal(4).tolist() for i in range(3)]
    assert_equal(found, expected)


@dataclass
class Layer:
    weights: tw.Tensor
    rng: Generator


def test_a_derivative_s_generator_goes_on(cpu: str) -> None:
    def loss(layer: Layer, x: tw.Tensor) -> tw.Tensor:
        return (layer.weights * x * layer.rng.normal(3)).sum()

    layer, plain = Layer(tw.ones(3), Generator(4)), Generator(4)
    for _ in range(2):
        gradient = tw.grad(loss)(layer, tw.ones(3)).weights
        assert gradient.tolist() == plain.normal(3).tolist()
    tw.vjp(lambda w, rng: w * rng.normal(3), tw.ones(3), layer.rng)
    plain.normal(3)
    assert layer.rng.key.tolist() == plain.key.tolist()


def test_functions_that_run_again_may_not_draw_from_a_generator(cpu: str) -> None:
    rng = Generator(4)

    @tw.checkpoint
    def dropped(w: tw.Tensor) -> tw.Tensor:
        return (tw.sin(w) * rng.normal(3)).sum()

    with pytest.raises(TraceError, match=r"dropped draws from a Generator; it runs ag"):
        tw.grad(dropped)(tw.ones(3))
    assert rng.key.tolist() == [0, 4]

    @tw.checkpoint
    def noisy(w: tw.Tensor, key: tw.Tensor) -> tw.Tensor:
        return (tw.sin(w) * Generator(key).normal(3)).sum()

    key = tw.random.key(3)
    expected = tw.cos(tw.ones(3)) * Generator(key).normal(3)
    assert tw.grad(noisy)(tw.ones(3), key).tolist() == expected.tolist()
