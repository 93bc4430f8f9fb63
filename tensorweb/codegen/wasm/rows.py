"""Kernels over full rows: reductions along each row, then all its elements.

A row is read from memory once; the stages iterate over it while it is in the cache. An
expensive value that later stages use, an exponential for example, is stored in the
output's row, which is written anyway.
"""

from __future__ import annotations

from dataclasses import replace

from tensorweb.codegen.program import Launch, Program, output
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.axis_reduction import AxisReduction, count_down
from tensorweb.codegen.wasm.elements import (
    KINDS,
    ROUNDED,
    flops,
    is_vectorizable,
    itemsize,
    needed_steps,
    side_by_side,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import Pointer, counted, lanes_for, portion, units
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import LANES, Translation
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import (
    BY_ELEMENT,
    BY_ROW,
    Access,
    Expression,
    Kernel,
    Step,
    result_kind,
)


def rows(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a kernel of rows."""
    return Program((_Rows(kernel, target).launch(),))


def stored_step(kernel: Kernel) -> tuple[int, int] | None:
    """Return a stage and its step that later stages read from the output, if any."""
    expressions = [(result_kind(name), each) for name, each in kernel.expressions]
    stages = [each for kind, each in expressions if not kind]
    is_by_element, finish = expressions[len(stages)]
    if is_by_element != BY_ELEMENT:
        return None
    for number in range(len(stages) - 1, -1, -1):
        stage = stages[number]
        step = stage.steps[stage.result]
        later = (*stages[number + 1 :], finish)
        if (
            step.dtype == kernel.dtype
            and step.dtype not in ROUNDED
            and any(stage.result in needed_steps(each) for each in later)
            and _cost(stage) >= policy.LEAST_STORED_WORK
        ):
            return number, stage.result
    return None


def forms_below_largest(kernel: Kernel) -> dict[int, str]:
    """Return the WGSL of exponentials of a row minus its maximum, by step.

    Their operands are at most 0.
    """
    ops = kernel.op.split(",")
    steps = kernel.expressions[-1][1].steps
    forms = {}
    for number, step in enumerate(steps):
        if step.name != "exp" or KINDS[step.dtype] != "f32":
            continue
        difference = steps[step.args[0]]
        if difference.name != "subtract":
            continue
        element, largest = difference.args
        slot = steps[largest].slot
        is_largest = steps[largest].kind == "core" and ops[slot] == "max"
        if is_largest and kernel.expressions[slot][1].result == element:
            forms[number] = "exp_not_positive_f32({0})"
    return forms


def _cost(expression: Expression) -> int:
    """Return the cost of an element without its loads."""
    steps = (expression.steps[number] for number in needed_steps(expression))
    return sum(OPS[step.name].weight for step in steps if step.kind == "map")


def _reading_stored(
    expression: Expression, stored: int, slot: int, length: int
) -> Expression:
    """Return an expression that reads step `stored` from rows in slot `slot`."""
    outer, _ = expression.groups
    strides, stride = [], length
    for size in reversed(outer):
        strides.append(stride)
        stride *= size
    access = Access(0, (tuple(strides[::-1]), (1,)))
    steps = list(expression.steps)
    access_index = len(expression.accesses)
    steps[stored] = Step("load", steps[stored].dtype, slot=slot, access=access_index)
    return replace(
        expression, steps=tuple(steps), accesses=(*expression.accesses, access)
    )


class _RowStore(Pointer):
    """Stores the values of a stage in the output's row."""

    def __init__(self, evaluator: Evaluator, address: int) -> None:
        dtype = evaluator.result.dtype
        super().__init__(evaluator.frame.f, address, itemsize(dtype))
        self._evaluator = evaluator
        self._dtype = dtype

    def keep(self, ahead: int) -> None:
        f, values = self.f, self._evaluator.values
        value = f.local(values.value_type(KINDS[self._dtype]))
        f.set(value)
        f.emit(self.local, value)
        if values.is_vector:
            store_neighbours(values, self._dtype, ahead * self.size)
        else:
            store(values, self._dtype, ahead * self.size)
        f.get(value)
        f.free(value)


class _Rows:
    """Generate the one launch."""

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        self._kernel = kernel
        self._count, self._length = kernel.sizes
        self._frame = Frame(kernel, target)
        expressions = [each for _, each in kernel.expressions]
        self._lanes = lanes_for(self._length, all(map(is_vectorizable, expressions)))
        self._work = sum(map(flops, expressions))
        f = self._frame.f
        self._kinds = [result_kind(name) for name, _ in kernel.expressions]
        self._stages = self._kinds.count("")
        self._outputs = [
            self._frame.storage(output(number), "w")
            for number in range(len(kernel.dtypes))
        ]
        self._address, self._left = f.local("i32"), f.local("i32")
        self._cores: dict[int, int] = {}
        self._singles: dict[int, int] = {}
        self._kept = stored_step(kernel)
        self._readers = [self._evaluator(number) for number in range(len(expressions))]
        self._sweeps = [
            AxisReduction(evaluator, op, self._length)
            for evaluator, op in zip(self._readers, kernel.op.split(","), strict=False)
        ]

    def _evaluator(self, number: int) -> Evaluator:
        """Return the evaluator of a stage, or of the finish."""
        kernel, frame = self._kernel, self._frame
        expression = kernel.expressions[number][1]
        storages = {}
        if self._kept is not None and number > self._kept[0]:
            slot = len(kernel.input_dtypes)
            expression = _reading_stored(expression, self._kept[1], slot, self._length)
            storages[slot] = self._outputs[0]
        is_single = self._kinds[number] == BY_ROW
        evaluator = Evaluator(
            frame,
            expression,
            1 if is_single else self._lanes,
            self._singles if is_single else self._cores,
            storages,
            cores_move=False,
            forms=forms_below_largest(kernel),
        )
        kind = KINDS[expression.dtype]
        self._cores[number] = frame.f.local(evaluator.values.value_type(kind))
        single = Translation(frame.writer, frame.f)
        self._singles[number] = frame.f.local(single.value_type(kind))
        return evaluator

    def launch(self) -> Launch:
        """Return the launch."""
        frame = self._frame
        f = frame.f
        per_unit = max(policy.UNIT_ELEMENTS // self._length, 1)
        count, length = frame.number(self._count), frame.number(self._length)
        together = frame.number(per_unit)
        with (
            units(frame) as unit,
            portion(f, unit, together, count) as (first, end),
            counted(f, first, end) as row,
        ):
            outer = self._readers[0].split(0, row)
            for number in range(len(self._sweeps)):
                self._stage(number, outer, row, length)
            # The first output's row has stored values, so it is overwritten last.
            for number in range(len(self._readers) - 1, self._stages - 1, -1):
                if self._kinds[number] == BY_ELEMENT:
                    self._finish(number, outer, row, length)
                else:
                    self._finish_row(number, outer, row)
        slices = per_slice(per_unit * self._length * self._work // self._lanes)
        note = "four at a time" if self._lanes > 1 else ""
        return frame.launch("rows", -(-self._count // per_unit), slices, note)

    def _go_to_row(self, number: int, row: int, length: int) -> None:
        """Emit the address of a row of an output."""
        f = self._frame.f
        f.emit(row, length, "i32.mul")
        f.set(
            self._address,
            ("i32", itemsize(self._kernel.dtypes[number])),
            "i32.mul",
            self._outputs[number],
            "i32.add",
        )

    def _stage(self, number: int, outer: list[int], row: int, length: int) -> None:
        """Emit a reduction along the row."""
        f = self._frame.f
        evaluator, reduction = self._readers[number], self._sweeps[number]
        consumer = None
        if self._kept is not None and self._kept[0] == number:
            self._go_to_row(0, row, length)
            consumer = _RowStore(evaluator, self._address)
        evaluator.locate([outer, [None]])
        f.set(self._left, length)
        reduction.start()
        reduction.run(self._left, consumer)
        reduction.flush()
        reduction.total.leave()
        dtype = evaluator.result.dtype
        within(Translation(self._frame.writer, f), dtype)
        f.set(self._singles[number])
        f.get(self._singles[number])
        if self._lanes > 1:
            evaluator.splat(dtype)
        f.set(self._cores[number])

    def _finish_row(self, number: int, outer: list[int], row: int) -> None:
        """Emit the store of a row's single result."""
        evaluator = self._readers[number]
        dtype = evaluator.result.dtype
        self._go_to_row(number - self._stages, row, self._frame.number(1))
        evaluator.locate([outer, [None]])
        self._frame.f.get(self._address)
        evaluator.value()
        store(evaluator.values, dtype)

    def _finish(self, number: int, outer: list[int], row: int, length: int) -> None:
        """Emit the stores of all elements of the row."""
        f, evaluator, left = self._frame.f, self._readers[number], self._left
        values, dtype = evaluator.values, evaluator.result.dtype
        evaluator.locate([outer, [None]])
        self._go_to_row(number - self._stages, row, length)
        put = store_neighbours if self._lanes > 1 else store
        tail = f.local("v128")
        if self._lanes > 1:
            self._tail(evaluator, length, tail)
        pointer = Pointer(f, self._address, itemsize(dtype))
        f.set(left, length)
        count = (
            side_by_side(flops(evaluator.expression)) if evaluator.looks_ahead else 1
        )
        if count * LANES <= self._length and self._lanes > 1 and count > 1:
            self._several(evaluator, count, pointer)
        self._while_left(self._lanes)
        f.get(self._address)
        evaluator.value()
        put(values, dtype)
        evaluator.move(self._lanes)
        pointer.move(self._lanes)
        count_down(f, left, self._lanes)
        f.br_if(0)
        f.end()
        f.end()
        if self._lanes > 1:
            with f.block("if", left):
                f.set(left, left, ("i32", LANES), "i32.sub")
                pointer.move(None, left)
                f.emit(self._address, tail)
                put(values, dtype)
        f.free(tail)

    def _while_left(self, count: int) -> None:
        """Open a loop that runs while at least `count` elements are left."""
        f = self._frame.f
        f.emit(self._left, ("i32", count), "i32.ge_s")
        f.begin("if")
        f.begin("loop")

    def _several(self, evaluator: Evaluator, count: int, pointer: Pointer) -> None:
        """Emit the loop that computes several vectors per iteration."""
        f, dtype = self._frame.f, evaluator.result.dtype
        elements = count * LANES
        self._while_left(elements)
        for number, (value,) in enumerate(evaluator.several(count)):
            f.emit(self._address, value)
            store_neighbours(evaluator.values, dtype, number * LANES * itemsize(dtype))
        evaluator.move(elements)
        pointer.move(elements)
        count_down(f, self._left, elements)
        f.br_if(0)
        f.end()
        f.end()

    def _tail(self, evaluator: Evaluator, length: int, tail: int) -> None:
        """Emit the last four elements, before their inputs are overwritten."""
        f, back = self._frame.f, self._left
        with f.block("if", length, ("i32", LANES - 1), "i32.and"):
            f.set(back, length, ("i32", LANES), "i32.sub")
            evaluator.move(None, back)
            evaluator.value()
            f.set(tail)
            f.set(back, ("i32", 0), back, "i32.sub")
            evaluator.move(None, back)
