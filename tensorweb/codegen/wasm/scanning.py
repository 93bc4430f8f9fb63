"""Write kernels of cumulative sums and products.

Sums of a long row are computed in blocks; a second launch adds the totals of the
preceding blocks. Products of floats are computed one element after another, as in
NumPy, because the product of a block may overflow although the result does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.elements import (
    KINDS,
    SUMS,
    flops,
    is_vectorizable,
    itemsize,
    load,
    load_neighbours,
    store,
    store_neighbours,
)
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import (
    Block,
    Cut,
    Pointer,
    along,
    counted,
    each_block,
    element_address,
    in_blocks,
    in_rows,
    lanes_for,
    locate,
)
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import LANES, VALUE, Translation
from tensorweb.schedule.kernel import Kernel


@dataclass(frozen=True, slots=True)
class CarryRule:
    """How the totals of two blocks are combined.

    Attributes:
        word: the instruction: `add` or `mul`.
        dtype: of the computation, of 32 or 64 bits.
        identity: the identity element.

    >>> carry_rule("cumulative_sum", "float16").carried
    'f64'
    """

    word: str
    dtype: str
    identity: float

    @property
    def kind(self) -> str:
        """The value type of a result."""
        kind = KINDS[self.dtype]
        return VALUE.get(kind, kind)

    @property
    def carried(self) -> str:
        """The value type of a total: float32 is summed in float64."""
        is_sum_of_floats = self.kind == "f32" and self.word == "add"
        return "f64" if is_sum_of_floats else self.kind

    @property
    def is_in_order(self) -> bool:
        """Whether one element must be combined after another."""
        return self.word == "mul" and self.kind[0] == "f"

    @property
    def carried_size(self) -> int:
        """Bytes of a total."""
        return 8 if self.carried[1:] == "64" else 4


def carry_rule(op: str, dtype: str) -> CarryRule:
    """Return how totals of an operation and a dtype are combined.

    A sum starts with -0, the identity even for the sign of zero.
    """
    wide = SUMS.get(dtype, dtype)
    if op == "cumulative_prod":
        return CarryRule("mul", wide, 1.0)
    return CarryRule("add", wide, -0.0 if KINDS[wide][0] == "f" else 0.0)


class ScanLoop:
    """Generates the scan loop over a block.

    Attributes:
        rule: how totals are combined.
        evaluator: evaluator of the terms, set to the first.
        pointer: address of the first result.
        dtype: dtype of the stored results.
        carry: local of the total before the block, and after it in the end.
    """

    def __init__(
        self, rule: CarryRule, evaluator: Evaluator, pointer: Pointer, dtype: str
    ) -> None:
        """Prepare."""
        self.rule = rule
        self.evaluator = evaluator
        self.pointer = pointer
        self.dtype = dtype
        self.carry = self._f.own_local(rule.carried)

    @property
    def _f(self) -> Function:
        return self.evaluator.frame.f

    def write(self, block: Block) -> None:
        """Emit the loop over a block."""
        if self.evaluator.values.is_vector:
            self._vectors(block)
        elif self.rule.kind == "f64" and self.rule.word == "add":
            self._fours(block)
        else:
            self._singles(block)

    def _singles(self, block: Block) -> None:
        """Emit the loop that combines one element after another."""
        f, rule = self._f, self.rule
        with along(f, block.index, block.end, 1, [self.evaluator, self.pointer]):
            f.get(self.pointer.local)
            self.evaluator.value()
            if rule.carried != rule.kind:
                f.op("f64.promote_f32")
            f.tee(self.carry, self.carry, f"{rule.carried}.{rule.word}")
            if rule.carried != rule.kind:
                f.op("f32.demote_f64")
            store(self.evaluator.values, self.dtype)

    def _fours(self, block: Block) -> None:
        """Emit the loop that adds four elements before it uses the last sum."""
        f, rule, evaluator = self._f, self.rule, self.evaluator
        end_of_vectors, sums = (
            f.local("i32"),
            [f.local(rule.kind) for _ in range(LANES)],
        )
        f.set(
            end_of_vectors,
            block.end,
            block.end,
            block.index,
            "i32.sub",
            ("i32", LANES - 1),
            "i32.and",
            "i32.sub",
        )
        with f.block("if", block.index, end_of_vectors, "i32.lt_u"):
            movers = [self.pointer]
            with along(f, block.index, end_of_vectors, LANES, movers, is_whole=True):
                for total in sums:
                    evaluator.value()
                    f.set(total)
                    evaluator.move(1)
                first, second, third, fourth = sums
                for total, other in ((fourth, third), (second, first)):
                    self._added(total, other)
                self._added(third, second)
                self._added(fourth, second)
                for number, total in enumerate(sums):
                    f.emit(self.pointer.local, total, self.carry, f"{rule.kind}.add")
                    if number == LANES - 1:
                        f.tee(self.carry)
                    f.memory(f"{rule.kind}.store", number * itemsize(self.dtype))
        f.free(end_of_vectors, *sums)
        with f.block("if", block.index, block.end, "i32.lt_u"):
            self._singles(block)

    def _added(self, total: int, other: int) -> None:
        f = self._f
        f.set(total, total, other, f"{self.rule.kind}.add")

    def _vectors(self, block: Block) -> None:
        """Emit the loop that computes four totals per iteration.

        The last vector may overlap elements that are done: these are unchanged.
        """
        f, evaluator, pointer = self._f, self.evaluator, self.pointer
        shape = "f32x4" if self.rule.kind == "f32" else "i32x4"
        combine = f"{shape}.{self.rule.word}"
        nothing = f.constant(shape, self.rule.identity)
        four, mask = f.local("v128"), f.local("v128")
        expected, done = f.local("i32"), f.local("i32")
        f.set(expected, block.index)
        with along(f, block.index, block.end, LANES, [evaluator, pointer]):
            evaluator.value()
            f.set(four)
            f.tee(done, expected, block.index, "i32.sub")
            with f.block("if"):
                f.set(mask, f.counting(), done, "i32x4.splat", "i32x4.ge_s")
                self._chosen(four, nothing, mask)
            for shift in (1, 2):
                f.emit(four, nothing, four)
                f.shuffle(range(16 - 4 * shift, 32 - 4 * shift))
                f.set(four, combine)
            self._carried(four, shape)
            with f.block("if", done):
                old = f.local("v128")
                f.get(pointer.local)
                load_neighbours(evaluator.values, self.dtype)
                f.set(old)
                self._chosen(four, old, mask)
                f.free(old)
            f.emit(pointer.local, four)
            store_neighbours(evaluator.values, self.dtype)
            f.set(expected, block.index, ("i32", LANES), "i32.add")

    def _carried(self, four: int, shape: str) -> None:
        """Emit code that combines four totals with the carry and updates the carry."""
        f, rule = self._f, self.rule
        is_wider = rule.carried != rule.kind
        f.emit(four, self.carry)
        if is_wider:
            f.op("f32.demote_f64")
        f.emit(f"{shape}.splat", f"{shape}.{rule.word}", four)
        f.lane(f"{shape}.extract_lane", LANES - 1)
        if is_wider:
            f.op("f64.promote_f32")
        f.set(self.carry, self.carry, f"{rule.carried}.{rule.word}")
        f.set(four)

    def _chosen(self, four: int, others: int, mask: int) -> None:
        """Emit code that selects lanes of a vector by a mask."""
        f = self._f
        f.set(four, four, others, mask, "v128.bitselect")


_SHAPES = {"f32": "f32x4", "f64": "f64x2", "i32": "i32x4", "i64": "i64x2"}


def scan(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a scan along rows."""
    rows, length = kernel.sizes
    totals = ScanLaunches(kernel, target)
    if totals.rule.is_in_order:
        return totals.in_order()
    if length <= policy.LONGEST_SCAN_ROW and (
        rows >= policy.MANY_SCAN_ROWS or length < 2 * policy.SCAN_BLOCK
    ):
        return Program((totals.launch(in_rows(rows, length, policy.SCAN_BLOCK)),))
    return totals.in_blocks(
        in_blocks(rows, length, policy.SCAN_BLOCK, policy.MOST_SCAN_BLOCKS)
    )


