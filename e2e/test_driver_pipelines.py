"""The browser's driver compiles in the background, inside Pyodide in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_page import Python, open_python, serve_drivers
from playwright.sync_api import Browser

from conftest import Serve

SET_UP = """
driver = open_driver()
source = driver.shader_header + ADD
x, y = driver.create_buffer(16), driver.create_buffer(16)
driver.write_buffer(x, 0, struct.pack("4f", 1, 2, 3, 4))
def add(pipeline):
    driver.submit(launch_tape(pipeline, [x, y], slot(4, 0.5)))
    return floats(driver.read(y, 0, 16))
"""

ADDED = [1.5, 2.5, 3.5, 4.5]


@pytest.fixture(scope="module")
def python(
    chromium: Browser,
    serve: Serve,
    memory: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Python]:
    """Python in a worker with a driver, buffers and `add(pipeline)`."""
    url = serve_drivers(serve, tmp_path_factory.mktemp("driver-page"), memory)
    started = open_python(chromium, url, "runInWorker")
    started(SET_UP)
    yield started
    started.page.context.close()


def test_waiting_finishes_all_pipelines(python: Python) -> None:
    code = """
    numbers = [driver.begin_pipeline(source, "rw", f"add {i}") for i in range(3)]
    pending = driver.pending_pipelines()
    run_blocking(driver.finish_pipelines())
    json.dumps([pending, driver.pending_pipelines(), [add(n) for n in numbers]])
    """
    pending, later, sums = python.values(code)
    assert (pending, later) == (3, 0)
    assert sums == [ADDED] * 3


def test_waiting_for_one_pipeline_is_enough_to_use_it(python: Python) -> None:
    code = """
    number = driver.begin_pipeline(source, "rw", "one")
    run_blocking(driver.finish_pipelines([number]))
    add(number)
    """
    assert python.values(code) == ADDED


def test_launch_does_not_wait_for_the_background(python: Python) -> None:
    code = "add(driver.begin_pipeline(source, 'rw', 'soon'))"
    assert python.values(code) == ADDED


def test_awaiting_finishes_pipelines(python: Python) -> None:
    code = """
    number = driver.begin_pipeline(source, "rw", "awaited")
    await run_async(driver.finish_pipelines())
    json.dumps([driver.pending_pipelines(), add(number)])
    """
    assert python.values(code) == [0, ADDED]


def test_refused_shader_is_told_when_it_is_used(python: Python) -> None:
    code = """
    broken = driver.begin_pipeline("fn main() { lex x = 1; }", "rw", "broken")
    run_blocking(driver.finish_pipelines())
    driver.check()
    try:
        add(broken)
        message = "nothing"
    except errors.ShaderError as error:
        message = str(error)
    json.dumps(message)
    """
    assert "broken" in python.values(code)
    assert python.values("add(driver.create_pipeline(source, 'rw', 'add'))") == ADDED
