"""Write kernels that reduce axes: one launch, or several when the work has parts.

If the terms of an output are contiguous, outputs are reduced one after another
(`RowReduction`); if neighbouring outputs are contiguous, several are reduced together
(`ColumnReduction`). Another launch combines the partial results of the parts (records),
and may have parts again. Parts depend on sizes alone, so results do not depend on
threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod

from tensorweb.codegen.program import Launch, Program
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.axis_reduction import (
    AxisReduction,
    Block,
    Combiner,
    total_of,
    walk,
)
from tensorweb.codegen.wasm.elements import flops, itemsize
from tensorweb.codegen.wasm.elementwise import map_launch
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loop_order import (
    Finish,
    LoopOrder,
    Records,
    Store,
    finish_of_records,
    loop_order_of,
    of_records,
    reading_records,
    record_dtype,
)
from tensorweb.codegen.wasm.loops import counted, portion, spans, units
from tensorweb.codegen.wasm.module import smaller
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.schedule.kernel import Kernel


class Partition:
    """The parts of a launch: each goes through some of the terms of all outputs.

    Attributes:
        units: number of units, one per block of outputs and part.
        part: local of the number of a part, None if there is only one.
        counts: locals of the number of indices along each reduced axis.
        starts: locals of the first index along each axis, None if it is 0.
    """

    def __init__(self, frame: Frame, order: LoopOrder, blocks: int) -> None:
        """Share out `blocks` blocks of outputs."""
        self._frame = frame
        self._order = order
        self.units = blocks * order.parts
        self.part: int | None = None
        self.starts: list[int | None] = [None for _ in order.reduced]
        self.counts = [frame.number(size) for size in order.reduced]
        if order.parts > 1:
            f = frame.f
            self._axis = order.axis
            self._blocks = frame.number(blocks)
            self._chunk = frame.number(order.chunk)
            self._length = self.counts[self._axis]
            self._start, self.part = f.local("i32"), f.local("i32")
            self.counts[self._axis] = f.local("i32")
            self.starts[self._axis] = self._start

    def find(self, unit: int) -> int:
        """Write which part a unit does; return the local with its block of outputs."""
        if self.part is None:
            return unit
        f, count = self._frame.f, self.counts[self._axis]
        block = f.local("i32")
        f.set(self.part, unit, self._blocks, "i32.div_u")
        f.set(block, unit, self.part, self._blocks, "i32.mul", "i32.sub")
        f.set(self._start, self.part, self._chunk, "i32.mul")
        f.set(count, self._length, self._start, "i32.sub")
        smaller(f, count, self._chunk)
        f.set(count)
        return block


def result_of(frame: Frame, order: LoopOrder, lanes: int, part: int | None) -> Store:
    """Return the store of the results of a part, one per lane."""
    if order.makes_records:
        return Records(frame, order.term.dtype, lanes, part, order.scratch)
    return Finish(frame, lanes)


class _TermsLaunch(ABC):
    """Writes a launch that goes through the terms of outputs.

    Attributes:
        order: the order of the loops.
        frame: frame of the launch.
        evaluator: of the terms.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget, order: LoopOrder) -> None:
        """Prepare."""
        self.order = order
        self.frame = Frame(kernel, target)
        self.evaluator = Evaluator(self.frame, order.term, order.lanes)

    @abstractmethod
    def results(self, part: int | None) -> list[Store]:
        """Return where results go; see `result_of`."""


