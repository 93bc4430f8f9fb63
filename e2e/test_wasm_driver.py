"""The WebAssembly driver in a page: in a worker and a window, isolated or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_page import Python, open_python, serve_drivers
from playwright.sync_api import Browser

from conftest import Serve

SIDES = {
    "worker": ("chromium", "runInWorker", True),
    "window": ("chromium", "runOnMain", True),
    "not isolated": ("chromium", "runInWorker", False),
    "firefox": ("firefox", "runInWorker", True),
}
"""By name: the browser, which side of the page runs Python, and whether memory can be
shared."""

SET_UP = """
from wasm_support import *
driver = open_wasm_browser()
"""


@pytest.fixture(scope="module")
def urls(
    serve: Serve, memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[bool, str]:
    return {
        isolated: serve_drivers(
            serve, tmp_path_factory.mktemp("wasm"), memory, isolated=isolated
        )
        for isolated in (True, False)
    }


@pytest.fixture(scope="module", params=list(SIDES))
def python(request: pytest.FixtureRequest, urls: dict[bool, str]) -> Iterator[Python]:
    name, where, isolated = SIDES[request.param]
    browser: Browser = request.getfixturevalue(name)
    started = open_python(browser, urls[isolated], where)
    started(SET_UP)
    yield started
    started.page.context.close()


def test_it_describes_itself(python: Python) -> None:
    isolated = python.page.evaluate("crossOriginIsolated")
    code = "json.dumps([driver.is_shared, driver.has_relaxed, driver.is_software])"
    assert python.values(code) == [isolated, True, True]


def test_one_thread_where_memory_is_not_shared_or_nobody_may_wait(
    python: Python,
) -> None:
    can_share = python.page.evaluate("crossOriginIsolated")
    may_wait = python.where == "runInWorker"
    # Where both hold, three threads start: test_wasm_threads.py has them.
    threads = 1 if can_share and may_wait else 3
    found = python(f"open_wasm_browser({threads}).description")
    assert found == "WebAssembly (1 thread)"


def test_launches_with_parameters_copies_and_clears(python: Python) -> None:
    code = """
x = filled(driver, "f", 1, 2, 3, 4, 5)
y, z = driver.create_buffer(20), driver.create_buffer(20)
driver.submit(tape(
    [slot(1.5), slot(10)],
    launch(add(driver), 5, 2, x, y),
    launch(add(driver), 5, 100, y, z, offset=256),
    [COPY, y, 4, x, 8, 8],
    [CLEAR, y, 0, 12],
))
json.dumps([values(driver, buffer, "f", 5) for buffer in (x, y, z)])
"""
    assert python.values(code) == [
        [1, 2, 3.5, 4.5, 5],
        [0, 0, 0, 5.5, 6.5],
        [12.5, 13.5, 14.5, 15.5, 16.5],
    ]


def test_relaxed_vectors(python: Python) -> None:
    code = """
x, y = filled(driver, "f", 1, 2, 3, 4), driver.create_buffer(16)
driver.submit(tape([], launch(compiled(driver, "madd_relaxed"), 1, 1, x, y)))
json.dumps(values(driver, y, "f", 4))
"""
    assert python.values(code) == [2, 6, 12, 20]


@pytest.mark.parametrize(
    ("name", "arguments", "x", "expected"),
    [
        ("exp", 1, 1000.0, math.inf),
        ("exp", 1, 1.0, math.e),
        ("log", 1, -1.0, math.nan),
        ("erf", 1, 0.5, math.erf(0.5)),
        ("pow", 2, 3.0, 27.0),
        ("fmod", 2, math.inf, math.nan),
    ],
)
def test_functions_of_the_c_library(
    python: Python, name: str, arguments: int, x: float, expected: float
) -> None:
    code = f"""
x, y = filled(driver, "d", float("{x}")), driver.create_buffer(8)
call = compiled(driver, "library", "{name}", {arguments})
driver.submit(tape([], launch(call, 1, 1, x, y)))
json.dumps(values(driver, y, "d", 1))
"""
    assert python.values(code) == pytest.approx([expected], nan_ok=True)


LIBRARY = (
    "acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 fmod hypot "
    "log log10 log1p log2 nextafter pow sin sinh tan tanh"
)


def test_the_c_library_gives_functions_of_webassembly(python: Python) -> None:
    code = f"""
