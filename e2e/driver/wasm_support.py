"""What the tests of the WebAssembly driver run inside Pyodide: tapes, results."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from array import array
from collections.abc import Callable

import wasm_modules

from tensorweb.drivers.protocol import CLEAR, COPY, DISPATCH, PARAMETER_WORDS
from tensorweb.drivers.wasm_browser import WasmBrowserDriver, open_wasm_browser

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
    "slot",
    "struct",
    "tape",
    "time",
    "values",
    "wasm_modules",
    "with_helpers",
]


def slot(addend: float) -> list[int]:
    """Return one launch's parameter words."""
    word = struct.unpack("i", struct.pack("f", addend))[0]
    return [word] + [0] * (PARAMETER_WORDS - 1)


def tape(slots: list[list[int]], *commands: list[int]) -> array[int]:
    """Return a tape of parameter slots and commands."""
    words = [word for words in slots for word in words]
    return array("i", [len(words), *words, *(w for row in commands for w in row)])


def launch(
    pipeline: int, units: int, slice_: int, *buffers: int, offset: int = 0
) -> list[int]:
    """Return the command of a launch."""
    return [DISPATCH, pipeline, units, slice_, 1, offset, len(buffers), *buffers]


def filled(driver: WasmBrowserDriver, letter: str, *values: float) -> int:
    """Return a new buffer with numbers in it."""
    data = struct.pack(f"{len(values)}{letter}", *values)
    buffer = driver.create_buffer(len(data))
    driver.write_buffer(buffer, 0, data)
    return buffer


def values(
    driver: WasmBrowserDriver, buffer: int, letter: str, count: int
) -> list[float]:
    """Return the numbers in a buffer."""
    size = count * struct.calcsize(letter)
    return list(struct.unpack(f"{count}{letter}", driver.read(buffer, 0, size)))


def compiled(driver: WasmBrowserDriver, name: str, *options: object) -> int:
    """Return the pipeline of a module of `wasm_modules`, for this driver's memory."""
    source = getattr(wasm_modules, name)(*options, is_shared=driver.is_shared)
    return driver.create_pipeline(source, "", name)


def add(driver: WasmBrowserDriver) -> int:
    """Return the pipeline of y = x + parameter."""
    return compiled(driver, "add")


async def with_helpers(driver: WasmBrowserDriver, count: int) -> WasmBrowserDriver:
    """Return the driver when so many helper threads are up."""
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
