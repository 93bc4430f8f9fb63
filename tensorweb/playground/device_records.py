"""Messages about what a run did to its devices: their memory, and its time."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from .records import Index, Most, Names, Position, Text


class MemoryValue(TypedDict):
    """A value that a buffer contained, and where the program built it."""

    op: str
    """`leaf` for data, empty for scratch storage of a kernel."""
    shape: Index
    dtype: str
    begin: Position
    """Index of the kernel that computed it."""
    end: Position
    """Index after the last kernel of its flush that needed it."""
    file: str
    line: int | None


class MemoryBlock(TypedDict):
    """A buffer of a device, from the time it was taken to its release."""

    bytes: int
    use: Literal["data", "flush", "jit"]
    begin: Position
    """Count of kernels before it was taken."""
    end: int | None
    """Count of kernels before it was freed; null if it outlived the run."""
    seconds: float
    """How long it was in use."""
    isInner: bool
    """Whether it served one flush only, and was freed at its end."""
    freedLine: int | None
    """The line of `main.py` that dropped its last reference."""
    names: Names
    """Tensors that share it at the end of the run."""
    values: Annotated[list[MemoryValue], Most(100)]


class DeviceMemory(TypedDict):
    """The memory of one device in a run."""

    device: str
    peak: int
    """Greatest count of bytes in use at once."""
    step: Position
    """Count of kernels before the peak."""
    atPeak: Index
    """Indices of the blocks in use at the peak."""
    before: int
    """Bytes in use before the run."""
    allocated: int
    """Greatest count of bytes in use, and free for later flushes."""
    memory: int | None
    """Bytes of the WebAssembly memory; null for other devices."""
    budget: int
    blocks: list[MemoryBlock]


class MemoryRecord(TypedDict):
    """The memory of a run: its buffers over its kernels."""

    kernels: Position
    """Count of kernels of the flushes that are listed."""
    flushes: int
    unlisted: int
    """The count of flushes that are not listed."""
    devices: Annotated[list[DeviceMemory], Most(10)]


class TimelinePlan(TypedDict):
    """The launches of equal flushes."""

    device: str
    kernels: list[int | None]
    """Indices of `RunRecord.kernels` by launch; null if it is not listed."""
    results: Index
    """By launch, a number that launches for one result share."""


class TimelineFlush(TypedDict):
    """One flush; times are seconds since the run began."""

    plan: Position
    """Index of `TimelineRecord.plans`."""
    begin: float
    planned: float
    encoded: float
    """When its first commands were ready. On the CPU it computes from then on."""
    end: float
    """When it was submitted; if times were measured, when the device was done."""
    seconds: list[float]
    """Device time of each launch; empty if it was not measured."""


class TimelineRead(TypedDict):
    """One read of values, which waits for the device."""

    begin: float
    end: float
    bytes: int
    file: str
    line: int | None


class TimelineFinding(TypedDict):
    """The costliest avoidable thing of a run."""

    text: Text
    file: str
    line: int | None
    """The line that the text names as `line N`."""


class TimelineRecord(TypedDict):
    """Where the time of a run went."""

    seconds: float
    plans: list[TimelinePlan]
    flushes: list[TimelineFlush]
    reads: list[TimelineRead]
    unlisted: int
    """The count of later flushes, which are not listed."""
    adapter: str
    """Who computed, for people; empty if no device did."""
    finding: TimelineFinding | None


class DeviceRates(TypedDict):
    """What a device does in a second."""

    adapter: str
    bandwidth: float
    """Bytes that it reads and writes."""
    flops: float
    """Floating-point operations."""
