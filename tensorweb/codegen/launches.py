"""Programs of the families without a core: elementwise, scatter and compress."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tensorweb.codegen.expression import (
    Declarations,
    Signature,
    function,
    kind_of,
    storage_type,
    stored,
)
from tensorweb.codegen.library import functions_for
from tensorweb.codegen.program import OUTPUT, Launch, Program, grid_of, output, scratch
from tensorweb.codegen.target import Target
from tensorweb.codegen.template import fill
from tensorweb.codegen.vector import (
    WIDTH,
    Joined,
    is_vectorizable,
    joined_as,
    scalar_slots,
    vector_function,
    vector_slots,
)
from tensorweb.schedule.kernel import Expression, Kernel
from tensorweb.schedule.rolling import find_loop

GROUP = 256
"""Threads of a workgroup of the kernels without a core."""

Storages = list[tuple[str, str, str]]


def vector_inputs(
    vectorized: Sequence[Expression], others: Sequence[Expression] = ()
) -> set[int]:
    """Return the inputs to declare as vectors, empty when some expression cannot.

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


def input_storages(
    kernel: Kernel,
    expressions: Sequence[Expression],
    vectors: Collection[int] = (),
) -> tuple[Storages, list[int]]:
    """Return the declarations and slots of the inputs that expressions read."""
    slots = sorted(
        {
            step.slot
            for expression in expressions
            for step in expression.steps
            if step.kind in ("load", "gather")
        }
    )
    storages = []
    for slot in slots:
        element = storage_type(kernel.input_dtypes[slot])
        element = f"vec4<{element}>" if slot in vectors else element
        storages.append((f"input{slot}", "r", element))
    return storages, slots


