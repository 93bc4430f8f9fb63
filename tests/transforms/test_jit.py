"""jit: recorded once, replayed without Python, on new arguments of the same shapes."""

from __future__ import annotations

import time

import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.errors import TraceError
from tensorweb.tensor import Tensor


def gpu() -> WebGpuBackend:
    backend = devices.backend("webgpu")
    assert isinstance(backend, WebGpuBackend)
    return backend


def test_a_replay_agrees_with_the_function(device: str) -> None:
    @tw.jit
    def step(x: Tensor, w: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        y = tw.tanh(x @ w)
        return y, {"sum": y.sum(axis=0), "transposed": y.T[::-1]}

    for seed in range(3):
        x = tw.arange(6, dtype=tw.float32).reshape((2, 3)) * 0.1 + seed
        w = tw.ones((3, 4)) * 0.2 - seed
        y, rest = step(x, w)
        want = tw.tanh(x @ w)
        assert y.tolist() == want.tolist()
        assert rest["sum"].tolist() == want.sum(axis=0).tolist()
        assert rest["transposed"].tolist() == want.T[::-1].tolist()


def test_python_runs_once_per_signature(webgpu: str) -> None:
    calls = []

    @tw.jit
    def double(x: Tensor, by: float = 2.0) -> Tensor:
        calls.append(by)
        return x * by

    for _ in range(3):
        assert double(tw.ones(3)).tolist() == [2.0] * 3
    assert double(tw.ones(3), by=3.0).tolist() == [3.0] * 3
    assert double(tw.ones(4)).tolist() == [2.0] * 4
    assert double(tw.ones(3, dtype=tw.int32)).tolist() == [2.0] * 3
    assert len(calls) == double.recordings == 4


def test_replay_is_one_submission(webgpu: str) -> None:
    @tw.jit
    def chain(x: Tensor) -> Tensor:
        for _ in range(50):
            x = x * 0.5 + x.sum(axis=0) * 0.01
        return x

    x = tw.realize(tw.ones((8, 8)) + 0)
    chain(x)
    before = gpu().driver.counters()
    chain(x)
    after = gpu().driver.counters()
    assert after["submits"] == before["submits"] + 1
    assert after["dispatches"] >= before["dispatches"] + 50


def test_loop_of_its_own_results_stays_bounded(webgpu: str) -> None:
    @tw.jit
    def step(x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        v = v - x * 0.1
        return x + v * 0.1, v

    x, v = tw.realize(tw.ones(16) + 0, tw.zeros(16) + 0)
    for _ in range(10):
        x, v = step(x, v)
    tw.synchronize()
    allocated, counts = gpu().pool.allocated, gpu().driver.counters()
    for _ in range(200):
        x, v = step(x, v)
    tw.synchronize()
    later = gpu().driver.counters()
    assert gpu().pool.allocated == allocated
    assert later["bind_groups"] == counts["bind_groups"]
    assert later["pipelines"] == counts["pipelines"]


def test_views_and_lazy_arguments_are_taken_by_value(webgpu: str) -> None:
    add = tw.jit(lambda a, b: a + b)
    x = tw.arange(12, dtype=tw.float32).reshape((3, 4))
    assert add(x.T, x.T * 2).tolist() == (x.T * 3).tolist()
    assert add(x[::-1].T, tw.zeros((4, 3))).tolist() == x[::-1].T.tolist()


def test_argument_and_constant_results_come_back(webgpu: str) -> None:
    same = tw.jit(lambda x: (x, x.T, tw.zeros(2), x + 0))
    x = tw.asarray([[1.0, 2.0]])
    first, transposed, zeros, copied = same(x)
    assert first.tolist() == copied.tolist() == [[1.0, 2.0]]
    assert transposed.tolist() == [[1.0], [2.0]]
    assert zeros.tolist() == [0.0, 0.0]
    assert same(x * 3)[0].tolist() == [[3.0, 6.0]]


def test_earlier_results_are_not_overwritten(webgpu: str) -> None:
    double = tw.jit(lambda x: x * 2)
    results = [double(tw.ones(4) * i) for i in range(5)]
    assert [r.tolist()[0] for r in results] == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.tolist(),
        lambda x: float((x + 1).sum()),
        lambda x: 1 if x.sum() > 0 else 0,
        lambda x: x[x > 0],
    ],
    ids=["tolist", "float", "if", "mask"],
)
def test_asking_for_a_value_is_explained(webgpu: str, ask: object) -> None:
    def function(x: Tensor) -> Tensor:
        ask(x)  # type: ignore[operator]  # each case is a function
        return x

    with pytest.raises(TraceError, match="was asked for while"):
        tw.jit(function)(tw.ones(3))
    assert (tw.ones(3) + 1).tolist() == [2.0] * 3


def test_results_without_tensors_are_explained(webgpu: str) -> None:
    with pytest.raises(TraceError, match="returns no tensor"):
        tw.jit(lambda x: 3)(tw.ones(3))
    with pytest.raises(TraceError, match="may hold tensors or change"):
        tw.jit(lambda x, y: x)(tw.ones(3), bytearray(b"no"))


def test_deep_functions_are_recorded_whole(webgpu: str) -> None:
    @tw.jit
    def deep(x: Tensor) -> Tensor:
        for _ in range(1000):
            x = x * 0.5 + 1.0
        return x

    assert deep(tw.ones(3)).tolist() == pytest.approx([2.0] * 3)


def test_new_device_records_again(webgpu: str) -> None:
    double = tw.jit(lambda x: x * 2)
    assert double(tw.ones(3)).tolist() == [2.0] * 3
    gpu().driver.close()
    devices.forget("webgpu")
    assert double(tw.ones(3)).tolist() == [2.0] * 3
    assert double.recordings == 2


def test_replay_costs_little(webgpu: str) -> None:
    def chain(x: Tensor) -> Tensor:
        for _ in range(50):
            x = x * x.sum(axis=0)
        return x

    recorded = tw.jit(chain)
    x = tw.realize(tw.ones((4, 4)) * 0.1)
    recorded(x)
    tw.realize(chain(x))
    tw.synchronize()
    replays, runs = [], []
    submit, gpu().driver.submit = gpu().driver.submit, lambda tape: None  # type: ignore[method-assign]  # time Python alone
    try:
        for _ in range(20):
            start = time.perf_counter()
            recorded(x)
            replays.append(time.perf_counter() - start)
            start = time.perf_counter()
            tw.realize(chain(x))
            runs.append(time.perf_counter() - start)
    finally:
        gpu().driver.submit = submit  # type: ignore[method-assign]  # back again
    assert min(replays) < min(runs) / 4


def test_replayed_kernels_are_recorded(webgpu: str) -> None:
    double = tw.jit(lambda x: (x * 2).sum(axis=0))
    double(tw.ones((3, 5)))
    with tw.record_kernels() as records:
        double(tw.ones((3, 5)))
    assert "reduce" in [record.kind for record in records]


def test_traced_tensors_are_unpacked(device: str) -> None:
    def parts(x: Tensor) -> Tensor:
        q, k, v = x * 2
        return q + sum(k * row for row in (v, v))

    x = tw.reshape(tw.arange(24, dtype=tw.float32), (2, 3, 4))
    want = [parts(x[0]).tolist(), parts(x[1]).tolist()]
    assert tw.jit(parts)(x[1]).tolist() == want[1]
    assert tw.vmap(parts)(x).tolist() == want
