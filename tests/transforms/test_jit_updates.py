"""Recorded functions update models, optimisers and generators around them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.devices import backend
from tensorweb.errors import TraceError
from tensorweb.graph.node import Node
from tensorweb.tensor import Tensor


class Line(tw.nn.Module):
    """One layer, and how often it was used."""

    def __init__(self) -> None:
        self.weight, self.bias = tw.asarray([[0.5, -1.0, 0.25]]), tw.zeros(1)
        self.calls: Tensor = tw.asarray([0])

    def forward(self, x: Tensor) -> Tensor:
        self.calls = self.calls + 1
        found: Tensor = x @ self.weight.T + self.bias
        return found


def data() -> tuple[Tensor, Tensor]:
    """Return inputs and targets."""
    x = tw.asarray([[1.0, 2.0, -1.0], [0.5, -1.0, 3.0]])
    return x, tw.asarray([[1.0], [-2.0]])


def training(net: Line, opt: tw.optim.Optimizer) -> Callable[..., Tensor]:
    """Return a step of training by PyTorch's habits."""

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss: Tensor = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    return step


def made() -> tuple[Line, tw.optim.Optimizer]:
    """Return a model and its optimiser."""
    net = Line()
    rate = tw.optim.warmup_cosine(0.1, 2, 20, start=0.01)
    return net, tw.optim.AdamW(net.parameters(), lr=rate)


def test_a_step_of_training_is_recorded_once(webgpu: str) -> None:
    x, y = data()
    net, opt = made()
    plain = training(net, opt)
    expected = [plain(x, y).item() for _ in range(5)]
    other, its = made()
    step = tw.jit(training(other, its), updates=(other, its))
    assert [step(x, y).item() for _ in range(5)] == pytest.approx(expected, rel=1e-5)
    assert step.recordings == 1
    assert other.calls.tolist() == net.calls.tolist() == [5]
    assert other.weight.tolist()[0] == pytest.approx(net.weight.tolist()[0], rel=1e-5)
    assert other.weight.is_leaf
    assert other.weight.grad is None


def test_learning_rates_change_without_recording(webgpu: str) -> None:
    w = tw.zeros(2)
    opt = tw.optim.SGD([w], lr=1.0)

    @tw.jit(updates=(w, opt))
    def step(x: Tensor) -> Tensor:
        loss = (w * x).sum()
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    step(tw.ones(2))
    step(tw.ones(2))
    opt.lr = 0.25
    recorded = step.recordings
    step(tw.ones(2))
    assert w.tolist() == [-2.25, -2.25]
    assert step.recordings == recorded


def test_gradients_are_arguments_and_results(webgpu: str) -> None:
    w = tw.asarray([1.0, 2.0], requires_grad=True)

    @tw.jit(updates=w)
    def add(x: Tensor) -> None:
        (w * x).sum().backward()

    for _ in range(3):
        add(tw.asarray([1.0, 3.0]))
    assert w.grad is not None
    assert w.grad.tolist() == [3, 9]
    assert add.recordings == 2  # without gradients, and with some
    w.grad = None
    add(tw.asarray([0.5, 0.5]))
    again: Any = w.grad
    assert again.tolist() == [0.5, 0.5]
    assert add.recordings == 2


def test_tensors_dicts_lists_and_generators_are_updated(webgpu: str) -> None:
    total, table = tw.zeros(2), {"seen": [tw.zeros(2)]}
    rng = tw.random.Generator(3)
    expected = tw.random.Generator(3)

    @tw.jit(updates=[total, table, rng])
    def step(x: Tensor) -> Tensor:
        total.__iadd__(x)
        table["seen"][0] = table["seen"][0] + 2 * x
        return rng.uniform(2)

    for _ in range(3):
        assert step(tw.ones(2)).tolist() == expected.uniform(2).tolist()
    assert total.tolist() == [3, 3]
    assert table["seen"][0].tolist() == [6, 6]
    assert step.recordings == 1


def test_a_container_that_grows_records_again(webgpu: str) -> None:
    seen: list[Tensor] = [tw.zeros(1)]

    @tw.jit(updates=seen)
    def step(x: Tensor) -> None:
        seen.append(seen[-1] + x)

    for _ in range(3):
        step(tw.ones(1))
    assert [x.tolist() for x in seen] == [[0], [1], [2], [3]]
    assert step.recordings == 3


