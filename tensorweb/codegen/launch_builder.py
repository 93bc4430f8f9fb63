"""Build one launch: its parameters, buffers and WGSL functions, in a filled template.

Sizes, strides, offsets and constants are parameters, so that kernels of equal structure
have equal text. Small integers and bfloat16 in buffers are packed, see `expression.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    PER_WORD,
    VALUE_TYPES,
    form_of,
    loop_text,
    read_element,
    read_slots,
    storage_type,
    to_storage,
    wrap,
)
from tensorweb.codegen.program import OUTPUT, Launch, Word, grid_of
from tensorweb.codegen.template import fill, functions_for
from tensorweb.schedule.kernel import Expression, Kernel, Step
from tensorweb.schedule.rolling import Loop

PARAMETER_LIMIT = 64
"""Largest number of words in a launch's parameter block."""

ZERO = "zero"
"""Name of the parameter that hides values from compilers: its value is 0.

One word of the block is reserved for it, since a constant would hide nothing.
"""


@dataclass(frozen=True, slots=True)
class ShaderFunction:
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


def finish_function(dtype: str, value_type: str = "Value") -> ShaderFunction:
    """Return the function that applies an epilogue to a total of type `value_type`."""
    form = to_storage("{0}", dtype)
    core = f"core: {value_type}"
    return ShaderFunction("finish", ("index",), storage_type(dtype), form, core)


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


