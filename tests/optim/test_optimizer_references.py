"""Optimisers, schedules and clipping do in 50 steps what PyTorch has recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, TraceError
from tensorweb.tensor import Tensor

FILE = Path(__file__).parents[1] / "references" / "optimisers.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())
CASES: list[dict[str, Any]] = RECORDED["cases"]

SCHEDULES = {
    "linear": tw.optim.linear(0.2, 0.05, steps=40),
    "cosine": tw.optim.cosine(0.2, steps=50, end=0.001),
    "warmup_cosine": tw.optim.warmup_cosine(0.2, 10, 40, start=2e-9),
    "exponential": tw.optim.exponential(0.2, 0.95),
    "step_decay": tw.optim.step_decay(0.2, 7, rate=0.5),
    "multistep": tw.optim.multistep(0.2, [3, 20], rate=0.3),
    "one_cycle": tw.optim.one_cycle(0.2, 51),
    "warm_restarts": tw.optim.warm_restarts(0.2, 5, factor=2, end=0.01),
}


def named(case: dict[str, Any]) -> str:
    options = " ".join(f"{name}={value}" for name, value in case["options"].items())
    return f"{case['optimiser']} {options}"


def made(case: dict[str, Any]) -> tw.optim.Optimizer:
    kind = getattr(tw.optim, case["optimiser"])
    found: tw.optim.Optimizer = kind(**case["options"])
    return found


def trained(
    opt: tw.optim.Optimizer,
    dtype: tw.DType,
    *,
    clip: float | None = None,
    left_out: int = 0,
    steps: int = 50,
    fixed: tuple[str, ...] = (),
) -> Iterator[tuple[int, dict[str, Tensor]]]:
    """Yield number and parameters after each step."""
    x, y = tw.asarray(RECORDED["x"], dtype), tw.asarray(RECORDED["y"], dtype)

    def loss(tree: dict[str, Tensor]) -> Tensor:
        found = tw.tanh(x @ tree["w"] + tree["b"]) * tree["scale"]
        return ((found - y) ** 2).mean()

    tree = {name: tw.asarray(v, dtype) for name, v in RECORDED["start"].items()}
    others = {name: tree.pop(name) for name in fixed}
    state = opt.init(tree)
    for step in range(1, steps + 1):
        grads = tw.grad(lambda tree: loss(tree | others))(tree)
        if left_out and step % left_out == 0:
            grads["b"] = None
        if clip is not None:
            grads = tw.optim.clip_by_global_norm(grads, clip)
        tree, state = opt.update(tree, grads, state)
        yield step, tree


def check(
    found: Iterator[tuple[int, dict[str, Tensor]]],
    expected: dict[str, dict[str, Any]],
    within: float,
) -> None:
    """Compare all parameters after each step that is recorded."""
    compared = 0
    for step, tree in found:
        for name, numbers in expected.get(str(step), {}).items():
            compared += 1
            assert tree[name].reshape(-1).tolist() == pytest.approx(
                tw.asarray(numbers, tw.float64, device="cpu").reshape(-1).tolist(),
                rel=within,
                abs=within,
            )
    assert compared >= 3


@pytest.mark.parametrize("case", CASES, ids=named)
def test_optimisers_in_float64(case: dict[str, Any], cpu: str) -> None:
    fixed = tuple(RECORDED["start"].keys() - case["after"]["1"].keys())
    found = trained(made(case), tw.float64, fixed=fixed)
    check(found, case["after"], 1e-10)


ON_GPU = (
    [
        CASES[number]
        for number in (6, 12, 14, 20, 22)  # all options of a rule, or most of them
    ]
    + [
        next(case for case in CASES[24:] if case["optimiser"] == name)
        for name in ("NAdam", "RAdam", "Adamax", "Adadelta", "Adafactor", "Muon")
    ]
)


@pytest.mark.parametrize("case", ON_GPU, ids=named)
def test_the_gpu_finds_the_same(case: dict[str, Any], webgpu: str) -> None:
    fixed = tuple(RECORDED["start"].keys() - case["after"]["1"].keys())
    found = trained(made(case), tw.float32, steps=10, fixed=fixed)
    check(found, case["after"], 3e-5)


def minimised(case: dict[str, Any], dtype: tw.DType) -> Iterator[Any]:
    """Yield the loss before and the parameters after each of three steps of LBFGS."""
    x, y = tw.asarray(RECORDED["x"], dtype), tw.asarray(RECORDED["y"], dtype)
    tree = {name: tw.asarray(v, dtype) for name, v in RECORDED["start"].items()}
    opt = tw.optim.LBFGS(tree, **case["options"])

    def closure() -> Tensor:
        opt.zero_grad()
        found = tw.tanh(x @ tree["w"] + tree["b"]) * tree["scale"]
        loss = ((found - y) ** 2).mean()
        loss.backward()
        return loss

    for _ in range(3):
        yield opt.step(closure).item(), tree


@pytest.mark.parametrize("case", RECORDED["minimised"], ids=lambda c: str(c["options"]))
def test_lbfgs(case: dict[str, Any], cpu: str) -> None:
    for step, (loss, tree) in enumerate(minimised(case, tw.float64), start=1):
        assert loss == pytest.approx(case["losses"][step - 1], rel=1e-9)
        check(iter([(step, tree)]), case["after"], 1e-8)


def test_lbfgs_on_the_gpu(webgpu: str) -> None:
    case = RECORDED["minimised"][2]
    [*_, (loss, _)] = minimised(case, tw.float32)
    assert loss == pytest.approx(case["losses"][2], rel=1e-3)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str, cpu: str) -> None:
    opt = tw.optim.SGD(lr=SCHEDULES[name])
    # The rate is a float32. PyTorch's cosine rises again after its end.
    steps = 39 if name == "warmup_cosine" else 50
    found = trained(opt, tw.float64, steps=steps)
    check(found, RECORDED["schedules"][name], 1e-6)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_the_same_on_the_gpu(name: str, webgpu: str) -> None:
    steps = [float(step) for step in range(60)]
    on = [
        SCHEDULES[name](tw.asarray(steps, device=device)).tolist()
        for device in (webgpu, "cpu")
    ]
    assert on[0] == pytest.approx(on[1], rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    "case", RECORDED["schedulers"], ids=lambda case: case["scheduler"]
)
def test_schedulers_in_the_style_of_pytorch(case: dict[str, Any], cpu: str) -> None:
    optimizer = tw.optim.Adam([tw.zeros(1)], lr=0.2)
    make = getattr(tw.optim.lr_scheduler, case["scheduler"])
    scheduler = make(optimizer, **case["options"])
    rates, betas = [], []
    for metric in RECORDED["metrics"]:
        rates += scheduler.get_last_lr()
        betas.append(optimizer.param_groups[0]["betas"][0])
        assert float(optimizer.param_groups[0]["lr"]) == pytest.approx(rates[-1])
        is_plateau = case["scheduler"] == "ReduceLROnPlateau"
        scheduler.step(*([metric] if is_plateau else []))
    assert rates == pytest.approx(case["rates"], rel=1e-9, abs=1e-12)
    assert betas == pytest.approx(case["betas"], rel=1e-9)


@pytest.mark.parametrize("name", RECORDED["combined"])
def test_several_schedulers_of_one_optimiser(name: str, cpu: str) -> None:
    case, every = RECORDED["combined"][name], tw.optim.lr_scheduler
    groups = [{"params": [tw.zeros(1)]}, {"params": [tw.zeros(1)], "lr": 0.03}]
    optimizer = tw.optim.SGD(groups, lr=0.2)
    parts = [getattr(every, kind)(optimizer, **o) for kind, o in case["parts"]]
    scheduler: Any = (
        every.ChainedScheduler(parts)
        if case["milestones"] is None
        else every.SequentialLR(optimizer, parts, case["milestones"])
    )
    for step, rates in enumerate(case["rates"]):
        assert scheduler.get_last_lr() == pytest.approx(rates, rel=1e-6, abs=1e-12)
        if step == 30:
            group = optimizer.param_groups[0]
            group["lr"] = float(group["lr"]) * 3
        scheduler.load_state_dict(scheduler.state_dict()) if step < 30 else None
        scheduler.step()


def test_factors_by_functions_for_each_group(cpu: str) -> None:
    every = tw.optim.lr_scheduler
    groups = [{"params": [tw.zeros(1)]}, {"params": [tw.zeros(1)], "lr": 0.25}]
    optimizer = tw.optim.SGD(groups, lr=1.0)
    factors = [lambda epoch: 0.5**epoch, lambda epoch: 1.0 + epoch]
    scheduler = every.LambdaLR(optimizer, factors)
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5, 0.5]
    scheduler = every.MultiplicativeLR(optimizer, factors)
    scheduler.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.0625, 3.0]
    with pytest.raises(DataError, match="a list of 2"):
        every.LambdaLR(optimizer, factors[:1])


def test_a_step_of_a_fraction_of_an_epoch(cpu: str) -> None:
    optimizer = tw.optim.SGD([tw.zeros(1)], lr=1.0)
    scheduler = tw.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2)
    scheduler.step(0.5)
    assert scheduler.get_last_lr() == pytest.approx([0.5 + 0.5**1.5])


def test_a_scheduler_is_saved_and_serves_a_step_of_jit(webgpu: str) -> None:
    w = tw.zeros(2)
    optimizer = tw.optim.SGD([w], lr=0.5)
    scheduler = tw.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)

    @tw.jit(updates=(w, optimizer))
    def step() -> None:
        w.sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(3):
        step()
        scheduler.step()
    assert w.tolist() == [-0.875, -0.875]
    other = tw.optim.lr_scheduler.StepLR(tw.optim.SGD([w], lr=0.5), 1, gamma=0.5)
    other.load_state_dict(scheduler.state_dict())
    other.step()
    assert other.get_last_lr() == [0.5**5]
    with pytest.raises(TraceError, match="outside"):
        tw.jit(scheduler.step, updates=(w, optimizer))()


def test_schedulers_refuse_what_they_cannot_follow(cpu: str) -> None:
    every = tw.optim.lr_scheduler
    owner = tw.optim.SGD([tw.zeros(1)], lr=tw.optim.constant(0.1))
    with pytest.raises(DataError, match="follows a schedule already"):
        every.StepLR(owner, 3)
    with pytest.raises(DataError, match="give an optimiser with parameters"):
        every.StepLR(tw.optim.SGD(lr=0.1), 3)
    owner = tw.optim.Adagrad([tw.zeros(1)], lr=0.1)
    with pytest.raises(DataError, match="Adagrad has no momentum"):
        every.OneCycleLR(owner, 0.1, 10)
    with pytest.raises(DataError, match="total_steps="):
        every.OneCycleLR(owner, 0.1)
    with pytest.raises(DataError, match="one milestone for each scheduler after"):
        every.SequentialLR(owner, [every.StepLR(owner, 1)], [3])
    with pytest.raises(DataError, match="schedulers of one optimiser"):
        every.ChainedScheduler([every.StepLR(owner, 1)], tw.optim.SGD([tw.ones(1)]))
    with pytest.raises(DataError, match="mode='square'"):
        every.CyclicLR(owner, 0.1, 0.2, mode="square")
    with pytest.raises(DataError, match="mode='best'"):
        every.ReduceLROnPlateau(owner, "best")
    with pytest.raises(DataError, match="leaves a phase without"):
        tw.optim.one_cycle(0.1, 3)


def test_clipping(cpu: str) -> None:
    opt = tw.optim.SGD(lr=0.1, momentum=0.9)
    check(trained(opt, tw.float64, clip=0.05), RECORDED["clipped"], 1e-10)


@pytest.mark.parametrize("kind", ["Adam", "SGD"])
def test_gradients_that_are_left_out(kind: str, cpu: str) -> None:
    expected = RECORDED["every third gradient of b left out"][kind]
    opt = (
        tw.optim.Adam(lr=0.03) if kind == "Adam" else tw.optim.SGD(lr=0.1, momentum=0.9)
    )
    check(trained(opt, tw.float64, left_out=3), expected, 1e-10)
