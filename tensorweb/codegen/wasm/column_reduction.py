"""Reductions of outputs that lie together in memory: many of them side by side.

Running values of a few vectors of outputs stay in registers while all terms of a part
are walked through.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod

from tensorweb.codegen.program import Launch
from tensorweb.codegen.wasm.expressions import flops
from tensorweb.codegen.wasm.finishing import Store
from tensorweb.codegen.wasm.folding import Fold
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import BLOCK, counted, portion, spans, units
from tensorweb.codegen.wasm.partition import Partition, result_of
from tensorweb.codegen.wasm.reader import Reader
from tensorweb.codegen.wasm.sweeping import Block, walk
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.totals import total_of
from tensorweb.codegen.wasm.traversal import Traversal
from tensorweb.schedule.kernel import Kernel

SHORTEST_RUN = 16
"""Floats before which their sum joins no total."""

WIDEST = 1024
"""Neighbouring outputs of a unit."""


class ColumnLaunch(ABC):
    """Writes a launch that goes through terms of neighbouring outputs.

    Attributes:
        way: the way through the terms.
        frame: of the launch.
        reader: of the terms.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget, way: Traversal) -> None:
        """Prepare."""
        self.way = way
        self.frame = Frame(kernel, target)
        self.reader = Reader(self.frame, way.term, way.lanes)
        self._span = way.lanes * way.vectors

    @abstractmethod
    def results(self, part: int | None) -> list[Store]:
        """Return where results go; see `result_of`."""

    @abstractmethod
    def reduce(self, partition: Partition) -> None:
        """Write the reduction from where the reader was placed."""

    @abstractmethod
    def leave(self, result: int, vector: int) -> None:
        """Leave what one of the results gets for a vector on the stack."""

    def launch(self) -> Launch:
        """Return the launch."""
        frame, way = self.frame, self.way
        rows = way.outputs // way.columns
        width = max(WIDEST // self._span, 1) * self._span
        across = -(-way.columns // width)
        work = min(way.columns, width) * way.part_length
        per_unit = max(BLOCK // work, 1) if across == 1 else 1
        partition = Partition(frame, way, across * -(-rows // per_unit))
        results = self.results(partition.part)
        with units(frame) as unit:
            block = partition.find(unit)
            self._block(block, (rows, per_unit), (across, width), partition, results)
        work *= per_unit * flops(way.term)
        note = "columns, four at a time" if way.lanes > 1 else "columns"
        slices = per_slice(work // way.lanes)
        return frame.launch(frame.kernel.kind, partition.units, slices, note)

    def _block(
        self,
        block: int,
        down: tuple[int, int],
        across: tuple[int, int],
        partition: Partition,
        results: list[Store],
    ) -> None:
        """Write what a unit does.

        Args:
            block: the local with the number of its block of outputs.
            down: rows of outputs, and how many of them a unit does.
            across: how many units share a row, and outputs of each.
            partition: the parts.
            results: where results go.
        """
        frame, way = self.frame, self.way
        f = frame.f
        columns, rows = frame.number(way.columns), frame.number(down[0])
        row_block, part = block, f.local("i32")
        f.const("i32", 0)
        f.set(part)
        if across[0] > 1:
            row_block, count = f.local("i32"), frame.number(across[0])
            f.get(block)
            f.get(count)
            f.op("i32.div_u")
            f.set(row_block)
            f.get(block)
            f.get(row_block)
            f.get(count)
            f.ops("i32.mul", "i32.sub")
            f.set(part)
        with (
            portion(f, row_block, frame.number(down[1]), rows) as (first, end),
            counted(f, first, end) as row,
            portion(f, part, frame.number(across[1]), columns) as (left, right),
            spans(f, left, right, self._span, columns) as column,
        ):
            axes = len(way.term.groups[1])
            outer = self.reader.split(1, row, axes - 1) if axes > 1 else []
            self.reader.place([partition.starts, [*outer, column]])
            self.reduce(partition)
            output = f.local("i32")
            f.get(row)
            f.get(columns)
            f.op("i32.mul")
            f.get(column)
            f.op("i32.add")
            f.set(output)
            for number, result in enumerate(results):
                result.place(output)
                for vector in range(way.vectors):
                    if vector:
                        result.move()
                    self.leave(number, vector)
                    result.put()


class ColumnReduction(ColumnLaunch):
    """Combines the terms of neighbouring outputs."""

    def __init__(self, kernel: Kernel, target: WasmTarget, way: Traversal) -> None:
        """Prepare."""
        super().__init__(kernel, target, way)
        self._fold = Fold(self.reader.values, kernel.op, way.term.dtype)
        self._running = [self._fold.new() for _ in range(way.vectors)]
        self._totals = [total_of(self._fold) for _ in self._running]

    def results(self, part: int | None) -> list[Store]:
        """Return where totals go."""
        return [result_of(self.frame, self.way, self.way.lanes, part)]

    def leave(self, result: int, vector: int) -> None:
        """Leave the totals of a vector on the stack."""
        self._totals[vector].leave()

    def reduce(self, partition: Partition) -> None:
        """Write the reduction of neighbouring outputs."""
        reader = self.reader
        for total in self._totals:
            total.start()
        self._begin()

        def terms() -> None:
            reader.arrive()
            for number, running in enumerate(self._running):
                reader.ahead = number * self.way.lanes
                reader.value()
                self._fold.take(running)
            reader.ahead = 0

        block = self._flushing()
        walk(reader, 0, partition.counts, terms, body_moves=False, block=block)
        self._flush(goes_on=False)

    def _begin(self) -> None:
        for running in self._running:
            self._fold.start(running)

    def _flush(self, goes_on: bool = True) -> None:
        """Write what adds the running values to the totals."""
        for running, total in zip(self._running, self._totals, strict=True):
            self._fold.leave(running)
            total.add()
        if goes_on:
            self._begin()

    def _flushing(self) -> Block | None:
        """Return after how many terms sums join the totals."""
        sizes, run = self.way.part_sizes, self.way.run
        if not self._fold.adds_floats or prod(sizes) <= run:
            return None
        axis = len(sizes) - 1
        while axis and prod(sizes[axis:]) < SHORTEST_RUN:
            axis -= 1
        return axis, max(run // prod(sizes[axis + 1 :]), 1), self._flush
