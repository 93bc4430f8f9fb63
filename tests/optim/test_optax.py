"""Programs written for Optax find what Optax finds, with the import changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError
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