class LaunchBuilder:
    """Collect the parameters, buffers and functions of one launch.

    Attributes:
        text: the WGSL of the functions.
        vectors: inputs that are read as vectors of four.
        input_types: WGSL types of inputs that differ from those of their dtypes.
    """

    def __init__(
        self, kernel: Kernel | None = None, literal_argument: str = ""
    ) -> None:
        """Start without parameters.

        Args:
            kernel: the kernel whose expressions the launch computes, if any.
            literal_argument: the argument whose axis lengths are literals where they
                are at most `LONGEST_LITERAL_AXIS`, so that compilers replace divisions
                by multiplications: an index in a convolution window for example.
        """
        self.text = ""
        self.vectors: Collection[int] = ()
        self.input_types: dict[int, str] = {}
        self.scalar_dtypes = kernel.scalar_dtypes if kernel else ()
        self.input_dtypes = kernel.input_dtypes if kernel else ()
        self._literal_argument = literal_argument
        self._words: list[Word] = []
        self._fields: list[str] = []
        self._constants: list[str] = []
        self._scalars: dict[int, str] = {}
        self._integers = 0
        self._free_words = PARAMETER_LIMIT - len(self.scalar_dtypes) - 1
        self._inputs: set[int] = set()
        self._buffers: list[tuple[str, str, str, int]] = []

    # Parameters

    def parameter(self, name: str, type_name: str, value: Word) -> str:
        """Return the WGSL of a new parameter; a `const` if the block is full."""
        if isinstance(value, int) and self._free_words == 0:
            literal = f"{value}u" if type_name == "u32" else f"{value}"
            self._constants.append(f"const {name}: {type_name} = {literal};\n")
            return name
        self._free_words -= isinstance(value, int)
        self._words.append(value)
        self._fields.append(f"  {name}: {type_name},\n")
        return f"parameters.{name}"

    def add_sizes(self, **sizes: int) -> None:
        """Add parameters of type u32."""
        for name, size in sizes.items():
            self.parameter(name, "u32", size)

    def axis_length(self, name: str, length: int, argument: str) -> str:
        """Return the WGSL of the length of an axis of `argument`."""
        is_short = length <= policy.LONGEST_LITERAL_AXIS
        if argument == self._literal_argument and is_short:
            return f"{length}u"
        return self.parameter(name, "u32", length)

    def scalar(self, slot: int) -> str:
        """Return the WGSL value of the kernel's constant `slot`."""
        if slot not in self._scalars:
            dtype = self.scalar_dtypes[slot]
            type_name = VALUE_TYPES[dtype]
            is_bool = type_name == "bool"
            word_type = "u32" if is_bool else type_name
            text = self.parameter(f"scalar{slot}", word_type, (slot, dtype))
            self._scalars[slot] = f"({text} != 0u)" if is_bool else text
        return self._scalars[slot]

    # Buffers

    def add_buffer(self, name: str, access: str, type_name: str, storage: int) -> None:
        """Bind a buffer after the inputs.

        Args:
            name: its name in WGSL.
            access: `r` or `w`.
            type_name: WGSL type of an element.
            storage: its id, see `Launch.storages`.
        """
        self._buffers.append((name, access, type_name, storage))

    def add_result(self, dtype: str, *, in_vectors: bool = False) -> None:
        """Bind the first output, as vectors of four or by element."""
        element = storage_type(dtype)
        element = f"vec4<{element}>" if in_vectors else element
        self.add_buffer("result", "w", element, OUTPUT)

    def add_inputs(self, expression: Expression) -> None:
        """Bind the inputs that an expression reads."""
        self._inputs |= read_slots(expression)

    def _input_type(self, slot: int) -> str:
        dtype = self.input_dtypes[slot]
        if slot in self.input_types:
            return self.input_types[slot]
        if dtype in PER_WORD:
            return "u32"
        element = storage_type(dtype)
        return f"vec4<{element}>" if slot in self.vectors else element

    # Functions

    def add_function(
        self,
        function: ShaderFunction,
        expression: Expression,
        computed: Mapping[int, str] = MappingProxyType({}),
        loop: Loop | None = None,
    ) -> None:
        """Add a function that computes an expression at one index.

        Args:
            function: its name, parameters and result.
            expression: what it computes.
            computed: WGSL names of values that are already computed, by step.
            loop: the steps to generate as a loop.
        """
        self.add_inputs(expression)
        lines = self.addresses(function.name, function.arguments, expression)
        body, values = self.steps(expression, function.core, computed, loop)
        final = function.result.format(*(values[step] for step in expression.results))
        last = f"  return {final};\n" if function.result_type else f"  {final}\n"
        head = function.head(function.result_type)
        self.text += f"{head} {{\n{lines}{body}{last}}}\n"

    def coordinates(
        self,
        name: str,
        arguments: Sequence[str],
        expression: Expression,
        groups: Sequence[int] | None = None,
    ) -> str:
        """Return lines that split the index of each group into coordinates per axis.

        `groups` are the indices of the groups in parameter names, 0, 1, … by default.
        """
        text = ""
        for group, (argument, sizes) in enumerate(
            zip(arguments, expression.groups, strict=True)
        ):
            index = argument
            for axis in range(len(sizes) - 1, -1, -1):
                coordinate = f"{argument}_{axis}"
                if axis == 0:
                    text += f"  let {coordinate} = i32({index});\n"
                    continue
                size_name = f"{name}_size{groups[group] if groups else group}_{axis}"
                size = self.axis_length(size_name, sizes[axis], argument)
                text += f"  let {coordinate} = i32({index} % {size});\n"
                text += f"  let {argument}_above_{axis} = {index} / {size};\n"
                index = f"{argument}_above_{axis}"
        return text

    def addresses(
        self, name: str, arguments: Sequence[str], expression: Expression
    ) -> str:
        """Return lines that compute the coordinates and the address of each access."""
        text = self.coordinates(name, arguments, expression)
        for access_index, access in enumerate(expression.accesses):
            terms = []
            if access.offset:
                field = f"{name}_offset{access_index}"
                terms.append(self.parameter(field, "i32", access.offset))
            for group, strides in enumerate(access.strides):
                for axis, stride in enumerate(strides):
                    coordinate = f"{arguments[group]}_{axis}"
                    if stride == 1:
                        terms.append(coordinate)
                    elif stride:
                        field = f"{name}_stride{access_index}_{group}_{axis}"
                        factor = self.parameter(field, "i32", stride)
                        terms.append(f"{coordinate} * {factor}")
            text += f"  let address{access_index} = {' + '.join(terms) or '0'};\n"
        return text

    def steps(
        self,
        expression: Expression,
        core: str = "core",
        computed: Mapping[int, str] = MappingProxyType({}),
        loop: Loop | None = None,
    ) -> tuple[str, list[str]]:
        """Return the WGSL lines of an expression's steps, and the value of each step.

        `computed` maps steps to the names of values that are already computed. The
        steps of `loop` are generated once, as the body of a loop.
        """
        values: list[str] = []
        lines = []
        for index, step in enumerate(expression.steps):
            if loop is not None and loop.start <= index < loop.end:
                if index == loop.start:
                    text, repeated = self._loop(expression, loop, values, core)
                    lines.append(text)
                    values += repeated
                continue
            if index in computed:
                values.append(computed[index])
                continue
            text = self.step(step, expression, values, core)
            if step.kind in ("scalar", "core"):
                values.append(text)
                continue
            lines.append(f"  let v{index} = {text};\n")
            values.append(f"v{index}")
        return "".join(lines), values

    def _loop(
        self, expression: Expression, loop: Loop, before: Sequence[str], core: str
    ) -> tuple[str, list[str]]:
        def write(step: Step, last: Step, values: Sequence[str]) -> str:
            if step.kind in ("map", "cast"):
                return form_of(last, expression).format(*(values[n] for n in step.args))
            return self.step(step, expression, values, core)

        count = self.parameter("iterations", "u32", loop.iterations)
        return loop_text(expression, loop, before, write, VALUE_TYPES, count)

    def step(
        self,
        step: Step,
        expression: Expression,
        values: Sequence[str],
        core: str = "core",
    ) -> str:
        """Return the WGSL of one step, from the values of the steps before it."""
        kind = step.kind
        if kind in ("load", "gather"):
            address = f"address{step.access}"
            if kind == "gather":
                address = values[step.args[0]]
            if step.guard >= 0:
                address = f"select(0, {address}, {values[step.guard]})"
            dtype = self.input_dtypes[step.slot]
            in_vectors = step.slot in self.vectors
            return read_element(step.slot, address, dtype, in_vectors=in_vectors)
        if kind == "ramp":
            return f"address{step.access}"
        if kind == "scalar":
            if not step.name:
                return self.scalar(step.slot)
            self._integers += 1
            return self.parameter(f"number{self._integers}", "i32", int(step.name))
        if kind == "core":
            return wrap(core if step.slot < 0 else f"{core}_{step.slot}", step.dtype)
        return form_of(step, expression).format(*(values[n] for n in step.args))

    # The launch

    def launch(
        self,
        template: str,
        groups: int,
        repeats: Mapping[str, Sequence[Mapping[str, str]]] = MappingProxyType({}),
        /,
        **slots: str,
    ) -> Launch:
        """Return the launch of a filled template with `groups` workgroups.

        Args:
            template: name of the template.
            groups: number of workgroups.
            repeats: slots of each repetition, by name of the repeated part.
            slots: lines of the template's slots, but for declarations and functions.
        """
        repetitions = [entry for entries in repeats.values() for entry in entries]
        texts = [text for entry in (slots, *repetitions) for text in entry.values()]
        library = functions_for("".join([self.text, *texts]))
        if f"parameters.{ZERO}" in library:
            self._free_words += 1
            self.parameter(ZERO, "u32", 0)
        buffers = [
            (f"input{slot}", "r", self._input_type(slot), slot)
            for slot in sorted(self._inputs)
        ]
        buffers += self._buffers
        declarations = self._declarations(buffers)
        functions = library + self.text
        slots = {"declarations": declarations, "functions": functions, **slots}
        return Launch(
            template,
            fill(template, slots, repeats),
            "".join(access for _, access, _, _ in buffers),
            tuple(storage for *_, storage in buffers),
            grid_of(groups),
            tuple(self._words),
        )

    def _declarations(self, buffers: Sequence[tuple[str, str, str, int]]) -> str:
        """Return the struct of parameters and the declarations of buffers."""
        lines = ["struct Parameters {\n", *self._fields, "}\n", *self._constants]
        for index, (name, access, type_name, _) in enumerate(buffers):
            mode = "read" if access == "r" else "read_write"
            lines.append(
                f"@group(0) @binding({index}) "
                f"var<storage, {mode}> {name}: array<{type_name}>;\n"
            )
        lines.append(
            f"@group(0) @binding({len(buffers)}) var<uniform> parameters: Parameters;\n"
        )
        return "".join(lines)
