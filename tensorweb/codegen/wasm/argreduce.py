"""Write kernels of `argmax` and `argmin`: the index of the first extreme along an axis.

Along contiguous memory, a reduction finds the extreme of each block, and a search finds
its index in the first block that has the best extreme. Where neighbouring outputs are
contiguous, lanes hold a value and its index.
"""

from __future__ import annotations

from tensorweb.codegen.expression import identity_of
from tensorweb.codegen.program import Launch, Program, scratch
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.axis_reduction import (
    AxisReduction,
    begin_blocks,
    walk,
)
from tensorweb.codegen.wasm.elements import (
    KINDS,
    fits_lanes,
    is_vectorizable,
    itemsize,
    load,
    load_neighbours,
)
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loop_order import (
    Finish,
    LoopOrder,
    Records,
    Store,
    finishes,
    loop_order_of,
    record_dtype,
)
from tensorweb.codegen.wasm.loops import portion, spans, units
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.reduction import ColumnLaunch, Partition, RowLaunch
from tensorweb.codegen.wasm.translation import LANES, Translation
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Kernel

EXTREME_OF = {"argmax": "max", "argmin": "min"}
"""The reduction whose result has that index."""

_NO_BETTER = {"argmax": "<=", "argmin": ">="}


class Best:
    """Emits code that updates the best value and its index, of one output or of four.

    Attributes:
        kind: the type of a value.
    """

    def __init__(self, values: Translation, op: str, dtype: str) -> None:
        """Prepare."""
        self._values = values
        self._f = values.f
        self._op = op
        self.kind = KINDS[dtype]
        self._is_float = self.kind[0] == "f"
        self._identity = identity_of(OPS[op], dtype)
        self._value = self._f.local(values.value_type(self.kind))
        self._index = self._f.local(values.value_type("i32"))

    def start(self, indices: int) -> None:
        """Emit the initial state: the identity, at the first index."""
        self._values.number(self.kind, self._identity)
        self._f.set(self._value)
        self._f.set(self._index, indices)

    def take(self, indices: int) -> None:
        """Emit code that takes over the value on the stack if it is better.

        Args:
            indices: local of its index.
        """
        f, values = self._f, self._values
        value = f.local(values.value_type(self.kind))
        mask = f.local(values.value_type("i32"))
        f.set(value)
        self._better(value)
        f.set(mask)
        for new, old in ((value, self._value), (indices, self._index)):
            f.emit(new, old, mask)
            values.choose()
            f.set(old)
        f.free(value, mask)

    def _better(self, value: int) -> None:
        """Push whether a value is better than the best one so far."""
        f, values = self._f, self._values
        if self._is_float:
            # Not NaN yet, and not "no better", which is false for NaN.
            f.emit(self._value, self._value)
            values.operator("==", self.kind)
        f.emit(value, self._value)
        kind = self.kind
        if kind == "bool":
            # In lanes true is -1, the largest of unsigned numbers.
            kind = "u32"
        if not self._is_float:
            values.operator(">" if self._op == "argmax" else "<", kind)
            return
        values.operator(_NO_BETTER[self._op], kind)
        if values.is_vector:
            f.op("v128.andnot")
        else:
            f.emit("i32.eqz", "i32.and")

    def equals(self, values: Translation, best_value: int) -> None:
        """Push whether the value on the stack equals the best one or is NaN.

        Args:
            values: the translation, which determines the number of lanes.
            best_value: local of the best value, in every lane.
        """
        f = self._f
        value = f.local(values.value_type(self.kind))
        f.tee(value)
        f.get(best_value)
        values.operator("==", self.kind)
        if self._is_float:
            f.emit(value, value)
            values.operator("!=", self.kind)
            f.op("v128.or" if values.is_vector else "i32.or")
        f.free(value)

    def leave_value(self) -> None:
        """Push the best value on the stack."""
        self._f.get(self._value)

    def leave_index(self) -> None:
        """Push its index on the stack."""
        self._f.get(self._index)


