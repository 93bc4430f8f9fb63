"""Programs over full rows: reductions inside a kernel, with values in registers.

The algorithm is in `rows.wgsl`; this module generates the parts that depend on the
formula. Step N of the expression is `vN` in WGSL. If it varies along the row it is an
array in registers: one element or vector for each iteration `j`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import log2

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    addresses,
    coordinates,
    dependencies,
    function,
    identity_bits,
    kind_of,
    statement_count,
    step_text,
    steps_text,
    storage_type,
    subexpression,
    to_storage,
)
from tensorweb.codegen.launches import input_bindings, repeated_launch
from tensorweb.codegen.program import Program, output
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    count_in_vectors,
    each_of_four,
    line_gathers,
    moves_in_vectors,
    read_vector,
    vector_of,
)
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import (
    BY_ELEMENT,
    Expression,
    Kernel,
    Step,
    result_kind,
)

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

    def groups(self, rows: int) -> int:
        """Return the number of workgroups for `rows` rows."""
        return -(-rows // self.group_rows)

    def constants(self) -> str:
        """Return the constants; a ragged loop checks bounds in every iteration."""
        inside = self.iterations - self.is_ragged
        if self.is_ragged and self.is_looped:
            inside = 0
        fan_in = policy.ROW_FAN_IN if self.lanes > policy.ROW_FAN_IN else 1
        return (
            f"const LANES: u32 = {self.lanes}u;\n"
            f"const GROUP_ROWS: u32 = {self.group_rows}u;\n"
            f"const THREADS: u32 = {self.lanes * self.group_rows}u;\n"
            f"const ITERATIONS: u32 = {self.iterations}u;\n"
            f"const INSIDE: u32 = {inside}u;\n"
            f"const IS_UNROLLED: bool = {str(not self.is_looped).lower()};\n"
            f"const FAN_IN: u32 = {fan_in}u;\n"
            f"const SUBTREES: u32 = {self.lanes // fan_in}u;\n"
        )


def layout_of(steps: int, rows: int, of_thread: int = 0) -> RowLayout:
    """Return how threads share rows of `steps` elements or vectors.

    Args:
        steps: elements or vectors of a row.
        rows: number of rows.
        of_thread: elements or vectors of a thread; 0 chooses them.

    >>> layout_of(1024, 4096)
    RowLayout(lanes=128, iterations=8, is_ragged=False, group_rows=1, is_looped=False)
    >>> layout_of(16, 1 << 18)
    RowLayout(lanes=4, iterations=4, is_ragged=False, group_rows=32, is_looped=False)
    """
    share = of_thread or next(
        (share for most, share in policy.ROW_STEPS if steps <= most),
        policy.LONG_ROW_STEPS,
    )
    if rows * steps < policy.ENOUGH_ROW_LANES * share:
        share = max(share // policy.FEWER_ROW_STEPS, 1)
    lanes = min(1 << round(log2(max(steps / share, 1))), policy.WORKGROUP)
    group_rows = max(policy.ROW_WORKGROUP // lanes, 1)
    iterations = -(-steps // lanes)
    return RowLayout(lanes, iterations, iterations * lanes != steps, group_rows)


# Which steps vary along a row, and which steps each result depends on.


READS = frozenset({"load", "gather"})
"""Kinds of steps that read a buffer; they compute their own address."""


class RowSteps:
    """The steps of a kernel of rows, shared by all its reductions and results.

    Attributes:
        space: an expression with these steps.
        varying: steps whose values vary along the row.
        reads: steps that read a buffer and whose value a result uses.
        ramps: index ramps whose value a result uses.
        lines: gathers that read vectors of neighbouring elements.
        kept: steps of reductions whose values are already in registers.
    """

    def __init__(self, space: Expression, results: Iterable[int]) -> None:
        """Find the steps that the given results depend on."""
        self.space = space
        self.varying: set[int] = set()
        for number, step in enumerate(space.steps):
            moves = step.kind in ("load", "ramp") and bool(self.stride(step))
            before = any(arg in self.varying for arg in (*step.args, step.guard))
            if moves or before:
                self.varying.add(number)
        self.in_registers: set[int] = set()
        self._done: set[int] = set()
        needed: set[int] = set()
        for result in results:
            needed.update(self.needed(result))
        self.reads = sorted(n for n in needed if space.steps[n].kind in READS)
        self.ramps = sorted(n for n in needed if space.steps[n].kind == "ramp")
        self.lines = line_gathers(space) & set(self.reads) & self.varying

    def stride(self, step: Step) -> int:
        """Return the stride of a step's access along the row."""
        last = self.space.accesses[step.access].strides[-1]
        return last[-1] if last else 0

    def vector_slots(self) -> set[int]:
        """Return the inputs to read as vectors; empty if a read cannot be one."""
        *_, last = self.space.groups
        if not last or last[-1] % WIDTH:
            return set()
        steps = self.space.steps
        wide, subexpression = set(), set()
        for number in self.reads:
            step = steps[number]
            is_plain = step.kind == "load" and step.guard < 0
            if number in self.lines and step.guard < 0:
                wide.add(step.slot)
            elif is_plain and number in self.varying:
                if not moves_in_vectors(self.space.accesses[step.access]):
                    return set()
                wide.add(step.slot)
            elif not step.is_whole:
                subexpression.add(step.slot)
            for inner in dependencies(self.space, number) - {number}:
                if steps[inner].kind in READS and not steps[inner].is_whole:
                    subexpression.add(steps[inner].slot)
        return set() if wide & subexpression else wide

    def is_new(self, result: int) -> bool:
        """Return whether a step varies along the row and is not in registers yet."""
        is_known = result in self.in_registers or self.space.steps[result].kind in READS
        return result in self.varying and not is_known

    def needed(self, result: int) -> list[int]:
        """Return the steps that a result is computed from, in order.

        Excludes the dependencies of steps in registers, and those of reads, which
        compute their own address.
        """
        needed = {result}
        for number in range(result, -1, -1):
            is_ready = (
                number in self.in_registers or self.space.steps[number].kind in READS
            )
            if number in needed and not is_ready:
                needed.update(self.space.steps[number].args)
        return sorted(needed)

    def arguments(self, result: int) -> list[int]:
        """Return the parameters of an element's function: reads and row values."""
        needed = self.needed(result)
        taken = []
        for number in needed:
            step = self.space.steps[number]
            if number in self.varying:
                is_taken = step.kind in ("ramp", *READS) or number in self.in_registers
            else:
                is_taken = number == result or any(
                    number in self.space.steps[user].args and self._computes(user)
                    for user in needed
                )
                is_taken = is_taken and step.kind != "scalar"
            if is_taken:
                taken.append(number)
        return taken

    def _computes(self, number: int) -> bool:
        """Return whether an element's function computes a step itself."""
        is_ready = number in self.in_registers
        kind = self.space.steps[number].kind
        return number in self.varying and not is_ready and kind not in ("ramp", *READS)

    def inner(self, result: int) -> set[int]:
        """Return the steps that an element's function computes itself."""
        return {
            number
            for number in self.needed(result)
            if self.space.steps[number].kind == "scalar" or self._computes(number)
        }

    def mark_computed(self, numbers: Iterable[int]) -> None:
        """Mark steps constant along the row as already computed."""
        self._done.update(numbers)

    def take_row_values(self, result: int) -> list[int]:
        """Return the steps constant along the row to compute before a result.

        Marks them as computed.
        """
        found = [
            number
            for number in self.needed(result)
            if number not in self.varying | self._done
            and self.space.steps[number].kind != "scalar"
        ]
        self._done.update(found)
        return found


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

    def __init__(
        self, kernel: Kernel, steps: RowSteps, declarations: Declarations, width: int
    ) -> None:
        self.steps = steps
        self.declarations = declarations
        self.inputs = kernel.input_dtypes
        self.width = width
        self._strides: dict[int, str] = {}

    def functions(self) -> str:
        """Return all functions.

        `loadN` of reads, `rampN` of the first index of ramps.
        """
        text = "".join(self._read(number) for number in self.steps.reads)
        return text + "".join(self._ramp(number) for number in self.steps.ramps)

    def type_of(self, number: int) -> str:
        """Return the WGSL type of a step's values in one iteration."""
        value = VALUE_TYPES[self.steps.space.steps[number].dtype]
        return f"vec4<{value}>" if self.width > 1 else value

    def value(self, number: int) -> str:
        """Return the WGSL of a read constant along its row, or of a ramp's start."""
        if self.steps.space.steps[number].kind == "ramp":
            return f"ramp{number}(row)"
        return f"load{number}(row, 0u)"

    def along(self, number: int) -> str:
        """Return the WGSL of a ramp at element `i` of iteration `j`."""
        stride = self.steps.stride(self.steps.space.steps[number])
        element = "i32(lane + j * LANES)"
        if self.width > 1:
            element = f"({element} * {WIDTH} + i32(i))"
        if stride == 1:
            return f"v{number} + {element}"
        if number not in self._strides:
            self._strides[number] = self.declarations.parameter(
                f"ramp{number}_step", "i32", stride
            )
        return f"v{number} + {element} * {self._strides[number]}"

    def _ramp(self, number: int) -> str:
        """Return the function of a ramp's value at the start of a row."""
        ramp = subexpression(self.steps.space, number)
        (access,) = ramp.accesses
        at_start = replace(
            ramp,
            groups=ramp.groups[:1],
            accesses=(replace(access, strides=access.strides[:1]),),
        )
        signature = Signature(f"ramp{number}", ARGUMENTS[:1], "i32")
        return function(self.declarations, signature, at_start, self.inputs)

    def _read(self, number: int) -> str:
        """Return the function of one read."""
        name, expression = f"load{number}", subexpression(self.steps.space, number)
        if self.width == 1 or number not in self.steps.varying:
            return self._function(name, expression)
        step = self.steps.space.steps[number]
        if number in self.steps.lines:
            return self._line(name, expression)
        if step.kind == "load" and step.guard < 0:
            return self._vector(name, count_in_vectors(expression), "address0")
        four = [f"{name}_one(row, column * {WIDTH}u + {i}u)" for i in range(WIDTH)]
        joined = vector_of(self.type_of(number))
        return self._function(f"{name}_one", expression) + (
            f"fn {name}(row: u32, column: u32) -> {joined.type_name} {{\n"
            f"  return {joined.form.format(*four)};\n}}\n"
        )

    def _function(self, name: str, expression: Expression) -> str:
        signature = Signature(name, ARGUMENTS, VALUE_TYPES[expression.dtype])
        return function(self.declarations, signature, expression, self.inputs)

    def _line(self, name: str, expression: Expression) -> str:
        """Return the function of a gather that reads four neighbours as a vector."""
        wide = count_in_vectors(expression)
        here = {wide.result: ""}
        body, values = steps_text(wide, self.declarations, self.inputs, "", here)
        position = values[wide.steps[wide.result].args[0]]
        return self._vector(name, wide, f"{position} / {WIDTH}", body)

    def _vector(
        self, name: str, expression: Expression, address: str, body: str = ""
    ) -> str:
        """Return the function that reads a vector at an address."""
        lines = coordinates(self.declarations, name, ARGUMENTS, expression)
        lines += addresses(self.declarations, name, ARGUMENTS, expression)
        step = expression.steps[expression.result]
        dtype = self.inputs[step.slot]
        read, form = read_vector(step.slot, address, dtype)
        parts = ", ".join(form.format(f"vector.{c}") for c in COMPONENTS)
        value = f"vec4<{VALUE_TYPES[dtype]}>"
        return (
            f"fn {name}(row: u32, column: u32) -> {value} {{\n{''.join(lines)}{body}"
            f"  let vector = {read};\n"
            f"  return {value}({parts});\n}}\n"
        )