def test_a_failure_leaves_everything_as_it_was(webgpu: str) -> None:
    x, y = data()
    net, opt = made()
    step = training(net, opt)

    @tw.jit(updates=(net, opt))
    def fails(x: Tensor, y: Tensor) -> Tensor:
        step(x, y)
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        fails(x, y)
    assert net.weight.tolist() == [[0.5, -1.0, 0.25]]
    assert net.calls.tolist() == [0]
    assert net.weight.grad is None
    assert step(x, y).item() == pytest.approx(11.78125, rel=1e-6)
    assert opt.state is not None
    assert opt.state.step.item() == 1


def test_a_model_is_an_argument_and_updated(webgpu: str) -> None:
    x, y = data()
    net, opt = made()

    @tw.jit(updates=opt)
    def step(net: Line, x: Tensor) -> tuple[Line, Tensor]:
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        return net, loss

    # The weights are the optimiser's as well; the model around them is the argument.
    found, first = step(net, x)
    found, second = step(net, x)
    assert found is net
    assert first.item() > second.item()


def test_captures_that_cannot_be_updated_are_refused(webgpu: str) -> None:
    class Opaque:
        pass

    for wrong in (3, "model", Opaque(), [print]):
        with pytest.raises(TraceError, match="in which no tensors can be found"):
            tw.jit(lambda x: x, updates=wrong)
    w, other = tw.ones(2).requires_grad_(), tw.ones(2)

    @tw.jit(updates=other)
    def step(x: Tensor) -> Tensor:
        loss = (w * x * other).sum()
        loss.backward()
        return loss

    with pytest.raises(TraceError, match=r"shape \(2,\) that updates= does not hold"):
        step(tw.ones(2))
    assert w.grad is None


def test_errors_name_the_missing_entries(webgpu: str) -> None:
    x, y = data()
    net, opt = made()
    step: Any = tw.jit(training(net, opt))
    with pytest.raises(TraceError, match=r"@tw\.jit\(updates=\(model, opt\)\)"):
        step(x, y)
    only_net: Any = tw.jit(training(net, opt), updates=net)
    with pytest.raises(TraceError, match=r"@tw\.jit\(updates=\(model, opt\)\)"):
        only_net(x, y)
    assert net.weight.grad is None

    @tw.jit(updates=net)
    def forward(x: Tensor) -> Tensor:
        found: Tensor = net(x)
        return found

    with pytest.raises(TraceError, match="requires a gradient"):
        forward(x)
    with tw.no_grad():
        assert forward(x).shape == (2, 1)


def test_where_nobody_records_the_function_simply_runs(cpu: str) -> None:
    x, y = data()
    net, opt = made()
    step = tw.jit(training(net, opt), updates=(net, opt))
    losses = [step(x, y).item() for _ in range(6)]
    assert losses[-1] < losses[0]


def test_memory_is_flat(webgpu: str) -> None:
    x, y = data()
    net, opt = made()
    step = tw.jit(training(net, opt), updates=(net, opt))
    pool: Any = backend("webgpu").pool  # type: ignore[attr-defined]  # it has one
    counts = []
    for _ in range(3):
        for _ in range(40):
            loss = step(x, y)
        loss.item()
        gc.collect()
        counts.append((*alive(), pool.allocated))
    assert counts[1] == counts[2]


def alive() -> tuple[int, int]:
    """Return how many nodes and tensors there are."""
    found = gc.get_objects()
    nodes = sum(type(each) is Node for each in found)
    return nodes, sum(isinstance(each, Tensor) for each in found)


@pytest.mark.parametrize("is_listed", [True, False])
def test_an_updated_tensor_sees_writes_into_its_view(
    is_listed: bool, device: str
) -> None:
    whole = tw.realize(tw.arange(6.0) + 0)
    view = whole[:3]

    def step(*given: Tensor) -> Tensor:
        part = given[0] if given else view
        part[0] += 10.0
        return whole.sum()

    updates, given = ((whole, view), ()) if is_listed else ((whole,), (view,))
    jitted = tw.jit(step, updates=updates)
    for number in range(1, 4):
        assert jitted(*given).item() == 15.0 + 10.0 * number
        assert view.tolist() == [10.0 * number, 1.0, 2.0]
        assert whole.tolist() == [10.0 * number, 1.0, 2.0, 3.0, 4.0, 5.0]
