"""Sort long rows by radix sort in blocks, each pass a launch of its own.

For each digit, every block counts the digit's values; one unit computes where each
block writes each value; every block moves its entries.
"""

from __future__ import annotations

from dataclasses import replace

from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import (
    Block,
    Cut,
    Pointer,
    along,
    each_block,
    element_address,
    in_blocks,
    locate,
    while_below,
)
from tensorweb.codegen.wasm.radix import DIGITS, TABLE, count, first_not_below, move
from tensorweb.codegen.wasm.sort_keys import SortLaunch, SortTask, in_fours

FACTS = 32
"""Size of the facts of a block, and their offsets: bits set in any key, bits set in all
keys, counts of zeros and of NaN, and whether keys lost bits."""

ANY, ALL, ZEROS, NANS, MARKED = 0, 8, 16, 20, 24

DIGIT_WORD = 1
"""Index of the parameter of a launch that is the index of its digit."""

FIRST, SECOND, NOTED, COUNTS, BEGINS = (scratch(number) for number in range(5))
"""Scratch storages: entries, and their targets; facts of blocks; how often
each digit occurs in each block; where each goes on."""


class DigitPass(SortLaunch):
    """Writes launches over entries, which are in one of two storages.

    Attributes:
        cut: of the rows.
        digit: local of the index of the digit.
        source, target: locals of the address of the block's row in the storage where
            its entries are, and in the other one.
        noted: local of the address of what is noted of the row's first block.
        facts_of_blocks: local of the address of the facts of all blocks.
        length, blocks: locals of the numbers of a row's elements and blocks.
    """

    def __init__(self, task: SortTask, cut: Cut, digit: int, lanes: int = 1) -> None:
        """Prepare."""
        super().__init__(task, lanes)
        f, frame = self.f, self.frame
        self.cut = cut
        self.digit = frame.number(digit)
        self.source, self.target, self.noted = (f.own_local("i32") for _ in range(3))
        self._storages = frame.storage(FIRST, "w"), frame.storage(SECOND, "w")
        self.facts_of_blocks = frame.storage(NOTED)
        self.length, self.blocks = frame.number(cut.length), frame.number(cut.blocks)

    def find(self, block: Block) -> None:
        """Emit the search for a block's row; push whether its digit varies."""
        f, word = self.f, self.single.word
        varying, every = f.local(word), f.local(word)
        pointer, end = f.local("i32"), f.local("i32")
        self._first_unit(block, self.noted)
        self.address(self.noted, self.facts_of_blocks, self.noted, FACTS)
        self.address(end, self.noted, self.blocks, FACTS)
        for local, start in ((varying, 0), (every, -1)):
            f.set(local, (word, start))
        f.set(pointer, self.noted)
        with while_below(f, pointer, end):
            for local, offset, name in ((varying, ANY, "or"), (every, ALL, "and")):
                f.set(local, pointer, (f"{word}.load", offset), local, f"{word}.{name}")
            Pointer(f, pointer, FACTS).move(1)
        f.set(varying, varying, every, f"{word}.xor")
        self._find_storages(block, varying)
        f.get(varying)
        self._lowest_digit()
        f.free(varying, every, pointer, end)

    def _first_unit(self, block: Block, result: int) -> None:
        """Emit the number of the unit of a row's first block into a local."""
        assert block.number is not None, "internal: a row of several blocks"
        self.f.set(result, block.unit, block.number, "i32.sub")

    def _lowest_digit(self) -> None:
        """Push whether the lowest digit of a word on the stack is not 0."""
        f, word = self.f, self.single.word
        f.emit((word, DIGITS - 1), f"{word}.and", (word, 0), f"{word}.ne")

    def _find_storages(self, block: Block, varying: int) -> None:
        """Emit the choice of the storages that have a row's entries.

        Args:
            block: of the row.
            varying: local of the bits that vary; bits of earlier digits
                are shifted out.
        """
        f, word = self.f, self.single.word
        number, side = f.local("i32"), f.local("i32")
        f.tee(number, ("i32", 0))
        f.set(side)
        with while_below(f, number, self.digit):
            f.get(varying)
            self._lowest_digit()
            f.set(side, side, "i32.xor")
            f.set(varying, varying, (word, 8), f"{word}.shr_u")
            f.set(number, number, ("i32", 1), "i32.add")
        f.set(number, block.row, self.length, "i32.mul")
        first, second = self._storages
        for local, pair in (
            (self.source, (second, first)),
            (self.target, (first, second)),
        ):
            for storage in pair:
                f.get(storage)
            f.set(local, side, "select")
            self.address(local, local, number, self.task.entry.size)
        f.free(number, side)

    def ends(self, block: Block, first: int, end: int) -> None:
        """Emit the addresses of a block's entries into locals."""
        size = self.task.entry.size
        self.address(first, self.source, block.index, size)
        self.address(end, self.source, block.end, size)


