"""WGSL of one kernel's declarations and of the functions made from its expressions.

Values inside a function are `f32`, `i32`, `u32` or `bool`; float16 computes in `f32`,
small integers in 32 bits (`packing.py`), and bool is stored as `u32`. Sizes, strides,
offsets and constants are parameters, so that equal structure means equal text.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent

from tensorweb import dtypes
from tensorweb.codegen import policy
from tensorweb.codegen.fences import fences
from tensorweb.codegen.packing import PER_WORD, clamp, packed_element, wrap
from tensorweb.codegen.program import Word
from tensorweb.codegen.template import are_loops_retained, statements
from tensorweb.graph.op import Op
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Step
from tensorweb.schedule.rolling import Loop

# WGSL loops over repeated steps, with loop-carried variables.


Write = Callable[[Step, Step, Sequence[str]], str]
"""Returns the WGSL of a step.

Its arguments are the step, the corresponding step of the last iteration, whose
operation is generated, and the values of all other steps.
"""


def loop_text(
    expression: Expression,
    loop: Loop,
    before: Sequence[str],
    write: Write,
    types: Mapping[str, str],
    count: str,
) -> tuple[str, list[str]]:
    """Return the lines of a loop, and the values of its steps after the loop.

    Args:
        expression: what is computed.
        loop: the steps that repeat.
        before: the values of the steps before the loop.
        write: generates the WGSL of a step.
        types: the WGSL type of a value, by dtype.
        count: WGSL of the number of iterations.
    """
    steps = expression.steps
    lines = []
    for first_number, most in loop.carried:
        kind = types[steps[first_number].dtype]
        for back in range(1, most + 1):
            initial = first_number - back * loop.period
            has_initial = (
                initial >= 0 and steps[initial].dtype == steps[first_number].dtype
            )
            start = f" = {before[initial]}" if has_initial else ""
            lines.append(f"  var {_variable(first_number, back)}: {kind}{start};\n")
    inside = range(loop.start, loop.start + loop.period)
    body = []
    for number in inside:
        step = steps[number]
        read = [*before, *(f"v{n}" for n in inside)]
        for source in loop.carried_reads(expression, number):
            read[source] = _variable(*loop.source(source))
        last = steps[loop.end - loop.period + number - loop.start]
        body.append(f"    let v{number} = {write(step, last, read)};\n")
    for first_number, most in loop.carried:
        for back in range(most, 0, -1):
            newer = (
                _variable(first_number, back - 1) if back > 1 else f"v{first_number}"
            )
            body.append(f"    {_variable(first_number, back)} = {newer};\n")
    lines.append(_loop_of("".join(body), count))
    carried = dict(loop.carried)
    after = []
    for number in range(loop.start, loop.end):
        first_number, back = loop.last(number)
        is_carried = back <= carried.get(first_number, 0)
        after.append(_variable(first_number, back) if is_carried else "")
    return "".join(lines), after


def _loop_of(body: str, count: str) -> str:
    """Return a loop of `count` iterations around a body.

    Unrolled by `policy.ITERATIONS_UNROLLED` if the body is short.
    """
    unrolled = policy.ITERATIONS_UNROLLED
    is_long = unrolled * statements(body) > policy.MOST_TRIP_STATEMENTS
    if are_loops_retained() or is_long:
        return f"  for (var trip = 0u; trip < {count}; trip++) {{\n{body}  }}\n"
    copies = f"    {{\n{indent(body, '  ')}    }}\n" * unrolled
    return (
        "  var trip = 0u;\n"
        f"  for (; trip + {unrolled}u <= {count}; trip += {unrolled}u) {{\n"
        f"{copies}  }}\n"
        f"  for (; trip < {count}; trip++) {{\n{body}  }}\n"
    )


def _variable(number: int, back: int) -> str:
    """Return the variable that holds a step's value of `back` iterations ago."""
    return f"before{back}_v{number}"


# The identity element of a reduction, as the bits of a parameter.


