"""Optimisers of parts of a tree and over several gradients, as Optax defines them."""

from __future__ import annotations

from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, TransformError


def start() -> dict[str, Any]:
    return {
        "w": tw.ones((2, 3)),
        "name": "a layer",
        "inner": [tw.ones(3), tw.arange(2)],
    }


def grads(scale: float) -> dict[str, Any]:
    inner = [tw.full(3, scale), None]
    return {"w": tw.full((2, 3), -scale), "name": None, "inner": inner}


def numbers(tree: dict[str, Any]) -> list[float]:
    return [*tree["w"].reshape(-1).tolist(), *tree["inner"][0].tolist()]


def test_labels_choose_the_optimiser(device: str) -> None:
    labels = {"w": "matrix", "name": "none", "inner": ["vector", "none"]}
    every = {"matrix": tw.optim.Muon(lr=0.1), "vector": tw.optim.Adam(lr=0.1)}
    opt = tw.optim.multi_transform(every, labels)
    params, state = start(), opt.init(start())
    alone = tw.optim.Adam(lr=0.1)
    vector, own = tw.ones(3), alone.init(tw.ones(3))
    for scale in (1.0, -3.0):
        params, state = opt.update(params, grads(scale), state)
        vector, own = alone.update(vector, tw.full(3, scale), own)
    assert params["inner"][0].tolist() == vector.tolist()
    assert params["w"].tolist() != tw.ones((2, 3)).tolist()
    assert (params["name"], params["inner"][1].tolist()) == ("a layer", [0, 1])
    with pytest.raises(DataError, match="labels and parameters"):
        tw.optim.multi_transform(every, {"w": "matrix"}).init(start())


def test_a_mask_may_be_a_function(cpu: str) -> None:
    def matrices(tree: Any) -> Any:
        return tw.tree.map(lambda x: isinstance(x, tw.Tensor) and x.ndim == 2, tree)

    opt = tw.optim.masked(tw.optim.SGD(lr=1.0), matrices)
    params, state = opt.update(start(), grads(1.0), opt.init(start()))
    assert numbers(params) == [2.0] * 6 + [1.0] * 3
    unchanged, _ = opt.update(params, {**grads(1.0), "w": None}, state)
    assert numbers(unchanged) == numbers(params)


def test_a_step_has_the_mean_of_its_gradients(webgpu: str) -> None:
    opt = tw.optim.MultiSteps(tw.optim.Adam(lr=0.1), every_k_schedule=3)
    single = tw.optim.Adam(lr=0.1)
    params, state = start(), opt.init(start())
    expected, own = start(), single.init(start())
    step = tw.jit(opt.update)
    for group in ((1.0, 2.0, 6.0), (-1.0, 0.5, 2.0)):
        before = numbers(params)
        for scale in group:
            assert numbers(params) == before
            params, state = step(params, grads(scale), state)
        expected, own = single.update(expected, grads(sum(group) / 3), own)
        assert numbers(params) == pytest.approx(numbers(expected), rel=1e-5)
    assert step.recordings <= 2
    with pytest.raises(TransformError, match="a gradient is missing"):
        opt.update(params, {**grads(1.0), "w": None}, state)
    with pytest.raises(DataError, match="every_k_schedule=0"):
        tw.optim.MultiSteps(single, 0)


def test_parameters_are_averaged(device: str) -> None:
    average: Any = start()
    new = {"w": tw.full((2, 3), 3.0), "name": "b", "inner": [tw.zeros(3), tw.arange(2)]}
    average = tw.optim.incremental_update(new, average, 0.25)
    assert numbers(average) == [1.5] * 6 + [0.75] * 3
    assert average["name"] == "b"
