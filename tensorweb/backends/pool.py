"""Device buffers: size classes, reuse, and a budget kept before the device is asked.

A `Buffer` belongs to a node or to a flush; when Python lets go of it, its bytes return
to the pool at once. That is safe because the device's queue runs in order: work already
submitted reads the old contents before anything later writes new ones. The free buffers
with the smallest handles are taken first, so that each step of a loop meets the same
buffers and bind groups as the step before.

Buffers may be let go at any time and in any thread, which only appends to a list;
everything else happens under the pool's lock. A flush holds it until its tape is on the
way, because plans and recordings reuse their tapes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import chain
from threading import RLock
from weakref import WeakValueDictionary

from tensorweb.backends.machine import Machine
from tensorweb.drivers.memory import (
    SMALLEST_BUDGET,
    VARIABLE,
    largest_buffer,
    memory_budget,
    said_budget,
)
from tensorweb.drivers.messages import budget_message, limit_message
from tensorweb.drivers.protocol import Driver
from tensorweb.errors import DeviceMemoryError
from tensorweb.graph.storage import Storage

SMALLEST = 16
KEPT_SHARE = 2
"""At most half of the budget stays in free buffers."""

GROWTH = 8
"""A budget grows by this part of it where allocations tell that there is more."""

LARGE_SHARE = 512
"""Buffers above this share of the budget are worth a look at what is free."""

Taken = list[tuple[int, list[tuple[int, int]]]]
"""For each size of buffers numbers of what they are for, and the bytes of those."""


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


class FreeList:
    """The free buffers of one size.

    Attributes:
        pool, size: of all these buffers.
        handles: of those that nobody holds.
        last_taken: number of the flush that last took one.
    """

    __slots__ = ("handles", "last_taken", "pool", "size")

    def __init__(self, pool: Pool, size: int) -> None:
        """Begin without buffers."""
        self.pool = pool
        self.size = size
        self.handles: list[int] = []
        self.last_taken = 0

    def way_back(self, handle: int) -> Callable[[], None]:
        """Return what makes a handle free again, without a step in Python.

        Of a large buffer, `extend` first takes the handle; asking the iterator for
        more then looks whether that is too much for the pool.
        """
        if self.size <= self.pool.smallest_large:
            return partial(self.handles.append, handle)
        look: Iterator[int] = iter(partial(self.pool.notice, self.size), None)
        return partial(self.handles.extend, chain((handle,), look))


class Buffer(Storage):
    """A device buffer that returns to its pool when nobody holds it.

    Each has a finalizer of its own, made of functions in C: Stop comes where functions
    in Python begin, and there it would be swallowed and the buffer lost.
    """

    __slots__ = ("__del__", "handle", "home")

    def __init__(self, home: FreeList, handles: list[int]) -> None:
        """Take the last handle over: from these statements on it belongs here.

        There is no call between the last three, so that Stop cannot part them.
        """
        self.home = home
        give_back = home.way_back(handles[-1])
        self.handle = handles[-1]
        self.__del__ = give_back
        del handles[-1]

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.home.size


class Pool:
    """The buffers of one device.

    Attributes:
        driver: of the device.
        machine: what the device is.
        allocated: bytes allocated now, in use and free together.
        largest: the largest buffer that a kernel can bind.
        lock: held while buffers are taken or destroyed.
        smallest_large: bytes from which on a buffer counts as large.
        headroom: bytes in large buffers that may become free until `evict` looks again.
        leaving: bytes destroyed since the device was last known to be done; what is
            submitted may still use them.
        can_grow: whether allocations beyond the budget tell if there is more.
    """

    def __init__(self, driver: Driver, machine: Machine) -> None:
        """Begin without buffers, with the budget of `drivers/memory.py`."""
        self.driver = driver
        self.machine = machine
        told = memory_budget(
            driver.limits,
            is_software=driver.is_software,
            shared=driver.shared_memory,
            device=machine.device,
        )
        self.budget = min(told, machine.capacity)
        self.can_grow = said_budget() is None and driver.shared_memory is None
        self.allocated = 0
        self.leaving = 0
        self.largest = largest_buffer(driver.limits)
        self._free: dict[int, FreeList] = {}
        self._shared: WeakValueDictionary[tuple[int, int], Buffer] = (
            WeakValueDictionary()
        )
        self._flush = 0
        self.lock = RLock()
        self._is_taking = False

    @property
    def budget(self) -> int:
        """Bytes that may be allocated at most, in use and free together.

        Who sets it sets the limit: then it does not grow any more.
        """
        return self._budget

    @budget.setter
    def budget(self, nbytes: int) -> None:
        self.can_grow = False
        self._set_budget(nbytes)

    def _set_budget(self, nbytes: int) -> None:
        self._budget = nbytes
        self.smallest_large = nbytes // LARGE_SHARE
        self.headroom = 0

    @property
    def free_bytes(self) -> int:
        """Bytes in buffers that nobody holds."""
        return sum(free.size * len(free.handles) for free in [*self._free.values()])

    @property
    def in_use(self) -> int:
        """Bytes in buffers that somebody holds."""
        return self.allocated - self.free_bytes

    def check(self, nbytes: int, name: Callable[..., str], *what: object) -> None:
        """Raise `DeviceMemoryError` when no kernel could bind so many bytes.

        `name(*what)` says for people what needs them.
        """
        if nbytes > self.largest:
            device = self.machine.device
            message = limit_message(name(*what), nbytes, self.largest, device)
            raise DeviceMemoryError(message)

    def size_for(self, nbytes: int) -> int:
        """Return the size of the buffers that hold `nbytes`."""
        size = size_class(nbytes)
        return size if size <= self.largest else -(-nbytes // 4) * 4

    def take(self, nbytes: int, name: Callable[..., str], *what: object) -> Buffer:
        """Return a buffer of at least `nbytes` with unknown contents.

        Raises:
            DeviceMemoryError: it would exceed the device's limit or the budget;
                `name(*what)` says for people what needs it.
        """
        self.check(nbytes, name, *what)
        wanted = [(self.size_for(nbytes), [(0, nbytes)])]
        with self.lock:
            return self.take_all(wanted, lambda _: name(*what))[0][0]

    def take_shared(self, nbytes: int, number: int) -> Buffer:
        """Return a buffer that all who ask for this number of this size share.

        It goes back when nobody of them holds it any more.

        Raises:
            DeviceMemoryError: as `take`.
        """
        key = self.size_for(nbytes), number
        buffer = self._shared.get(key)
        if buffer is None:
            buffer = self.take(nbytes, str, "what a recorded function computes inside")
            self._shared[key] = buffer
        return buffer

    def take_all(
        self,
        wanted: Taken,
        name: Callable[[int], str],
    ) -> tuple[list[Buffer], list[int]]:
        """Return buffers and their handles, in the order in which they are wanted.

        That is for each size a list of pairs of a number and bytes. The caller holds
        the lock.

        Raises:
            DeviceMemoryError: as `take`; `name(number)` says what a buffer is for.
        """
        buffers: list[Buffer] = []
        handles: list[int] = []
        self._flush += 1
        self._is_taking = True
        try:
            for size, requests in wanted:
                home = self._free.get(size)
                if home is None:
                    home = self._free[size] = FreeList(self, size)
                home.last_taken = self._flush
                free, count = home.handles, len(requests)
                free.sort()
                own = free[:count]
                del free[:count]
                try:
                    while len(own) < count:
                        own.append(self._create(size, *requests[len(own)], name))
                    handles += own
                    own.reverse()
                    buffers += [Buffer(home, own) for _ in requests]
                finally:
                    free += own  # Stop comes at any time
        finally:
            self._is_taking = False
        return buffers, handles

    def _create(
        self, size: int, number: int, nbytes: int, name: Callable[[int], str]
    ) -> int:
        """Return the handle of a new buffer, within the budget."""
        if self.allocated + size > self.budget:
            self._make_room(size)
        total = self.allocated + size
        is_beyond = total > self.budget
        may_try = self.can_grow and total <= self.machine.capacity
        if is_beyond and not (may_try and self.driver.can_block()):
            raise self.over_budget(name(number), nbytes)
        try:
            handle = self.driver.create_buffer(size)
        except DeviceMemoryError:
            gc.collect()
            self._destroy_free()
            handle = self._create_or_learn(size)
        self.allocated += size
        if is_beyond:
            self._grow(handle, size)
        return handle

    def _create_or_learn(self, size: int) -> int:
        """Return the handle of a new buffer when all work is done.

        What is allocated now is the budget, if it cannot be had.
        """
        self.wait()
        try:
            return self.driver.create_buffer(size)
        except DeviceMemoryError:
            self.lower(self.allocated)
            raise

    def wait(self) -> None:
        """Wait until destroyed buffers are really gone, where Python can wait."""
        if self.leaving and self.driver.can_block():
            self.driver.check()
            self.leaving = 0

    def _grow(self, handle: int, size: int) -> None:
        """Raise the budget, since a buffer beyond it could be had.

        Raises:
            DeviceMemoryError: it could not, as the device reports late.
        """
        try:
            self.driver.check()
        except BaseException as error:
            self.allocated -= size
            self.driver.destroy_buffer(handle)
            if isinstance(error, DeviceMemoryError):
                self.lower(self.allocated)
            raise
        self._set_budget(max(self.allocated, self.budget + self.budget // GROWTH))

    def lower(self, nbytes: int) -> None:
        """Take no more than so much from now on: the device had no more."""
        self.budget = min(self.budget, max(nbytes, SMALLEST_BUDGET))

    def over_budget(self, what: str, nbytes: int) -> DeviceMemoryError:
        """Return the error for what needs so many bytes at once."""
        variable = VARIABLE if self.budget < self.machine.capacity else ""
        device, held, budget = self.machine.device, self.in_use, self.budget
        return DeviceMemoryError(
            budget_message(what, nbytes, device, held, budget, variable)
        )

    def notice(self, size: int) -> int | None:
        """Look at what is free when a large buffer has become so; ends an iterator."""
        self.headroom -= size
        if self.headroom < 0:
            self.evict()
        return None

    def evict(self) -> None:
        """Destroy free buffers until the limit holds, sizes long unused first.

        Does nothing while buffers are taken; the next large one that is let go tries
        again.
        """
        if self._is_taking or not self.lock.acquire(blocking=False):
            return
        try:
            self.headroom = self.budget // KEPT_SHARE - self.free_bytes
            if self.headroom < 0:
                for free in sorted(self._free.values(), key=lambda f: f.last_taken):
                    while free.handles and self.headroom < 0:
                        self._destroy(free)
                        self.headroom += free.size
        finally:
            self.lock.release()

    def _make_room(self, size: int) -> None:
        """Destroy free buffers until so many bytes fit, sizes long unused first.

        What only Python's garbage holds is free too, but takes long to find.
        """
        for is_last in (False, True):
            for free in sorted(self._free.values(), key=lambda f: f.last_taken):
                while free.handles and self.allocated + size > self.budget:
                    self._destroy(free)
            if is_last or self.allocated + size <= self.budget:
                return
            gc.collect()

    def trim(self) -> None:
        """Destroy all free buffers."""
        with self.lock:
            self._destroy_free()

    def _destroy_free(self) -> None:
        for free in self._free.values():
            while free.handles:
                self._destroy(free)

    def _destroy(self, free: FreeList) -> None:
        """Destroy one free buffer; after a loss there is nothing to destroy."""
        handle = free.handles.pop()
        if not self.driver.is_lost:
            self.driver.destroy_buffer(handle)
        self.allocated -= free.size
        self.leaving += free.size
