"""Programs of stencils: elementwise kernels that read several neighbours of a tensor.

A thread computes one element in each of several rows, so that shared neighbours are
read once, and index arithmetic is done once for all rows.
"""

from __future__ import annotations

from math import prod

from tensorweb.codegen.expression import (
    Declarations,
    read_element,
    storage_type,
    stored,
)
from tensorweb.codegen.launches import GROUP, input_storages, launch
from tensorweb.codegen.neighbours import (
    FARTHEST,
    Gather,
    Load,
    Neighbours,
    Number,
    Operation,
    Ramp,
    Truth,
    Value,
    Walk,
)
from tensorweb.codegen.program import Program, output
from tensorweb.codegen.vector import is_vectorizable
from tensorweb.schedule.kernel import Expression, Kernel

ROWS = 4
"""Rows of a thread."""

SHORTEST_ROW = 16
"""Shortest row for which neighbouring threads read enough contiguous elements."""

MOST_STEPS = 256
"""Longest expression, in steps, whose rows are all unrolled."""


def is_stencil(value: Expression) -> bool:
    """Return whether an expression reads neighbours of a tensor and has enough rows."""
    if len(value.groups) != 1 or len(value.groups[0]) < 2:
        return False
    *_, rows, columns = value.groups[0]
    if rows < ROWS or columns < SHORTEST_ROW or len(value.steps) > MOST_STEPS:
        return False
    if is_vectorizable(value, may_compute=True):
        return False
    walks = [
        (step.slot, value.accesses[step.access].strides)
        for step in value.steps
        if step.kind == "load" and value.accesses[step.access].strides[0][-2]
    ]
    return len(walks) > len(set(walks))


