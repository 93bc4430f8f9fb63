"""The native driver: tapes, reads, counters and errors on whatever adapter is here."""

from __future__ import annotations

import asyncio
import atexit
import struct
from array import array
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tensorweb.drivers import policy
from tensorweb.drivers.native import NativeDriver, open_native
from tensorweb.drivers.protocol import (
    CLEAR,
    COPY,
    DISPATCH,
    PARAMETER_WORDS,
    ShaderDriver,
)
from tensorweb.errors import (
    BackendError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    ShaderError,
)
from tensorweb.waits import run_async

ADD = """
struct Parameters { size: u32, addend: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = group.y * groups.x + group.x;
  if (i < parameters.size) { y[i] = x[i] + parameters.addend; }
}
"""

BROKEN = """@compute @workgroup_size(1)
fn main() {
  let first = 1;
  lex second = 2;
  let third = 3;
}
"""


def open_or_skip() -> NativeDriver:
    try:
        return open_native()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def shared_driver() -> Iterator[NativeDriver]:
    driver = open_or_skip()
    yield driver
    driver.close()


@pytest.fixture
def driver(shared_driver: NativeDriver) -> NativeDriver:
    """The module's driver; each test makes its own buffers."""
    return shared_driver


def slot(size: int, addend: float) -> list[int]:
    words = [size, struct.unpack("i", struct.pack("f", addend))[0]]
    return words + [0] * (PARAMETER_WORDS - len(words))


def tape(slots: list[list[int]], *commands: list[int]) -> array[int]:
    words = [word for words in slots for word in words]
    return array("i", [len(words), *words, *(w for row in commands for w in row)])


def filled(driver: ShaderDriver, *values: float) -> int:
    buffer = driver.create_buffer(4 * len(values))
    driver.write_buffer(buffer, 0, struct.pack(f"{len(values)}f", *values))
    return buffer


def floats(driver: ShaderDriver, buffer: int, count: int) -> tuple[float, ...]:
    return struct.unpack(f"{count}f", driver.read(buffer, 0, 4 * count))


def add_pipeline(driver: ShaderDriver) -> int:
    return driver.create_pipeline(driver.shader_header + ADD, "rw", "add")


def test_driver_describes_its_device(driver: NativeDriver) -> None:
    assert driver.description
    assert driver.limits["maxBufferSize"] >= 256 << 20
    assert driver.limits["maxComputeInvocationsPerWorkgroup"] >= 128
    assert driver.features <= {"shader-f16", "subgroups", "timestamp-query"}
    assert driver.can_block()
    assert not driver.is_lost


def test_new_buffer_is_zero(driver: NativeDriver) -> None:
    buffer = driver.create_buffer(12)
    assert driver.buffer_size(buffer) == 12
    assert driver.read(buffer, 0, 12) == bytes(12)


def test_tape_dispatches_copies_and_clears(driver: NativeDriver) -> None:
    add = add_pipeline(driver)
    x, y, z = filled(driver, 1, 2, 3), filled(driver, 0, 0, 0), filled(driver, 7, 7, 7)
    driver.submit(
        tape(
            [slot(3, 0.5)],
            [DISPATCH, add, 3, 1, 1, 0, 2, x, y],
            [COPY, y, 4, z, 0, 8],
            [CLEAR, y, 0, 4],
            [DISPATCH, add, 3, 1, 1, 0, 2, z, x],
        )
    )
    assert floats(driver, y, 3) == (0, 2.5, 3.5)
    assert floats(driver, z, 3) == (2.5, 3.5, 7)
    assert floats(driver, x, 3) == (3, 4, 7.5)


def test_each_launch_reads_its_own_parameters(driver: NativeDriver) -> None:
    add = add_pipeline(driver)
    x, y, z = filled(driver, 1), filled(driver, 0), filled(driver, 0)
    driver.submit(
        tape(
            [slot(1, 10), slot(1, 200)],
            [DISPATCH, add, 1, 1, 1, 0, 2, x, y],
            [DISPATCH, add, 1, 1, 1, 256, 2, y, z],
        )
    )
    assert floats(driver, y, 1) == (11,)
    assert floats(driver, z, 1) == (211,)


def test_later_tape_does_not_disturb_the_parameters_of_an_earlier_one(
    driver: NativeDriver,
) -> None:
    add = add_pipeline(driver)
    x, y, z = filled(driver, 1), filled(driver, 0), filled(driver, 0)
    driver.submit(tape([slot(1, 2)], [DISPATCH, add, 1, 1, 1, 0, 2, x, y]))
    driver.submit(tape([slot(1, 3)], [DISPATCH, add, 1, 1, 1, 0, 2, x, z]))
    assert floats(driver, y, 1) == (3,)
    assert floats(driver, z, 1) == (4,)


