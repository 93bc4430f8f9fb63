"""The browser's driver inside Pyodide: worker and main thread, Chromium and Firefox.

The page holds the drivers alone, with no tensors: `errors.py`, `waits.py` and
`drivers/` need nothing else. Python runs in three ways: `await` (blocking reads work),
`plain` (without stack switching) and `callback` (from a timer).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_page import Python, open_python, serve_drivers
from playwright.sync_api import Browser

from conftest import Serve


@pytest.fixture(scope="module")
def driver_url(
    serve: Serve, memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of the page."""
    return serve_drivers(serve, tmp_path_factory.mktemp("driver-page"), memory)


@pytest.fixture(scope="module", params=["runInWorker", "runOnMain"])
def python(
    request: pytest.FixtureRequest, chromium: Browser, driver_url: str
) -> Iterator[Python]:
    """Python with `driver`, pipeline `add` and buffers `x` and `y` of 4 floats."""
    started = open_python(chromium, driver_url, request.param)
    started(SET_UP)
    yield started
    started.page.context.close()


@pytest.fixture(scope="module")
def spare(chromium: Browser, driver_url: str) -> Iterator[Python]:
    """Python in a worker, for tests that leave it usable and its driver not."""
    started = open_python(chromium, driver_url, "runInWorker")
    yield started
    started.page.context.close()


@pytest.fixture
def fresh(spare: Python) -> Iterator[Python]:
    """The same, with a driver, a pipeline and buffers of their own."""
    spare(SET_UP)
    yield spare
    spare("driver.close()")


SET_UP = """
driver = open_driver()
add = driver.create_pipeline(driver.shader_header + ADD, "rw", "add")
x, y = driver.create_buffer(16), driver.create_buffer(16)
driver.write_buffer(x, 0, struct.pack("4f", 1, 2, 3, 4))
launch = launch_tape(add, [x, y], slot(4, 0.5))
"""

ADDED = [1.5, 2.5, 3.5, 4.5]


def test_driver_describes_its_device(python: Python) -> None:
    about = python.values(
        "json.dumps([driver.description, driver.is_software, driver.limits,"
        " sorted(driver.features), driver.shader_header, driver.can_block()])"
    )
    description, is_software, limits, features, header, can_block = about
    assert "swiftshader" in description
    assert is_software
    assert limits["maxBufferSize"] >= 256 << 20
    assert limits["maxStorageBuffersPerShaderStage"] >= 8
    assert ("subgroups" in features) == ("enable subgroups;" in header)
    assert can_block


def test_timed_tape_computes_and_tells_seconds(python: Python) -> None:
    python("seconds = driver.submit_timed(launch)")
    features, seconds = python.values("json.dumps([sorted(driver.features), seconds])")
    if "timestamp-query" in features:
        assert len(seconds) == 1
        assert 0 <= seconds[0] < 10
    else:
        assert seconds is None
    result = python.values("json.dumps(struct.unpack('4f', driver.read(y, 0, 16)))")
    assert result == ADDED


def test_timed_tape_tells_nothing_where_python_cannot_wait(python: Python) -> None:
    assert python("lambda: repr(driver.submit_timed(launch))", "callback") == "None"


def test_tape_computes_and_read_blocks(python: Python) -> None:
    assert python.values("driver.submit(launch); floats(driver.read(y, 0, 16))") == (
        ADDED
    )


def test_awaited_read_returns_the_same_bytes(python: Python) -> None:
    code = "driver.submit(launch); floats(await run_async(driver.read_steps(y, 4, 8)))"
    assert python.values(code) == ADDED[1:3]


def test_tape_dispatches_copies_and_clears(python: Python) -> None:
    code = """
z = driver.create_buffer(16)
tape = array("i", [128, *slot(4, 10), *slot(4, 200)])
tape.extend([DISPATCH, add, 1, 1, 1, 0, 2, x, y])
tape.extend([COPY, y, 4, z, 0, 8, CLEAR, y, 0, 4])
tape.extend([DISPATCH, add, 1, 1, 1, 256, 2, z, x])
driver.submit(tape)
found = [floats(driver.read(buffer, 0, 16)) for buffer in (y, z, x)]
driver.write_buffer(x, 0, struct.pack("4f", 1, 2, 3, 4))
driver.destroy_buffer(z)
json.dumps(found)
"""
    assert python.values(code) == [
        [0, 12, 13, 14],
        [12, 13, 0, 0],
        [212, 213, 200, 200],
    ]


