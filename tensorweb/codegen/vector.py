"""Vectorization: whether an expression can compute four elements at once, and its WGSL.

A vectorized expression reads its buffers as `vec4` and calls one scalar function for
each of the four elements, so that every operation is generated once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    addresses,
    coordinates,
    dependencies,
    is_bulky,
    read_element,
    steps_text,
    to_value,
)
from tensorweb.codegen.packing import PER_WORD, packed_vector
from tensorweb.schedule.kernel import Access, Expression

WIDTH = 4
"""Elements of a vector."""

COMPONENTS = "xyzw"
"""Names of a vector's components in WGSL."""


def is_vectorizable(expression: Expression, may_compute: bool = False) -> bool:
    """Return whether an expression can be computed in vectors along the last axis.

    The address of each load must be constant along that axis, or a multiple of four at
    the start of each vector; guarded, gathered and computed addresses are not. With
    `may_compute` gathers and index ramps are allowed: they are computed for each of the
    four elements.
    """
    return reads_whole_vectors(expression, may_compute) and any(
        access.strides[-1][-1] == 1 for access in expression.accesses
    )


def reads_whole_vectors(expression: Expression, may_compute: bool = False) -> bool:
    """Return whether an expression is vectorizable or constant along the last axis."""
    *_, last = expression.groups
    if not last or last[-1] % WIDTH:
        return False
    if any(step.guard >= 0 for step in expression.steps):
        return False
    if not may_compute:
        return not any(
            step.kind in ("gather", "ramp") for step in expression.steps
        ) and (all(moves_in_vectors(access) for access in expression.accesses))
    if computed_slots(expression) & vector_slots(expression):
        return False
    ramps = ramp_accesses(expression)
    return all(
        access.strides[-1][-1] in (-1, 0, 1)
        if number in ramps
        else moves_in_vectors(access)
        for number, access in enumerate(expression.accesses)
    ) and not any(
        step.kind == "load" and step.access in ramps for step in expression.steps
    )


def computed_slots(expression: Expression) -> set[int]:
    """Return the inputs that are read one by one at computed addresses."""
    lines = line_gathers(expression)
    return {
        step.slot
        for number, step in enumerate(expression.steps)
        if step.kind == "gather" and number not in lines
    }


def line_gathers(expression: Expression) -> set[int]:
    """Return the gathers, by index of the step, that read vectors of neighbours."""
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
    """Return whether a sum varies along the last axis by one aligned ramp only."""
    terms, ramps = [number], 0
    while terms:
        number = terms.pop()
        step = expression.steps[number]
        if step.name == "add":
            terms += step.args
        elif step.kind == "ramp" and expression.accesses[step.access].strides[-1][-1]:
            ramps += 1
            if not moves_in_vectors(expression.accesses[step.access]):
                return False
        elif any(
            expression.steps[n].access >= 0
            and expression.accesses[expression.steps[n].access].strides[-1][-1]
            for n in dependencies(expression, number)
        ):
            return False
    return ramps == 1


def ramp_accesses(expression: Expression) -> set[int]:
    """Return the accesses whose address itself is a value."""
    return {step.access for step in expression.steps if step.kind == "ramp"}


def reorder_groups(expression: Expression, order: tuple[int, ...]) -> Expression:
    """Return an expression with its groups of axes in another order."""
    return replace(
        expression,
        groups=tuple(expression.groups[i] for i in order),
        accesses=tuple(
            Access(access.offset, tuple(access.strides[i] for i in order))
            for access in expression.accesses
        ),
    )


def moves_in_vectors(access: Access) -> bool:
    """Return whether an access moves in aligned vectors or is constant."""
    *outer, last = access.strides
    if last[-1] == 0:
        return True
    others = [stride for group in outer for stride in group] + list(last[:-1])
    return last[-1] == 1 and all(s % WIDTH == 0 for s in (*others, access.offset))


def vector_slots(expression: Expression) -> set[int]:
    """Return the inputs that a vectorized expression reads as vectors."""
    lines = line_gathers(expression)
    return {
        step.slot
        for number, step in enumerate(expression.steps)
        if number in lines
        or (step.kind == "load" and expression.accesses[step.access].strides[-1][-1])
    }


def scalar_slots(expression: Expression) -> set[int]:
    """Return the inputs that a vectorized expression reads one by one."""
    return {
        step.slot
        for step in expression.steps
        if step.kind == "load" and not expression.accesses[step.access].strides[-1][-1]
    }


