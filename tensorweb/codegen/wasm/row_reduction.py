"""Reductions along axes that lie together in memory, one output after another."""

from __future__ import annotations

from tensorweb.codegen.program import Launch
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import BLOCK, counted, portion, units
from tensorweb.codegen.wasm.partition import Partition, result_of
from tensorweb.codegen.wasm.reader import Reader, flops
from tensorweb.codegen.wasm.sweeping import Block, Sweep, walk
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.traversal import Traversal
from tensorweb.schedule.kernel import Kernel


class RowReduction:
    """Writes the launch that goes through the terms."""

    def __init__(
        self, kernel: Kernel, target: WasmTarget, traversal: Traversal
    ) -> None:
        """Prepare."""
        self._traversal = traversal
        self._frame = Frame(kernel, target)
        self._reader = Reader(self._frame, traversal.term, traversal.lanes)
        self._inner = traversal.part_sizes[-1]
        self._sweep = Sweep(self._reader, kernel.op, self._inner)

    def launch(self) -> Launch:
        """Return the launch."""
        frame, way = self._frame, self._traversal
        f = frame.f
        per_unit = max(BLOCK // max(way.length, 1), 1)
        partition = Partition(frame, way, -(-way.outputs // per_unit))
        result = result_of(frame, way, 1, partition.part)
        outputs = frame.number(way.outputs)
        with units(frame) as unit:
            block = partition.find(unit)
            with (
                portion(f, block, per_unit, outputs) as (first, end),
                counted(f, first, end) as output,
            ):
                self._one(output, partition)
                result.place(output)
                self._sweep.total.leave()
                result.put()
        work = per_unit * way.part_length * flops(way.term) // way.lanes
        note = "four at a time" if way.lanes > 1 else ""
        return frame.launch("reduce", partition.units, per_slice(work), note)

    def _one(self, output: int, partition: Partition) -> None:
        """Write the reduction of one output's terms."""
        f, reader, sweep = self._frame.f, self._reader, self._sweep
        sweep.start()
        if not self._traversal.length:
            return
        reader.place([reader.split(0, output), partition.starts])
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
        axis = len(self._traversal.reduced) - 2
        sweep, length = self._sweep, self._traversal.part_length
        if axis < 0 or not sweep.adds_floats or length <= sweep.block:
            return None
        return axis, max(sweep.block // self._inner, 1), sweep.flush
