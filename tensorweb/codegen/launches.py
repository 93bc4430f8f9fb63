"""Programs of the kinds without a core: elementwise, scatter and compress.

Also packs small integers: a thread of an elementwise kernel computes full words; the
launches of other kernels store one element per word of scratch, and a further launch
packs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import prod

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    Binding,
    Declarations,
    Signature,
    function,
    kind_of,
    storage_type,
    to_storage,
)
from tensorweb.codegen.packing import PER_VECTOR, PER_WORD, packed_word
from tensorweb.codegen.program import OUTPUT, Launch, Program, grid_of, output, scratch
from tensorweb.codegen.target import Target
from tensorweb.codegen.template import fill, functions_for
from tensorweb.codegen.vector import (
    WIDTH,
    Combination,
    is_vectorizable,
    scalar_slots,
    vector_function,
    vector_of,
    vector_slots,
)
from tensorweb.schedule.kernel import BY_ROW, Expression, Kernel, result_kind
from tensorweb.schedule.rolling import find_loop

Bindings = list[Binding]


def vector_inputs(
    vectorized: Sequence[Expression], others: Sequence[Expression] = ()
) -> set[int]:
    """Return the inputs to declare as vectors, empty if one is not vectorizable.

    An input cannot be read both as vectors and one by one in the same launch.
    """
    if not all(is_vectorizable(expression) for expression in vectorized):
        return set()
    vectors = set().union(*(vector_slots(expression) for expression in vectorized))
    scalars = set().union(*(scalar_slots(expression) for expression in vectorized))
    for expression in others:
        scalars.update(
            step.slot for step in expression.steps if step.kind in ("load", "gather")
        )
    return set() if vectors & scalars else vectors


def input_bindings(
    kernel: Kernel,
    expressions: Sequence[Expression],
    vectors: Collection[int] = (),
) -> Bindings:
    """Return the bindings of the inputs that expressions read."""
    slots = sorted(
        {
            step.slot
            for expression in expressions
            for step in expression.steps
            if step.kind in ("load", "gather")
        }
    )
    bindings = []
    for slot in slots:
        dtype = kernel.input_dtypes[slot]
        element = "u32" if dtype in PER_WORD else storage_type(dtype)
        is_vector = slot in vectors and dtype not in PER_WORD
        element = f"vec4<{element}>" if is_vector else element
        bindings.append((f"input{slot}", "r", element, slot))
    return bindings


def constants(values: Mapping[str, int]) -> str:
    """Return lines that declare constants; a Python bool becomes a WGSL bool.

    >>> print(constants({"ROWS": 4, "IS_INVERSE": False}), end="")
    const ROWS: u32 = 4u;
    const IS_INVERSE: bool = false;
    """
    lines = (
        f"const {name}: bool = {str(value).lower()};\n"
        if isinstance(value, bool)
        else f"const {name}: u32 = {value}u;\n"
        for name, value in values.items()
    )
    return "".join(lines)


def launch(
    template: str,
    declarations: Declarations,
    bindings: Bindings,
    functions: str,
    groups: int,
    **slots: str,
) -> Launch:
    """Return a launch of a filled template."""
    return repeated_launch(
        template, declarations, bindings, functions, groups, slots, {}
    )


def repeated_launch(
    template: str,
    declarations: Declarations,
    bindings: Bindings,
    functions: str,
    groups: int,
    slots: Mapping[str, str],
    repeats: Mapping[str, Sequence[Mapping[str, str]]],
) -> Launch:
    """Return a launch of a filled template that repeats some of its lines."""
    times = [each for times in repeats.values() for each in times]
    calling = [functions, *(text for each in (slots, *times) for text in each.values())]
    library = functions_for("".join(calling))
    declarations.add_zero(library)
    source = fill(
        template,
        {
            "declarations": declarations.text(bindings),
            "functions": library + functions,
            **slots,
        },
        repeats,
    )
    return Launch(
        template,
        source,
        "".join(access for _, access, _, _ in bindings),
        tuple(buffer for *_, buffer in bindings),
        grid_of(groups),
        tuple(declarations.words),
    )


def _vectors(value: Expression) -> tuple[bool, set[int]]:
    """Return whether a kernel is vectorized, and its inputs read as vectors."""
    in_vectors = is_vectorizable(value, may_compute=True) and not find_loop(value)
    vectors = vector_slots(value) if in_vectors else set()
    if vectors and vectors & scalar_slots(value):
        return False, set()
    return in_vectors, vectors


def elementwise(kernel: Kernel, target: Target) -> Program:
    """Return the program of an elementwise kernel, in vectors where possible."""
    if len(kernel.dtypes) > 1:
        return elementwise_several(kernel, target)
    (length,) = kernel.sizes
    value = kernel.expression("value")
    element = storage_type(kernel.dtype)
    in_vectors, vectors = _vectors(value)
    declarations = Declarations(kernel.scalar_dtypes)
    steps = length // WIDTH if in_vectors else length
    declarations.parameter("length", "u32", steps)
    form = to_storage("{0}", kernel.dtype)
    signature = Signature("value", ("index",), element, form)
    if in_vectors:
        element = f"vec4<{element}>"
        body = vector_function(
            declarations, signature, value, kernel.input_dtypes, vector_of(element)
        )
    else:
        inputs, loop = kernel.input_dtypes, find_loop(value)
        body = function(declarations, signature, value, inputs, loop=loop)
    bindings = input_bindings(kernel, [value], vectors)
    bindings.append(("result", "w", element, OUTPUT))
    groups = -(-steps // policy.WORKGROUP)
    return Program((launch("elementwise", declarations, bindings, body, groups),))


def is_packed_elementwise(kernel: Kernel) -> bool:
    """Return whether `packed_elementwise` generates a kernel's program."""
    is_single = kernel.kind == "elementwise" and len(kernel.dtypes) == 1
    return is_single and kernel.dtype in PER_WORD


