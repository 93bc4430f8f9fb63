"""Sort rows of middle length by radix sort, each in one unit, in scratch storage.

For each digit: count how often each value occurs, compute where each begins, and move
the entries. A digit that is equal in all keys of a row is skipped.
"""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT, Program, scratch
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import (
    Pointer,
    each_block,
    in_rows,
    locate,
    while_below,
)
from tensorweb.codegen.wasm.module import Function
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
    f.tee(pointer, address)
    f.set(end, ("i32", size), "i32.add")
    with f.block("loop"):
        for offset in range(0, 64, 16):
            f.emit(pointer, f.constant("i32x4", 0), ("v128.store", offset))
        f.tee(pointer, pointer, ("i32", 64), "i32.add")
        f.br_if(0, end, "i32.ne")
    f.free(pointer, end)


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
    f.set(pointer, first)

    def one(offset: int) -> None:
        f.emit(pointer, ("i32.load8_u", offset))
        _slot(f, table)
        f.tee(slot)
        f.emit(slot, ("i32.load", 0), ("i32", 1), "i32.add", ("i32.store", 0))

    in_fours(f, end, (pointer,), entry.size, one)
    f.free(pointer, slot)


def _slot(f: Function, table: int) -> None:
    """Emit the address in a table of the digit on the stack."""
    f.emit(("i32", 2), "i32.shl", table, "i32.add")


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
    f.set(address, target)
    f.tee(pointer, table)
    f.set(end, ("i32", TABLE), "i32.add")

    def one(offset: int) -> None:
        f.set(
            size,
            pointer,
            ("i32.load", offset),
            ("i32", entry.size.bit_length() - 1),
            "i32.shl",
        )
        f.set(
            address, pointer, address, ("i32.store", offset), address, size, "i32.add"
        )

    in_fours(f, end, (pointer,), 4, one)
    f.free(pointer, end, address, size)


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
    f.tee(pointer, first)
    f.set(byte, digit, "i32.add")

    def one(offset: int) -> None:
        f.emit(byte, ("i32.load8_u", offset))
        _slot(f, table)
        f.tee(slot)
        f.set(target, ("i32.load", 0))
        entry.copy(f, pointer, offset, target)
        f.emit(slot, target, ("i32", entry.size), "i32.add", ("i32.store", 0))

    in_fours(f, end, (pointer, byte), entry.size, one)
    f.free(pointer, byte, slot, target)


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
    f.set(index, ("i32", 0))
    f.set(left, length)
    with f.block("block"), f.block("loop"):
        f.br_if(1, left, "i32.eqz")
        f.set(half, left, ("i32", 1), "i32.shr_u")
        with f.block(
            "if",
            index,
            half,
            "i32.add",
            ("i32", entry.size),
            "i32.mul",
            entries,
            "i32.add",
            (f"{entry.key_type}.load", 0),
            key,
            f"{entry.key_type}.lt_u",
        ):
            f.set(index, index, half, "i32.add", ("i32", 1), "i32.add")
            f.set(left, left, half, "i32.sub", ("i32", 1), "i32.sub")
            f.orelse()
            f.set(left, half)
        f.br(0)
    f.free(left, half)


def radix_rows(task: SortTask) -> Program:
    """Return the program of one launch, whose units sort whole rows."""
    cut = in_rows(task.rows, task.length, policy.RADIX_UNIT)
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
        cut = in_rows(task.rows, task.length, policy.RADIX_UNIT)
        evaluator = self.evaluator(task.lanes)
        region, lot = frame.number(self.region), frame.number(self._lot)
        tables, one, other = (f.own_local("i32") for _ in range(3))
        result, length = f.own_local("i32"), frame.number(task.length)
        row_bits = Pointer(f, f.own_local("i32"), task.entry.key_size)
        varying = f.own_local(self.single.word)
        entries = Pointer(f, f.own_local("i32"), task.entry.size)
        with each_block(frame, cut) as block:
            f.emit(block.unit, region, "i32.mul")
            f.tee(tables, frame.storage(scratch(0), "w"), "i32.add")
            f.tee(one, ("i32", self._tables), "i32.add")
            f.tee(entries.local)
            f.tee(other, lot, "i32.add")
            f.set(row_bits.local, lot, "i32.add")
            locate(evaluator, block)
            self.begin()
            bits_to = row_bits if task.loses_marks else None
            self.encode(evaluator, block, entries, bits_to)
            self.facts()
            f.set(varying, f"{self.single.word}.xor")
            self._passes(tables, one, other, length, varying)
            f.set(result, block.row, length, "i32.mul")
            self.address(result, frame.storage(OUTPUT), result, task.result_size)
            f.set(block.index, ("i32", 0))
            f.set(entries.local, one)
            results = Pointer(f, f.local("i32"), task.result_size)
            f.set(results.local, result)
            self.decode(block, entries, results)
            f.free(results.local)
            if task.loses_marks:
                self.is_marked()
                with f.block("if"):
                    self._restore_marks(one, result, row_bits, length, tables)

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
        f.set(digit, ("i32", 0))
        with f.block("loop"):
            with f.block(
                "if",
                varying,
                (word, DIGITS - 1),
                f"{word}.and",
                (word, 0),
                f"{word}.ne",
            ):
                self.address(end, one, length, entry.size)
                f.set(first, one, digit, "i32.add")
                f.set(end, end, digit, "i32.add")
                count(f, entry, first, end, tables)
                begins(f, entry, tables, other)
                self.address(end, one, length, entry.size)
                move(f, entry, one, end, digit, tables)
                f.set(one, one, other)
                f.set(other)
            f.set(digit, digit, ("i32", 1), "i32.add")
            f.tee(varying, varying, (word, 8), f"{word}.shr_u")
            f.br_if(0, (word, 0), f"{word}.ne")
        f.free(digit, first, end)

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
        f.set(
            at.local,
            row_bits.local,
            length,
            ("i32", row_bits.size),
            "i32.mul",
            "i32.sub",
        )
        with while_below(f, at.local, row_bits.local):
            f.set(bits, at.local, (f"{single.word}.load", 0))
            self.restore(bits, zero, nan, nowhere)
            at.move(1)
        f.free(bits, at.local, zero, nan)
