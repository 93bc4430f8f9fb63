"""The heap of the WebAssembly device: blocks never overlap and all come back."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tensorweb.drivers.policy import SLACK
from tensorweb.drivers.wasm_driver import (
    ALIGNMENT,
    PAGE,
    Heap,
    signed,
    unsigned,
)
from tensorweb.errors import DeviceMemoryError

FIRST = 4096
LIMIT = 64 * PAGE


class Memory:
    """What can grow; refuses to beyond `most`."""

    def __init__(self, most: int = LIMIT) -> None:
        self.size = PAGE
        self.most = most
        self.asked: list[int] = []

    def grow(self, size: int) -> bool:
        self.asked.append(size)
        if size > self.most:
            return False
        self.size = size
        return True


def heap_of(memory: Memory, limit: int = LIMIT) -> Heap:
    return Heap(FIRST, memory.size, limit, memory.grow)


class HeapMachine(RuleBasedStateMachine):
    """Random blocks, in a memory that ends early."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory(40 * PAGE)
        self.heap = heap_of(self.memory)
        self.blocks: dict[int, int] = {}

    @rule(size=st.integers(1, 20 * PAGE) | st.integers(1, 300))
    def allocate(self, size: int) -> None:
        before = self.heap.held, self.heap.largest_free
        try:
            address = self.heap.allocate(size)
        except DeviceMemoryError:
            assert (self.heap.held, self.heap.largest_free) == before
            assert before[1] < size + SLACK + ALIGNMENT
            return
        assert address not in self.blocks
        self.blocks[address] = size

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        address = data.draw(st.sampled_from(sorted(self.blocks)))
        assert self.heap.size_of(address) == self.blocks.pop(address)
        self.heap.free(address)

    @invariant()
    def blocks_are_apart_and_inside(self) -> None:
        end = FIRST
        for address, size in sorted(self.blocks.items()):
            assert address >= end
            assert address % ALIGNMENT == 0
            end = address + size + SLACK
        assert end <= self.memory.size == self.heap.size
        assert self.heap.held == sum(self.blocks.values())

    def teardown(self) -> None:
        for address in self.blocks:
            self.heap.free(address)
        assert self.heap.held == 0
        assert self.heap.largest_free == self.memory.size - FIRST


TestHeap = HeapMachine.TestCase


def test_the_smallest_block_that_fits_is_taken() -> None:
    heap = heap_of(Memory())
    large, _, small, _ = (heap.allocate(size) for size in (1000, 10, 200, 10))
    heap.free(large)
    heap.free(small)
    assert heap.allocate(150) == small
    assert heap.allocate(150) == large


@pytest.mark.parametrize(
    ("limit", "asked"), [(LIMIT, [20]), (18 * PAGE, [18]), (17 * PAGE, [17])]
)
def test_it_grows_ahead_of_need_within_the_limit(limit: int, asked: list[int]) -> None:
    memory = Memory()
    heap = heap_of(memory, limit)
    heap.allocate(16 * PAGE - FIRST - SLACK)
    memory.asked.clear()
    heap.allocate(PAGE - SLACK)
    assert [size // PAGE for size in memory.asked] == asked


def test_heap_grows_by_the_required_size_if_more_is_refused() -> None:
    memory = Memory(18 * PAGE)
    heap = heap_of(memory)
    heap.allocate(16 * PAGE - FIRST - SLACK)
    heap.allocate(PAGE - SLACK)
    assert [size // PAGE for size in memory.asked] == [16, 20, 17]
    assert heap.size == 17 * PAGE


def test_a_memory_that_cannot_grow_tells_the_numbers_and_goes_on() -> None:
    heap = heap_of(Memory(4 * PAGE))
    held = heap.allocate(2 * PAGE)
    with pytest.raises(
        DeviceMemoryError,
        match=r"buffer of 192 KiB \(196608 bytes\): buffers hold 128 KiB of a "
        r"WebAssembly memory of 192 KiB, .* limit is 4 MiB \(4194304 bytes\)",
    ):
        heap.allocate(3 * PAGE)
    heap.free(held)
    assert heap.allocate(3 * PAGE) == FIRST


def test_addresses_beyond_2_gib_are_negative() -> None:
    heap = Heap(FIRST, PAGE, 4 << 30, lambda size: True)
    heap.allocate(2 << 30)
    address = heap.allocate(100)
    assert address < 0
    assert unsigned(address) == FIRST + (2 << 30) + ALIGNMENT
    assert signed(unsigned(address)) == address
    heap.free(address)
    assert heap.allocate(50) == address
