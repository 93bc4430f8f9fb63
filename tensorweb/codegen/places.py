"""Positions of an operand in two parts, one fixed and one that moves with depth.

Where a group has several axes, an index is divided into coordinates. Windows of a
convolution need that for every element, so the part of rows or columns is computed once
before the loop over depth and four elements share the part of their depth.

What is computed from loaded elements, a choice of padding for example, would wait for
them. So it is a function of its own, called when a tile has been multiplied meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    coordinates,
    loaded,
    steps_text,
)
from tensorweb.schedule.kernel import Access, Expression


def has_several_axes(expression: Expression) -> bool:
    """Whether rows, columns or depth are divided into coordinates, or loads guarded."""
    return any(len(group) > 1 for group in expression.groups[1:]) or any(
        step.kind == "ramp" for step in expression.steps
    )


def only_load(expression: Expression) -> int | None:
    """Return the number of the step that loads, if no other loads or gathers."""
    kinds = [step.kind for step in expression.steps]
    is_only = kinds.count("load") == 1 and "gather" not in kinds
    return kinds.index("load") if is_only else None


def type_name(name: str) -> str:
    """Return the WGSL type of one part of an operand's positions."""
    return f"{name.title()}Place"


def loaded_name(name: str) -> str:
    """Return the WGSL type of what is loaded of an operand's element."""
    return f"{name.title()}Loaded"


def placed_function(
    declarations: Declarations,
    name: str,
    arguments: Sequence[str],
    expression: Expression,
    input_dtypes: Sequence[str],
    ahead: int | None = None,
) -> str:
    """Return `NAME_fixed(batch, …)`, `NAME_moving(depth)` and `NAME(fixed, moving)`.

    And, if a load is to be done ahead, `NAME_load(fixed, moving)`; then what that
    returned is the third argument of `NAME`.

    Args:
        declarations: receives the sizes, strides, offsets and constants it needs.
        name: of the operand.
        arguments: names of the groups, `depth` among them.
        expression: what an element is, with one group of axes for each argument.
        input_dtypes: dtypes of the kernel's inputs.
        ahead: the step that loads. It is not guarded then: beyond its end a buffer
            gives some value, which the choice that a guard comes from does not take.
    """
    place = type_name(name)
    fields = "".join(f"  p{i}: i32,\n" for i in range(len(expression.accesses)))
    moving = [argument == "depth" for argument in arguments]
    text = f"struct {place} {{\n{fields}}}\n"
    for part, chosen in (("fixed", False), ("moving", True)):
        own = [i for i, is_moving in enumerate(moving) if is_moving is chosen]
        names = [arguments[i] for i in own]
        lines = coordinates(declarations, name, names, _only(expression, own), own)
        sums = [
            _sum(declarations, name, arguments, access, number, own, not chosen)
            for number, access in enumerate(expression.accesses)
        ]
        listed = ", ".join(f"{argument}: u32" for argument in names)
        text += (
            f"fn {name}_{part}({listed}) -> {place} {{\n{''.join(lines)}"
            f"  return {place}({', '.join(sums)});\n}}\n"
        )
    third, given = "", {}
    if ahead is not None:
        step = expression.steps[ahead]
        address = f"fixed.p{step.access} + moving.p{step.access}"
        value = loaded(f"input{step.slot}[{address}]", input_dtypes[step.slot])
        kind = loaded_name(name)
        text += (
            f"alias {kind} = {VALUE_TYPES[step.dtype]};\n"
            f"fn {name}_load(fixed: {place}, moving: {place}) -> {kind} {{\n"
            f"  return {value};\n}}\n"
        )
        third, given = f", loaded: {kind}", {ahead: "loaded"}
    body, values = steps_text(expression, declarations, input_dtypes, "core", given)
    added = "".join(
        f"  let address{i} = fixed.p{i} + moving.p{i};\n"
        for i in range(len(expression.accesses))
    )
    return (
        f"{text}fn {name}(fixed: {place}, moving: {place}{third}) -> Value {{\n"
        f"{added}{body}  return {values[expression.result]};\n}}\n"
    )


def _only(expression: Expression, groups: Sequence[int]) -> Expression:
    """Return an expression's groups of axes without its steps."""
    return Expression(tuple(expression.groups[i] for i in groups), (), (), 0)


def _sum(
    declarations: Declarations,
    name: str,
    arguments: Sequence[str],
    access: Access,
    number: int,
    groups: Sequence[int],
    has_offset: bool,
) -> str:
    """Return one part of an access's position."""
    terms = []
    if has_offset and access.offset:
        terms.append(
            declarations.parameter(f"{name}_offset{number}", "i32", access.offset)
        )
    for group in groups:
        for axis, stride in enumerate(access.strides[group]):
            coordinate = f"{arguments[group]}_{axis}"
            if stride == 1:
                terms.append(coordinate)
            elif stride:
                factor = declarations.parameter(
                    f"{name}_stride{number}_{group}_{axis}", "i32", stride
                )
                terms.append(f"{coordinate} * {factor}")
    return " + ".join(terms) or "0"
