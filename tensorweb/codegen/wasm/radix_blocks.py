"""Sort long rows in blocks: make entries, pass over them, make results of them."""

from __future__ import annotations

from dataclasses import replace

from tensorweb.codegen.program import OUTPUT, Launch, Program
from tensorweb.codegen.wasm.blocks import (
    Cut,
    each_block,
    element_address,
    in_blocks,
    locate,
)
from tensorweb.codegen.wasm.digits import TABLE, first_not_below
from tensorweb.codegen.wasm.entries import in_fours
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import Pointer, along, while_below
from tensorweb.codegen.wasm.ordering import Launching, Task
from tensorweb.codegen.wasm.radix_passes import (
    ALL,
    ANY,
    BEGINS,
    DIGIT_WORD,
    FACTS,
    FIRST,
    MARKED,
    NANS,
    NOTED,
    ZEROS,
    Counting,
    Moving,
    Passing,
)

ELEMENTS = 1 << 16
"""Elements of a block, at least."""

MOST_BLOCKS = 64
"""Blocks of a row, each of which adds up what all have counted."""


def radix_blocks(task: Task) -> Program:
    """Return the program that sorts long rows."""
    cut = in_blocks(task.rows, task.length, ELEMENTS, MOST_BLOCKS)
    launches = [Encoding(task, cut).launch()]
    pair = Counting(task, cut, 0).launch(), Moving(task, cut, 0).launch()
    for digit in range(task.digits):
        launches += [_with_digit(launch, digit) for launch in pair]
    launches.append(Finishing(task, cut).launch())
    if task.loses_marks:
        launches.append(Restoring(task, cut).launch())
    entries = task.rows * task.length * task.entry.size
    tables = cut.units * TABLE
    return Program(
        tuple(launches), (entries, entries, cut.units * FACTS, tables, tables)
    )


def _with_digit(launch: Launch, digit: int) -> Launch:
    """Return a launch for another digit than the first."""
    words = list(launch.words)
    words[DIGIT_WORD] = digit
    return replace(launch, words=tuple(words))


class Encoding(Launching):
    """Writes the launch that makes entries and notes what they have in common."""

    def __init__(self, task: Task, cut: Cut) -> None:
        """Begin."""
        super().__init__(task, task.lanes, notes_zeros=True)
        self._cut = cut

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame, task = self.f, self.frame, self.task
        reader = self.reader(task.lanes)
        first, noted = f.own_local("i32"), f.own_local("i32")
        entries = Pointer(f, f.own_local("i32"), task.entry.size)
        to = frame.storage(FIRST, "w")
        with each_block(frame, self._cut) as block:
            element_address(frame, to, self._cut, block, entries.size, first)
            f.get(first)
            f.set(entries.local)
            locate(reader, block)
            self.begin()
            self.encode(reader, block, entries)
            self.address(noted, frame.storage(NOTED, "w"), block.unit, FACTS)
            self._note_facts(noted)
            if task.loses_marks:
                self._count_marks(noted, first, entries.local)
        work = self._cut.elements * task.work
        return frame.launch("sort_encode", self._cut.units, per_slice(work))

    def _note_facts(self, noted: int) -> None:
        f, word = self.f, self.single.word
        self.facts()
        for offset in (ALL, ANY):
            value = f.local(word)
            f.set(value)
            f.get(noted)
            f.get(value)
            f.memory(f"{word}.store", offset)
            f.free(value)

    def _count_marks(self, noted: int, first: int, end: int) -> None:
        """Write what counts zeros and NaN among a block's entries."""
        f, entry, single = self.f, self.task.entry, self.single
        f.get(noted)
        self.is_marked()
        f.memory("i32.store", MARKED)
        found = {single.zero(): f.local("i32"), single.nan(): f.local("i32")}
        for total in found.values():
            f.const("i32", 0)
            f.set(total)

        def one(offset: int) -> None:
            for key, total in found.items():
                f.get(total)
                f.get(first)
                f.memory(f"{single.word}.load", offset)
                f.get(key)
                f.op(f"{single.word}.eq")
                f.op("i32.add")
                f.set(total)

        self.is_marked()
        self.has_zeros()
        f.op("i32.or")
        f.begin("if")
        in_fours(f, end, (first,), entry.size, one)
        f.end()
        for total, offset in zip(found.values(), (ZEROS, NANS), strict=True):
            f.get(noted)
            f.get(total)
            f.memory("i32.store", offset)
            f.free(total)


