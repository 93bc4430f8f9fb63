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
        names = ["scale", "linear.weight", "linear.bias"]
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
    assert flow.train() is flow
    assert flow.requires_grad_().apply(lambda _: None) is flow
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


class Parts(nn.Module):
    """Modules in all kinds of containers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.inside = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
        self.list = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.dict = nn.ModuleDict({"a": nn.Linear(2, 2)})
        self.plain = [nn.Linear(2, 2)]

    def forward(self, x: Any) -> Any:
        x = self.inside(self.first(x))
        for layer in (*self.list, self.dict["a"], *self.plain):
            x = layer(x)
        return x


class Doubled(nn.Module):
    def __init__(self, base: nn.Module) -> None:
        super().__init__()
        self.base = base

    def forward(self, x: Any) -> Any:
        return 2 * self.base(x)


def test_layers_are_replaced_wherever_they_are(device: str) -> None:
    def replaced(module: nn.Module) -> None:
        for name, child in module.named_children():
            if isinstance(child, nn.Linear):
                setattr(module, name, Doubled(child))
            else:
                replaced(child)

    def by_path(module: nn.Module) -> None:
        for name, child in [*module.named_modules()]:
            if isinstance(child, nn.Linear):
                *path, last = name.split(".")
                parent = module
                for part in path:
                    parent = getattr(parent, part)
                assert parent is module.get_submodule(".".join(path))
                if isinstance(parent, nn.Module | nn.ModuleList | nn.ModuleDict):
                    setattr(parent, last, Doubled(child))
                else:  # a plain list, which PyTorch does not look into
                    setattr(module, name, Doubled(child))

    for replace in (replaced, by_path):
        model = Parts()
        for parameter in model.parameters():
            parameter.data = tw.eye(2) if parameter.ndim > 1 else tw.zeros(2)
        replace(model)
        assert model(tw.ones(2)).tolist() == [128, 128]
        assert [*model.state_dict()][-1] == "plain.0.base.bias"
    for path in ("list.5", "list.a", "dict.b", "none.0"):
        with pytest.raises(AttributeError, match=r"no (part|attribute|module)"):
            setattr(model, path, nn.ReLU())
    assert [*model.list[:1].state_dict()] == ["0.base.weight", "0.base.bias"]


def test_a_sequence_of_layers_is_edited_as_a_list(cpu: str) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    model.insert(1, nn.Tanh()).extend([nn.Sigmoid(), nn.ELU()])
    assert repr(model.pop(-1)) == "ELU(alpha=1.0)"
    del model[0]
    assert [name for name, _ in model.named_children()] == ["0", "1", "2"]
    assert [type(layer).__name__ for layer in model] == ["Tanh", "ReLU", "Sigmoid"]
    del model[1:]
    assert len(model) == 1