import pyodide_js
from pyodide.code import run_js
is_wasm = run_js("f => /^\\\\d+$/.test(f?.name) && `${{f}}`.includes('native code')")
found = {{n: getattr(pyodide_js._module, "_" + n, None) for n in "{LIBRARY}".split()}}
json.dumps([name for name in found if not is_wasm(found[name])])
"""
    assert python.values(code) == []


def test_a_refused_module_names_its_kernel(python: Python) -> None:
    code = (
        """message_of(lambda: driver.create_pipeline(b"nonsense", "r", "sum of x"))"""
    )
    message = python(code)
    assert message.startswith(
        "ShaderError: kernel 'sum of x': the WebAssembly engine refused its module of 8"
    )
    assert "magic" in message
    missing = """
source = wasm_modules.library("frobnicate", 1, driver.is_shared)
message_of(lambda: driver.create_pipeline(source, "rw", "f"))
"""
    assert "no function 'frobnicate'" in python(missing)


def test_a_trap_names_its_kernel_and_leaves_the_device_usable(python: Python) -> None:
    code = """
bad, good = compiled(driver, "out_of_bounds"), compiled(driver, "mark")
y = filled(driver, "i", 0, 0)
rows = [launch(good, 2, 1, y), launch(bad, 1, 1, y), launch(good, 2, 1, y)]
said = [message_of(lambda: driver.submit(tape([], *rows))) for _ in range(2)]
json.dumps([*said, values(driver, y, "i", 2)])
"""
    first, second, marks = python.values(code)
    assert first == second
    assert first.startswith(
        "BackendError: internal: the kernel 'out_of_bounds' trapped: "
    )
    assert "out of bounds" in first.partition("trapped")[2]
    assert marks == [2, 2]


def test_python_s_memory_grows_under_a_tape(python: Python) -> None:
    code = """
x, y = filled(driver, "f", 1), driver.create_buffer(4)
one = add(driver)
found = []
for index in range(4):
    hold = bytes(50_000_000)
    driver.submit(tape([slot(index)], launch(one, 1, 1, x, y)))
    found += values(driver, y, "f", 1)
    del hold
json.dumps(found)
"""
    assert python.values(code) == [1, 2, 3, 4]


def test_reads_and_writes_of_every_size(python: Python) -> None:
    code = """
import os
equal = []
for size in (1, 4, 16384, 16385, 5_000_000):
    data = os.urandom(size)
    z = driver.create_buffer(size + 8)
    driver.write_buffer(z, 3, memoryview(data))
    awaited = await run_async(driver.read_steps(z, 3, size))
    equal.append(driver.read(z, 3, size) == data == awaited)
    equal.append(driver.read(z, 2 + size, 1) == data[-1:])
    driver.destroy_buffer(z)
driver.write_buffer(x, 0, array("h", [5, 6]))
equal.append(driver.read(x, 0, 4) == array("h", [5, 6]).tobytes())
json.dumps(equal)
"""
    assert all(python.values(code))


def test_the_device_s_memory_grows_and_keeps_what_is_in_it(python: Python) -> None:
    code = """
x = filled(driver, "f", 1, 2, 3)
held = [driver.create_buffer(40 << 20) for _ in range(4)]
y = driver.create_buffer(12)
driver.submit(tape([slot(1)], launch(add(driver), 3, 2, x, y)))
found = values(driver, y, "f", 3)
for buffer in held:
    driver.destroy_buffer(buffer)
json.dumps(found)
"""
    assert python.values(code) == [2, 3, 4]


def test_a_tape_longer_than_its_buffer(python: Python) -> None:
    code = """
y = filled(driver, "i", 0)
one = compiled(driver, "mark")
for launches in (10, 20_000, 20_000):
    driver.submit(tape([slot(0)], *[launch(one, 1, 1, y)] * launches))
