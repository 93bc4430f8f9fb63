"""Four neighbouring elements at once: when an expression allows it, and its WGSL.

A vectorised expression reads its storages as `vec4` and calls one scalar function for
each of the four elements, so every operation is written once.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import replace

from tensorweb.codegen.bulk import is_bulky
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    addresses,
    coordinates,
    loaded,
    steps_text,
)
from tensorweb.schedule.kernel import Access, Expression

WIDTH = 4
COMPONENTS = "xyzw"


def is_vectorizable(expression: Expression, may_compute: bool = False) -> bool:
    """Whether every load moves in whole vectors along the last axis, or stays.

    Loads need storage positions that are multiples of four at each vector's beginning;
    guarded, gathered and computed positions have none. With `may_compute` gathers and
    index ramps are fine: they are made for each of the four elements.
    """
    return reads_whole_vectors(expression, may_compute) and any(
        access.strides[-1][-1] == 1 for access in expression.accesses
    )


def reads_whole_vectors(expression: Expression, may_compute: bool = False) -> bool:
    """Whether the same holds, or nothing moves along the last axis."""
    *_, last = expression.groups
    if not last or last[-1] % WIDTH:
        return False
    if any(step.guard >= 0 for step in expression.steps):
        return False
    if not may_compute:
        return not any(
            step.kind in ("gather", "ramp") for step in expression.steps
        ) and (all(_moves_in_vectors(access) for access in expression.accesses))
    if computed_slots(expression) & vector_slots(expression):
        return False
    ramps = ramp_accesses(expression)
    return all(
        access.strides[-1][-1] in (-1, 0, 1)
        if number in ramps
        else _moves_in_vectors(access)
        for number, access in enumerate(expression.accesses)
    ) and not any(
        step.kind == "load" and step.access in ramps for step in expression.steps
    )


def computed_slots(expression: Expression) -> set[int]:
    """Return the inputs that are read one by one at computed positions."""
    lines = line_gathers(expression)
    return {
        step.slot
        for number, step in enumerate(expression.steps)
        if step.kind == "gather" and number not in lines
    }


def line_gathers(expression: Expression) -> set[int]:
    """Return the gathers, by number of the step, that read vectors of neighbours."""
    found = {
        number
        for number, step in enumerate(expression.steps)
        if step.in_lines and _adds_last_ramp(expression, step.args[0])
    }
    slots = {expression.steps[number].slot for number in found}
    alone = scalar_slots(expression) | {
        step.slot
        for number, step in enumerate(expression.steps)
        if step.kind == "gather" and number not in found
    }
    return set() if slots & alone else found


def _adds_last_ramp(expression: Expression, number: int) -> bool:
    """Whether a sum has an aligned ramp along the last axis, the rest moving not."""
    terms, ramps = [number], 0
    while terms:
        number = terms.pop()
        step = expression.steps[number]
        if step.name == "add":
            terms += step.args
        elif step.kind == "ramp" and expression.accesses[step.access].strides[-1][-1]:
            ramps += 1
            if not _moves_in_vectors(expression.accesses[step.access]):
                return False
        elif any(
            expression.steps[n].access >= 0
            and expression.accesses[expression.steps[n].access].strides[-1][-1]
            for n in reached(expression, number)
        ):
            return False
    return ramps == 1


def reached(
    expression: Expression, number: int, given: Container[int] = ()
) -> set[int]:
    """Return the steps that a step reads, itself among them, short of those given."""
    found, stack = {number}, [number]
    while stack:
        step = expression.steps[stack.pop()]
        for source in (*step.args, step.guard):
            if source >= 0 and source not in found and source not in given:
                found.add(source)
                stack.append(source)
    return found


def ramp_accesses(expression: Expression) -> set[int]:
    """Return the accesses whose storage position itself is a value."""
    return {step.access for step in expression.steps if step.kind == "ramp"}


def regrouped(expression: Expression, order: tuple[int, ...]) -> Expression:
    """Return an expression with its groups of axes in another order."""
    return replace(
        expression,
        groups=tuple(expression.groups[i] for i in order),
        accesses=tuple(
            Access(access.offset, tuple(access.strides[i] for i in order))
            for access in expression.accesses
        ),
    )


def _moves_in_vectors(access: Access) -> bool:
    *outer, last = access.strides
    if last[-1] == 0:
        return True
    others = [stride for group in outer for stride in group] + list(last[:-1])
    return last[-1] == 1 and all(s % WIDTH == 0 for s in (*others, access.offset))


def vector_slots(expression: Expression) -> set[int]:
    """Return the inputs that a vectorised expression reads as vectors."""
    lines = line_gathers(expression)
    return {
        step.slot
        for number, step in enumerate(expression.steps)
        if number in lines
        or (step.kind == "load" and expression.accesses[step.access].strides[-1][-1])
    }


def scalar_slots(expression: Expression) -> set[int]:
    """Return the inputs that a vectorised expression reads one by one."""
    return {
        step.slot
        for step in expression.steps
        if step.kind == "load" and not expression.accesses[step.access].strides[-1][-1]
    }


def in_vectors(expression: Expression) -> Expression:
    """Return the same index space counted in vectors along its last axis."""
    *outer, last = expression.groups
    groups = (*outer, (*last[:-1], last[-1] // WIDTH))
    accesses = []
    ramps = ramp_accesses(expression)
    for number, access in enumerate(expression.accesses):
        *strides, inner = access.strides
        if inner[-1] == 0:
            accesses.append(access)
            continue
        if number in ramps:
            wide = (*inner[:-1], inner[-1] * WIDTH)
            accesses.append(Access(access.offset, (*strides, wide)))
            continue
        quarter = tuple(
            tuple(s // WIDTH for s in group) for group in (*strides, inner[:-1])
        )
        accesses.append(
            Access(access.offset // WIDTH, (*quarter[:-1], (*quarter[-1], 1)))
        )
    return replace(expression, groups=groups, accesses=tuple(accesses))


def without_accesses(expression: Expression, loads: Collection[int]) -> Expression:
    """Return an expression whose given loads have no positions to compute."""
    dropped = {expression.steps[number].access for number in loads}
    return replace(
        expression,
        accesses=tuple(
            Access(0, tuple((0,) * len(group) for group in access.strides))
            if number in dropped
            else access
            for number, access in enumerate(expression.accesses)
        ),
    )


def each_of_four(
    call: str, type_name: str, in_loop: bool, name: str = "each"
) -> tuple[str, list[str]]:
    """Return lines that make a call for each of four elements, and the four results.

    Args:
        call: what is called, with `[i]` and `i32(i)` for the element's place.
        type_name: WGSL type of its result.
        in_loop: whether the call stands in the text once; else the results are calls.
        name: of the variable that holds the results of a loop.
    """
    if in_loop:
        lines = (
            f"  var {name}: array<{type_name}, {WIDTH}>;\n"
            f"  for (var i = 0u; i < {WIDTH}u; i++) {{\n    {name}[i] = {call};\n  }}\n"
        )
        return lines, [f"{name}[{place}]" for place in range(WIDTH)]
    return "", [
        call.replace("[i]", f".{component}").replace("i32(i)", f"{place}")
        for place, component in enumerate(COMPONENTS)
    ]


def vector_function(
    declarations: Declarations,
    name: str,
    arguments: Sequence[str],
    expression: Expression,
    input_dtypes: Sequence[str],
    result_type: str,
    result: str,
    joined: str,
    given: Collection[int] = (),
    calls: int = 1,
) -> str:
    """Return WGSL that computes four neighbouring elements.

    Args:
        declarations: receives the sizes, strides, offsets and constants it needs.
        name: of the function; its last argument counts vectors.
        arguments: one u32 per group of axes.
        expression: what to compute, vectorisable.
        input_dtypes: dtypes of the kernel's inputs.
        result_type: WGSL type of one element's result.
        result: form of one element's result around its value.
        joined: what the function returns, `{0}` to `{3}` are the four results; its type
            comes first, divided by a bar: `vec4<f32>|vec4<f32>({0}, {1}, {2}, {3})`.
        given: loads, by number of the step, whose four values are further arguments of
            the function, called `v` and the number.
        calls: how many times the kernel's text calls the function.
    """
    expression = without_accesses(expression, given)
    quarter = in_vectors(expression)
    lines_read = line_gathers(expression)
    written: set[int] = set()
    loads = [
        (number, step)
        for number, step in enumerate(quarter.steps)
        if step.kind in ("load", "ramp") or number in lines_read
    ]
    parameters = ", ".join(
        f"v{number}: {VALUE_TYPES[step.dtype]}" for number, step in loads
    )
    known = {number: f"v{number}" for number, _ in loads}
    body, values = steps_text(quarter, declarations, input_dtypes, "core", known)
    element = (
        f"fn {name}_element({parameters}) -> {result_type} {{\n{body}"
        f"  return {result.format(values[quarter.result])};\n}}\n"
    )
    lines = coordinates(declarations, name, arguments, quarter)
    lines += addresses(declarations, name, arguments, quarter)
    passed: list[str] = []
    for number, step in loads:
        if number in given:
            passed.append(f"v{number}[i]")
            continue
        if step.kind == "ramp":
            stride = expression.accesses[step.access].strides[-1][-1]
            passed.append(f"address{step.access} + {stride} * i32(i)")
            continue
        if number in lines_read:
            needed = reached(quarter, step.args[0]) - written
            others = set(range(len(quarter.steps))) - needed
            ready = {n: f"v{n}" for n in others}
            text, places = steps_text(
                quarter, declarations, input_dtypes, "core", ready
            )
            lines.append(text)
            written |= {n for n in needed if quarter.steps[n].kind != "scalar"}
            is_vector, place_text = True, f"{places[step.args[0]]} / {WIDTH}"
        else:
            is_vector = expression.accesses[step.access].strides[-1][-1] == 1
            place_text = f"address{step.access}"
        lines.append(f"  let load{number} = input{step.slot}[{place_text}];\n")
        part = f"load{number}" + ("[i]" if is_vector else "")
        passed.append(loaded(part, input_dtypes[step.slot]))
    call = f"{name}_element({', '.join(passed)})"
    text, results = each_of_four(call, result_type, is_bulky(quarter, WIDTH * calls))
    lines.append(text)
    type_name, form = joined.split("|")
    listed = ", ".join(f"{argument}: u32" for argument in arguments)
    for number in given:
        value = VALUE_TYPES[quarter.steps[number].dtype]
        listed += f", v{number}: vec4<{value}>"
    return (
        f"{element}fn {name}({listed}) -> {type_name} {{\n{''.join(lines)}"
        f"  return {form.format(*results)};\n}}\n"
    )
