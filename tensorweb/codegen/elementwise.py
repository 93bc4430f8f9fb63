"""Programs of the kinds without a core: elementwise, scatter and compress.

Also packs small integers: a thread of an elementwise kernel computes full words; the
launches of other kernels store one element per word of scratch, and a further launch
packs them.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from tensorweb.codegen.expression import (
    PER_VECTOR,
    PER_WORD,
    packed_word,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    ceil_divide,
    output,
    scratch,
    workgroups,
)
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    WIDTH,
    add_vector_function,
    is_vectorizable,
    scalar_slots,
    vector_slots,
)
from tensorweb.schedule.kernel import BY_ROW, Expression, Kernel, result_kind
from tensorweb.schedule.rolling import find_loop


def elementwise(kernel: Kernel) -> Program:
    """Return the program of an elementwise kernel, in vectors where possible."""
    if len(kernel.dtypes) > 1:
        return _elementwise_several(kernel)
    (length,) = kernel.sizes
    value = kernel.expression("value")
    element = storage_type(kernel.dtype)
    builder, in_vectors = _elementwise_builder(kernel, value)
    threads = length // WIDTH if in_vectors else length
    builder.add_sizes(length=threads)
    form = to_storage("{0}", kernel.dtype)
    function = ShaderFunction("value", ("index",), element, form)
    if in_vectors:
        add_vector_function(builder, function, value, f"vec4<{element}>")
    else:
        builder.add_function(function, value, loop=find_loop(value))
    builder.add_result(kernel.dtype, in_vectors=in_vectors)
    return Program((builder.launch("elementwise", workgroups(threads)),))


def _elementwise_builder(
    kernel: Kernel, value: Expression
) -> tuple[LaunchBuilder, bool]:
    """Return a builder, and whether threads compute vectors."""
    builder = LaunchBuilder(kernel)
    if not is_vectorizable(value, may_compute=True) or find_loop(value):
        return builder, False
    vectors = vector_slots(value)
    if vectors & scalar_slots(value):
        return builder, False
    builder.vectors = vectors
    return builder, True


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
    builder, in_vectors = _elementwise_builder(kernel, value)
    per_word = PER_WORD[kernel.dtype]
    threads = ceil_divide(length, PER_VECTOR if in_vectors else per_word)
    builder.add_sizes(length=threads)
    stored_type = storage_type(kernel.dtype)
    element = "u32"
    if in_vectors:
        words = [
            packed_word(kernel.dtype, *(f"{{{n}}}" for n in range(at, at + per_word)))
            for at in range(0, PER_VECTOR, per_word)
        ]
        element = "u32" if len(words) == 1 else "vec2<u32>"
        function = ShaderFunction("value", ("index",), stored_type)
        form = f"{element}({', '.join(words)})"
        add_vector_function(builder, function, value, element, form)
    else:
        # Elements past the end repeat the last one; nothing reads them.
        last = builder.parameter("last", "u32", max(length - 1, 0))
        function = ShaderFunction("element", ("index",), stored_type)
        builder.add_function(function, value, loop=find_loop(value))
        word = packed_word(kernel.dtype, *(f"elements[{n}]" for n in range(per_word)))
        builder.text += (
            "fn value(word: u32) -> u32 {\n"
            f"  var elements: array<{stored_type}, {per_word}>;\n"
            f"  for (var i = 0u; i < {per_word}u; i++) {{\n"
            f"    elements[i] = element(min(word * {per_word}u + i, {last}));\n  }}\n"
            f"  return {word};\n}}\n"
        )
    builder.add_buffer("result", "w", element, OUTPUT)
    return Program((builder.launch("elementwise", workgroups(threads)),))


_RESULT_SIZES = {
    "rows": (0, 1),
    "matmul": (0, 1, 2),
    "scan": (0, 1),
    "sort": (0, 1),
    "accumulate": (0, 2),
}
"""Indices of the sizes of a kernel whose product is the length of a result.

It is the first size for kinds that are not named.
"""


def _result_length(kernel: Kernel, index: int) -> int:
    """Return the number of elements of one of a kernel's results."""
    if kernel.kind == "rows":
        kinds = [kind for name, _ in kernel.expressions if (kind := result_kind(name))]
        if kinds[index] == BY_ROW:
            return kernel.sizes[0]
    return prod(kernel.sizes[n] for n in _RESULT_SIZES.get(kernel.kind, (0,)))


