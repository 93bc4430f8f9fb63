"""The kernel backend on WebAssembly, natively: what the cpu device is in a browser."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest
from oracles import NUMPYS

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends import cpu as cpu_module
from tensorweb.backends.numpy_backend import CpuBackend
from tensorweb.backends.wasm import WasmBackend
from tensorweb.drivers.wasm_native import open_wasm_native
from tensorweb.errors import DeviceError, DeviceMemoryError
from tensorweb.graph import node as nodes
from tensorweb.waits import run_blocking


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[WasmBackend]:
    """Device `cpu` computes with WebAssembly, and is the default meanwhile."""
    monkeypatch.setattr(nodes, "_pending", dict(nodes._pending))
    made = WasmBackend(open_wasm_native())
    monkeypatch.setitem(devices._backends, "cpu", made)
    with devices.device("cpu"):
        yield made
    made.driver.close()


def test_the_environment_variable_selects_the_backend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(cpu_module.VARIABLE, raising=False)
    assert isinstance(run_blocking(cpu_module.open_backend("cpu")), CpuBackend)
    with monkeypatch.context() as in_browser:
        in_browser.setattr(cpu_module, "is_browser", lambda: True)
        assert cpu_module.chosen_engine() == "wasm"
    monkeypatch.setenv(cpu_module.VARIABLE, "wasm")
    monkeypatch.setattr(nodes, "_pending", dict(nodes._pending))
    opened = run_blocking(cpu_module.open_backend("cpu"))
    assert isinstance(opened, WasmBackend)
    assert opened.description.startswith("WebAssembly")
    monkeypatch.setenv(cpu_module.VARIABLE, "fortran")
    with pytest.raises(DeviceError, match=r"'fortran' .* one of numpy, wasm, or leave"):
        run_blocking(cpu_module.open_backend("cpu"))


def test_integers_of_64_bits_are_exact(backend: WasmBackend) -> None:
    x = tw.asarray([2**62 + 1, -5], dtype=tw.int64)
    assert (x + (2**62 - 2)).tolist() == [2**63 - 1, 2**62 - 7]
    assert (x - 2**53 - 1).tolist() == [2**62 - 2**53, -(2**53) - 6]
    y = tw.asarray([1, 2**64 - 1], dtype=tw.uint64)
    assert (y + (2**64 - 1)).tolist() == [0, 2**64 - 2]


def test_float64_keeps_its_bits(backend: WasmBackend) -> None:
    x = tw.asarray([0.1, -0.0], dtype=tw.float64)
    assert (x + 0.2).tolist() == [0.1 + 0.2, 0.2]
    (data,) = run_blocking(backend.read_steps([(x * 3.0).node]))
    assert data == struct.pack("<2d", 0.1 * 3.0, -0.0)


@pytest.mark.parametrize("dtype", [dtype.name for dtype in NUMPYS])
def test_bytes_are_those_of_the_host(dtype: str, backend: WasmBackend) -> None:
    host = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]).astype(dtype)
    x = tw.asarray(host)
    assert run_blocking(backend.read_steps([x.node])) == [host.tobytes()]
    several = run_blocking(
        backend.read_steps([tw.flip(x).node, x[1:, 1:].node, x.T.node])
    )
    views = (host[::-1, ::-1], host[1:, 1:], host.T)
    assert several == [view.tobytes() for view in views]
    assert backend.traits.storage_bytes(x.node) == -(-host.nbytes // 4) * 4


def test_reads_begin_at_any_byte(backend: WasmBackend) -> None:
    x = tw.realize(tw.asarray([1, 2, 3, 4, 5], dtype=tw.int8))
    launched = backend.driver.counters()["dispatches"]
    assert x[1:4].tolist() == [2, 3, 4]
    assert run_blocking(backend.read_steps([x[3:].node, x[1:2].node])) == [
        b"\4\5",
        b"\2",
    ]
    assert backend.driver.counters()["dispatches"] == launched


def test_recordings_take_other_arguments(backend: WasmBackend) -> None:
    step = tw.jit(lambda x, y: x * 2 + y)
    for value in (1.0, 2.0):
        x = tw.full((3,), value) + 0
        assert step(x, tw.asarray([1.0, 2.0, 3.0])).tolist() == [
            2 * value + n for n in (1, 2, 3)
        ]
    assert step.recordings == 1


def test_shapes_and_constants_share_a_module(backend: WasmBackend) -> None:
    for length in (5, 6, 7):
        x = tw.asarray(np.arange(length, dtype=np.int64))
        assert (x * length).tolist() == [n * length for n in range(length)]
    assert backend.driver.counters()["pipelines"] == 1


def test_kernels_are_shown_as_text(backend: WasmBackend) -> None:
    x = tw.realize(tw.ones((3,)) + 1)
    with tw.record_kernels() as kernels:
        tw.realize(x * 3)
    assert "f32.mul" in kernels[0].source
    text = str(tw.explain(x * 3))
    assert "[elementwise.wasm, 1 unit, 2 storages]" in text
    assert text.endswith(kernels[0].source)


def test_error_names_a_size_beyond_the_limit(backend: WasmBackend) -> None:
    with pytest.raises(
        DeviceMemoryError,
        match=r"shape \(536870912,\).* 2 GiB .*device 'cpu' binds at most .* in parts",
    ):
        tw.realize(tw.ones((1 << 29,)) * 2)
    assert (tw.ones((3,)) * 2).tolist() == [2.0] * 3


def test_memory_that_cannot_grow_is_named(
    backend: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tw.realize(tw.arange(1000, dtype=tw.float32) + 1)
    heap = backend.driver._heap  # type: ignore[attr-defined]  # tests reach inside
    with monkeypatch.context() as full:
        full.setattr(heap, "_grow_memory", lambda size: False)
        with pytest.raises(DeviceMemoryError, match=r"\(5000, 5000\).*cannot grow"):
            tw.realize(tw.ones((5000, 5000)) * 2)
    assert float(kept[999]) == 1000.0
    assert (kept[:3] * 2).tolist() == [2.0, 4.0, 6.0]


def test_stop_within_a_flush_loses_nothing(
    backend: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tw.realize(tw.arange(5, dtype=tw.float32) + 1)
    before = backend.pool.in_use
    step = tw.jit(lambda value: value * 2 - 1)
    assert step(x).tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]

    def stop(tape: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(backend.driver, "submit", stop)
        y = x * 3
        for compute in (lambda: tw.realize(y), lambda: step(x)):
            with pytest.raises(KeyboardInterrupt):
                compute()
    assert backend.pool.in_use == before
    assert y.tolist() == [3.0, 6.0, 9.0, 12.0, 15.0]
    assert step(y).tolist() == [5.0, 11.0, 17.0, 23.0, 29.0]


def test_nothing_to_tune_and_nothing_to_prepare(backend: WasmBackend) -> None:
    with pytest.raises(DeviceError, match="device 'cpu' has no tiles"):
        tw.tune()
    tw.warm_up("scan")
    assert not backend.abandon()
