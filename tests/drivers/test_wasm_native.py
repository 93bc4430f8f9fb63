"""The WebAssembly device on desktop Python: tapes, reads, growth and errors."""

from __future__ import annotations

import asyncio
import math
import sys
from array import array
from collections.abc import Iterator

import pytest
import wasm_modules
from wasm_modules import filled, launch, slot, tape, values

from tensorweb.drivers import policy, wasm_native
from tensorweb.drivers.policy import FIRST_PAGES, WASM_CAPACITY
from tensorweb.drivers.protocol import (
    CLEAR,
    COPY,
    ModuleDriver,
)
from tensorweb.drivers.wasm_driver import PAGE
from tensorweb.drivers.wasm_native import WasmNativeDriver, open_wasm_native
from tensorweb.errors import (
    BackendError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    ShaderError,
)
from tensorweb.waits import run_async

MEBIBYTE = 1 << 20


@pytest.fixture(params=[False, True], ids=["own", "shared"])
def driver(request: pytest.FixtureRequest) -> Iterator[WasmNativeDriver]:
    driver = open_wasm_native(is_shared=request.param)
    yield driver
    driver.close()


@pytest.mark.parametrize("slice_", [1, 2, 3, 100])
def test_a_launch_does_every_unit_with_its_parameters(
    driver: WasmNativeDriver, slice_: int
) -> None:
    x = filled(driver, "f", 1, 2, 3, 4, 5)
    y, z = driver.create_buffer(20), driver.create_buffer(20)
    add = driver.create_pipeline(wasm_modules.add(driver.is_shared), "rw", "add")
    rows = launch(add, 5, slice_, x, y), launch(add, 5, slice_, y, z, offset=256)
    driver.submit(tape([slot(1.5), slot(10)], *rows))
    assert values(driver, y, "f", 5) == [2.5, 3.5, 4.5, 5.5, 6.5]
    assert values(driver, z, "f", 5) == [12.5, 13.5, 14.5, 15.5, 16.5]


def test_copies_and_clears(driver: WasmNativeDriver) -> None:
    x = filled(driver, "i", 1, 2, 3, 4)
    y = filled(driver, "i", 5, 6, 7, 8)
    driver.submit(tape([], [COPY, x, 4, y, 8, 8], [CLEAR, x, 0, 12]))
    assert values(driver, x, "i", 4) == [0, 0, 0, 4]
    assert values(driver, y, "i", 4) == [5, 6, 2, 3]


def test_vectors(driver: WasmNativeDriver) -> None:
    x, y = filled(driver, "f", 1, 2, 3, 4), driver.create_buffer(16)
    source = wasm_modules.add_vectors(driver.is_shared)
    driver.submit(
        tape([], launch(driver.create_pipeline(source, "rw", ""), 1, 1, x, y))
    )
    assert values(driver, y, "f", 4) == [2, 4, 6, 8]


def test_relaxed_vectors_are_an_option() -> None:
    source = wasm_modules.madd_relaxed()
    without = open_wasm_native(has_relaxed=False)
    with pytest.raises(ShaderError, match="relaxed SIMD"):
        without.create_pipeline(source, "rw", "madd")
    driver = open_wasm_native()
    assert (driver.has_relaxed, without.has_relaxed) == (True, False)
    x, y = filled(driver, "f", 1, 2, 3, 4), driver.create_buffer(16)
    madd = driver.create_pipeline(source, "rw", "madd")
    driver.submit(tape([], launch(madd, 1, 1, x, y)))
    assert values(driver, y, "f", 4) == [2, 6, 12, 20]