def constants(values: Mapping[str, int]) -> str:
    """Return lines that declare a template's constants; truth values are bool.

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
    storages: Storages,
    bindings: Sequence[int],
    functions: str,
    groups: int,
    **slots: str,
) -> Launch:
    """Return a launch of a filled template."""
    return repeated_launch(
        template, declarations, storages, bindings, functions, groups, slots, {}
    )


def repeated_launch(
    template: str,
    declarations: Declarations,
    storages: Storages,
    bindings: Sequence[int],
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
            "declarations": declarations.text(storages),
            "functions": library + functions,
            **slots,
        },
        repeats,
    )
    return Launch(
        template,
        source,
        "".join(access for _, access, _ in storages),
        tuple(bindings),
        grid_of(groups),
        tuple(declarations.words),
    )


def _vectors(value: Expression) -> tuple[bool, set[int]]:
    """Return whether an elementwise kernel works in vectors, and the inputs in them."""
    in_vectors = is_vectorizable(value, may_compute=True) and not find_loop(value)
    vectors = vector_slots(value) if in_vectors else set()
    if vectors and vectors & scalar_slots(value):
        return False, set()
    return in_vectors, vectors


def elementwise(kernel: Kernel, target: Target) -> Program:
    """Return the program of an elementwise kernel, in vectors of four where it can."""
    if len(kernel.dtypes) > 1:
        return elementwise_several(kernel, target)
    (length,) = kernel.sizes
    value = kernel.expression("value")
    element = storage_type(kernel.dtype)
    in_vectors, vectors = _vectors(value)
    declarations = Declarations(kernel.scalar_dtypes)
    steps = length // WIDTH if in_vectors else length
    declarations.parameter("length", "u32", steps)
    form = stored("{0}", kernel.dtype)
    signature = Signature("value", ("index",), element, form)
    if in_vectors:
        element = f"vec4<{element}>"
        body = vector_function(
            declarations, signature, value, kernel.input_dtypes, joined_as(element)
        )
    else:
        inputs, loop = kernel.input_dtypes, find_loop(value)
        body = function(declarations, signature, value, inputs, loop=loop)
    storages, slots = input_storages(kernel, [value], vectors)
    storages.append(("result", "w", element))
    bindings = (*slots, OUTPUT)
    groups = -(-steps // GROUP)
    return Program(
        (launch("elementwise", declarations, storages, bindings, body, groups),)
    )


def elementwise_several(kernel: Kernel, _: Target) -> Program:
    """Return the program of an elementwise kernel with several results.

    A vector's elements are computed one by one, each a structure of all results.
    """
    (length,) = kernel.sizes
    value = kernel.expression("value")
    in_vectors, vectors = _vectors(value)
    declarations = Declarations(kernel.scalar_dtypes)
    steps = length // WIDTH if in_vectors else length
    declarations.parameter("length", "u32", steps)
    types = [storage_type(dtype) for dtype in kernel.dtypes]
    forms = [
        stored(f"{{{number}}}", dtype) for number, dtype in enumerate(kernel.dtypes)
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
            declarations, signature, value, inputs, Joined("", joined)
        )
    else:
        form = "\n  ".join(
            f"{name}[index] = {form};" for name, form in zip(names, forms, strict=True)
        )
        signature = Signature("store", ("index",), "", form)
        loop = find_loop(value)
        body = function(declarations, signature, value, inputs, loop=loop)
    storages, slots = input_storages(kernel, [value], vectors)
    storages += [(name, "w", kind) for name, kind in zip(names, types, strict=True)]
    bindings = (*slots, *(output(number) for number in range(len(types))))
    groups = -(-steps // GROUP)
    template = "elementwise_several"
    return Program((launch(template, declarations, storages, bindings, body, groups),))


def scatter(kernel: Kernel, _: Target) -> Program:
    """Return the program of writing at positions, the last writer winning."""
    length, writes = kernel.sizes
    position = kernel.expression("position")
    winner = scratch(0)
    claim = Declarations(kernel.scalar_dtypes)
    claim.parameter("writes", "u32", writes)
    signature = Signature("position", ("index",), "i32")
    claim_body = function(claim, signature, position, kernel.input_dtypes)
    storages, slots = input_storages(kernel, [position])
    storages.append(("winner", "w", "atomic<u32>"))
    first = launch(
        "scatter_claim",
        claim,
        storages,
        (*slots, winner),
        claim_body,
        -(-writes // GROUP),
    )
    select = Declarations(kernel.scalar_dtypes)
    select.parameter("length", "u32", length)
    expressions = [kernel.expression("original"), kernel.expression("written")]
    element = storage_type(kernel.dtype)
    body = "".join(
        function(
            select,
            Signature(name, ("index",), element, stored("{0}", kernel.dtype)),
            expression,
            kernel.input_dtypes,
        )
        for name, expression in zip(("original", "written"), expressions, strict=True)
    )
    storages, slots = input_storages(kernel, expressions)
    storages += [("winner", "r", "u32"), ("result", "w", element)]
    second = launch(
        "scatter_select",
        select,
        storages,
        (*slots, winner, OUTPUT),
        body,
        -(-length // GROUP),
    )
    return Program((first, second), (length * 4,), frozenset({0}))


def compress(kernel: Kernel, _: Target) -> Program:
    """Return the program that lists the positions where a mask holds."""
    (length,) = kernel.sizes
    mask, running = kernel.expression("mask"), kernel.expression("running")
    declarations = Declarations(kernel.scalar_dtypes)
    declarations.parameter("length", "u32", length)
    body = ""
    for name, type_name, read in (("mask", "bool", mask), ("running", "i32", running)):
        signature = Signature(name, ("index",), type_name)
        body += function(declarations, signature, read, kernel.input_dtypes)
    assert kind_of(mask.dtype) == "bool", "internal: a mask is bool"
    storages, slots = input_storages(kernel, [mask, running])
    storages.append(("result", "w", "i32"))
    groups = -(-length // GROUP)
    return Program(
        (launch("compress", declarations, storages, (*slots, OUTPUT), body, groups),)
    )
