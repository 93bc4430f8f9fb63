"""Optimisers and files know modules: their names, what is trained, what is shared."""

from __future__ import annotations

import io

import pytest

import tensorweb as tw
from tensorweb.errors import DataError
from tensorweb.tensor import Tensor


class Net(tw.nn.Module):
    """Two layers between which a table lies that is not trained."""

    def __init__(self) -> None:
        rng = tw.random.Generator(1)
        self.layers = [tw.nn.Linear(3, 4, rng=rng), tw.nn.Linear(4, 2, rng=rng)]
        self.table: Tensor
        self.register_buffer("table", tw.full(4, 0.5))
        self.width = 4

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.layers
        found: Tensor = second(tw.tanh(first(x)) * self.table)
        return found


def loss(net: Net, x: Tensor) -> Tensor:
    """Return a mean square."""
    found: Tensor = net(x)
    return ((found - 1.0) ** 2).mean()


def test_both_styles_train_a_module(cpu: str) -> None:
    x = tw.linspace(-1.0, 1.0, 15).reshape((5, 3))
    net, own = Net(), Net()
    opt = tw.optim.Adam(lr=0.05)
    state = opt.init(net)
    assert state.groups[0].layout.names[0] == "layers.0.weight"
    assert "table" not in state.groups[0].layout.names
    mine = tw.optim.Adam(own.parameters(), lr=0.05)
    first = loss(net, x).item()
    for _ in range(5):
        net, state = opt.update(net, tw.grad(loss)(net, x), state)
        mine.zero_grad()
        loss(own, x).backward()
        mine.step()
    assert len(state.groups) == 1
    assert loss(net, x).item() == loss(own, x).item() < first
    assert (net.width, net.table.tolist()) == (4, [0.5] * 4)


def test_modules_are_saved_by_the_names_of_their_parameters(cpu: str) -> None:
    net = Net()
    file = io.BytesIO()
    tw.save(file, net)
    file.seek(0)
    flat = tw.load(file)
    assert set(flat) == set(net.state_dict())
    file.seek(0)
    other = Net()
    other.layers[0].weight = other.layers[0].weight + 1
    found = tw.load(file, like=other)
    assert isinstance(found, Net)
    assert found(tw.ones(3)).tolist() == net(tw.ones(3)).tolist()
    assert other(tw.ones(3)).tolist() != net(tw.ones(3)).tolist()
    other.load_state_dict(flat)
    assert other(tw.ones(3)).tolist() == net(tw.ones(3)).tolist()


def test_a_layers_name_is_part_of_an_error(cpu: str) -> None:
    opt = tw.optim.Adam(lr=0.05)
    net = Net()
    net.layers[1] = tw.nn.Linear(4, 3)
    with pytest.raises(tw.DataError, match=r"'layers\.1\.weight' has shape \(3, 4\)"):
        opt.update(net, net, opt.init(Net()))


def test_a_step_takes_no_gradients(cpu: str) -> None:
    model = tw.nn.Linear(2, 1)
    opt = tw.optim.SGD(model.parameters(), lr=0.5)
    before = model.weight.tolist()
    for grads in (tw.grad(lambda m: m(tw.ones(2)).sum())(model), {}, [tw.ones(1)], 0.1):
        with pytest.raises(DataError, match=r"state = opt\.update\(params, grads"):
            opt.step(grads)
    assert model.weight.tolist() == before
