"""Sort rows of middle length, each in one unit, digit by digit, in scratch storage.

A digit that is the same everywhere moves nothing.
"""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT, Program, scratch
from tensorweb.codegen.wasm.blocks import each_block, in_rows, locate
from tensorweb.codegen.wasm.digits import (
    DIGITS,
    TABLE,
    begins,
    count,
    first_not_below,
    move,
)
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import Pointer, while_below
from tensorweb.codegen.wasm.ordering import Launching, Task

ELEMENTS = 1 << 15
"""Elements of a unit, about: its rows use the same scratch one after another."""


def radix_rows(task: Task) -> Program:
    """Return the program of one launch, whose units sort whole rows."""
    cut = in_rows(task.rows, task.length, ELEMENTS)
    work = Rows(task)
    work.write()
    each = cut.elements * (task.work + 8 * task.digits)
    launch = work.frame.launch("sort_rows", cut.units, per_slice(each), "by digits")
    return Program((launch,), (cut.units * work.region,))


class Rows(Launching):
    """Writes the launch.

    Attributes:
        region: bytes of scratch storage of a unit.
    """

    def __init__(self, task: Task) -> None:
        """Begin; entries lie twice in a unit's scratch, behind the tables."""
        super().__init__(task, task.lanes)
        self._lot = -(-task.length * task.entry.size // 64) * 64
        self._tables = TABLE
        self.region = self._tables + 2 * self._lot
        if task.loses_marks:
            self.region += -(-task.length * task.entry.key_size // 64) * 64

    def write(self) -> None:
        """Write the module."""
        f, task, frame = self.f, self.task, self.frame
        cut = in_rows(task.rows, task.length, ELEMENTS)
        reader = self.reader(task.lanes)
        region, lot = frame.number(self.region), frame.number(self._lot)
        tables, one, other = (f.own_local("i32") for _ in range(3))
        result, length = f.own_local("i32"), frame.number(task.length)
        kept = Pointer(f, f.own_local("i32"), task.entry.key_size)
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
            f.set(kept.local)
            locate(reader, block)
            self.begin()
            bits_to = kept if task.loses_marks else None
            self.encode(reader, block, entries, bits_to)
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
            f.set(block.place)
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
                self._restore_marks(one, result, kept, length, tables)
                f.end()

    def _passes(
        self, tables: int, one: int, other: int, length: int, varying: int
    ) -> None:
        """Write the loop over digits.

        Args:
            tables: the local with the address of the tables.
            one: that with the address of the entries, and in the end of sorted ones.
            other: that with room for as many.
            length: that with their number.
            varying: that with the bits in which keys differ.
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
        self, entries: int, result: int, kept: Pointer, length: int, nowhere: int
    ) -> None:
        """Write what gives zeros their signs and NaN their bits, in the row's order.

        Args:
            entries: the local with the address of the sorted entries.
            result: that with the address of the row's results.
            kept: behind the bits of the row's elements.
            length: the local with their number.
            nowhere: that with an address where anything may be written.
        """
        f, task, single = self.f, self.task, self.single
        zero, nan = f.local("i32"), f.local("i32")
        for place, key in ((zero, single.zero()), (nan, single.nan())):
            first_not_below(f, task.entry, entries, length, key, place)
            self.address(place, result, place, task.result_size)
        bits, at = f.local(single.word), Pointer(f, f.local("i32"), kept.size)
        f.get(kept.local)
        f.get(length)
        f.const("i32", kept.size)
        f.ops("i32.mul", "i32.sub")
        f.set(at.local)
        with while_below(f, at.local, kept.local):
            f.get(at.local)
            f.memory(f"{single.word}.load")
            f.set(bits)
            self.restore(bits, zero, nan, nowhere)
            at.move(1)
        for local in (bits, at.local, zero, nan):
            f.free(local)
