"""Programs over full rows: reductions inside a kernel, with values in registers.

The algorithm is in `rows.wgsl`; this module generates the parts that depend on the
formula. Step N of the expression is `vN` in WGSL. If it varies along the row it is an
array in registers: one element or vector for each iteration `j`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import log2
from textwrap import indent

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    dependencies,
    identity_bits,
    kind_of,
    statement_count,
    storage_type,
    subexpression,
    to_storage,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import Program, Target, ceil_divide, output
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    count_in_vectors,
    each_of_four,
    gathers_of_vectors,
    is_aligned,
    read_vector,
    vector_text,
)
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import BY_ELEMENT, Expression, Kernel, Step, result_kind

# How threads share rows: threads per row, and rows per workgroup.


@dataclass(frozen=True, slots=True)
class RowLayout:
    """How the threads of a workgroup share its rows.

    Attributes:
        lanes: threads of a row, a power of two.
        iterations: elements or vectors of a thread; neighbouring threads have
            neighbours.
        is_ragged: whether the last iteration is past the end of the row in some
            threads.
        group_rows: rows of a workgroup.
        is_looped: whether iterations are a loop, because unrolling is too much code.
    """

    lanes: int
    iterations: int
    is_ragged: bool
    group_rows: int = 1
    is_looped: bool = False

    def constants(self) -> str:
        """Return the constants; a ragged loop checks bounds in every iteration."""
        inside = self.iterations - self.is_ragged
        if self.is_ragged and self.is_looped:
            inside = 0
        fan_in = policy.ROW_FAN_IN if self.lanes > policy.ROW_FAN_IN else 1
        return constants(
            {
                "LANES": self.lanes,
                "GROUP_ROWS": self.group_rows,
                "THREADS": self.lanes * self.group_rows,
                "ITERATIONS": self.iterations,
                "INSIDE": inside,
                "IS_UNROLLED": not self.is_looped,
                "FAN_IN": fan_in,
                "SUBTREES": self.lanes // fan_in,
            }
        )


def choose_row_layout(steps: int, rows: int, of_lane: int = 0) -> RowLayout:
    """Return how threads share rows of `steps` elements or vectors.

    Args:
        steps: elements or vectors of a row.
        rows: number of rows.
        of_lane: elements or vectors of a thread; 0 chooses them.

    >>> choose_row_layout(1024, 4096)
    RowLayout(lanes=128, iterations=8, is_ragged=False, group_rows=1, is_looped=False)
    >>> choose_row_layout(16, 1 << 18)
    RowLayout(lanes=4, iterations=4, is_ragged=False, group_rows=32, is_looped=False)
    """
    of_lane = of_lane or next(
        (of_lane for longest, of_lane in policy.ROW_STEPS if steps <= longest),
        policy.LONG_ROW_STEPS,
    )
    if rows * steps < policy.ENOUGH_ROW_LANES * of_lane:
        of_lane = max(of_lane // policy.FEWER_ROW_STEPS, 1)
    lanes = min(1 << round(log2(max(steps / of_lane, 1))), policy.WORKGROUP)
    group_rows = max(policy.ROW_WORKGROUP // lanes, 1)
    iterations = ceil_divide(steps, lanes)
    return RowLayout(lanes, iterations, iterations * lanes != steps, group_rows)


# Which steps vary along a row, and which steps each result depends on.


READS = frozenset({"load", "gather"})
"""Kinds of steps that read a buffer; they compute their own address."""


class RowSteps:
    """The steps of a kernel of rows, shared by all its reductions and results.

    Attributes:
        expression: an expression with these steps.
        varying: steps whose values vary along the row.
        reads: steps that read a buffer and whose value a result uses.
        ramps: index ramps whose value a result uses.
        vector_gathers: gathers that read vectors of neighbouring elements.
        in_registers: steps of reductions whose values are already in registers.
    """

    def __init__(self, expression: Expression, results: Iterable[int]) -> None:
        """Find the steps that results depend on."""
        self.expression = expression
        self.steps = expression.steps
        self.varying: set[int] = set()
        for index, step in enumerate(self.steps):
            moves = step.kind in ("load", "ramp") and bool(self.stride(step))
            if moves or any(n in self.varying for n in (*step.args, step.guard)):
                self.varying.add(index)
        self.in_registers: set[int] = set()
        self._computed: set[int] = set()
        required: set[int] = set()
        for result in results:
            required.update(self.required(result))
        self.reads = sorted(n for n in required if self.steps[n].kind in READS)
        self.ramps = sorted(n for n in required if self.steps[n].kind == "ramp")
        vector_gathers = gathers_of_vectors(expression)
        self.vector_gathers = vector_gathers & set(self.reads) & self.varying

    def stride(self, step: Step) -> int:
        """Return the stride of a step's access along the row."""
        last = self.expression.accesses[step.access].strides[-1]
        return last[-1] if last else 0

    def vector_inputs(self) -> set[int]:
        """Return the inputs to read as vectors; empty if a read cannot be one."""
        *_, last = self.expression.groups
        if not last or last[-1] % WIDTH:
            return set()
        vectors: set[int] = set()
        read_by_element: set[int] = set()
        for index in self.reads:
            step = self.steps[index]
            if index in self.vector_gathers and step.guard < 0:
                vectors.add(step.slot)
            elif step.kind == "load" and step.guard < 0 and index in self.varying:
                if not is_aligned(self.expression.accesses[step.access]):
                    return set()
                vectors.add(step.slot)
            elif not step.is_whole:
                read_by_element.add(step.slot)
            for inner in dependencies(self.expression, index) - {index}:
                if self.steps[inner].kind in READS and not self.steps[inner].is_whole:
                    read_by_element.add(self.steps[inner].slot)
        return set() if vectors & read_by_element else vectors

    def is_new(self, result: int) -> bool:
        """Return whether a step varies along the row and is not in registers yet."""
        return result in self.varying and not self._is_ready(result)

    def _is_ready(self, index: int) -> bool:
        return index in self.in_registers or self.steps[index].kind in READS

    def required(self, result: int) -> list[int]:
        """Return the steps that a result is computed from, in order.

        Excludes the dependencies of steps in registers, and those of reads, which
        compute their own address.
        """
        required = {result}
        for index in range(result, -1, -1):
            if index in required and not self._is_ready(index):
                required.update(self.steps[index].args)
        return sorted(required)

    def arguments(self, result: int) -> list[int]:
        """Return the parameters of an element's function: reads and row values."""
        required = self.required(result)
        arguments = []
        for index in required:
            kind = self.steps[index].kind
            if index in self.varying:
                is_argument = kind == "ramp" or self._is_ready(index)
            else:
                is_argument = kind != "scalar" and (
                    index == result
                    or any(
                        index in self.steps[reader].args and self._is_inner(reader)
                        for reader in required
                    )
                )
            if is_argument:
                arguments.append(index)
        return arguments

    def _is_inner(self, index: int) -> bool:
        """Return whether an element's function computes a step itself."""
        return self.is_new(index) and self.steps[index].kind != "ramp"

    def inner(self, result: int) -> set[int]:
        """Return the steps that an element's function computes itself."""
        return {
            index
            for index in self.required(result)
            if self.steps[index].kind == "scalar" or self._is_inner(index)
        }

    def mark_computed(self, steps: Iterable[int]) -> None:
        """Mark steps constant along the row as already computed."""
        self._computed.update(steps)

    def take_row_values(self, result: int) -> list[int]:
        """Return the steps constant along the row to compute before a result.

        Marks them as computed.
        """
        row_values = [
            index
            for index in self.required(result)
            if index not in self.varying | self._computed
            and self.steps[index].kind != "scalar"
        ]
        self._computed.update(row_values)
        return row_values


