"""The driver over the browser's WebGPU: one JavaScript call per tape, blocking reads.

It does not know tensors; `browser.js` and the other `browser_*.js` are its JavaScript.
Called by `tensorweb.drivers.open_driver`. `js` and `pyodide` are imported when a device
is opened, because a memory snapshot of Python cannot hold a JavaScript object.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from time import monotonic
from typing import Any, NoReturn

from tensorweb.drivers import messages, policy
from tensorweb.drivers.memory import require_bindable
from tensorweb.drivers.scripts import JsObject, join_scripts
from tensorweb.drivers.waiting import COMPILING, OPENING, can_wait, wait, wait_for
from tensorweb.errors import (
    BackendError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
)
from tensorweb.waits import Steps, run_blocking


class Pace:
    """Counts flushes and adapts the window to the time that the last one took."""

    def __init__(self, now: float) -> None:
        """Begin with a small window at the time `now`, in seconds."""
        self._window = 4
        self._flushes = 0
        self._since = now

    def is_due(self) -> bool:
        """Count a flush, and return whether it ends a window."""
        self._flushes += 1
        return self._flushes >= self._window

    def begin_window(self, now: float) -> None:
        """Begin the next window, after a wait at the end of one."""
        window = self._window * policy.WINDOW_SECONDS / max(now - self._since, 1e-6)
        grown = min(round(window), self._window * 2)
        self._window = min(max(grown, policy.SMALLEST_WINDOW), policy.LARGEST_WINDOW)
        self.drained(now)

    def drained(self, now: float) -> None:
        """Take note that nothing is in flight, as after a read."""
        self._flushes = 0
        self._since = now


PARTS = (
    "browser.js",
    "browser_failures.js",
    "browser_buffers.js",
    "browser_pipelines.js",
    "browser_timing.js",
    "browser_tapes.js",
    "browser_reads.js",
    "browser_kept.js",
)

ENABLES = {
    "shader-f16": "enable f16;\n",
    "subgroups": "enable subgroups;\n",
    "chromium-experimental-subgroup-matrix": (
        "enable chromium_experimental_subgroup_matrix;\n"
    ),
}
"""Features that a shader must enable: WebGPU's name to the line of WGSL."""

SOFTWARE = "swiftshader|llvmpipe|lavapipe|softpipe|basic render"
"""A regular expression, found in the names of adapters that compute on the CPU."""

OWN_MEMORY = frozenset({"nvidia", "amd"})
"""Vendors of mostly discrete GPUs; browsers do not report whether a GPU is discrete."""


def told_memory(gigabytes: float) -> int:
    """Return the bytes of host memory that a browser reports, 0 if unknown or capped.

    >>> told_memory(4) >> 30, told_memory(8), told_memory(32) >> 30
    (4, 0, 32)
    """
    return 0 if gigabytes == policy.CAPPED_GIGABYTES else int(gigabytes * (1 << 30))


def open_browser() -> Steps[BrowserDriver]:
    """Open the browser's GPU device.

    Raises `DeviceError` without WebGPU or adapter; `run_blocking` raises
    `BlockingError` where Python cannot wait.
    """
    from pyodide.ffi import JsException

    try:
        opening = join_scripts("webgpu", *PARTS)(SOFTWARE)
        return BrowserDriver((yield wait_for(opening, "opening the GPU", OPENING)))
    except JsException as error:
        raise DeviceError(
            f'webgpu: {error.message}; compute on device="cpu", or use a browser with '
            "WebGPU (Chrome, Edge, Safari 26 or later, Firefox on Windows and macOS)."
        ) from None


