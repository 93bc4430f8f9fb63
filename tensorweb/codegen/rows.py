"""Programs over full rows: reductions inside a kernel, with values in registers.

The algorithm is in `rows.wgsl`; this module generates the parts that depend on the
formula. Step N of the expression is `vN` in WGSL. If it varies along the row it is an
array in registers: one element or vector for each iteration `j`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tensorweb.codegen.code_size import bulk
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    kind_of,
    step_text,
    steps_text,
    storage_type,
    stored,
)
from tensorweb.codegen.identities import identity_bits
from tensorweb.codegen.launches import input_storages, repeated_launch
from tensorweb.codegen.program import Program, output
from tensorweb.codegen.row_layout import layout_of
from tensorweb.codegen.row_reads import RowReads
from tensorweb.codegen.row_steps import READS, RowSteps
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import COMPONENTS, WIDTH, each_of_four
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import (
    BY_ELEMENT,
    Expression,
    Kernel,
    Step,
    result_kind,
)

MOST_STATEMENTS = 2560
"""Largest number of statements for which the elements of a thread are unrolled.

The limit is higher than elsewhere, since a loop may cost the registers that hold a row.
"""

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
        statements = bulk(self.space, self.row.varying)
        self.is_bulky = statements * layout.iterations * self.width > MOST_STATEMENTS
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
        self.row.know(fixed)
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
        storages, bindings = input_storages(kernel, [self.space], self.vectors)
        for number, (kind, expression) in enumerate(self.results):
            dtype = kernel.dtypes[number]
            element = storage_type(dtype)
            form = stored("{0}", dtype)
            text += self._element(f"finish_{number}", expression.result, element, form)
            stores.append(self._store(number, kind, expression.result, element))
            is_wide = self.width > 1 and kind == BY_ELEMENT
            wide = f"vec4<{element}>" if is_wide else element
            storages.append((f"result{number or ''}", "w", wide))
            bindings.append(output(number))
        return Program(
            (
                repeated_launch(
                    "rows",
                    self.declarations,
                    storages,
                    bindings,
                    text,
                    self.layout.groups(self.rows),
                    slots,
                    {"reduction": functions, "fold": folds, "store": stores},
                ),
            )
        )

    def _joined(self, element: str, values: list[str]) -> str:
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
            for number in self.row.new_row_values(result)
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
            lines += f"  v{result}[j] = {self._joined(value, values)};\n"
            parts = [f".{c}" for c in COMPONENTS] if self.width > 1 else [""]
            values = [f"v{result}[j]{part}" for part in parts]
            self.row.kept.add(result)
        slots["compute"] = _indented(lines, 2)
        slots["combine"] = _indented(self._combined(number, expression, values), 4)
        return slots

    def _combined(self, number: int, expression: Expression, values: list[str]) -> str:
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
            lines += f"  {storage}[{index}] = {self._joined(element, values)};\n"
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