def identity_bits(op: Op, dtype: str) -> int:
    """Return the bits of the identity element of `op` for values of a dtype."""
    value = op.identity.get(kind_of(dtype), op.identity.get("any", 0))
    if not isinstance(value, str):
        return number_bits(value, dtype)
    is_lowest = value == "lowest"
    if dtype == "bool":
        return 0 if is_lowest else 1
    if kind_of(dtype) == "float":
        return number_bits(float("-inf") if is_lowest else float("inf"), dtype)
    low, high = dtypes.integer_range(dtypes.BY_NAME[dtype])
    return number_bits(low if is_lowest else high, dtype)


PARAMETER_LIMIT = 64
"""Largest number of words in a launch's parameter block."""

ZERO = "zero"
"""Name of the parameter that hides values from compilers: its value is 0.

One word of the block is reserved for it, since a constant would hide nothing.
"""


VALUE_TYPES = {
    "bool": "bool",
    "int8": "i32",
    "int16": "i32",
    "int32": "i32",
    "uint8": "u32",
    "uint16": "u32",
    "uint32": "u32",
    "float16": "f32",
    "float32": "f32",
}
"""WGSL type of a value inside a function, by dtype."""

_CASTS = {
    ("bool", "float"): "select(0.0, 1.0, {0})",
    ("bool", "int"): "select(0, 1, {0})",
    ("bool", "uint"): "select(0u, 1u, {0})",
    ("int", "float"): "f32_from_i32({0})",
    ("uint", "float"): "f32_from_u32({0})",
    ("int", "uint"): "u32({0})",
    ("uint", "int"): "i32({0})",
    ("float", "int"): "i32_from_f32({0})",
    ("float", "uint"): "u32_from_f32({0})",
    ("float", "bool"): "not_equal_f32({0}, 0.0)",
    ("int", "bool"): "({0} != 0)",
    ("uint", "bool"): "({0} != 0u)",
}


def storage_type(dtype: str) -> str:
    """Return the WGSL type of an element stored unpacked."""
    return dtypes.BY_NAME[dtype].wgsl


def read_element(
    slot: int, address: str, dtype: str, *, in_vectors: bool = False
) -> str:
    """Return the WGSL value of the element of input `slot` at `address`.

    With `in_vectors` the input is declared as an array of `vec4`.
    """
    if dtype in PER_WORD:
        return packed_element(f"input{slot}", address, dtype)
    if in_vectors:
        address = f"u32({address}) / 4u][u32({address}) % 4u"
    return to_value(f"input{slot}[{address}]", dtype)


def kind_of(dtype: str) -> str:
    """Return the kind of the dtype with this name."""
    return dtypes.BY_NAME[dtype].kind


def to_value(text: str, dtype: str) -> str:
    """Return the WGSL expression that converts a stored element to a value."""
    if dtype == "bool":
        return f"({text} != 0u)"
    return f"f32({text})" if dtype == "float16" else text


def to_storage(text: str, dtype: str) -> str:
    """Return the WGSL expression that converts a value to a stored element."""
    if dtype == "bool":
        return f"select(0u, 1u, {text})"
    return f"f16({text})" if dtype == "float16" else text


def number_bits(value: float, dtype: str) -> int:
    """Return the 32 bits of a Python number as a signed word."""
    kind = kind_of(dtype)
    if kind == "float":
        try:
            packed = struct.pack("<f", value)
        except OverflowError:
            packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
        return int(struct.unpack("<i", packed)[0])
    bits = int(value) & 0xFFFFFFFF
    return bits - (1 << 32) if bits >> 31 else bits


def number_words(value: float, dtype: str) -> tuple[int, int]:
    """Return the 64 bits of a Python number as two signed words, the low one first.

    >>> number_words(2**33 + 1, "int64"), number_words(-1, "int64")
    ((1, 2), (-1, -1))
    """
    if kind_of(dtype) == "float":
        packed = struct.pack("<d", value)
    else:
        packed = (int(value) & 0xFFFF_FFFF_FFFF_FFFF).to_bytes(8, "little")
    low, high = struct.unpack("<ii", packed)
    return int(low), int(high)


Binding = tuple[str, str, str, int]
"""A buffer of a launch: name, access (`r` or `w`), WGSL type of an element, id."""


