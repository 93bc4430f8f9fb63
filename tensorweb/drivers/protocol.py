"""The few calls that differ between hosts: what the backends ask of a driver.

A driver knows buffers, pipelines and command tapes, all named by small integers; it
knows nothing of tensors. `docs/contributing/execution.md` gives the layout of a tape.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tensorweb.waits import Steps

DISPATCH = 1
COPY = 2
CLEAR = 3

PARAMETER_WORDS = 64
"""Words of one launch's parameter slot: 256 bytes, the dynamic offset's alignment."""

PARAMETER_CAPACITY = 1024 * PARAMETER_WORDS
"""Most parameter words in one tape; a longer flush is submitted in several tapes."""


class Driver(Protocol):
    """One open device.

    Everything that fails raises a class of `tensorweb.errors`: a shader that does not
    compile `ShaderError`, a lost device `DeviceLostError`, memory that cannot be had
    `DeviceMemoryError`, a wait where Python cannot block `BlockingError`. Errors that
    a GPU reports late are raised by the next `read`, `read_steps` or `check`.
    """

    @property
    def description(self) -> str:
        """Who computes, for people, for example `llvmpipe (Vulkan)`."""

    is_software: bool
    """Whether it computes on the CPU."""

    shared_memory: int | None
    """Bytes of the host's memory, if the device has none of its own; 0: not known."""

    limits: dict[str, int]
    """The device's limits by WebGPU's own names, `maxBufferSize` for example."""

    @property
    def is_lost(self) -> bool:
        """Whether the device is lost or closed; no call of this driver works."""

    def abandon(self) -> None:
        """Take the device for lost and never call it again."""

    def create_buffer(self, size: int) -> int:
        """Create a storage buffer of `size` bytes, a multiple of 4, of any contents."""

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer; work already submitted still uses it safely."""

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        """Copy host bytes into a buffer; offset and length are multiples of 4."""

    def submit(self, tape: array[int]) -> None:
        """Replay a tape in one submission."""

    def submit_timed(self, tape: array[int]) -> list[float] | None:
        """Do the same, wait, and return the seconds that each launch took.

        None where the host cannot tell, or cannot wait here.
        """

    def pace(self) -> None:
        """Wait for earlier flushes if too much may be in flight; call it after each."""

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        """Wait for all submitted work and return bytes; needs a host that can block."""

    def read_steps(self, buffer: int, offset: int, size: int) -> Steps[bytes]:
        """Wait for all submitted work and return bytes, on every host."""

    def can_block(self) -> bool:
        """Whether `read` works at this point of the program."""

    def check(self) -> None:
        """Wait for submitted work and raise what the device reported, if anything."""

    def counters(self) -> dict[str, int]:
        """Return totals: submits, dispatches, buffers, bytes and so on."""

    def close(self) -> None:
        """Destroy the device and all of its buffers."""


class ShaderDriver(Driver, Protocol):
    """One open GPU, which compiles WGSL."""

    names: dict[str, str]
    """What the adapter says of itself: vendor, architecture, description; often ""."""

    features: frozenset[str]
    """The device's enabled features by WebGPU's own names, `shader-f16` for example."""

    has_subgroup_matrices: bool
    """Whether subgroups of 32 threads multiply 16 by 16 float16 matrices, summed in
    float32."""

    shader_header: str
    """Lines that every shader on this host begins with (enables), often empty."""

    def buffer_size(self, buffer: int) -> int:
        """Return the bytes of a buffer."""

    def create_pipeline(self, source: str, access: str, label: str) -> int:
        """Compile a shader with entry point `main`; `access` has r or w per binding."""

    def begin_pipeline(self, source: str, access: str, label: str) -> int:
        """Do the same in the background, where the host can.

        A launch that needs it sooner compiles it at once; a refused shader is reported
        after the first launch.
        """

    def pending_pipelines(self) -> int:
        """Return how many pipelines are being compiled in the background."""

    def finish_pipelines(self, pipelines: Sequence[int] = ()) -> Steps[None]:
        """Wait until these pipelines, or all, are compiled."""

    def kept(self, key: str) -> str | None:
        """Return the text stored under a key by an earlier run, or None."""

    def keep(self, key: str, text: str | None) -> bool:
        """Store a text for later runs, None removes it; return whether it persists."""


@runtime_checkable
class SharingDriver(Protocol):
    """A driver whose buffers other programs of the process can use."""

    def resource(self, buffer: int) -> object:
        """Return the buffer of the GPU library that belongs to a handle."""


class ModuleDriver(Driver, Protocol):
    """One open WebAssembly engine, which compiles modules; it computes at once."""

    is_shared: bool
    """Whether the memory that modules import is shared."""

    has_relaxed: bool
    """Whether modules may use relaxed SIMD."""

    def create_pipeline(self, source: bytes, access: str, label: str) -> int:
        """Compile a module that exports `run`; `access` has r or w per storage."""