COUNT_WRITES = """
globalThis.parameterWrites = 0;
globalThis.plainWrite ??= GPUQueue.prototype.writeBuffer;
GPUQueue.prototype.writeBuffer = function (buffer, ...rest) {
  if (buffer.usage & GPUBufferUsage.UNIFORM) globalThis.parameterWrites += 1;
  return globalThis.plainWrite.call(this, buffer, ...rest);
};
"""


def test_parameters_are_written_if_the_buffer_holds_others(python: Python) -> None:
    code = f"""
import js
js.eval({COUNT_WRITES!r})
found = []
tapes = [launch_tape(add, [x, y], slot(4, addend)) for addend in (30, 40)]
driver.submit(tapes[1])
js.parameterWrites = 0
for tape in [tapes[0], tapes[0], tapes[1], tapes[1], tapes[0]]:
    driver.submit(tape)
    found += floats(driver.read(y, 0, 4))
js.eval("GPUQueue.prototype.writeBuffer = globalThis.plainWrite")
json.dumps([found, js.parameterWrites])
"""
    assert python.values(code) == [[31, 31, 41, 41, 31], 3]


def test_bind_groups_are_made_once_and_die_with_their_buffer(python: Python) -> None:
    code = """
z = driver.create_buffer(16)
before = driver.counters()["bind_groups"]
tape = launch_tape(add, [x, z], slot(4, 0.5), launches=3)
driver.submit(tape)
driver.submit(tape)
same = driver.counters()["bind_groups"] - before
driver.destroy_buffer(z)
z = driver.create_buffer(16)
driver.submit(launch_tape(add, [x, z], slot(4, 1.5)))
found = floats(driver.read(z, 0, 16))
driver.destroy_buffer(z)
json.dumps([same, driver.counters()["bind_groups"] - before, found])
"""
    assert python.values(code) == [1, 2, [2.5, 3.5, 4.5, 5.5]]


def test_read_and_write_survive_growth_of_pythons_memory(python: Python) -> None:
    code = """
size = 24 << 20
big = driver.create_buffer(size)
driver.write_buffer(big, 0, bytes(range(256)) * (size >> 8))
ballast = [bytearray(16 << 20) for _ in range(4)]
data = driver.read(big, 0, size)
driver.destroy_buffer(big)
json.dumps([len(data), data == bytes(range(256)) * (size >> 8)])
"""
    assert python.values(code) == [24 << 20, True]


def test_tapes_survive_growth_of_pythons_memory_and_of_themselves(
    python: Python,
) -> None:
    code = """
ballast = [bytearray(48 << 20) for _ in range(2)]
driver.submit(launch)
found = [floats(driver.read(y, 0, 16))]
tape = launch_tape(add, [x, y], slot(4, 1.5), launches=3000)
driver.submit(tape)
found.append(floats(driver.read(y, 0, 16)))
driver.submit(launch)
found.append(floats(driver.read(y, 0, 16)))
del ballast
json.dumps(found)
"""
    assert python.values(code) == [ADDED, [x + 1 for x in ADDED], ADDED]


def test_read_takes_any_offset_and_size(python: Python) -> None:
    code = """
z = driver.create_buffer(12)
driver.write_buffer(z, 0, memoryview(b"abcdefghijklmn")[:12])
[driver.read(z, 5, 3), driver.read(z, 3, 1), driver.read(z, 0, 2)]
"""
    assert python(code) == "[b'fgh', b'd', b'ab']"


@pytest.mark.parametrize("kind", ["plain", "callback"])
def test_read_without_stack_switching_names_the_twin(python: Python, kind: str) -> None:
    call = "message_of(lambda: driver.read(y, 0, 16))"
    text = python(f"lambda: {call}" if kind == "callback" else call, kind)
    assert text.startswith("BlockingError: read: Python cannot wait")
    assert "await x.tolist_async()" in text
    assert python("json.dumps(driver.can_block())", "plain") == "false"


