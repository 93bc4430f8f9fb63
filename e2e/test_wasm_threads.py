"""Helper threads of the WebAssembly driver: what they compute, how they end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import page_of
from driver_page import Python, open_page, open_python, serve_drivers
from playwright.sync_api import Browser, Page
from unwatched_firefox import unwatched_firefox

from conftest import Serve
from tensorweb.site_server import HEADER, HEADERS_FILE
from tools import policy

SET_UP = """
from wasm_support import *
driver = await with_helpers(open_wasm_browser(3), 2)
"""

SPREAD = """
def spread(name, *options, units, driver=driver):
    '''Launch with the smallest slices until helpers have taken part in it.'''
    y = driver.create_buffer(64 * units)
    pipeline = compiled(driver, name, *options)
    before, launches = driver.counters()["helped"], 0
    driver.submit(tape([], [CLEAR, y, 0, 64 * units]))
    while driver.counters()["helped"] == before or launches < 3:
        driver.submit(tape([], *[launch(pipeline, units, 1, y)] * 10))
        launches += 10
    return launches, y
"""


@pytest.fixture(scope="module")
def url(serve: Serve, memory: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page, with the site's policy for workers."""
    folder = tmp_path_factory.mktemp("threads")
    return serve_with_workers(serve, folder, memory, policy.STRICT["worker-src"])


def serve_with_workers(serve: Serve, folder: Path, memory: Path, sources: str) -> str:
    """Serve the page with a policy that says where workers may come from."""
    rule = f"/*\n  {HEADER}: worker-src {sources}\n"
    (folder / HEADERS_FILE).write_text(rule, "utf-8")
    return serve_drivers(serve, folder, memory)


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def python(
    request: pytest.FixtureRequest, url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Python]:
    if request.param == "chromium":
        opened = page_of(request.getfixturevalue("chromium").new_context())
    else:
        opened = unwatched_firefox(tmp_path_factory.mktemp("firefox") / "profile")
    with opened as page:
        started = open_page(page, url, "runInWorker")
        started(SET_UP + SPREAD)
        yield started


def test_helpers_of_many_devices_start(python: Python) -> None:
    """In a Firefox that watches workers one of some dozens never gets its helpers."""
    python("for _ in range(80): (await with_helpers(open_wasm_browser(3), 2)).close()")


def test_every_unit_is_done_once_by_one_of_the_threads(python: Python) -> None:
    code = """
units = 100_003
launches, y = spread("mark", units=units)
json.dumps([launches, sorted(set(values(driver, y, "i", units)))])
"""
    launches, marks = python.values(code)
    assert marks == [launches]


def test_small_launches_and_those_with_functions_stay_with_the_caller(
    python: Python,
) -> None:
    code = """
x, y = filled(driver, "d", *[1.0] * 1000), driver.create_buffer(8000)
exp, mark = compiled(driver, "library", "exp", 1), compiled(driver, "mark")
before = driver.counters()["helped"]
driver.submit(tape([], *[launch(exp, 1000, 1, x, y)] * 100))
driver.submit(tape([], *[launch(mark, 100, 10_000, y)] * 1000))
json.dumps(driver.counters()["helped"] - before)
"""
    assert python.values(code) == 0


def test_memory_that_has_grown_is_there_for_helpers(python: Python) -> None:
    code = """
held = [driver.create_buffer(100 << 20) for _ in range(5)]
launches, y = spread("mark", units=50_000)
found = sorted(set(values(driver, y, "i", 50_000)))
for buffer in held:
    driver.destroy_buffer(buffer)
json.dumps([launches, found])
"""
    launches, marks = python.values(code)
    assert marks == [launches]


def test_a_trap_on_any_thread_names_its_kernel(python: Python) -> None:
    code = """
bad, good = compiled(driver, "out_of_bounds"), compiled(driver, "mark")
said = {
    message_of(lambda: driver.submit(tape([], launch(bad, 64, 1)))) for _ in range(300)
}
launches, y = spread("mark", units=1000)
json.dumps([sorted(said), launches, sorted(set(values(driver, y, "i", 1000)))])
"""
    said, launches, marks = python.values(code)
    assert len(said) == 1
    assert "the kernel 'out_of_bounds' trapped: " in said[0]
    assert said[0].endswith("out of bounds")
    assert marks == [launches]


def test_stop_ends_a_launch_on_all_threads(python: Python) -> None:
    code = """
import pyodide_js
from pyodide.code import run_js
y = driver.create_buffer(64 * 10_000)
slow = compiled(driver, "slow", 1_000_000)
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
begin = time.perf_counter()
said = message_of(lambda: driver.submit(tape([], launch(slow, 10_000, 1, y))))
seconds = time.perf_counter() - begin
pyodide_js.setInterruptBuffer(None)
launches, y = spread("mark", units=1000)
json.dumps([said, seconds, launches, sorted(set(values(driver, y, "i", 1000)))])
"""
    said, seconds, launches, marks = python.values(code)
    assert said == "KeyboardInterrupt: "
    assert seconds < 2
    assert marks == [launches]


def open_alone(browser: Browser, address: str) -> Python:
    """Return Python with the names of the tests, and no device."""
    started = open_python(browser, address, "runInWorker")
    started("from wasm_support import *")
    return started


def wait_for_workers(page: Page, count: int) -> None:
    for _ in range(600):
        if len(page.workers) == count:
            return
        page.wait_for_timeout(50)
    assert len(page.workers) == count


@pytest.fixture(scope="module")
def alone(chromium: Browser, url: str) -> Iterator[Python]:
    """Python without a device, for tests of the first and the last moments of one."""
    started = open_alone(chromium, url)
    yield started
    started.page.context.close()


def test_first_results_do_not_wait_for_them(alone: Python) -> None:
    code = """
driver = open_wasm_browser(3)
y = driver.create_buffer(4000)
driver.submit(tape([], launch(compiled(driver, "mark"), 1000, 1, y)))
said = [values(driver, y, "i", 1), driver.description, driver.helpers_up()]
await with_helpers(driver, 2)
json.dumps([*said, driver.description])
"""
    description = "WebAssembly (3 threads)"
    assert alone.values(code) == [[1], description, 0, description]
    alone("driver.close()")


def test_they_end_with_the_device_and_with_python(alone: Python) -> None:
    wait_for_workers(alone.page, 1)
    alone("driver = await with_helpers(open_wasm_browser(3), 2)")
    wait_for_workers(alone.page, 3)
    alone("driver.close()")
    wait_for_workers(alone.page, 1)
    alone("driver = await with_helpers(open_wasm_browser(4), 3)")
    wait_for_workers(alone.page, 4)
    alone.page.evaluate("endWorker()")
    wait_for_workers(alone.page, 0)


def test_a_policy_without_workers_leaves_one_thread(
    chromium: Browser, serve: Serve, memory: Path, tmp_path: Path
) -> None:
    address = serve_with_workers(serve, tmp_path, memory, "'self'")
    python = open_alone(chromium, address)
    code = """
import asyncio
driver = open_wasm_browser(3)
end = time.monotonic() + 60
while "3" in driver.description and time.monotonic() < end:
    await asyncio.sleep(0.01)
y = driver.create_buffer(4000)
driver.submit(tape([], launch(compiled(driver, "mark"), 1000, 1, y)))
json.dumps([driver.description, set(values(driver, y, "i", 1000)) == {1}])
"""
    assert python.values(code) == ["WebAssembly (1 thread)", True]
    python.page.context.close()
