"""Kernels without a core: elementwise, or with writes at computed positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from math import prod

from tensorweb.codegen.program import OUTPUT, Launch, Program, output, scratch
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.elements import (
    KINDS,
    fits_lanes,
    flops,
    is_vectorizable,
    itemsize,
    load,
    load_neighbours,
    side_by_side,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.loops import (
    Mover,
    Pointer,
    Together,
    along,
    counted,
    lanes_for,
    portion,
    segments,
    units,
)
from tensorweb.codegen.wasm.module import Function, divided, smaller
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import LANES
from tensorweb.dtypes import BY_NAME
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step


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
    length, size = frame.number(inner), f.constant("i32", policy.UNIT_ELEMENTS)
    with units(frame) as unit, portion(f, unit, size, length) as (index, end):
        _start_with_full_vector(f, index, end, evaluator.values.lanes)
        evaluator.locate([[index] if evaluator.expression.groups[0] else []])
        _inner(frame, evaluator, index, end, None, outputs)
    return -(-inner // policy.UNIT_ELEMENTS), min(policy.UNIT_ELEMENTS, inner)


def _start_with_full_vector(f: Function, index: int, end: int, lanes: int) -> None:
    """Emit an earlier start of a block that has fewer elements than lanes."""
    if lanes > 1:
        earlier = f.local("i32")
        f.set(earlier, end, ("i32", lanes), "i32.sub")
        smaller(f, index, earlier)
        f.set(index)
        f.free(earlier)


def _rows(
    frame: Frame, evaluator: Evaluator, rows: int, inner: int, outputs: Sequence[int]
) -> tuple[int, int]:
    """Emit loops over rows and blocks of them; returns units and elements of each."""
    f = frame.f
    size = (
        policy.TRANSPOSED_COLUMNS
        if is_transposed(evaluator.expression)
        else policy.UNIT_ELEMENTS
    )
    blocks = -(-inner // size)
    together = (
        policy.TRANSPOSED_ROWS
        if size < policy.UNIT_ELEMENTS
        else max(policy.UNIT_ELEMENTS // inner, 1)
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
            f.set(start, row, length, "i32.mul")
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
            f.emit(address, value)
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
        f.emit(start, "i32.add")
    f.set(address, ("i32", size), "i32.mul", base, "i32.add")
    return address


def scatter(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a copy with positions written, the last writer winning."""
    length, writes = kernel.sizes
    original = kernel.expression("original")
    copied = map_launch(kernel, target, original, "scatter_copy", length)
    frame = Frame(kernel, target)
    position = Evaluator(frame, _positions(kernel))
    written = Evaluator(frame, _as_one_group(kernel.expression("written")))
    work = (
        flops(position.expression)
        + flops(written.expression)
        + policy.RANDOM_ACCESS_WORK
    )
    with _blocks(frame, writes) as (first, last):
        f = frame.f
        address = f.local("i32")
        with segments(frame, (position, written), first, last):
            _element_address(frame, position, OUTPUT, kernel.dtype, address)
            f.get(address)
            written.value()
            store(written.values, kernel.dtype)
    return Program((copied, _in_order(frame, "scatter_write", writes, work)))