def test_grid_of_two_dimensions_reaches_every_element(driver: NativeDriver) -> None:
    add = add_pipeline(driver)
    values = [float(i) for i in range(15)]
    x, y = filled(driver, *values), filled(driver, *([0.0] * 15))
    driver.submit(tape([slot(15, 1)], [DISPATCH, add, 5, 3, 1, 0, 2, x, y]))
    assert floats(driver, y, 15) == tuple(value + 1 for value in values)


def test_tape_without_commands_is_harmless(driver: NativeDriver) -> None:
    driver.submit(array("i", [0]))
    driver.check()


def test_bind_groups_are_made_once_per_set_of_buffers(driver: NativeDriver) -> None:
    add = add_pipeline(driver)
    x, y, z = filled(driver, 1), filled(driver, 0), filled(driver, 0)
    before = driver.counters()["bind_groups"]
    to_y = [DISPATCH, add, 1, 1, 1, 0, 2, x, y]
    to_z = [DISPATCH, add, 1, 1, 1, 0, 2, x, z]
    driver.submit(tape([slot(1, 1)], to_y, to_z, to_y))
    driver.submit(tape([slot(1, 1)], to_z, to_y))
    assert driver.counters()["bind_groups"] - before == 2


def test_destroyed_buffer_leaves_no_bind_group(driver: NativeDriver) -> None:
    add = add_pipeline(driver)
    x, y = filled(driver, 1), filled(driver, 0)
    launch = tape([slot(1, 1)], [DISPATCH, add, 1, 1, 1, 0, 2, x, y])
    kept = len(driver._groups)
    driver.submit(launch)
    assert len(driver._groups) == kept + 1
    driver.destroy_buffer(y)
    assert len(driver._groups) == kept


def test_buffer_destroyed_after_submit_is_still_used(driver: NativeDriver) -> None:
    add = add_pipeline(driver)
    x, y = filled(driver, 1), filled(driver, 0)
    driver.submit(tape([slot(1, 1)], [DISPATCH, add, 1, 1, 1, 0, 2, x, y]))
    driver.destroy_buffer(x)
    assert floats(driver, y, 1) == (2,)


def test_counters_count_live_objects(driver: NativeDriver) -> None:
    before = driver.counters()
    buffer = driver.create_buffer(256)
    during = driver.counters()
    driver.destroy_buffer(buffer)
    after = driver.counters()
    assert during["live_bytes"] - before["live_bytes"] == 256
    assert during["live_buffers"] - before["live_buffers"] == 1
    assert after["live_bytes"] == before["live_bytes"]
    assert after["bytes"] - before["bytes"] == 256


def test_reads_reuse_one_staging_buffer(driver: NativeDriver) -> None:
    buffer = filled(driver, 1, 2, 3)
    driver.read(buffer, 0, 12)
    kept = driver._read_back._idle_bytes
    assert [driver.read(buffer, 4 * i, 4) for i in range(3)] == [
        struct.pack("f", value) for value in (1, 2, 3)
    ]
    assert driver._read_back._idle_bytes == kept


def test_read_takes_any_offset_and_size(driver: NativeDriver) -> None:
    buffer = driver.create_buffer(12)
    driver.write_buffer(buffer, 0, b"abcdefghijkl")
    assert driver.read(buffer, 5, 3) == b"fgh"
    assert driver.read(buffer, 3, 1) == b"d"


def test_write_takes_a_view_of_bytes(driver: NativeDriver) -> None:
    buffer = driver.create_buffer(8)
    driver.write_buffer(buffer, 4, memoryview(b"abcdefgh")[2:6])
    assert driver.read(buffer, 0, 8) == b"\0\0\0\0cdef"


def test_awaited_read_returns_the_same_bytes(driver: NativeDriver) -> None:
    buffer = filled(driver, 1, 2)
    found = asyncio.run(run_async(driver.read_steps(buffer, 4, 4)))
    assert found == struct.pack("f", 2)


def test_shader_error_shows_label_message_and_the_lines_around(
    driver: NativeDriver,
) -> None:
    with pytest.raises(ShaderError) as caught:
        driver.create_pipeline(BROKEN, "rw", "broken sum")
    text = str(caught.value)
    assert "shader 'broken sum'" in text
    assert "line 4: expected assignment" in text
    assert "  2 | fn main() {\n" in text
    assert "> 4 |   lex second = 2;\n    |       ^\n" in text
    assert "  6 | }" in text
    assert "\n  1 | " not in text


def test_wrong_types_are_a_shader_error_with_their_line(driver: NativeDriver) -> None:
    wrong = ADD.replace("+ parameters.addend", "+ parameters.size")
    with pytest.raises(ShaderError, match=r"(?s)line 9: .*Add.*>  9 \| .*\^"):
        driver.create_pipeline(wrong, "rw", "wrong")


