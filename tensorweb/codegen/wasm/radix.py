"""Sort rows of middle length by radix sort, each in one unit, in scratch storage.

For each digit: count how often each value occurs, compute where each begins, and move
the entries. A digit that is equal in all keys of a row is skipped.
"""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT, Program, scratch
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import (
    Pointer,
    each_block,
    in_rows,
    locate,
    while_below,
)
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.policy import (
    RADIX_UNIT,
)
from tensorweb.codegen.wasm.sort_keys import Entry, SortLaunch, SortTask, in_fours

DIGITS = 256
"""Values of a digit."""

TABLE = 4 * DIGITS
"""Bytes of a table with a number for each."""


def clear(f: Function, address: int, size: int) -> None:
    """Emit code that fills memory with zeros.

    Args:
        f: the function.
        address: local of the address.
        size: number of bytes, a multiple of 64.
    """
    pointer, end = f.local("i32"), f.local("i32")
    f.get(address)
    f.tee(pointer)
    f.const("i32", size)
    f.op("i32.add")
    f.set(end)
    f.begin("loop")
    for offset in range(0, 64, 16):
        f.get(pointer)
        f.get(f.constant("i32x4", 0))
        f.memory("v128.store", offset)
    f.get(pointer)
    f.const("i32", 64)
    f.op("i32.add")
    f.tee(pointer)
    f.get(end)
    f.op("i32.ne")
    f.br_if(0)
    f.end()
    f.free(pointer)
    f.free(end)


def count(f: Function, entry: Entry, first: int, end: int, table: int) -> None:
    """Emit the histogram of a digit of entries.

    Args:
        f: the function.
        entry: layout of the entries.
        first: local of the address of the first digit.
        end: local of the end of the entries, plus the offset of the digit.
        table: local of the address of the table.
    """
    clear(f, table, TABLE)
    pointer, slot = f.local("i32"), f.local("i32")
    f.get(first)
    f.set(pointer)

    def one(offset: int) -> None:
        f.get(pointer)
        f.memory("i32.load8_u", offset)
        _slot(f, table)
        f.tee(slot)
        f.get(slot)
        f.memory("i32.load")
        f.const("i32", 1)
        f.op("i32.add")
        f.memory("i32.store")

    in_fours(f, end, (pointer,), entry.size, one)
    f.free(pointer)
    f.free(slot)


def _slot(f: Function, table: int) -> None:
    """Emit the address in a table of the digit on the stack."""
    f.const("i32", 2)
    f.op("i32.shl")
    f.get(table)
    f.op("i32.add")


def begins(f: Function, entry: Entry, table: int, target: int) -> None:
    """Emit the conversion of counts to the start address of each digit's entries.

    Args:
        f: the function.
        entry: layout of the entries.
        table: local of the table's address.
        target: local of the address where the first entry goes.
    """
    pointer, end = f.local("i32"), f.local("i32")
    address, size = f.local("i32"), f.local("i32")
    f.get(target)
    f.set(address)
    f.get(table)
    f.tee(pointer)
    f.const("i32", TABLE)
    f.op("i32.add")
    f.set(end)

    def one(offset: int) -> None:
        f.get(pointer)
        f.memory("i32.load", offset)
        f.const("i32", entry.size.bit_length() - 1)
        f.op("i32.shl")
        f.set(size)
        f.get(pointer)
        f.get(address)
        f.memory("i32.store", offset)
        f.get(address)
        f.get(size)
        f.op("i32.add")
        f.set(address)

    in_fours(f, end, (pointer,), 4, one)
    for local in (pointer, end, address, size):
        f.free(local)


