"""The WebAssembly device of a page with Pyodide: one bridge call per tape.

It knows no tensors; `wasm_browser.js` and the other `wasm_*.js` are its JavaScript.
It needs no waiting, so it works wherever Python runs. `pyodide_js` is imported when a
device is opened, because a memory snapshot of Python cannot hold a JavaScript object.
"""

from __future__ import annotations

import json
from array import array

from tensorweb.drivers import policy
from tensorweb.drivers.messages import refused_message
from tensorweb.drivers.scripts import JsObject, join_scripts, script_text
from tensorweb.drivers.wasm_driver import PAGE, WasmDriver
from tensorweb.errors import DeviceError, ShaderError, counted

PARTS = (
    "wasm_browser.js",
    "wasm_memory.js",
    "wasm_modules.js",
    "wasm_threads.js",
    "wasm_runs.js",
)

HELPER = "wasm_helper.js"
"""What a helper thread runs."""

STOPPED = 1
TRAPPED = 2
"""What `submit` of `wasm_runs.js` returns."""


def open_wasm_browser(threads: int | None = None) -> WasmBrowserDriver:
    """Open a WebAssembly device in this page; takes a few milliseconds.

    Args:
        threads: how many compute where the page is isolated and Python runs in a
            worker, elsewhere it is one; None: as many as the machine has cores, up to
            eight.

    Raises:
        DeviceError: the browser's WebAssembly has no vectors, or the page's policy
            keeps the device's scripts out.
    """
    import pyodide_js
    from pyodide.ffi import JsException

    try:
        opened = join_scripts("cpu", *PARTS)(
            pyodide_js._module,
            policy.FIRST_PAGES,
            policy.MOST_PAGES,
            script_text(HELPER),
            threads or 0,
        )
    except JsException as error:
        raise DeviceError(
            f"cpu: {error.message}; use a browser of 2023 or later."
        ) from None
    return WasmBrowserDriver(opened)


class WasmBrowserDriver(WasmDriver):
    """One open device; see `tensorweb.drivers.protocol.ModuleDriver`."""

    def __init__(self, js_driver: JsObject) -> None:
        """Take over what JavaScript has opened."""
        self._js = js_driver
        self._submit = js_driver.submit
        self._write_staged = js_driver.writeStaged
        self._read_staged = js_driver.readStaged
        self._stage(policy.FIRST_STAGING_WORDS)
        super().__init__(bool(js_driver.isShared), bool(js_driver.hasRelaxed))
        js_driver.placeTapes(self._tape_address)

    @property
    def description(self) -> str:
        """Who computes, for people; helpers are counted before they are up."""
        return f"WebAssembly ({counted(self._js.threads(), 'thread')})"

    def helpers_up(self) -> int:
        """Return how many helpers are there.

        They come up when Python goes back to the event loop.
        """
        count: int = self._js.helpersUp()
        return count

    def _stage(self, length: int) -> None:
        """Allocate the memory through which tapes reach JavaScript, `length` words.

        JavaScript retains a view of it: wrapping another buffer costs 10 µs a tape.
        """
        self._staging = memoryview(array("i", bytes(4 * length)))
        self._staged_bytes = self._staging.cast("B")
        self._js.stage(self._staged_bytes)

    def _grow(self, size: int) -> bool:
        return bool(self._js.grow((size - self._heap.size) // PAGE))

    def _tape_at(self, length: int) -> int:
        before = self._tape_address
        address = super()._tape_at(length)
        if address != before:
            self._js.placeTapes(address)
        return address

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        """Copy host bytes into a buffer."""
        self._require_open()
        size = memoryview(data).nbytes
        if size > policy.LARGEST_STAGED:
            self._js.write(buffer + offset, data)
            return
        self._staged_bytes[:size] = memoryview(data).cast("B")
        self._write_staged(buffer + offset, size)

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        """Return bytes of a buffer."""
        self._require_open()
        self._counters["reads"] += 1
        if size <= policy.LARGEST_STAGED:
            self._read_staged(buffer + offset, size)
            return bytes(self._staged_bytes[:size])
        # JavaScript fills this object before anyone else sees it: CPython shares no
        # bytes objects of this size, and 64 MiB are copied once, not twice.
        data = bytes(size)
        self._js.take(buffer + offset, data)
        return data

    def create_pipeline(self, source: bytes, access: str, label: str) -> int:
        """Compile a module that exports `run`.

        Raises:
            ShaderError: the browser refused it.
        """
        self._require_open()
        number: int = self._js.createModule(source)
        if number < 0:
            reason = self._js.refusal()
            raise ShaderError(refused_message(label, len(source), reason))
        self._labels.append(label)
        self._count("pipelines")
        if self._js.canShare(number):
            address = self._heap.allocate(len(source))
            self._js.write(address, source)
            self._js.shareModule(number, address, len(source))
        return number

    def submit(self, tape: array[int]) -> None:
        """Run a tape; it is done when this returns.

        Raises:
            BackendError: a kernel trapped; what came before it is done.
            KeyboardInterrupt: Stop was pressed; the rest of the tape is left out.
        """
        status = self._submit(self._staged(tape))
        if status:
            self._raise(status)

    def submit_timed(self, tape: array[int]) -> list[float]:
        """Do the same and return the seconds that each launch took."""
        status = self._submit(self._staged(tape), True)
        if status:
            self._raise(status)
        seconds: list[float] = json.loads(self._js.launchSeconds())
        return seconds

    def _staged(self, tape: array[int]) -> int:
        """Lay a tape where JavaScript looks at it; returns its words."""
        self._require_open()
        length = len(tape)
        if length > len(self._staging):
            self._stage(2 * length)
        self._tape_at(length)
        self._staging[:length] = tape
        self._counters["submits"] += 1
        return length

    def _raise(self, status: int) -> None:
        """Raise what ended a tape."""
        if status == STOPPED:
            raise KeyboardInterrupt
        assert status == TRAPPED, f"internal: status {status} of a tape"
        raise self._trapped(*json.loads(self._js.trap()))

    def counters(self) -> dict[str, int]:
        """Return totals since opening, and `live_buffers` and `live_bytes` of now.

        `helped` counts the parts of launches that helper threads did.
        """
        found = {"dispatches": self._js.dispatches(), "helped": self._js.helped()}
        return super().counters() | found

    def close(self) -> None:
        """Free the memory and all of its buffers."""
        if not self.is_lost:
            self._js.close()
        super().close()