class Declarations:
    """Collect the parameters of one launch and generate its declarations."""

    def __init__(self, scalar_dtypes: Sequence[str] = (), fixed: str = "") -> None:
        """Start without parameters.

        Args:
            scalar_dtypes: dtypes of the kernel's constants.
            fixed: the argument whose axis lengths are literals where they are at most
                `LONGEST_FIXED`, so that compilers replace divisions by multiplications:
                the loop variable, over a convolution window for example.
        """
        self.scalar_dtypes = scalar_dtypes
        self.fixed = fixed
        self.vectors: Collection[int] = ()  # inputs of which steps read one component
        self.words: list[Word] = []
        self._fields: list[str] = []
        self._constants: list[str] = []
        self._scalars: dict[int, str] = {}
        self._numbers = 0
        self._room = PARAMETER_LIMIT - len(scalar_dtypes) - 1

    def parameter(self, name: str, type_name: str, value: Word) -> str:
        """Return the WGSL of a new parameter; a `const` if the block is full."""
        if isinstance(value, int) and self._room == 0:
            literal = f"{value}u" if type_name == "u32" else f"{value}"
            self._constants.append(f"const {name}: {type_name} = {literal};\n")
            return name
        self._room -= isinstance(value, int)
        self.words.append(value)
        self._fields.append(f"  {name}: {type_name},\n")
        return f"parameters.{name}"

    def size(self, name: str, value: int, argument: str) -> str:
        """Return the WGSL of the length of an axis of `argument`."""
        if argument == self.fixed and value <= policy.LONGEST_FIXED:
            return f"{value}u"
        return self.parameter(name, "u32", value)

    def number(self, value: int) -> str:
        """Return the WGSL of an i32 that is not one of the user's constants."""
        self._numbers += 1
        return self.parameter(f"number{self._numbers}", "i32", value)

    def scalar(self, slot: int) -> str:
        """Return the WGSL value of the kernel's constant `slot`."""
        found = self._scalars.get(slot)
        if found is None:
            dtype = self.scalar_dtypes[slot]
            kind = VALUE_TYPES[dtype]
            name = self.parameter(
                f"scalar{slot}", "u32" if kind == "bool" else kind, (slot, dtype)
            )
            found = self._scalars[slot] = f"({name} != 0u)" if kind == "bool" else name
        return found

    def add_zero(self, library: str) -> None:
        """Add the parameter `zero` if the library functions in `library` read it."""
        if f"parameters.{ZERO}" in library:
            self._room += 1
            self.parameter(ZERO, "u32", 0)

    def text(self, bindings: Sequence[Binding]) -> str:
        """Return the struct of parameters and the declarations of buffers."""
        lines = ["struct Parameters {\n", *self._fields, "}\n", *self._constants]
        for index, (name, access, element, _) in enumerate(bindings):
            mode = "read" if access == "r" else "read_write"
            lines.append(
                f"@group(0) @binding({index}) "
                f"var<storage, {mode}> {name}: array<{element}>;\n"
            )
        lines.append(
            f"@group(0) @binding({len(bindings)}) "
            "var<uniform> parameters: Parameters;\n"
        )
        return "".join(lines)


@dataclass(frozen=True, slots=True)
class Signature:
    """Name, parameters and result of a WGSL function generated from an expression.

    Attributes:
        name: name of the function and prefix of its parameters' names.
        arguments: one u32 per group of axes: the row-major index inside the group.
        result_type: WGSL type of the result, `""` for a function that stores it.
        result: format of the last statement, filled with the values of the expression's
            results; the full statement if `result_type` is empty.
        more: further arguments, as WGSL text.
        core: the WGSL value of a `core` step.
    """

    name: str
    arguments: tuple[str, ...]
    result_type: str
    result: str = "{0}"
    more: str = ""
    core: str = "core"

    def head(self, result_type: str) -> str:
        """Return the function's text up to its body."""
        listed = ", ".join(f"{argument}: u32" for argument in self.arguments)
        listed += f", {self.more}" if self.more else ""
        return f"fn {self.name}({listed})" + (
            f" -> {result_type}" if result_type else ""
        )


