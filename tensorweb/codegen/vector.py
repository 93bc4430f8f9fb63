"""Vectorization: whether an expression can compute four elements at once, and its WGSL.

A vectorized expression reads its buffers as `vec4` and calls one scalar function for
each of the four elements, so that every operation is generated once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tensorweb.codegen.expression import (
    PER_WORD,
    VALUE_TYPES,
    dependencies,
    is_long_code,
    packed_vector,
    read_element,
    read_slots,
    to_value,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction
from tensorweb.schedule.kernel import Access, Expression

WIDTH = 4
"""Elements of a vector."""

COMPONENTS = "xyzw"
"""Names of a vector's components in WGSL."""

# Which expressions and inputs can be read as vectors.


def is_vectorizable(expression: Expression, may_compute: bool = False) -> bool:
    """Return whether an expression can be computed in vectors along the last axis.

    The address of each load must be constant along that axis, or a multiple of four at
    the start of each vector; guarded, gathered and computed addresses are not. With
    `may_compute` gathers and index ramps are allowed: they are computed for each of the
    four elements.
    """
    return is_constant_or_vectorizable(expression, may_compute) and any(
        access.strides[-1][-1] == 1 for access in expression.accesses
    )


def is_constant_or_vectorizable(
    expression: Expression, may_compute: bool = False
) -> bool:
    """Return whether an expression is vectorizable or constant along the last axis."""
    steps, accesses = expression.steps, expression.accesses
    *_, last = expression.groups
    if not last or last[-1] % WIDTH or any(step.guard >= 0 for step in steps):
        return False
    if not may_compute:
        is_computed = any(step.kind in ("gather", "ramp") for step in steps)
        return not is_computed and all(map(is_aligned, accesses))
    vector_gathers = gathers_of_vectors(expression)
    computed = {
        step.slot
        for index, step in enumerate(steps)
        if step.kind == "gather" and index not in vector_gathers
    }
    if computed & vector_slots(expression):
        return False
    ramps = ramp_accesses(expression)
    return all(
        access.strides[-1][-1] in (-1, 0, 1) if index in ramps else is_aligned(access)
        for index, access in enumerate(accesses)
    ) and not any(step.kind == "load" and step.access in ramps for step in steps)


def is_aligned(access: Access) -> bool:
    """Return whether an access moves in aligned vectors or is constant."""
    *outer, last = access.strides
    if last[-1] == 0:
        return True
    others = [stride for group in outer for stride in group] + list(last[:-1])
    return last[-1] == 1 and all(s % WIDTH == 0 for s in (*others, access.offset))


def gathers_of_vectors(expression: Expression) -> set[int]:
    """Return the gathers, by index of the step, that read vectors of neighbours."""
    result = {
        index
        for index, step in enumerate(expression.steps)
        if step.in_lines and _adds_last_ramp(expression, step.args[0])
    }
    read_by_element = scalar_slots(expression) | {
        step.slot
        for index, step in enumerate(expression.steps)
        if step.kind == "gather" and index not in result
    }
    slots = {expression.steps[index].slot for index in result}
    return set() if slots & read_by_element else result


def _adds_last_ramp(expression: Expression, index: int) -> bool:
    """Return whether a sum varies along the last axis by one aligned ramp only."""
    terms, ramps = [index], 0
    while terms:
        index = terms.pop()
        step = expression.steps[index]
        if step.name == "add":
            terms += step.args
        elif step.kind == "ramp" and expression.accesses[step.access].strides[-1][-1]:
            ramps += 1
            if not is_aligned(expression.accesses[step.access]):
                return False
        elif any(
            expression.steps[n].access >= 0
            and expression.accesses[expression.steps[n].access].strides[-1][-1]
            for n in dependencies(expression, index)
        ):
            return False
    return ramps == 1


def ramp_accesses(expression: Expression) -> set[int]:
    """Return the accesses whose address itself is a value."""
    return {step.access for step in expression.steps if step.kind == "ramp"}


