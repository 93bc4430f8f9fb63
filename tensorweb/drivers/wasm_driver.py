"""The common part of the two drivers of the WebAssembly device: heap, limits, counters.

A buffer's handle is its address in the device's memory, as an int32. A call returns
when its work is done, so reads and writes never wait. `wasm_browser.py` and
`wasm_native.py` define how memory grows and how tapes run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, insort
from collections.abc import Callable

from tensorweb.drivers import messages, policy
from tensorweb.drivers.memory import require_bindable
from tensorweb.drivers.protocol import PARAMETER_CAPACITY
from tensorweb.errors import BackendError, DeviceLostError, DeviceMemoryError
from tensorweb.waits import Steps

PAGE = 1 << 16
"""Bytes of one page, the unit by which a WebAssembly memory grows."""

ALIGNMENT = 64
"""Every block begins at a multiple of this, a cache line."""

WORD = 1 << 32


def signed(address: int) -> int:
    """Return an address as an int32, as tapes and parameters hold it.

    >>> signed(64), signed(3 << 30)
    (64, -1073741824)
    """
    return address - WORD if address >= WORD // 2 else address


def unsigned(address: int) -> int:
    """Return the address that an int32 stands for.

    >>> unsigned(-1073741824) == 3 << 30
    True
    """
    return address % WORD


class Heap:
    """Blocks of a growing memory: the smallest free one that fits is taken.

    Attributes:
        held: bytes requested for the allocated blocks.
        limit: most bytes of the memory.
    """

    def __init__(
        self, first: int, size: int, limit: int, grow: Callable[[int], bool]
    ) -> None:
        """Begin with everything from `first` to `size` free.

        Args:
            first: the lowest address to hand out; what lies below is the driver's.
            size: bytes that the memory has now.
            limit: bytes that it may have.
            grow: makes the memory `size` bytes large, in pages; returns whether
                it could.
        """
        self.held = 0
        self.limit = limit
        self._grow_memory = grow
        self._end = size
        self._blocks: dict[int, tuple[int, int]] = {}  # start: end, bytes asked for
        self._free_ends: dict[int, int] = {}  # start: end
        self._free_starts: dict[int, int] = {}  # end: start
        self._free_sizes: list[tuple[int, int]] = []  # (size, start), sorted
        start = _aligned(first)
        if start < size:
            self._add_free(start, size)

    @property
    def size(self) -> int:
        """Bytes that the memory has."""
        return self._end

    @property
    def largest_free(self) -> int:
        """Bytes of the largest block that is free."""
        return self._free_sizes[-1][0] if self._free_sizes else 0

    def allocate(self, size: int) -> int:
        """Return the address of a block of `size` bytes, as an int32.

        Its contents are unknown.

        Raises:
            DeviceMemoryError: the memory cannot grow enough.
        """
        needed = _aligned(size + policy.SLACK)
        at = bisect_left(self._free_sizes, (needed, 0))
        if at == len(self._free_sizes):
            self._grow(needed, size)
            at = bisect_left(self._free_sizes, (needed, 0))
        start = self._free_sizes[at][1]
        end = self._remove_free(start)
        if start + needed < end:
            self._add_free(start + needed, end)
        self._blocks[start] = (start + needed, size)
        self.held += size
        return signed(start)

    def size_of(self, address: int) -> int:
        """Return the bytes that were requested for a block; it may be larger."""
        return self._blocks[unsigned(address)][1]

    def free(self, address: int) -> None:
        """Free a block, and merge it with free neighbours."""
        start = unsigned(address)
        end, size = self._blocks.pop(start)
        self.held -= size
        self._release(start, end)

    def _release(self, start: int, end: int) -> None:
        """Make a range free, joined with what is free on both sides."""
        if end in self._free_ends:
            end = self._remove_free(end)
        before = self._free_starts.get(start)
        if before is not None:
            self._remove_free(before)
            start = before
        self._add_free(start, end)

    def _grow(self, needed: int, size: int) -> None:
        """Grow the memory until its last free block has `needed` bytes.

        It grows ahead of need where it can, and only as far as needed where not.
        """
        tail = self._free_starts.get(self._end, self._end)
        least = _whole_pages(_aligned(tail) + needed)
        ahead = _whole_pages(self._end + min(self._end // 4, policy.LARGEST_GROWTH))
        most = self.limit // PAGE * PAGE
        for end in (min(max(least, ahead), most), least):
            if end >= least and end <= most and self._grow_memory(end):
                start, self._end = self._end, end
                self._release(start, end)
                return
        raise DeviceMemoryError(
            messages.heap_message(size, self.held, self._end, self.limit)
        )

    def _add_free(self, start: int, end: int) -> None:
        self._free_ends[start] = end
        self._free_starts[end] = start
        insort(self._free_sizes, (end - start, start))

    def _remove_free(self, start: int) -> int:
        """Forget a free block and return its end."""
        end = self._free_ends.pop(start)
        del self._free_starts[end]
        del self._free_sizes[bisect_left(self._free_sizes, (end - start, start))]
        return end


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _whole_pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


DEVICE = "cpu"
"""The device whose driver this is, as messages name it."""

RESERVED = 4096
"""Bytes at the bottom of the memory that are no buffer's: the threads' control words,
and address 0, so that no buffer is there."""

FIRST_TAPE = PARAMETER_CAPACITY + (1 << 14)
"""Initial words of the memory block for tapes; it grows on demand."""

LARGEST_BUFFER = (2 << 30) - PAGE

LIMITS = {
    "maxBufferSize": LARGEST_BUFFER,
    "maxStorageBufferBindingSize": LARGEST_BUFFER,
}
"""By WebGPU's names; a kernel binds as many buffers as it likes."""

