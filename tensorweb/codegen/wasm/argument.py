"""Kernels that find where the first largest or smallest value is along one axis.

Along memory, the extreme of each block is found as a reduction does; the place is
looked for only in the first block that has the best one. Neighbouring outputs keep
places in lanes beside the values.
"""

from __future__ import annotations

from tensorweb.codegen.program import Launch, Program, scratch
from tensorweb.codegen.wasm.column_reduction import ColumnLaunch
from tensorweb.codegen.wasm.elements import (
    fits_lanes,
    itemsize,
    load,
    load_neighbours,
)
from tensorweb.codegen.wasm.expressions import is_vectorizable
from tensorweb.codegen.wasm.extremes import EXTREME_OF, Best
from tensorweb.codegen.wasm.finishing import (
    Finish,
    Records,
    Store,
    finishes,
    record_dtype,
)
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import BLOCK, portion, spans, units
from tensorweb.codegen.wasm.partition import Partition
from tensorweb.codegen.wasm.row_reduction import RowLaunch
from tensorweb.codegen.wasm.sweeping import Sweep, begin_blocks, walk
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.terms import LANES
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.codegen.wasm.traversal import Traversal, way_through
from tensorweb.schedule.kernel import Kernel

SEARCHED = 512
"""Elements of a block: few to go through again, many for each look at the best."""


