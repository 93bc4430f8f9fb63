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
    is_long_code,
    storage_type,
    subexpression,
)
from tensorweb.codegen.launch_builder import (
    LaunchBuilder,
    ShaderFunction,
    constants,
    finish_function,
)
from tensorweb.codegen.product.operands import add_position_functions
from tensorweb.codegen.program import Program, Target, ceil_divide
from tensorweb.codegen.vector import COMPONENTS, WIDTH, vector_text
from tensorweb.schedule.kernel import Expression, Kernel

GROUP = 128
"""Threads of a workgroup."""


@dataclass(frozen=True, slots=True)
class WindowOverlap:
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

    def span(self, results: int) -> int:
        """Return the number of elements that `results` neighbouring results read."""
        return (results - 1) * self.step + (self.size - 1) * self.dilation + 1


NO_OVERLAP = WindowOverlap(1, 1, 1, ())
"""Windows without overlap along an axis."""


def find_overlap(
    expression: Expression, columns: int, depth: int, axis: int = -1
) -> WindowOverlap | None:
    """Return how windows overlap along an axis of two groups, if they do.

    Axes are counted from the back.
    """
    if min(len(expression.groups[columns]), len(expression.groups[depth])) < -axis:
        return None
    size = expression.groups[depth][axis]
    shapes: set[tuple[int, int]] = set()
    strides = []
    for access in expression.accesses:
        outer, inner = access.strides[columns][axis], access.strides[depth][axis]
        unit = gcd(outer, inner)
        if unit:
            unit = -unit if outer < 0 else unit
            shapes.add((outer // unit, inner // unit))
        strides.append(unit)
    if len(shapes) != 1 or size < 2:
        return None
    step, dilation = shapes.pop()
    overlap = WindowOverlap(size, step, dilation, tuple(strides))
    overlaps = min(step, dilation) >= 1 and step <= (size - 1) * dilation
    return overlap if overlaps and overlap.span(WIDTH) <= policy.LONGEST_SPAN else None


class _Windows:
    """Generate the launch; operands name their groups of axes."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: tuple[int, int, int, int],
        operands: tuple[tuple[Expression, tuple[str, ...]], ...],
        overlap: WindowOverlap,
        enough: int,
    ) -> None:
        """Start without lines.

        Args:
            kernel: a product or a reduction.
            sizes: batch, rows, columns, depth.
            operands: weights and windows, each with the names of its groups of axes.
            overlap: how windows overlap along a line.
            enough: threads that keep the device busy; with fewer, a thread computes
                fewer channels.
        """
        self.kernel = kernel
        self.batch, self.rows, self.columns, self.depth = sizes
        (self.weights, self.weight_names), (self.input, self.input_names) = operands
        self.overlap = overlap
        self.value = VALUE_TYPES[kernel.core_dtype]
        self.finish = kernel.expression("finish")
        self.length = self.input.groups[self.input_names.index("column")][-1]
        self.lines, self.across = 1, NO_OVERLAP
        self.blocks = 1
        while self.threads < enough and self.rows > policy.LEAST_CHANNELS * self.blocks:
            self.blocks *= 2
        self.channels = ceil_divide(self.rows, self.blocks)
        self._choose_lines()
        results = self.channels * self.lines * WIDTH
        is_short = not is_long_code(self.finish, results)
        self.is_vector_store = self.length % WIDTH == 0 and is_short

    def _choose_lines(self) -> None:
        """Compute several lines of one channel, if windows overlap across them."""
        column, depth = map(self.input_names.index, ("column", "depth"))
        across = find_overlap(self.input, column, depth, -2)
        if across is None or self.channels > 1 or self._have_lines_weights():
            return
        height = self.input.groups[column][-2]
        for lines in policy.WINDOW_LINES:
            terms = lines * across.size * self.overlap.size
            is_many = self.threads >= lines * policy.MANY_WINDOW_THREADS
            reads = self.overlap.span(WIDTH) * across.span(lines)
            fits = height % lines == 0 and terms <= policy.MOST_WINDOW_TERMS
            if fits and is_many and not is_long_code(self.input, reads):
                self.lines, self.across = lines, across
                return

    def _have_lines_weights(self) -> bool:
        """Return whether lines of results have separate weights."""
        if "column" not in self.weight_names:
            return False
        column = self.weight_names.index("column")
        strides = (access.strides[column] for access in self.weights.accesses)
        return any(any(moved[-2:-1]) for moved in strides)

    @property
    def threads(self) -> int:
        """Number of threads of the launch."""
        quads = ceil_divide(self.length, WIDTH)
        lines = self.columns // self.length // self.lines
        return self.batch * self.blocks * lines * quads

    def program(self) -> Program:
        """Return the program, which is one launch."""
        kernel, overlap = self.kernel, self.overlap
        builder = LaunchBuilder(kernel, "depth")
        builder.add_sizes(
            units=self.threads,
            iterations=self.depth // (overlap.size * self.across.size),
            quads=ceil_divide(self.length, WIDTH),
            length=self.length,
            columns=self.columns,
            rows=self.rows,
            blocks=self.blocks,
        )
        builder.text = f"alias Value = {self.value};\n"
        self._add_elements(builder)
        self._add_weights(builder)
        self._add_store(builder)
        builder.add_result(kernel.dtype, in_vectors=self.is_vector_store)
        shape = {
            "ROWS": self.channels,
            "SIZE": overlap.size,
            "STEP": overlap.step,
            "DILATION": overlap.dilation,
            "SPAN": overlap.span(WIDTH),
            "LINES": self.lines,
            "TALL": self.across.size,
            "RISE": self.across.step,
            "SPREAD": self.across.dilation,
            "HEIGHT": self.across.span(self.lines),
        }
        groups = ceil_divide(self.threads, GROUP)
        launch = builder.launch("windows", groups, shape=constants(shape))
        note = f"4 neighbours, {self.channels} channels, {self.lines} lines a thread"
        return Program((replace(launch, note=note),))

    def _add_elements(self, builder: LaunchBuilder) -> None:
        """Add the functions of windows' addresses and of one of their elements."""
        names = self.input_names
        function = ShaderFunction("right", names, "Value")
        add_position_functions(builder, function, self.input)
        moved = [f"moving.p{n}" for n in range(len(self.input.accesses))]
        for name, overlap in (("along", self.overlap), ("across", self.across)):
            for n, stride in enumerate(overlap.strides):
                if stride == 1:
                    moved[n] += f" + {name}"
                elif stride:
                    factor = builder.parameter(f"{name}{n}", "i32", stride)
                    moved[n] += f" + {name} * {factor}"
        fixed = ", ".join(name for name in names if name != "depth")
        builder.text += (
            "fn fixed_at(batch: u32, column: u32) -> RightPosition {\n"
            f"  return right_fixed({fixed});\n}}\n"
            "fn moving_at(depth: u32) -> RightPosition {\n"
            "  return right_moving(depth);\n}\n"
            "fn element(fixed: RightPosition, moving: RightPosition, across: i32, "
            "along: i32) -> Value {\n"
            f"  return right(fixed, RightPosition({', '.join(moved)}));\n}}\n"
        )

    def _add_weights(self, builder: LaunchBuilder) -> None:
        """Add the function of one weight, and of its product with four elements."""
        function = ShaderFunction("left", self.weight_names, "Value")
        builder.add_function(function, self.weights)
        added = "total + weight * four"
        if self.value == "f32":
            added = "fma(vec4<Value>(weight), four, total)"
        builder.text += (
            "fn weight(batch: u32, row: u32, column: u32, depth: u32)"
            f" -> Value {{\n  return left({', '.join(self.weight_names)});\n}}\n"
            "fn accumulate(total: vec4<Value>, weight: Value, four: vec4<Value>)"
            f" -> vec4<Value> {{\n  return {added};\n}}\n"
        )

    def _add_store(self, builder: LaunchBuilder) -> None:
        """Add `store`, which finishes and stores neighbouring results."""
        builder.add_function(finish_function(self.kernel.dtype), self.finish)
        if self.is_vector_store:
            results = [
                f"finish(index + {i}u, totals.{c})" for i, c in enumerate(COMPONENTS)
            ]
            vector = vector_text(f"vec4<{storage_type(self.kernel.dtype)}>", results)
            lines = f"  result[index / 4u] = {vector};\n"
        else:
            lines = (
                "  for (var i = 0u; i < min(parameters.length - first, 4u); i++) {\n"
                "    result[index + i] = finish(index + i, totals[i]);\n  }\n"
            )
        builder.text += (
            "fn store(batch: u32, row: u32, column: u32, first: u32, "
            "totals: vec4<Value>) {\n  let index = (batch * parameters.rows + row)"
            f" * parameters.columns + column;\n{lines}}}\n"
        )

    def is_worthwhile(self, target: Target) -> bool:
        """Return whether there are enough threads with short enough code."""
        is_long = is_long_code(self.input, self.overlap.span(WIDTH)) or is_long_code(
            self.finish, self.channels * self.lines
        )
        is_busy = self.threads >= target.scaled(policy.ENOUGH_WINDOW_THREADS)
        return not is_long and is_busy and self.depth <= policy.LONGEST_WINDOW


def convolution(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a convolution of few channels, None for other products."""
    batch, rows, columns, depth = kernel.sizes
    if rows > policy.MOST_CHANNELS:
        return None
    weights, windows = kernel.expression("left"), kernel.expression("right")
    overlap = find_overlap(windows, 2, 1)
    if overlap is None:
        return None
    operands = (
        (weights, ("batch", "row", "depth")),
        (windows, ("batch", "depth", "column")),
    )
    enough = target.scaled(policy.ENOUGH_WINDOW_THREADS)
    writer = _Windows(kernel, (batch, rows, columns, depth), operands, overlap, enough)
    return writer.program() if writer.is_worthwhile(target) else None


def depthwise(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a sum of windows times weights, None for other sums."""
    term = kernel.expression("term")
    last = term.steps[term.result]
    if kernel.op != "sum" or last.name != "multiply" or len(set(last.args)) != 2:
        return None
    for weights, windows in (last.args, last.args[::-1]):
        operands = subexpression(term, weights), subexpression(term, windows)
        overlap = find_overlap(operands[1], 0, 1)
        is_weight_moving = any(
            access.strides[0] and access.strides[0][-1]
            for access in operands[0].accesses
        )
        if overlap is None or is_weight_moving or len(term.groups) != 2:
            continue
        outputs, depth = kernel.sizes
        sizes = 1, 1, outputs, depth
        named = tuple((operand, ("column", "depth")) for operand in operands)
        writer = _Windows(kernel, sizes, named, overlap, 0)
        return writer.program() if writer.is_worthwhile(target) else None
    return None
