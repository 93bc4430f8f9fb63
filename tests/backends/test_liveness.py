"""Buffers of one flush: used again after their last use, kept where somebody asks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from weakref import ref

import numpy as np
import pytest
import transformers
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends import policy
from tensorweb.backends.layouts import Span, allocations, peak
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.schedule import policy as schedule_policy

MIB = 1 << 20


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebGpuBackend]:
    """A GPU that is not there, the default device meanwhile."""
    backend = WebGpuBackend(PretendDriver())
    monkeypatch.setitem(devices._backends, "webgpu", backend)
    with devices.device("webgpu"):
        yield backend


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use small buffers again as soon as large ones, in whatever order saves most."""
    monkeypatch.setattr(policy, "LARGE_BUFFER", 0)
    monkeypatch.setattr(schedule_policy, "LEAST_ORDERED_BYTES", 0)


def filled(*shape: int) -> tw.Tensor:
    return tw.realize(tw.full(shape, 0.5) * 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_storages_needed_at_once_have_different_allocations(seed: int) -> None:
    draw = random.Random(seed)
    spans = []
    for number in range(60):
        first = draw.randrange(50)
        last = min(first + draw.choice([0, 1, 2, 10, 60]), 50)
        spans.append(Span(number, draw.choice([64, 4096, MIB, 5 * MIB]), first, last))
    staying = frozenset(draw.sample(range(60), 10))
    found = allocations(spans, staying)
    assert sorted(n for buffer in found for n in buffer.references) == list(range(60))
    for buffer in found:
        served = [spans[number] for number in buffer.references]
        assert max(span.size for span in served) == buffer.size
        for a, b in combinations(sorted(served, key=lambda each: each.first), 2):
            wait = 0 if a.size >= policy.LARGE_BUFFER else policy.REUSE_DELAY
            assert a.last + wait < b.first
            assert a.reference not in staying
        for span in served:
            assert span.reference not in staying or span.size == buffer.size
    assert peak(spans, staying) <= sum(buffer.size for buffer in found)


def attention(x: tw.Tensor) -> tw.Tensor:
    scores = x @ x.permute((0, 2, 1)) * 0.125
    e = tw.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ x


def test_attention_steps_share_their_scores(pretended: WebGpuBackend) -> None:
    x = filled(16, 1024, 64)
    before = pretended.pool.allocated
    y = x
    for _ in range(64):
        y = attention(y)
    tw.realize(y)
    assert pretended.pool.allocated - before <= 4 * 64 * MIB
    results = [attention(x * float(number)) for number in range(64)]
    tw.realize(*results)
    assert pretended.pool.allocated - before <= (4 * 64 + 65 * 4) * MIB


def chain(x: tw.Tensor, factor: float, length: int) -> tw.Tensor:
    y = x * factor
    for _ in range(length):
        y = tw.sort(y, axis=-1) * 0.5
    return y


def test_intermediates_of_many_results_share_buffers(
    pretended: WebGpuBackend,
) -> None:
    x = filled(1024, 1024)
    before = pretended.pool.allocated
    results = [chain(x, 1.0 + number, 40) for number in range(64)]
    tw.realize(*results)
    assert pretended.pool.allocated - before <= 68 * 4 * MIB


def check_attention() -> None:
    """Compare steps of attention, and what follows them, with NumPy's."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 24, 8)).astype(np.float32)
    got, want = tw.asarray(x), x.astype(np.float64)
    for _ in range(5):
        got = attention(got)
        scores = want @ want.transpose(0, 2, 1) * 0.125
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        want = (e / e.sum(axis=-1, keepdims=True)) @ want
    both = tw.stack([got, tw.sort(got, axis=1)])
    np.testing.assert_allclose(
        both.numpy(), np.stack([want, np.sort(want, axis=1)]), rtol=1e-4, atol=1e-6
    )


@pytest.mark.usefixtures("at_once", "webgpu")
def test_values_are_the_same_where_buffers_serve_several() -> None:
    check_attention()


@pytest.mark.usefixtures("at_once", "wasm")
def test_values_are_the_same_in_webassembly() -> None:
    check_attention()


@pytest.mark.usefixtures("at_once")
def test_a_network_learns_the_same_where_buffers_serve_several(
    webgpu: str, request: pytest.FixtureRequest
) -> None:
    tokens = np.arange(24, dtype=np.int32).reshape(2, 12) * 7 % 11

    def losses(device: str, recorded: bool) -> list[float]:
        with devices.device(device):
            model = transformers.parameters(1, 16, 12, 11, shape_only=False)
            x, y = tw.asarray(tokens), tw.asarray((tokens + 1) % 11)
            first = tw.tree.map(tw.zeros_like, model)
            second = tw.tree.map(tw.zeros_like, model)
            step = tw.jit(transformers.step) if recorded else transformers.step
            found = []
            for _ in range(2):
                model, first, second, loss = step(model, first, second, x, y)
                found.append(float(loss))
            return found

    want = losses("cpu", False)
    assert want[1] < want[0]
    np.testing.assert_allclose(losses(webgpu, True), want, rtol=1e-3)
    request.getfixturevalue("wasm")  # one flush: its kernels compile in no time here
    np.testing.assert_allclose(losses("cpu", False), want, rtol=1e-3)


def test_only_values_that_python_references_are_retained(
    webgpu: str,
) -> None:
    x = filled(40, 40)
    held, loose = x @ x, (x + 1.0) @ x
    node = ref(loose.node)
    later = tw.cumulative_sum(held * 2.0 + loose, axis=0)
    del loose
    tw.realize(later)
    assert node() is None
    with tw.record_kernels() as ran:
        tw.realize(held + 1.0)
    assert [kernel.name for kernel in ran] == ["elementwise add [1600]"]


def test_pending_graphs_retain_their_inputs(webgpu: str) -> None:
    x = filled(40, 40)
    product = tw.cumulative_sum(x, axis=1)
    waiting = product * 3.0
    now = tw.cumulative_sum(product + 1.0, axis=0)
    del product
    tw.realize(now)
    with tw.record_kernels() as ran:
        tw.realize(waiting)
    assert len(ran) == 1


def test_a_backward_pass_computes_intermediates_once(webgpu: str) -> None:
    x = filled(32, 32)

    def loss(x: tw.Tensor, reads: bool) -> tw.Tensor:
        y = tw.sin(tw.cumulative_sum(x, axis=1))
        z = tw.cumulative_sum(y * y, axis=0)
        total = (z * z).sum()
        if reads:
            total.detach().item()
        return total

    counts = []
    for reads in (False, True):
        with tw.record_kernels() as ran:
            tw.realize(tw.grad(lambda x, reads=reads: loss(x, reads))(x))
        counts.append(sum("cumulative_sum" in kernel.name for kernel in ran))
    assert counts[1] <= counts[0] + 1


def test_recordings_share_scratch_buffers(pretended: WebGpuBackend) -> None:
    x = filled(512, 512)

    def steps(x: tw.Tensor, factor: float) -> tw.Tensor:
        return chain(x, factor, 30)

    before = pretended.pool.allocated
    functions = [tw.jit(steps) for _ in range(5)]
    for number, function in enumerate(functions):
        for _ in range(3):
            function(x, float(number))
    assert pretended.pool.allocated - before <= 5 * MIB
    del functions, function
    pretended.pool.trim()
    assert pretended.pool.allocated == before


def test_checkpoint_halves_the_memory_of_a_step(pretended: WebGpuBackend) -> None:
    needed = []
    for wrap in (tw.checkpoint, lambda function: function):
        model = transformers.parameters(12, 128, 64, 65)
        states = [tw.tree.map(tw.zeros_like, model) for _ in range(2)]
        tokens = tw.zeros((16, 64), "int32").contiguous()
        tw.realize(tokens, *tw.tree.leaves((model, states)))
        step = tw.jit(lambda *args, wrap=wrap: transformers.step(*args, wrap=wrap))
        pretended.pool.trim()
        before = pretended.pool.allocated
        step(model, *states, tokens, tokens)
        needed.append(pretended.pool.allocated - before)
        del step, model, states
    assert needed[0] <= needed[1] / 2


def test_the_way_back_computes_cheap_values_again(pretended: WebGpuBackend) -> None:
    model = transformers.parameters(4, 64, 64, 65)
    tokens = tw.zeros((16, 64), "int32").contiguous()
    tw.realize(tokens, *tw.tree.leaves(model))

    def gradient(model: transformers.Parameters) -> transformers.Parameters:
        return tw.grad(lambda m: transformers.loss_of(m, tokens, tokens))(model)

    stored = []
    for function in (gradient, tw.jit(gradient)):
        with tw.record_kernels() as ran:
            tw.realize(*tw.tree.leaves(function(model)))
        stored.append(sum(kernel.stored for kernel in ran))
    assert stored[0] <= 1.4 * stored[1]