def function(
    declarations: Declarations,
    signature: Signature,
    expression: Expression,
    input_dtypes: Sequence[str],
    given: Mapping[int, str] | None = None,
    loop: Loop | None = None,
) -> str:
    """Return a WGSL function that computes an expression at one index.

    Args:
        declarations: receives the sizes, strides, offsets and constants it uses.
        signature: name, parameters and result of the function.
        expression: what to compute.
        input_dtypes: dtypes of the kernel's inputs.
        given: WGSL names of values that are already computed, by index of the step.
        loop: the steps to generate as a loop.
    """
    name, arguments = signature.name, signature.arguments
    lines = coordinates(declarations, name, arguments, expression)
    lines += addresses(declarations, name, arguments, expression)
    body, values = steps_text(
        expression, declarations, input_dtypes, signature.core, given, loop
    )
    final = signature.result.format(*(values[each] for each in expression.results))
    last = f"  return {final};\n" if signature.result_type else f"  {final}\n"
    head = signature.head(signature.result_type)
    return f"{head} {{\n{''.join(lines)}{body}{last}}}\n"


def steps_text(
    expression: Expression,
    declarations: Declarations,
    input_dtypes: Sequence[str],
    core: str,
    given: Mapping[int, str] | None = None,
    loop: Loop | None = None,
) -> tuple[str, list[str]]:
    """Return the WGSL lines of an expression's steps, and the value of each step.

    `given` maps indices of steps to the names of values that are already computed. The
    steps of `loop` are generated once, as the body of a loop.
    """
    values: list[str] = []
    lines = []
    for number, step in enumerate(expression.steps):
        if loop is not None and loop.start <= number < loop.end:
            if number == loop.start:

                def write(one: Step, last: Step, read: Sequence[str]) -> str:
                    if one.kind in ("map", "cast"):
                        form = form_of(last, expression)
                        return form.format(*(read[number] for number in one.args))
                    inputs = input_dtypes
                    return step_text(one, expression, read, declarations, inputs, core)

                count = declarations.parameter("iterations", "u32", loop.iterations)
                text, repeated = loop_text(
                    expression, loop, values, write, VALUE_TYPES, count
                )
                lines.append(text)
                values += repeated
            continue
        if given and number in given:
            values.append(given[number])
            continue
        text = step_text(step, expression, values, declarations, input_dtypes, core)
        if step.kind in ("scalar", "core"):
            values.append(text)
            continue
        lines.append(f"  let v{number} = {text};\n")
        values.append(f"v{number}")
    return "".join(lines), values


def coordinates(
    declarations: Declarations,
    name: str,
    arguments: Sequence[str],
    expression: Expression,
    numbers: Sequence[int] | None = None,
) -> list[str]:
    """Return lines that split the index of each group into coordinates per axis.

    `numbers` are the indices of the groups in parameter names, 0, 1, … by default.
    """
    lines = []
    for group, (argument, sizes) in enumerate(
        zip(arguments, expression.groups, strict=True)
    ):
        rest = argument
        for axis in range(len(sizes) - 1, -1, -1):
            coordinate = f"{argument}_{axis}"
            if axis == 0:
                lines.append(f"  let {coordinate} = i32({rest});\n")
                continue
            number = numbers[group] if numbers else group
            size = declarations.size(
                f"{name}_size{number}_{axis}", sizes[axis], argument
            )
            lines.append(f"  let {coordinate} = i32({rest} % {size});\n")
            lines.append(f"  let {argument}_above_{axis} = {rest} / {size};\n")
            rest = f"{argument}_above_{axis}"
    return lines


def addresses(
    declarations: Declarations,
    name: str,
    arguments: Sequence[str],
    expression: Expression,
) -> list[str]:
    """Return lines that compute the address of each access."""
    lines = []
    for number, access in enumerate(expression.accesses):
        terms = []
        if access.offset:
            terms.append(
                declarations.parameter(f"{name}_offset{number}", "i32", access.offset)
            )
        for group, strides in enumerate(access.strides):
            for axis, stride in enumerate(strides):
                coordinate = f"{arguments[group]}_{axis}"
                if stride == 1:
                    terms.append(coordinate)
                elif stride:
                    factor = declarations.parameter(
                        f"{name}_stride{number}_{group}_{axis}", "i32", stride
                    )
                    terms.append(f"{coordinate} * {factor}")
        lines.append(f"  let address{number} = {' + '.join(terms) or '0'};\n")
    return lines


