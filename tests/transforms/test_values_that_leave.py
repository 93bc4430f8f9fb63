"""Values that leave a derivative as numbers, through Python or NumPy, are an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw

LEAVING: dict[str, Callable[[tw.Tensor], Any]] = {
    "item()": lambda x: x[0].item(),
    "tolist()": lambda x: tw.asarray(x.tolist()),
    "float()": lambda x: math.sin(x[0]),
    "complex()": lambda x: complex(x[0]).real,
    "numpy()": lambda x: x.numpy(),
    "numpy() of an array": lambda x: np.asarray(x),
    "numpy() of elements": lambda x: np.array([x[0], x[1]]),
}


@pytest.mark.parametrize("name", LEAVING)
def test_values_that_leave_are_an_error(name: str, device: str) -> None:
    leave = LEAVING[name]

    def loss(x: tw.Tensor) -> tw.Tensor:
        return (x * tw.asarray(leave(x * 2))).sum()

    x = tw.asarray([1.0, 2.0])
    said = re.escape(name.split(" of ")[0]) + r": .* derivative .*x\.detach\(\)"
    for take in (
        tw.grad(loss),
        tw.jacfwd(loss),
        tw.hessian(loss),
        tw.grad(tw.checkpoint(loss)),
        lambda x: tw.vjp(loss, x),
        lambda x: tw.jvp(loss, (x,), (x,)),
        lambda x: tw.grad(lambda w: tw.vmap(lambda y: y * loss(w))(x).sum())(x),
    ):
        with pytest.raises(tw.errors.TransformError, match=said):
            take(x)


def test_values_that_leave_without_a_derivative(device: str) -> None:
    labels = tw.asarray([1, 0])

    def loss(x: tw.Tensor) -> tw.Tensor:
        count = (x > 0).sum().item() + float(labels[0]) + int(labels.numpy().sum())
        constant = float(x.detach()[0]) + float(tw.stop_gradient(x).numpy()[1])
        with tw.no_grad():
            constant += (x * 2).sum().item()
        return (x * (count + constant)).sum()

    assert tw.grad(loss)(tw.asarray([1.0, 2.0])).tolist() == [13, 13]


def test_values_of_a_derivative_that_is_done_may_leave(device: str) -> None:
    def loss(x: tw.Tensor) -> tw.Tensor:
        root = 1.0
        for _ in range(5):  # Newton's method on constants
            value, gradient = tw.value_and_grad(lambda y: y * y - 2)(root)
            root -= value.item() / gradient.item()
        return x * root

    assert tw.grad(loss)(3.0).item() == pytest.approx(2**0.5, rel=1e-6)


def test_tangents_of_a_given_rule_stay_tensors(device: str) -> None:
    f = tw.custom_jvp(lambda x: x * 3, lambda x, t: (x[0] * 3, float(t[0]) * x[0] * 3))
    g = tw.custom_jvp(lambda x: x * 3, lambda x, t: (x[0] * 3, t[0] * float(x[0])))
    with pytest.raises(tw.errors.TransformError, match=r"float\(\)"):
        tw.grad(f)(2.0)
    assert tw.grad(g)(2.0).item() == 2


def test_values_leave_functions_whose_derivative_is_given(device: str) -> None:
    def forward(x: tw.Tensor) -> tuple[tw.Tensor, tw.Tensor]:
        return tw.asarray(np.sin(np.asarray(x)), device=x.device), x

    sine = tw.custom_vjp(
        lambda x: forward(x)[0], forward, lambda x, g: (g * tw.cos(x),)
    )
    x = tw.asarray([0.5, 1.0])
    expected = pytest.approx(np.cos([0.5, 1.0]), rel=1e-6)
    inside = tw.checkpoint(lambda x: sine(x).sum())
    assert tw.grad(lambda x: sine(x).sum())(x).tolist() == expected
    assert tw.grad(inside)(x).tolist() == expected
    with pytest.raises(tw.errors.TransformError, match=r"numpy\(\)"):
        tw.hessian(lambda x: sine(x).sum())(x)
    w = x.requires_grad_()
    inside(w).backward()
    assert w.grad is not None
    assert w.grad.tolist() == expected
