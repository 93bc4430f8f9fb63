"""Fixture: `wasm` lets device `cpu` compute with WebAssembly, in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tensorweb import devices
from tensorweb.backends.wasm import WasmBackend
from tensorweb.graph import pending


@pytest.fixture
def wasm(monkeypatch: pytest.MonkeyPatch) -> Iterator[WasmBackend]:
    """Device `cpu` computes with WebAssembly, and is the default meanwhile."""
    native = pytest.importorskip("tensorweb.drivers.wasm_native")
    pytest.importorskip("wasmtime")
    monkeypatch.setattr(pending, "_pending", dict(pending._pending))
    backend = WasmBackend(native.open_wasm_native())
    monkeypatch.setitem(devices._backends, "cpu", backend)
    with devices.device("cpu"):
        yield backend
    backend.driver.close()
