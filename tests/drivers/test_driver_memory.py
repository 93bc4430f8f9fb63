"""Budgets and limits of a device's memory: one table, whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from pretend_driver import PretendDriver

from tensorweb.backends.pool import Pool
from tensorweb.backends.webgpu import machine_of
from tensorweb.drivers import memory
from tensorweb.drivers.browser import SOFTWARE
from tensorweb.errors import DeviceError, DeviceMemoryError

ROOT = Path(__file__).parents[2]
LIMITS = {"maxBufferSize": 1024, "maxStorageBufferBindingSize": 512}


@pytest.mark.parametrize(("is_software", "gigabytes"), [(False, 8), (True, 4)])
def test_software_adapters_may_take_less(
    is_software: bool, gigabytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    driver = PretendDriver()
    driver.is_software = is_software
    assert Pool(driver, machine_of(driver)).budget == gigabytes << 30


@pytest.mark.parametrize("is_software", [False, True])
def test_the_variable_moves_every_budget(
    is_software: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.VARIABLE, "1000000")
    driver = PretendDriver()
    driver.is_software = is_software
    assert Pool(driver, machine_of(driver)).budget == 1_000_000


@pytest.mark.parametrize("said", ["", "8 GiB", "-1", "1e9"])
def test_the_variable_is_a_number_of_bytes(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.VARIABLE, said)
    with pytest.raises(DeviceError, match=r"is no number of bytes; write 4294967296"):
        memory.memory_budget(is_software=False)


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