def test_shader_error_comes_with_the_next_read(python: Python) -> None:
    code = """
lines = ["@compute @workgroup_size(1)", "fn main() {", "  let a = 1;", "  lex b = 2;"]
source = "\\n".join([*lines, "}"])
broken = driver.create_pipeline(source, "rw", "broken sum")
message_of(lambda: driver.read(y, 0, 16))
"""
    text = python(code)
    assert text.startswith("ShaderError: shader 'broken sum'")
    assert "line 4: " in text
    assert "  3 |   let a = 1;\n> 4 |   lex b = 2;\n    |       ^\n  5 | }" in text


def test_broken_pipeline_fails_again_when_used_and_others_work(python: Python) -> None:
    code = """
source = "@compute @workgroup_size(4096)\\nfn main() {}\\n"
broken = driver.create_pipeline(source, "rw", "too wide")
first = message_of(driver.check)
driver.submit(launch_tape(broken, [x, y], slot(4)))
second = message_of(driver.check)
driver.submit(launch)
json.dumps([first, second, floats(driver.read(y, 0, 16))])
"""
    first, second, found = python.values(code)
    assert first.startswith("ShaderError: shader 'too wide'")
    assert "4096" in first
    assert second == first
    assert found == ADDED


def test_invalid_command_is_an_error_once(python: Python) -> None:
    code = """
driver.submit(array("i", [0, COPY, x, 0, y, 0, 64]))
json.dumps([message_of(driver.check), message_of(driver.check)])
"""
    first, second = python.values(code)
    assert first.startswith("BackendError: WebGPU refused a command: ")
    assert second == "nothing raised"


def test_buffer_above_the_limit_names_sizes_and_limit(python: Python) -> None:
    text = python("message_of(lambda: driver.create_buffer(1 << 40))")
    assert text.startswith("DeviceMemoryError: a buffer needs 1024 GiB (1099511627776")
    assert "this device binds at most " in text


def test_out_of_memory_names_the_size_and_the_next_tape_works(fresh: Python) -> None:
    code = """
size = min(driver.limits[k] for k in ("maxBufferSize", "maxStorageBufferBindingSize"))
huge = driver.create_buffer(size)
first = message_of(driver.check)
again = message_of(lambda: driver.read(huge, 0, 4))
driver.destroy_buffer(huge)
driver.submit(launch)
json.dumps([size, first, again, floats(driver.read(y, 0, 16))])
"""
    size, first, again, found = fresh.values(code)
    if first == "nothing raised":
        pytest.skip(f"this machine gave {size} bytes to one buffer")
    assert first.startswith("DeviceMemoryError: the device has no memory")
    assert f"({size} bytes)" in first
    assert again == first
    assert found == ADDED


LOSE_SOON = """
from pyodide.code import run_js
lose = run_js("(device, wait) => void setTimeout(() => device.destroy(), wait)")
spin = driver.create_pipeline(SPIN, "w", "spin")
driver.check()
"""


def test_device_lost_during_a_read_raises_and_a_new_driver_works(
    fresh: Python,
) -> None:
    code = """
lose(driver._js.device, 50)
driver.submit(launch_tape(spin, [y], slot(60_000_000)))
calls = [
    lambda: driver.read(y, 0, 16),
    driver.check,
    lambda: driver.create_buffer(4),
    lambda: driver.write_buffer(x, 0, bytes(4)),
    lambda: driver.submit(launch),
    lambda: driver.create_pipeline(ADD, "rw", "add"),
]
texts = [message_of(call) for call in calls]
json.dumps([texts, driver.is_lost])
"""
    fresh(LOSE_SOON)
    texts, is_lost = fresh.values(code)
    assert all(text.startswith("DeviceLostError: the GPU device") for text in texts)
    assert is_lost
    assert fresh.values(f"{SET_UP}driver.submit(launch); floats(driver.read(y, 0, 16))")


def test_closed_driver_is_lost(fresh: Python) -> None:
    assert "DeviceLostError" in fresh(
        "driver.close(); message_of(lambda: driver.read(y, 0, 4))"
    )


WATCH = """
from pyodide.code import run_js
spin = driver.create_pipeline(SPIN, "w", "spin")
long = launch_tape(spin, [y], slot(60_000_000))
queue = driver._js.device.queue
gpu = run_js("globalThis.gpu = { state: 'busy' }")
watch = run_js("(q) => void q.onSubmittedWorkDone().then(() => { gpu.state = 'done' })")
"""