FOLDS = {("max", "float"): "largest_f32", ("min", "float"): "smallest_f32"}
"""Functions that combine a total with four elements faster than one by one."""


class _Writer:
    """Generate the template slots of one kernel of rows."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows, columns = kernel.sizes
        self.ops = kernel.op.split(",")
        listed = [(result_kind(name), each) for name, each in kernel.expressions]
        self.results = [(kind, each) for kind, each in listed if kind]
        self.reductions = [each for kind, each in listed if not kind]
        self.space = self.results[0][1]
        ends = [each.result for _, each in kernel.expressions]
        self.row = RowSteps(self.space, ends)
        self.vectors = self.row.vector_slots()
        self.width = WIDTH if self.vectors else 1
        columns //= self.width
        self.columns = columns
        layout = layout_of(columns, self.rows)
        statements = statement_count(self.space, self.row.varying)
        self.is_bulky = (
            statements * layout.iterations * self.width > policy.MOST_ROW_STATEMENTS
        )
        if self.is_bulky:
            layout = layout_of(columns, self.rows, 1)
            layout = replace(layout, is_looped=layout.iterations > 1)
        self.layout = layout
        self.declarations = Declarations(kernel.scalar_dtypes)
        self.declarations.vectors = self.vectors
        self.reads = RowReads(kernel, self.row, self.declarations, self.width)

    def program(self) -> Program:
        """Return the program, which is one launch."""
        kernel = self.kernel
        self.declarations.parameter("rows", "u32", self.rows)
        self.declarations.parameter("columns", "u32", self.columns)
        # The template names these parameters, so they are declared before the parameter
        # block can be full.
        for number, expression in enumerate(self.reductions):
            self._identity(number, expression)
        text = self.reads.functions()
        loads = [number for number in self.row.reads if number in self.row.varying]
        ramps = [number for number in self.row.ramps if number in self.row.varying]
        # Values constant along the row are loaded at the start, together with the row.
        fixed = [number for number in self.row.reads if number not in self.row.varying]
        self.row.mark_computed(fixed)
        shape = self.layout.constants()
        for number, (kind, _) in enumerate(self.results):
            is_by_element = str(kind == BY_ELEMENT).lower()
            shape += f"const IS_BY_ELEMENT_{number}: bool = {is_by_element};\n"
        slots = {
            "shape": shape,
            "registers": "".join(self._registers(number) for number in loads)
            + "".join(
                f"  let v{n} = {self.reads.value(n)};\n" for n in (*ramps, *fixed)
            ),
            "load": "".join(
                f"    v{number}[j] = load{number}(row, column);\n" for number in loads
            ),
        }
        functions, folds, stores = [], [], []
        for number, expression in enumerate(self.reductions):
            functions.append({"element": self._reduction(number, expression)})
            folds.append(self._fold(number, expression))
        bindings = input_bindings(kernel, [self.space], self.vectors)
        for number, (kind, expression) in enumerate(self.results):
            dtype = kernel.dtypes[number]
            element = storage_type(dtype)
            form = to_storage("{0}", dtype)
            text += self._element(f"finish_{number}", expression.result, element, form)
            stores.append(self._store(number, kind, expression.result, element))
            is_wide = self.width > 1 and kind == BY_ELEMENT
            wide = f"vec4<{element}>" if is_wide else element
            bindings.append((f"result{number or ''}", "w", wide, output(number)))
        return Program(
            (
                repeated_launch(
                    "rows",
                    self.declarations,
                    bindings,
                    text,
                    self.layout.groups(self.rows),
                    slots,
                    {"reduction": functions, "fold": folds, "store": stores},
                ),
            )
        )

    def _combine_elements(self, element: str, values: list[str]) -> str:
        return f"vec4<{element}>({', '.join(values)})" if self.width > 1 else values[0]

    def _registers(self, number: int) -> str:
        """Return the declaration of a step's values, one per iteration."""
        mark = "" if self.layout.is_looped else "  // registers\n"
        value = self.reads.type_of(number)
        return f"{mark}  var v{number}: array<{value}, ITERATIONS>;\n"

    def _element(self, name: str, result: int, type_name: str, form: str) -> str:
        """Return the function of one element of a reduction or of a result."""
        steps = self.space.steps
        listed = ", ".join(
            f"v{number}: {VALUE_TYPES[steps[number].dtype]}"
            for number in self.row.arguments(result)
        )
        inner = self.row.inner(result)
        given = {n: f"v{n}" for n in range(len(steps)) if n not in inner}
        body, values = steps_text(
            self.space, self.declarations, self.kernel.input_dtypes, "core", given
        )
        return (
            f"fn {name}({listed}) -> {type_name} {{\n{body}"
            f"  return {form.format(values[result])};\n}}\n"
        )

    def _row_values(self, result: int) -> str:
        """Return the lines that compute the values a result needs once per row."""
        return "".join(
            f"  let v{number} = {self._row_value(number)};\n"
            for number in self.row.take_row_values(result)
        )

    def _row_value(self, number: int) -> str:
        """Return the WGSL of a value that is constant along a row."""
        step = self.space.steps[number]
        if step.kind in ("ramp", *READS):
            return self.reads.value(number)
        values = [f"v{before}" for before in range(number)]
        for source in step.args:
            if self.space.steps[source].kind == "scalar":
                values[source] = self._text(self.space.steps[source], ())
        return self._text(step, values)

    def _text(self, step: Step, values: Iterable[str]) -> str:
        inputs = self.kernel.input_dtypes
        return step_text(
            step, self.space, list(values), self.declarations, inputs, "core"
        )

    def _values(self, name: str, result: int, type_name: str) -> tuple[str, list[str]]:
        """Return lines that compute an iteration's elements.

        And the elements' values.
        """
        arguments = [self._argument(number) for number in self.row.arguments(result)]
        call = f"{name}({', '.join(arguments)})"
        if self.width == 1:
            return "", [call]
        return each_of_four(call, type_name, self.is_bulky)

    def _argument(self, number: int) -> str:
        """Return the argument for a step in a call of an element's function."""
        if number not in self.row.varying:
            return f"v{number}"
        if self.space.steps[number].kind == "ramp":
            return self.reads.along(number)
        return f"v{number}[j]" + ("[i]" if self.width > 1 else "")

    def _identity(self, number: int, expression: Expression) -> None:
        """Declare the parameter of a reduction's identity element."""
        dtype = expression.dtype
        bits = identity_bits(OPS[self.ops[number]], dtype)
        self.declarations.parameter(f"identity_{number}", VALUE_TYPES[dtype], bits)

    def _reduction(self, number: int, expression: Expression) -> str:
        """Return the functions of a reduction."""
        dtype = expression.dtype
        value = VALUE_TYPES[dtype]
        op = OPS[self.ops[number]]
        form = op.form(dtype, kind_of(dtype)).format("a", "b")
        total = f"Total_{number}"
        return (
            f"alias {total} = {value};\n"
            + self._element(f"element_{number}", expression.result, total, "{0}")
            + f"fn combine_{number}(a: {total}, b: {total}) -> {total} {{\n"
            f"  return {form};\n}}\n"
        )

    def _fold(self, number: int, expression: Expression) -> dict[str, str]:
        """Return the slots of the loop in which a thread reduces its elements."""
        result = expression.result
        value = VALUE_TYPES[expression.dtype]
        slots = {"kept": self._row_values(result)}
        lines, values = self._values(f"element_{number}", result, value)
        if self.row.is_new(result):
            slots["kept"] += self._registers(result)
            lines += f"  v{result}[j] = {self._combine_elements(value, values)};\n"
            parts = [f".{c}" for c in COMPONENTS] if self.width > 1 else [""]
            values = [f"v{result}[j]{part}" for part in parts]
            self.row.in_registers.add(result)
        slots["compute"] = _indented(lines, 2)
        slots["combine"] = _indented(self._combine_text(number, expression, values), 4)
        return slots

    def _combine_text(
        self, number: int, expression: Expression, values: list[str]
    ) -> str:
        """Return the lines that combine elements with a thread's total."""
        whole = FOLDS.get((self.ops[number], kind_of(expression.dtype)))
        if whole and len(values) == WIDTH:
            joined = f"vec4<f32>({', '.join(values)})"
            return f"  total_{number} = {whole}(total_{number}, {joined});\n"
        return "".join(
            f"  total_{number} = combine_{number}(total_{number}, {value});\n"
            for value in values
        )

    def _store(
        self, number: int, kind: str, result: int, element: str
    ) -> dict[str, str]:
        """Return the slots that store a result, per iteration or per row."""
        slots = {"row_values": self._row_values(result), "elements": "", "whole": ""}
        finish = f"finish_{number}"
        storage = f"result{number or ''}"
        if kind == BY_ELEMENT:
            lines, values = self._values(finish, result, element)
            index = "row * parameters.columns + column"
            lines += (
                f"  {storage}[{index}] = {self._combine_elements(element, values)};\n"
            )
            slots["elements"] = _indented(lines, 6)
        else:
            (value,) = (self._argument(each) for each in self.row.arguments(result))
            slots["whole"] = f"      {storage}[row] = {finish}({value});\n"
        return slots


def _indented(lines: str, more: int) -> str:
    """Return lines indented by `more` further spaces."""
    return "".join(" " * more + line for line in lines.splitlines(keepends=True))


def rows(kernel: Kernel, _: Target) -> Program:
    """Return the program of a kernel of rows."""
    return _Writer(kernel).program()