class CountLaunch(DigitPass):
    """Emits the launch that counts how often each digit occurs in a block."""

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame = self.f, self.frame
        first, end, table = (f.own_local("i32") for _ in range(3))
        with each_block(frame, self.cut) as block:
            self.find(block)
            with f.block("if"):
                self.ends(block, first, end)
                for local in (first, end):
                    f.set(local, local, self.digit, "i32.add")
                self.address(table, frame.storage(COUNTS, "w"), block.unit, TABLE)
                count(f, self.task.entry, first, end, table)
        slices = per_slice(4 * self.cut.elements)
        return frame.launch("sort_count", self.cut.units, slices)


class MoveLaunch(DigitPass):
    """Emits the launch that moves a block's entries behind those of earlier blocks."""

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame = self.f, self.frame
        first, end, table = (f.own_local("i32") for _ in range(3))
        with each_block(frame, self.cut) as block:
            self.find(block)
            with f.block("if"):
                self.address(table, frame.storage(BEGINS, "w"), block.unit, TABLE)
                self._begins(block, table)
                self.ends(block, first, end)
                move(f, self.task.entry, first, end, self.digit, table)
        slices = per_slice(8 * self.cut.elements)
        return frame.launch("sort_move", self.cut.units, slices)

    def _begins(self, block: Block, table: int) -> None:
        """Emit the target address of a block's entries, by digit.

        Those of smaller digits go before them, in whatever block, and those of the same
        digit in the blocks before. Four digits are done at a time.
        """
        f = self.f
        counts, own, behind, at = (f.local("i32") for _ in range(4))
        before, total, carry = (f.local("v128") for _ in range(3))
        assert block.number is not None, "internal: a row of several blocks"
        self._first_unit(block, counts)
        self.address(counts, self.frame.storage(COUNTS), counts, TABLE)
        self.address(behind, counts, self.blocks, TABLE)
        f.set(own, counts, block.number, ("i32", TABLE), "i32.mul", "i32.add")
        f.set(carry, ("i32", 0), "i32x4.splat")
        f.set(at, ("i32", 0))
        with f.block("loop"):
            f.set(total, ("i32", 0), "i32x4.splat")
            pointer = f.local("i32")
            f.set(pointer, counts)
            for end in (own, behind):
                with while_below(f, pointer, end):
                    f.set(
                        total,
                        pointer,
                        at,
                        "i32.add",
                        ("v128.load", 0),
                        total,
                        "i32x4.add",
                    )
                    Pointer(f, pointer, TABLE).move(1)
                if end == own:
                    f.set(before, total)
            f.free(pointer)
            f.emit(table, at, "i32.add")
            self._exclusive(total, carry)
            f.tee(
                at,
                before,
                "i32x4.add",
                ("i32", self.task.entry.size.bit_length() - 1),
                "i32x4.shl",
                self.target,
                "i32x4.splat",
                "i32x4.add",
                ("v128.store", 0),
                at,
                ("i32", 16),
                "i32.add",
            )
            f.br_if(0, ("i32", TABLE), "i32.ne")
        f.free(counts, own, behind, at, before, total, carry)

    def _exclusive(self, total: int, carry: int) -> None:
        """Push the exclusive prefix sums of four numbers.

        Args:
            total: local of the numbers.
            carry: local of the sum before all four, which is advanced.
        """
        f = self.f
        running, nothing = f.local("v128"), f.constant("i32x4", 0)
        f.set(running, total)
        for shift in (1, 2):
            f.emit(running, nothing, running)
            f.shuffle(range(16 - 4 * shift, 32 - 4 * shift))
            f.set(running, "i32x4.add")
        f.emit(running, total, "i32x4.sub", carry, "i32x4.add", running, running)
        f.shuffle([12, 13, 14, 15] * 4)
        f.set(carry, carry, "i32x4.add")
        f.free(running)


def radix_blocks(task: SortTask) -> Program:
    """Return the program that sorts long rows."""
    cut = in_blocks(task.rows, task.length, policy.SORT_BLOCK, policy.MOST_SORT_BLOCKS)
    launches = [EncodeLaunch(task, cut).launch()]
    pair = CountLaunch(task, cut, 0).launch(), MoveLaunch(task, cut, 0).launch()
    for digit in range(task.digits):
        launches += [_with_digit(launch, digit) for launch in pair]
    launches.append(DecodeLaunch(task, cut).launch())
    if task.loses_marks:
        launches.append(RestoreLaunch(task, cut).launch())
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


