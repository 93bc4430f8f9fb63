"""Device buffers: size classes, reuse, and a budget kept before the device is asked.

A `Buffer` belongs to a node or to a flush; when Python lets go of it, its bytes return
to the pool at once. That is safe because the device's queue runs in order: work already
submitted reads the old contents before anything later writes new ones. The free buffer
with the smallest handle is taken first, so that each step of a loop meets the same
buffers and bind groups as the step before.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heappop, heappush

from tensorweb.drivers.protocol import Driver
from tensorweb.errors import DeviceMemoryError
from tensorweb.graph import Storage

SMALLEST = 16
DEFAULT_BUDGET = 8 << 30
KEPT_SHARE = 2
"""At most half of the budget stays in free buffers."""


@lru_cache(maxsize=4096)
def size_class(nbytes: int) -> int:
    """Return the bytes really allocated: steps of an eighth of a power of two.

    >>> size_class(1), size_class(100), size_class(1000), size_class(1 << 20)
    (16, 104, 1024, 1048576)
    """
    if nbytes <= SMALLEST:
        return SMALLEST
    step = max(1 << (nbytes.bit_length() - 4), 4)
    return -(-nbytes // step) * step


def readable(nbytes: int) -> str:
    """Return a number of bytes for people.

    >>> readable(3 << 20)
    '3.0 MiB'
    """
    value = float(nbytes)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.1f} {unit}" if unit != "bytes" else f"{nbytes} bytes"
        value /= 1024
    return f"{value:.2f} GiB"


class Buffer(Storage):
    """A device buffer that returns to its pool when nobody holds it."""

    __slots__ = ("handle", "pool", "size")

    def __init__(self, pool: Pool, handle: int, size: int) -> None:
        """Hold a buffer of a pool."""
        self.pool = pool
        self.handle = handle
        self.size = size

    def __del__(self) -> None:
        """Give the buffer back; past the pool's limit, some free ones go."""
        pool, size = self.pool, self.size
        heappush(pool.free[size], self.handle)
        pool.free_bytes += size
        if pool.free_bytes > pool.budget // KEPT_SHARE:
            pool.evict()


class Pool:
    """The buffers of one device.

    Attributes:
        driver: the device.
        budget: bytes that may be allocated at most, in use and free together.
        allocated: bytes allocated now, in use and free together.
        largest: the largest buffer that a kernel can bind.
        free: handles of free buffers by size, a heap each.
        free_bytes: bytes in them.
    """

    def __init__(self, driver: Driver) -> None:
        """Begin without buffers; `TENSORWEB_MEMORY_BUDGET` sets the budget in bytes."""
        self.driver = driver
        self.budget = int(os.environ.get("TENSORWEB_MEMORY_BUDGET", DEFAULT_BUDGET))
        self.allocated = 0
        self.largest = min(
            driver.limits["maxBufferSize"],
            driver.limits["maxStorageBufferBindingSize"],
        )
        self.free: defaultdict[int, list[int]] = defaultdict(list)
        self.free_bytes = 0
        self._flush = 0
        self._last_taken: dict[int, int] = {}

    @property
    def in_use(self) -> int:
        """Bytes in buffers that somebody holds."""
        return self.allocated - self.free_bytes

    def check(self, nbytes: int, name: Callable[..., str], *what: object) -> None:
        """Raise `DeviceMemoryError` when no kernel could bind so many bytes.

        `name(*what)` says for people what needs them.
        """
        if nbytes > self.largest:
            raise DeviceMemoryError(
                f"{name(*what)} needs {readable(nbytes)}; this device binds at most "
                f"{readable(self.largest)} in one tensor. Use a smaller shape, work in "
                'parts, or use device="cpu".'
            )

    def take(self, nbytes: int, name: Callable[..., str], *what: object) -> Buffer:
        """Return a buffer of at least `nbytes` with unknown contents.

        Raises:
            DeviceMemoryError: it would exceed the device's limit or the budget;
                `name(*what)` says for people what needs it.
        """
        size = size_class(nbytes)
        self._last_taken[size] = self._flush
        handles = self.free[size]
        if handles:
            self.free_bytes -= size
            return Buffer(self, heappop(handles), size)
        self.check(nbytes, name, *what)
        if size > self.largest:
            size = -(-nbytes // 4) * 4
        if self.allocated + size > self.budget:
            gc.collect()
            self.trim()
        if self.allocated + size > self.budget:
            raise DeviceMemoryError(
                f"{name(*what)} needs {readable(nbytes)}; tensors already hold "
                f"{readable(self.allocated)} of the budget of {readable(self.budget)}. "
                "Delete tensors that are no longer needed, or set "
                "TENSORWEB_MEMORY_BUDGET."
            )
        try:
            handle = self.driver.create_buffer(size)
        except DeviceMemoryError:
            gc.collect()
            self.trim()
            handle = self.driver.create_buffer(size)
        self.allocated += size
        return Buffer(self, handle, size)

    def take_all(
        self, wanted: Sequence[tuple[int, int, int]], name: Callable[[int], str]
    ) -> list[Buffer]:
        """Return the buffers of a flush, for triples of a number, bytes and size class.

        Raises:
            DeviceMemoryError: as `take`; `name(number)` says what a buffer is for.
        """
        self._flush += 1
        free, used = self.free, 0
        taken = []
        for number, nbytes, size in wanted:
            handles = free[size]
            if handles:
                used += size
                taken.append(Buffer(self, heappop(handles), size))
            else:
                self.free_bytes -= used
                used = 0
                taken.append(self.take(nbytes, name, number))
        self.free_bytes -= used
        for size in {size for _, _, size in wanted}:
            self._last_taken[size] = self._flush
        return taken

    def evict(self) -> None:
        """Destroy free buffers until the limit holds, sizes long unused first."""
        for size in sorted(self.free, key=lambda size: self._last_taken.get(size, 0)):
            handles = self.free[size]
            while handles and self.free_bytes > self.budget // KEPT_SHARE:
                self._destroy(handles.pop(), size)
            if not handles:
                del self.free[size]
                self._last_taken.pop(size, None)

    def _destroy(self, handle: int, size: int) -> None:
        """Destroy one free buffer; after a loss there is nothing to destroy."""
        if not self.driver.is_lost:
            self.driver.destroy_buffer(handle)
        self.free_bytes -= size
        self.allocated -= size

    def trim(self) -> None:
        """Destroy all free buffers."""
        for size, handles in self.free.items():
            for handle in handles:
                self._destroy(handle, size)
        self.free.clear()
