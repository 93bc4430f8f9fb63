"""Programs of running totals: sums in blocks, products of floats one after another.

A product of many floats may leave their range on the way, so those are multiplied in
order, as NumPy does. Sums of a long row are made in blocks, each by itself; a second
launch adds the totals of the blocks before.
"""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.wasm.blocks import (
    Block,
    Cut,
    each_block,
    element_address,
    in_blocks,
    in_rows,
    locate,
)
from tensorweb.codegen.wasm.elements import itemsize, load, store, store_neighbours
from tensorweb.codegen.wasm.expressions import flops, is_vectorizable
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import Pointer, along, counted, lanes_for
from tensorweb.codegen.wasm.reader import Reader
from tensorweb.codegen.wasm.running import Running, combining
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.terms import LANES
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.schedule.kernel import Kernel

BLOCK = 1 << 14
"""Elements of a unit, at least."""

MOST_BLOCKS = 128
"""Blocks of a row; each adds up the totals of those before it."""

MANY_ROWS = 32
"""Rows that are enough for all threads without cutting them."""

LONGEST = 1 << 20
"""Elements of the longest row that is one unit: about a millisecond."""

SEGMENT = 1 << 16
"""Elements of a unit of a row that is done in order."""

_SHAPES = {"f32": "f32x4", "f64": "f64x2", "i32": "i32x4", "i64": "i64x2"}


