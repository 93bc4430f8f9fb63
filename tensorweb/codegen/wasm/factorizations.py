"""Programs that take matrices apart: each matrix is a unit, which one thread does."""

from __future__ import annotations

from tensorweb.codegen.factorizations import ROUTINES, Routine
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.wasm.elements import KINDS, itemsize
from tensorweb.codegen.wasm.elementwise import map_launch
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import units
from tensorweb.codegen.wasm.routines import (
    READ,
    RoutineReader,
    RoutineTranslation,
    routine_text,
)
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.schedule.kernel import Expression, Kernel

SHARED = (
    *("owns", "others", "products", "imaginary_products"),
    *("partial", "imaginary_partial"),
)
"""Arrays of a workgroup, of which one thread uses an element each."""


def factor(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a kernel that takes matrices apart.

    Operands that are computed, or lie otherwise, are laid out first.
    """
    routine = ROUTINES[kernel.op](kernel)
    launches: list[Launch] = []
    sizes: list[int] = []
    arrays = {"result": OUTPUT}
    size = itemsize(kernel.dtype)
    for name, value in kernel.expressions:
        found = _in_order(value)
        if found is None:
            found = scratch(len(sizes))
            count = _length(value, kernel, name)
            sizes.append(count * size)
            made = map_launch(kernel, target, value, "factor_copy", count, (found,))
            launches.append(made)
        arrays[name] = found
    arrays["work"] = scratch(len(sizes))
    sizes.append(max(routine.scratch, 1) * size)
    shared = scratch(len(sizes))
    sizes.append(routine.groups * len(SHARED) * size)
    launches.append(_launch(kernel, target, routine, arrays, shared))
    return Program(tuple(launches), tuple(sizes))


def _length(value: Expression, kernel: Kernel, name: str) -> int:
    """Return the number of elements of an operand."""
    count, rows, columns, width, *_ = kernel.sizes
    is_right = kernel.op == "triangular_solve" and name != READ[0]
    return count * rows * (width if is_right else columns)


def _in_order(value: Expression) -> int | None:
    """Return the input that an operand is, laid out in order, None for others."""
    (step, *more), axes = value.steps, value.groups[0]
    if more or step.kind != "load":
        return None
    access = value.accesses[step.access]
    is_plain = access.offset == 0 and len(axes) < 2 and set(access.strides[0]) <= {1}
    return step.slot if is_plain else None


def _launch(
    kernel: Kernel,
    target: WasmTarget,
    routine: Routine,
    arrays: dict[str, int],
    shared: int,
) -> Launch:
    """Return the launch of the routine itself, all of its steps at once."""
    frame = Frame(kernel, target)
    f, kind = frame.f, KINDS[kernel.dtype]
    places = {
        f"parameters_{name}": (frame.number(value),)
        for name, value in {
            "begin": 0,
            "end": routine.end,
            **routine.parameters,
        }.items()
    }
    locals_ = {
        name: frame.storage(place, "r" if name in READ else "w")
        for name, place in arrays.items()
    }
    own = frame.storage(shared, "w")
    size = itemsize(kernel.dtype)
    for name in SHARED:
        locals_[name] = f.own_local("i32")
    is_complex = kernel.op.startswith("complex")
    text = routine_text(routine.template, kind, is_complex=is_complex)
    types = {"matrix": "u32", **dict.fromkeys(places, "u32")}
    body = RoutineReader(text, types, kind).statements()
    with units(frame) as unit:
        for number, name in enumerate(SHARED):
            f.get(unit)
            f.const("i32", len(SHARED) * size)
            f.op("i32.mul")
            f.get(own)
            f.const("i32", number * size)
            f.ops("i32.add", "i32.add")
            f.set(locals_[name])
        translation = RoutineTranslation(frame.writer, f, locals_, kernel.dtype)
        translation.body(body, {**places, "matrix": (unit,)})
    slices = per_slice(routine.end * routine.work)
    return frame.launch(routine.template, routine.groups, slices)