def vector_slots(expression: Expression) -> set[int]:
    """Return the inputs that a vectorized expression reads as vectors."""
    vector_gathers = gathers_of_vectors(expression)
    return {
        step.slot
        for index, step in enumerate(expression.steps)
        if index in vector_gathers
        or (step.kind == "load" and expression.accesses[step.access].strides[-1][-1])
    }


def scalar_slots(expression: Expression) -> set[int]:
    """Return the inputs that a vectorized expression reads by element."""
    return {
        step.slot
        for step in expression.steps
        if step.kind == "load" and not expression.accesses[step.access].strides[-1][-1]
    }


def vector_inputs(
    vectorized: Sequence[Expression], others: Sequence[Expression] = ()
) -> set[int]:
    """Return the inputs to declare as vectors, empty if one is not vectorizable.

    An input cannot be read both as vectors and by element in the same launch.
    """
    if not all(is_vectorizable(expression) for expression in vectorized):
        return set()
    vectors = set().union(*map(vector_slots, vectorized))
    scalars = set().union(*map(scalar_slots, vectorized), *map(read_slots, others))
    return set() if vectors & scalars else vectors


# Expressions over other index spaces.


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


def count_in_vectors(expression: Expression) -> Expression:
    """Return the expression with its last axis counted in vectors."""
    *outer, last = expression.groups
    groups = (*outer, (*last[:-1], last[-1] // WIDTH))
    accesses = []
    ramps = ramp_accesses(expression)
    for index, access in enumerate(expression.accesses):
        *strides, inner = access.strides
        if index in ramps:
            scaled = (*inner[:-1], inner[-1] * WIDTH)
            access = Access(access.offset, (*strides, scaled))
        elif inner[-1]:
            *strides, inner = (
                tuple(stride // WIDTH for stride in group)
                for group in (*strides, inner[:-1])
            )
            access = Access(access.offset // WIDTH, (*strides, (*inner, 1)))
        accesses.append(access)
    return replace(expression, groups=groups, accesses=tuple(accesses))


def without_accesses(expression: Expression, loads: Collection[int]) -> Expression:
    """Return an expression without the address computations of some loads."""
    dropped = {expression.steps[load].access for load in loads}
    return replace(
        expression,
        accesses=tuple(
            Access(0, tuple((0,) * len(group) for group in access.strides))
            if index in dropped
            else access
            for index, access in enumerate(expression.accesses)
        ),
    )


# WGSL that reads and computes vectors.


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
        return lines, [f"{name}[{index}]" for index in range(WIDTH)]
    return "", [
        call.replace("[i]", f".{component}").replace("i32(i)", f"{index}")
        for index, component in enumerate(COMPONENTS)
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


def vector_text(
    type_name: str, elements: Sequence[str] = ("{0}", "{1}", "{2}", "{3}")
) -> str:
    """Return the WGSL that constructs a vector from its elements.

    >>> vector_text("vec4<f32>")
    'vec4<f32>({0}, {1}, {2}, {3})'
    """
    return f"{type_name}({', '.join(elements)})"


def store_function(
    arguments: str,
    index: str,
    results: Sequence[str],
    offsets: Sequence[str],
    element: str = "",
    prepared: str = "",
) -> str:
    """Return the WGSL function `store` of four results of a row of a matrix.

    Args:
        arguments: its arguments: `row`, `column` and others.
        index: the index of the first result.
        results: the four results.
        offsets: distances of the results from the first, if they are stored singly.
        element: type of an element, if they are stored as a vector.
        prepared: lines before the stores.
    """
    if element:
        lines = (
            f"    result[index / 4u] = {vector_text(f'vec4<{element}>', results)};\n"
        )
    else:
        lines = "".join(
            f"    if (column + {offset} < parameters.columns) {{\n"
            f"      result[index + {offset}] = {result};\n    }}\n"
            for offset, result in zip(offsets, results, strict=True)
        )
    return (
        f"fn store({arguments}) {{\n"
        "  if (row < parameters.rows && column < parameters.columns) {\n"
        f"    let index = {index};\n{prepared}{lines}  }}\n}}\n"
    )


def add_vector_function(
    builder: LaunchBuilder,
    function: ShaderFunction,
    expression: Expression,
    type_name: str,
    form: str = "",
    passed: Collection[int] = (),
    calls: int = 1,
) -> None:
    """Add a WGSL function that computes four neighbouring elements.

    Args:
        builder: receives the function, and the parameters it uses.
        function: its name and parameters, the last of which counts vectors, with the
            type and format of one element's result.
        expression: what to compute, vectorizable.
        type_name: WGSL type of the four results together, `""` if they are stored.
        form: how they are combined, with `{0}` to `{3}` for the elements; a statement
            if they are stored. They form a vector by default.
        passed: loads, by index of the step, whose four values are further arguments of
            the function, called `v` and the index.
        calls: number of calls of the function in the kernel's text.
    """
    builder.add_inputs(expression)
    reads = _VectorReads(builder, without_accesses(expression, passed))
    steps = reads.expression.steps
    element = reads.element_function(function)
    lines = builder.addresses(function.name, function.arguments, reads.expression)
    arguments = []
    for index in reads.indices:
        argument = f"v{index}[i]"
        if index not in passed:
            text, argument = reads.read(index)
            lines += text
        arguments.append(argument)
    text, results = each_of_four(
        f"{function.name}_element({', '.join(arguments)})",
        function.result_type,
        is_long_code(expression, WIDTH * calls),
    )
    more = ", ".join(f"v{n}: vec4<{VALUE_TYPES[steps[n].dtype]}>" for n in passed)
    head = replace(function, more=more).head(type_name)
    final = (form or vector_text(type_name)).format(*results)
    last = f"  return {final};\n" if type_name else f"  {final}\n"
    builder.text += f"{element}{head} {{\n{lines}{text}{last}}}\n"


class _VectorReads:
    """Generate the reads of a vectorized function, and its function of one element.

    Attributes:
        expression: the expression, with its last axis counted in vectors.
        indices: the steps whose values are arguments of an element's function.
    """

    def __init__(self, builder: LaunchBuilder, expression: Expression) -> None:
        self.builder = builder
        self.accesses = expression.accesses
        self.expression = count_in_vectors(expression)
        vector_gathers = gathers_of_vectors(expression)
        self.indices = [
            index
            for index, step in enumerate(expression.steps)
            if step.kind in ("load", "ramp") or index in vector_gathers
        ]
        self._generated: set[int] = set()

    def element_function(self, function: ShaderFunction) -> str:
        """Return the function of one element, whose arguments are the values read."""
        steps = self.expression.steps
        listed = ", ".join(f"v{n}: {VALUE_TYPES[steps[n].dtype]}" for n in self.indices)
        arguments = {index: f"v{index}" for index in self.indices}
        body, values = self.builder.steps(self.expression, computed=arguments)
        results = [values[step] for step in self.expression.results]
        return (
            f"fn {function.name}_element({listed}) -> {function.result_type} {{\n"
            f"{body}  return {function.result.format(*results)};\n}}\n"
        )

    def read(self, index: int) -> tuple[str, str]:
        """Return the lines that read a step's values, and the value of element `i`."""
        step = self.expression.steps[index]
        if step.kind == "gather":
            lines, element_index = self._gathered_index(step.args[0])
            address, is_vector = f"{element_index} / {WIDTH}", True
        else:
            stride = self.accesses[step.access].strides[-1][-1]
            lines, address, is_vector = "", f"address{step.access}", stride == 1
            if step.kind == "ramp":
                return "", f"{address} + {stride} * i32(i)"
        dtype = self.builder.input_dtypes[step.slot]
        read, form = read_vector(step.slot, address, dtype, is_vector=is_vector)
        component = f"load{index}" + ("[i]" if is_vector else "")
        return f"{lines}  let load{index} = {read};\n", form.format(component)

    def _gathered_index(self, index: int) -> tuple[str, str]:
        """Return the lines that compute the index of a vector, and that index."""
        steps = self.expression.steps
        required = dependencies(self.expression, index) - self._generated
        computed = {n: f"v{n}" for n in range(len(steps)) if n not in required}
        lines, values = self.builder.steps(self.expression, computed=computed)
        self._generated |= {n for n in required if steps[n].kind != "scalar"}
        return lines, values[index]
