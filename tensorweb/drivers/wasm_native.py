"""The WebAssembly device on desktop Python, through the package wasmtime: for tests.

It knows no tensors. Kernels run one slice after another on one thread; between two
slices Python sees Ctrl+C.
"""

from __future__ import annotations

import ctypes
import re
import sys
from array import array
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

from tensorweb.drivers import policy
from tensorweb.drivers.messages import refused_message
from tensorweb.drivers.protocol import CLEAR, COPY, DISPATCH
from tensorweb.drivers.wasm_driver import (
    PAGE,
    WasmDriver,
    signed,
    unsigned,
)
from tensorweb.errors import DeviceError, ShaderError

Function = Callable[..., float]


@cache
def _library() -> ctypes.CDLL:
    """Return the library that has them: on most systems Python's own process."""
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


@cache
def library_function(name: str, arguments: int) -> Function | None:
    """Return a C library function with this many float64 arguments, or None.

    >>> exp = library_function("exp", 1)
    >>> exp(1000.0), exp(0.0)
    (inf, 1.0)
    """
    function = getattr(_library(), name, None)
    if function is None:
        return None
    function.argtypes = [ctypes.c_double] * arguments
    function.restype = ctypes.c_double
    found: Function = function
    return found


Run = Callable[[int, int, int, int], None]
"""A module's `run`: address of its parameters, of its buffers, first unit, last."""

WRITABLE = 0x200
"""What CPython calls PyBUF_WRITE."""

MODULE = "m"
"""The module that everything is imported from."""


class Refused(Exception):
    """The engine does not take a module."""


class Trapped(Exception):
    """A module did what WebAssembly forbids; its call ended there."""


