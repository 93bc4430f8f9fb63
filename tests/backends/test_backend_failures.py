"""The GPU backend when things go wrong: memory, limits, a lost device, bad shaders."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import tensorweb as tw
from tensorweb import devices, frames
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.errors import DeviceLostError, DeviceMemoryError, ShaderError
from tensorweb.ops import OPS


@pytest.fixture
def backend(webgpu: str) -> Iterator[WebGpuBackend]:
    found = devices.backend(webgpu)
    assert isinstance(found, WebGpuBackend)
    budget = found.pool.budget
    yield found
    found.pool.budget = budget


def test_buffers_return_to_the_pool_when_tensors_go(backend: WebGpuBackend) -> None:
    before = backend.pool.in_use
    x = tw.realize(tw.ones((1000, 257)) + 1)
    assert backend.pool.in_use > before
    del x
    assert backend.pool.in_use == before


def test_freed_buffers_are_reused(backend: WebGpuBackend) -> None:
    for _ in range(3):
        tw.realize(tw.ones((1000, 257)) + 1)
    created = backend.driver.counters()["buffers"]
    for _ in range(10):
        tw.realize(tw.ones((1000, 257)) + 1)
    assert backend.driver.counters()["buffers"] == created


def test_threads_share_plans_without_mixing_their_values(webgpu: str) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            sums = list(pool.map(_scaled_sum, range(200)))
    finally:
        sys.setswitchinterval(interval)
    assert sums == [64.0 * i for i in range(200)]


def _scaled_sum(factor: int) -> float:
    return float((tw.ones((64,)) * factor).sum())


def test_exceeding_the_budget_raises_and_names_it(backend: WebGpuBackend) -> None:
    backend.pool.trim()
    backend.pool.budget = backend.pool.allocated + (1 << 20)
    with pytest.raises(DeviceMemoryError, match=r"shape \(1024, 1025\).*budget"):
        tw.realize(tw.ones((1024, 1025)) * 2)
    assert float(tw.ones((3,)).sum()) == 3.0


def test_tensor_above_the_devices_limit_is_named(backend: WebGpuBackend) -> None:
    too_many = backend.pool.largest // 4 + 1024
    with pytest.raises(DeviceMemoryError, match="binds at most"):
        tw.realize(tw.ones((too_many,)) * 2)
    with pytest.raises(MemoryError):
        tw.realize(tw.ones((too_many,)) * 2)
    assert float(tw.ones((3,)).sum()) == 3.0


def test_lost_device_is_an_error_and_the_next_use_gets_a_new_one(webgpu: str) -> None:
    x = tw.realize(tw.ones((5,)) + 1)
    lost = devices.backend(webgpu)
    assert isinstance(lost, WebGpuBackend)
    lost.driver.close()
    with pytest.raises(DeviceLostError):
        x.tolist()
    assert (tw.ones((5,)) + 1).tolist() == [2.0] * 5
    assert devices.backend(webgpu) is not lost
    with pytest.raises(DeviceLostError, match=r"shape \(5,\).*make it again"):
        (x + 1).tolist()
    assert (tw.ones((5,)) + 2).tolist() == [3.0] * 5


def lose(device: str) -> None:
    """Lose a device, which nobody has noticed yet."""
    lost = devices.backend(device)
    assert isinstance(lost, WebGpuBackend)
    lost.driver.close()


def test_old_tensors_do_not_take_the_new_device_with_them(webgpu: str) -> None:
    old = tw.realize(tw.ones((5,)) + 1)
    lose(webgpu)
    with pytest.raises(DeviceLostError):
        old.tolist()
    new = tw.realize(tw.ones((5,)) + 1)
    for use in (lambda: (old + 1).tolist(), lambda: tw.jit(lambda x: x * 2)(old)):
        with pytest.raises(DeviceLostError, match="make it again"):
            use()
    assert (new + 1).tolist() == [3.0] * 5


def test_layers_draw_again_on_each_new_device(webgpu: str) -> None:
    frames.begin_program()
    first = tw.nn.Linear(2, 3, device=webgpu).weight.tolist()
    for _ in range(2):
        lose(webgpu)
        with pytest.raises(DeviceLostError):
            tw.synchronize()
        assert tw.nn.Linear(2, 3, device=webgpu).weight.tolist() == first


def test_recorded_functions_find_a_new_device(webgpu: str) -> None:
    recorded = tw.jit(lambda x: x * 2)
    assert recorded(tw.ones((5,)) + 1).tolist() == [4.0] * 5
    lose(webgpu)
    with pytest.raises(DeviceLostError):
        recorded(tw.ones((5,)))
    assert recorded(tw.ones((5,))).tolist() == [2.0] * 5


def test_shader_error_shows_the_text_and_loses_nothing(
    backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(OPS["exp"], wgsl={"float": "nonsense({0})"})
    x = tw.realize(tw.ones((5,)) + 1)
    monkeypatch.setitem(OPS, "exp", broken)
    with pytest.raises(ShaderError, match="nonsense"):
        (tw.exp(x) * 1.5 - 3).tolist()
    monkeypatch.undo()
    assert (tw.exp(x) * 0 + x).tolist() == [2.0] * 5


def test_tapes_are_split_below_the_parameter_block(backend: WebGpuBackend) -> None:
    parts = [tw.realize(tw.ones((3,)) * i) for i in range(1100)]
    before = backend.driver.counters()["submits"]
    sums = [part.sum() for part in parts]
    tw.realize(*sums)
    assert backend.driver.counters()["submits"] == before + 2
    assert [float(sums[i]) for i in (0, 999, 1000, 1099)] == [0.0, 2997, 3000, 3297]


def test_sizes_unused_for_longest_make_room_for_others(backend: WebGpuBackend) -> None:
    backend.pool.trim()
    backend.pool.budget = 2 * (backend.pool.allocated + (8 << 20))
    for length in range(100, 120):
        tw.realize(tw.ones((length, 1000)) + 1)
    created = backend.driver.counters()["buffers"]
    for _ in range(10):
        tw.realize(tw.ones((119, 1000)) + 1)
        tw.realize(tw.ones((512, 1024)) + 1)
    assert backend.driver.counters()["buffers"] <= created + 2
    assert backend.pool.allocated - backend.pool.in_use <= backend.pool.budget // 2