@pytest.mark.parametrize(
    ("name", "arguments", "x", "expected"),
    [
        ("exp", 1, 1000.0, math.inf),
        ("exp", 1, 1.0, math.e),
        ("log", 1, -1.0, math.nan),
        ("log", 1, 0.0, -math.inf),
        ("erf", 1, 0.0, 0.0),
        ("acosh", 1, 0.5, math.nan),
        ("pow", 2, 3.0, 27.0),
        ("fmod", 2, math.inf, math.nan),
        ("nextafter", 2, 1.0, 1.0),
    ],
)
def test_functions_of_the_c_library_never_raise(
    name: str, arguments: int, x: float, expected: float
) -> None:
    driver = open_wasm_native()
    source = wasm_modules.library(name, arguments)
    pipeline = driver.create_pipeline(source, "rw", name)
    given, found = filled(driver, "d", x), driver.create_buffer(8)
    driver.submit(tape([], launch(pipeline, 1, 1, given, found)))
    assert values(driver, found, "d", 1) == pytest.approx([expected], nan_ok=True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"\0asm\1\0\0\0", r"kernel 'sum of x'.*refused its module of 8 bytes: .*run"),
        (wasm_modules.add()[:-3], r"unexpected end"),
        (wasm_modules.library("frobnicate", 1), r"no function 'frobnicate'"),
    ],
)
def test_a_refused_module_names_its_kernel(source: bytes, message: str) -> None:
    with pytest.raises(ShaderError, match=message):
        open_wasm_native().create_pipeline(source, "r", "sum of x")


def test_the_wrong_kind_of_memory_is_refused(driver: WasmNativeDriver) -> None:
    with pytest.raises(ShaderError, match="refused its module"):
        driver.create_pipeline(wasm_modules.add(not driver.is_shared), "rw", "add")


def test_a_trap_names_its_kernel_and_leaves_the_device_usable(
    driver: WasmNativeDriver,
) -> None:
    bad = driver.create_pipeline(
        wasm_modules.out_of_bounds(driver.is_shared), "r", "gather of x"
    )
    good = driver.create_pipeline(wasm_modules.mark(driver.is_shared), "w", "mark")
    y = filled(driver, "i", 0, 0)
    rows = [launch(good, 2, 1, y), launch(bad, 1, 1, y), launch(good, 2, 1, y)]
    for done in (1, 2):
        with pytest.raises(
            BackendError, match=r"internal: the kernel 'gather of x' trapped: .*bounds"
        ):
            driver.submit(tape([], *rows))
        assert values(driver, y, "i", 2) == [done, done]


def test_stop_ends_a_tape_between_two_slices(driver: WasmNativeDriver) -> None:
    y = filled(driver, "i", 0, 0, 0, 0)
    pipeline = driver.create_pipeline(wasm_modules.mark(driver.is_shared), "w", "")
    run = driver._runs[pipeline]

    def stopped(parameters: int, buffers: int, first: int, last: int) -> None:
        if first == 2:
            raise KeyboardInterrupt
        run(parameters, buffers, first, last)

    driver._runs[pipeline] = stopped
    with pytest.raises(KeyboardInterrupt):
        driver.submit(tape([], launch(pipeline, 4, 1, y)))
    assert values(driver, y, "i", 4) == [1, 1, 0, 0]


def test_an_interrupted_callback_raises_after_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(x: float) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "tensorweb.drivers.wasm_native.library_function", lambda *_: stopped
    )
    driver = open_wasm_native()
    pipeline = driver.create_pipeline(wasm_modules.library("exp", 1), "rw", "exp")
    x, y = filled(driver, "d", 1), driver.create_buffer(8)
    with pytest.raises(KeyboardInterrupt):
        driver.submit(tape([], launch(pipeline, 1, 1, x, y)))


def test_launches_are_timed(driver: WasmNativeDriver) -> None:
    y = driver.create_buffer(64)
    quick = driver.create_pipeline(wasm_modules.empty(driver.is_shared), "w", "")
    slow = driver.create_pipeline(
        wasm_modules.slow(1_000_000, driver.is_shared), "w", ""
    )
    first, second, third = driver.submit_timed(
        tape([], launch(slow, 1, 1, y), [CLEAR, y, 0, 4], *[launch(quick, 1, 1)] * 2)
    )
    assert first > second > 0
    assert first > third > 0


def test_growing_the_memory_preserves_its_contents(driver: WasmNativeDriver) -> None:
    x = filled(driver, "f", 1, 2, 3)
    pipeline = driver.create_pipeline(wasm_modules.add(driver.is_shared), "rw", "add")
    for _ in range(4):
        driver.create_buffer(40 * MEBIBYTE)
    y = driver.create_buffer(12)
    driver.submit(tape([slot(1)], launch(pipeline, 3, 2, x, y)))
    assert values(driver, y, "f", 3) == [2, 3, 4]