def argreduce(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of an `argmax` or `argmin`: two launches if it has parts."""
    order = loop_order_of(kernel)
    first = (_Columns if order.is_by_columns else _Rows)(kernel, target, order).launch()
    if not order.makes_records:
        return Program((first,))
    last = _combining(kernel, target, order)
    records = kernel.sizes[0] * order.parts
    size = records * itemsize(record_dtype(order.term.dtype))
    return Program((first, last), (size, records * 4))


def _results(
    frame: Frame, order: LoopOrder, lanes: int, part: int | None
) -> list[Store]:
    """Return the stores of results: indices, or records of values and indices."""
    if not order.makes_records:
        return [Finish(frame, lanes)]
    return [
        Records(frame, "int32", lanes, part, 1),
        Records(frame, order.term.dtype, lanes, part, 0),
    ]


def _begin(frame: Frame, partition: Partition, index: int) -> None:
    """Emit the first index of a part along the axis."""
    f, start = frame.f, partition.starts[-1]
    if start is None:
        f.const("i32", 0)
    else:
        f.get(start)
    f.set(index)


class _Columns(ColumnLaunch):
    """Finds the indices of neighbouring outputs at once."""

    def __init__(self, kernel: Kernel, target: WasmTarget, order: LoopOrder) -> None:
        super().__init__(kernel, target, order)
        self._best = [
            Best(self.evaluator.values, kernel.op, order.term.dtype)
            for _ in range(order.vectors)
        ]
        self._index = self.frame.f.local("i32")
        values = self.evaluator.values
        self._indices = self.frame.f.local(values.value_type("i32"))

    def results(self, part: int | None) -> list[Store]:
        return _results(self.frame, self.order, self.order.lanes, part)

    def leave(self, result: int, vector: int) -> None:
        best = self._best[vector]
        (best.leave_value if result else best.leave_index)()

    def reduce(self, partition: Partition) -> None:
        f, evaluator = self.frame.f, self.evaluator
        _begin(self.frame, partition, self._index)
        self._broadcast()
        for best in self._best:
            best.start(self._indices)

        def terms() -> None:
            evaluator.arrive()
            for number, best in enumerate(self._best):
                evaluator.ahead = number * self.order.lanes
                evaluator.value()
                best.take(self._indices)
            evaluator.ahead = 0
            f.set(self._index, self._index, ("i32", 1), "i32.add")
            self._broadcast()

        walk(evaluator, 0, partition.counts, terms, body_moves=False)

    def _broadcast(self) -> None:
        """Emit the broadcast of the index to every lane."""
        f = self.frame.f
        f.get(self._index)
        if self.order.lanes > 1:
            f.op("i32x4.splat")
        f.set(self._indices)


class _Rows(RowLaunch):
    """Finds the index of one output after another."""

    def __init__(self, kernel: Kernel, target: WasmTarget, order: LoopOrder) -> None:
        super().__init__(kernel, target, order)
        f = self.frame.f
        extreme = EXTREME_OF[kernel.op]
        block = min(policy.SEARCH_BLOCK, order.part_sizes[-1])
        self._reduction = AxisReduction(self.evaluator, extreme, block)
        single = Translation(self.frame.writer, f)
        self._best = Best(single, kernel.op, order.term.dtype)
        self._index, self._found = f.local("i32"), f.local("i32")

    def results(self, part: int | None) -> list[Store]:
        return _results(self.frame, self.order, 1, part)

    def leave(self, result: int) -> None:
        if result:
            self._best.leave_value()
        else:
            self.frame.f.get(self._found)

    def reduce(self, outer: list[int], partition: Partition) -> None:
        f, evaluator, reduction = self.frame.f, self.evaluator, self._reduction
        left, block, end = (f.local("i32") for _ in range(3))
        _begin(self.frame, partition, self._index)
        self._best.start(self._index)
        evaluator.locate_addresses([outer, [self._index]])
        evaluator.arrive()
        f.tee(left, partition.counts[-1])
        f.set(end, self._index, "i32.add")
        stop = begin_blocks(f, left, f.constant("i32", policy.SEARCH_BLOCK))
        f.set(block, left, stop, "i32.sub")
        reduction.start()
        reduction.run(block)
        reduction.flush()
        reduction.total.leave()
        self._best.take(self._index)
        f.set(self._index, self._index, ("i32", policy.SEARCH_BLOCK), "i32.add")
        f.tee(left, stop)
        f.br_if(0)
        f.end()
        self._search(outer, end)
        f.free(left, block, end, stop)

    def _search(self, outer: list[int], end: int) -> None:
        """Emit the search for the index of the best value in its block."""
        f, evaluator, best = self.frame.f, self.evaluator, self._best
        lanes = self.order.lanes
        index = self._found
        best.leave_index()
        f.set(index)
        evaluator.locate([outer, [index]])
        values = evaluator.values
        best_value = f.local(values.value_type(best.kind))
        best.leave_value()
        if lanes > 1:
            evaluator.splat(evaluator.result.dtype)
        f.set(best_value)
        back, mask = f.local("i32"), f.local("i32")
        with f.block("loop"):
            if lanes > 1:
                # The last vector is shifted back to end with the axis.
                f.tee(back, end, ("i32", lanes), "i32.sub", index, "i32.sub")
                with f.block("if", ("i32", 0), "i32.lt_s"):
                    evaluator.move(None, back)
                    f.set(index, index, back, "i32.add")
            evaluator.value()
            best.equals(values, best_value)
            if lanes > 1:
                f.op("i32x4.bitmask")
            f.tee(mask)
            with f.block("if", "i32.eqz"):
                evaluator.move(lanes)
                f.tee(index, index, ("i32", lanes), "i32.add")
                f.br_if(1, end, "i32.lt_s")
        if lanes > 1:
            f.set(index, index, mask, "i32.ctz", "i32.add")
        f.free(best_value, back, mask)


def _combining(kernel: Kernel, target: WasmTarget, order: LoopOrder) -> Launch:
    """Return the launch that selects the first best value of all parts."""
    outputs, dtype = order.outputs, record_dtype(order.term.dtype)
    finish = kernel.expression("finish")
    is_wide = outputs >= LANES and finishes(finish, outputs)
    are_lanes = fits_lanes(dtype) and is_vectorizable(finish)
    lanes = LANES if is_wide and are_lanes else 1
    frame = Frame(kernel, target)
    f = frame.f
    values = Translation(frame.writer, f, lanes)
    best = Best(values, kernel.op, dtype)
    result = Finish(frame, lanes)
    count, parts = frame.number(outputs), frame.number(order.parts)
    indices = f.local(values.value_type("i32"))
    left = f.local("i32")
    dtypes = (dtype, "int32")
    bases = [frame.storage(scratch(number)) for number in range(2)]
    strides = [frame.number(outputs * itemsize(each)) for each in dtypes]
    addresses = [f.local("i32") for _ in range(2)]
    read = load_neighbours if lanes > 1 else load
    per_unit = max(policy.UNIT_ELEMENTS // (order.parts * lanes), 1) * lanes
    together = frame.number(per_unit)
    with (
        units(frame) as unit,
        portion(f, unit, together, count) as (first, end),
        spans(f, first, end, lanes, count) as output,
    ):
        for base, address, each in zip(bases, addresses, dtypes, strict=True):
            f.emit(base, output)
            f.set(address, ("i32", itemsize(each)), "i32.mul", "i32.add")
        f.get(addresses[1])
        read(values, "int32")
        f.set(indices)
        best.start(indices)
        f.set(left, parts)
        with f.block("loop"):
            f.get(addresses[1])
            read(values, "int32")
            f.set(indices)
            f.get(addresses[0])
            read(values, dtype)
            best.take(indices)
            for address, stride in zip(addresses, strides, strict=True):
                f.set(address, address, stride, "i32.add")
            f.tee(left, left, ("i32", 1), "i32.sub")
            f.br_if(0)
        result.locate(output)
        best.leave_index()
        result.put()
    work = 2 * per_unit * order.parts // lanes
    return frame.launch("argreduce", -(-outputs // per_unit), per_slice(work), "")
