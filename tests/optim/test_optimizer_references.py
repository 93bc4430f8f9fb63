"""Optimisers, schedules and clipping do in 50 steps what PyTorch has recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.tensor import Tensor

FILE = Path(__file__).parents[1] / "references" / "optimisers.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())
CASES: list[dict[str, Any]] = RECORDED["cases"]

SCHEDULES = {
    "linear": tw.optim.linear(0.2, 0.05, steps=40),
    "cosine": tw.optim.cosine(0.2, steps=50, end=0.001),
    "warmup_cosine": tw.optim.warmup_cosine(0.2, 10, 40, start=2e-9),
    "exponential": tw.optim.exponential(0.2, 0.95),
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
) -> Iterator[tuple[int, dict[str, Tensor]]]:
    """Yield number and parameters after each step."""
    x, y = tw.asarray(RECORDED["x"], dtype), tw.asarray(RECORDED["y"], dtype)

    def loss(tree: dict[str, Tensor]) -> Tensor:
        found = tw.tanh(x @ tree["w"] + tree["b"]) * tree["scale"]
        return ((found - y) ** 2).mean()

    tree = {name: tw.asarray(v, dtype) for name, v in RECORDED["start"].items()}
    state = opt.init(tree)
    for step in range(1, steps + 1):
        grads = tw.grad(loss)(tree)
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
    assert compared >= 6


@pytest.mark.parametrize("case", CASES, ids=named)
def test_optimisers_in_float64(case: dict[str, Any], cpu: str) -> None:
    check(trained(made(case), tw.float64), case["after"], 1e-10)


ON_GPU = [
    CASES[number]
    for number in (6, 12, 14, 20, 22)  # all options of a rule, or most of them
]


@pytest.mark.parametrize("case", ON_GPU, ids=named)
def test_the_gpu_finds_the_same(case: dict[str, Any], webgpu: str) -> None:
    check(trained(made(case), tw.float32, steps=10), case["after"], 3e-5)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str, cpu: str) -> None:
    opt = tw.optim.SGD(lr=SCHEDULES[name])
    # The rate is a float32. PyTorch's cosine rises again after its end.
    steps = 39 if name == "warmup_cosine" else 50
    found = trained(opt, tw.float64, steps=steps)
    check(found, RECORDED["schedules"][name], 1e-6)


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
