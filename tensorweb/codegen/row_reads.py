"""WGSL functions that read a row: loads, gathers, guarded loads, index ramps.

The function of a read also computes its address, from index tensors and guards as
needed. It reads one element after another if it cannot read full vectors.
"""

from __future__ import annotations

from dataclasses import replace

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    addresses,
    coordinates,
    function,
    steps_text,
)
from tensorweb.codegen.row_steps import RowSteps
from tensorweb.codegen.subexpressions import alone
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    in_vectors,
    joined_as,
    read_vector,
)
from tensorweb.schedule.kernel import Expression, Kernel

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
        ramp = alone(self.steps.space, number)
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
        name, expression = f"load{number}", alone(self.steps.space, number)
        if self.width == 1 or number not in self.steps.varying:
            return self._function(name, expression)
        step = self.steps.space.steps[number]
        if number in self.steps.lines:
            return self._line(name, expression)
        if step.kind == "load" and step.guard < 0:
            return self._vector(name, in_vectors(expression), "address0")
        four = [f"{name}_one(row, column * {WIDTH}u + {i}u)" for i in range(WIDTH)]
        joined = joined_as(self.type_of(number))
        return self._function(f"{name}_one", expression) + (
            f"fn {name}(row: u32, column: u32) -> {joined.type_name} {{\n"
            f"  return {joined.form.format(*four)};\n}}\n"
        )

    def _function(self, name: str, expression: Expression) -> str:
        signature = Signature(name, ARGUMENTS, VALUE_TYPES[expression.dtype])
        return function(self.declarations, signature, expression, self.inputs)

    def _line(self, name: str, expression: Expression) -> str:
        """Return the function of a gather that reads four neighbours as a vector."""
        wide = in_vectors(expression)
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
