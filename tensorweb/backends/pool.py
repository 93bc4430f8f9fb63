"""Device buffers: size classes, reuse, and a budget kept before the device is asked.

A `Buffer` belongs to a node or to a flush; when Python lets go of it, its bytes return
to the pool at once. That is safe because the device's queue runs in order: work already
submitted reads the old contents before anything later writes new ones. The free buffer
with the smallest handle is taken first, so that each step of a loop meets the same
buffers and bind groups as the step before.
"""

from __future__ import annotations

import gc
import heapq
import os
from collections.abc import Callable
from functools import lru_cache

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
        """Give the buffer back."""
        self.pool.give_back(self)


class Pool:
    """The buffers of one device.

    Attributes:
        driver: the device.
        budget: bytes that may be allocated at most, in use and free together.
        allocated: bytes allocated now, in use and free together.
        in_use: bytes in buffers that somebody holds.
        largest: the largest buffer that a kernel can bind.
    """

    def __init__(self, driver: Driver) -> None:
        """Begin without buffers; `TENSORWEB_MEMORY_BUDGET` sets the budget in bytes."""
        self.driver = driver
        self.budget = int(os.environ.get("TENSORWEB_MEMORY_BUDGET", DEFAULT_BUDGET))
        self.allocated = 0
        self.in_use = 0
        self.largest = min(
            driver.limits["maxBufferSize"],
            driver.limits["maxStorageBufferBindingSize"],
        )
        self._free: dict[int, list[int]] = {}
        self._free_bytes = 0

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
        handles = self._free.get(size)
        if handles:
            self._free[size] = self._free.pop(size)  # now the most recently used
            self._free_bytes -= size
            self.in_use += size
            return Buffer(self, heapq.heappop(handles), size)
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
        self.in_use += size
        return Buffer(self, handle, size)

    def give_back(self, buffer: Buffer) -> None:
        """Keep a buffer for reuse; past the limit, sizes unused for longest go."""
        size = buffer.size
        self.in_use -= size
        handles = self._free.get(size)
        if handles is None:
            handles = self._free[size] = []
        heapq.heappush(handles, buffer.handle)
        self._free_bytes += size
        if self._free_bytes > self.budget // KEPT_SHARE:
            self._evict(size)

    def _evict(self, recent: int) -> None:
        """Destroy free buffers until the limit holds, those of size `recent` last."""
        for size in [s for s in self._free if s != recent] + [recent]:
            handles = self._free[size]
            while handles and self._free_bytes > self.budget // KEPT_SHARE:
                self._destroy(handles.pop(), size)
            if not handles:
                del self._free[size]

    def _destroy(self, handle: int, size: int) -> None:
        """Destroy one free buffer; after a loss there is nothing to destroy."""
        if not self.driver.is_lost:
            self.driver.destroy_buffer(handle)
        self._free_bytes -= size
        self.allocated -= size

    def trim(self) -> None:
        """Destroy all free buffers."""
        for size, handles in self._free.items():
            for handle in handles:
                self._destroy(handle, size)
        self._free.clear()
