"""Programs of kernels without a core: elementwise (also transposed), scatter, compress.

Also packs small integers: a thread of an elementwise kernel computes full words; the
launches of other kernels store one element per word of scratch, and a further launch
packs them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from math import prod

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    PER_VECTOR,
    PER_WORD,
    VALUE_TYPES,
    kind_of,
    packed_word,
    read_element,
    storage_type,
    to_storage,
    to_value,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    Target,
    ceil_divide,
    output,
    scratch,
    workgroups,
)
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    add_vector_function,
    count_in_vectors,
    is_constant_or_vectorizable,
    is_vectorizable,
    read_vector,
    reorder_groups,
    scalar_slots,
    vector_slots,
    vector_text,
    without_accesses,
)
from tensorweb.schedule.kernel import (
    BY_ROW,
    Access,
    Expression,
    Kernel,
    Step,
    result_kind,
)
from tensorweb.schedule.rolling import find_loop
from tensorweb.shapes import strides

TILE = 32
"""Rows and columns of a tile that is read element by element."""

TILE_STEP = 8
"""Rows of such a tile that a workgroup reads at once."""

VECTOR_TILE = 64
"""Rows and columns of a tile that is read in vectors of four."""


ARGUMENTS = ("layer", "down", "across")


@dataclass(frozen=True, slots=True)
class Transposed:
    """The contiguous axis of transposed inputs, and the steps that load them."""

    axis: int
    loads: tuple[int, ...]


def find_transposed(expression: Expression) -> Transposed | None:
    """Return the transposed inputs of an expression, None if there are none.

    The last of the merged axes is the contiguous axis of the result.
    """
    (sizes,) = expression.groups
    if len(sizes) < 2 or sizes[-1] < policy.LEAST_TRANSPOSED:
        return None
    by_axis: dict[int, list[int]] = {}
    for number, step in enumerate(expression.steps):
        if step.kind != "load" or step.guard >= 0:
            continue
        (steps,) = expression.accesses[step.access].strides
        if steps[-1] in (0, 1):
            continue
        along = [axis for axis in range(len(sizes) - 1) if steps[axis] == 1]
        if along and sizes[along[0]] >= policy.LEAST_TRANSPOSED:
            by_axis.setdefault(along[0], []).append(number)
    if not by_axis:
        return None
    axis = max(by_axis, key=lambda a: len(by_axis[a]))
    return Transposed(axis, tuple(by_axis[axis][: policy.MOST_TRANSPOSED]))


def split_axes(expression: Expression, axis: int) -> Expression:
    """Return the expression over (the other axes), (axis), (the last axis)."""
    (sizes,) = expression.groups
    last = len(sizes) - 1
    others = [a for a in range(last) if a != axis]

    def split(values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(values[a] for a in others), (values[axis],), (values[last],)

    return Expression(
        split(sizes),
        tuple(Access(a.offset, split(a.strides[0])) for a in expression.accesses),
        expression.steps,
        expression.result,
        expression.more,
    )


class _Transposition:
    """Generate the launch of one elementwise kernel with transposed inputs."""

    def __init__(self, kernel: Kernel, transposed: Transposed) -> None:
        self.kernel = kernel
        value = kernel.expression("value")
        self.expression = split_axes(value, transposed.axis)
        (sizes,) = value.groups
        result = Expression(value.groups, (Access(0, (strides(sizes),)),), (), 0)
        self.result = split_axes(result, transposed.axis)
        others, (self.down,), (self.across,) = self.expression.groups
        self.layers = math.prod(others)
        self.loads = {load: self.expression.steps[load] for load in transposed.loads}
        self.types = {n: VALUE_TYPES[step.dtype] for n, step in self.loads.items()}
        self.builder = LaunchBuilder(kernel)
        self.builder.add_sizes(down=self.down, across=self.across, layers=self.layers)
        self.builder.add_inputs(self.expression)
        self.builder.vectors = self._vector_inputs()

    def _vector_inputs(self) -> set[int]:
        """Return the inputs to read in vectors, empty if some cannot be."""
        if self.across % WIDTH or len(set(self.types.values())) > 1:
            return set()
        straight = without_accesses(self.expression, self.loads)
        is_possible = is_constant_or_vectorizable(straight) and all(
            is_vectorizable(reorder_groups(self._access_of(step), (0, 2, 1)))
            for step in self.loads.values()
        )
        if not is_possible:
            return set()
        vectors = {step.slot for step in self.loads.values()}
        read_by_element: set[int] = set()
        for index, step in enumerate(straight.steps):
            if step.kind == "load" and index not in self.loads:
                moves = straight.accesses[step.access].strides[-1][-1]
                (vectors if moves else read_by_element).add(step.slot)
        return set() if vectors & read_by_element else vectors

    def _access_of(self, step: Step) -> Expression:
        """Return an expression with only the access of one load."""
        access = self.expression.accesses[step.access]
        return Expression(self.expression.groups, (access,), (), 0)

    def program(self) -> Program:
        """Return the program, which is one launch."""
        vectors, builder = self.builder.vectors, self.builder
        if vectors:
            (value,) = set(self.types.values())
            builder.text = f"alias Value = {_staging_type(value)};\n"
        for load, step in self.loads.items():
            self._add_load(f"load{load}", step)
        address = count_in_vectors(self.result) if vectors else self.result
        self._add_reader(
            "address", "result", ARGUMENTS, address, "u32", "u32(address0)"
        )
        self._add_value()
        builder.add_result(self.kernel.dtype, in_vectors=bool(vectors))
        tile = VECTOR_TILE if vectors else TILE
        tiles_down = ceil_divide(self.down, tile)
        groups = self.layers * tiles_down * ceil_divide(self.across, tile)
        template = "transpose_vectors" if vectors else "transpose"
        slots = self._vector_slots(tiles_down) if vectors else self._element_slots()
        return Program((builder.launch(template, groups, **slots),))

    def _add_reader(
        self,
        name: str,
        prefix: str,
        arguments: tuple[str, ...],
        expression: Expression,
        type_name: str,
        value: str,
        lines: str = "",
    ) -> None:
        """Add a function that computes a value from the address of one access."""
        head = ShaderFunction(name, arguments, type_name).head(type_name)
        body = self.builder.addresses(prefix, arguments, expression) + lines
        self.builder.text += f"{head} {{\n{body}  return {value};\n}}\n"

    def _add_load(self, name: str, step: Step) -> None:
        """Add the function that reads one transposed input."""
        expression, dtype = self._access_of(step), self.kernel.input_dtypes[step.slot]
        type_name = _staging_type(VALUE_TYPES[dtype])
        is_bool = dtype == "bool"  # staged as it is stored
        if self.builder.vectors:
            layer, down, across = ARGUMENTS
            swapped = count_in_vectors(reorder_groups(expression, (0, 2, 1)))
            quad, form = read_vector(step.slot, "address0", dtype)
            form = "{0}" if is_bool else form
            type_name = f"vec4<{type_name}>"
            value = vector_text(
                type_name, [form.format(f"quad.{c}") for c in COMPONENTS]
            )
            lines = f"  let quad = {quad};\n"
            arguments = (layer, across, down)
            self._add_reader(name, name, arguments, swapped, type_name, value, lines)
            return
        value = f"input{step.slot}[address0]"
        if not is_bool:
            value = read_element(step.slot, "address0", dtype)
        self._add_reader(name, name, ARGUMENTS, expression, type_name, value)

    def _add_value(self) -> None:
        """Add the function that computes an element or vector."""
        element = storage_type(self.kernel.dtype)
        form = to_storage("{0}", self.kernel.dtype)
        function = ShaderFunction("value", ARGUMENTS, element, form)
        if self.builder.vectors:
            add_vector_function(
                self.builder,
                function,
                self.expression,
                f"vec4<{element}>",
                passed=self.loads,
                calls=len(COMPONENTS),
            )
            return
        more = ", ".join(f"v{n}: {kind}" for n, kind in self.types.items())
        function = replace(function, more=more)
        computed = {load: f"v{load}" for load in self.loads}
        self.builder.add_function(function, self.expression, computed)

    def _vector_slots(self, tiles_down: int) -> dict[str, str]:
        """Return the slots of the template that reads vectors."""
        stage = ""
        for n in self.loads:
            for row, name in enumerate("abcd"):
                stage += (
                    f"  let {name}{n} = load{n}(from_layer, from{row}, from_down);\n"
                )
        for index, n in enumerate(self.loads):
            stage += "  workgroupBarrier();\n" if index else ""
            stage += f"  stage(quick, slow, a{n}, b{n}, c{n}, d{n});\n"
            stage += "  workgroupBarrier();\n"
            for part in range(4):
                stage += f"  let v{n}_{part} = staged(quick, slow + {16 * part}u);\n"
        finish = "    let down = first_down + slow;\n"
        for part in range(4):
            down = f"down + {16 * part}u"
            staged = ", ".join(
                f"(v{n}_{part} != vec4<u32>())" if kind == "bool" else f"v{n}_{part}"
                for n, kind in self.types.items()
            )
            finish += (
                f"    if ({down} < parameters.down) {{\n"
                f"      result[address(layer, {down}, across)] = "
                f"value(layer, {down}, across, {staged});\n    }}\n"
            )
        # Constants avoid index divisions before the first load.
        band = 1 if tiles_down % policy.TRANSPOSE_BAND else policy.TRANSPOSE_BAND
        shape = constants({"BAND": band, "IS_ONE_LAYER": self.layers == 1})
        return {"shape": shape, "stage": stage, "finish": finish}

    def _element_slots(self) -> dict[str, str]:
        """Return the slots of the template that reads element by element."""
        steps = range(0, TILE, TILE_STEP)
        loads = "".join(
            f"  let v{n}_{step} = load{n}(from_layer, from_down, "
            f"min(first_across + slow + {step}u, edge));\n"
            for n in self.loads
            for step in steps
        )
        stores = "".join(
            f"  tile{n}[address0 + {step * (TILE + 1)}u] = v{n}_{step};\n"
            for n in self.loads
            for step in steps
        )
        tiles = "".join(
            f"var<workgroup> tile{n}: array<{_staging_type(kind)}, "
            f"{TILE * (TILE + 1)}>;\n"
            for n, kind in self.types.items()
        )
        values = ", ".join(
            to_value(f"tile{n}[at]", kind) for n, kind in self.types.items()
        )
        finish = (
            "      result[address(layer, down, across)] = "
            f"value(layer, down, across, {values});\n"
        )
        return {"tiles": tiles, "stage": loads + stores, "finish": finish}


def _staging_type(kind: str) -> str:
    """Return the type of values in workgroup memory.

    A bool is staged as u32: NVIDIA's Vulkan driver reads back other bools than were
    written (2026-11).
    """
    return "u32" if kind == "bool" else kind


def transposition(kernel: Kernel, transposed: Transposed) -> Program:
    """Return the program of an elementwise kernel with transposed inputs."""
    return _Transposition(kernel, transposed).program()


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
    """Return a program that packs its results of small integers and bfloat16.

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
    is_float = kind_of(dtype) == "float"
    builder.add_buffer("elements", "r", "f32" if is_float else "u32", unpacked)
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
