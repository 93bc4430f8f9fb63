"""What the tests of the WebAssembly driver run inside Pyodide: tapes, results."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from array import array
from collections.abc import Callable

import wasm_modules
from wasm_modules import filled, launch, slot, tape, values

from tensorweb.drivers.protocol import CLEAR, COPY
from tensorweb.drivers.wasm_browser import WasmBrowserDriver, open_wasm_browser
from tensorweb.waits import run_async

__all__ = [
    "CLEAR",
    "COPY",
    "add",
    "array",
    "compiled",
    "filled",
    "json",
    "launch",
    "message_of",
    "open_wasm_browser",
    "run_async",
    "slot",
    "struct",
    "tape",
    "time",
    "values",
    "wasm_modules",
    "with_helpers",
]


def compiled(driver: WasmBrowserDriver, name: str, *options: object) -> int:
    """Return the pipeline of a module of `wasm_modules`, for this driver's memory."""
    source = getattr(wasm_modules, name)(*options, is_shared=driver.is_shared)
    return driver.create_pipeline(source, "", name)


def add(driver: WasmBrowserDriver) -> int:
    """Return the pipeline of y = x + parameter."""
    return compiled(driver, "add")


async def with_helpers(driver: WasmBrowserDriver, count: int) -> WasmBrowserDriver:
    """Return the driver once this number of helper threads runs."""
    end = time.monotonic() + 60
    while driver.helpers_up() < count:
        assert time.monotonic() < end, f"{driver.helpers_up()} helpers are up"
        await asyncio.sleep(0.01)
    return driver


def message_of(call: Callable[[], object]) -> str:
    """Return class and text of what `call` raises."""
    try:
        call()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "nothing raised"
