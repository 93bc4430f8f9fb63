"""Flushes that need more than there is: in parts, and what allocations tell."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.pool import Pool
from tensorweb.backends.webgpu import WebGpuBackend, traits_of
from tensorweb.errors import DeviceMemoryError

MIB = 1 << 20


class Limited(PretendDriver):
    """Has a limited memory; reports exhaustion at once or late."""

    def __init__(self) -> None:
        super().__init__()
        self.capacity = 1 << 60
        self.is_late = False
        self.sizes: dict[int, int] = {}
        self.most = self.waits_done = self.submits = 0
        self.failed = False

    def create_buffer(self, size: int) -> int:
        held = sum(self.sizes.values()) + size
        if held > self.capacity and not self.is_late:
            raise DeviceMemoryError("no memory left")
        self.failed = self.failed or held > self.capacity
        handle = super().create_buffer(size)
        self.sizes[handle] = size
        self.most = max(self.most, held)
        return handle

    def submit(self, tape: array[int]) -> None:
        self.submits += 1

    def destroy_buffer(self, buffer: int) -> None:
        del self.sizes[buffer]

    def check(self) -> None:
        self.waits_done += 1
        if self.failed:
            self.failed = False
            raise DeviceMemoryError("no memory left, said late")

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        self.check()
        return bytes(size)


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebGpuBackend]:
    """A GPU that is not there, the default device meanwhile."""
    backend = WebGpuBackend(Limited())
    monkeypatch.setitem(devices._backends, "webgpu", backend)
    with devices.device("webgpu"):
        yield backend


def driver_of(backend: KernelBackend) -> Limited:
    driver = backend.driver
    assert isinstance(driver, Limited)
    return driver


def filled(*shape: int) -> tw.Tensor:
    return tw.realize(tw.full(shape, 0.5) * 1.0)


def grown(x: tw.Tensor) -> tw.Tensor:
    """Small storages first, larger ones later: allocations grow from step to step."""
    for _ in range(5):
        y = tw.sort(x, axis=-1)
        x = tw.concat([y, tw.sort(y * 0.5, axis=-1)])
    return tw.sort(x, axis=-1).sum()


def test_a_flush_over_the_budget_goes_in_parts(limited: WebGpuBackend) -> None:
    driver, pool = driver_of(limited), limited.pool
    start = filled(64, 1024)
    begun = pool.allocated
    tw.realize(grown(start))
    whole = pool.allocated - begun
    assert driver.submits == 2
    pool.trim()
    assert pool.allocated == begun
    driver.most = 0
    pool.budget = begun + whole - MIB // 4
    tw.realize(grown(start))
    assert driver.submits > 3
    assert driver.most <= pool.budget
    assert driver.waits_done < driver.submits


def test_parts_compute_the_same(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = devices.backend(device)
    if not isinstance(backend, KernelBackend):
        pytest.skip("NumPy takes no buffers")
    x = np.linspace(-2.0, 3.0, 3000, dtype=np.float32)[::-1].reshape(30, 100)
    given = tw.realize(tw.asarray(x) * 1.0)

    def computed() -> tuple[tw.Tensor, tw.Tensor, tw.Tensor]:
        a = tw.sort(given, axis=1)
        b = tw.concat([a, tw.sort(a * -1.0, axis=1)])
        c = tw.cumulative_sum(b, axis=1)
        d = c @ c.T
        e = tw.sort(d[:7], axis=1)
        return a, e, tw.cumulative_sum(d + 1.0, axis=0)

    a = np.sort(x, axis=1)
    b = np.concatenate([a, np.sort(-a, axis=1)]).astype(np.float64)
    c = np.cumsum(b, axis=1)
    d = c @ c.T
    expected = (a, np.sort(d[:7], axis=1), np.cumsum(d + 1.0, axis=0))
    whole = computed()
    tw.realize(*whole)
    del whole
    pool = backend.pool
    pool.trim()
    budget = pool.budget
    submits = backend.driver.counters()["submits"]
    results = computed()
    tried = 0
    try:
        while not results[0].node.is_computed:
            tried += 1
            pool.budget = pool.in_use + 20_000 + 2_000 * tried
            with suppress(DeviceMemoryError):
                tw.realize(*results)
    finally:
        pool.budget = budget
    assert tried > 1
    assert backend.driver.counters()["submits"] > submits + 1
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-3)


def test_error_of_a_large_allocation_states_its_size(limited: WebGpuBackend) -> None:
    x = filled(1024, 1024)
    limited.pool.trim()
    limited.pool.budget = limited.pool.allocated + 6 * MIB
    a, b = tw.sort(x, axis=-1), tw.sort(x, axis=0)
    words = r"graph needs 12 MiB at once.*already hold 4 MiB of the budget of 10 MiB"
    with pytest.raises(DeviceMemoryError, match=words):
        tw.realize(tw.sort(a + b, axis=-1))
    assert limited.pool.in_use == 4 * MIB


def test_the_budget_grows_while_allocations_succeed(limited: WebGpuBackend) -> None:
    driver = driver_of(limited)
    limited.pool.budget = limited.pool.allocated + 8 * MIB
    limited.pool.can_grow = True
    driver.capacity = limited.pool.allocated + 40 * MIB
    kept = [filled(1024, 1024) for _ in range(9)]
    assert limited.pool.budget >= 36 * MIB
    assert driver.waits_done < 9
    with pytest.raises(DeviceMemoryError, match="hold 40 MiB of the budget"):
        kept += [filled(1024, 1024) for _ in range(9)]
    assert not limited.pool.can_grow
    assert limited.pool.allocated == sum(driver.sizes.values())


def test_memory_missed_late_lowers_the_budget(limited: WebGpuBackend) -> None:
    driver = driver_of(limited)
    driver.is_late = True
    driver.capacity = 512 * MIB
    kept = [filled(16 * 1024, 1024) for _ in range(9)]
    with pytest.raises(DeviceMemoryError, match="said late"):
        kept[-1].tolist()
    assert limited.pool.budget < 9 * 64 * MIB
    assert not limited.pool.can_grow
    del kept
    limited.pool.trim()
    assert filled(3).tolist() == [0.0] * 3


def test_no_more_than_the_budget_where_python_cannot_wait(
    limited: WebGpuBackend,
) -> None:
    driver_of(limited).blocks = False
    limited.pool.budget = limited.pool.allocated + 8 * MIB
    with pytest.raises(DeviceMemoryError, match="budget"):
        tw.realize(*[tw.full((1024, 1024), float(i)) * 1.0 for i in range(4)])


def test_addresses_of_python_bound_no_memory_of_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a browser Python's integers for sizes end at 2 GiB."""
    monkeypatch.setattr(sys, "maxsize", (1 << 31) - 1)
    driver = PretendDriver()
    assert Pool(driver, traits_of(driver)).budget == 16 << 30
