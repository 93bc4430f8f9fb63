"""Memory over thousands of steps: buffers, pipelines, bind groups, Python's objects.

The browser's twin is `e2e/test_memory_browser.py`; both run `e2e/bare/training.py`.
"""

from __future__ import annotations

import gc
import math

import numpy as np
import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from e2e.bare.training import Leaking, leaks, measure, usage
from tensorweb import devices
from tensorweb.backends import policy
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.graph.node import VIEWS_KEPT

STEPS = 3_000
FIRST = 300
SHAPES = 300


def test_thousands_of_steps_leak_nothing(webgpu: str) -> None:
    answer = measure(STEPS, FIRST)
    assert leaks(answer) == []
    assert math.isfinite(answer["loss"])


def test_retained_results_are_detected(webgpu: str) -> None:
    found = leaks(measure(600, FIRST, Leaking))
    names = {line.partition(":")[0] for line in found}
    assert names >= {"live_buffers", "live_bytes", "objects", "blocks", "traced"}


def test_ever_new_shapes_reach_a_bound(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PLANS_CACHED", 200)
    monkeypatch.setattr(policy, "PROGRAMS_CACHED", 200)
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    backend._plans.clear()
    backend._pipelines._programs._known.clear()

    def softmax_of(rows: int) -> None:
        x = tw.ones((rows, 3)) * 0.5
        e = tw.exp(x - tw.max(x, axis=1, keepdims=True))
        tw.realize((e / tw.sum(e, axis=1, keepdims=True)).sum(axis=0))

    start = usage()
    for rows in range(1, SHAPES):
        softmax_of(rows)
    before = usage()
    for rows in range(SHAPES, 2 * SHAPES):
        softmax_of(rows)
    after = usage()
    # Two or three layouts of threads and sizes of buffers; plans are bounded.
    assert after["pipelines"] <= before["pipelines"] + 4
    assert after["live_buffers"] <= before["live_buffers"] + 16
    # A cache without a bound grows as much again.
    first = before["objects"] - start["objects"]
    assert after["objects"] - before["objects"] <= first / 2


def test_recorded_functions_leave_with_their_last_name(webgpu: str) -> None:
    def record() -> None:
        step = tw.jit(lambda x: x * 2.0 + x.sum())
        step(step(tw.ones((4,))))

    for _ in range(30):
        record()
    before = usage()
    for _ in range(300):
        record()
    after = usage()
    assert after["objects"] <= before["objects"] + 100
    for name in ("live_buffers", "pipelines", "bind_groups", "pool_in_use"):
        assert after[name] == before[name], name


def test_views_of_views_keep_nothing_but_the_value(device: str) -> None:
    x = tw.realize(tw.asarray(np.arange(12, dtype=np.float32).reshape(3, 4)))
    expected = x.tolist()
    for iteration in range(100):
        x = x.T if iteration % 3 else x[::-1]
    links, node = 0, x.node
    while node.owner is not None:
        links, node = links + 1, node.inputs[0]
    assert links <= VIEWS_KEPT
    want = np.asarray(expected, np.float32)
    for iteration in range(100):
        want = want.T if iteration % 3 else want[::-1]
    np.testing.assert_array_equal(x.numpy(), want)


def test_ten_thousand_recorded_steps_share_their_buffers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = WebGpuBackend(PretendDriver())
    monkeypatch.setitem(devices._backends, "webgpu", backend)
    with devices.device("webgpu"):
        w = tw.realize(tw.full((8, 8), 0.5) * 1.0)
        batches = [tw.realize(tw.full((n, 8), 0.5) * 1.0) for n in (4, 6)]

        def loss(w: tw.Tensor, x: tw.Tensor) -> tw.Tensor:
            hidden = tw.tanh(x @ w)
            return ((tw.cumulative_sum(hidden, axis=1) @ w) ** 2).mean()

        step = tw.jit(lambda w, x: w - 0.1 * tw.grad(loss)(w, x))

        def run(count: int) -> tuple[int, int, int]:
            nonlocal w
            for number in range(count):
                w = step(w, batches[number % 2])
            gc.collect()
            pool = backend.pool
            return pool.allocated, backend.driver.counters()["buffers"], alive()

        before = run(20)
        after = run(10_000)
    assert step.recordings == 2
    assert len(backend.pool._shared) > 4
    assert after[:2] == before[:2]
    assert after[2] <= before[2] + 100


def alive() -> int:
    """Return how many objects Python has."""
    return len(gc.get_objects())
