"""Kernels that write at computed positions: scatter, accumulate and compress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.wasm.elements import (
    KINDS,
    fits_lanes,
    flops,
    is_vectorizable,
    itemsize,
    load,
    load_neighbours,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.elementwise import map_launch
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.loops import Mover, Pointer, along, portion, segments, units
from tensorweb.codegen.wasm.operators import LANES
from tensorweb.codegen.wasm.policy import (
    RANDOM_ACCESS_WORK,
    UNIT_ELEMENTS,
)
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.dtypes import BY_NAME
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step

_WIDER = {"float16": "float32"}
"""Dtype of accumulation, if it is not that of the values."""


def scatter(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a copy with positions written, the last writer winning."""
    length, writes = kernel.sizes
    original = kernel.expression("original")
    copied = map_launch(kernel, target, original, "scatter_copy", length)
    frame = Frame(kernel, target)
    position = Evaluator(frame, _positions(kernel))
    written = Evaluator(frame, _as_one_group(kernel.expression("written")))
    work = flops(position.expression) + flops(written.expression) + RANDOM_ACCESS_WORK
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
    original, wide = kernel.expression("original"), _WIDER.get(kernel.dtype)
    size, result = rows * width, OUTPUT if wide is None else scratch(0)
    launches = []
    if wide is not None:
        original = _with_cast(original, wide)
    launches.append(
        map_launch(kernel, target, original, "accumulate_copy", size, (result,))
    )
    launches.append(_combined(kernel, target, result, wide or kernel.dtype))
    if wide is None:
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
        + (flops(value) + RANDOM_ACCESS_WORK) * width // lanes
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
        f.begin("if")
        f.get(frame.storage(OUTPUT))
        running.value()
        f.const("i32", 1)
        f.op("i32.sub")
        f.const("i32", 4)
        f.ops("i32.mul", "i32.add")
        f.get(index)
        f.memory("i32.store")
        f.end()
    work = flops(mask.expression) + flops(running.expression)
    slices = per_slice(UNIT_ELEMENTS * work)
    return Program((frame.launch("compress", -(-length // UNIT_ELEMENTS), slices),))


def _in_order(frame: Frame, template: str, writes: int, work: int) -> Launch:
    """Return a launch over blocks of writes, done one after another."""
    slices = per_slice(UNIT_ELEMENTS * work)
    return frame.launch(template, -(-writes // UNIT_ELEMENTS), slices, is_in_order=True)


@contextmanager
def _blocks(frame: Frame, size: int) -> Iterator[tuple[int, int]]:
    """Emit the loop over units of `UNIT_ELEMENTS`; yields locals of its range."""
    f = frame.f
    length, block = frame.number(size), f.constant("i32", UNIT_ELEMENTS)
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
    f.get(frame.storage(storage, "w"))
    f.get(row)
    f.get(length)
    f.op("i32.mul")
    f.const("i32", size)
    f.ops("i32.mul", "i32.add")
    f.set(address)
    f.const("i32", 0)
    f.set(column)
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
    f.const("i32", itemsize(dtype))
    f.ops("i32.mul", "i32.add")
    f.set(address)


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
    f.free(old)
    f.free(new)


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