def count_in_vectors(expression: Expression) -> Expression:
    """Return the expression with its last axis counted in vectors."""
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
    """Return an expression without the address computations of the given loads."""
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
        call: WGSL of the call, with `[i]` and `i32(i)` for the element's index.
        type_name: WGSL type of its result.
        in_loop: whether the text contains the call once, in a loop; else four calls.
        name: name of the variable that holds the results of a loop.
    """
    if in_loop:
        lines = (
            f"  var {name}: array<{type_name}, {WIDTH}>;\n"
            f"  for (var i = 0u; i < {WIDTH}u; i++) {{\n    {name}[i] = {call};\n  }}\n"
        )
        return lines, [f"{name}[{number}]" for number in range(WIDTH)]
    return "", [
        call.replace("[i]", f".{component}").replace("i32(i)", f"{number}")
        for number, component in enumerate(COMPONENTS)
    ]


def read_vector(
    slot: int, address: str, dtype: str, *, is_vector: bool = True
) -> tuple[str, str]:
    """Return the WGSL that reads a vector of an input, and the format of a component.

    Without `is_vector` one element is read, which is the value of all four.
    """
    if dtype not in PER_WORD:
        return f"input{slot}[{address}]", to_value("{0}", dtype)
    if is_vector:
        return packed_vector(f"input{slot}", address, dtype), "{0}"
    return read_element(slot, address, dtype), "{0}"


@dataclass(frozen=True, slots=True)
class Combination:
    """How four results are combined: a WGSL type, and its format with `{0}` to `{3}`.

    Without a type the format is the statement that stores them.
    """

    type_name: str
    form: str

    @property
    def last(self) -> str:
        """The last line of the function."""
        return f"  return {self.form};\n" if self.type_name else f"  {self.form}\n"


def vector_of(type_name: str) -> Combination:
    """Return the combination of four results into a vector type's constructor.

    >>> vector_of("vec4<f32>").form
    'vec4<f32>({0}, {1}, {2}, {3})'
    """
    return Combination(type_name, f"{type_name}({{0}}, {{1}}, {{2}}, {{3}})")


def vector_function(
    declarations: Declarations,
    signature: Signature,
    expression: Expression,
    input_dtypes: Sequence[str],
    joined: Combination,
    given: Collection[int] = (),
    calls: int = 1,
) -> str:
    """Return a WGSL function that computes four neighbouring elements.

    Args:
        declarations: receives the sizes, strides, offsets and constants it uses.
        signature: signature of the function, with the type and format of one element's
            result; its last argument counts vectors.
        expression: what to compute, vectorizable.
        input_dtypes: dtypes of the kernel's inputs.
        joined: how the function combines the four results.
        given: loads, by index of the step, whose four values are further arguments of
            the function, called `v` and the index.
        calls: number of calls of the function in the kernel's text.
    """
    reads = _Reads(declarations, without_accesses(expression, given), input_dtypes)
    element = reads.element_function(signature)
    lines = coordinates(
        declarations, signature.name, signature.arguments, reads.quarter
    )
    lines += addresses(declarations, signature.name, signature.arguments, reads.quarter)
    passed = []
    for number in reads.numbers:
        text, argument = "", f"v{number}[i]"
        if number not in given:
            text, argument = reads.read(number)
        lines.append(text)
        passed.append(argument)
    text, results = each_of_four(
        f"{signature.name}_element({', '.join(passed)})",
        signature.result_type,
        is_bulky(reads.quarter, WIDTH * calls),
    )
    steps = reads.quarter.steps
    more = ", ".join(f"v{n}: vec4<{VALUE_TYPES[steps[n].dtype]}>" for n in given)
    head = replace(signature, more=more).head(joined.type_name)
    last = joined.last.format(*results)
    return f"{element}{head} {{\n{''.join(lines)}{text}{last}}}\n"


class _Reads:
    """Generate the reads of a vectorized function, and its function of one element.

    Attributes:
        quarter: the expression, with its last axis counted in vectors.
        numbers: the steps whose values are arguments of an element's function.
    """

    def __init__(
        self,
        declarations: Declarations,
        expression: Expression,
        input_dtypes: Sequence[str],
    ) -> None:
        self.declarations = declarations
        self.expression = expression
        self.input_dtypes = input_dtypes
        self.quarter = count_in_vectors(expression)
        lines = line_gathers(expression)
        self.numbers = [
            number
            for number, step in enumerate(self.quarter.steps)
            if step.kind in ("load", "ramp") or number in lines
        ]
        self._written: set[int] = set()

    def _steps(self, given: Mapping[int, str]) -> tuple[str, list[str]]:
        return steps_text(
            self.quarter, self.declarations, self.input_dtypes, "core", given
        )

    def element_function(self, signature: Signature) -> str:
        """Return the function of one element, whose arguments are the values read."""
        steps = self.quarter.steps
        listed = ", ".join(f"v{n}: {VALUE_TYPES[steps[n].dtype]}" for n in self.numbers)
        body, values = self._steps({number: f"v{number}" for number in self.numbers})
        results = [values[each] for each in self.quarter.results]
        return (
            f"fn {signature.name}_element({listed}) -> {signature.result_type} {{\n"
            f"{body}  return {signature.result.format(*results)};\n}}\n"
        )

    def read(self, number: int) -> tuple[str, str]:
        """Return the lines that read a step's values, and the value of element `i`."""
        step = self.quarter.steps[number]
        if step.kind == "ramp":
            stride = self.expression.accesses[step.access].strides[-1][-1]
            return "", f"address{step.access} + {stride} * i32(i)"
        if step.kind == "gather":
            lines, position = self._line_position(step.args[0])
            address, is_vector = f"{position} / {WIDTH}", True
        else:
            lines, address = "", f"address{step.access}"
            is_vector = self.expression.accesses[step.access].strides[-1][-1] == 1
        dtype = self.input_dtypes[step.slot]
        read, form = read_vector(step.slot, address, dtype, is_vector=is_vector)
        part = f"load{number}" + ("[i]" if is_vector else "")
        return f"{lines}  let load{number} = {read};\n", form.format(part)

    def _line_position(self, position: int) -> tuple[str, str]:
        """Return the lines that compute a vector's index, and that index."""
        steps = self.quarter.steps
        needed = dependencies(self.quarter, position) - self._written
        ready = {n: f"v{n}" for n in range(len(steps)) if n not in needed}
        lines, values = self._steps(ready)
        self._written |= {n for n in needed if steps[n].kind != "scalar"}
        return lines, values[position]