json.dumps(values(driver, y, "i", 1))
"""
    assert python.values(code) == [40_010]


def test_launches_are_timed(python: Python) -> None:
    code = """
y = driver.create_buffer(64)
slow, quick = compiled(driver, "slow", 5_000_000), compiled(driver, "empty")
json.dumps(driver.submit_timed(
    tape([], launch(slow, 1, 1, y), [CLEAR, y, 0, 4], *[launch(quick, 1, 1)] * 2)
))
"""
    first, second, third = python.values(code)
    assert first > 1e-3
    assert 0 <= second < first
    assert 0 <= third < first


STOP = """
import pyodide_js
from pyodide.code import run_js
# Stop is pressed 30 ms from now; reading tells it once.
pyodide_js.setInterruptBuffer(run_js('''
const end = performance.now() + 30;
let isPressed = true;
({
  get 0() {
    const isHit = isPressed && performance.now() > end;
    if (isHit) isPressed = false;
    return isHit ? 2 : 0;
  },
  set 0(_) {},
});
'''))
"""


@pytest.mark.parametrize("shape", ["1, 1000", "1000, 1"], ids=["units", "launches"])
def test_stop_ends_a_tape_and_the_device_stays_usable(
    python: Python, shape: str
) -> None:
    code = f"""
launches, units = {shape}
y = driver.create_buffer(64 * units)
slow = compiled(driver, "slow", 3_000_000)
rows = [launch(slow, units, 1, y)] * launches
begin = time.perf_counter()
{STOP}
said = message_of(lambda: driver.submit(tape([], *rows)))
pyodide_js.setInterruptBuffer(None)
seconds = time.perf_counter() - begin
one = filled(driver, "i", 0)
driver.submit(tape([], launch(compiled(driver, "mark"), 1, 1, one)))
json.dumps([said, seconds, values(driver, one, "i", 1)])
"""
    said, seconds, marks = python.values(code)
    assert said == "KeyboardInterrupt: "
    assert seconds < 2
    assert marks == [1]


def test_it_reads_wherever_python_was_entered(python: Python) -> None:
    python('x = filled(driver, "f", 5)')
    assert python("lambda: str(len(driver.read(x, 0, 4)))", "callback") == "4"
    assert python("str(driver.can_block())", "plain") == "True"


def test_addresses_beyond_2_gib_and_the_end_of_memory(
    chromium: Browser, urls: dict[bool, str]
) -> None:
    python = open_python(chromium, urls[True], "runInWorker")
    python(SET_UP)
    code = """
low = filled(driver, "f", 5)
held = [driver.create_buffer(1 << 30) for _ in range(2)]
high, higher = filled(driver, "f", 7), driver.create_buffer(8)
driver.submit(tape(
    [slot(1)],
    launch(add(driver), 1, 1, high, higher),
    [COPY, higher, 0, low, 0, 4],
    [COPY, low, 0, higher, 4, 4],
    [CLEAR, high, 0, 4],
))
found = [values(driver, high, "f", 1), values(driver, higher, "f", 2)]
held += [driver.create_buffer(1 << 30)]
said = message_of(lambda: driver.create_buffer(1 << 30))
driver.destroy_buffer(held[1])
json.dumps([high < 0 < low, found, said, driver.create_buffer(1 << 30) == held[1]])
"""
    is_negative, found, said, is_reused = python.values(code)
    assert is_negative
    assert found == [[0], [8, 8]]
    assert said.startswith("DeviceMemoryError: the device has no memory for a buffer")
    assert "limit is 3.938 GiB" in said
    assert is_reused
    python.page.context.close()


def test_a_browser_without_vectors_is_told(python: Python) -> None:
    code = """
from pyodide.code import run_js
run_js("globalThis.validate = WebAssembly.validate; WebAssembly.validate = () => false")
try:
    said = message_of(open_wasm_browser)
finally:
    run_js("WebAssembly.validate = validate; delete globalThis.validate")
said
"""
    assert python(code) == (
        "DeviceError: cpu: this browser's WebAssembly has no vectors (128-bit SIMD); "
        "use a browser of 2023 or later."
    )