COUNTERS = (
    "submits",
    "dispatches",
    "buffers",
    "bytes",
    "pipelines",
    "reads",
    "live_buffers",
    "live_bytes",
)


class WasmDriver(ABC):
    """One open WebAssembly device; see `tensorweb.drivers.protocol.ModuleDriver`.

    Attributes:
        is_shared: whether the memory is shared, as modules must import it.
        has_relaxed: whether modules may use relaxed SIMD.
    """

    is_software = True
    shared_memory = 0

    def __init__(self, is_shared: bool, has_relaxed: bool) -> None:
        """Begin without buffers; the memory is there and `_grow` works."""
        self.is_shared = is_shared
        self.has_relaxed = has_relaxed
        self.limits = dict(LIMITS)
        self.is_lost = False
        self._heap = Heap(
            RESERVED, policy.FIRST_PAGES * PAGE, policy.WASM_CAPACITY, self._grow
        )
        self._tape_words = FIRST_TAPE
        self._tape_address = self._place_for_tapes(FIRST_TAPE)
        self._labels: list[str] = []
        self._counters = dict.fromkeys(COUNTERS, 0)

    @abstractmethod
    def _grow(self, size: int) -> bool:
        """Make the memory `size` bytes large, whole pages; return whether it is."""

    @abstractmethod
    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        """Copy host bytes into a buffer."""

    @abstractmethod
    def submit(self, tape: array[int]) -> None:
        """Run a tape."""

    @abstractmethod
    def submit_timed(self, tape: array[int]) -> list[float] | None:
        """Run a tape and return the seconds that each launch took."""

    @abstractmethod
    def read(self, buffer: int, offset: int, size: int) -> bytes:
        """Return bytes of a buffer."""

    @abstractmethod
    def create_pipeline(self, source: bytes, access: str, label: str) -> int:
        """Compile a module that exports `run`."""

    def create_buffer(self, size: int) -> int:
        """Create a buffer of `size` bytes with unknown contents.

        Raises:
            DeviceMemoryError: it is too large, or the memory cannot grow enough.
        """
        assert size > 0, "internal: an empty tensor has no buffer"
        self._require_open()
        require_bindable(size, self.limits, DEVICE)
        address = self._heap.allocate(size)
        self._count("buffers", "live_buffers")
        self._counters["bytes"] += size
        self._counters["live_bytes"] += size
        return address

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer: its bytes are free."""
        size = self._heap.size_of(buffer)
        self._heap.free(buffer)
        self._counters["live_buffers"] -= 1
        self._counters["live_bytes"] -= size

    def read_steps(self, buffer: int, offset: int, size: int) -> Steps[bytes]:
        """Return bytes of a buffer, at once."""
        yield from ()
        return self.read(buffer, offset, size)

    def pace(self) -> None:  # noqa: B027  # nothing to do, here and everywhere
        """Return at once: nothing is ever in flight."""

    def can_block(self) -> bool:
        """Return True: nobody ever waits."""
        return True

    def check(self) -> None:
        """Return at once: every error came from the call that caused it."""
        self._require_open()

    def counters(self) -> dict[str, int]:
        """Return totals since opening, and `live_buffers` and `live_bytes` of now.

        `memory_bytes` is the size of the WebAssembly memory, which never shrinks.
        """
        return {**self._counters, "memory_bytes": self._heap.size}

    def abandon(self) -> None:
        """Take the device for lost and never call it again."""
        self.close()

    def close(self) -> None:
        """Free the memory and all of its buffers."""
        self.is_lost = True

    def _require_open(self) -> None:
        if self.is_lost:
            raise DeviceLostError(
                "the WebAssembly device was closed and its tensors were freed; "
                "run the program again to compute on a new device."
            )

    def _place_for_tapes(self, words: int) -> int:
        """Return the address where a tape's first word goes.

        Its parameters follow, so they begin at a multiple of 64.
        """
        return self._heap.allocate(64 + 4 * words) + 60

    def _tape_at(self, length: int) -> int:
        """Return the address for a tape of `length` words; allocates if it is longer.

        Raises:
            DeviceMemoryError: there is no memory; the old block remains.
        """
        if length > self._tape_words:
            words = 2 * length
            address = self._place_for_tapes(words)
            self._heap.free(self._tape_address - 60)
            self._tape_address, self._tape_words = address, words
        return self._tape_address

    def _trapped(self, pipeline: int, reason: str) -> BackendError:
        return BackendError(
            f"internal: the kernel {self._labels[pipeline]!r} trapped: {reason}"
        )

    def _count(self, *names: str) -> None:
        for name in names:
            self._counters[name] += 1
