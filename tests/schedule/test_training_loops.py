"""Loops that train without `jit`: from a few steps on nothing is planned anew."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import Tensor, devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.drivers.protocol import DISPATCH

Step = Callable[[], object]

WARM = 8
"""Steps after which all that a loop needs is known; it is known after three or so."""


class CountingDriver(PretendDriver):
    """Counts launches; what a step computes is nothing."""

    launches = 0

    def submit(self, tape: array[int]) -> None:
        """Count the launches of a tape."""
        word = tape[0] + 1
        while word < len(tape):
            is_launch = tape[word] == DISPATCH
            self.launches += is_launch
            word += 7 + tape[word + 6] if is_launch else 6 if tape[word] == 2 else 4


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingDriver]:
    """A GPU that is not there."""
    found = CountingDriver()
    monkeypatch.setitem(devices._backends, "webgpu", WebGpuBackend(found))
    with devices.device("webgpu"):
        yield found


def filled(*shape: int) -> Tensor:
    return tw.realize(tw.full(shape, 0.5) * 1.0)


def weights() -> list[Tensor]:
    return [filled(8, 16), filled(16), filled(16, 4), filled(4)]


def loss_of(weights: list[Tensor], x: Tensor) -> Tensor:
    w, b, v, c = weights
    return tw.nn.log_softmax(tw.nn.relu(x @ w + b) @ v + c).mean()


def stateful(make: Callable[[list[Tensor]], tw.optim.Optimizer]) -> Step:
    """Return a step by PyTorch's habits; every result is held, and none is read."""
    x, params, held = filled(32, 8), weights(), []
    opt = make(params)

    def step() -> object:
        loss = loss_of(params, x)
        loss.backward()
        opt.step()
        opt.zero_grad()
        held.append(loss)
        return opt

    return step


def read() -> Step:
    x, params = filled(32, 8), weights()
    opt = tw.optim.Adam(params, lr=0.1)

    def step() -> object:
        loss = loss_of(params, x)
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss.item()

    return step


def averages() -> Step:
    x, params = filled(32, 8), weights()
    opt = tw.optim.SGD(params, lr=tw.optim.cosine(0.1, 100), momentum=0.9)
    means = [each.detach() for each in params]
    total: list[Tensor | float] = [0.0]

    def step() -> object:
        loss = loss_of(params, x)
        loss.backward()
        opt.step()
        opt.zero_grad()
        total[0] = total[0] + loss.detach()
        with tw.no_grad():
            means[:] = [0.9 * m + 0.1 * p for m, p in zip(means, params, strict=True)]
        return opt

    return step


def functional() -> Step:
    x, opt = filled(32, 8), tw.optim.Adam(lr=0.1)
    params = weights()
    state = [opt.init(params)]

    def step() -> object:
        grads = tw.grad(loss_of)(params, x)
        params[:], state[0] = opt.update(params, grads, state[0])
        return opt

    return step


def by_hand() -> Step:
    x, params = filled(32, 8), weights()

    def step() -> object:
        grads = tw.grad(loss_of)(params, x)
        params[:] = [p - 0.1 * g for p, g in zip(params, grads, strict=True)]
        return params

    return step


def in_place() -> Step:
    x, params = filled(32, 8), [each.requires_grad_() for each in weights()]

    def step() -> object:
        loss_of(params, x).backward()
        with tw.no_grad():
            for each in params:
                assert each.grad is not None
                each -= 0.1 * each.grad
                each.grad = None
        return params

    return step


def new_leaves() -> Step:
    x, params = filled(32, 8), [each.requires_grad_() for each in weights()]

    def step() -> object:
        loss_of(params, x).backward()
        moved = [each - 0.1 * each.grad for each in params if each.grad is not None]
        params[:] = [each.detach().requires_grad_() for each in moved]
        return params

    return step


LOOPS: dict[str, tuple[Callable[[], Step], int]] = {
    "Adam": (lambda: stateful(lambda p: tw.optim.Adam(p, lr=0.1)), 12),
    "SGD": (lambda: stateful(lambda p: tw.optim.SGD(p, lr=0.1)), 10),
    "Adam, read": (read, 12),
    "averages": (averages, 18),
    "functional": (functional, 11),
    "by hand": (by_hand, 14),
    "in place": (in_place, 14),
    "new leaves": (new_leaves, 14),
}
"""A step of each, and how many launches it takes at the most."""


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_plans_a_few_of_its_steps(name: str, driver: CountingDriver) -> None:
    make, most = LOOPS[name]
    step = make()
    for _ in range(WARM):
        step()
    backend = devices.backend("webgpu")
    assert isinstance(backend, WebGpuBackend)
    known, compiled = len(backend._plans), len(driver.sources)
    found = []
    for _ in range(2):
        before = driver.launches
        for _ in range(4):
            step()
        found.append(driver.launches - before)
    assert (len(backend._plans), len(driver.sources)) == (known, compiled)
    assert found[0] == found[1]
    assert 0 < found[0] <= 4 * most


@pytest.mark.usefixtures("driver")
def test_steps_that_nobody_reads_are_counted_without_a_graph() -> None:
    step = stateful(lambda p: tw.optim.SGD(p, lr=0.1))
    for _ in range(5):
        opt = step()
    assert isinstance(opt, tw.optim.Optimizer)
    assert opt.state is not None
    assert opt.state.step.node.depth == 0
    assert opt.state.step.item() == 5
