"""Programs that grow: loops keep few kernels, and large graphs take linear work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tolerances import REDUCE

import tensorweb as tw
from tensorweb.backends import kernel_backend, numpy_backend, policy
from tensorweb.errors import DeviceMemoryError
from tensorweb.events import record_kernels
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import tracing
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.kernel_builder import KernelBuilder
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import LinearGraph, linearize
from tensorweb.tensor import Tensor

Step = Callable[[int], object]

ULPS = REDUCE["sum"] * 2.0**-23

on_webgpu = pytest.mark.usefixtures("webgpu")


def data(seed: int, *shape: int) -> Tensor:
    values = np.random.default_rng(seed).standard_normal(shape)
    return tw.asarray(values.astype("float32"))


def momentum() -> Step:
    x, y, w = data(0, 32, 8), data(1, 32, 1), data(2, 8, 1)
    b, v, vb = tw.zeros(1), tw.zeros((8, 1)), tw.zeros(1)

    def step(_: int) -> object:
        nonlocal w, b, v, vb
        p = x @ w + b
        d = p - y
        loss = (d * d).mean()
        gw, gb = x.T @ d / 32, d.sum(axis=0) / 32
        v, vb = 0.9 * v - 0.05 * gw, 0.9 * vb - 0.05 * gb
        w, b = w + v, b + vb
        return loss.item()

    return step


def momentum_in_place() -> Step:
    x, y, w = data(0, 32, 8), data(1, 32, 1), data(2, 8, 1)
    v, average = tw.zeros((8, 1)), w * 1

    def step(_: int) -> object:
        nonlocal w, v, average
        d = x @ w - y
        loss = (d * d).mean()
        v *= 0.9
        v -= 0.05 / 32 * (x.T @ d)
        w += v
        average += 0.01 * (w - average)
        return loss.item()

    return step


def adam() -> Step:
    x, y, w = data(0, 32, 8), data(1, 32, 1), data(2, 8, 1)
    m, v, average, total = w * 0, w * 0, w * 1, tw.asarray(0.0)

    def step(i: int) -> object:
        nonlocal w, m, v, average, total
        d = tw.tanh(x @ w) - y
        loss = (d * d).mean()
        g = x.T @ (d * (1 - d * d))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        corrected = v / (1 - 0.999 ** (i + 1))
        w = w - 0.01 * (m / (1 - 0.9 ** (i + 1))) / (tw.sqrt(corrected) + 1e-8)
        average, total = 0.99 * average + 0.01 * w, total + loss
        return loss.item()

    return step


def rarely_read() -> Step:
    x, y, w, v = data(0, 32, 8), data(1, 32, 1), data(2, 8, 1), tw.zeros((8, 1))

    def step(i: int) -> object:
        nonlocal w, v
        d = x @ w - y
        v = 0.9 * v - 0.01 * (x.T @ d)
        w = w + v
        return (d * d).mean().item() if i % 5 == 4 else None

    return step


def cells() -> Step:
    x = tw.zeros((10, 10), dtype=tw.bool)

    def step(i: int) -> object:
        x[i % 7, i // 3 % 10] = True
        return bool(x.any())

    return step


def masked() -> Step:
    x, n = data(0, 50), tw.arange(50)

    def step(i: int) -> object:
        x[n % (i + 2) == 0] = 1.0
        return float(x.sum())

    return step


def counter() -> Step:
    x = tw.zeros(1000)

    def step(_: int) -> object:
        nonlocal x
        x = x + 1
        return x.sum().item()

    return step


def life() -> Step:
    z = (data(0, 16, 16) > 0).astype(tw.int32)

    def step(_: int) -> object:
        nonlocal z
        around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        n = sum((tw.roll(z, shift, axis=(0, 1)) for shift in around), z * 0)
        z = tw.where((n == 3) | ((z == 1) & (n == 2)), 1, 0)
        return z.sum().item()

    return step


def recurrent() -> Step:
    h, w, u = tw.zeros((4, 16)), data(0, 16, 16) * 0.1, data(1, 8, 16)

    def step(i: int) -> object:
        nonlocal h
        h = tw.tanh(h @ w + data(i, 4, 8) @ u)
        return h.sum().item() if i % 3 == 2 else None

    return step


LOOPS: dict[Callable[[], Step], int] = {
    momentum: 12,
    momentum_in_place: 12,
    adam: 24,
    rarely_read: 14,
    cells: 6,
    masked: 8,
    counter: 6,
    life: 6,
    recurrent: 10,
}
"""Programs, and how many different kernels they may have, however long they run."""


@on_webgpu
@pytest.mark.parametrize("loop", LOOPS)
def test_loop_without_realize_keeps_few_kernels(loop: Callable[[], Step]) -> None:
    step = loop()
    found: set[str] = set()
    for i in range(30):
        with record_kernels() as records:
            step(i)
        if i == 20:
            early = len(found)
        found.update(record.source for record in records)
    assert len(found) <= LOOPS[loop]
    assert len(found) == early


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("loop", LOOPS)
def test_a_lazy_loop_agrees_with_realizing_every_step(
    loop: Callable[[], Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = loop()
    lazy = [value for i in range(12) if (value := step(i)) is not None]
    monkeypatch.setattr("tensorweb.tensor.base.DEEPEST", 0)
    monkeypatch.setattr("tensorweb.evaluate.DEEPEST", 0)
    step = loop()
    eager = [value for i in range(12) if (value := step(i)) is not None]
    assert lazy == pytest.approx(eager, rel=1e-5)


@on_webgpu
def test_a_read_evaluates_consumers_of_its_values() -> None:
    x = tw.realize(data(0, 5, 7))
    d = x * 2 + x.sum()
    state = tw.exp(d) + 1
    twice = state.T * 2
    other = tw.exp(x) + 1
    d.mean().item()
    assert twice.node.storage is not None
    assert state.node.storage is None, "computed inside of what is made of it"
    assert other.node.storage is None, "needs nothing that was computed"
    np.testing.assert_allclose(twice.numpy(), state.numpy().T * 2)


@on_webgpu
def test_a_read_omits_much_larger_or_freed_values() -> None:
    x = tw.realize(data(0, 3000))
    d = x * 2 + x.sum()
    large = d[:, None] * d + 1
    with record_kernels() as records:
        d[:5].tolist()
    assert large.node.storage is None
    d = x * 2 + x.max()
    _ = tw.exp(d) + 1
    del _
    with record_kernels() as again:
        d[:5].tolist()
    assert len(again) == len(records)


@on_webgpu
def test_a_read_succeeds_if_its_consumers_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flush = kernel_backend.KernelBackend._flush

    def refuse(
        backend: kernel_backend.KernelBackend, graph: LinearGraph, begun: float
    ) -> None:
        if len(graph.outputs) > 1:
            raise DeviceMemoryError("no room")
        flush(backend, graph, begun)

    monkeypatch.setattr(kernel_backend.KernelBackend, "_flush", refuse)
    d = data(0, 5, 7) * 2 + 1
    state = tw.exp(d) + 1
    assert d.mean().item() == pytest.approx(float(d.numpy().mean()))
    assert state.node.storage is None


@on_webgpu
def test_a_read_in_a_trace_leaves_placeholders_pending() -> None:
    captured = tw.exp(data(0, 5)) * 2
    seen = []

    def step(x: Tensor) -> Tensor:
        shifted = captured + 1
        result = (x + shifted) * 2
        seen.append(shifted.sum().item())
        return result

    x = tw.ones(5)
    np.testing.assert_allclose(tw.jit(step)(x).numpy(), step(x).numpy(), rtol=ULPS)
    assert seen[0] == seen[1]


@on_webgpu
def test_values_needed_again_are_stored_by_the_second_flush() -> None:
    x = tw.realize(data(0, 5, 7))
    d = tw.exp(x * 2) + x.sum()
    tw.realize(d.mean())
    assert d.node.storage is None
    tw.realize(d.max())
    assert d.node.storage is not None
    with record_kernels() as records:
        tw.realize(d.min())
    assert [record.kind for record in records] == ["reduce"]


def sum_in_pairs(count: int) -> Tensor:
    parts = [tw.asarray([float(number)]) for number in range(count)]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [*[a + b for a, b in pairs], *parts[len(parts) // 2 * 2 :]]
    return parts[0]


def joined(count: int) -> Tensor:
    return tw.stack([tw.asarray([float(number)]).sum() for number in range(count)])


def chain(count: int) -> Tensor:
    x = tw.realize(data(0, 5, 7))
    with tracing("chain"):
        for _ in range(count):
            x = x * 0.5 + 1.0
    return x


def transposes(count: int) -> Tensor:
    x = tw.realize(data(0, 5, 7)) + 1
    with tracing("transposes"):
        for _ in range(count):
            x = x.T
    return x + 1


@on_webgpu
@pytest.mark.parametrize("build", [sum_in_pairs, joined, chain, transposes])
def test_every_kernel_is_built_a_few_times_at_most(
    build: Callable[[int], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = linearize([build(1500).node.base])
    built = 0
    build_kernel = KernelBuilder.build

    def count(builder: KernelBuilder) -> Planned:
        nonlocal built
        built += 1
        return build_kernel(builder)

    monkeypatch.setattr(KernelBuilder, "build", count)
    kernels = plan(graph, 8)
    assert built <= 3 * len(kernels)


@on_webgpu
@pytest.mark.parametrize("build", [sum_in_pairs, joined])
def test_large_graph_takes_several_flushes(
    build: Callable[[int], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[int] = []
    make_plan = kernel_backend.make_plan

    def note(graph: LinearGraph, *rest: object) -> object:
        planned.append(len(graph.nodes))
        return make_plan(graph, *rest)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(policy, "LARGEST_GRAPH", 100)
    monkeypatch.setattr(kernel_backend, "make_plan", note)
    assert build(301).sum().item() == 300 * 301 / 2
    assert len(planned) > 3
    assert max(planned) <= 200


@pytest.mark.usefixtures("cpu")
def test_cpu_computes_no_pending_value_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[Node] = []
    evaluate = numpy_backend._evaluate

    def note(node: Node) -> None:
        computed.append(node)
        evaluate(node)

    monkeypatch.setattr(numpy_backend, "_evaluate", note)
    x = data(0, 5, 7)
    d = tw.exp(x) * 2
    first, second = d.sum(), d.max()
    first.item(), second.item(), d.tolist()
    u = tw.zeros((8, 8))
    for i in range(40):
        u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5 + i
        u[0, 1:-1] = -u[1, 1:-1]
        u[3, 3].item()
    assert len(computed) == len(set(computed))


@pytest.mark.usefixtures("device")
def test_assignment_to_a_broadcast_number() -> None:
    x = +tw.full((5, 7), 2.0)
    x[tw.asarray([1])] = 3.0
    y = tw.asarray([4.0])
    y[...] = 5.0
    assert tw.maximum(x, y).sum().item() == 35 * 5
    assert x.sum().item() == 28 * 2 + 7 * 3


@pytest.mark.usefixtures("device")
def test_assignment_in_place_changes_nothing_but_views() -> None:
    x = tw.zeros(6) + 1
    x.realize()
    before, view, copy = x + 0, x[2:], x.copy()
    held = tw.asarray(x, copy=True)
    for i in range(6):
        x[i] = float(i)
        later = x * 1
        x[i] = x[i] * 10
        assert later.tolist()[i] == i
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 10, 20, 30, 40]
    for other in (before, copy, held):
        assert other.tolist() == [1] * 6
    assert view.tolist() == [10, 20, 30, 40]
    positions = tw.asarray([4, 1])
    y = x * 1
    x[positions] = 7.0
    assert y.tolist() == [0, 0, 10, 20, 30, 40]
    assert x.tolist() == [0, 7, 10, 20, 7, 40]