def test_stop_ends_a_wait_and_the_driver_still_works(fresh: Python) -> None:
    fresh("", "guard")
    fresh(WATCH)
    fresh.page.evaluate(
        """code => { window.run = runInWorker("await", code).catch(String) }""",
        "driver.submit(long); watch(queue); driver.read(y, 0, 4)",
    )
    fresh("", "waits")
    fresh("", "interrupt")
    assert "KeyboardInterrupt" in fresh.page.evaluate("window.run")
    assert fresh("gpu.state") == "busy"
    assert fresh.values("driver.submit(launch); floats(driver.read(y, 0, 16))") == ADDED


def test_page_may_ask_for_the_adapter_early(fresh: Python) -> None:
    code = """
import js
js.tensorwebAdapter = js.navigator.gpu.requestAdapter()
second = open_driver()
handle = second.create_buffer(4)
json.dumps([second.read(handle, 0, 4).hex(), js.tensorwebAdapter is None])
"""
    assert fresh.values(code) == ["00000000", True]


@pytest.fixture
def without_gpu(spare: Python) -> Iterator[Python]:
    """Python in a worker that has no `navigator.gpu`."""
    hide = "Object.defineProperty(navigator, 'gpu', { configurable: true })"
    spare(f"import js; js.eval({hide!r})")
    yield spare
    spare("js.eval('delete navigator.gpu')")


def test_without_webgpu_opening_says_so(without_gpu: Python) -> None:
    text = without_gpu("message_of(open_driver)")
    assert text.startswith("DeviceError: webgpu: this browser has no WebGPU")
    assert 'device="cpu"' in text


def test_a_page_with_stop_keeps_the_reason(without_gpu: Python) -> None:
    race = "race: (promise) => Promise.race([promise, new Promise(() => {})])"
    guard = f"{{off() {{}}, on() {{ return false }}, {race}}}"
    set_guard = f"old = globalThis.tensorwebInterrupt; tensorwebInterrupt = {guard}"
    without_gpu(f"js.eval({set_guard!r})")
    text = without_gpu("message_of(open_driver)")
    without_gpu("js.eval('globalThis.tensorwebInterrupt = old; delete globalThis.old')")
    assert text.startswith("DeviceError: webgpu: this browser has no WebGPU")


def test_opening_by_await_works_without_blocking(spare: Python) -> None:
    text = spare("message_of(open_driver)", "plain")
    assert text.startswith("BlockingError: opening the GPU: Python cannot wait")
    assert spare.values("json.dumps((await open_driver_async()).is_lost)") is False


PLAIN_READ = """
async (device) => {
  const size = 4;
  const source = device.createBuffer({ size, usage: GPUBufferUsage.COPY_SRC });
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const target = device.createBuffer({ size, usage });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(source, 0, target, 0, size);
  device.queue.submit([encoder.finish()]);
  await target.mapAsync(GPUMapMode.READ);
}
"""


def test_firefox_computes_and_reads_quickly(firefox: Browser, driver_url: str) -> None:
    """Firefox looks at what is mapped 10 times a second, and after a submission."""
    python = open_python(firefox, driver_url, "runInWorker")
    if not python.values("import js; json.dumps(hasattr(js.navigator, 'gpu'))"):
        pytest.skip("this Firefox has no WebGPU")
    python(SET_UP)
    code = f"""
from pyodide.code import run_js
plain_read = run_js({PLAIN_READ!r})
driver.submit(launch)
found = floats(driver.read(y, 0, 16))
ours, plain = [], []
for _ in range(20):
    started = time.perf_counter()
    driver.read(y, 0, 4)
    ours.append(time.perf_counter() - started)
    started = time.perf_counter()
    await plain_read(driver._js.device)
    plain.append(time.perf_counter() - started)
driver.create_pipeline("fn main() {{\\n  lex b = 2;\\n}}", "", "broken")
text = message_of(driver.check)
driver.close()
json.dumps([found, sorted(ours)[10], sorted(plain)[10], text, message_of(driver.check)])
"""
    found, ours, plain, text, lost = python.values(code)
    python.page.context.close()
    assert found == ADDED
    assert ours < plain / 2
    assert text.startswith("ShaderError: shader 'broken'")
    assert "> 2 |   lex b = 2;" in text
    assert lost.startswith("DeviceLostError")
