"""Programs written for Optax find what Optax finds, with the import changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, DTypeError
from tensorweb.optim import optax

FILE = Path(__file__).parents[1] / "references" / "optax.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())


def trained(opt: Any, dtype: tw.DType) -> dict[str, tw.Tensor]:
    def loss(params: Any) -> Any:
        found = tw.tanh(params["w"] @ params["b"] * 3 + 1)
        return (found**2).sum() + (params["w"] ** 4).sum()

    @tw.jit
    def step(params: Any, state: Any) -> Any:
        updates, state = opt.update(tw.grad(loss)(params), state, params)
        return optax.apply_updates(params, updates), state

    params = {name: tw.asarray(v, dtype) for name, v in RECORDED["start"].items()}
    state = opt.init(params)
    for _ in range(20):
        params, state = step(params, state)
    return params


def check(params: dict[str, tw.Tensor], name: str, within: float) -> None:
    for key, value in RECORDED["after"][name].items():
        expected = tw.asarray(value, tw.float64, device="cpu").reshape(-1).tolist()
        found = params[key].reshape(-1).tolist()
        assert found == pytest.approx(expected, rel=within, abs=within)


@pytest.mark.parametrize("name", RECORDED["optimisers"])
def test_optimisers_in_float64(name: str, cpu: str) -> None:
    opt = eval(RECORDED["optimisers"][name], {"optax": optax})
    # Rates of a schedule are float32.
    within = 1e-6 if "schedule" in RECORDED["optimisers"][name] else 1e-10
    check(trained(opt, tw.float64), name, within)


def test_a_chain_on_the_gpu(webgpu: str) -> None:
    opt = eval(RECORDED["optimisers"]["chain"], {"optax": optax})
    check(trained(opt, tw.float32), "chain", 3e-5)


@pytest.mark.parametrize("name", RECORDED["schedules"])
def test_schedules(name: str, cpu: str) -> None:
    schedule = eval(RECORDED["schedules"][name], {"optax": optax})
    found = [float(schedule(count)) for count in range(30)]
    assert found == pytest.approx(RECORDED["rates"][name], rel=1e-5, abs=1e-6)


def test_decay_needs_the_parameters() -> None:
    opt, x = optax.adamw(0.1), tw.ones(2)
    with pytest.raises(DataError, match=r"opt\.update\(grads, state, params\)"):
        opt.update(x, opt.init(x))


def test_schedules_without_a_decay_are_constant(cpu: str) -> None:
    for schedule in (
        optax.exponential_decay(1.0, 0, 0.5),
        optax.exponential_decay(1.0, 4, 0.0),
        optax.linear_schedule(1.0, 0.0, 0),
    ):
        assert [float(schedule(tw.asarray(count))) for count in (0, 9)] == [1, 1]
    rate = optax.warmup_cosine_decay_schedule(0.0, 1.0, 0, 6)
    found = [float(rate(tw.asarray(count))) for count in (0, 1, 2, 9)]
    assert found == pytest.approx([1.0, 0.93301272, 0.75, 0.0], abs=1e-6)


def test_masks_and_labels_may_be_given_for_subtrees(cpu: str) -> None:
    params = {"a": tw.ones(1), "b": [tw.ones(1), tw.ones(1)]}

    def updated(opt: Any) -> list[float]:
        updates, _ = opt.update(params, opt.init(params), params)
        return [leaf.item() for leaf in tw.tree.leaves(updates)]

    mask = {"a": True, "b": False}
    assert updated(optax.masked(optax.scale(2.0), mask)) == [2, 1, 1]
    assert updated(optax.add_decayed_weights(0.5, mask)) == [1.5, 1, 1]
    assert updated(optax.add_decayed_weights(0.5)) == [1.5, 1.5, 1.5]
    parts = {"x": optax.scale(2.0), "y": optax.set_to_zero()}
    labels = {"a": "x", "b": "y"}
    assert updated(optax.multi_transform(parts, labels)) == [2, 0, 0]
    for wrong in ({"a": True}, {**mask, "c": True}, {**mask, "b": [True]}):
        with pytest.raises(DataError, match="labels and parameters are different"):
            updated(optax.masked(optax.scale(2.0), wrong))


def test_states_norms_and_names_are_answered(cpu: str) -> None:
    opt = optax.adam(0.5)
    with pytest.raises(DataError, match=r"give opt\.init\(params\)"):
        opt.update(tw.ones(1), ())
    updates, _ = opt.update(tw.ones(1), opt.init(tw.ones(1)), value=1.0)
    assert updates.item() == pytest.approx(-0.5)
    assert optax.global_norm({}).item() == 0
    with pytest.raises(AttributeError, match=r"'ctc_loss'; losses are in tw\.nn"):
        _ = optax.ctc_loss
    weights = [tw.ones(1)]
    with pytest.raises(DataError, match="clip_grad_norm_: max_norm=0 "):
        tw.optim.clip_grad_norm_(weights, 0)
    with pytest.raises(tw.TransformError, match=r"^clip_grad_norm_: there is no grad"):
        tw.optim.clip_grad_norm_(weights, 1.0)


def test_injected_numbers_are_in_the_order_of_the_arguments(cpu: str) -> None:
    def made(a: Any, c: Any, e: Any, d: Any, b: Any, f: Any) -> Any:
        return optax.sgd(a + b + c + d + e + f)

    state = optax.inject_hyperparams(made)(1.0, 2.0, 3.0, 4.0, 5.0, 6.0).init(
        tw.ones(1)
    )
    assert "".join(state.hyperparams) == "acedbf"


@pytest.mark.parametrize("name", RECORDED["losses"])
def test_losses_and_their_gradients(name: str, device: str) -> None:
    dtype = tw.float64 if device == "cpu" else tw.float32
    given = {key: tw.asarray(value, dtype) for key, value in RECORDED["given"].items()}
    names = {"optax": optax, "classes": tw.asarray([2, 0]), **given}

    def loss(logits: Any) -> Any:
        own = {**names, "logits": logits, "columns": logits.T}
        return eval(RECORDED["losses"][name], own)

    logits, within = given["logits"], 1e-12 if device == "cpu" else 1e-5
    values, gradient = RECORDED["values"][name]
    for function in (loss, tw.jit(loss)):
        found = function(logits).reshape(-1).tolist()
        expected = tw.asarray(values, tw.float64, device="cpu").reshape(-1).tolist()
        assert found == pytest.approx(expected, rel=within, abs=within)
    found = tw.grad(lambda logits: loss(logits).sum())(logits).reshape(-1).tolist()
    expected = tw.asarray(gradient, tw.float64, device="cpu").reshape(-1).tolist()
    assert found == pytest.approx(expected, rel=within, abs=within)


def test_labels_are_integers(cpu: str) -> None:
    with pytest.raises(DTypeError, match="give integers, or probabilities"):
        optax.softmax_cross_entropy_with_integer_labels(tw.ones((2, 3)), tw.ones(2))
