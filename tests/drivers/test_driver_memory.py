"""Budgets and limits of a device's memory: one table, whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from pretend_driver import PretendDriver

from tensorweb.backends.pool import Pool
from tensorweb.backends.webgpu import traits_of
from tensorweb.drivers import memory
from tensorweb.drivers.browser import SOFTWARE
from tensorweb.errors import DeviceError, DeviceMemoryError

ROOT = Path(__file__).parents[2]
GIB = 1 << 30
LIMITS = {"maxBufferSize": 1024, "maxStorageBufferBindingSize": 512}


@pytest.mark.parametrize(
    ("is_software", "shared", "largest", "budget"),
    [
        (False, None, 4 * GIB, 16 * GIB),
        (False, None, 1 << 60, 32 * GIB),
        (False, None, 256 << 20, GIB),
        (False, 8 * GIB, 4 * GIB, 4 * GIB),
        (False, 64 * GIB, 2 * GIB, 8 * GIB),
        (False, 0, 4 * GIB, 8 * GIB),
        (True, 0, 2 * GIB, 4 * GIB),
        (True, 24 * GIB, 2 * GIB, 12 * GIB),
    ],
)
def test_budget_follows_the_adapter_and_the_host(
    monkeypatch: pytest.MonkeyPatch,
    is_software: bool,
    shared: int | None,
    largest: int,
    budget: int,
) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    driver = PretendDriver()
    driver.is_software, driver.shared_memory = is_software, shared
    driver.limits["maxBufferSize"] = largest
    pool = Pool(driver, traits_of(driver))
    assert pool.budget == budget
    assert pool.can_grow == (shared is None)


def test_a_container_has_its_own_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CONTAINER_LIMIT", limit)
    limit.write_text("max\n")
    assert memory.host_memory() > 1000
    limit.write_text("1000\n")
    assert memory.host_memory() == 1000


def test_a_device_lost_with_much_memory_gets_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_lost_with", {})
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    driver = PretendDriver()
    traits = traits_of(driver)
    memory.remember_loss(traits.device, 7 * GIB, 16 * GIB)
    assert Pool(driver, traits).budget == 16 * GIB
    memory.remember_loss(traits.device, 10 * GIB, 16 * GIB)
    assert Pool(driver, traits).budget == 5 * GIB


@pytest.mark.parametrize("is_software", [False, True])
def test_the_variable_moves_every_budget(
    is_software: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.VARIABLE, "1000000")
    driver = PretendDriver()
    driver.is_software = is_software
    pool = Pool(driver, traits_of(driver))
    assert pool.budget == 1_000_000
    assert not pool.can_grow


@pytest.mark.parametrize("said", ["", "8 GiB", "-1", "1e9"])
def test_the_variable_is_a_number_of_bytes(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.VARIABLE, said)
    with pytest.raises(DeviceError, match=r"is no number of bytes; write 4294967296"):
        memory.memory_budget(LIMITS, is_software=False, shared=None)


def test_a_buffer_is_as_large_as_the_smaller_limit() -> None:
    memory.require_bindable(512, LIMITS)
    with pytest.raises(
        DeviceMemoryError, match=r"a buffer needs 516 bytes .* at most .*512 bytes"
    ):
        memory.require_bindable(516, LIMITS)


def test_one_file_knows_the_software_adapters() -> None:
    sources = [*ROOT.glob("tensorweb/**/*.[pj][ys]"), *ROOT.glob("web/src/**/*.ts")]
    knowing = [path.name for path in sources if SOFTWARE in path.read_text("utf-8")]
    assert knowing == ["browser.py"]
