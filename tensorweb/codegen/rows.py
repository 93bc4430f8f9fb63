"""Programs that finish whole rows: reductions inside a kernel, values in registers.

The algorithm stands in `rows.wgsl`; this module writes what depends on the formula. In
WGSL a step of the kernel's expression is called `v` and its number; where it varies
along the row it is an array of registers, an element or vector for each iteration `j`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tensorweb.codegen.bulk import bulk
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    addresses,
    coordinates,
    kind_of,
    loaded,
    step_text,
    steps_text,
    storage_type,
    stored,
)
from tensorweb.codegen.identities import identity_bits
from tensorweb.codegen.launches import input_storages, repeated_launch, vector_inputs
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import COMPONENTS, WIDTH, each_of_four, in_vectors
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel, Step

LEAST_THREADS = 32
"""Threads of the smallest workgroup."""

MOST_THREADS = 256
"""Threads of the largest workgroup, which every device has."""

STEPS_OF_THREAD = 4
"""Elements or vectors of a thread, as long as there are threads enough."""

MOST_STATEMENTS = 2560
"""Statements up to which the elements of a thread are written out, not looped; more
than elsewhere, since a loop may cost the registers that hold a row."""

FAN_IN = 16
"""Totals that one thread combines in the first step of the tree of a reduction."""

FOLDS = {("max", "float"): "largest_f32", ("min", "float"): "smallest_f32"}
"""Functions that combine a total with four elements faster than one by one."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the threads of a workgroup share a row.

    Attributes:
        threads: of the workgroup, a power of two.
        iterations: elements or vectors of a thread; its neighbours have those beside.
        is_ragged: whether the last iteration reaches beyond the row for some threads.
        is_looped: whether iterations are a loop; written out they were too much text.
    """

    threads: int
    iterations: int
    is_ragged: bool
    is_looped: bool = False

    def constants(self) -> str:
        """Return the slot of these figures; in a loop no iteration is surely inside."""
        inside = self.iterations - self.is_ragged
        if self.is_ragged and self.is_looped:
            inside = 0
        return (
            f"const THREADS: u32 = {self.threads}u;\n"
            f"const ITERATIONS: u32 = {self.iterations}u;\n"
            f"const INSIDE: u32 = {inside}u;\n"
            f"const IS_UNROLLED: bool = {str(not self.is_looped).lower()};\n"
            f"const SUBTREES: u32 = {self.threads // FAN_IN}u;\n"
        )


def layout_of(steps: int, of_thread: int = STEPS_OF_THREAD) -> Layout:
    """Return how threads share so many elements or vectors.

    >>> layout_of(1024)
    Layout(threads=256, iterations=4, is_ragged=False, is_looped=False)
    """
    threads = 1 << max(-(-steps // of_thread) - 1, 0).bit_length()
    threads = min(max(threads, LEAST_THREADS), MOST_THREADS)
    iterations = -(-steps // threads)
    return Layout(threads, iterations, iterations * threads != steps)


class _Row:
    """What of an expression varies along a row, and what its elements are made of."""

    def __init__(self, space: Expression) -> None:
        self.space = space
        self.varying: set[int] = set()
        for number, step in enumerate(space.steps):
            moves = step.kind == "load" and any(space.accesses[step.access].strides[-1])
            if moves or any(arg in self.varying for arg in step.args):
                self.varying.add(number)
        self.kept: set[int] = set()
        self._done: set[int] = set()

    def is_new(self, result: int) -> bool:
        """Whether a step varies along the row and its values are not known yet."""
        is_known = result in self.kept or self.space.steps[result].kind == "load"
        return result in self.varying and not is_known

    def needed(self, result: int) -> list[int]:
        """Return the steps that a result is computed from, in order.

        Results of earlier reductions are in registers; nothing below them is needed.
        """
        needed = {result}
        for number in range(result, -1, -1):
            if number in needed and number not in self.kept:
                needed.update(self.space.steps[number].args)
        return sorted(needed)

    def arguments(self, result: int) -> list[int]:
        """Return the steps that an element's function takes: loads and row values."""
        needed = self.needed(result)
        taken = []
        for number in needed:
            step = self.space.steps[number]
            is_load = number in self.varying and step.kind == "load"
            is_load = is_load or number in self.kept
            is_row_value = number not in self.varying and any(
                number in self.space.steps[user].args and user in self.varying
                for user in needed
            )
            is_row_value = is_row_value or (
                number == result and number not in self.varying
            )
            if is_load or (is_row_value and step.kind != "scalar"):
                taken.append(number)
        return taken

    def inner(self, result: int) -> set[int]:
        """Return the steps that an element's function computes itself."""
        return {
            number
            for number in self.needed(result)
            if self.space.steps[number].kind == "scalar"
            or (
                number in self.varying - self.kept
                and self.space.steps[number].kind != "load"
            )
        }

    def new_row_values(self, result: int) -> list[int]:
        """Return the steps, the same along the row, that a result needs first."""
        found = [
            number
            for number in self.needed(result)
            if number not in self.varying | self._done
            and self.space.steps[number].kind != "scalar"
        ]
        self._done.update(found)
        return found