class EncodeLaunch(SortLaunch):
    """Emits the launch that makes entries and records facts about them."""

    def __init__(self, task: SortTask, cut: Cut) -> None:
        """Prepare."""
        super().__init__(task, task.lanes, notes_zeros=True)
        self._cut = cut

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame, task = self.f, self.frame, self.task
        evaluator = self.evaluator(task.lanes)
        first, noted = f.own_local("i32"), f.own_local("i32")
        entries = Pointer(f, f.own_local("i32"), task.entry.size)
        to = frame.storage(FIRST, "w")
        with each_block(frame, self._cut) as block:
            element_address(frame, to, self._cut, block, entries.size, first)
            f.set(entries.local, first)
            locate(evaluator, block)
            self.begin()
            self.encode(evaluator, block, entries)
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
            f.emit(noted, value, (f"{word}.store", offset))
            f.free(value)

    def _count_marks(self, noted: int, first: int, end: int) -> None:
        """Emit the counts of zeros and NaN among a block's entries."""
        f, entry, single = self.f, self.task.entry, self.single
        f.get(noted)
        self.is_marked()
        f.memory("i32.store", MARKED)
        totals = {single.zero(): f.local("i32"), single.nan(): f.local("i32")}
        for total in totals.values():
            f.set(total, ("i32", 0))

        def one(offset: int) -> None:
            for key, total in totals.items():
                f.set(
                    total,
                    total,
                    first,
                    (f"{single.word}.load", offset),
                    key,
                    f"{single.word}.eq",
                    "i32.add",
                )

        self.is_marked()
        self.has_zeros()
        with f.block("if", "i32.or"):
            in_fours(f, end, (first,), entry.size, one)
        for total, offset in zip(totals.values(), (ZEROS, NANS), strict=True):
            f.emit(noted, total, ("i32.store", offset))
            f.free(total)


class DecodeLaunch(DigitPass):
    """Emits the launch that makes results of sorted entries."""

    def __init__(self, task: SortTask, cut: Cut) -> None:
        """Prepare."""
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
            self.address(entries.local, self.source, block.index, entries.size)
            element_address(
                frame, storage, self.cut, block, results.size, results.local
            )
            self.decode(block, entries, results)
        slices = per_slice(4 * self.cut.elements)
        return frame.launch("sort_finish", self.cut.units, slices)


class RestoreLaunch(DigitPass):
    """Emits the launch that gives zeros their signs and NaN their bits.

    The n-th zero of the sorted row is the n-th of the row, and so are NaN; where a
    block's begin, tell the numbers of both in the blocks before.
    """

    def __init__(self, task: SortTask, cut: Cut) -> None:
        """Prepare."""
        super().__init__(task, cut, task.digits)

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame, task = self.f, self.frame, self.task
        evaluator = self.evaluator(1)
        marked, pointer, end = (f.own_local("i32") for _ in range(3))
        zero, nan, result = (f.own_local("i32") for _ in range(3))
        nowhere, bits = f.own_local("i32"), f.own_local(self.single.word)
        own = f.own_local("i32")
        with each_block(frame, self.cut) as block:
            self.find(block)
            f.op("drop")
            for local in (marked, zero, nan):
                f.set(local, ("i32", 0))
            f.set(pointer, self.noted)
            self.address(end, self.noted, self.blocks, FACTS)
            self.address(own, self.facts_of_blocks, block.unit, FACTS)
            with while_below(f, pointer, end):
                f.set(marked, pointer, ("i32.load", MARKED), marked, "i32.or")
                with f.block("if", pointer, own, "i32.lt_u"):
                    for local, offset in ((zero, ZEROS), (nan, NANS)):
                        f.set(local, pointer, ("i32.load", offset), local, "i32.add")
                Pointer(f, pointer, FACTS).move(1)
            with f.block("if", marked):
                f.set(result, block.row, self.length, "i32.mul")
                self.address(result, frame.storage(OUTPUT), result, task.result_size)
                for local, key in (
                    (zero, self.single.zero()),
                    (nan, self.single.nan()),
                ):
                    first_not_below(f, task.entry, self.source, self.length, key, end)
                    f.set(local, end, local, "i32.add")
                    self.address(local, result, local, task.result_size)
                self.address(nowhere, frame.storage(BEGINS, "w"), block.unit, TABLE)
                locate(evaluator, block)
                with along(f, block.index, block.end, 1, [evaluator]):
                    self.bits(evaluator, self.single)
                    f.set(bits)
                    self.restore(bits, zero, nan, nowhere)
        work = self.cut.elements * (task.work + 8)
        return frame.launch("sort_restore", self.cut.units, per_slice(work))
