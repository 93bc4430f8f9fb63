"""Complex parameters are trained as pairs of real ones, by PyTorch's formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw

Array = np.ndarray[Any, Any]
Kept = dict[str, Any]

TARGET = np.array([1 - 2j, 0.5j, -3, 2 + 2j])
START = np.array([0.5 + 0.25j, -1 + 1j, 2 - 1j, 0.125j])


def adam(p: Array, g: Array, kept: Kept, t: int) -> Array:
    kept["m"] = 0.8 * kept.get("m", 0) + 0.2 * g
    kept["v"] = 0.9 * kept.get("v", 0) + 0.1 * g * g
    kept["most"] = np.maximum(kept.get("most", 0), kept["v"])
    spread = np.sqrt(kept["most"] / (1 - 0.9**t)) + 1e-8
    return p - 0.1 * kept["m"] / (1 - 0.8**t) / spread


def adam_with_decay(p: Array, g: Array, kept: Kept, t: int) -> Array:
    return adam(p, g + 0.5 * p, kept, t)


def adamw(p: Array, g: Array, kept: Kept, t: int) -> Array:
    return adam(p * (1 - 0.1 * 0.5), g, kept, t)


def rmsprop(p: Array, g: Array, kept: Kept, t: int) -> Array:
    kept["v"] = 0.9 * kept.get("v", 0) + 0.1 * g * g
    kept["m"] = 0.9 * kept.get("m", 0) + 0.1 * g
    step = g / (np.sqrt(kept["v"] - kept["m"] ** 2) + 1e-8)
    kept["b"] = 0.5 * kept.get("b", 0) + step
    return p - 0.1 * kept["b"]


def adagrad(p: Array, g: Array, kept: Kept, t: int) -> Array:
    kept["v"] = kept.get("v", 0.25) + g * g
    return p - 0.1 / (1 + (t - 1) * 0.1) * g / (np.sqrt(kept["v"]) + 1e-10)


def sgd(p: Array, g: Array, kept: Kept, t: int) -> Array:
    kept["b"] = g if t == 1 else 0.9 * kept["b"] + g
    return p - 0.1 * (g + 0.9 * kept["b"])


def lion(p: Array, g: Array, kept: Kept, t: int) -> Array:
    before = kept.get("m", 0)
    kept["m"] = 0.9 * before + 0.1 * g
    return p - 0.1 * np.sign(0.8 * before + 0.2 * g)


ROWS: tuple[tuple[tw.optim.Optimizer, Callable[..., Array]], ...] = (
    (tw.optim.Adam(lr=0.1, betas=(0.8, 0.9), amsgrad=True), adam),
    (
        tw.optim.Adam(lr=0.1, betas=(0.8, 0.9), amsgrad=True, weight_decay=0.5),
        adam_with_decay,
    ),
    (
        tw.optim.AdamW(lr=0.1, betas=(0.8, 0.9), amsgrad=True, weight_decay=0.5),
        adamw,
    ),
    (tw.optim.RMSprop(lr=0.1, alpha=0.9, momentum=0.5, centered=True), rmsprop),
    (
        tw.optim.Adagrad(lr=0.1, lr_decay=0.1, initial_accumulator_value=0.25),
        adagrad,
    ),
    (tw.optim.SGD(lr=0.1, momentum=0.9, nesterov=True), sgd),
    (tw.optim.Lion(lr=0.1, betas=(0.8, 0.9), weight_decay=0.0), lion),
)


def test_rules_move_both_parts(cpu: str) -> None:
    weights = np.array([1.0, 3.0])  # of the parts, so that they take other ways
    for opt, formula in ROWS:
        params = {"z": tw.asarray(START), "w": tw.asarray([1.0], dtype=tw.float64)}
        state = opt.init(params)
        pairs, kept = np.stack([START.real, START.imag], -1), {}
        goal = np.stack([TARGET.real, TARGET.imag], -1)

        def loss(tree: dict[str, tw.Tensor]) -> tw.Tensor:
            away = tree["z"] - tw.asarray(TARGET)
            found = tw.real(away) ** 2 + 3 * tw.imag(away) ** 2
            return found.sum() * tree["w"].sum() ** 0

        for t in range(1, 6):
            params, state = opt.update(params, tw.grad(loss)(params), state)
            pairs = formula(pairs, 2 * weights * (pairs - goal), kept, t)
        expected = pairs[:, 0] + 1j * pairs[:, 1]
        assert params["z"].dtype is tw.complex128
        np.testing.assert_allclose(
            params["z"].numpy(), expected, 1e-12, err_msg=str(opt)
        )
        assert all(
            moment.dtype is tw.complex128
            for name, moment in opt.state_dict(state).items()
            if name.startswith("z.")
        )


def test_a_complex_leaf_is_trained_in_place(cpu: str) -> None:
    w = tw.asarray(START, dtype=tw.complex64, requires_grad=True)
    opt = tw.optim.Adam([w], lr=0.3)
    target = tw.asarray(TARGET, dtype=tw.complex64)

    @tw.jit(updates=(w, opt))
    def step(x: tw.Tensor) -> tw.Tensor:
        loss = (abs(w - x) ** 2).sum()
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    first, *_, last = (step(target).item() for _ in range(40))
    assert last < 0.05 * first
    again = tw.optim.Adam([tw.asarray(START, dtype=tw.complex64)], lr=0.3)
    again.load_state_dict(opt.state_dict())
    assert again.state_dict()["0.second"].tolist() == pytest.approx(
        opt.state_dict()["0.second"].tolist()
    )


def test_a_complex_parameter_is_no_buffer(cpu: str) -> None:
    class Phase(tw.nn.Module):
        def __init__(self) -> None:
            self.rotation, self.count = tw.asarray([1j]), tw.arange(2)

    model = Phase()
    assert [name for name, _ in model.named_parameters()] == ["rotation"]
    assert [name for name, _ in model.named_buffers()] == ["count"]


def test_complex_values_are_not_half_loaded_into_floats(cpu: str) -> None:
    layer = tw.nn.Linear(1, 1)
    before = layer.weight.tolist()
    with pytest.raises(tw.DataError, match=r"nothing was loaded:\n  bias: .*complex64"):
        layer.load_state_dict({"weight": [[before[0][0] + 1]], "bias": [2j]})
    assert layer.weight.tolist() == before