class RowLaunch(_TermsLaunch):
    """Writes a launch that goes through the terms of one output after another."""

    @abstractmethod
    def reduce(self, outer: list[int], partition: Partition) -> None:
        """Emit the reduction of the output at some coordinates."""

    @abstractmethod
    def leave(self, result: int) -> None:
        """Push the value of one of the results on the stack."""

    def launch(self) -> Launch:
        """Return the launch."""
        frame, order = self.frame, self.order
        f = frame.f
        per_unit = max(policy.UNIT_ELEMENTS // max(order.length, 1), 1)
        partition = Partition(frame, order, -(-order.outputs // per_unit))
        results = self.results(partition.part)
        outputs, together = frame.number(order.outputs), frame.number(per_unit)
        with units(frame) as unit:
            block = partition.find(unit)
            with (
                portion(f, block, together, outputs) as (first, end),
                counted(f, first, end) as output,
            ):
                self.reduce(self.evaluator.split(0, output), partition)
                for number, result in enumerate(results):
                    result.locate(output)
                    self.leave(number)
                    result.put()
        work = per_unit * order.part_length * flops(order.term) // order.lanes
        note = "four at a time" if order.lanes > 1 else ""
        kind = frame.kernel.kind
        return frame.launch(kind, partition.units, per_slice(work), note)


class RowReduction(RowLaunch):
    """Combines the terms of each output."""

    def __init__(self, kernel: Kernel, target: WasmTarget, order: LoopOrder) -> None:
        """Prepare."""
        super().__init__(kernel, target, order)
        self._inner = order.part_sizes[-1]
        self._reduction = AxisReduction(self.evaluator, kernel.op, self._inner)

    def results(self, part: int | None) -> list[Store]:
        """Return where totals go."""
        return [result_of(self.frame, self.order, 1, part)]

    def leave(self, result: int) -> None:
        """Push the total on the stack."""
        self._reduction.total.leave()

    def reduce(self, outer: list[int], partition: Partition) -> None:
        """Emit the reduction of one output's terms."""
        f, evaluator, reduction = (
            self.frame.f,
            self.evaluator,
            self._reduction,
        )
        reduction.start()
        if not self.order.length:
            return
        evaluator.locate_addresses([outer, partition.starts])
        left = f.local("i32")

        def row() -> None:
            evaluator.arrive()
            f.set(left, partition.counts[-1])
            reduction.run(left)

        outer = partition.counts[:-1]
        walk(evaluator, 1, outer, row, body_moves=True, block=self._block())
        reduction.flush()
        f.free(left)

    def _block(self) -> Block | None:
        """Return the number of rows after which sums are added to the total."""
        axis = len(self.order.reduced) - 2
        reduction, length = self._reduction, self.order.part_length
        if axis < 0 or not reduction.adds_floats or length <= reduction.block:
            return None
        return axis, max(reduction.block // self._inner, 1), reduction.flush


class ColumnLaunch(_TermsLaunch):
    """Writes a launch that goes through terms of neighbouring outputs."""

    def __init__(self, kernel: Kernel, target: WasmTarget, order: LoopOrder) -> None:
        """Prepare."""
        super().__init__(kernel, target, order)
        self._span = order.lanes * order.vectors

    @abstractmethod
    def reduce(self, partition: Partition) -> None:
        """Emit the reduction from where the evaluator was placed."""

    @abstractmethod
    def leave(self, result: int, vector: int) -> None:
        """Push the values of a vector of one of the results on the stack."""

    def launch(self) -> Launch:
        """Return the launch."""
        frame, order = self.frame, self.order
        rows = order.outputs // order.columns
        width = max(policy.WIDEST // self._span, 1) * self._span
        across = -(-order.columns // width)
        work = min(order.columns, width) * order.part_length
        per_unit = max(policy.UNIT_ELEMENTS // work, 1) if across == 1 else 1
        partition = Partition(frame, order, across * -(-rows // per_unit))
        results = self.results(partition.part)
        with units(frame) as unit:
            block = partition.find(unit)
            self._block(block, (rows, per_unit), (across, width), partition, results)
        work *= per_unit * flops(order.term)
        note = "columns, four at a time" if order.lanes > 1 else "columns"
        slices = per_slice(work // order.lanes)
        return frame.launch(frame.kernel.kind, partition.units, slices, note)

    def _block(
        self,
        block: int,
        down: tuple[int, int],
        across: tuple[int, int],
        partition: Partition,
        results: list[Store],
    ) -> None:
        """Emit the body of a unit.

        Args:
            block: local of the index of its block of outputs.
            down: rows of outputs, in all and per unit.
            across: units of a row, and outputs of each.
            partition: the parts.
            results: where results go.
        """
        frame, order = self.frame, self.order
        f = frame.f
        columns, rows = frame.number(order.columns), frame.number(down[0])
        row_block, part = block, f.local("i32")
        f.set(part, ("i32", 0))
        if across[0] > 1:
            row_block, count = f.local("i32"), frame.number(across[0])
            f.set(row_block, block, count, "i32.div_u")
            f.set(part, block, row_block, count, "i32.mul", "i32.sub")
        with (
            portion(f, row_block, frame.number(down[1]), rows) as (first, end),
            counted(f, first, end) as row,
            portion(f, part, frame.number(across[1]), columns) as (left, right),
            spans(f, left, right, self._span, columns) as column,
        ):
            axes = len(order.term.groups[1])
            outer = self.evaluator.split(1, row, axes - 1) if axes > 1 else []
            self.evaluator.locate_addresses([partition.starts, [*outer, column]])
            self.reduce(partition)
            output = f.local("i32")
            f.set(output, row, columns, "i32.mul", column, "i32.add")
            for number, result in enumerate(results):
                result.locate(output)
                for vector in range(order.vectors):
                    if vector:
                        result.move()
                    self.leave(number, vector)
                    result.put()


class ColumnReduction(ColumnLaunch):
    """Combines the terms of neighbouring outputs."""

    def __init__(self, kernel: Kernel, target: WasmTarget, order: LoopOrder) -> None:
        """Prepare."""
        super().__init__(kernel, target, order)
        self._combiner = Combiner(self.evaluator.values, kernel.op, order.term.dtype)
        self._accumulators = [self._combiner.new() for _ in range(order.vectors)]
        self._totals = [total_of(self._combiner) for _ in self._accumulators]

    def results(self, part: int | None) -> list[Store]:
        """Return where totals go."""
        return [result_of(self.frame, self.order, self.order.lanes, part)]

    def leave(self, result: int, vector: int) -> None:
        """Push the totals of a vector on the stack."""
        self._totals[vector].leave()

    def reduce(self, partition: Partition) -> None:
        """Emit the reduction of neighbouring outputs."""
        evaluator = self.evaluator
        for total in self._totals:
            total.start()
        self._begin()

        def terms() -> None:
            evaluator.arrive()
            for number, accumulator in enumerate(self._accumulators):
                evaluator.ahead = number * self.order.lanes
                evaluator.value()
                self._combiner.take(accumulator)
            evaluator.ahead = 0

        block = self._flushing()
        walk(evaluator, 0, partition.counts, terms, body_moves=False, block=block)
        self._flush(goes_on=False)

    def _begin(self) -> None:
        for accumulator in self._accumulators:
            self._combiner.start(accumulator)

    def _flush(self, goes_on: bool = True) -> None:
        """Emit the additions of accumulators to the totals."""
        for accumulator, total in zip(self._accumulators, self._totals, strict=True):
            self._combiner.leave(accumulator)
            total.add()
        if goes_on:
            self._begin()

    def _flushing(self) -> Block | None:
        """Return the number of terms after which sums are added to the totals."""
        sizes, run = self.order.part_sizes, self.order.run
        if not self._combiner.adds_floats or prod(sizes) <= run:
            return None
        axis = len(sizes) - 1
        while axis and prod(sizes[axis:]) < policy.SHORTEST_RUN:
            axis -= 1
        return axis, max(run // prod(sizes[axis + 1 :]), 1), self._flush


def reduce(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a reduction."""
    launches: list[Launch] = []
    scratch_bytes: list[int] = []
    order = loop_order_of(kernel)
    launches.append(_launch(kernel, target, order))
    while order.makes_records:
        record = itemsize(record_dtype(order.term.dtype))
        scratch_bytes.append(order.outputs * order.parts * record)
        before, number, parts = kernel, order.scratch, order.parts
        if parts == 1:
            value = finish_of_records(kernel)
            launch = map_launch(kernel, target, value, "finish", order.outputs)
            launches.append(reading_records(before, launch, number))
            break
        kernel = of_records(kernel, parts)
        order = loop_order_of(kernel, number + 1)
        launch = _launch(kernel, target, order)
        launches.append(reading_records(before, launch, number))
    return Program(tuple(launches), tuple(scratch_bytes))


def _launch(kernel: Kernel, target: WasmTarget, order: LoopOrder) -> Launch:
    writer = ColumnReduction if order.is_by_columns else RowReduction
    return writer(kernel, target, order).launch()