def move(
    f: Function, entry: Entry, first: int, end: int, digit: int, table: int
) -> None:
    """Emit the stores of entries at the next address of their digit.

    Args:
        f: the function.
        entry: layout of the entries.
        first: local of the address of the first.
        end: local of the address behind the last one.
        digit: the local that says which byte of the keys is the digit.
        table: local of the address of the table of addresses.
    """
    pointer, byte = f.local("i32"), f.local("i32")
    slot, target = f.local("i32"), f.local("i32")
    f.get(first)
    f.tee(pointer)
    f.get(digit)
    f.op("i32.add")
    f.set(byte)

    def one(offset: int) -> None:
        f.get(byte)
        f.memory("i32.load8_u", offset)
        _slot(f, table)
        f.tee(slot)
        f.memory("i32.load")
        f.set(target)
        entry.copy(f, pointer, offset, target)
        f.get(slot)
        f.get(target)
        f.const("i32", entry.size)
        f.op("i32.add")
        f.memory("i32.store")

    in_fours(f, end, (pointer, byte), entry.size, one)
    for local in (pointer, byte, slot, target):
        f.free(local)


def first_not_below(
    f: Function, entry: Entry, entries: int, length: int, key: int, index: int
) -> None:
    """Emit a binary search for the first entry whose key is not below another.

    Args:
        f: the function.
        entry: layout of the entries.
        entries: local of the address of the first.
        length: local of their number.
        key: local of the other key.
        index: the local that takes the entry's number.
    """
    left, half = f.local("i32"), f.local("i32")
    f.const("i32", 0)
    f.set(index)
    f.get(length)
    f.set(left)
    f.begin("block")
    f.begin("loop")
    f.get(left)
    f.op("i32.eqz")
    f.br_if(1)
    f.get(left)
    f.const("i32", 1)
    f.op("i32.shr_u")
    f.set(half)
    f.get(index)
    f.get(half)
    f.op("i32.add")
    f.const("i32", entry.size)
    f.op("i32.mul")
    f.get(entries)
    f.op("i32.add")
    f.memory(f"{entry.key_type}.load")
    f.get(key)
    f.op(f"{entry.key_type}.lt_u")
    f.begin("if")
    f.get(index)
    f.get(half)
    f.op("i32.add")
    f.const("i32", 1)
    f.op("i32.add")
    f.set(index)
    f.get(left)
    f.get(half)
    f.op("i32.sub")
    f.const("i32", 1)
    f.op("i32.sub")
    f.set(left)
    f.orelse()
    f.get(half)
    f.set(left)
    f.end()
    f.br(0)
    f.end()
    f.end()
    f.free(left)
    f.free(half)


def radix_rows(task: SortTask) -> Program:
    """Return the program of one launch, whose units sort whole rows."""
    cut = in_rows(task.rows, task.length, RADIX_UNIT)
    work = RadixRows(task)
    work.write()
    each = cut.elements * (task.work + 8 * task.digits)
    launch = work.frame.launch("sort_rows", cut.units, per_slice(each), "by digits")
    return Program((launch,), (cut.units * work.region,))