class ScanLaunches:
    """Emits the launches of one kernel.

    Attributes:
        rule: how totals are combined.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        """Prepare the launches of a scan."""
        self.kernel = kernel
        self.target = target
        self.term = kernel.expression("term")
        self.rule = carry_rule(kernel.op, kernel.dtype)

    def in_order(self) -> Program:
        """Return the program that combines one element after another."""
        rows, length = self.kernel.sizes
        if length <= policy.ORDERED_SEGMENT or (
            rows > 1 and length <= policy.LONGEST_SCAN_ROW
        ):
            return Program((self.launch(in_rows(rows, length, policy.SCAN_BLOCK)),))
        blocks = -(-length // policy.ORDERED_SEGMENT)
        launch = self.launch(
            Cut(rows, length, blocks, policy.ORDERED_SEGMENT), carried=scratch(0)
        )
        return Program((launch,), (rows * self.rule.carried_size,))

    def in_blocks(self, cut: Cut) -> Program:
        """Return the program of long rows, whose blocks have totals of their own."""
        totals = scratch(0)
        sizes = [cut.units * self.rule.carried_size]
        scanned = OUTPUT
        if self.rule.dtype != self.kernel.dtype:
            scanned = scratch(1)
            sizes.append(cut.rows * cut.length * itemsize(self.rule.dtype))
        first = self.launch(cut, scanned, totals)
        return Program((first, self._with_totals(cut, scanned, totals)), tuple(sizes))

    def launch(
        self,
        cut: Cut,
        result: int = OUTPUT,
        totals: int | None = None,
        carried: int | None = None,
    ) -> Launch:
        """Return the launch that makes running totals of blocks.

        Args:
            cut: of the rows; its units are computed in order if there is a `carried`.
            result: the storage of the running totals.
            totals: the storage of the totals of blocks, for rows of several.
            carried: storage of the totals that a unit passes to the next, one per row.
        """
        frame = Frame(self.kernel, self.target)
        f, rule = frame.f, self.rule
        in_vectors = is_vectorizable(self.term) and not rule.is_in_order
        lanes = lanes_for(cut.length, in_vectors)
        dtype = self.kernel.dtype if result == OUTPUT else rule.dtype
        pointer = Pointer(f, f.own_local("i32"), itemsize(dtype))
        evaluator = Evaluator(frame, self.term, lanes)
        running = ScanLoop(rule, evaluator, pointer, dtype)
        storage = frame.storage(result, "w")
        with each_block(frame, cut) as block:
            locate(evaluator, block)
            element_address(frame, storage, cut, block, pointer.size, pointer.local)
            f.set(running.carry, (rule.carried, rule.identity))
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
        """Emit the load of the row's total before a block."""
        f = frame.f
        assert block.number is not None, "internal: a row of several blocks"
        with f.block("if", block.number):
            self._total_address(frame, carried, block.row)
            f.set(carry, (f"{self.rule.carried}.load", 0))

    def _total_address(self, frame: Frame, storage: int, number: int) -> None:
        f = frame.f
        f.emit(
            frame.storage(storage, "w"),
            number,
            ("i32", self.rule.carried_size),
            "i32.mul",
            "i32.add",
        )

    def _hand_on(self, frame: Frame, storage: int, number: int, carry: int) -> None:
        self._total_address(frame, storage, number)
        frame.f.emit(carry, (f"{self.rule.carried}.store", 0))

    def _with_totals(self, cut: Cut, source: int, totals: int) -> Launch:
        """Return the launch that combines each block with the totals before it."""
        frame = Frame(self.kernel, self.target)
        f, rule, dtype = frame.f, self.rule, self.kernel.dtype
        count = 16 // itemsize(rule.dtype)
        read = Pointer(f, f.own_local("i32"), itemsize(rule.dtype))
        written = Pointer(f, f.own_local("i32"), itemsize(dtype))
        from_, to = frame.storage(source, "w"), frame.storage(OUTPUT)
        before, many = f.own_local(rule.kind), f.own_local("v128")
        end_of_vectors, shape = f.own_local("i32"), _SHAPES[rule.kind]
        vectors = Translation(frame.writer, f, LANES)
        singles = Translation(frame.writer, f, 1)
        with each_block(frame, cut) as block:
            self._before(frame, totals, cut, block)
            f.tee(before)
            f.set(many, f"{shape}.splat")
            element_address(frame, from_, cut, block, read.size, read.local)
            element_address(frame, to, cut, block, written.size, written.local)
            f.set(
                end_of_vectors,
                block.end,
                block.end,
                block.index,
                "i32.sub",
                ("i32", count - 1),
                "i32.and",
                "i32.sub",
            )
            movers = [read, written]
            with along(f, block.index, end_of_vectors, count, movers, is_whole=True):
                f.emit(
                    written.local,
                    read.local,
                    ("v128.load", 0),
                    many,
                    f"{shape}.{rule.word}",
                )
                if count == LANES:
                    store_neighbours(vectors, dtype)
                else:
                    f.memory("v128.store")
            with (
                f.block("if", block.index, block.end, "i32.lt_u"),
                along(f, block.index, block.end, 1, movers),
            ):
                f.emit(written.local, read.local)
                load(singles, rule.dtype)
                f.emit(before, f"{rule.kind}.{rule.word}")
                store(singles, dtype)
        work = 4 * cut.elements // count
        return frame.launch("scan_add", cut.units, per_slice(work))

    def _before(self, frame: Frame, totals: int, cut: Cut, block: Block) -> None:
        """Push the combined total of the preceding blocks."""
        f, rule = frame.f, self.rule
        assert block.number is not None, "internal: a row of several blocks"
        first, total = f.local("i32"), f.local(rule.carried)
        f.set(total, (rule.carried, rule.identity))
        f.set(first, block.unit, block.number, "i32.sub")
        with counted(f, first, block.unit) as number:
            f.get(total)
            self._total_address(frame, totals, number)
            f.set(total, (f"{rule.carried}.load", 0), f"{rule.carried}.{rule.word}")
        f.get(total)
        if rule.carried != rule.kind:
            f.op("f32.demote_f64")
        f.free(first, total)
