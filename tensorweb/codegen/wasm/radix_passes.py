"""Passes over the entries of long rows: count a digit in each block, and move by it.

A block moves its entries to where those of the blocks before it end, so that the result
is the same however the blocks are spread over threads. A digit that is the same in the
whole row moves nothing: what the blocks noted of their keys tells each launch in which
of two storages the entries are.
"""

from __future__ import annotations

from tensorweb.codegen.program import Launch, scratch
from tensorweb.codegen.wasm.blocks import Block, Cut, each_block
from tensorweb.codegen.wasm.digits import DIGITS, TABLE, count, move
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import Pointer, while_below
from tensorweb.codegen.wasm.ordering import Launching, Task

FACTS = 32
"""Bytes of what is noted of a block, at these offsets: bits that any key has, bits that
all keys have, how many zeros and how many NaN there are, whether bits were lost."""

ANY, ALL, ZEROS, NANS, MARKED = 0, 8, 16, 20, 24

DIGIT_WORD = 1
"""Which parameter of a launch over entries is the number of its digit."""

FIRST, SECOND, NOTED, COUNTS, BEGINS = (scratch(number) for number in range(5))
"""Scratch storages: entries, and where they move to; what is noted of blocks; how often
each digit occurs in each block; where each goes on."""


class Passing(Launching):
    """Writes launches over entries, which are in one of two storages.

    Attributes:
        cut: of the rows.
        digit: the local with the number of the digit, of as many as rows are sorted by.
        source, target: locals with the address of the block's row in the storage where
            its entries are, and in the other one.
        noted: the local with the address of what is noted of the row's first block.
        facts_of_blocks: that with the address of what is noted of all.
        length, blocks: locals with the numbers of a row's elements and blocks.
    """

    def __init__(self, task: Task, cut: Cut, digit: int, lanes: int = 1) -> None:
        """Begin."""
        super().__init__(task, lanes)
        f, frame = self.f, self.frame
        self.cut = cut
        self.digit = frame.number(digit)
        self.source, self.target, self.noted = (f.own_local("i32") for _ in range(3))
        self._storages = frame.storage(FIRST, "w"), frame.storage(SECOND, "w")
        self.facts_of_blocks = frame.storage(NOTED)
        self.length, self.blocks = frame.number(cut.length), frame.number(cut.blocks)

    def find(self, block: Block) -> None:
        """Write what finds a block's row, and leaves whether its digit varies."""
        f, word = self.f, self.single.word
        varying, every = f.local(word), f.local(word)
        pointer, end = f.local("i32"), f.local("i32")
        self._first_unit(block, self.noted)
        self.address(self.noted, self.facts_of_blocks, self.noted, FACTS)
        self.address(end, self.noted, self.blocks, FACTS)
        for local, start in ((varying, 0), (every, -1)):
            f.const(word, start)
            f.set(local)
        f.get(self.noted)
        f.set(pointer)
        with while_below(f, pointer, end):
            for local, offset, name in ((varying, ANY, "or"), (every, ALL, "and")):
                f.get(pointer)
                f.memory(f"{word}.load", offset)
                f.get(local)
                f.op(f"{word}.{name}")
                f.set(local)
            Pointer(f, pointer, FACTS).move(1)
        f.get(varying)
        f.get(every)
        f.op(f"{word}.xor")
        f.set(varying)
        self._find_storages(block, varying)
        f.get(varying)
        self._lowest_digit()
        for local in (varying, every, pointer, end):
            f.free(local)

    def _first_unit(self, block: Block, result: int) -> None:
        """Write the number of the unit of a row's first block into a local."""
        assert block.number is not None, "internal: a row of several blocks"
        self.f.get(block.unit)
        self.f.get(block.number)
        self.f.op("i32.sub")
        self.f.set(result)

    def _lowest_digit(self) -> None:
        """Write whether the lowest digit of a word on the stack is not 0."""
        f, word = self.f, self.single.word
        f.const(word, DIGITS - 1)
        f.op(f"{word}.and")
        f.const(word, 0)
        f.op(f"{word}.ne")

    def _find_storages(self, block: Block, varying: int) -> None:
        """Write what finds where a row's entries are.

        Args:
            block: of the row.
            varying: the local with the bits that vary; those of the digits before
                leave it.
        """
        f, word = self.f, self.single.word
        number, side = f.local("i32"), f.local("i32")
        f.const("i32", 0)
        f.tee(number)
        f.set(side)
        with while_below(f, number, self.digit):
            f.get(varying)
            self._lowest_digit()
            f.get(side)
            f.op("i32.xor")
            f.set(side)
            f.get(varying)
            f.const(word, 8)
            f.op(f"{word}.shr_u")
            f.set(varying)
            f.get(number)
            f.const("i32", 1)
            f.op("i32.add")
            f.set(number)
        f.get(block.row)
        f.get(self.length)
        f.op("i32.mul")
        f.set(number)
        first, second = self._storages
        for local, pair in (
            (self.source, (second, first)),
            (self.target, (first, second)),
        ):
            for storage in pair:
                f.get(storage)
            f.get(side)
            f.op("select")
            f.set(local)
            self.address(local, local, number, self.task.entry.size)
        f.free(number)
        f.free(side)

    def ends(self, block: Block, first: int, end: int) -> None:
        """Write the addresses of a block's entries into locals."""
        size = self.task.entry.size
        self.address(first, self.source, block.place, size)
        self.address(end, self.source, block.end, size)