# WGSL functions that read a row: loads, gathers, guarded loads, index ramps.
#
# The function of a read also computes its address, from index tensors and guards as
# needed. It reads one element after another if it cannot read full vectors.


ARGUMENTS = ("row", "column")


class RowReads:
    """Generate the functions that read the inputs of a kernel of rows.

    Attributes:
        width: elements along the row that one call reads.
    """

    def __init__(self, builder: LaunchBuilder, row: RowSteps, width: int) -> None:
        self.builder = builder
        self.row = row
        self.width = width
        self._strides: dict[int, str] = {}

    def add_functions(self) -> None:
        """Add `loadN` of reads, and `rampN` of the first index of ramps."""
        for index in self.row.reads:
            self._add_read(index)
        for index in self.row.ramps:
            self._add_ramp(index)

    def type_of(self, index: int) -> str:
        """Return the WGSL type of a step's values in one iteration."""
        value = VALUE_TYPES[self.row.steps[index].dtype]
        return f"vec4<{value}>" if self.width > 1 else value

    def value(self, index: int) -> str:
        """Return the WGSL of a read constant along its row, or of a ramp's start."""
        if self.row.steps[index].kind == "ramp":
            return f"ramp{index}(row)"
        return f"load{index}(row, 0u)"

    def ramp_element(self, index: int) -> str:
        """Return the WGSL of a ramp at element `i` of iteration `j`."""
        stride = self.row.stride(self.row.steps[index])
        element = "i32(lane + j * LANES)"
        if self.width > 1:
            element = f"({element} * {WIDTH} + i32(i))"
        if stride == 1:
            return f"v{index} + {element}"
        if index not in self._strides:
            step = self.builder.parameter(f"ramp{index}_step", "i32", stride)
            self._strides[index] = step
        return f"v{index} + {element} * {self._strides[index]}"

    def _add_ramp(self, index: int) -> None:
        """Add the function of a ramp's value at the start of a row."""
        ramp = subexpression(self.row.expression, index)
        (access,) = ramp.accesses
        at_start = replace(
            ramp,
            groups=ramp.groups[:1],
            accesses=(replace(access, strides=access.strides[:1]),),
        )
        function = ShaderFunction(f"ramp{index}", ARGUMENTS[:1], "i32")
        self.builder.add_function(function, at_start)

    def _add_read(self, index: int) -> None:
        """Add the function of one read."""
        name = f"load{index}"
        expression = subexpression(self.row.expression, index)
        element = ShaderFunction(name, ARGUMENTS, VALUE_TYPES[expression.dtype])
        if self.width == 1 or index not in self.row.varying:
            self.builder.add_function(element, expression)
            return
        step = self.row.steps[index]
        if index in self.row.vector_gathers or (step.kind == "load" and step.guard < 0):
            self._add_vector(name, count_in_vectors(expression))
            return
        self.builder.add_function(replace(element, name=f"{name}_one"), expression)
        four = [f"{name}_one(row, column * {WIDTH}u + {i}u)" for i in range(WIDTH)]
        vector = self.type_of(index)
        self.builder.text += (
            f"fn {name}(row: u32, column: u32) -> {vector} {{\n"
            f"  return {vector_text(vector, four)};\n}}\n"
        )

    def _add_vector(self, name: str, expression: Expression) -> None:
        """Add the function that reads a vector: a load, or a gather of neighbours."""
        step = expression.steps[expression.result]
        address, body = "address0", ""
        if step.kind == "gather":
            unused = {expression.result: ""}
            body, values = self.builder.steps(expression, computed=unused)
            address = f"{values[step.args[0]]} / {WIDTH}"
        lines = self.builder.addresses(name, ARGUMENTS, expression)
        dtype = self.builder.input_dtypes[step.slot]
        read, form = read_vector(step.slot, address, dtype)
        vector = f"vec4<{VALUE_TYPES[dtype]}>"
        elements = [form.format(f"vector.{c}") for c in COMPONENTS]
        self.builder.text += (
            f"fn {name}(row: u32, column: u32) -> {vector} {{\n{lines}{body}"
            f"  let vector = {read};\n"
            f"  return {vector_text(vector, elements)};\n}}\n"
        )