class Finishing(Passing):
    """Writes the launch that makes results of sorted entries."""

    def __init__(self, task: Task, cut: Cut) -> None:
        """Begin."""
        super().__init__(task, cut, task.digits, task.lanes)

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame, task = self.f, self.frame, self.task
        entries = Pointer(f, f.own_local("i32"), task.entry.size)
        results = Pointer(f, f.own_local("i32"), task.result_size)
        storage = frame.storage(OUTPUT)
        with each_block(frame, self.cut) as block:
            self.find(block)
            f.op("drop")
            self.address(entries.local, self.source, block.place, entries.size)
            element_address(
                frame, storage, self.cut, block, results.size, results.local
            )
            self.decode(block, entries, results)
        slices = per_slice(4 * self.cut.elements)
        return frame.launch("sort_finish", self.cut.units, slices)


class Restoring(Passing):
    """Writes the launch that gives zeros their signs and NaN their bits.

    The n-th zero of the sorted row is the n-th of the row, and so are NaN; where a
    block's begin, tell the numbers of both in the blocks before.
    """

    def __init__(self, task: Task, cut: Cut) -> None:
        """Begin."""
        super().__init__(task, cut, task.digits)

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame, task = self.f, self.frame, self.task
        reader = self.reader(1)
        marked, pointer, end = (f.own_local("i32") for _ in range(3))
        zero, nan, result = (f.own_local("i32") for _ in range(3))
        nowhere, bits = f.own_local("i32"), f.own_local(self.single.word)
        own = f.own_local("i32")
        with each_block(frame, self.cut) as block:
            self.find(block)
            f.op("drop")
            for local in (marked, zero, nan):
                f.const("i32", 0)
                f.set(local)
            f.get(self.noted)
            f.set(pointer)
            self.address(end, self.noted, self.blocks, FACTS)
            self.address(own, self.facts_of_blocks, block.unit, FACTS)
            with while_below(f, pointer, end):
                f.get(pointer)
                f.memory("i32.load", MARKED)
                f.get(marked)
                f.op("i32.or")
                f.set(marked)
                f.get(pointer)
                f.get(own)
                f.op("i32.lt_u")
                f.begin("if")
                for local, offset in ((zero, ZEROS), (nan, NANS)):
                    f.get(pointer)
                    f.memory("i32.load", offset)
                    f.get(local)
                    f.op("i32.add")
                    f.set(local)
                f.end()
                Pointer(f, pointer, FACTS).move(1)
            f.get(marked)
            f.begin("if")
            f.get(block.row)
            f.get(self.length)
            f.op("i32.mul")
            f.set(result)
            self.address(result, frame.storage(OUTPUT), result, task.result_size)
            for local, key in ((zero, self.single.zero()), (nan, self.single.nan())):
                first_not_below(f, task.entry, self.source, self.length, key, end)
                f.get(end)
                f.get(local)
                f.op("i32.add")
                f.set(local)
                self.address(local, result, local, task.result_size)
            self.address(nowhere, frame.storage(BEGINS, "w"), block.unit, TABLE)
            locate(reader, block)
            with along(f, block.place, block.end, 1, [reader]):
                self.bits(reader, self.single)
                f.set(bits)
                self.restore(bits, zero, nan, nowhere)
            f.end()
        work = self.cut.elements * (task.work + 8)
        return frame.launch("sort_restore", self.cut.units, per_slice(work))