class Counting(Passing):
    """Writes the launch that counts how often each digit occurs in a block."""

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame = self.f, self.frame
        first, end, table = (f.own_local("i32") for _ in range(3))
        with each_block(frame, self.cut) as block:
            self.find(block)
            f.begin("if")
            self.ends(block, first, end)
            for local in (first, end):
                f.get(local)
                f.get(self.digit)
                f.op("i32.add")
                f.set(local)
            self.address(table, frame.storage(COUNTS, "w"), block.unit, TABLE)
            count(f, self.task.entry, first, end, table)
            f.end()
        slices = per_slice(4 * self.cut.elements)
        return frame.launch("sort_count", self.cut.units, slices)


class Moving(Passing):
    """Writes the launch that moves a block's entries to where those before it end."""

    def launch(self) -> Launch:
        """Return the launch."""
        f, frame = self.f, self.frame
        first, end, table = (f.own_local("i32") for _ in range(3))
        with each_block(frame, self.cut) as block:
            self.find(block)
            f.begin("if")
            self.address(table, frame.storage(BEGINS, "w"), block.unit, TABLE)
            self._begins(block, table)
            self.ends(block, first, end)
            move(f, self.task.entry, first, end, self.digit, table)
            f.end()
        slices = per_slice(8 * self.cut.elements)
        return frame.launch("sort_move", self.cut.units, slices)

    def _begins(self, block: Block, table: int) -> None:
        """Write what finds where a block's entries of each digit go.

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
        f.get(counts)
        f.get(block.number)
        f.const("i32", TABLE)
        f.ops("i32.mul", "i32.add")
        f.set(own)
        f.const("i32", 0)
        f.op("i32x4.splat")
        f.set(carry)
        f.const("i32", 0)
        f.set(at)
        f.begin("loop")
        f.const("i32", 0)
        f.op("i32x4.splat")
        f.set(total)
        pointer = f.local("i32")
        f.get(counts)
        f.set(pointer)
        for end in (own, behind):
            with while_below(f, pointer, end):
                f.get(pointer)
                f.get(at)
                f.op("i32.add")
                f.memory("v128.load")
                f.get(total)
                f.op("i32x4.add")
                f.set(total)
                Pointer(f, pointer, TABLE).move(1)
            if end == own:
                f.get(total)
                f.set(before)
        f.free(pointer)
        f.get(table)
        f.get(at)
        f.op("i32.add")
        self._exclusive(total, carry)
        f.get(before)
        f.op("i32x4.add")
        f.const("i32", self.task.entry.size.bit_length() - 1)
        f.op("i32x4.shl")
        f.get(self.target)
        f.ops("i32x4.splat", "i32x4.add")
        f.memory("v128.store")
        f.get(at)
        f.const("i32", 16)
        f.op("i32.add")
        f.tee(at)
        f.const("i32", TABLE)
        f.op("i32.ne")
        f.br_if(0)
        f.end()
        for local in (counts, own, behind, at, before, total, carry):
            f.free(local)

    def _exclusive(self, total: int, carry: int) -> None:
        """Write what leaves what comes before each of four numbers.

        Args:
            total: the local with the numbers.
            carry: that with what comes before all four, which grows by them.
        """
        f = self.f
        running, nothing = f.local("v128"), f.constant("i32x4", 0)
        f.get(total)
        f.set(running)
        for shift in (1, 2):
            f.get(running)
            f.get(nothing)
            f.get(running)
            f.shuffle(range(16 - 4 * shift, 32 - 4 * shift))
            f.op("i32x4.add")
            f.set(running)
        f.get(running)
        f.get(total)
        f.op("i32x4.sub")
        f.get(carry)
        f.op("i32x4.add")
        f.get(running)
        f.get(running)
        f.shuffle([12, 13, 14, 15] * 4)
        f.get(carry)
        f.op("i32x4.add")
        f.set(carry)
        f.free(running)
