"""Shares out a WebAssembly memory that grows: which addresses are free, which are held.

It touches no memory itself. Both drivers of the WebAssembly device ask here.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable

from tensorweb.drivers import messages
from tensorweb.errors import DeviceMemoryError

PAGE = 1 << 16
"""Bytes of one page, the unit by which a WebAssembly memory grows."""

ALIGNMENT = 64
"""Every block begins at a multiple of this, a cache line."""

SLACK = 16
"""Bytes behind each block that belong to nobody else: a vector may be read there."""

LARGEST_STEP = 64 << 20
"""Most bytes that the memory grows by ahead of need; below, by a quarter of itself."""

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
            grow: makes the memory so many bytes large, whole pages; returns whether
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
        wanted = _aligned(size + SLACK)
        at = bisect_left(self._free_sizes, (wanted, 0))
        if at == len(self._free_sizes):
            self._grow(wanted, size)
            at = bisect_left(self._free_sizes, (wanted, 0))
        start = self._free_sizes[at][1]
        end = self._remove_free(start)
        if start + wanted < end:
            self._add_free(start + wanted, end)
        self._blocks[start] = (start + wanted, size)
        self.held += size
        return signed(start)

    def size_of(self, address: int) -> int:
        """Return the bytes that the holder of a block asked for."""
        return self._blocks[unsigned(address)][1]

    def free(self, address: int) -> None:
        """Take a block back; neighbours that are free become one block with it."""
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

    def _grow(self, wanted: int, size: int) -> None:
        """Grow the memory until its last free block has `wanted` bytes.

        It grows ahead of need where it can, and only as far as needed where not.
        """
        tail = self._free_starts.get(self._end, self._end)
        least = _whole_pages(_aligned(tail) + wanted)
        ahead = _whole_pages(self._end + min(self._end // 4, LARGEST_STEP))
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
