"""Write kernels without a core: each output element from inputs at its own index."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tensorweb.codegen.program import OUTPUT, Launch, Program, output
from tensorweb.codegen.wasm.elements import (
    flops,
    is_vectorizable,
    itemsize,
    side_by_side,
    store,
    store_neighbours,
)
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import (
    Mover,
    Pointer,
    Together,
    along,
    counted,
    lanes_for,
    portion,
    units,
)
from tensorweb.codegen.wasm.module import Function, divided, smaller
from tensorweb.codegen.wasm.policy import (
    TRANSPOSED_COLUMNS,
    TRANSPOSED_ROWS,
    UNIT_ELEMENTS,
)
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.schedule.kernel import Expression, Kernel


def is_transposed(value: Expression) -> bool:
    """Whether some load has its neighbours along the second-to-last axis."""
    loads = {step.access for step in value.steps if step.kind == "load"}
    strides = (value.accesses[access].strides[-1] for access in loads)
    return any(each[-1] not in (-1, 0, 1) and each[-2] == 1 for each in strides)


def elementwise(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of an elementwise kernel."""
    value = kernel.expression("value")
    outputs = [output(number) for number in range(len(kernel.dtypes))]
    name = "elementwise" if len(outputs) == 1 else "elementwise_several"
    return Program((map_launch(kernel, target, value, name, kernel.sizes[0], outputs),))


def map_launch(
    kernel: Kernel,
    target: WasmTarget,
    value: Expression,
    template: str,
    size: int,
    outputs: Sequence[int] = (OUTPUT,),
) -> Launch:
    """Return a launch that computes an expression for each element of its storages.

    Args:
        kernel: the kernel of the launch.
        target: the machine.
        value: the expression, its axes in one group.
        template: name of the launch.
        size: number of elements.
        outputs: the storage of each result, contiguous.
    """
    frame = Frame(kernel, target)
    sizes = value.groups[0] if value.accesses else (size,)
    *outer, inner = sizes or (1,)
    rows = prod(outer)
    lanes = lanes_for(inner, is_vectorizable(value))
    evaluator = Evaluator(frame, value, lanes)
    work = flops(value)
    if rows == 1:
        count, elements = _one_row(frame, evaluator, inner, outputs)
    else:
        count, elements = _rows(frame, evaluator, rows, inner, outputs)
    slices = per_slice(elements * work // lanes)
    note = "four at a time" if lanes > 1 else ""
    return frame.launch(template, count, slices, note)


def _one_row(
    frame: Frame, evaluator: Evaluator, inner: int, outputs: Sequence[int]
) -> tuple[int, int]:
    """Emit a loop over blocks of one axis; returns units and elements of each."""
    f = frame.f
    length, size = frame.number(inner), f.constant("i32", UNIT_ELEMENTS)
    with units(frame) as unit, portion(f, unit, size, length) as (index, end):
        _start_with_full_vector(f, index, end, evaluator.values.lanes)
        evaluator.locate([[index] if evaluator.expression.groups[0] else []])
        _inner(frame, evaluator, index, end, None, outputs)
    return -(-inner // UNIT_ELEMENTS), min(UNIT_ELEMENTS, inner)


def _start_with_full_vector(f: Function, index: int, end: int, lanes: int) -> None:
    """Emit an earlier start of a block that has fewer elements than lanes."""
    if lanes > 1:
        earlier = f.local("i32")
        f.get(end)
        f.const("i32", lanes)
        f.op("i32.sub")
        f.set(earlier)
        smaller(f, index, earlier)
        f.set(index)
        f.free(earlier)


def _rows(
    frame: Frame, evaluator: Evaluator, rows: int, inner: int, outputs: Sequence[int]
) -> tuple[int, int]:
    """Emit loops over rows and blocks of them; returns units and elements of each."""
    f = frame.f
    size = TRANSPOSED_COLUMNS if is_transposed(evaluator.expression) else UNIT_ELEMENTS
    blocks = -(-inner // size)
    together = (
        TRANSPOSED_ROWS if size < UNIT_ELEMENTS else max(UNIT_ELEMENTS // inner, 1)
    )
    length, count = frame.number(inner), frame.number(rows)
    per_row, per_unit = frame.number(blocks), frame.number(together)
    columns = f.constant("i32", size)
    group, block, start = (f.local("i32") for _ in range(3))
    axes = len(evaluator.expression.groups[0])
    with units(frame) as unit:
        divided(f, unit, per_row, group, block)
        with (
            portion(f, group, per_unit, count) as (first, last),
            counted(f, first, last) as row,
            portion(f, block, columns, length) as (index, end),
        ):
            _start_with_full_vector(f, index, end, evaluator.values.lanes)
            evaluator.locate([[*evaluator.split(0, row, axes - 1), index]])
            f.get(row)
            f.get(length)
            f.op("i32.mul")
            f.set(start)
            _inner(frame, evaluator, index, end, start, outputs)
    return blocks * -(-rows // together), min(inner, size) * together


def _inner(
    frame: Frame,
    evaluator: Evaluator,
    index: int,
    end: int,
    start: int | None,
    outputs: Sequence[int],
) -> None:
    """Emit the loop along the last axis, which stores each value.

    Args:
        frame: frame of the launch.
        evaluator: evaluator set to the first element.
        index: local of the index of that element.
        end: local of the index at which the loop ends.
        start: local of the index of the row's first element, None for 0.
        outputs: the storages.
    """
    f = frame.f
    results = evaluator.expression.results
    dtypes = [evaluator.expression.steps[number].dtype for number in results]
    addresses = [
        _address(frame, index, start, output, itemsize(dtype))
        for output, dtype in zip(outputs, dtypes, strict=True)
    ]
    movers: list[Mover] = [
        Pointer(f, address, itemsize(dtype))
        for address, dtype in zip(addresses, dtypes, strict=True)
    ]
    lanes = evaluator.values.lanes
    put = store_neighbours if lanes > 1 else store
    count = side_by_side(flops(evaluator.expression)) if evaluator.looks_ahead else 1

    def keep(values: Sequence[int], ahead: int) -> None:
        for address, value, dtype in zip(addresses, values, dtypes, strict=True):
            f.get(address)
            f.get(value)
            put(evaluator.values, dtype, ahead * lanes * itemsize(dtype))

    def several() -> None:
        for number, values in enumerate(evaluator.several(count)):
            keep(values, number)

    together = Together(count, several) if count > 1 and lanes > 1 else None
    with along(f, index, end, lanes, [evaluator, *movers], together=together):
        evaluator.compute()
        keep([evaluator.result_of(number) for number in results], 0)


def _address(
    frame: Frame, index: int, start: int | None, output: int, size: int
) -> int:
    """Return a local of the address of an output's element, by its index in a row."""
    f = frame.f
    base, address = frame.storage(output, "w"), f.local("i32")
    f.get(index)
    if start is not None:
        f.get(start)
        f.op("i32.add")
    f.const("i32", size)
    f.op("i32.mul")
    f.get(base)
    f.op("i32.add")
    f.set(address)
    return address
