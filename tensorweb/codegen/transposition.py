"""Programs of elementwise kernels over turned inputs, staged through tiles."""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    addresses,
    coordinates,
    function,
    loaded,
    storage_type,
    stored,
)
from tensorweb.codegen.families import input_storages, launch
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step
from tensorweb.shapes import strides

TILE = 32
LEAST_LENGTH = 16
"""Axes shorter than this are read as they lie."""

MOST_TILES = 3
"""Tiles of 4.1 KiB that fit the workgroup memory every device has."""

ARGUMENTS = ("layer", "down", "across")


@dataclass(frozen=True, slots=True)
class Turn:
    """Which axis turned inputs lie along, and which of the steps are their loads."""

    axis: int
    loads: tuple[int, ...]


def find_turn(expression: Expression) -> Turn | None:
    """Return how an elementwise expression's inputs are turned, None if they are not.

    The merged axes end with the one that the result lies along.
    """
    (sizes,) = expression.groups
    if len(sizes) < 2 or sizes[-1] < LEAST_LENGTH:
        return None
    by_axis: dict[int, list[int]] = {}
    for number, step in enumerate(expression.steps):
        if step.kind != "load" or step.guard >= 0:
            continue
        (steps,) = expression.accesses[step.access].strides
        if steps[-1] in (0, 1):
            continue
        along = [axis for axis in range(len(sizes) - 1) if steps[axis] == 1]
        if along and sizes[along[0]] >= LEAST_LENGTH:
            by_axis.setdefault(along[0], []).append(number)
    if not by_axis:
        return None
    axis = max(by_axis, key=lambda a: len(by_axis[a]))
    return Turn(axis, tuple(by_axis[axis][:MOST_TILES]))


def split_axes(expression: Expression, axis: int) -> Expression:
    """Return the expression over (the other axes), (axis), (the last axis)."""
    (sizes,) = expression.groups
    last = len(sizes) - 1
    others = [a for a in range(last) if a != axis]

    def parted(values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(values[a] for a in others), (values[axis],), (values[last],)

    return Expression(
        parted(sizes),
        tuple(Access(a.offset, parted(a.strides[0])) for a in expression.accesses),
        expression.steps,
        expression.result,
    )


def _load(
    declarations: Declarations,
    kernel: Kernel,
    expression: Expression,
    number: int,
    step: Step,
) -> str:
    """Return the function that reads one turned input."""
    name = f"load{number}"
    one = Expression(expression.groups, (expression.accesses[step.access],), (), 0)
    lines = coordinates(declarations, name, ARGUMENTS, one)
    lines += addresses(declarations, name, ARGUMENTS, one)
    dtype = kernel.input_dtypes[step.slot]
    value = loaded(f"input{step.slot}[address0]", dtype)
    listed = ", ".join(f"{argument}: u32" for argument in ARGUMENTS)
    return (
        f"fn {name}({listed}) -> {VALUE_TYPES[dtype]} {{\n{''.join(lines)}"
        f"  return {value};\n}}\n"
    )


def transposition(kernel: Kernel, turn: Turn) -> Program:
    """Return the program of an elementwise kernel whose inputs are turned."""
    whole = kernel.expression("value")
    expression = split_axes(whole, turn.axis)
    others, (down,), (across,) = expression.groups
    layers = 1
    for size in others:
        layers *= size
    declarations = Declarations(kernel.scalar_dtypes)
    for name, size in (("down", down), ("across", across), ("layers", layers)):
        declarations.parameter(name, "u32", size)
    loads = [(number, expression.steps[number]) for number in turn.loads]
    text = "".join(
        _load(declarations, kernel, expression, number, step) for number, step in loads
    )
    (sizes,) = whole.groups
    result = split_axes(
        Expression(whole.groups, (Access(0, (strides(sizes),)),), (), 0), turn.axis
    )
    lines = coordinates(declarations, "place", ARGUMENTS, result)
    lines += addresses(declarations, "place", ARGUMENTS, result)
    listed = ", ".join(f"{argument}: u32" for argument in ARGUMENTS)
    text += (
        f"fn place({listed}) -> u32 {{\n{''.join(lines)}  return u32(address0);\n}}\n"
    )
    types = {number: VALUE_TYPES[step.dtype] for number, step in loads}
    text += function(
        declarations,
        "value",
        ARGUMENTS,
        expression,
        kernel.input_dtypes,
        storage_type(kernel.dtype),
        stored("{0}", kernel.dtype),
        extra_arguments=", ".join(f"v{n}: {t}" for n, t in types.items()),
        given={number: f"v{number}" for number in types},
    )
    spots = ", ".join(f"tile{number}[spot]" for number in types)
    storages, slots = input_storages(kernel, [expression])
    storages.append(("result", "w", storage_type(kernel.dtype)))
    area = TILE * (TILE + 1)
    groups = layers * -(-down // TILE) * -(-across // TILE)
    return Program(
        (
            launch(
                "transpose",
                declarations,
                storages,
                (*slots, OUTPUT),
                text,
                groups,
                tiles="".join(
                    f"var<workgroup> tile{number}: array<{kind}, {area}>;\n"
                    for number, kind in types.items()
                ),
                stage="".join(
                    f"      tile{number}[spot] = load{number}(layer, down, across);\n"
                    for number in types
                ),
                finish="      result[place(layer, down, across)] = "
                f"value(layer, down, across, {spots});\n",
            ),
        )
    )