class BrowserDriver:
    """One open device of the browser; see `tensorweb.drivers.protocol.Driver`."""

    def __init__(self, js_driver: JsObject) -> None:
        self._js = js_driver
        self._submit = js_driver.submit
        self._write = js_driver.write
        about = json.loads(js_driver.description)
        self.description: str = about["description"]
        self.names: dict[str, str] = about["names"]
        self.is_software: bool = about["isSoftware"]
        has_own = not self.is_software and self.names["vendor"] in OWN_MEMORY
        self.shared_memory = None if has_own else told_memory(about["hostGigabytes"])
        self.limits: dict[str, int] = about["limits"]
        self.features: frozenset[str] = frozenset(about["features"])
        self.has_subgroup_matrices: bool = about["hasSubgroupMatrices"]
        self.shader_header = "".join(
            line for name, line in ENABLES.items() if name in self.features
        )
        self._pace = Pace(monotonic())
        self._mark: int | None = None
        self._stage(policy.FIRST_STAGING_WORDS)

    def _stage(self, length: int) -> None:
        """Allocate the memory through which tapes reach JavaScript, `length` words.

        JavaScript retains a view of it: wrapping another buffer costs 10 µs a tape.
        """
        self._staging = memoryview(array("i", bytes(4 * length)))
        self._js.stage(self._staging)

    @property
    def is_lost(self) -> bool:
        """Whether the device is lost or closed; no call of this driver works."""
        return bool(self._js.isLost())

    def abandon(self) -> None:
        """Give the device back: the browser has it, not this process."""
        self._js.close()

    def create_buffer(self, size: int) -> int:
        """Create a zeroed storage buffer of `size` bytes, a multiple of 4.

        Memory that the browser cannot give is reported by the next read or check.
        """
        assert size > 0, "internal: an empty tensor has no buffer"
        assert size % 4 == 0, f"internal: buffer of {size} bytes"
        require_bindable(size, self.limits)
        if self.is_lost:
            self._raise_failure()
        buffer: int = self._js.createBuffer(size)
        return buffer

    def buffer_size(self, buffer: int) -> int:
        """Return the bytes of a buffer."""
        return int(self._js.bufferSize(buffer))

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer; work already submitted still uses it safely."""
        self._js.destroyBuffer(buffer)

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        """Copy host bytes into a buffer; offset and length are multiples of 4."""
        if self._write(buffer, offset, data):
            self._raise_failure()

    def create_pipeline(self, source: str, access: str, label: str) -> int:
        """Compile a shader with entry point `main`; `access` has r or w per binding.

        Returns at once; the next read or check reports what the compiler refused.
        """
        if self.is_lost:
            self._raise_failure()
        pipeline: int = self._js.createPipeline(source, access, label)
        return pipeline

    def begin_pipeline(self, source: str, access: str, label: str) -> int:
        """Compile a shader in the background.

        A launch that needs it sooner compiles it at once. What the compiler refuses is
        reported after the first launch.
        """
        if self.is_lost:
            self._raise_failure()
        pipeline: int = self._js.beginPipeline(source, access, label)
        return pipeline

    def pending_pipelines(self) -> int:
        """Return how many pipelines are being compiled in the background."""
        pending: int = self._js.pendingPipelines()
        return pending

    def finish_pipelines(self, pipelines: Sequence[int] = ()) -> Steps[None]:
        """Wait until these pipelines, or all, are compiled.

        `run_blocking` raises `BlockingError` where Python cannot wait.
        """
        if self.pending_pipelines():
            compiling = self._js.pipelinesSettled(json.dumps(list(pipelines)))
            yield wait_for(compiling, "compiling", COMPILING)

    def submit(self, tape: array[int]) -> None:
        """Replay a tape in one command buffer and one submission."""
        if self._submit(self._staged(tape)):
            self._raise_failure()

    def submit_timed(self, tape: array[int]) -> list[float] | None:
        """Do the same, wait, and return the seconds that each launch took.

        None where the browser writes no timestamps, and where Python cannot wait.
        """
        if "timestamp-query" not in self.features or not can_wait():
            self.submit(tape)
            return None
        if self._submit(self._staged(tape), True):
            self._raise_failure()
        seconds: list[float] | None = json.loads(wait(self._js.launchSeconds()))
        if seconds is None:
            self.check()  # raises what happened to the device
        return seconds

    def _staged(self, tape: array[int]) -> int:
        """Lay a tape where JavaScript looks at it; returns its words."""
        length = len(tape)
        if length > len(self._staging):
            self._stage(2 * length)
        self._staging[:length] = tape
        return length

    def pace(self) -> None:
        """Wait for earlier flushes now and then, where Python can wait.

        Raises what the GPU reported meanwhile, and `KeyboardInterrupt` on Stop.
        """
        if not self._pace.is_due():
            return
        earlier, self._mark = self._mark, self._js.beginRead(self._js.fence, 0, 4)
        try:
            if earlier is not None and can_wait() and wait(self._js.finished(earlier)):
                self._raise_failure()
        finally:
            if earlier is not None:
                self._js.abandon(earlier)
            self._pace.begin_window(monotonic())

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        """Wait for all submitted work and return bytes.

        Raises `BlockingError` where Python cannot wait, and what the GPU reported late.
        """
        return run_blocking(self.read_steps(buffer, offset, size))

    def read_steps(self, buffer: int, offset: int, size: int) -> Steps[bytes]:
        """Wait for all submitted work and return bytes; the body of `read`."""
        start = offset % 4
        aligned = (start + size + 3) & ~3
        ticket = self._js.beginRead(buffer, offset - start, aligned)
        try:
            if (yield wait_for(self._js.finished(ticket))):
                self._raise_failure()
            self._pace.drained(monotonic())
            return self._take(ticket, aligned)[start : start + size]
        except BaseException:
            self._js.abandon(ticket)
            raise

    def can_block(self) -> bool:
        """Return whether `read` works at this point of the program."""
        return can_wait()

    def check(self) -> None:
        """Wait for submitted work and raise what the GPU reported, if anything."""
        self.read(self._js.fence, 0, 4)

    def counters(self) -> dict[str, int]:
        """Return totals since opening, and `live_buffers` and `live_bytes` of now."""
        totals: dict[str, int] = json.loads(self._js.counters())
        return totals

    def kept(self, key: str) -> str | None:
        """Return the text that an earlier visit kept under a key, None without one."""
        text = self._js.kept(key)
        return text if isinstance(text, str) else None

    def keep(self, key: str, text: str | None) -> bool:
        """Keep a text for later visits, None forgets it; returns whether it lasts."""
        return bool(self._js.keep(key, text))

    def close(self) -> None:
        """Destroy the device and all of its buffers."""
        self._js.close()

    def _take(self, ticket: int, size: int) -> bytes:
        # JavaScript fills this object before anyone else sees it: at four bytes and
        # more CPython shares no bytes objects, and 64 MiB are copied once, not twice.
        data = bytes(size)
        self._js.take(ticket, data)
        return data

    def _raise_failure(self) -> NoReturn:
        """Raise the gravest failure that JavaScript has collected."""
        text = self._js.takeFailure()
        assert text, "internal: a call failed without a failure"
        failure: dict[str, Any] = json.loads(text)
        kind = failure["kind"]
        if kind == "lost":
            raise DeviceLostError(messages.lost_message(failure["text"]))
        if kind == "memory":
            raise DeviceMemoryError(messages.memory_message(failure["size"]))
        if kind == "shader":
            found = [messages.compiler_message(**row) for row in failure["messages"]]
            raise messages.shader_error(failure["label"], failure["source"], found)
        raise BackendError(f"WebGPU refused a command: {failure['text']}")
