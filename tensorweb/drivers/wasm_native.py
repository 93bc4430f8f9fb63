"""The WebAssembly device on desktop Python, through the package wasmtime: for tests.

It knows no tensors. Kernels run one slice after another on one thread; between two
slices Python sees Ctrl+C.
"""

from __future__ import annotations

from array import array
from time import perf_counter

from tensorweb.drivers.messages import refused_message
from tensorweb.drivers.protocol import CLEAR, COPY, DISPATCH
from tensorweb.drivers.wasm_driver import (
    FIRST_PAGES,
    MOST_PAGES,
    WasmDriver,
    signed,
    unsigned,
)
from tensorweb.drivers.wasmtime_engine import Engine, Refused, Run, Trapped
from tensorweb.errors import ShaderError


def open_wasm_native(
    *, is_shared: bool = False, has_relaxed: bool = True
) -> WasmNativeDriver:
    """Open a WebAssembly device in this process.

    Args:
        is_shared: whether its memory is shared, as in an isolated page; modules must
            be made for the one or the other.
        has_relaxed: whether it takes relaxed SIMD.

    Raises:
        DeviceError: wasmtime is not installed.
    """
    return WasmNativeDriver(is_shared, has_relaxed)


class WasmNativeDriver(WasmDriver):
    """One open device; see `tensorweb.drivers.protocol.ModuleDriver`."""

    description = "WebAssembly (wasmtime, 1 thread)"

    def __init__(self, is_shared: bool, has_relaxed: bool) -> None:
        """Make the memory."""
        self._engine = Engine(is_shared, has_relaxed, (FIRST_PAGES, MOST_PAGES))
        self._runs: list[Run] = []
        super().__init__(is_shared, has_relaxed)

    def _grow(self, size: int) -> bool:
        return self._engine.grow(size)

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        """Copy host bytes into a buffer."""
        self._require_open()
        block = memoryview(data).cast("B")
        start = unsigned(buffer) + offset
        self._engine.view[start : start + len(block)] = block

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        """Return bytes of a buffer."""
        self._require_open()
        self._count("reads")
        start = unsigned(buffer) + offset
        return bytes(self._engine.view[start : start + size])

    def create_pipeline(self, source: bytes, access: str, label: str) -> int:
        """Compile a module that exports `run`.

        Raises:
            ShaderError: wasmtime refused it.
        """
        self._require_open()
        try:
            run = self._engine.compile(source)
        except Refused as error:
            message = refused_message(label, len(source), str(error))
            raise ShaderError(message) from error
        self._runs.append(run)
        self._labels.append(label)
        self._count("pipelines")
        return len(self._runs) - 1

    def submit(self, tape: array[int]) -> None:
        """Run a tape; it is done when this returns.

        Raises:
            BackendError: a kernel trapped; what came before it is done.
        """
        self._replay(tape)

    def submit_timed(self, tape: array[int]) -> list[float]:
        """Do the same and return the seconds that each launch took."""
        return self._replay(tape)

    def _replay(self, tape: array[int]) -> list[float]:
        self._require_open()
        self._count("submits")
        start = self._tape_at(len(tape))
        whole = memoryview(tape).cast("B")
        self._engine.view[start : start + len(whole)] = whole
        words = tape.tolist()
        seconds = []
        position = 1 + words[0]
        while position < len(words):
            command = words[position]
            if command == DISPATCH:
                began = perf_counter()
                count = words[position + 6]
                self._launch(words[position + 1 : position + 6], start, position + 7)
                seconds.append(perf_counter() - began)
                position += 7 + count
            else:
                position += self._transfer(words, position)
        return seconds

    def _launch(self, command: list[int], tape: int, buffers: int) -> None:
        """Run the units of a launch, a slice at a time.

        Args:
            command: pipeline, units, slice, 1 and the offset of the parameters.
            tape: the tape's address.
            buffers: the word of the tape where the buffers' addresses begin.
        """
        pipeline, units, slice_, _, offset = command
        run = self._runs[pipeline]
        parameters = signed(tape + 4 + offset)
        addresses = signed(tape + 4 * buffers)
        self._count("dispatches")
        try:
            for first in range(0, units, slice_):
                run(parameters, addresses, first, min(first + slice_, units))
        except Trapped as error:
            raise self._trapped(pipeline, str(error)) from error

    def _transfer(self, words: list[int], position: int) -> int:
        """Copy or clear bytes; return the command's length in words."""
        view = self._engine.view
        if words[position] == COPY:
            source, source_at, target, target_at, size = words[
                position + 1 : position + 6
            ]
            first = unsigned(source) + source_at
            at = unsigned(target) + target_at
            view[at : at + size] = view[first : first + size]
            return 6
        command = words[position]
        assert command == CLEAR, f"internal: tape command {command} at {position}"
        buffer, offset, size = words[position + 1 : position + 4]
        self._engine.clear(unsigned(buffer) + offset, size)
        return 4

    def close(self) -> None:
        """Free the memory and all of its buffers."""
        if not self.is_lost:
            self._runs.clear()
            self._engine.close()
        super().close()
