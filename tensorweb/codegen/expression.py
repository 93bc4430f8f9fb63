"""WGSL of the steps of an expression: types, conversions, operations and loops.

Values inside a function are `f32`, `i32`, `u32` or `bool`; 16-bit floats compute in
`f32`, small integers in 32 bits, and bool is stored as `u32`.

Fences keep NaN and infinities. WGSL lets compilers apply the rules of real numbers to
floats: NVIDIA's and Mesa's simplify `(a - v) + v` to `a` and `v - v` to 0, and factor
`c * a + c * b` into `c * (a + b)`. They can do so only if a value takes part in both
sides of an addition or subtraction, as a term or as a factor of a term, or is a factor
of both sides of a product, since `a * (a * s)` may become `(a * a) * s`, which
overflows sooner. In these cases one operand passes through `fenced_f32`
(`shaders/math/`), whose result compilers cannot analyse.

NVIDIA's compiler simplifies `x * f32(b)` to `select(0, x, b)`, which loses the NaN of
`inf * 0`. In this case the bool passes through the fence.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from textwrap import indent

from tensorweb import dtypes
from tensorweb.codegen import policy
from tensorweb.codegen.template import are_loops_retained, statements
from tensorweb.graph.op import Op
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Step
from tensorweb.schedule.rolling import Loop

SUMS = frozenset(("add", "subtract"))
PRODUCTS = frozenset(("multiply", "square"))
FENCED = SUMS | {"multiply", "divide"}
"""Operations of which an operand may be fenced."""

SIGNS = frozenset(("negative", "positive"))
THROUGH = frozenset(("abs", "maximum", "minimum", "relu", "where"))
"""Operations whose result is one of their operands, up to its sign."""

FLOATS = frozenset(("float16", "bfloat16", "float32"))

_LATEST: deque[tuple[Sequence[Step], Mapping[Step, int]]] = deque(maxlen=8)
"""Cache of `fences` for the latest expressions, since it is called for each step."""


def fences(steps: Sequence[Step]) -> Mapping[Step, int]:
    """Return the steps with a fenced operand, and the index of that operand.

    >>> load = Step("load", "float32", slot=0, access=0)
    >>> rest = Step("map", "float32", "subtract", args=(1, 0))
    >>> back = Step("map", "float32", "add", args=(2, 0))
    >>> fences((load, Step("scalar", "float32", slot=0), rest, back)) == {back: 0}
    True
    """
    for cached_steps, result in tuple(_LATEST):
        if cached_steps is steps:
            return result
    result = _fenced_operands(steps)
    _LATEST.append((steps, result))
    return result


def _fenced_operands(steps: Sequence[Step]) -> dict[Step, int]:
    if not any(step.name in FENCED and step.dtype in FLOATS for step in steps):
        return {}
    terms: list[int] = []
    factors: list[int] = []
    result: dict[Step, int] = {}
    for index, step in enumerate(steps):
        factors.append(_factors(step, index, factors))
        terms.append(_terms(step, index, terms, factors))
        if step.name in FENCED and step.dtype in FLOATS:
            operand = _fenced_operand(steps, step, terms, factors)
            if operand is not None:
                result[step] = operand
    return result


def _fenced_operand(
    steps: Sequence[Step], step: Step, terms: Sequence[int], factors: Sequence[int]
) -> int | None:
    """Return the index of the operand to fence, None if neither needs it."""
    left, right = step.args
    is_sum = step.name in SUMS
    if not is_sum:
        for operand, arg in enumerate(step.args):
            if is_bool(steps, arg):
                return operand
    parts = terms if is_sum else factors
    is_same = left == right and step.name != "subtract"
    if step.name == "divide" or is_same or not parts[left] & parts[right]:
        return None
    return _operand_to_fence(steps, is_sum, left, right)


def is_bool(steps: Sequence[Step], index: int) -> bool:
    """Return whether a value is a bool that was cast, whose only values are 0 and 1."""
    step = steps[index]
    while step.kind == "cast":
        step = steps[step.args[-1]]
        if step.dtype == "bool":
            return True
    return False


def _factors(step: Step, index: int, factors: Sequence[int]) -> int:
    """Return a bit mask of the steps that are factors of a value, itself included."""
    result = 1 << index
    if step.name in PRODUCTS or step.name in SIGNS:
        for arg in step.args:
            result |= factors[arg]
    return result


def _terms(step: Step, index: int, terms: Sequence[int], factors: Sequence[int]) -> int:
    """Return a bit mask of the terms of a value and of the factors of each term."""
    result = 1 << index
    if step.dtype not in FLOATS or step.kind not in ("map", "cast"):
        return result
    if step.name in PRODUCTS:
        return factors[index]
    args: tuple[int, ...] = ()
    if step.name in SUMS | SIGNS | THROUGH or step.kind == "cast":
        args = step.args[1:] if step.name == "where" else step.args
    for arg in args:
        result |= terms[arg]
    return result


def _operand_to_fence(
    steps: Sequence[Step], is_sum: bool, left: int, right: int
) -> int:
    """Return the index of the operand to fence: the one that was computed later.

    A sum then never contains a fenced value twice: `(a + f) - f` would be `a` again. If
    only the later operand is a product, the other one is fenced, so that the product
    and the sum can become one fused multiply-add.
    """
    later, other = (0, 1) if left > right else (1, 0)
    args = (left, right)
    is_product = is_sum and steps[args[later]].name in PRODUCTS
    if is_product and steps[args[other]].name not in PRODUCTS:
        return other
    return later


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
    lines.append(loop_of("".join(body), count))
    carried = dict(loop.carried)
    after = []
    for number in range(loop.start, loop.end):
        first_number, back = loop.last(number)
        is_carried = back <= carried.get(first_number, 0)
        after.append(_variable(first_number, back) if is_carried else "")
    return "".join(lines), after


def loop_of(body: str, count: str) -> str:
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


# Conversions between packed small integers or bfloat16 in a buffer and 32-bit values.
#
# A word of a buffer holds four elements of 8 bits or two of 16, the first one in its
# lowest bits. A value is an `i32` or `u32` within the range of its dtype: results of
# operations that leave the range are wrapped. The WGSL functions named here are in
# `shaders/math/`.

PER_WORD = {
    dtype.name: 32 // dtype.bits
    for dtype in dtypes.ALL
    if dtype.kind in ("int", "uint", "float") and dtype.bits < 32
    if dtype is not dtypes.float16  # WGSL has f16
}
"""Elements per word, by name of the packed dtypes."""

PER_VECTOR = 4
"""Elements of a vector, which fill one or two words."""


def wrap(text: str, dtype: str) -> str:
    """Return the expression that wraps an integer to the range of a packed dtype.

    >>> wrap("a", "uint8"), wrap("a", "int16"), wrap("a", "int32")
    ('((a) & 255u)', '(((a) << 16u) >> 16u)', 'a')
    """
    if dtype not in PER_WORD or kind_of(dtype) == "float":
        return text
    bits = 32 // PER_WORD[dtype]
    if dtypes.BY_NAME[dtype].kind == "uint":
        return f"(({text}) & {(1 << bits) - 1}u)"
    return f"((({text}) << {32 - bits}u) >> {32 - bits}u)"


def clamp(text: str, dtype: str) -> str:
    """Return the expression that clamps an integer to the range of a packed dtype.

    >>> clamp("a", "int8")
    'clamp(a, -128, 127)'
    """
    low, high = dtypes.integer_range(dtypes.BY_NAME[dtype])
    unit = "u" if low == 0 else ""
    return f"clamp({text}, {low}{unit}, {high}{unit})"


def packed_element(words: str, address: str, dtype: str) -> str:
    """Return the value of the element of a packed buffer at `address`.

    >>> packed_element("input0", "at", "uint8")
    'uint8_of(input0[u32(at) / 4u], u32(at))'
    """
    at = f"u32({address})"
    return f"{dtype}_of({words}[{at} / {PER_WORD[dtype]}u], {at})"


def packed_vector(words: str, address: str, dtype: str) -> str:
    """Return four neighbouring values of a packed buffer, by index of the vector.

    >>> packed_vector("input0", "at", "int16")
    'int16_vector(input0[2u * u32(at)], input0[2u * u32(at) + 1u])'
    """
    count = PER_VECTOR // PER_WORD[dtype]
    at = f"u32({address})" if count == 1 else f"{count}u * u32({address})"
    read = [f"{words}[{at}{f' + {n}u' if n else ''}]" for n in range(count)]
    return f"{dtype}_vector({', '.join(read)})"


def packed_word(dtype: str, *elements: str) -> str:
    """Return the word that packs neighbouring values, truncating each to its width.

    >>> packed_word("int16", "a", "b")
    'word_of_halves(u32(a), u32(b))'
    """
    if kind_of(dtype) == "float":
        return f"word_of_{dtype}({', '.join(elements)})"
    name = "word_of_bytes" if PER_WORD[dtype] == PER_VECTOR else "word_of_halves"
    return f"{name}({', '.join(f'u32({element})' for element in elements)})"


# Values as unsigned integers in the same order, see `shaders/math/order.wgsl`.

TO_BITS = {
    "float": "bitcast<u32>({0})",
    "int": "bitcast<u32>({0})",
    "uint": "{0}",
    "bool": "select(0u, 1u, {0})",
}
"""The word in which a value is moved and compared, by kind of dtype."""

ORDER_FUNCTIONS = {
    "float": "order_of_f32",
    "int": "order_of_i32",
    "uint": "order_of_u32",
    "bool": "order_of_u32",
}
"""The WGSL function from a value's bits to its key, by kind of dtype."""


