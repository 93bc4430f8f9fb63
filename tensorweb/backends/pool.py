"""Device buffers: size classes, reuse, and a budget kept before the device is asked.

A `Buffer` belongs to a node or to a flush. When its last reference is dropped, it
returns to the pool at once. That is safe because the device's queue runs in order: work
already submitted reads the old contents before later work writes new ones. The free
buffers with the smallest handles are taken first, so that each step of a loop reuses
the buffers and bind groups of the step before.

Buffers may be released at any time and in any thread, which only appends to a list;
everything else happens under the pool's lock. A flush holds the lock until its tape is
submitted, because plans and compiled functions reuse their tapes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import chain
from operator import mul
from threading import RLock
from weakref import WeakValueDictionary

from tensorweb.backends import policy
from tensorweb.backends.pipelines import DeviceTraits
from tensorweb.drivers.memory import (
    VARIABLE,
    largest_buffer,
    memory_budget,
    said_budget,
)
from tensorweb.drivers.messages import budget_message, limit_message
from tensorweb.drivers.policy import SMALLEST_BUDGET
from tensorweb.drivers.protocol import Driver
from tensorweb.errors import DeviceMemoryError
from tensorweb.graph.storage import Storage
from tensorweb.memory_log import Purpose, memory_log

Taken = list[tuple[int, list[tuple[int, int]]]]
"""For each buffer size, pairs of a caller's id and the bytes it needs."""