def with_packed_results(kernel: Kernel, program: Program) -> Program:
    """Return a program that packs its results of small integers.

    The launches of `program` store one element per word. They write to scratch, and one
    further launch packs it.
    """
    launches, sizes = list(program.launches), list(program.scratch_bytes)
    for index, dtype in enumerate(kernel.dtypes):
        if dtype not in PER_WORD:
            continue
        packed, unpacked = output(index), scratch(len(sizes))
        words = ceil_divide(_result_length(kernel, index), PER_WORD[dtype])
        sizes.append(words * PER_WORD[dtype] * 4)
        launches = [
            replace(
                launch,
                storages=tuple(unpacked if s == packed else s for s in launch.storages),
            )
            for launch in launches
        ]
        launches.append(_pack(dtype, words, unpacked, packed))
    return Program(tuple(launches), tuple(sizes), program.cleared)


def _pack(dtype: str, words: int, unpacked: int, packed: int) -> Launch:
    """Return the launch that packs elements stored one per word."""
    per_word = PER_WORD[dtype]
    builder = LaunchBuilder()
    builder.add_sizes(length=words)
    elements = (f"elements[index * {per_word}u + {n}u]" for n in range(per_word))
    word = packed_word(dtype, *elements)
    builder.text = f"fn value(index: u32) -> u32 {{\n  return {word};\n}}\n"
    builder.add_buffer("elements", "r", "u32", unpacked)
    builder.add_buffer("result", "w", "u32", packed)
    return builder.launch("elementwise", workgroups(words))


def _elementwise_several(kernel: Kernel) -> Program:
    """Return the program of an elementwise kernel with several results.

    The elements of a vector are computed one by one, each as a struct of all results.
    """
    (length,) = kernel.sizes
    value = kernel.expression("value")
    builder, in_vectors = _elementwise_builder(kernel, value)
    threads = length // WIDTH if in_vectors else length
    builder.add_sizes(length=threads)
    forms = [to_storage(f"{{{n}}}", dtype) for n, dtype in enumerate(kernel.dtypes)]
    types = {f"result{n}": storage_type(d) for n, d in enumerate(kernel.dtypes)}
    if in_vectors:
        members = "".join(f"  {name}: {kind},\n" for name, kind in types.items())
        builder.text = f"struct Results {{\n{members}}}\n"
        types = {name: f"vec4<{kind}>" for name, kind in types.items()}
        form = f"Results({', '.join(forms)})"
        function = ShaderFunction("store", ("index",), "Results", form)
        lines = [f"let e{n} = {{{n}}};" for n in range(WIDTH)]
        for name, kind in types.items():
            elements = ", ".join(f"e{n}.{name}" for n in range(WIDTH))
            lines.append(f"{name}[index] = {kind}({elements});")
        add_vector_function(builder, function, value, "", "\n  ".join(lines))
    else:
        lines = [
            f"{name}[index] = {form};" for name, form in zip(types, forms, strict=True)
        ]
        function = ShaderFunction("store", ("index",), "", "\n  ".join(lines))
        builder.add_function(function, value, loop=find_loop(value))
    for n, (name, kind) in enumerate(types.items()):
        builder.add_buffer(name, "w", kind, output(n))
    return Program((builder.launch("elementwise_several", workgroups(threads)),))


def scatter(kernel: Kernel, _: Target) -> Program:
    """Return the program that writes elements at indices; the last write wins."""
    length, writes = kernel.sizes
    winner = scratch(0)
    claim = LaunchBuilder(kernel)
    claim.add_sizes(writes=writes)
    function = ShaderFunction("position", ("index",), "i32")
    claim.add_function(function, kernel.expression("position"))
    claim.add_buffer("winner", "w", "atomic<u32>", winner)
    select = LaunchBuilder(kernel)
    select.add_sizes(length=length)
    element = storage_type(kernel.dtype)
    form = to_storage("{0}", kernel.dtype)
    for name in ("original", "written"):
        function = ShaderFunction(name, ("index",), element, form)
        select.add_function(function, kernel.expression(name))
    select.add_buffer("winner", "r", "u32", winner)
    select.add_result(kernel.dtype)
    launches = (
        claim.launch("scatter_claim", workgroups(writes)),
        select.launch("scatter_select", workgroups(length)),
    )
    return Program(launches, (length * 4,), frozenset({0}))


def compress(kernel: Kernel, _: Target) -> Program:
    """Return the program that lists the indices at which a mask is true."""
    (length,) = kernel.sizes
    builder = LaunchBuilder(kernel)
    builder.add_sizes(length=length)
    for name, type_name in (("mask", "bool"), ("running", "i32")):
        function = ShaderFunction(name, ("index",), type_name)
        builder.add_function(function, kernel.expression(name))
    builder.add_buffer("result", "w", "i32", OUTPUT)
    return Program((builder.launch("compress", workgroups(length)),))