def order_key(kind: str, flip: str) -> str:
    """Return the format of a value's key; the mask `flip` reverses the order.

    >>> order_key("float", "0u")
    'order_of_f32(bitcast<u32>({0}), 0u)'
    """
    return f"{ORDER_FUNCTIONS[kind]}({TO_BITS[kind]}, {flip})"


# The identity element of a reduction, also as the bits of a parameter.


def identity_of(op: Op, dtype: str) -> float:
    """Return the identity element of an operation.

    >>> identity_of(OPS["max"], "int8")
    -128
    """
    kind = kind_of(dtype)
    value = op.identity
    if not isinstance(value, str):
        return value
    is_lowest = value == "lowest"
    if kind == "bool":
        return 0 if is_lowest else 1
    if kind == "float":
        return float("-inf") if is_lowest else float("inf")
    return dtypes.integer_range(dtypes.BY_NAME[dtype])[0 if is_lowest else 1]


def identity_bits(op: Op, dtype: str) -> int:
    """Return the bits of the identity element of `op` for values of a dtype."""
    return number_bits(identity_of(op, dtype), dtype)


_TYPES_OF_KINDS = {"bool": "bool", "int": "i32", "uint": "u32", "float": "f32"}

VALUE_TYPES = {
    dtype.name: _TYPES_OF_KINDS[dtype.kind]
    for dtype in dtypes.ALL
    if dtype.kind in _TYPES_OF_KINDS and dtype.bits <= 32
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


_ROUNDED = {"float16": "f32(f16({0}))", "bfloat16": "rounded_to_bfloat16({0})"}
"""The nearest float of a dtype that computes in `f32`."""


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


def form_of(step: Step, expression: Expression) -> str:
    """Return the WGSL of an operation or cast, with operands `{0}`, `{1}`, ….

    Wraps the operand that needs a fence in `fenced_f32`; see `fences`.
    """
    operand = expression.steps[step.args[-1]].dtype
    if step.kind == "cast":
        source, target = kind_of(operand), kind_of(step.dtype)
        form = "{0}" if source == target else _CASTS[source, target]
        if source == "float" and target != "float" and step.dtype in PER_WORD:
            return clamp(form, step.dtype)
        if step.dtype == "bfloat16" and operand in ("int32", "uint32"):
            return form.replace("f32_from", "bfloat16_from")
        return _ROUNDED.get(step.dtype, "{0}").format(wrap(form, step.dtype))
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
    expression: Expression, step: int, computed: Container[int] = ()
) -> set[int]:
    """Return a step and all steps it depends on, stopping at computed steps."""
    result, stack = {step}, [step]
    while stack:
        reader = expression.steps[stack.pop()]
        for source in (*reader.args, reader.guard):
            if source >= 0 and source not in result and source not in computed:
                result.add(source)
                stack.append(source)
    return result


def read_slots(expression: Expression) -> set[int]:
    """Return the inputs that an expression loads or gathers."""
    return {step.slot for step in expression.steps if step.kind in ("load", "gather")}


def subexpression(expression: Expression, result: int) -> Expression:
    """Return one step as an expression with only its dependencies."""
    old_steps = sorted(dependencies(expression, result))
    old_accesses = sorted({expression.steps[n].access for n in old_steps} - {-1})
    new_step = {old: new for new, old in enumerate(old_steps)} | {-1: -1}
    new_access = {old: new for new, old in enumerate(old_accesses)} | {-1: -1}
    steps = tuple(
        replace(
            step,
            access=new_access[step.access],
            args=tuple(new_step[source] for source in step.args),
            guard=new_step[step.guard],
        )
        for step in (expression.steps[old] for old in old_steps)
    )
    accesses = tuple(expression.accesses[old] for old in old_accesses)
    return Expression(expression.groups, accesses, steps, new_step[result])


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


def is_long_code(expression: Expression, copies: int) -> bool:
    """Return whether `copies` copies of an expression exceed `MOST_STATEMENTS`."""
    return statement_count(expression) * copies > policy.MOST_STATEMENTS