@lru_cache(maxsize=4096)
def size_class(nbytes: int) -> int:
    """Return the allocated bytes: rounded up to an eighth of a power of two.

    >>> size_class(1), size_class(100), size_class(1000), size_class(1 << 20)
    (16, 104, 1024, 1048576)
    """
    if nbytes <= policy.SMALLEST_BUFFER:
        return policy.SMALLEST_BUFFER
    step = max(1 << (nbytes.bit_length() - 4), 4)
    return -(-nbytes // step) * step


class FreeList:
    """The free buffers of one size.

    Attributes:
        pool: the pool of these buffers.
        size: bytes of each buffer.
        handles: handles of the free buffers.
        last_taken: index of the flush that last took one.
    """

    __slots__ = ("handles", "last_taken", "pool", "size")

    def __init__(self, pool: Pool, size: int) -> None:
        """Begin without buffers."""
        self.pool = pool
        self.size = size
        self.handles: list[int] = []
        self.last_taken = 0

    def finalizer(
        self, handle: int, hook: Iterator[int] | None = None
    ) -> Callable[[], None]:
        """Return a finalizer, implemented in C, that adds a handle to the free list.

        For a large buffer, `extend` first appends the handle; its second request to
        the iterator calls `notice`, which may evict free buffers. A `hook`, which
        yields nothing, is advanced in between.
        """
        is_large = self.size > self.pool.smallest_large
        if not is_large and hook is None:
            return partial(self.handles.append, handle)
        if not is_large and hook is not None:
            return partial(self.handles.extend, chain((handle,), hook))
        notice = iter(partial(self.pool.notice, self.size), None)
        return partial(self.handles.extend, chain((handle,), hook or (), notice))


class Buffer(Storage):
    """A device buffer that returns to its pool when its last reference is dropped.

    Its finalizer consists of C functions: an interrupt (Stop) is raised where a Python
    function begins; in a finalizer it would be swallowed and the buffer leaked.
    """

    __slots__ = ("__del__", "handle", "home")

    def __init__(self, home: FreeList, handles: list[int]) -> None:
        """Take ownership of the last handle of a list.

        No call separates the last three statements, so that an interrupt cannot either.
        """
        self.home = home
        finalizer = home.finalizer(handles[-1])
        self.handle = handles[-1]
        self.__del__ = finalizer
        del handles[-1]

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self.home.size

    def when_freed(self, hook: Iterator[int]) -> None:
        """Advance an iterator of C functions, which yields nothing, at the release."""
        self.__del__ = self.home.finalizer(self.handle, hook)


class Pool:
    """The buffers of one device.

    Attributes:
        driver: the device's driver.
        traits: description of the device.
        allocated: bytes allocated now, in use and free.
        largest: the largest buffer that a kernel can bind.
        lock: held while buffers are taken or destroyed.
        smallest_large: larger buffers count as large.
        headroom: bytes of large buffers that may be released before the next `evict`.
        leaving: bytes destroyed since the device was last idle; submitted work may
            still use them.
        can_grow: whether allocations beyond the budget may raise it.
    """

    def __init__(self, driver: Driver, traits: DeviceTraits) -> None:
        """Begin without buffers, with the budget of `drivers/memory.py`."""
        self.driver = driver
        self.traits = traits
        budget = memory_budget(
            driver.limits,
            is_software=driver.is_software,
            shared=driver.shared_memory,
            device=traits.device,
        )
        self.budget = min(budget, traits.capacity)
        self.can_grow = said_budget() is None and driver.shared_memory is None
        self.allocated = 0
        self.leaving = 0
        self.largest = largest_buffer(driver.limits)
        self._free: dict[int, FreeList] = {}
        self._handles: dict[int, list[int]] = {}
        self._shared: WeakValueDictionary[tuple[int, int], Buffer] = (
            WeakValueDictionary()
        )
        self._flush = 0
        self.lock = RLock()
        self._is_taking = False

    @property
    def budget(self) -> int:
        """Most bytes that may be allocated, in use and free.

        Setting it fixes the limit: it no longer grows.
        """
        return self._budget

    @budget.setter
    def budget(self, nbytes: int) -> None:
        self.can_grow = False
        self._set_budget(nbytes)

    def _set_budget(self, nbytes: int) -> None:
        self._budget = nbytes
        self.smallest_large = nbytes // policy.LARGE_SHARE
        self.headroom = 0

    @property
    def free_bytes(self) -> int:
        """Bytes of free buffers."""
        return self.allocated - self.in_use

    @property
    def in_use(self) -> int:
        """Bytes of buffers in use."""
        # Of C functions, since a log of memory asks after each flush; of a copy, since
        # other threads may take a new size meanwhile.
        handles = self._handles.copy()
        free: int = sum(map(mul, handles, map(len, handles.values())))
        return self.allocated - free

    def check(self, nbytes: int, name: Callable[..., str], *what: object) -> None:
        """Raise `DeviceMemoryError` if `nbytes` exceed the largest bindable buffer.

        `name(*what)` describes the requester in the message.
        """
        if nbytes > self.largest:
            device = self.traits.device
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
        requests = [(self.size_for(nbytes), [(0, nbytes)])]
        with self.lock:
            return self.take_all(requests, lambda _: name(*what))[0][0]

    def take_shared(self, nbytes: int, number: int) -> Buffer:
        """Return the buffer shared by all requests of this size and id.

        It returns to the pool when its last reference is dropped.

        Raises:
            DeviceMemoryError: as `take`.
        """
        key = self.size_for(nbytes), number
        buffer = self._shared.get(key)
        if buffer is None:
            buffer = self.take(nbytes, str, "what a recorded function computes inside")
            self._shared[key] = buffer
            if (log := memory_log()) is not None:
                purpose = Purpose(self.traits.device, "jit", (buffer.size,))
                if log.lists(self, purpose):
                    log.add(purpose, [buffer], [buffer.handle])
        return buffer

    def take_all(
        self,
        requests: Taken,
        name: Callable[[int], str],
    ) -> tuple[list[Buffer], list[int]]:
        """Return buffers and their handles, in the order of the requests.

        For each size the requests are pairs of an id and bytes. The caller must hold
        the lock.

        Raises:
            DeviceMemoryError: as `take`; `name(id)` describes the requester.
        """
        buffers: list[Buffer] = []
        handles: list[int] = []
        self._flush += 1
        self._is_taking = True
        try:
            for size, buffers_of_size in requests:
                home = self._free.get(size)
                if home is None:
                    home = FreeList(self, size)
                    self._handles[size] = home.handles
                    self._free[size] = home
                home.last_taken = self._flush
                free, count = home.handles, len(buffers_of_size)
                free.sort()
                own = free[:count]
                del free[:count]
                try:
                    while len(own) < count:
                        own.append(self._create(size, *buffers_of_size[len(own)], name))
                    handles += own
                    own.reverse()
                    buffers += [Buffer(home, own) for _ in buffers_of_size]
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
        may_try = self.can_grow and total <= self.traits.capacity
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
        """Wait for submitted work, then allocate a buffer and return its handle.

        If that fails, the budget is lowered to the bytes allocated now.
        """
        self.wait()
        try:
            return self.driver.create_buffer(size)
        except DeviceMemoryError:
            self.lower(self.allocated)
            raise

    def wait(self) -> None:
        """Wait until destroyed buffers are freed, where Python can wait."""
        if self.leaving and self.driver.can_block():
            self.driver.check()
            self.leaving = 0

    def _grow(self, handle: int, size: int) -> None:
        """Raise the budget after an allocation beyond it succeeded.

        Raises:
            DeviceMemoryError: the allocation failed, which the device reports late.
        """
        try:
            self.driver.check()
        except BaseException as error:
            self.allocated -= size
            self.driver.destroy_buffer(handle)
            if isinstance(error, DeviceMemoryError):
                self.lower(self.allocated)
            raise
        self._set_budget(
            max(self.allocated, self.budget + self.budget // policy.GROWTH)
        )

    def lower(self, nbytes: int) -> None:
        """Lower the budget to `nbytes` after an allocation failed."""
        self.budget = min(self.budget, max(nbytes, SMALLEST_BUDGET))

    def over_budget(self, what: str, nbytes: int) -> DeviceMemoryError:
        """Return the error for a request of `nbytes` beyond the budget."""
        variable = VARIABLE if self.budget < self.traits.capacity else ""
        device, held, budget = self.traits.device, self.in_use, self.budget
        return DeviceMemoryError(
            budget_message(what, nbytes, device, held, budget, variable)
        )

    def notice(self, size: int) -> int | None:
        """Account for a released large buffer; None ends the finalizer's iterator."""
        self.headroom -= size
        if self.headroom < 0:
            self.evict()
        return None

    def evict(self) -> None:
        """Destroy free buffers until the limit holds, least recently used sizes first.

        Does nothing while buffers are being taken; the next release of a large buffer
        tries again.
        """
        if self._is_taking or not self.lock.acquire(blocking=False):
            return
        try:
            self.headroom = self.budget // policy.FREE_SHARE - self.free_bytes
            if self.headroom < 0:
                for free in sorted(self._free.values(), key=lambda f: f.last_taken):
                    while free.handles and self.headroom < 0:
                        self._destroy(free)
                        self.headroom += free.size
        finally:
            self.lock.release()

    def _make_room(self, size: int) -> None:
        """Destroy free buffers until `size` bytes fit, least recently used sizes first.

        Garbage collection, which is slow, runs only if that is not enough.
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
        """Destroy one free buffer; a lost device has already destroyed it."""
        handle = free.handles.pop()
        if not self.driver.is_lost:
            self.driver.destroy_buffer(handle)
        self.allocated -= free.size
        self.leaving += free.size