class _Writer:
    """Writes the slots of one kernel of rows."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows, columns = kernel.sizes
        self.ops = kernel.op.split(",")
        *self.reductions, self.finish = [each for _, each in kernel.expressions]
        self.vectors = vector_inputs([self.finish])
        self.width = WIDTH if self.vectors else 1
        space = in_vectors(self.finish) if self.vectors else self.finish
        self.row = _Row(space)
        self.space = space
        self.columns = columns // self.width
        layout = layout_of(self.columns)
        statements = bulk(space, self.row.varying)
        self.is_bulky = statements * layout.iterations * self.width > MOST_STATEMENTS
        if self.is_bulky:
            layout = layout_of(self.columns, 1)
            layout = replace(layout, is_looped=layout.iterations > 1)
        self.layout = layout
        self.declarations = Declarations(kernel.scalar_dtypes)

    def program(self) -> Program:
        """Return the one launch."""
        kernel = self.kernel
        self.declarations.parameter("rows", "u32", self.rows)
        self.declarations.parameter("columns", "u32", self.columns)
        steps = list(enumerate(self.space.steps))
        loads = [number for number, step in steps if step.kind == "load"]
        text = "".join(self._load(number) for number in loads)
        along = [number for number in loads if number in self.row.varying]
        slots = {
            "shape": self.layout.constants(),
            "registers": "".join(self._registers(number) for number in along),
            "load": "".join(
                f"    v{number}[j] = load{number}(row, column);\n" for number in along
            ),
        }
        functions, folds = [], []
        for number, expression in enumerate(self.reductions):
            functions.append({"element": self._reduction(number, expression)})
            folds.append(self._fold(number, expression))
        element = storage_type(kernel.dtype)
        result = self.finish.result
        text += self._element("finish", result, element, stored("{0}", kernel.dtype))
        slots["row_values"] = self._row_values(result)
        slots["store"] = self._store(result, element)
        storages, inputs = input_storages(kernel, [self.space], self.vectors)
        storages.append(("result", "w", self._wide(element)))
        return Program(
            (
                repeated_launch(
                    "rows",
                    self.declarations,
                    storages,
                    (*inputs, OUTPUT),
                    text,
                    self.rows,
                    slots,
                    {"reduction": functions, "fold": folds},
                ),
            )
        )

    def _wide(self, element: str) -> str:
        return f"vec4<{element}>" if self.width > 1 else element

    def _joined(self, element: str, values: list[str]) -> str:
        return f"vec4<{element}>({', '.join(values)})" if self.width > 1 else values[0]

    def _registers(self, number: int) -> str:
        """Return the declaration of a step's values, by iteration."""
        mark = "" if self.layout.is_looped else "  // registers\n"
        value = self._wide(VALUE_TYPES[self.space.steps[number].dtype])
        return f"{mark}  var v{number}: array<{value}, ITERATIONS>;\n"

    def _load(self, number: int) -> str:
        """Return the function that reads one load of a row."""
        step = self.space.steps[number]
        one = replace(self.space, accesses=(self.space.accesses[step.access],))
        name = f"load{number}"
        lines = coordinates(self.declarations, name, ("row", "column"), one)
        lines += addresses(self.declarations, name, ("row", "column"), one)
        dtype = self.kernel.input_dtypes[step.slot]
        stored_element = f"input{step.slot}[address0]"
        value = VALUE_TYPES[dtype]
        if number in self.row.varying and self.width > 1:
            parts = ", ".join(loaded(f"vector.{c}", dtype) for c in COMPONENTS)
            value = f"vec4<{value}>"
            lines.append(f"  let vector = {stored_element};\n")
            lines.append(f"  return {value}({parts});\n")
        else:
            lines.append(f"  return {loaded(stored_element, dtype)};\n")
        return f"fn {name}(row: u32, column: u32) -> {value} {{\n{''.join(lines)}}}\n"

    def _element(self, name: str, result: int, type_name: str, form: str) -> str:
        """Return the function of one element of a reduction or of the finished row."""
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
        """Return the lines that compute what a result needs once per row."""
        return "".join(
            f"  let v{number} = {self._row_value(number)};\n"
            for number in self.row.new_row_values(result)
        )

    def _row_value(self, number: int) -> str:
        """Return the WGSL of a value that is the same along a row."""
        step = self.space.steps[number]
        if step.kind == "load":
            return f"load{number}(row, 0u)"
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
        """Return lines that compute an iteration's elements, and the elements."""
        component = "[i]" if self.width > 1 else ""
        arguments = [
            f"v{number}[j]{component}" if number in self.row.varying else f"v{number}"
            for number in self.row.arguments(result)
        ]
        call = f"{name}({', '.join(arguments)})"
        if self.width == 1:
            return "", [call]
        return each_of_four(call, type_name, self.is_bulky)

    def _reduction(self, number: int, expression: Expression) -> str:
        """Return the functions of a reduction and the parameter of its identity."""
        dtype = expression.dtype
        value = VALUE_TYPES[dtype]
        op = OPS[self.ops[number]]
        form = op.form(dtype, kind_of(dtype)).format("a", "b")
        bits = identity_bits(op, dtype)
        self.declarations.parameter(f"identity_{number}", value, bits)
        total = f"Total_{number}"
        return (
            f"alias {total} = {value};\n"
            + self._element(f"element_{number}", expression.result, total, "{0}")
            + f"fn combine_{number}(a: {total}, b: {total}) -> {total} {{\n"
            f"  return {form};\n}}\n"
        )

    def _fold(self, number: int, expression: Expression) -> dict[str, str]:
        """Return the slots of the loop over a thread's elements of a reduction."""
        result = expression.result
        value = VALUE_TYPES[expression.dtype]
        slots = {"kept": self._row_values(result)}
        lines, values = self._values(f"element_{number}", result, value)
        if self.row.is_new(result):
            slots["kept"] += self._registers(result)
            lines += f"  v{result}[j] = {self._joined(value, values)};\n"
            parts = [f".{c}" for c in COMPONENTS] if self.width > 1 else [""]
            values = [f"v{result}[j]{part}" for part in parts]
            self.row.kept.add(result)
        slots["compute"] = _indented(lines, 2)
        slots["combine"] = _indented(self._combined(number, expression, values), 4)
        return slots

    def _combined(self, number: int, expression: Expression, values: list[str]) -> str:
        """Return the lines that combine elements with a thread's running total."""
        whole = FOLDS.get((self.ops[number], kind_of(expression.dtype)))
        if whole and len(values) == WIDTH:
            joined = f"vec4<f32>({', '.join(values)})"
            return f"  total_{number} = {whole}(total_{number}, {joined});\n"
        return "".join(
            f"  total_{number} = combine_{number}(total_{number}, {value});\n"
            for value in values
        )

    def _store(self, result: int, element: str) -> str:
        """Return the lines that store the finished elements of an iteration."""
        lines, values = self._values("finish", result, element)
        index = "row * parameters.columns + column"
        lines += f"  result[{index}] = {self._joined(element, values)};\n"
        return _indented(lines, 4)


def _indented(lines: str, more: int) -> str:
    """Return lines so many spaces further in."""
    return "".join(" " * more + line for line in lines.splitlines(keepends=True))


def rows(kernel: Kernel, _: Target) -> Program:
    """Return the program of a kernel of rows."""
    return _Writer(kernel).program()
