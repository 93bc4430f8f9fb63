"""Programs of convolutions with few channels per group, computed in registers.

A thread computes four neighbouring results of several channels, or of several lines,
and reads elements shared by their windows once. As a matrix product, so few rows would
leave most of a tile empty; a depthwise convolution has one row only and arrives as a
reduction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    is_bulky,
    storage_type,
    subexpression,
    to_storage,
)
from tensorweb.codegen.launches import constants, input_bindings, launch
from tensorweb.codegen.product.operands import position_functions
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import COMPONENTS, WIDTH
from tensorweb.schedule.kernel import Expression, Kernel

GROUP = 128
"""Threads of a workgroup."""


@dataclass(frozen=True, slots=True)
class Line:
    """How the windows of neighbouring results overlap along one of their axes.

    Attributes:
        size: elements of a window along it.
        step: offset from one result's first element to the next one's, in elements.
        dilation: offset from one element of a window to the next.
        strides: stride of each access per such element.
    """

    size: int
    step: int
    dilation: int
    strides: tuple[int, ...]

    @property
    def span(self) -> int:
        """Number of elements that four neighbouring results read."""
        return self.reach(WIDTH)

    def reach(self, results: int) -> int:
        """Return the number of elements that `results` neighbouring results read."""
        return (results - 1) * self.step + (self.size - 1) * self.dilation + 1


APART = Line(1, 1, 1, ())
"""Windows without overlap along an axis."""


def find_line(
    expression: Expression, columns: int, depth: int, axis: int = -1
) -> Line | None:
    """Return how windows overlap along an axis of two groups, if they do.

    Axes are counted from the back.
    """
    if min(len(expression.groups[columns]), len(expression.groups[depth])) < -axis:
        return None
    size = expression.groups[depth][axis]
    shape: tuple[int, int] | None = None
    strides = []
    for access in expression.accesses:
        along, inside = access.strides[columns][axis], access.strides[depth][axis]
        unit = gcd(along, inside)
        if unit:
            unit = -unit if along < 0 else unit
            found = along // unit, inside // unit
            if min(found) < 1 or shape not in (None, found):
                return None
            shape = found
        strides.append(unit)
    if shape is None or size < 2:
        return None
    line = Line(size, *shape, tuple(strides))
    overlaps = line.step <= (size - 1) * line.dilation
    return line if overlaps and line.span <= policy.LONGEST_SPAN else None


class _Windows:
    """Generate the launch; operands name their groups of axes."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: tuple[int, int, int, int],
        operands: tuple[tuple[Expression, tuple[str, ...]], ...],
        line: Line,
        enough: int,
    ) -> None:
        """Start without lines.

        Args:
            kernel: a product or a reduction.
            sizes: batch, rows, columns, depth.
            operands: weights and windows, each with the names of its groups of axes.
            line: how windows overlap.
            enough: threads that keep the device busy; with fewer, a thread computes
                fewer channels.
        """
        self.kernel = kernel
        self.batch, self.rows, self.columns, self.depth = sizes
        (self.weights, self.weight_names), (self.seen, self.seen_names) = operands
        self.line = line
        self.value = VALUE_TYPES[kernel.core_dtype]
        self.finish = kernel.expression("finish")
        self.length = self.seen.groups[self.seen_names.index("column")][-1]
        self.lines, self.across = 1, APART
        self.blocks = 1
        while self.units < enough and self.rows > policy.LEAST_CHANNELS * self.blocks:
            self.blocks *= 2
        self.channels = -(-self.rows // self.blocks)
        self._take_lines()
        results = self.channels * self.lines * WIDTH
        is_light = not is_bulky(self.finish, results)
        self.is_vector_store = self.length % WIDTH == 0 and is_light

    def _take_lines(self) -> None:
        """Compute several lines of one channel, if windows overlap across them."""
        column, depth = map(self.seen_names.index, ("column", "depth"))
        across = find_line(self.seen, column, depth, -2)
        if across is None or self.channels > 1 or self._weights_move():
            return
        height = self.seen.groups[column][-2]
        for lines in policy.WINDOW_LINES:
            terms = lines * across.size * self.line.size
            is_many = self.units >= lines * policy.MANY_WINDOW_THREADS
            is_bare = not is_bulky(self.seen, self.line.span * across.reach(lines))
            fits = height % lines == 0 and terms <= policy.MOST_WINDOW_TERMS
            if fits and is_many and is_bare:
                self.lines, self.across = lines, across
                return

    def _weights_move(self) -> bool:
        """Return whether lines of results have separate weights."""
        if "column" not in self.weight_names:
            return False
        column = self.weight_names.index("column")
        strides = (access.strides[column] for access in self.weights.accesses)
        return any(any(moved[-2:-1]) for moved in strides)

    @property
    def units(self) -> int:
        """Number of threads of the launch."""
        quads = -(-self.length // WIDTH)
        lines = self.columns // self.length // self.lines
        return self.batch * self.blocks * lines * quads

    def program(self) -> Program:
        """Return the one launch."""
        kernel, line = self.kernel, self.line
        declarations = Declarations(kernel.scalar_dtypes, "depth")
        for name, size in (
            ("units", self.units),
            ("iterations", self.depth // (line.size * self.across.size)),
            ("quads", -(-self.length // WIDTH)),
            ("length", self.length),
            ("columns", self.columns),
            ("rows", self.rows),
            ("blocks", self.blocks),
        ):
            declarations.parameter(name, "u32", size)
        text = f"alias Value = {self.value};\n"
        text += self._elements(declarations) + self._weights(declarations)
        text += self._store(declarations)
        read = [self.weights, self.seen, self.finish]
        bindings = input_bindings(kernel, read)
        element = storage_type(kernel.dtype)
        element = f"vec4<{element}>" if self.is_vector_store else element
        bindings.append(("result", "w", element, OUTPUT))
        numbers = {
            "ROWS": self.channels,
            "SIZE": line.size,
            "STEP": line.step,
            "DILATION": line.dilation,
            "SPAN": line.span,
            "LINES": self.lines,
            "TALL": self.across.size,
            "RISE": self.across.step,
            "SPREAD": self.across.dilation,
            "HEIGHT": self.across.reach(self.lines),
        }
        made = launch(
            "windows",
            declarations,
            bindings,
            text,
            -(-self.units // GROUP),
            shape=constants(numbers),
        )
        note = f"4 neighbours, {self.channels} channels, {self.lines} lines a thread"
        return Program((replace(made, note=note),))

    def _elements(self, declarations: Declarations) -> str:
        """Return the functions of windows' addresses and of one of their elements."""
        signature = Signature("right", self.seen_names, "Value")
        text = position_functions(
            declarations, signature, self.seen, self.kernel.input_dtypes
        )
        moved = [f"moving.p{number}" for number, _ in enumerate(self.seen.accesses)]
        for name, strides in (
            ("along", self.line.strides),
            ("across", self.across.strides),
        ):
            for number, stride in enumerate(strides):
                if stride == 1:
                    moved[number] += f" + {name}"
                elif stride:
                    field = declarations.parameter(f"{name}{number}", "i32", stride)
                    moved[number] += f" + {name} * {field}"
        fixed = ", ".join(name for name in self.seen_names if name != "depth")
        return (
            f"{text}fn fixed_at(batch: u32, column: u32) -> RightPosition {{\n"
            f"  return right_fixed({fixed});\n}}\n"
            "fn moving_at(depth: u32) -> RightPosition {\n"
            "  return right_moving(depth);\n}\n"
            "fn element(fixed: RightPosition, moving: RightPosition, across: i32, "
            "along: i32) -> Value {\n"
            f"  return right(fixed, RightPosition({', '.join(moved)}));\n}}\n"
        )

    def _weights(self, declarations: Declarations) -> str:
        """Return the function of one weight, and of its product with four elements."""
        signature = Signature("left", self.weight_names, "Value")
        text = function(declarations, signature, self.weights, self.kernel.input_dtypes)
        added = "total + weight * four"
        if self.value == "f32":
            added = "fma(vec4<Value>(weight), four, total)"
        return (
            f"{text}fn weight(batch: u32, row: u32, column: u32, depth: u32)"
            f" -> Value {{\n  return left({', '.join(self.weight_names)});\n}}\n"
            "fn accumulate(total: vec4<Value>, weight: Value, four: vec4<Value>)"
            f" -> vec4<Value> {{\n  return {added};\n}}\n"
        )

    def _store(self, declarations: Declarations) -> str:
        """Return `store`, which finishes and stores neighbouring results."""
        element = storage_type(self.kernel.dtype)
        form = to_storage("{0}", self.kernel.dtype)
        signature = Signature("finish", ("index",), element, form, "core: Value")
        text = function(declarations, signature, self.finish, self.kernel.input_dtypes)
        if self.is_vector_store:
            calls = [f"finish(index + {i}u, totals.{COMPONENTS[i]})" for i in range(4)]
            lines = f"  result[index / 4u] = vec4<{element}>({', '.join(calls)});\n"
        else:
            lines = (
                "  for (var i = 0u; i < min(parameters.length - first, 4u); i++) {\n"
                "    result[index + i] = finish(index + i, totals[i]);\n  }\n"
            )
        return (
            f"{text}fn store(batch: u32, row: u32, column: u32, first: u32, "
            "totals: vec4<Value>) {\n  let index = (batch * parameters.rows + row)"
            f" * parameters.columns + column;\n{lines}}}\n"
        )

    def is_worthwhile(self, target: Target) -> bool:
        """Return whether there are enough threads with short enough code."""
        is_light = not is_bulky(self.seen, self.line.span) and not is_bulky(
            self.finish, self.channels * self.lines
        )
        is_busy = self.units >= target.scaled(policy.ENOUGH_WINDOW_THREADS)
        return is_light and is_busy and self.depth <= policy.LONGEST_WINDOW


def convolution(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a convolution of few channels, None for other products."""
    batch, rows, columns, depth = kernel.sizes
    if rows > policy.MOST_CHANNELS:
        return None
    weights, seen = kernel.expression("left"), kernel.expression("right")
    line = find_line(seen, 2, 1)
    if line is None:
        return None
    operands = (
        (weights, ("batch", "row", "depth")),
        (seen, ("batch", "depth", "column")),
    )
    enough = target.scaled(policy.ENOUGH_WINDOW_THREADS)
    found = _Windows(kernel, (batch, rows, columns, depth), operands, line, enough)
    return found.program() if found.is_worthwhile(target) else None


def depthwise(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a sum of windows times weights, None for other sums."""
    term = kernel.expression("term")
    last = term.steps[term.result]
    if kernel.op != "sum" or last.name != "multiply" or len(set(last.args)) != 2:
        return None
    for number, other in (last.args, last.args[::-1]):
        weights = subexpression(term, number)
        seen = subexpression(term, other)
        line = find_line(seen, 0, 1)
        moves = any(
            access.strides[0] and access.strides[0][-1] for access in weights.accesses
        )
        if line is None or moves or len(term.groups) != 2:
            continue
        names = ("column", "depth")
        outputs, depth = kernel.sizes
        sizes = 1, 1, outputs, depth
        operands = (weights, names), (seen, names)
        found = _Windows(kernel, sizes, operands, line, 0)
        return found.program() if found.is_worthwhile(target) else None
    return None