def scan(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of running totals along rows."""
    rows, length = kernel.sizes
    totals = Totals(kernel, target)
    if totals.how.is_in_order:
        return totals.in_order()
    if length <= LONGEST and (rows >= MANY_ROWS or length < 2 * BLOCK):
        return Program((totals.launch(in_rows(rows, length, BLOCK)),))
    return totals.in_blocks(in_blocks(rows, length, BLOCK, MOST_BLOCKS))


class Totals:
    """Writes the launches of one kernel.

    Attributes:
        how: how totals are combined.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        """Take a kernel of running totals."""
        self.kernel = kernel
        self.target = target
        self.term = kernel.expression("term")
        self.how = combining(kernel.op, kernel.dtype)

    def in_order(self) -> Program:
        """Return the program that combines one element after another."""
        rows, length = self.kernel.sizes
        if length <= SEGMENT or (rows > 1 and length <= LONGEST):
            return Program((self.launch(in_rows(rows, length, BLOCK)),))
        blocks = -(-length // SEGMENT)
        launch = self.launch(Cut(rows, length, blocks, SEGMENT), carried=scratch(0))
        return Program((launch,), (rows * self.how.carried_size,))

    def in_blocks(self, cut: Cut) -> Program:
        """Return the program of long rows, whose blocks have totals of their own."""
        totals = scratch(0)
        sizes = [cut.units * self.how.carried_size]
        kept = OUTPUT
        if self.how.dtype != self.kernel.dtype:
            kept = scratch(1)
            sizes.append(cut.rows * cut.length * itemsize(self.how.dtype))
        first = self.launch(cut, kept, totals)
        return Program((first, self._with_totals(cut, kept, totals)), tuple(sizes))

    def launch(
        self,
        cut: Cut,
        result: int = OUTPUT,
        totals: int | None = None,
        carried: int | None = None,
    ) -> Launch:
        """Return the launch that makes running totals of blocks.

        Args:
            cut: of the rows; its units are done in order where `carried` is given.
            result: the storage of the running totals.
            totals: the storage of the totals of blocks, for rows of several.
            carried: a storage for what one unit hands to the next, a row each.
        """
        frame = Frame(self.kernel, self.target)
        f, how = frame.f, self.how
        in_vectors = is_vectorizable(self.term) and not how.is_in_order
        lanes = lanes_for(cut.length, in_vectors)
        dtype = self.kernel.dtype if result == OUTPUT else how.dtype
        pointer = Pointer(f, f.own_local("i32"), itemsize(dtype))
        reader = Reader(frame, self.term, lanes)
        running = Running(how, reader, pointer, dtype)
        storage = frame.storage(result, "w")
        with each_block(frame, cut) as block:
            locate(reader, block)
            element_address(frame, storage, cut, block, pointer.size, pointer.local)
            f.const(how.carried, how.identity)
            f.set(running.carry)
            if carried is not None:
                self._take(frame, carried, block, running.carry)
            running.write(block)
            if totals is not None:
                self._hand_on(frame, totals, block.unit, running.carry)
            elif carried is not None:
                self._hand_on(frame, carried, block.row, running.carry)
        work = (flops(self.term) + 2) * cut.elements // lanes
        note = "four at a time" if lanes > 1 else ""
        return frame.launch(
            "scan", cut.units, per_slice(work), note, is_in_order=carried is not None
        )

    def _take(self, frame: Frame, carried: int, block: Block, carry: int) -> None:
        """Write what takes over the total of the row before a block."""
        f = frame.f
        assert block.number is not None, "internal: a row of several blocks"
        f.get(block.number)
        f.begin("if")
        self._total_address(frame, carried, block.row)
        f.memory(f"{self.how.carried}.load")
        f.set(carry)
        f.end()

    def _total_address(self, frame: Frame, storage: int, number: int) -> None:
        f = frame.f
        f.get(frame.storage(storage, "w"))
        f.get(number)
        f.const("i32", self.how.carried_size)
        f.ops("i32.mul", "i32.add")

    def _hand_on(self, frame: Frame, storage: int, number: int, carry: int) -> None:
        self._total_address(frame, storage, number)
        frame.f.get(carry)
        frame.f.memory(f"{self.how.carried}.store")

    def _with_totals(self, cut: Cut, source: int, totals: int) -> Launch:
        """Return the launch that combines each block with the totals before it."""
        frame = Frame(self.kernel, self.target)
        f, how, dtype = frame.f, self.how, self.kernel.dtype
        count = 16 // itemsize(how.dtype)
        read = Pointer(f, f.own_local("i32"), itemsize(how.dtype))
        written = Pointer(f, f.own_local("i32"), itemsize(dtype))
        from_, to = frame.storage(source, "w"), frame.storage(OUTPUT)
        before, many = f.own_local(how.kind), f.own_local("v128")
        whole, shape = f.own_local("i32"), _SHAPES[how.kind]
        vectors = Translation(frame.writer, f, LANES)
        singles = Translation(frame.writer, f, 1)
        with each_block(frame, cut) as block:
            self._before(frame, totals, cut, block)
            f.tee(before)
            f.op(f"{shape}.splat")
            f.set(many)
            element_address(frame, from_, cut, block, read.size, read.local)
            element_address(frame, to, cut, block, written.size, written.local)
            f.get(block.end)
            f.get(block.end)
            f.get(block.place)
            f.op("i32.sub")
            f.const("i32", count - 1)
            f.ops("i32.and", "i32.sub")
            f.set(whole)
            movers = [read, written]
            with along(f, block.place, whole, count, movers, is_whole=True):
                f.get(written.local)
                f.get(read.local)
                f.memory("v128.load")
                f.get(many)
                f.op(f"{shape}.{how.word}")
                if count == LANES:
                    store_neighbours(vectors, dtype)
                else:
                    f.memory("v128.store")
            f.get(block.place)
            f.get(block.end)
            f.op("i32.lt_u")
            f.begin("if")
            with along(f, block.place, block.end, 1, movers):
                f.get(written.local)
                f.get(read.local)
                load(singles, how.dtype)
                f.get(before)
                f.op(f"{how.kind}.{how.word}")
                store(singles, dtype)
            f.end()
        work = 4 * cut.elements // count
        return frame.launch("scan_add", cut.units, per_slice(work))

    def _before(self, frame: Frame, totals: int, cut: Cut, block: Block) -> None:
        """Write what leaves the totals of the blocks before one, combined."""
        f, how = frame.f, self.how
        assert block.number is not None, "internal: a row of several blocks"
        first, total = f.local("i32"), f.local(how.carried)
        f.const(how.carried, how.identity)
        f.set(total)
        f.get(block.unit)
        f.get(block.number)
        f.op("i32.sub")
        f.set(first)
        with counted(f, first, block.unit) as number:
            f.get(total)
            self._total_address(frame, totals, number)
            f.memory(f"{how.carried}.load")
            f.op(f"{how.carried}.{how.word}")
            f.set(total)
        f.get(total)
        if how.carried != how.kind:
            f.op("f32.demote_f64")
        f.free(first)
        f.free(total)
