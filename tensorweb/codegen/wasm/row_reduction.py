"""Reductions along axes that lie together in memory, one output after another."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tensorweb.codegen.program import Launch
from tensorweb.codegen.wasm.expressions import flops
from tensorweb.codegen.wasm.finishing import Store
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import BLOCK, counted, portion, units
from tensorweb.codegen.wasm.partition import Partition, result_of
from tensorweb.codegen.wasm.reader import Reader
from tensorweb.codegen.wasm.sweeping import Block, Sweep, walk
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.traversal import Traversal
from tensorweb.schedule.kernel import Kernel


class RowLaunch(ABC):
    """Writes a launch that goes through the terms of one output after another.

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

    @abstractmethod
    def results(self, part: int | None) -> list[Store]:
        """Return where results go; see `result_of`."""

    @abstractmethod
    def reduce(self, kept: list[int], partition: Partition) -> None:
        """Write the reduction of the output at some coordinates."""

    @abstractmethod
    def leave(self, result: int) -> None:
        """Leave what one of the results gets on the stack."""

    def launch(self) -> Launch:
        """Return the launch."""
        frame, way = self.frame, self.way
        f = frame.f
        per_unit = max(BLOCK // max(way.length, 1), 1)
        partition = Partition(frame, way, -(-way.outputs // per_unit))
        results = self.results(partition.part)
        outputs, together = frame.number(way.outputs), frame.number(per_unit)
        with units(frame) as unit:
            block = partition.find(unit)
            with (
                portion(f, block, together, outputs) as (first, end),
                counted(f, first, end) as output,
            ):
                self.reduce(self.reader.split(0, output), partition)
                for number, result in enumerate(results):
                    result.place(output)
                    self.leave(number)
                    result.put()
        work = per_unit * way.part_length * flops(way.term) // way.lanes
        note = "four at a time" if way.lanes > 1 else ""
        kind = frame.kernel.kind
        return frame.launch(kind, partition.units, per_slice(work), note)


class RowReduction(RowLaunch):
    """Combines the terms of each output."""

    def __init__(self, kernel: Kernel, target: WasmTarget, way: Traversal) -> None:
        """Prepare."""
        super().__init__(kernel, target, way)
        self._inner = way.part_sizes[-1]
        self._sweep = Sweep(self.reader, kernel.op, self._inner)

    def results(self, part: int | None) -> list[Store]:
        """Return where totals go."""
        return [result_of(self.frame, self.way, 1, part)]

    def leave(self, result: int) -> None:
        """Leave the total on the stack."""
        self._sweep.total.leave()

    def reduce(self, kept: list[int], partition: Partition) -> None:
        """Write the reduction of one output's terms."""
        f, reader, sweep = self.frame.f, self.reader, self._sweep
        sweep.start()
        if not self.way.length:
            return
        reader.place([kept, partition.starts])
        left = f.local("i32")

        def row() -> None:
            reader.arrive()
            f.get(partition.counts[-1])
            f.set(left)
            sweep.run(left)

        outer = partition.counts[:-1]
        walk(reader, 1, outer, row, body_moves=True, block=self._block())
        sweep.flush()
        f.free(left)

    def _block(self) -> Block | None:
        """Return after how many rows sums join the total."""
        axis = len(self.way.reduced) - 2
        sweep, length = self._sweep, self.way.part_length
        if axis < 0 or not sweep.adds_floats or length <= sweep.block:
            return None
        return axis, max(sweep.block // self._inner, 1), sweep.flush