def test_buffers_beyond_2_gib(driver: WasmNativeDriver) -> None:
    low = filled(driver, "f", 5)
    for _ in range(2):
        driver.create_buffer(1 << 30)
    high, higher = filled(driver, "f", 7), driver.create_buffer(8)
    assert high < 0 < low
    pipeline = driver.create_pipeline(wasm_modules.add(driver.is_shared), "rw", "add")
    driver.submit(
        tape(
            [slot(1)],
            launch(pipeline, 1, 1, high, higher),
            [COPY, higher, 0, low, 0, 4],
            [COPY, low, 0, higher, 4, 4],
            [CLEAR, high, 0, 4],
        )
    )
    assert values(driver, higher, "f", 2) == [8, 8]
    assert values(driver, high, "f", 1) == [0]


def test_a_tape_longer_than_its_buffer(driver: WasmNativeDriver) -> None:
    y = filled(driver, "i", 0)
    pipeline = driver.create_pipeline(wasm_modules.mark(driver.is_shared), "w", "")
    for count in (10, 20_000, 20_000):
        driver.submit(tape([slot(0)], *[launch(pipeline, 1, 1, y)] * count))
    assert values(driver, y, "i", 1) == [40_010]


def test_memory_ends_with_numbers_and_the_next_run_works() -> None:
    driver = open_wasm_native()
    with pytest.raises(
        DeviceMemoryError,
        match=r"needs 2 GiB .* at most 2 GiB \(2147418112 bytes\) .* work in parts\.$",
    ):
        driver.create_buffer(2 << 30)
    held = [driver.create_buffer(1 << 30) for _ in range(3)]
    with pytest.raises(
        DeviceMemoryError, match=r"1 GiB .*buffers hold 3.*limit is 3.938 GiB"
    ):
        driver.create_buffer(1 << 30)
    assert driver.counters()["live_bytes"] == 3 << 30 < WASM_CAPACITY
    driver.destroy_buffer(held[1])
    assert driver.create_buffer(1 << 30) == held[1]


def test_reads_of_parts_and_without_waiting(driver: WasmNativeDriver) -> None:
    x = driver.create_buffer(8)
    driver.write_buffer(x, 0, b"abcdefgh")
    driver.write_buffer(x, 3, memoryview(array("h", [0x3130])))
    assert driver.read(x, 1, 5) == b"bc01f"
    assert asyncio.run(run_async(driver.read_steps(x, 6, 2))) == b"gh"
    assert driver.can_block()


def test_counters(driver: WasmNativeDriver) -> None:
    x = driver.create_buffer(100)
    driver.create_buffer(28)
    driver.destroy_buffer(x)
    pipeline = driver.create_pipeline(wasm_modules.empty(driver.is_shared), "", "")
    driver.submit(tape([], *[launch(pipeline, 1, 1)] * 3))
    driver.read(driver.create_buffer(4), 0, 4)
    assert driver.counters() == {
        "submits": 1,
        "dispatches": 3,
        "buffers": 3,
        "bytes": 132,
        "pipelines": 1,
        "reads": 1,
        "live_buffers": 2,
        "live_bytes": 32,
        "memory_bytes": FIRST_PAGES * PAGE,
    }


def test_a_closed_device_says_so(driver: WasmNativeDriver) -> None:
    x = driver.create_buffer(4)
    driver.close()
    assert driver.is_lost
    for use in (
        lambda: driver.read(x, 0, 4),
        lambda: driver.create_buffer(4),
        lambda: driver.submit(tape([])),
        driver.check,
    ):
        with pytest.raises(DeviceLostError, match=r"closed .* run the program again"):
            use()


def test_without_the_package_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(DeviceError, match=r"pip install 'wasmtime>=50,<51'"):
        open_wasm_native()


def test_it_fits_the_protocol() -> None:
    driver: ModuleDriver = open_wasm_native()
    assert driver.is_software
    assert driver.description == "WebAssembly (wasmtime, 1 thread)"


def test_a_store_takes_more_modules_than_are_usual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert policy.MOST_INSTANCES > 10_000
    monkeypatch.setattr(wasm_native.policy, "MOST_INSTANCES", 2)
    driver = open_wasm_native()
    source = wasm_modules.add(driver.is_shared)
    driver.create_pipeline(source, "rw", "first")
    driver.create_pipeline(source, "rw", "second")
    with pytest.raises(ShaderError, match="instance count too high"):
        driver.create_pipeline(source, "rw", "third")
    driver.close()
