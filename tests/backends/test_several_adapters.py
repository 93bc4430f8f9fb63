"""Several GPUs of one machine, and buffers that other libraries use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.drivers import native, native_adapters
from tensorweb.errors import DataError, DeviceError

wgpu = pytest.importorskip("wgpu")


@pytest.fixture
def two_adapters(webgpu: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose only adapter is listed twice."""
    listed = native_adapters.adapters

    def twice(module: Any, name: str = "") -> list[Any]:
        return listed(module, name)[:1] * 2

    monkeypatch.setattr(native_adapters, "adapters", twice)
    monkeypatch.setattr(devices, "_backends", dict(devices._backends))
    monkeypatch.setattr(devices, "_numbered", {})
    yield
    second = devices.opened("webgpu:1")
    if second is not None:
        second.synchronize()


def test_a_second_adapter_is_a_device_of_its_own(two_adapters: None) -> None:
    x = tw.arange(6.0, device="webgpu:1")
    y = tw.sin(x) * 2
    assert y.device == "webgpu:1"
    there = y.to_device("webgpu")
    assert there.device == "webgpu"
    assert there.tolist() == y.tolist() == (tw.sin(x.to_device("webgpu")) * 2).tolist()
    with pytest.raises(DeviceError, match="'webgpu:1' and 'webgpu'"):
        y + there
    with tw.device("webgpu:1"):
        assert (tw.ones((3, 3)) @ tw.ones((3, 3))).device == "webgpu:1"


def test_the_first_adapter_is_webgpu(two_adapters: None) -> None:
    assert tw.ones(2, device="webgpu:0").device == "webgpu"


def test_the_default_device_stays_the_first_adapter(two_adapters: None) -> None:
    before = tw.default_device()
    tw.ones(2, device="webgpu:1")
    assert tw.default_device() == before
    assert devices.fastest() == "webgpu"


@pytest.mark.parametrize("name", ["webgpu:2", "webgpu:17"])
def test_missing_adapters_are_named(two_adapters: None, name: str) -> None:
    with pytest.raises(DeviceError, match=f"{name}: this machine has 2 adapters"):
        tw.ones(2, device=name)
    assert name not in devices._numbered


@pytest.mark.parametrize("name", ["webgpu:", "webgpu:x", "cpu:1", "webgpu:-1"])
def test_other_numbers_are_no_devices(name: str) -> None:
    with pytest.raises(DeviceError, match="unknown device"):
        tw.ones(2, device=name)


class Adapter:
    """An adapter with a name, a type and an API."""

    def __init__(self, name: str, adapter_type: str, backend: str) -> None:
        self.summary = f"{name} ({adapter_type}) via {backend}"
        self.info = {"adapter_type": adapter_type, "backend_type": backend}


LISTED = [
    Adapter("llvmpipe", "CPU", "Vulkan"),
    Adapter("Iris", "IntegratedGPU", "Vulkan"),
    Adapter("H100", "DiscreteGPU", "Vulkan"),
    Adapter("H100", "DiscreteGPU", "Vulkan"),
    Adapter("H100", "DiscreteGPU", "OpenGL"),
]


class Package:
    """The package wgpu on a machine with these adapters."""

    class gpu:
        @staticmethod
        def enumerate_adapters_sync() -> list[Adapter]:
            return list(LISTED)


def test_fast_adapters_come_first_and_each_gpu_once() -> None:
    expected = [LISTED[number] for number in (2, 3, 1, 0)]
    assert native_adapters.adapters(Package) == expected


def test_a_named_adapter_is_the_first() -> None:
    expected = [LISTED[number] for number in (1, 2, 3, 0)]
    assert native_adapters.adapters(Package, "iris") == expected


def floats(buffer: Any, device: Any, count: int) -> list[float]:
    data: memoryview = device.queue.read_buffer(buffer, size=4 * count)
    return data.cast("f").tolist()  # type: ignore[return-value]  # of format f


@pytest.fixture
def shared(webgpu: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A program's own device of wgpu-py, which `webgpu` uses."""
    monkeypatch.setattr(devices, "_backends", {})
    monkeypatch.setattr(native_adapters, "_shared_devices", [])
    adapter = native_adapters.adapters(wgpu)[0]
    device = adapter.request_device_sync(required_limits=adapter.limits)
    tw.use_device(device)
    yield device
    tw.synchronize()


def test_a_programs_own_device_computes(shared: Any) -> None:
    x = tw.arange(5.0, device="webgpu") * 2
    assert floats(x.gpu_buffer, shared, 5) == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert x.gpu_buffer is x.gpu_buffer


def test_what_a_program_writes_is_read(shared: Any) -> None:
    x = tw.zeros(4, device="webgpu")
    shared.queue.write_buffer(x.gpu_buffer, 0, bytes(memoryview(b"\0\0\x80\x3f" * 4)))
    assert (x + 1).tolist() == [2.0] * 4


def test_views_and_other_devices_share_nothing(shared: Any) -> None:
    x = tw.arange(6.0, device="webgpu") * 2
    for view in (x[1:], x[::2], tw.reshape(x, (2, 3)).T):
        with pytest.raises(DataError, match=r"x\.copy"):
            view.gpu_buffer  # noqa: B018  # reading it raises
    copy = x[1:].copy()
    assert floats(copy.gpu_buffer, shared, 5) == x[1:].tolist()
    with pytest.raises(DataError, match="without elements"):
        x[:0].gpu_buffer  # noqa: B018  # reading it raises
    with pytest.raises(DeviceError, match="'cpu' shares no buffers"):
        tw.ones(2, device="cpu").gpu_buffer  # noqa: B018  # reading it raises


def test_an_open_device_is_not_replaced(shared: Any) -> None:
    tw.ones(2, device="webgpu").realize()
    (tw.arange(3.0, device="webgpu") + 1).tolist()
    with pytest.raises(DeviceError, match="open already"):
        tw.use_device(shared)


def test_after_a_loss_another_device_is_opened(shared: Any) -> None:
    (tw.arange(3.0, device="webgpu") + 1).tolist()
    found = devices.backend("webgpu")
    assert isinstance(found, WebGpuBackend)
    found.driver.abandon()
    with pytest.raises(tw.DeviceLostError):
        (tw.arange(3.0, device="webgpu") + 2).tolist()
    assert (tw.arange(3.0, device="webgpu") + 3).tolist() == [3.0, 4.0, 5.0]
    fresh = devices.backend("webgpu")
    assert isinstance(fresh, WebGpuBackend)
    assert isinstance(fresh.driver, native.NativeDriver)
    assert fresh.driver._device is not shared