class Engine:
    """One engine and store, with the one memory that all modules import.

    Attributes:
        view: the whole memory, writable; another one after it has grown.
    """

    view: memoryview

    def __init__(self, is_shared: bool, has_relaxed: bool, pages: tuple[int, int]):
        """Make a memory of `pages`: those it has now, and the most it may have.

        Raises:
            DeviceError: wasmtime is not installed.
        """
        try:
            import wasmtime
            from wasmtime import _ffi
        except ImportError as error:
            raise DeviceError(
                "TENSORWEB_CPU=wasm needs the package wasmtime: `pip install "
                "'wasmtime>=50,<51'`, or leave the variable out to compute with NumPy."
            ) from error
        self._wasmtime: Any = wasmtime
        self._ffi: Any = _ffi
        config = wasmtime.Config()
        config.wasm_threads = True
        config.shared_memory = True
        config.wasm_simd = True
        config.wasm_relaxed_simd = has_relaxed
        # With a shared memory wasmtime 50 aborts the process where it should trap, if
        # several modules import it (an assertion in its look-up of the fault).
        config.signals_based_traps = not is_shared
        # Modules are small, and a thread pool costs more than it brings.
        config.parallel_compilation = False
        config.cranelift_opt_level = "speed"
        self._engine: Any = wasmtime.Engine(config)
        self._store: Any = wasmtime.Store(self._engine)
        self._store.set_limits(instances=policy.MOST_INSTANCES)
        self._memory = self._create_memory(is_shared, *pages)
        self._functions: dict[tuple[str, int], Any] = {}
        self._callbacks: list[Any] = []
        self._interruption: BaseException | None = None
        self._look()

    def _create_memory(self, is_shared: bool, first: int, most: int) -> Any:
        wasmtime, ffi = self._wasmtime, self._ffi
        limits = wasmtime.Limits(first, most)
        if not is_shared:
            return wasmtime.Memory(self._store, wasmtime.MemoryType(limits))

        class SharedMemory(wasmtime.SharedMemory):  # type: ignore[name-defined, misc]
            """wasmtime 50's own method makes a pointer too much."""

            def _as_extern(self) -> Any:
                union = ffi.wasmtime_extern_union(sharedmemory=self.ptr())
                return ffi.wasmtime_extern_t(ffi.WASMTIME_EXTERN_SHAREDMEMORY, union)

        return SharedMemory(self._engine, wasmtime.MemoryType(limits, shared=True))

    def _owner(self) -> tuple[Any, ...]:
        """Return what the methods of the memory take first."""
        shared = isinstance(self._memory, self._wasmtime.SharedMemory)
        return () if shared else (self._store,)

    def _look(self) -> None:
        """Look at the memory anew."""
        owner = self._owner()
        self.base: int = ctypes.addressof(self._memory.data_ptr(*owner).contents)
        size: int = self._memory.data_len(*owner)
        look = ctypes.pythonapi.PyMemoryView_FromMemory
        look.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int]
        look.restype = ctypes.py_object
        self.view = look(self.base, size, WRITABLE)

    def grow(self, size: int) -> bool:
        """Make the memory `size` bytes large, whole pages; return whether it is."""
        pages = (size - len(self.view)) // PAGE
        try:
            self._memory.grow(*self._owner(), pages)
        except self._wasmtime.WasmtimeError:
            return False
        self._look()
        return True

    def clear(self, address: int, size: int) -> None:
        """Set bytes to zero."""
        assert address + size <= len(self.view), "internal: cleared beyond the memory"
        ctypes.memset(self.base + address, 0, size)

    def compile(self, source: bytes) -> Run:
        """Return `run` of a module.

        Raises:
            Refused: it is no module, or imports what is not there.
        """
        wasmtime = self._wasmtime
        try:
            module = wasmtime.Module(self._engine, source)
            imports = [self._imported(row) for row in module.imports]
            instance = wasmtime.Instance(self._store, module, imports)
            function = instance.exports(self._store)["run"]
        except KeyError:
            raise Refused("it exports no `run`") from None
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            raise Refused(_cause(str(error))) from error
        return self._caller(function)

    def _imported(self, row: Any) -> Any:
        """Return what a module imports: the memory, or a function of the C library."""
        kind = row.type
        if row.module != MODULE:
            raise Refused(f"it imports from {row.module!r}, not from {MODULE!r}")
        if not isinstance(kind, self._wasmtime.FuncType):
            return self._memory
        key = (row.name, len(kind.params))
        if key not in self._functions:
            self._functions[key] = self._library_function(*key, kind)
        return self._functions[key]

    def _library_function(self, name: str, arguments: int, kind: Any) -> Any:
        """Return a function of the C library as one that modules can import."""
        function = library_function(name, arguments)
        if function is None:
            raise Refused(f"the C library has no function {name!r}")
        ffi = self._ffi

        def call(_data: Any, _caller: Any, values: Any, _count: int) -> int:
            try:
                given = [values[i].f64 for i in range(arguments)]
                values[0].f64 = function(*given)
            except BaseException as error:  # nothing may be raised through wasmtime
                self._interruption = error
            return 0

        callback = ffi.wasmtime_func_unchecked_callback_t(call)
        self._callbacks.append(callback)
        found = ffi.wasmtime_func_t()
        ffi.wasmtime_func_new_unchecked(
            self._store._context(),
            kind.ptr(),
            callback,
            None,
            ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
            ctypes.byref(found),
        )
        return self._wasmtime.Func._from_raw(found)

    def _caller(self, function: Any) -> Run:
        """Return a Python function that calls a function of a WebAssembly module."""
        ffi, wasmtime = self._ffi, self._wasmtime
        context = self._store._context()
        values = (ffi.wasmtime_val_raw_t * 4)()
        trap = ctypes.POINTER(ffi.wasm_trap_t)()
        reference, trap_reference = ctypes.byref(function._func), ctypes.byref(trap)
        call = ffi.wasmtime_func_call_unchecked

        def run(*given: int) -> None:
            for i, value in enumerate(given):
                values[i].i32 = value
            error = call(context, reference, values, 4, trap_reference)
            interruption, self._interruption = self._interruption, None
            if trap:
                pointer = ctypes.POINTER(ffi.wasm_trap_t).from_buffer_copy(trap)
                ctypes.memset(trap_reference, 0, ctypes.sizeof(trap))
                raise Trapped(_cause(wasmtime.Trap._from_ptr(pointer).message))
            if error:
                raise Trapped(_cause(str(wasmtime.WasmtimeError._from_ptr(error))))
            if interruption is not None:
                raise interruption

        return run

    def close(self) -> None:
        """Give the memory back."""
        self.view = memoryview(b"")
        self._store.close()
        self._engine.close()


def _cause(text: str) -> str:
    """Return the causes that an error of wasmtime lists, or its own first line."""
    rows = text.partition("Caused by:")[2] or text.partition("\n")[0]
    lines = [re.sub(r"^\d+: ", "", row.strip()) for row in rows.splitlines()]
    return "; ".join(line for line in lines if line)


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
        self._engine = Engine(
            is_shared, has_relaxed, (policy.FIRST_PAGES, policy.MOST_PAGES)
        )
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