def accumulate(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program that combines rows of an original with values, in order."""
    rows, _, width = kernel.sizes
    original, wide = kernel.expression("original"), BY_NAME[kernel.dtype].wide.name
    is_own = wide == kernel.dtype
    size, result = rows * width, OUTPUT if is_own else scratch(0)
    launches = []
    if not is_own:
        original = _with_cast(original, wide)
    launches.append(
        map_launch(kernel, target, original, "accumulate_copy", size, (result,))
    )
    launches.append(_combined(kernel, target, result, wide))
    if is_own:
        return Program(tuple(launches))
    rounded = _with_cast(_row_of(result, wide, size), kernel.dtype)
    launches.append(map_launch(kernel, target, rounded, "accumulate_round", size))
    return Program(tuple(launches), (size * itemsize(wide),))


def _combined(kernel: Kernel, target: WasmTarget, result: int, dtype: str) -> Launch:
    """Return the launch that combines one value after another with its element."""
    _, writes, width = kernel.sizes
    frame = Frame(kernel, target)
    f = frame.f
    position = Evaluator(frame, _positions(kernel))
    value = kernel.expression("written")
    if dtype != kernel.dtype:
        value = _with_cast(value, dtype)
    lanes = _lanes_of_rows(value, width, dtype) if width > 1 else 1
    written = Evaluator(frame, value if width > 1 else _as_one_group(value), lanes)
    address, row = f.local("i32"), f.local("i32")
    work = (
        flops(position.expression)
        + (flops(value) + policy.RANDOM_ACCESS_WORK) * width // lanes
    )
    with _blocks(frame, writes) as (first, last):
        if width == 1:
            with segments(frame, (position, written), first, last):
                _element_address(frame, position, result, dtype, address)
                _combine(kernel, written, dtype, address)
        else:
            with segments(frame, (position,), first, last) as write:
                position.value()
                f.set(row)
                outer = written.split(0, write) if value.accesses else []
                _combine_row(kernel, written, outer, (result, dtype, row))
    return _in_order(frame, "accumulate", writes, work)


def compress(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program that lists the positions where a mask holds."""
    (length,) = kernel.sizes
    frame = Frame(kernel, target)
    f = frame.f
    mask = Evaluator(frame, _as_one_group(kernel.expression("mask")))
    counts = _with_cast(_as_one_group(kernel.expression("running")), "int32")
    running = Evaluator(frame, counts)
    with (
        _blocks(frame, length) as (first, last),
        segments(frame, (mask, running), first, last) as index,
    ):
        mask.value()
        with f.block("if"):
            f.get(frame.storage(OUTPUT))
            running.value()
            f.emit(
                ("i32", 1),
                "i32.sub",
                ("i32", 4),
                "i32.mul",
                "i32.add",
                index,
                ("i32.store", 0),
            )
    work = flops(mask.expression) + flops(running.expression)
    slices = per_slice(policy.UNIT_ELEMENTS * work)
    return Program(
        (frame.launch("compress", -(-length // policy.UNIT_ELEMENTS), slices),)
    )


def _in_order(frame: Frame, template: str, writes: int, work: int) -> Launch:
    """Return a launch over blocks of writes, done one after another."""
    slices = per_slice(policy.UNIT_ELEMENTS * work)
    return frame.launch(
        template, -(-writes // policy.UNIT_ELEMENTS), slices, is_in_order=True
    )


@contextmanager
def _blocks(frame: Frame, size: int) -> Iterator[tuple[int, int]]:
    """Emit the loop over units of `UNIT_ELEMENTS`; yields locals of its range."""
    f = frame.f
    length, block = frame.number(size), f.constant("i32", policy.UNIT_ELEMENTS)
    with units(frame) as unit, portion(f, unit, block, length) as ends:
        yield ends


def _combine_row(
    kernel: Kernel,
    written: Evaluator,
    outer: Sequence[int],
    target: tuple[int, str, int],
) -> None:
    """Emit the loop that combines a row with values, one vector at a time.

    Args:
        kernel: the kernel of the launch.
        written: reads the values, along the second group of its expression.
        outer: coordinates in the first group.
        target: the storage of the result, its dtype, and the local with the row.
    """
    storage, dtype, row = target
    frame, f, axes = written.frame, written.frame.f, len(written.expression.groups[1])
    length, size = frame.number(kernel.sizes[2]), itemsize(dtype)
    column, address = f.local("i32"), f.local("i32")
    f.set(
        address,
        frame.storage(storage, "w"),
        row,
        length,
        "i32.mul",
        ("i32", size),
        "i32.mul",
        "i32.add",
    )
    f.set(column, ("i32", 0))
    movers: list[Mover] = [Pointer(f, address, size)]
    if axes < 2:
        written.locate([outer, [None] * axes])
        movers.append(written)
    with along(f, column, length, written.values.lanes, movers, is_whole=True):
        if axes > 1:
            written.locate([outer, written.split(1, column)])
        _combine(kernel, written, dtype, address)


def _lanes_of_rows(value: Expression, width: int, dtype: str) -> int:
    """Return the number of elements of a row that are combined at a time."""
    is_whole = width % LANES == 0 and len(value.groups[1]) < 2
    return LANES if is_whole and fits_lanes(dtype) and is_vectorizable(value) else 1


def _element_address(
    frame: Frame, position: Evaluator, result: int, dtype: str, address: int
) -> None:
    """Emit the address of the element that a position means into a local."""
    f = frame.f
    f.get(frame.storage(result, "w"))
    position.value()
    f.set(address, ("i32", itemsize(dtype)), "i32.mul", "i32.add")


def _combine(kernel: Kernel, written: Evaluator, dtype: str, address: int) -> None:
    """Emit the combination of one or four elements at an address with values."""
    f, kind, values = written.frame.f, KINDS[dtype], written.values
    old, new = (f.local(values.value_type(kind)) for _ in range(2))
    f.get(address)
    (load_neighbours if values.is_vector else load)(values, dtype)
    f.set(old)
    written.value()
    f.set(new)
    f.get(address)
    form = OPS[kernel.op].form(dtype, BY_NAME[dtype].kind)
    scope = {"operand0": (old,), "operand1": (new,)}
    values.term(expression(form, (kind, kind)), scope)
    within(values, dtype)
    (store_neighbours if values.is_vector else store)(values, dtype)
    f.free(old, new)


def _positions(kernel: Kernel) -> Expression:
    """Return the expression of positions, its axes in one group."""
    return _with_cast(_as_one_group(kernel.expression("position")), "int32")


def _as_one_group(value: Expression) -> Expression:
    """Return an expression whose axes are in one group."""
    groups = (tuple(chain.from_iterable(value.groups)),)
    accesses = tuple(
        Access(each.offset, (tuple(chain.from_iterable(each.strides)),))
        for each in value.accesses
    )
    return replace(value, groups=groups, accesses=accesses)


def _with_cast(value: Expression, dtype: str) -> Expression:
    """Return an expression whose value is cast at the end, where that is needed."""
    if value.dtype == dtype:
        return value
    cast = Step("cast", dtype, args=(value.result,))
    return replace(value, steps=(*value.steps, cast), result=len(value.steps))


def _row_of(storage: int, dtype: str, size: int) -> Expression:
    """Return the expression that reads a storage from its beginning."""
    loaded = Step("load", dtype, slot=storage, access=0)
    return Expression(((size,),), (Access(0, ((1,),)),), (loaded,), 0)
