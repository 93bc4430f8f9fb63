"""Running totals along rows: sums in vectors and blocks, products of floats in order.

A product of many floats may leave their range on the way, so those are multiplied one
after another, as NumPy does. Sums of a long row are made in blocks, each by itself; a
second launch adds the totals of the blocks before.
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
from tensorweb.codegen.wasm.elements import (
    KINDS,
    itemsize,
    load,
    load_neighbours,
    store,
    store_neighbours,
)
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import Pointer, along, counted, lanes_for
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.reader import Reader, flops, is_vectorizable
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.terms import LANES, VALUE
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

_WIDER = {
    "float16": "float32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
}
"""In what totals are kept, where that is not their own dtype."""

_SHAPES = {"f32": "f32x4", "f64": "f64x2", "i64": "i64x2", "u64": "i64x2"}


def scan(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of running totals along rows."""
    rows, length = kernel.sizes
    totals = Totals(kernel, target)
    if totals.is_in_order:
        return totals.in_order()
    if length <= LONGEST and (rows >= MANY_ROWS or length < 2 * BLOCK):
        return Program((totals.launch(in_rows(rows, length, BLOCK)),))
    return totals.in_blocks(in_blocks(rows, length, BLOCK, MOST_BLOCKS))


class Totals:
    """Writes the launches of one kernel.

    Attributes:
        wide: in what totals are kept.
        kind: of those, as a value of WGSL.
        is_in_order: whether one element is combined after another.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        """Take a kernel of running totals."""
        self.kernel = kernel
        self.target = target
        self.term = kernel.expression("term")
        self.wide = _WIDER.get(kernel.dtype, kernel.dtype)
        self.kind = KINDS[self.wide]
        self.value = VALUE.get(self.kind, self.kind)
        is_product = kernel.op == "cumulative_prod"
        self.word = "mul" if is_product else "add"
        # A sum begins with -0, which changes nothing, not even the sign of zero.
        is_float = self.kind[0] == "f"
        self.identity = 1.0 if is_product else -0.0 if is_float else 0.0
        self.is_in_order = is_product and is_float

    def in_order(self) -> Program:
        """Return the program that combines one element after another."""
        rows, length = self.kernel.sizes
        if length <= SEGMENT or (rows > 1 and length <= LONGEST):
            return Program((self.launch(in_rows(rows, length, BLOCK)),))
        blocks = -(-length // SEGMENT)
        launch = self.launch(Cut(rows, length, blocks, SEGMENT), carried=scratch(0))
        return Program((launch,), (rows * itemsize(self.wide),))

    def in_blocks(self, cut: Cut) -> Program:
        """Return the program of long rows, whose blocks have totals of their own."""
        totals = scratch(0)
        sizes = [cut.rows * cut.blocks * itemsize(self.wide)]
        kept = OUTPUT
        if self.wide != self.kernel.dtype:
            kept = scratch(1)
            sizes.append(cut.rows * cut.length * itemsize(self.wide))
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
        f = frame.f
        is_vectorizable_term = is_vectorizable(self.term) and not self.is_in_order
        lanes = lanes_for(cut.length, is_vectorizable_term)
        reader = Reader(frame, self.term, lanes)
        dtype = self.kernel.dtype if result == OUTPUT else self.wide
        storage = frame.storage(result, "w")
        pointer = Pointer(f, f.local("i32"), itemsize(dtype))
        carry = f.local("v128" if lanes > 1 else self.value)
        with each_block(frame, cut) as block:
            locate(reader, block)
            element_address(frame, storage, cut, block, pointer.size, pointer.local)
            self._begin(f, carry, lanes)
            if carried is not None:
                self._take(frame, carried, block, carry)
            if lanes > 1:
                self._vectors(frame, reader, block, pointer, carry, dtype)
            else:
                self._singles(frame, reader, block, pointer, carry, dtype)
            if totals is not None:
                self._hand_on(frame, totals, block.unit, carry, lanes)
            elif carried is not None:
                self._hand_on(frame, carried, block.row, carry, lanes)
        work = (flops(self.term) + 2) * cut.elements // lanes
        note = "four at a time" if lanes > 1 else ""
        return frame.launch(
            "scan", cut.units, per_slice(work), note, is_in_order=carried is not None
        )

    def _begin(self, f: Function, carry: int, lanes: int) -> None:
        if lanes > 1:
            f.get(self._identity(f))
        else:
            f.const(self.value, self.identity)
        f.set(carry)

    def _identity(self, f: Function) -> int:
        return f.constant("f32x4" if self.kind == "f32" else "i32x4", self.identity)

    def _take(self, frame: Frame, carried: int, block: Block, carry: int) -> None:
        """Write what takes over the total of the row before a block."""
        f = frame.f
        assert block.number is not None, "internal: a row of several blocks"
        f.get(block.number)
        f.begin("if")
        self._total_address(frame, carried, block.row)
        f.memory(f"{self.value}.load")
        f.set(carry)
        f.end()

    def _total_address(self, frame: Frame, storage: int, number: int) -> None:
        f = frame.f
        f.get(frame.storage(storage, "w"))
        f.get(number)
        f.const("i32", itemsize(self.wide))
        f.ops("i32.mul", "i32.add")

    def _hand_on(
        self, frame: Frame, storage: int, number: int, carry: int, lanes: int
    ) -> None:
        f = frame.f
        self._total_address(frame, storage, number)
        f.get(carry)
        if lanes > 1:
            f.memory("v128.store32_lane", 0, 0)
        else:
            f.memory(f"{self.value}.store")

    def _singles(
        self,
        frame: Frame,
        reader: Reader,
        block: Block,
        pointer: Pointer,
        carry: int,
        dtype: str,
    ) -> None:
        """Write the loop that combines one element after another."""
        f = frame.f
        with along(f, block.place, block.end, 1, [reader, pointer]):
            f.get(pointer.local)
            f.get(carry)
            reader.value()
            f.op(f"{self.value}.{self.word}")
            f.tee(carry)
            store(reader.values, dtype)

    def _vectors(
        self,
        frame: Frame,
        reader: Reader,
        block: Block,
        pointer: Pointer,
        carry: int,
        dtype: str,
    ) -> None:
        """Write the loop that makes four running totals at a time.

        The last four may begin among those that are done: these stay as they are.
        """
        f = frame.f
        combine = f"{'f32x4' if self.kind == 'f32' else 'i32x4'}.{self.word}"
        nothing = self._identity(f)
        four, mask = f.local("v128"), f.local("v128")
        expected, done = f.local("i32"), f.local("i32")
        f.get(block.place)
        f.set(expected)
        with along(f, block.place, block.end, LANES, [reader, pointer]):
            reader.value()
            f.set(four)
            f.get(expected)
            f.get(block.place)
            f.op("i32.sub")
            f.tee(done)
            f.begin("if")
            f.get(f.counting())
            f.get(done)
            f.ops("i32x4.splat", "i32x4.ge_s")
            f.set(mask)
            self._chosen(f, four, nothing, mask)
            f.end()
            for shift in (1, 2):
                f.get(four)
                f.get(nothing)
                f.get(four)
                f.shuffle(range(16 - 4 * shift, 32 - 4 * shift))
                f.op(combine)
                f.set(four)
            f.get(four)
            f.get(carry)
            f.op(combine)
            f.get(four)
            f.get(four)
            f.shuffle([12, 13, 14, 15] * 4)
            f.get(carry)
            f.op(combine)
            f.set(carry)
            f.set(four)
            f.get(done)
            f.begin("if")
            old = f.local("v128")
            f.get(pointer.local)
            load_neighbours(reader.values, dtype)
            f.set(old)
            self._chosen(f, four, old, mask)
            f.free(old)
            f.end()
            f.get(pointer.local)
            f.get(four)
            store_neighbours(reader.values, dtype)
            f.get(block.place)
            f.const("i32", LANES)
            f.op("i32.add")
            f.set(expected)

    def _chosen(self, f: Function, four: int, others: int, mask: int) -> None:
        """Write what keeps lanes of a vector where the mask holds."""
        f.get(four)
        f.get(others)
        f.get(mask)
        f.op("v128.bitselect")
        f.set(four)

    def _with_totals(self, cut: Cut, source: int, totals: int) -> Launch:
        """Return the launch that combines each block with the totals before it."""
        frame = Frame(self.kernel, self.target)
        f = frame.f
        dtype = self.kernel.dtype
        count = 16 // itemsize(self.wide)
        read = Pointer(f, f.local("i32"), itemsize(self.wide))
        written = Pointer(f, f.local("i32"), itemsize(dtype))
        from_, to = frame.storage(source, "w"), frame.storage(OUTPUT)
        before, many = f.local(self.value), f.local("v128")
        whole = f.local("i32")
        shape = _SHAPES.get(self.kind, "i32x4")
        vectors = Translation(frame.writer, f, LANES)
        singles = Translation(frame.writer, f, 1)
        with each_block(frame, cut) as block:
            self._before(frame, totals, cut, block, before)
            f.get(before)
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
                f.op(f"{shape}.{self.word}")
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
                load(singles, self.wide)
                f.get(before)
                f.op(f"{self.value}.{self.word}")
                store(singles, dtype)
            f.end()
        work = 4 * cut.elements // count
        return frame.launch("scan_add", cut.units, per_slice(work))

    def _before(
        self, frame: Frame, totals: int, cut: Cut, block: Block, before: int
    ) -> None:
        """Write what combines the totals of the blocks before one."""
        f = frame.f
        assert block.number is not None, "internal: a row of several blocks"
        first = f.local("i32")
        f.const(self.value, self.identity)
        f.set(before)
        f.get(block.row)
        f.get(frame.number(cut.blocks))
        f.op("i32.mul")
        f.set(first)
        with counted(f, first, block.unit) as number:
            f.get(before)
            self._total_address(frame, totals, number)
            f.memory(f"{self.value}.load")
            f.op(f"{self.value}.{self.word}")
            f.set(before)
        f.free(first)