COMBINE_FOUR = {("max", "float"): "largest_f32", ("min", "float"): "smallest_f32"}
"""Functions that combine a total with four elements faster than one by one."""


class _Rows:
    """Generate the template slots of one kernel of rows."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.row_count, columns = kernel.sizes
        self.ops = kernel.op.split(",")
        listed = [(result_kind(name), each) for name, each in kernel.expressions]
        self.results = [(kind, each) for kind, each in listed if kind]
        self.reductions = [each for kind, each in listed if not kind]
        self.expression = self.results[0][1]
        ends = [each.result for _, each in kernel.expressions]
        self.row = RowSteps(self.expression, ends)
        self.builder = LaunchBuilder(kernel)
        self.builder.add_inputs(self.expression)
        self.builder.vectors = self.row.vector_inputs()
        self.width = WIDTH if self.builder.vectors else 1
        self.columns = columns // self.width
        layout = choose_row_layout(self.columns, self.row_count)
        statements = statement_count(self.expression, self.row.varying)
        copies = layout.iterations * self.width
        self.is_long = statements * copies > policy.MOST_ROW_STATEMENTS
        if self.is_long:
            layout = choose_row_layout(self.columns, self.row_count, 1)
            layout = replace(layout, is_looped=layout.iterations > 1)
        self.layout = layout
        self.reads = RowReads(self.builder, self.row, self.width)

    def program(self) -> Program:
        """Return the program, which is one launch."""
        builder, varying = self.builder, self.row.varying
        builder.add_sizes(rows=self.row_count, columns=self.columns)
        # The template names these parameters, so they are declared before the parameter
        # block can be full.
        for index, expression in enumerate(self.reductions):
            bits = identity_bits(OPS[self.ops[index]], expression.dtype)
            value = VALUE_TYPES[expression.dtype]
            builder.parameter(f"identity_{index}", value, bits)
        self.reads.add_functions()
        loads = [index for index in self.row.reads if index in varying]
        ramps = [index for index in self.row.ramps if index in varying]
        # Values constant along the row are loaded at the start, together with the row.
        fixed = [index for index in self.row.reads if index not in varying]
        self.row.mark_computed(fixed)
        registers = [self._registers(index) for index in loads]
        registers += [
            f"  let v{n} = {self.reads.value(n)};\n" for n in (*ramps, *fixed)
        ]
        load = [f"    v{index}[j] = load{index}(row, column);\n" for index in loads]
        functions, folds, stores = [], [], []
        for index, expression in enumerate(self.reductions):
            functions.append({"element": self._reduction(index, expression)})
            folds.append(self._fold(index, expression))
        for index, (kind, expression) in enumerate(self.results):
            stores.append(self._store(index, kind, expression.result))
        kinds = {
            f"IS_BY_ELEMENT_{index}": kind == BY_ELEMENT
            for index, (kind, _) in enumerate(self.results)
        }
        launch = builder.launch(
            "rows",
            ceil_divide(self.row_count, self.layout.group_rows),
            {"reduction": functions, "fold": folds, "store": stores},
            shape=self.layout.constants() + constants(kinds),
            registers="".join(registers),
            load="".join(load),
        )
        return Program((launch,))

    def _vector(self, element: str, values: list[str]) -> str:
        return vector_text(f"vec4<{element}>", values) if self.width > 1 else values[0]

    def _registers(self, index: int) -> str:
        """Return the declaration of a step's values, one per iteration."""
        mark = "" if self.layout.is_looped else "  // registers\n"
        value = self.reads.type_of(index)
        return f"{mark}  var v{index}: array<{value}, ITERATIONS>;\n"

    def _element(self, name: str, result: int, type_name: str, form: str) -> str:
        """Return the function of one element of a reduction or of a result."""
        steps = self.row.steps
        listed = ", ".join(
            f"v{index}: {VALUE_TYPES[steps[index].dtype]}"
            for index in self.row.arguments(result)
        )
        inner = self.row.inner(result)
        computed = {n: f"v{n}" for n in range(len(steps)) if n not in inner}
        body, values = self.builder.steps(self.expression, computed=computed)
        return (
            f"fn {name}({listed}) -> {type_name} {{\n{body}"
            f"  return {form.format(values[result])};\n}}\n"
        )

    def _row_values(self, result: int) -> str:
        """Return the lines that compute the values a result needs once per row."""
        return "".join(
            f"  let v{index} = {self._row_value(index)};\n"
            for index in self.row.take_row_values(result)
        )

    def _row_value(self, index: int) -> str:
        """Return the WGSL of a value that is constant along a row."""
        steps = self.row.steps
        if steps[index].kind in ("ramp", *READS):
            return self.reads.value(index)
        values = [f"v{before}" for before in range(index)]
        for source in steps[index].args:
            if steps[source].kind == "scalar":
                values[source] = self.builder.step(steps[source], self.expression, ())
        return self.builder.step(steps[index], self.expression, values)

    def _values(self, name: str, result: int, type_name: str) -> tuple[str, list[str]]:
        """Return lines that compute an iteration's elements, and their values."""
        arguments = [self._argument(index) for index in self.row.arguments(result)]
        call = f"{name}({', '.join(arguments)})"
        if self.width == 1:
            return "", [call]
        return each_of_four(call, type_name, self.is_long)

    def _argument(self, index: int) -> str:
        """Return the argument for a step in a call of an element's function."""
        if index not in self.row.varying:
            return f"v{index}"
        if self.row.steps[index].kind == "ramp":
            return self.reads.ramp_element(index)
        return f"v{index}[j]" + ("[i]" if self.width > 1 else "")

    def _reduction(self, index: int, expression: Expression) -> str:
        """Return the functions of a reduction."""
        dtype, total = expression.dtype, f"Total_{index}"
        form = OPS[self.ops[index]].form(dtype, kind_of(dtype)).format("a", "b")
        return (
            f"alias {total} = {VALUE_TYPES[dtype]};\n"
            + self._element(f"element_{index}", expression.result, total, "{0}")
            + f"fn combine_{index}(a: {total}, b: {total}) -> {total} {{\n"
            f"  return {form};\n}}\n"
        )

    def _fold(self, index: int, expression: Expression) -> dict[str, str]:
        """Return the slots of the loop in which a thread reduces its elements."""
        result = expression.result
        value = VALUE_TYPES[expression.dtype]
        declared = self._row_values(result)
        lines, values = self._values(f"element_{index}", result, value)
        if self.row.is_new(result):
            declared += self._registers(result)
            lines += f"  v{result}[j] = {self._vector(value, values)};\n"
            parts = [f".{c}" for c in COMPONENTS] if self.width > 1 else [""]
            values = [f"v{result}[j]{part}" for part in parts]
            self.row.in_registers.add(result)
        total = f"total_{index}"
        combine = COMBINE_FOUR.get((self.ops[index], kind_of(expression.dtype)))
        if combine and len(values) == WIDTH:
            values = [vector_text("vec4<f32>", values)]
        else:
            combine = f"combine_{index}"
        combined = "".join(f"  {total} = {combine}({total}, {v});\n" for v in values)
        return {
            "declared": declared,
            "compute": indent(lines, "  "),
            "combine": indent(combined, "    "),
        }

    def _store(self, index: int, kind: str, result: int) -> dict[str, str]:
        """Return the slots that store a result, per iteration or per row."""
        dtype, finish = self.kernel.dtypes[index], f"finish_{index}"
        element, form = storage_type(dtype), to_storage("{0}", dtype)
        self.builder.text += self._element(finish, result, element, form)
        slots = {"row_values": self._row_values(result), "elements": "", "total": ""}
        storage, stored_type = f"result{index or ''}", element
        if kind == BY_ELEMENT:
            lines, values = self._values(finish, result, element)
            stored = self._vector(element, values)
            lines += f"  {storage}[row * parameters.columns + column] = {stored};\n"
            slots["elements"] = indent(lines, "      ")
            stored_type = f"vec4<{element}>" if self.width > 1 else element
        else:
            (value,) = map(self._argument, self.row.arguments(result))
            slots["total"] = f"      {storage}[row] = {finish}({value});\n"
        self.builder.add_buffer(storage, "w", stored_type, output(index))
        return slots


def rows(kernel: Kernel, _: Target) -> Program:
    """Return the program of a kernel of rows."""
    return _Rows(kernel).program()