def test_pipeline_beyond_a_limit_is_a_shader_error(driver: NativeDriver) -> None:
    source = "@compute @workgroup_size(1, 1, 4096)\nfn main() {}\n"
    with pytest.raises(ShaderError, match=r"(?s)'too wide'.*workgroup size"):
        driver.create_pipeline(source, "", "too wide")


def test_buffer_above_the_limit_names_sizes_and_limit(driver: NativeDriver) -> None:
    size = driver.limits["maxBufferSize"] // 4 * 4 + 1024
    with pytest.raises(DeviceMemoryError, match=f"{size} bytes.*binds at most"):
        driver.create_buffer(size)


def test_buffer_too_large_to_bind_is_refused(driver: NativeDriver) -> None:
    limit = driver.limits["maxStorageBufferBindingSize"]
    if limit >= driver.limits["maxBufferSize"]:
        pytest.skip("this adapter binds buffers of every size")
    with pytest.raises(DeviceMemoryError, match=rf"at most .*\({limit} bytes"):
        driver.create_buffer(limit // 4 * 4 + 4)


def test_invalid_command_is_an_error_and_the_next_tape_works(
    driver: NativeDriver,
) -> None:
    x, y = filled(driver, 1), filled(driver, 0)
    with pytest.raises(BackendError, match="wgpu refused a command"):
        driver.submit(array("i", [0, COPY, x, 0, y, 0, 64]))
    driver.submit(array("i", [0, COPY, x, 0, y, 0, 4]))
    assert floats(driver, y, 1) == (1,)


def stopped(*_: object) -> None:
    """Fail as a lock of wgpu-py does when Stop comes while it is taken."""
    try:
        raise KeyboardInterrupt
    finally:
        raise RuntimeError("release unlocked lock")


def test_an_interruption_is_raised_as_such_at_any_call(
    driver: NativeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = driver.create_buffer(4)
    calls: dict[str, Callable[[], object]] = {
        "write_buffer": lambda: driver.write_buffer(buffer, 0, bytes(4)),
        "submit": lambda: driver.submit(array("i", [0])),
    }
    for name, call in calls.items():
        with monkeypatch.context() as patch:
            patch.setattr(driver._queue, name, stopped)
            with pytest.raises(KeyboardInterrupt):
                call()
    driver.write_buffer(buffer, 0, bytes([1, 2, 3, 4]))
    assert driver.read(buffer, 0, 4) == bytes([1, 2, 3, 4])


def test_an_interruption_that_was_handled_before_is_over(
    driver: NativeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(driver._queue, "submit", refuse)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(BackendError, match="no such thing"):
            driver.submit(array("i", [0]))


def test_lost_device_raises_from_every_call_and_a_new_one_works() -> None:
    driver = open_or_skip()
    add = add_pipeline(driver)
    x, y = filled(driver, 1), filled(driver, 0)
    launch = tape([slot(1, 1)], [DISPATCH, add, 1, 1, 1, 0, 2, x, y])
    driver._device.destroy()
    with pytest.raises(DeviceLostError, match="run the program again"):
        driver.submit(launch)
    assert driver.is_lost
    for call in (
        lambda: driver.read(y, 0, 4),
        lambda: driver.create_buffer(4),
        lambda: driver.write_buffer(x, 0, bytes(4)),
        lambda: add_pipeline(driver),
        driver.check,
    ):
        with pytest.raises(DeviceLostError):
            call()
    fresh = open_native()
    assert floats(fresh, filled(fresh, 5), 1) == (5,)
    fresh.close()


def test_closed_driver_is_lost() -> None:
    driver = open_or_skip()
    buffer = filled(driver, 1)
    driver.close()
    with pytest.raises(DeviceLostError, match="closed"):
        driver.read(buffer, 0, 4)


def test_unknown_adapter_name_lists_available_adapters(
    driver: NativeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(policy.ADAPTER_VARIABLE, "no such thing")
    with pytest.raises(DeviceError, match=r"adapters here: .+"):
        open_native()


def test_adapter_is_chosen_by_a_part_of_its_name(
    driver: NativeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = driver.description.split()[0]
    monkeypatch.setenv(policy.ADAPTER_VARIABLE, name.upper())
    chosen = open_native()
    assert name in chosen.description
    chosen.close()


def test_missing_package_names_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(DeviceError, match=r"tensorweb\[gpu\]"):
        open_native()


def test_process_waits_for_work_that_nobody_read(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A software adapter crashes if the process ends while it compiles."""
    ends: list[partial[None]] = []
    monkeypatch.setattr(atexit, "register", lambda *call: ends.append(partial(*call)))
    driver = open_native()
    (finish,) = ends
    before = driver.counters()["reads"]
    finish()
    assert driver.counters()["reads"] == before + 1
    driver.close()
    finish()