class RadixRows(SortLaunch):
    """Emits the launch.

    Attributes:
        region: bytes of scratch storage of a unit.
    """

    def __init__(self, task: SortTask) -> None:
        """Prepare; a unit's scratch has the tables and two arrays of entries."""
        super().__init__(task, task.lanes)
        self._lot = -(-task.length * task.entry.size // 64) * 64
        self._tables = TABLE
        self.region = self._tables + 2 * self._lot
        if task.loses_marks:
            self.region += -(-task.length * task.entry.key_size // 64) * 64

    def write(self) -> None:
        """Emit the module."""
        f, task, frame = self.f, self.task, self.frame
        cut = in_rows(task.rows, task.length, RADIX_UNIT)
        evaluator = self.evaluator(task.lanes)
        region, lot = frame.number(self.region), frame.number(self._lot)
        tables, one, other = (f.own_local("i32") for _ in range(3))
        result, length = f.own_local("i32"), frame.number(task.length)
        row_bits = Pointer(f, f.own_local("i32"), task.entry.key_size)
        varying = f.own_local(self.single.word)
        entries = Pointer(f, f.own_local("i32"), task.entry.size)
        with each_block(frame, cut) as block:
            f.get(block.unit)
            f.get(region)
            f.op("i32.mul")
            f.get(frame.storage(scratch(0), "w"))
            f.op("i32.add")
            f.tee(tables)
            f.const("i32", self._tables)
            f.op("i32.add")
            f.tee(one)
            f.tee(entries.local)
            f.get(lot)
            f.op("i32.add")
            f.tee(other)
            f.get(lot)
            f.op("i32.add")
            f.set(row_bits.local)
            locate(evaluator, block)
            self.begin()
            bits_to = row_bits if task.loses_marks else None
            self.encode(evaluator, block, entries, bits_to)
            self.facts()
            f.op(f"{self.single.word}.xor")
            f.set(varying)
            self._passes(tables, one, other, length, varying)
            f.get(block.row)
            f.get(length)
            f.op("i32.mul")
            f.set(result)
            self.address(result, frame.storage(OUTPUT), result, task.result_size)
            f.const("i32", 0)
            f.set(block.index)
            f.get(one)
            f.set(entries.local)
            results = Pointer(f, f.local("i32"), task.result_size)
            f.get(result)
            f.set(results.local)
            self.decode(block, entries, results)
            f.free(results.local)
            if task.loses_marks:
                self.is_marked()
                f.begin("if")
                self._restore_marks(one, result, row_bits, length, tables)
                f.end()

    def _passes(
        self, tables: int, one: int, other: int, length: int, varying: int
    ) -> None:
        """Emit the loop over digits.

        Args:
            tables: local of the address of the tables.
            one: local of the address of the entries, and in the end of sorted ones.
            other: local of the address of the other array of entries.
            length: local of their number.
            varying: local of the bits in which keys differ.
        """
        f, entry, word = self.f, self.task.entry, self.single.word
        digit, first, end = (f.local("i32") for _ in range(3))
        f.const("i32", 0)
        f.set(digit)
        f.begin("loop")
        f.get(varying)
        f.const(word, DIGITS - 1)
        f.op(f"{word}.and")
        f.const(word, 0)
        f.op(f"{word}.ne")
        f.begin("if")
        self.address(end, one, length, entry.size)
        f.get(one)
        f.get(digit)
        f.op("i32.add")
        f.set(first)
        f.get(end)
        f.get(digit)
        f.op("i32.add")
        f.set(end)
        count(f, entry, first, end, tables)
        begins(f, entry, tables, other)
        self.address(end, one, length, entry.size)
        move(f, entry, one, end, digit, tables)
        f.get(one)
        f.get(other)
        f.set(one)
        f.set(other)
        f.end()
        f.get(digit)
        f.const("i32", 1)
        f.op("i32.add")
        f.set(digit)
        f.get(varying)
        f.const(word, 8)
        f.op(f"{word}.shr_u")
        f.tee(varying)
        f.const(word, 0)
        f.op(f"{word}.ne")
        f.br_if(0)
        f.end()
        for local in (digit, first, end):
            f.free(local)

    def _restore_marks(
        self, entries: int, result: int, row_bits: Pointer, length: int, nowhere: int
    ) -> None:
        """Emit the restoration of signs of zeros and bits of NaN, in row order.

        Args:
            entries: local of the address of the sorted entries.
            result: local of the address of the row's results.
            row_bits: pointer to the end of the bits of the row's elements.
            length: local of their number.
            nowhere: local of an address where anything may be written.
        """
        f, task, single = self.f, self.task, self.single
        zero, nan = f.local("i32"), f.local("i32")
        for address, key in ((zero, single.zero()), (nan, single.nan())):
            first_not_below(f, task.entry, entries, length, key, address)
            self.address(address, result, address, task.result_size)
        bits, at = f.local(single.word), Pointer(f, f.local("i32"), row_bits.size)
        f.get(row_bits.local)
        f.get(length)
        f.const("i32", row_bits.size)
        f.ops("i32.mul", "i32.sub")
        f.set(at.local)
        with while_below(f, at.local, row_bits.local):
            f.get(at.local)
            f.memory(f"{single.word}.load")
            f.set(bits)
            self.restore(bits, zero, nan, nowhere)
            at.move(1)
        for local in (bits, at.local, zero, nan):
            f.free(local)
