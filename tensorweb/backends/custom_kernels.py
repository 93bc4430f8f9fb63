"""A program's own kernels: errors in their own lines, and their run in Python."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from tensorweb.backends import policy
from tensorweb.codegen.custom import CPU, custom, locate_in_text
from tensorweb.codegen.expression import VALUE_TYPES
from tensorweb.codegen.program import Launch
from tensorweb.codegen.python_functions import ROUND, Value
from tensorweb.codegen.stepping import Memory, read_program
from tensorweb.codegen.wgsl_program import OutsideError
from tensorweb.devices import DEVICES
from tensorweb.drivers.messages import excerpt
from tensorweb.drivers.protocol import (
    CLEAR,
    COPY,
    DISPATCH,
    PARAMETER_WORDS,
    Driver,
    ShaderDriver,
)
from tensorweb.dtypes import BY_NAME
from tensorweb.errors import DeviceError, DeviceMemoryError, ShaderError
from tensorweb.graph.attributes import Custom
from tensorweb.graph.node import Node, attributes_of, number_of_constant
from tensorweb.nodes.custom import is_value
from tensorweb.schedule.kernel import Kernel
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.shapes import size
from tensorweb.waits import Steps


def own_error(own: Custom, error: ShaderError) -> ShaderError:
    """Return the error of a `tw.kernel`, with line numbers of the program's text."""
    parts = [f"kernel {own.name!r} does not compile."]
    for message, line, column in error.reports:
        part, at, column = locate_in_text(error.source, line, column)
        text = {"text": own.text, "header": own.header}.get(part, error.source)
        where = "" if part == "text" else f" of the {part}"
        parts.append(f"line {at}{where}: {message}" if at else message)
        if at:
            parts.append(excerpt(text, at, column))
    found = ShaderError("\n".join(parts))
    found.label, found.source, found.reports = error.label, error.source, error.reports
    return found


def launch_of(node: Node) -> Launch:
    """Return the launch of a custom node on a GPU."""
    (planned,) = plan(linearize([node]), policy.WASM_MOST_INPUTS)
    (launch,) = custom(planned.kernel, CPU).launches
    return launch


class CpuCompiler:
    """Reads the part of WGSL that runs without a GPU; see `ShaderCompiler`."""

    is_slow = True
    shader_limits: Mapping[str, int] = {
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupSizeY": 256,
        "maxComputeWorkgroupSizeZ": 64,
        "maxStorageBuffersPerShaderStage": 8,
    }  # those of every device of WebGPU

    def __init__(self, translate: Callable[[Kernel], object] | None = None) -> None:
        """Run texts in Python, or translate them."""
        self._translate = translate

    def compile_custom(self, node: Node) -> str:
        """Return the complete WGSL of a custom node, which Python can run.

        Raises:
            DeviceError: the text has what only a GPU runs.
            ShaderError: the text is wrong; lines are those of the program's text.
        """
        source = launch_of(node).source
        assert isinstance(source, str), "internal: a module for a GPU"
        try:
            read_program(source)
            if self._translate is not None:
                (planned,) = plan(linearize([node]), policy.WASM_MOST_INPUTS)
                self._translate(planned.kernel)
        except ShaderError as error:
            error.source = source
            found = own_error(attributes_of(node, Custom), error)
            if isinstance(error, OutsideError):
                raise DeviceError(
                    f"{found}\nPass tensors of device {[*DEVICES][-1]!r}, or give "
                    "tw.kernel a reference= and fallback=True."
                ) from None
            raise found from None
        return source


PYTHON = CpuCompiler()


def begun(
    node: Node, inputs: Sequence[bytes]
) -> tuple[Launch, dict[str, bytes], dict[str, Value]]:
    """Return a node's launch, the bytes of its arrays by name, and its parameters."""
    own = attributes_of(node, Custom)
    launch = launch_of(node)
    parameters: dict[str, Value] = {}
    storages = {}
    for argument, source, data in zip(own.inputs, node.inputs, inputs, strict=False):
        if is_value(source):
            value = number_of_constant(source.base)
            kind = VALUE_TYPES[argument.dtype]
            parameters[argument.name] = ROUND[kind](value)
        else:
            is_array = bool(argument.shape)
            storages[argument.name if is_array else f"{argument.name}_value"] = data
    for name, dtype, shape in own.outputs:
        storages[name] = bytes(size(shape) * BY_NAME[dtype].itemsize)
    return launch, storages, parameters


