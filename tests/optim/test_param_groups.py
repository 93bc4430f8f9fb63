"""Parameter groups have options of their own, and frozen parameters stay."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError
from tensorweb.tensor import Tensor

ANY: Any = tw.optim

STEPS = 3
GRADIENT = 2.0


def trained(opt: tw.optim.Optimizer, params: list[Tensor]) -> list[float]:
    """Return the first element of parameters after steps with gradients of 2."""
    for _ in range(STEPS):
        opt.zero_grad()
        tw.stack([(p * GRADIENT).sum() for p in params]).sum().backward()
        opt.step()
    return [float(p[0]) for p in params]


def alone(name: str, **options: Any) -> float:
    """Return what an optimiser of its own makes of a parameter."""
    p = tw.ones(2)
    return trained(getattr(ANY, name)([p], **options), [p])[0]


OPTIONS = {
    "SGD": [{"lr": 0.1}, {"lr": 0.0}, {"momentum": 0.9}, {"weight_decay": 0.5}],
    "Adam": [{"lr": 0.1}, {"betas": (0.5, 0.9)}, {"amsgrad": True}, {"eps": 0.1}],
    "AdamW": [{"weight_decay": 0.1}, {"weight_decay": 0.0}, {"lr": 0.3}],
    "RMSprop": [{"alpha": 0.5}, {"centered": True}, {"momentum": 0.5}],
    "Adagrad": [{"lr_decay": 0.5}, {"initial_accumulator_value": 1.0}],
    "Lion": [{"lr": 0.1}, {"maximize": True}],
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_group_moves_as_an_optimiser_of_its_own(name: str, device: str) -> None:
    with tw.device(device):
        params = [tw.ones(2) for _ in OPTIONS[name]]
        groups = [
            {"params": [p], **own} for p, own in zip(params, OPTIONS[name], strict=True)
        ]
        found = trained(getattr(ANY, name)(groups, lr=0.01), params)
        expected = [alone(name, **{"lr": 0.01, **own}) for own in OPTIONS[name]]
    assert found == expected


def test_adamw_decays_as_the_formula_says(cpu: str) -> None:
    decayed, plain = tw.ones(2), tw.ones(2)
    groups = [
        {"params": [decayed], "weight_decay": 0.1},
        {"params": (p for p in [plain]), "weight_decay": 0.0},
    ]
    found = trained(tw.optim.AdamW(groups, lr=0.5), [decayed, plain])
    expected = []
    for decay in (0.1, 0.0):
        p = 1.0
        for _ in range(STEPS):
            p = p * (1 - 0.5 * decay) - 0.5 * GRADIENT / (GRADIENT + 1e-8)
        expected.append(p)
    assert found == pytest.approx(expected, rel=1e-5)


def test_options_are_read_and_written_as_in_pytorch(cpu: str) -> None:
    a, b = tw.ones(2), tw.ones(2)
    opt = tw.optim.SGD([{"params": [a], "lr": 1.0}, {"params": [b]}], lr=0.5)
    assert opt.param_groups[0]["params"] == [a]
    assert [float(group["lr"]) for group in opt.param_groups] == [1.0, 0.5]
    for group in opt.param_groups:
        group["lr"] = 0.25
    opt.param_groups[1]["momentum"] = 0.9
    assert opt.param_groups[0]["momentum"] == 0.0
    found = trained(opt, [a, b])
    assert found == [alone("SGD", lr=0.25), alone("SGD", lr=0.25, momentum=0.9)]


def test_groups_are_recorded_and_their_rates_change(device: str) -> None:
    with tw.device(device):
        a, b = tw.ones(2), tw.ones(2)
        opt = tw.optim.SGD([{"params": [a], "lr": 1.0}, {"params": [b]}], lr=0.5)

        @tw.jit(updates=(a, b, opt))
        def step() -> Tensor:
            loss = (a * 2).sum() + (b * 2).sum()
            loss.backward()
            opt.step()
            opt.zero_grad()
            return loss

        step()
        step()
        opt.param_groups[0]["lr"] = 0.0
        step()
        assert [a.tolist(), b.tolist()] == [[-3.0, -3.0], [-2.0, -2.0]]


def test_each_group_follows_its_schedule(cpu: str) -> None:
    a, b = tw.ones(2), tw.ones(2)
    groups = [{"params": [a], "lr": tw.optim.linear(1.0, 0.0, 2)}, {"params": [b]}]
    opt = tw.optim.SGD(groups, lr=0.5)
    assert trained(opt, [a, b]) == [1 - 2 * 1.5, 1 - 2 * 1.5]


def test_the_state_of_groups_is_saved(cpu: str) -> None:
    def made() -> tuple[list[Tensor], tw.optim.Optimizer]:
        params = [tw.ones(2), tw.ones(2)]
        groups = [{"params": [params[0]], "lr": 0.1}, {"params": [params[1]]}]
        return params, tw.optim.Adam(groups, lr=0.2)

    params, opt = made()
    trained(opt, params)
    saved = opt.state_dict()
    assert {"learning_rate", "learning_rate.1", "1.0.first"} <= set(saved)
    others, again = made()
    with tw.no_grad():
        for mine, theirs in zip(params, others, strict=True):
            theirs[:] = mine
    again.load_state_dict(saved)
    assert trained(again, others) == trained(opt, params)


def test_parameters_are_added_later(cpu: str) -> None:
    a, b = tw.ones(2), tw.ones(2)
    opt = tw.optim.SGD([a], lr=0.5, momentum=0.9)
    opt.add_param_group({"params": [b], "lr": 0.25})
    found = trained(opt, [a, b])
    assert found == [
        alone("SGD", lr=0.5, momentum=0.9),
        alone("SGD", lr=0.25, momentum=0.9),
    ]


def test_tied_weights_of_a_group_are_one_parameter(cpu: str) -> None:
    w = tw.ones(2)
    opt = tw.optim.SGD([{"params": [w, w]}], lr=0.5)
    assert trained(opt, [w]) == [1 - 3 * 0.5 * GRADIENT]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (lambda: [{"params": [tw.ones(2)], "decay": 1}], "no option 'decay'"),
        (lambda: [{"params": [tw.ones(2)], "lr": -1.0}], "lr=-1.0"),
        (lambda: [{"params": [tw.ones(2)]}, tw.ones(2)], "mixed"),
        (lambda: [{"params": [tw.ones(2)]}, {"lr": 1.0}], "mixed"),
        (lambda: {"params": [tw.ones(2)], "lr": 0.1}, "list of groups"),
        (lambda: [{"params": []}], "no tensor of floats"),
        (lambda: [{"params": [w := tw.ones(2)]}, {"params": [w]}], "two param"),
    ],
)
def test_wrong_groups_are_errors(groups: Any, said: str, cpu: str) -> None:
    with pytest.raises(DataError, match=said):
        tw.optim.SGD(groups(), lr=0.5)


def test_groups_belong_to_their_own_parameters(cpu: str) -> None:
    groups = [{"params": [tw.ones(2)]}, {"params": [tw.ones(2)]}]
    opt = tw.optim.SGD(groups, lr=0.5)
    with pytest.raises(DataError, match="2 parameter groups"):
        opt.init({"w": tw.ones(2)})
    with pytest.raises(DataError, match="param_groups"):
        opt.lr = 0.1
    with pytest.raises(DataError, match="add_param_group"):
        opt.param_groups[0]["params"] = []


@pytest.mark.parametrize("name", OPTIONS)
def test_frozen_parameters_stay(name: str, cpu: str) -> None:
    model = tw.nn.Sequential(tw.nn.Linear(2, 3), tw.nn.Linear(3, 1))
    model[0].requires_grad_(False)
    opt = getattr(ANY, name)(model.parameters(), lr=0.1, weight_decay=0.1)
    before = [p.tolist() for p in model.parameters()]
    for _ in range(2):
        opt.zero_grad()
        (model(tw.ones((4, 2))) ** 2).mean().backward()
        opt.step()
    after = [p.tolist() for p in model.parameters()]
    assert [x == y for x, y in zip(before, after, strict=True)] == [
        *[True] * 2,
        *[False] * 2,
    ]
    assert not model[0].weight.requires_grad


def test_parameters_can_be_frozen_and_thawed_later(cpu: str) -> None:
    a, b = tw.ones(2), tw.ones(2)
    opt = tw.optim.SGD([a, b], lr=0.5)
    a.requires_grad = False
    assert trained(opt, [a, b]) == [1.0, 1 - 3 * 0.5 * GRADIENT]
    a.requires_grad_()
    assert trained(opt, [a, b])[0] == 1 - 3 * 0.5 * GRADIENT


def test_clipping_returns_the_norm(cpu: str) -> None:
    w = tw.zeros(2)
    opt = tw.optim.SGD([w], lr=1.0)
    (w * tw.asarray([30.0, 40.0])).sum().backward()
    assert math.isclose(float(opt.clip_by_global_norm(1.0)), 50.0)
