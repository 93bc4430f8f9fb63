"""What stopped programs of d2l, and of tutorials of PyTorch and JAX, runs now."""

from __future__ import annotations

from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn


class Attention(nn.Module):
    """Stores its weights, as d2l's attention does, and a divergence."""

    def __init__(self) -> None:
        self.linear = nn.Linear(3, 3)
        self.kl: Any = 0

    def forward(self, x: tw.Tensor) -> tw.Tensor:
        self.weights = nn.softmax(self.linear(x), dim=-1)
        self.all = [self.weights, self.weights * 2]
        self.kl = (self.linear.weight**2).sum()
        if not hasattr(self, "scale"):
            self.scale = nn.Parameter(tw.ones(1))
        return self.weights * self.scale


def test_results_that_forward_stores_are_no_parameters(device: str) -> None:
    with tw.device(device):
        model = Attention()
        model(tw.ones((2, 3)))  # before any weight requires a gradient
        names = ["linear.weight", "linear.bias", "scale"]
        opt = tw.optim.SGD(model.linear.parameters(), lr=0.5)
        for _ in range(2):
            opt.zero_grad()
            (model(tw.ones((2, 3)))[:, 0].sum() + model.kl).backward()
            opt.step()
            assert [name for name, _ in model.named_parameters()] == names
            assert [*model.state_dict()] == names
        step = tw.jit(lambda m, x: m(x).sum())
        assert step(model, tw.ones((2, 3))).item() == pytest.approx(2)
        assert model.weights.shape == (2, 3)


def test_lists_and_dicts_of_modules_have_a_modules_methods(cpu: str) -> None:
    flow = nn.ModuleList([nn.Linear(2, 2), nn.Dropout(1.0)])
    assert [name for name, _ in flow.named_parameters()] == ["0.weight", "0.bias"]
    assert flow.train() is not None
    assert flow[1](tw.ones(2)).tolist() == [0, 0]
    parts = nn.ModuleDict({"a": nn.Linear(2, 1)})
    assert [*parts.state_dict()] == ["a.weight", "a.bias"]
    assert parts.a is parts["a"]
    for held, match in ((flow, "'ModuleList' has no attribute 'x'"), (parts, "only a")):
        with pytest.raises(AttributeError, match=match):
            _ = held.x
    assert not hasattr(flow, "__array__")


def test_rules_are_defined_later_as_in_jax(device: str) -> None:
    @tw.custom_vjp
    def clipped(low: float, high: float, x: tw.Tensor) -> tw.Tensor:
        return x

    def forward(low: float, high: float, x: tw.Tensor) -> Any:
        return x, (low, high)

    def backward(ends: Any, gradient: tw.Tensor) -> Any:
        return None, None, tw.clip(gradient, *ends)

    later: Any = clipped
    with pytest.raises(tw.TransformError, match=r"define it with clipped\.defvjp"):
        later(0.0, 1.0, tw.ones(2))
    later.defvjp(forward, backward)
    with tw.device(device):
        found = tw.grad(lambda x: (clipped(-0.5, 0.5, x) * 3).sum())(tw.ones(2))
        assert found.tolist() == [0.5, 0.5]

        @tw.custom_jvp
        def double(x: tw.Tensor) -> tw.Tensor:
            return 2 * x

        rule: Any = double
        rule.defjvp(lambda primals, tangents: (2 * primals[0], 7 * tangents[0]))
        assert tw.grad(double)(1.0).item() == 7
        assert tw.jit(tw.vmap(tw.grad(double)))(tw.ones(2)).tolist() == [7, 7]