def computed(node: Node, inputs: Sequence[bytes]) -> bytes:
    """Return the output that a custom node is, for the bytes of its inputs."""
    launch, storages, parameters = begun(node, inputs)
    program = read_program(str(launch.source))
    memory = Memory(program.module.arrays, storages)
    own = attributes_of(node, Custom)
    program.run(memory, parameters, own.groups)
    return memory.data(own.outputs[own.output].name)


BINDING = re.compile(
    r"@binding\((\d+)\)\s*var<storage,\s*(read|read_write)>\s*(\w+)\s*:\s*([^;]+);"
)
"""A storage that a text declares: number, access, name and type."""

ELEMENT = re.compile(r"array<(?:atomic<|vec[234]<)*(f32|f16|i32|u32)>*>")
DTYPES = {"f32": "float32", "f16": "float16", "i32": "int32", "u32": "uint32"}


@dataclass(frozen=True, slots=True)
class Binding:
    """A storage of a kernel.

    Attributes:
        name, kind: name and type in the text.
        is_written: whether the kernel may write it.
        dtype: name of the dtype of its elements.
    """

    name: str
    kind: str
    is_written: bool
    dtype: str


def bindings_of(source: str) -> list[Binding]:
    """Return the storages that the WGSL of a kernel declares, by number.

    >>> text = "@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;"
    >>> bindings_of(text)[0].dtype
    'float32'
    """
    found = []
    for _, access, name, kind in sorted(
        BINDING.findall(source), key=lambda m: int(m[0])
    ):
        element = ELEMENT.fullmatch(kind.replace(" ", ""))
        dtype = DTYPES[element[1]] if element else "uint32"
        found.append(Binding(name, kind, access == "read_write", dtype))
    return found


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the original text and another one computed from the same storages.

    Attributes:
        outputs: each written storage with its bytes by the original and by the other.
        seconds: the shortest duration of each; None where the device cannot tell.
    """

    outputs: list[tuple[Binding, bytes, bytes]]
    seconds: tuple[float, float] | None


class Texts(Protocol):
    """The pipelines of a GPU by their texts."""

    driver: ShaderDriver

    def known(self, source: str) -> int | None:
        """Return the pipeline of a text; None if it has none."""

    def compiled(self, source: str, access: str, words: str) -> int:
        """Return a new pipeline for a text."""


_capture: ContextVar[Capture | None] = ContextVar("capture", default=None)


def capture() -> Capture | None:
    """Return what this thread or task looks for."""
    return _capture.get()


class Capture:
    """The first launch of one kernel: its storages as they were before it ran.

    Attributes:
        bindings: the storages of the kernel.
        source: its text.
        grid: workgroups along x and y.
        words: the parameters of the launch, once it was found.
    """

    def __init__(self, pipelines: Texts, source: str, grid: tuple[int, int]) -> None:
        """Look for a launch of this text with this grid on one GPU."""
        self.bindings = bindings_of(source)
        self.words: list[int] | None = None
        self._pipelines = pipelines
        self._driver = pipelines.driver
        self.source = source
        self.grid = grid
        self._handle = -1
        self._buffers: list[int] = []
        self._compiled: dict[str, int] = {}

    @contextmanager
    def open(self) -> Iterator[None]:
        """Capture a launch inside a `with` block, whose flushes somebody listens to."""
        token = _capture.set(self)
        try:
            yield
        finally:
            _capture.reset(token)

    def passed(self, driver: Driver, tape: array[int]) -> array[int]:
        """Return what of a tape is not submitted yet.

        That is all of it, unless it has the launch: then the commands before it are
        submitted, and its storages are copied.
        """
        at = self._find(tape) if driver is self._driver and self.words is None else None
        if at is None:
            return tape
        begin = 1 + tape[0]
        driver.submit(tape[:at])
        self._take(tape, at)
        return tape[:begin] + tape[at:]

    def _find(self, tape: array[int]) -> int | None:
        """Return the word of a tape where the launch begins; None if it has none."""
        handle = self._pipelines.known(self.source)
        at = 1 + tape[0]
        while handle is not None and at < len(tape):
            if tape[at] != DISPATCH:
                at += {COPY: 6, CLEAR: 4}[tape[at]]
            elif tape[at + 1] == handle and tuple(tape[at + 2 : at + 4]) == self.grid:
                return at
            else:
                at += 7 + tape[at + 6]
        return None

    def _take(self, tape: array[int], at: int) -> None:
        """Copy the storages of the launch at a word of a tape."""
        handles = tape[at + 7 : at + 7 + tape[at + 6]].tolist()
        sizes = [self._driver.buffer_size(handle) for handle in handles]
        if sum(sizes) > policy.MOST_CAPTURED_BYTES:
            return
        self._handle = tape[at + 1]
        first = 1 + tape[at + 5] // 4
        self.words = tape[first : first + PARAMETER_WORDS].tolist()
        try:
            for handle in handles:
                self._buffers.append(self._copied(handle))
        except DeviceMemoryError:  # the program has room without the copies
            self.close()
            self.words = None

    def _copied(self, handle: int) -> int:
        """Return a new buffer with the bytes of another."""
        size = self._driver.buffer_size(handle)
        found = self._driver.create_buffer(size)
        self._driver.submit(array("i", [0, COPY, handle, 0, found, 0, size]))
        return found

    def storages_steps(self) -> Steps[list[bytes]]:
        """Return the bytes of the captured storages."""
        found = []
        for buffer in self._buffers:
            size = self._driver.buffer_size(buffer)
            found.append((yield from self._driver.read_steps(buffer, 0, size)))
        return found

    def attempt_steps(self, source: str) -> Steps[Attempt]:
        """Run the kernel with its own text and with another, and return both results.

        Raises:
            ShaderError: the device's compiler refused the text.
            BackendError: the device refused its storages.
        """
        access = "".join("w" if each.is_written else "r" for each in self.bindings)
        edited = self._compiled.get(source)
        if edited is None:
            edited = self._pipelines.compiled(source, access, "edited")
            self._compiled[source] = edited
        handles = (self._handle, edited)
        runs = []
        for handle in handles:
            runs.append((yield from self._run(handle)))
        written = [each for each in self.bindings if each.is_written]
        outputs = list(zip(written, *runs, strict=True))
        before, after = (self._seconds(handle) for handle in handles)
        timed = None if before is None or after is None else (before, after)
        return Attempt(outputs, timed)

    def _run(self, handle: int) -> Steps[list[bytes]]:
        """Return the bytes of what a pipeline writes."""
        driver = self._driver
        with self._storages() as buffers:
            driver.submit(self._tape(handle, buffers))
            found = []
            for binding, buffer in zip(self.bindings, buffers, strict=True):
                if binding.is_written:
                    size = driver.buffer_size(buffer)
                    found.append((yield from driver.read_steps(buffer, 0, size)))
            return found

    def _seconds(self, handle: int) -> float | None:
        """Return the shortest duration of a pipeline's launch."""
        found: list[float] = []
        with self._storages() as buffers:
            for _ in range(policy.CAPTURE_REPEATS):
                times = self._driver.submit_timed(self._tape(handle, buffers))
                found += times or []
        return min(found) if found else None

    @contextmanager
    def _storages(self) -> Iterator[list[int]]:
        """Lend the captured storages, with copies of the written ones."""
        written = {n for n, each in enumerate(self.bindings) if each.is_written}
        copies = {n: self._copied(self._buffers[n]) for n in written}
        try:
            yield [copies.get(n, buffer) for n, buffer in enumerate(self._buffers)]
        finally:
            for buffer in copies.values():
                self._driver.destroy_buffer(buffer)

    def _tape(self, handle: int, buffers: list[int]) -> array[int]:
        words = self.words
        assert words is not None, "internal: nothing was captured"
        launch = [DISPATCH, handle, *self.grid, 1, 0, len(buffers), *buffers]
        return array("i", [len(words), *words, *launch])

    def close(self) -> None:
        """Free the captured storages."""
        if not self._driver.is_lost:
            for buffer in self._buffers:
                self._driver.destroy_buffer(buffer)
        self._buffers = []
