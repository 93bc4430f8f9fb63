"""Fixtures: `device` runs a test on the cpu and on WebGPU, or says why it cannot.

`wasm` lets device `cpu` compute with WebAssembly, in this process.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest

from tensorweb import devices
from tensorweb.backends.wasm import WasmBackend
from tensorweb.errors import DeviceError
from tensorweb.graph import node as nodes

DEVICES = tuple(devices.DEVICES)

# Type checkers read the typed programs; lines of them are wrong.
collect_ignore = ["typed_programs"]
if not devices.is_browser():
    # It reads cases that are written for a run inside Pyodide.
    collect_ignore.append("in_pyodide/op_table.py")

if not devices.is_browser():  # inside Pyodide no test draws examples
    from hypothesis import HealthCheck, settings

    # How fast a machine draws examples says nothing about what is tested.
    settings.register_profile(
        "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("any machine")


def open_or_skip(name: str) -> None:
    """Open a device; skip the test with the reason where it cannot be had."""
    try:
        devices.backend(name)
    except DeviceError as error:
        pytest.skip(f"device {name!r}: {error}")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield each device's name while it is the default device."""
    open_or_skip(request.param)
    with devices.device(request.param) as name:
        yield name


@pytest.fixture
def cpu() -> Iterator[str]:
    """Yield `cpu` while it is the default device."""
    open_or_skip("cpu")
    with devices.device("cpu") as name:
        yield name


@pytest.fixture
def webgpu() -> Iterator[str]:
    """Yield `webgpu` while it is the default device."""
    open_or_skip("webgpu")
    with devices.device("webgpu") as name:
        yield name


@pytest.fixture(params=(*DEVICES, "wasm"))
def anywhere(request: pytest.FixtureRequest) -> str:
    """Return each device's name while it is the default; two of them are `cpu`."""
    if request.param == "wasm":
        request.getfixturevalue("wasm")
        return "cpu"
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def np() -> ModuleType:
    """NumPy, for tests of files that also run inside Pyodide, where it is not."""
    return importlib.import_module("numpy")


@pytest.fixture
def wasm(monkeypatch: pytest.MonkeyPatch) -> Iterator[WasmBackend]:
    """Device `cpu` computes with WebAssembly, and is the default meanwhile."""
    # Inside Pyodide there is no wasmtime: what runs there is the browser's driver.
    native = pytest.importorskip("tensorweb.drivers.wasm_native")
    pytest.importorskip("wasmtime")
    monkeypatch.setattr(nodes, "_pending", dict(nodes._pending))
    # The program's generator has a key in the memory of its device.
    monkeypatch.setattr("tensorweb.nn.init._programs", {})
    backend = WasmBackend(native.open_wasm_native())
    monkeypatch.setitem(devices._backends, "cpu", backend)
    with devices.device("cpu"):
        yield backend
    backend.driver.close()