def step_text(
    step: Step,
    expression: Expression,
    values: Sequence[str],
    declarations: Declarations,
    input_dtypes: Sequence[str],
    core: str,
) -> str:
    """Return the WGSL of one step, from the values of the steps before it."""
    kind = step.kind
    if kind in ("load", "gather"):
        address = f"address{step.access}"
        if kind == "gather":
            address = values[step.args[0]]
        if step.guard >= 0:
            address = f"select(0, {address}, {values[step.guard]})"
        in_vectors = step.slot in declarations.vectors
        dtype = input_dtypes[step.slot]
        return read_element(step.slot, address, dtype, in_vectors=in_vectors)
    if kind == "ramp":
        return f"address{step.access}"
    if kind == "scalar":
        if step.name:
            return declarations.number(int(step.name))
        return declarations.scalar(step.slot)
    if kind == "core":
        return wrap(core if step.slot < 0 else f"{core}_{step.slot}", step.dtype)
    return form_of(step, expression).format(*(values[number] for number in step.args))


def form_of(step: Step, expression: Expression) -> str:
    """Return the WGSL of an operation or cast, with operands `{0}`, `{1}`, ….

    Wraps the operand that needs a fence in `fenced_f32`; see `fences`.
    """
    operand = expression.steps[step.args[-1]].dtype
    if step.kind == "cast":
        source, target = kind_of(operand), kind_of(step.dtype)
        form = "{0}" if source == target else _CASTS[source, target]
        if source == "float" and step.dtype in PER_WORD:
            return clamp(form, step.dtype)
        form = wrap(form, step.dtype)
        return f"f32(f16({form}))" if step.dtype == "float16" else form
    form = wrap(operation_form(step, operand), step.dtype)
    fenced = fences(expression.steps).get(step)
    if fenced is None:
        return form
    return form.replace(f"{{{fenced}}}", f"fenced_f32({{{fenced}}})")


def operation_form(step: Step, operand: str) -> str:
    """Return the WGSL of an operation for operands of a dtype, from the op table."""
    return OPS[step.name].form(operand, kind_of(operand))


# Dependencies of one step of an expression, and that step as a sub-expression.


def dependencies(
    expression: Expression, number: int, given: Container[int] = ()
) -> set[int]:
    """Return a step and all steps it depends on, stopping at the steps in `given`."""
    found, stack = {number}, [number]
    while stack:
        step = expression.steps[stack.pop()]
        for source in (*step.args, step.guard):
            if source >= 0 and source not in found and source not in given:
                found.add(source)
                stack.append(source)
    return found


def subexpression(expression: Expression, result: int) -> Expression:
    """Return one step as an expression with only its dependencies."""
    numbers = sorted(dependencies(expression, result))
    index_of = {number: at for at, number in enumerate(numbers)} | {-1: -1}
    used = sorted({expression.steps[n].access for n in numbers} - {-1})
    access = {number: at for at, number in enumerate(used)} | {-1: -1}
    steps = tuple(
        replace(
            step,
            access=access[step.access],
            args=tuple(index_of[source] for source in step.args),
            guard=index_of[step.guard],
        )
        for step in (expression.steps[number] for number in numbers)
    )
    accesses = tuple(expression.accesses[number] for number in used)
    return Expression(expression.groups, accesses, steps, index_of[result])


# Estimate the code size of an expression, to choose between copies and a loop.
#
# Drivers inline every call before they optimise, so compile time grows with the number
# of calls in a kernel's text: on software adapters by up to a second per thousand
# statements when two cores are busy. A loop around one call is compiled once; GPU
# compilers unroll it where that pays.


def statement_count(
    expression: Expression, steps: Collection[int] | None = None
) -> int:
    """Return the number of statements of an expression, with library calls inlined.

    Args:
        expression: the expression of a kernel.
        steps: indices of the steps to count; all steps by default.
    """
    return sum(
        1 + statements(form_of(step, expression))
        for number, step in enumerate(expression.steps)
        if step.kind in ("map", "cast") and (steps is None or number in steps)
    )


def is_bulky(expression: Expression, copies: int) -> bool:
    """Return whether `copies` copies of an expression exceed `MOST_STATEMENTS`."""
    return statement_count(expression) * copies > policy.MOST_STATEMENTS
