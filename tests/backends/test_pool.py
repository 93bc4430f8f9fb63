"""The pool of device buffers: which are reused, what failures give back, limits."""

from __future__ import annotations

import gc
import sys
import threading
from itertools import count
from types import FrameType

import pytest
from pretend_driver import PretendDriver

from tensorweb.backends import pool as pool_module
from tensorweb.backends.pool import Buffer, FreeList, Pool
from tensorweb.backends.webgpu import traits_of
from tensorweb.errors import DeviceMemoryError

KIB = 1 << 10


class Counting(PretendDriver):
    """Numbers its buffers and fails to make one on request."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = count(1)
        self.destroyed: list[int] = []
        self.fails_at = 0

    def create_buffer(self, size: int) -> int:
        number = next(self.numbers)
        if number == self.fails_at:
            raise KeyboardInterrupt
        return number

    def destroy_buffer(self, buffer: int) -> None:
        self.destroyed.append(buffer)


@pytest.fixture
def pool() -> Pool:
    driver = Counting()
    return Pool(driver, traits_of(driver))


def name(number: int) -> str:
    return f"number {number}"


def take(pool: Pool, nbytes: int, number: int) -> list[Buffer]:
    expected = [(pool.size_for(nbytes), [(i, nbytes) for i in range(number)])]
    with pool.lock:
        buffers, handles = pool.take_all(expected, name)
    assert handles == [buffer.handle for buffer in buffers]
    return buffers


def test_smallest_free_handles_come_first(pool: Pool) -> None:
    buffers = take(pool, KIB, 5)
    assert pool.in_use == pool.allocated == 5 * KIB
    for at in (3, 0, 4):
        buffers[at] = buffers[1]
    assert pool.free_bytes == 3 * KIB
    assert [buffer.handle for buffer in take(pool, KIB, 4)] == [1, 4, 5, 6]


def test_interrupted_take_gives_everything_back(pool: Pool) -> None:
    held = take(pool, KIB, 1)
    free = take(pool, 2 * KIB, 2)
    del free
    assert isinstance(pool.driver, Counting)
    pool.driver.fails_at = 5
    expected = [(2 * KIB, [(0, 2 * KIB)]), (KIB, [(1, KIB), (2, KIB), (3, KIB)])]
    with pytest.raises(KeyboardInterrupt), pool.lock:
        pool.take_all(expected, name)
    assert pool.in_use == KIB == held[0].size
    assert pool.allocated == 6 * KIB


@pytest.mark.parametrize("is_before", [True, False])
def test_stop_between_two_buffers_loses_none(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, is_before: bool
) -> None:
    made, real = count(), Buffer.__init__

    def interrupted(self: Buffer, home: FreeList, handles: list[int]) -> None:
        stops = next(made) == 1
        if stops and is_before:
            raise KeyboardInterrupt
        real(self, home, handles)
        if stops:
            raise KeyboardInterrupt

    take(pool, KIB, 4)
    monkeypatch.setattr(Buffer, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        take(pool, KIB, 3)
    monkeypatch.undo()
    # The traceback holds the second buffer, if it was one already.
    others = take(pool, KIB, 3)
    assert [buffer.handle for buffer in others] == (
        [1, 2, 3] if is_before else [1, 3, 4]
    )
    del stop, others
    gc.collect()
    assert pool.in_use == 0
    assert [buffer.handle for buffer in take(pool, KIB, 5)] == [1, 2, 3, 4, 5]


def test_budget_is_kept(pool: Pool) -> None:
    pool.budget = 10 * KIB
    held = take(pool, KIB, 8)
    with pytest.raises(DeviceMemoryError, match=r"number 2 needs 1 KiB.*10 KiB"):
        take(pool, KIB, 3)
    assert pool.in_use == 8 * KIB
    del held
    large = take(pool, 5 * KIB, 2)
    assert sum(buffer.size for buffer in large) == pool.in_use
    assert pool.allocated == 10 * KIB


def test_half_of_the_budget_stays_free(pool: Pool) -> None:
    pool.budget = 16 * KIB
    small, large = take(pool, KIB, 6), take(pool, 4 * KIB, 2)
    del small
    assert pool.free_bytes == 6 * KIB
    del large
    assert pool.free_bytes == 8 * KIB
    assert isinstance(pool.driver, Counting)
    assert len(pool.driver.destroyed) == 6


def test_threads_never_share_a_buffer(pool: Pool) -> None:
    pool.budget = 64 * KIB
    shared: list[set[int]] = []

    def work() -> None:
        for step in range(400):
            buffers = take(pool, KIB, step % 7)
            buffers.append(pool.take(KIB, name, 0))
            for buffer in buffers:
                assert users.setdefault(buffer.handle, threading.get_ident())
                if users.pop(buffer.handle) != threading.get_ident():
                    shared.append({buffer.handle})
            del buffers, buffer

    users: dict[int, int] = {}
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not shared
    assert pool.in_use == 0


@pytest.mark.parametrize("nbytes", [KIB, 1 << 25], ids=["small", "large"])
def test_stop_in_a_finalizer_loses_no_buffer(pool: Pool, nbytes: int) -> None:
    def stop(frame: FrameType, event: str, argument: object) -> None:
        """Raise where Python looks for signals when a function begins."""
        if frame.f_code.co_filename == pool_module.__file__:
            raise KeyboardInterrupt

    buffers = take(pool, nbytes, 3)
    pool.headroom = 1 << 40
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda _: None)
        before = sys.gettrace()
        sys.settrace(stop)
        try:
            del buffers[0]
        finally:
            sys.settrace(before)
    assert pool.in_use == 2 * pool.size_for(nbytes)
    assert len(take(pool, nbytes, 1)) == 1
    assert pool.allocated == 3 * pool.size_for(nbytes)
