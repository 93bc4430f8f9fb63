"""What a device does in a second: bytes copied, multiply-adds or a product."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.wasm import WasmBackend
from tensorweb.performance import rates
from tensorweb.waits import Steps, run_blocking


def still(compute: Callable[[], tw.Tensor], calls: int) -> Steps[float]:
    """Compute once, and let every measurement take half a second."""
    tw.realize(compute())
    yield from ()
    return 0.5


def test_the_cpu_copies_and_multiplies(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run_blocking(rates.measured("cpu"))
    assert found.bandwidth > 1e7
    assert found.flops > 1e7
    monkeypatch.setattr(rates, "_run", still)
    assert run_blocking(rates.measured("cpu")) == rates.Rates(
        wasm.description,
        bandwidth=2 * 2 * 4 * rates.COPIED_BY_CPU,
        flops=2 * 2 * 256**3,
    )


def test_a_gpu_runs_chains_of_multiply_adds(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "_run", still)
    with tw.record_kernels() as kernels:
        found = run_blocking(rates.measured(webgpu))
    sources = {kernel.source for kernel in kernels if "fma(" in kernel.source}
    (own,) = sources
    assert own.count("fma(") * 4 * 2 == 4 * rates.PER_STEP
    assert found.flops == 2 * rates.GROUPS * rates.LANES * 4 * rates.PER_STEP
    assert found.adapter == devices.backend(webgpu).description


def test_the_time_of_compiling_does_not_count(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str] = set()

    def slow_at_first(compute: Callable[[], tw.Tensor], calls: int) -> Steps[float]:
        """Take a second where a kernel runs for the first time, else half of one."""
        with tw.record_kernels() as kernels:
            tw.realize(compute())
        new = {kernel.source for kernel in kernels} - seen
        seen.update(new)
        yield from ()
        return 1.0 if new else 0.5

    monkeypatch.setattr(rates, "_run", slow_at_first)
    monkeypatch.setattr(rates, "REPEATS", 0)
    found = run_blocking(rates.measured(webgpu))
    assert found.flops == 2 * rates.GROUPS * rates.LANES * 4 * rates.PER_STEP