def stencil(kernel: Kernel) -> Program:
    """Return the program of a stencil kernel: a thread computes several rows."""
    value = kernel.expression("value")
    declarations = Declarations(kernel.scalar_dtypes)
    *outer, rows, columns = value.groups[0]
    groups_of_rows = -(-rows // ROWS)
    length = prod(outer) * groups_of_rows * columns
    declarations.parameter("length", "u32", length)
    body = _Writer(kernel, value, declarations).text()
    storages, slots = input_storages(kernel, [value])
    names = [f"result{number}" for number in range(len(kernel.dtypes))]
    storages += [
        (name, "w", storage_type(dtype))
        for name, dtype in zip(names, kernel.dtypes, strict=True)
    ]
    bindings = (*slots, *(output(number) for number in range(len(names))))
    groups = -(-length // GROUP)
    return Program((launch("stencil", declarations, storages, bindings, body, groups),))


class _Writer:
    """Generate the function of a thread."""

    def __init__(
        self, kernel: Kernel, value: Expression, declarations: Declarations
    ) -> None:
        self.kernel = kernel
        self.declarations = declarations
        self.sizes = value.groups[0]
        self.neighbours = Neighbours(value, ROWS)
        self._parameters: dict[tuple[str, int], str] = {}
        self._bases: dict[tuple[str, tuple[int, ...], int], str] = {}
        self._texts: dict[int, str] = {}
        self._lines: list[str] = []

    def text(self) -> str:
        """Return the function `store`."""
        self._coordinates()
        for number in self.neighbours.needed():
            self._write(number, self.neighbours.values[number])
        self._stores()
        return f"fn store(index: u32) {{\n{''.join(self._lines)}}}\n"

    def _line(self, name: str, text: str) -> str:
        self._lines.append(f"  let {name} = {text};\n")
        return name

    def _parameter(self, name: str, value: int) -> str:
        """Return the WGSL of a parameter with this value, shared by equal values."""
        key = (name, value)
        if key not in self._parameters:
            count = len(self._parameters)
            self._parameters[key] = self.declarations.parameter(
                f"{name}{count}", "i32", value
            )
        return self._parameters[key]

    def _coordinates(self) -> None:
        """Add the lines of the thread's coordinates.

        `at2` is that of the third axis.
        """
        *outer, rows, columns = self.sizes
        width = self.declarations.parameter("columns", "u32", columns)
        bands = self.declarations.parameter("bands", "u32", -(-rows // ROWS))
        axis = len(self.sizes) - 1
        self._line(f"at{axis}", f"i32(index % {width})")
        rest = self._line("above", f"index / {width}")
        band = rest
        if outer:
            band = self._line("band", f"{rest} % {bands}")
            rest = self._line(f"above{axis - 1}", f"{rest} / {bands}")
        first = f"i32({band}) * {ROWS}"
        if rows % ROWS:
            last = self._parameter("last_row", rows - ROWS)
            own = self._line("own_row", first)
            first = f"min({own}, {last})"
        self._line(f"at{axis - 1}", first)
        for number in range(axis - 2, -1, -1):
            if number == 0:
                self._line("at0", f"i32({rest})")
                continue
            size = self.declarations.parameter(
                f"size{number}", "u32", self.sizes[number]
            )
            self._line(f"at{number}", f"i32({rest} % {size})")
            rest = self._line(f"above{number}", f"{rest} / {size}")

    def _position(self, name: str, walk: Walk) -> str:
        """Return the WGSL of an address; `name` identifies the tensor with its strides.

        Addresses of one tensor share their common terms.
        """
        key = (name, walk.strides, walk.rows)
        if key not in self._bases:
            terms = []
            for axis, stride in enumerate(walk.strides):
                at = f"at{axis}"
                if axis == len(walk.strides) - 2 and walk.rows:
                    at = f"({at} + {walk.rows})"
                if stride == 1:
                    terms.append(at)
                elif stride:
                    factor = self._parameter(f"{name}stride{axis}_", stride)
                    terms.append(f"{at} * {factor}")
            text = " + ".join(terms) or "0"
            self._bases[key] = self._line(f"base{len(self._bases)}", text)
        base = self._bases[key]
        if not walk.ahead:
            return base
        if abs(walk.ahead) <= FARTHEST:
            return f"{base} + {walk.ahead}"
        return f"{base} + {self._parameter('ahead', walk.ahead)}"

    def _write(self, number: int, value: Value) -> None:
        """Add a value's line, or record its text if it needs no line."""
        texts = self._texts
        match value:
            case Truth(holds):
                texts[number] = str(holds).lower()
                return
            case Number(given, slot):
                is_own = slot < 0
                texts[number] = (
                    self._parameter("number", given)
                    if is_own
                    else self.declarations.scalar(slot)
                )
                return
            case Ramp(walk):
                text = self._position("", walk)
            case Load(slot, walk, moves):
                text = self._position(f"input{slot}_", walk)
                for test, first, second in moves:
                    move = self._move(test, first, second)
                    text = f"{text} + {move}"
                text = self._element(slot, text)
            case Gather(slot, position):
                text = self._element(slot, texts[position])
            case Operation(form, args):
                text = form.format(*(texts[each] for each in args))
        texts[number] = self._line(f"v{number}", text)

    def _move(self, test: int, first: int, second: int) -> str:
        """Return the shift of an address selected by a test, shared by equal shifts."""
        key = (f"move {self._texts[test]} {first}", second)
        if key not in self._parameters:
            numbers = [
                self._parameter("number", each) if each else "0"
                for each in (second, first)
            ]
            name = f"move{len(self._parameters)}"
            text = f"select({', '.join(numbers)}, {self._texts[test]})"
            self._parameters[key] = self._line(name, text)
        return self._parameters[key]

    def _element(self, slot: int, position: str) -> str:
        return read_element(slot, position, self.kernel.input_dtypes[slot])

    def _stores(self) -> None:
        """Add the stores of all rows; a row of two threads is stored by one of them."""
        rows = self.sizes[-2]
        strides = [prod(self.sizes[axis + 1 :]) for axis in range(len(self.sizes))]
        for row, results in enumerate(self.neighbours.results):
            at = self._position("result_", Walk(tuple(strides), row, 0))
            lines = [
                f"result{number}[{at}] = {stored(self._texts[each], dtype)};"
                for number, (each, dtype) in enumerate(
                    zip(results, self.kernel.dtypes, strict=True)
                )
            ]
            if rows % ROWS and row < ROWS - 1:
                axis = len(self.sizes) - 2
                inner = "".join(f"    {line}\n" for line in lines)
                self._lines.append(
                    f"  if (at{axis} + {row} >= own_row) {{\n{inner}  }}\n"
                )
            else:
                self._lines += [f"  {line}\n" for line in lines]