def packed_elementwise(kernel: Kernel) -> Program:
    """Return the program of an elementwise kernel whose one result is packed.

    Each thread computes the elements of a vector or of a word, and stores full words.
    """
    (length,) = kernel.sizes
    value = kernel.expression("value")
    in_vectors, vectors = _vectors(value)
    declarations = Declarations(kernel.scalar_dtypes)
    per_word = PER_WORD[kernel.dtype]
    per_thread = PER_VECTOR if in_vectors else per_word
    threads = -(-length // per_thread)
    declarations.parameter("length", "u32", threads)
    inputs, stored_type = kernel.input_dtypes, storage_type(kernel.dtype)
    element = "u32"
    if in_vectors:
        words = [
            packed_word(kernel.dtype, *(f"{{{n}}}" for n in range(at, at + per_word)))
            for at in range(0, PER_VECTOR, per_word)
        ]
        element = "u32" if len(words) == 1 else "vec2<u32>"
        signature = Signature("value", ("index",), stored_type)
        joined = Combination(element, f"{element}({', '.join(words)})")
        body = vector_function(declarations, signature, value, inputs, joined)
    else:
        # Elements past the end repeat the last one; nothing reads them.
        last = declarations.parameter("last", "u32", max(length - 1, 0))
        signature = Signature("element", ("index",), stored_type)
        loop = find_loop(value)
        body = function(declarations, signature, value, inputs, loop=loop) + (
            "fn value(word: u32) -> u32 {\n"
            f"  var elements: array<{stored_type}, {per_word}>;\n"
            f"  for (var i = 0u; i < {per_word}u; i++) {{\n"
            f"    elements[i] = element(min(word * {per_word}u + i, {last}));\n  }}\n"
            "  return "
            + packed_word(kernel.dtype, *(f"elements[{n}]" for n in range(per_word)))
            + ";\n}\n"
        )
    bindings = input_bindings(kernel, [value], vectors)
    bindings.append(("result", "w", element, OUTPUT))
    groups = -(-threads // policy.WORKGROUP)
    return Program((launch("elementwise", declarations, bindings, body, groups),))


_RESULT_SIZES: dict[str, Callable[..., int]] = {
    "elementwise": lambda length: length,
    "rows": lambda rows, length: rows * length,
    "reduce": lambda outputs, _: outputs,
    "argreduce": lambda outputs, _: outputs,
    "matmul": lambda *sizes: prod(sizes[:3]),
    "scan": lambda rows, length: rows * length,
    "sort": lambda rows, length, _: rows * length,
    "scatter": lambda elements, _: elements,
    "accumulate": lambda rows, _, width: rows * width,
}
"""Number of elements of a result, from the sizes of its kernel.

Kernels of other kinds have no integer results.
"""


def _result_size(kernel: Kernel, number: int) -> int:
    """Return the number of elements of one of a kernel's results."""
    if kernel.kind == "rows":
        kinds = [kind for name, _ in kernel.expressions if (kind := result_kind(name))]
        if kinds[number] == BY_ROW:
            return kernel.sizes[0]
    return _RESULT_SIZES[kernel.kind](*kernel.sizes)


def with_packed_results(kernel: Kernel, program: Program) -> Program:
    """Return a program that packs its results of small integers.

    The launches of `program` store one element per word. They write to scratch, and one
    further launch packs it.
    """
    launches, sizes = list(program.launches), list(program.scratch_bytes)
    for number, dtype in enumerate(kernel.dtypes):
        if dtype not in PER_WORD:
            continue
        own, wide = output(number), scratch(len(sizes))
        size = _result_size(kernel, number)
        sizes.append(-(-size // PER_WORD[dtype]) * PER_WORD[dtype] * 4)
        launches = [
            replace(
                each, storages=tuple(wide if s == own else s for s in each.storages)
            )
            for each in launches
        ]
        launches.append(_packing(dtype, size, wide, own))
    return Program(tuple(launches), tuple(sizes), program.cleared)


def _packing(dtype: str, size: int, wide: int, own: int) -> Launch:
    """Return the launch that packs elements stored one per word."""
    per_word = PER_WORD[dtype]
    count = -(-size // per_word)
    declarations = Declarations()
    declarations.parameter("length", "u32", count)
    read = (f"elements[index * {per_word}u + {n}u]" for n in range(per_word))
    word = packed_word(dtype, *read)
    body = f"fn value(index: u32) -> u32 {{\n  return {word};\n}}\n"
    bindings = [("elements", "r", "u32", wide), ("result", "w", "u32", own)]
    groups = -(-count // policy.WORKGROUP)
    return launch("elementwise", declarations, bindings, body, groups)


def elementwise_several(kernel: Kernel, _: Target) -> Program:
    """Return the program of an elementwise kernel with several results.

    The elements of a vector are computed one by one, each as a struct of all results.
    """
    (length,) = kernel.sizes
    value = kernel.expression("value")
    in_vectors, vectors = _vectors(value)
    declarations = Declarations(kernel.scalar_dtypes)
    steps = length // WIDTH if in_vectors else length
    declarations.parameter("length", "u32", steps)
    types = [storage_type(dtype) for dtype in kernel.dtypes]
    forms = [
        to_storage(f"{{{number}}}", dtype) for number, dtype in enumerate(kernel.dtypes)
    ]
    names = [f"result{number}" for number in range(len(types))]
    inputs = kernel.input_dtypes
    if in_vectors:
        types, fields = [f"vec4<{each}>" for each in types], types
        members = "".join(f"  {n}: {t},\n" for n, t in zip(names, fields, strict=True))
        form = f"Results({', '.join(forms)})"
        signature = Signature("store", ("index",), "Results", form)
        kept = "\n  ".join(f"let e{n} = {{{n}}};" for n in range(WIDTH))
        joined = kept + "".join(
            f"\n  {name}[index] = {kind}("
            + ", ".join(f"e{number}.{name}" for number in range(WIDTH))
            + ");"
            for name, kind in zip(names, types, strict=True)
        )
        body = f"struct Results {{\n{members}}}\n" + vector_function(
            declarations, signature, value, inputs, Combination("", joined)
        )
    else:
        form = "\n  ".join(
            f"{name}[index] = {form};" for name, form in zip(names, forms, strict=True)
        )
        signature = Signature("store", ("index",), "", form)
        loop = find_loop(value)
        body = function(declarations, signature, value, inputs, loop=loop)
    bindings = input_bindings(kernel, [value], vectors)
    bindings += [(names[n], "w", kind, output(n)) for n, kind in enumerate(types)]
    groups = -(-steps // policy.WORKGROUP)
    template = "elementwise_several"
    return Program((launch(template, declarations, bindings, body, groups),))


def scatter(kernel: Kernel, _: Target) -> Program:
    """Return the program that writes elements at indices; the last write wins."""
    length, writes = kernel.sizes
    position = kernel.expression("position")
    winner = scratch(0)
    claim = Declarations(kernel.scalar_dtypes)
    claim.parameter("writes", "u32", writes)
    signature = Signature("position", ("index",), "i32")
    claim_body = function(claim, signature, position, kernel.input_dtypes)
    bindings = input_bindings(kernel, [position])
    bindings.append(("winner", "w", "atomic<u32>", winner))
    first = launch(
        "scatter_claim",
        claim,
        bindings,
        claim_body,
        -(-writes // policy.WORKGROUP),
    )
    select = Declarations(kernel.scalar_dtypes)
    select.parameter("length", "u32", length)
    expressions = [kernel.expression("original"), kernel.expression("written")]
    element = storage_type(kernel.dtype)
    body = "".join(
        function(
            select,
            Signature(name, ("index",), element, to_storage("{0}", kernel.dtype)),
            expression,
            kernel.input_dtypes,
        )
        for name, expression in zip(("original", "written"), expressions, strict=True)
    )
    bindings = input_bindings(kernel, expressions)
    bindings += [("winner", "r", "u32", winner), ("result", "w", element, OUTPUT)]
    second = launch(
        "scatter_select",
        select,
        bindings,
        body,
        -(-length // policy.WORKGROUP),
    )
    return Program((first, second), (length * 4,), frozenset({0}))


def compress(kernel: Kernel, _: Target) -> Program:
    """Return the program that lists the indices at which a mask is true."""
    (length,) = kernel.sizes
    mask, running = kernel.expression("mask"), kernel.expression("running")
    declarations = Declarations(kernel.scalar_dtypes)
    declarations.parameter("length", "u32", length)
    body = ""
    for name, type_name, read in (("mask", "bool", mask), ("running", "i32", running)):
        signature = Signature(name, ("index",), type_name)
        body += function(declarations, signature, read, kernel.input_dtypes)
    assert kind_of(mask.dtype) == "bool", "internal: a mask is bool"
    bindings = input_bindings(kernel, [mask, running])
    bindings.append(("result", "w", "i32", OUTPUT))
    groups = -(-length // policy.WORKGROUP)
    return Program((launch("compress", declarations, bindings, body, groups),))