def argreduce(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program that finds places: two launches when it has parts."""
    way = way_through(kernel)
    first = (_Columns if way.is_by_columns else _Rows)(kernel, target, way).launch()
    if not way.makes_records:
        return Program((first,))
    last = _combining(kernel, target, way)
    records = kernel.sizes[0] * way.parts
    size = records * itemsize(record_dtype(way.term.dtype))
    return Program((first, last), (size, records * 4))


def _results(frame: Frame, way: Traversal, lanes: int, part: int | None) -> list[Store]:
    """Return where places go; records hold values and places."""
    if not way.makes_records:
        return [Finish(frame, lanes)]
    return [
        Records(frame, "int32", lanes, part, 1),
        Records(frame, way.term.dtype, lanes, part, 0),
    ]


def _begin(frame: Frame, partition: Partition, place: int) -> None:
    """Write where a part begins along the axis."""
    f, start = frame.f, partition.starts[-1]
    if start is None:
        f.const("i32", 0)
    else:
        f.get(start)
    f.set(place)


class _Columns(ColumnLaunch):
    """Finds the places of neighbouring outputs."""

    def __init__(self, kernel: Kernel, target: WasmTarget, way: Traversal) -> None:
        super().__init__(kernel, target, way)
        self._best = [
            Best(self.reader.values, kernel.op, way.term.dtype)
            for _ in range(way.vectors)
        ]
        self._place = self.frame.f.local("i32")
        values = self.reader.values
        self._places = self.frame.f.local(values.value_type("i32"))

    def results(self, part: int | None) -> list[Store]:
        return _results(self.frame, self.way, self.way.lanes, part)

    def leave(self, result: int, vector: int) -> None:
        best = self._best[vector]
        (best.leave_value if result else best.leave_place)()

    def reduce(self, partition: Partition) -> None:
        f, reader = self.frame.f, self.reader
        _begin(self.frame, partition, self._place)
        self._spread()
        for best in self._best:
            best.start(self._places)

        def terms() -> None:
            reader.arrive()
            for number, best in enumerate(self._best):
                reader.ahead = number * self.way.lanes
                reader.value()
                best.take(self._places)
            reader.ahead = 0
            f.get(self._place)
            f.const("i32", 1)
            f.op("i32.add")
            f.set(self._place)
            self._spread()

        walk(reader, 0, partition.counts, terms, body_moves=False)

    def _spread(self) -> None:
        """Write the place into every lane."""
        f = self.frame.f
        f.get(self._place)
        if self.way.lanes > 1:
            f.op("i32x4.splat")
        f.set(self._places)


class _Rows(RowLaunch):
    """Finds the place of one output after another."""

    def __init__(self, kernel: Kernel, target: WasmTarget, way: Traversal) -> None:
        super().__init__(kernel, target, way)
        f = self.frame.f
        extreme = EXTREME_OF[kernel.op]
        block = min(SEARCHED, way.part_sizes[-1])
        self._sweep = Sweep(self.reader, extreme, block)
        single = Translation(self.frame.writer, f)
        self._best = Best(single, kernel.op, way.term.dtype)
        self._place, self._found = f.local("i32"), f.local("i32")

    def results(self, part: int | None) -> list[Store]:
        return _results(self.frame, self.way, 1, part)

    def leave(self, result: int) -> None:
        if result:
            self._best.leave_value()
        else:
            self.frame.f.get(self._found)

    def reduce(self, kept: list[int], partition: Partition) -> None:
        f, reader, sweep = self.frame.f, self.reader, self._sweep
        left, block, end = (f.local("i32") for _ in range(3))
        _begin(self.frame, partition, self._place)
        self._best.start(self._place)
        reader.place([kept, [self._place]])
        reader.arrive()
        f.get(partition.counts[-1])
        f.tee(left)
        f.get(self._place)
        f.op("i32.add")
        f.set(end)
        stop = begin_blocks(f, left, f.constant("i32", SEARCHED))
        f.get(left)
        f.get(stop)
        f.op("i32.sub")
        f.set(block)
        sweep.start()
        sweep.run(block)
        sweep.flush()
        sweep.total.leave()
        self._best.take(self._place)
        f.get(self._place)
        f.const("i32", SEARCHED)
        f.op("i32.add")
        f.set(self._place)
        f.get(stop)
        f.tee(left)
        f.br_if(0)
        f.end()
        self._search(kept, end)
        for local in (left, block, end, stop):
            f.free(local)

    def _search(self, kept: list[int], end: int) -> None:
        """Write what finds the place of the best value in its block."""
        f, reader, best = self.frame.f, self.reader, self._best
        lanes = self.way.lanes
        place = self._found
        best.leave_place()
        f.set(place)
        reader.locate([kept, [place]])
        values = reader.values
        wanted = f.local(values.value_type(best.kind))
        best.leave_value()
        if lanes > 1:
            reader.splat(reader.result.dtype)
        f.set(wanted)
        back, mask = f.local("i32"), f.local("i32")
        f.begin("loop")
        if lanes > 1:
            # The last vector is shifted back to end with the axis.
            f.get(end)
            f.const("i32", lanes)
            f.op("i32.sub")
            f.get(place)
            f.op("i32.sub")
            f.tee(back)
            f.const("i32", 0)
            f.op("i32.lt_s")
            f.begin("if")
            reader.move(None, back)
            f.get(place)
            f.get(back)
            f.op("i32.add")
            f.set(place)
            f.end()
        reader.value()
        best.equals(values, wanted)
        if lanes > 1:
            f.op("i32x4.bitmask")
        f.tee(mask)
        f.op("i32.eqz")
        f.begin("if")
        reader.move(lanes)
        f.get(place)
        f.const("i32", lanes)
        f.op("i32.add")
        f.tee(place)
        f.get(end)
        f.op("i32.lt_s")
        f.br_if(1)
        f.end()
        f.end()
        if lanes > 1:
            f.get(place)
            f.get(mask)
            f.op("i32.ctz")
            f.op("i32.add")
            f.set(place)
        for local in (wanted, back, mask):
            f.free(local)


def _combining(kernel: Kernel, target: WasmTarget, way: Traversal) -> Launch:
    """Return the launch that takes the best of all parts, the first of equal ones."""
    outputs, dtype = way.outputs, record_dtype(way.term.dtype)
    finish = kernel.expression("finish")
    is_wide = outputs >= LANES and finishes(finish, outputs)
    are_lanes = fits_lanes(dtype) and is_vectorizable(finish)
    lanes = LANES if is_wide and are_lanes else 1
    frame = Frame(kernel, target)
    f = frame.f
    values = Translation(frame.writer, f, lanes)
    best = Best(values, kernel.op, dtype)
    result = Finish(frame, lanes)
    count, parts = frame.number(outputs), frame.number(way.parts)
    places = f.local(values.value_type("i32"))
    left = f.local("i32")
    dtypes = (dtype, "int32")
    bases = [frame.storage(scratch(number)) for number in range(2)]
    strides = [frame.number(outputs * itemsize(each)) for each in dtypes]
    addresses = [f.local("i32") for _ in range(2)]
    read = load_neighbours if lanes > 1 else load
    per_unit = max(BLOCK // (way.parts * lanes), 1) * lanes
    together = frame.number(per_unit)
    with (
        units(frame) as unit,
        portion(f, unit, together, count) as (first, end),
        spans(f, first, end, lanes, count) as output,
    ):
        for base, address, each in zip(bases, addresses, dtypes, strict=True):
            f.get(base)
            f.get(output)
            f.const("i32", itemsize(each))
            f.ops("i32.mul", "i32.add")
            f.set(address)
        f.get(addresses[1])
        read(values, "int32")
        f.set(places)
        best.start(places)
        f.get(parts)
        f.set(left)
        f.begin("loop")
        f.get(addresses[1])
        read(values, "int32")
        f.set(places)
        f.get(addresses[0])
        read(values, dtype)
        best.take(places)
        for address, stride in zip(addresses, strides, strict=True):
            f.get(address)
            f.get(stride)
            f.op("i32.add")
            f.set(address)
        f.get(left)
        f.const("i32", 1)
        f.op("i32.sub")
        f.tee(left)
        f.br_if(0)
        f.end()
        result.place(output)
        best.leave_place()
        result.put()
    work = 2 * per_unit * way.parts // lanes
    return frame.launch("argreduce", -(-outputs // per_unit), per_slice(work), "")
