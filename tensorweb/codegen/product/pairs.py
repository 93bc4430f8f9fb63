"""Programs over pairs: small batched products, and reductions of rows by columns.

A thread computes 4 x 4 results. Small matrices share a workgroup, so that few threads
are outside of them; large ones are divided into tiles. Sizes are parameters, so that
matrices of all sizes share few pipelines; `pairs.wgsl` contains the loop over depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    dependencies,
    identity_bits,
    is_long_code,
    kind_of,
    storage_type,
    subexpression,
)
from tensorweb.codegen.launch_builder import (
    LaunchBuilder,
    ShaderFunction,
    constants,
    finish_function,
)
from tensorweb.codegen.product.operands import has_several_axes
from tensorweb.codegen.program import Program, Target, ceil_divide
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    add_vector_function,
    each_of_four,
    is_vectorizable,
    reorder_groups,
    store_function,
    vector_inputs,
    vector_text,
)
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel

# How a workgroup computes pairs: result blocks, tiles, matrices per workgroup.


@dataclass(frozen=True, slots=True)
class PairLayout:
    """How a workgroup is laid out.

    Attributes:
        down, across: blocks of 4 x 4 results of a tile.
        tiles_down, tiles_across: tiles of a matrix.
        matrices: matrices of a workgroup.
        threads: threads of a workgroup.
        depth: terms of a tile.
    """

    down: int
    across: int
    tiles_down: int
    tiles_across: int
    matrices: int
    threads: int
    depth: int

    def groups(self, batch: int) -> int:
        """Return the number of workgroups."""
        return ceil_divide(batch, self.matrices) * self.tiles_down * self.tiles_across


def choose_pair_layout(
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    target: Target,
    depths: Sequence[int] = policy.PAIR_DEPTHS,
) -> PairLayout:
    """Return the layout for `batch` matrices of results.

    >>> choose_pair_layout(4096, 16, 16, 16, Target()).matrices
    4
    >>> choose_pair_layout(1, 4096, 4096, 3, Target()).threads
    256
    """
    tile_depth = next((each for each in depths if each >= depth), depths[-1])
    blocks_down, blocks_across = ceil_divide(rows, WIDTH), ceil_divide(columns, WIDTH)
    sides = (policy.PAIR_SIDES[-1],) if target.is_software else policy.PAIR_SIDES
    for side in sides:
        area = side * side
        down = min(blocks_down, side)
        across = min(blocks_across, area // down, policy.LONGEST_PAIR_SIDE)
        down = min(blocks_down, area // across, policy.LONGEST_PAIR_SIDE)
        tiles_down = ceil_divide(blocks_down, down)
        tiles_across = ceil_divide(blocks_across, across)
        down = ceil_divide(blocks_down, tiles_down)
        across = ceil_divide(blocks_across, tiles_across)
        most_matrices = 1
        if tiles_down * tiles_across == 1:
            vectors = tile_depth * (max(down, across) | 1)
            most_matrices = policy.PAIR_TILE_VECTORS // vectors
        matrices, threads = _group_matrices(down * across, most_matrices, target)
        layout = PairLayout(
            down, across, tiles_down, tiles_across, matrices, threads, tile_depth
        )
        if layout.groups(batch) >= target.scaled(policy.ENOUGH_PAIR_GROUPS):
            break
    return layout


def _group_matrices(area: int, most: int, target: Target) -> tuple[int, int]:
    """Return the number of matrices of a workgroup, and its threads."""
    best = (-1.0, 1, policy.PAIR_THREADS[-1])
    for threads in policy.PAIR_THREADS:
        if threads > target.threads or threads < area:
            continue
        matrices = min(threads // area, most)
        busy = matrices * area / threads
        if busy > best[0] + policy.LEAST_IDLE_GAIN:
            best = busy, matrices, threads
    return best[1], best[2]


# Find reductions over pairs: a term combines one value per row and one per column.
#
# `((a[:, None] - b[None]) ** 2).sum(-1)` reads both operands once for every result; as
# rows by columns, a tile of results reads each value once. The part that depends only
# on rows or only on columns becomes an operand; the remainder is the term of a pair.


@dataclass(frozen=True, slots=True)
class Pairing:
    """A reduction as rows by columns.

    Attributes:
        sizes: batch, rows, columns, depth.
        left: expression over (batch, rows, depth).
        right: expression over (batch, depth, columns).
        term: the steps of the reduction's term.
        staged: indices of the steps whose values are the operands, left and right.
    """

    sizes: tuple[int, int, int, int]
    left: Expression
    right: Expression
    term: Expression
    staged: tuple[int, int]


def find_pairing(term: Expression) -> Pairing | None:
    """Return the pairing of a term over (outputs, reduced axes), None without one."""
    axes = _row_and_column_axes(term)
    if axes is None:
        return None
    first_row, first_column = axes
    staged = _operand_steps(term)
    if staged is None:
        return None

    def regroup(
        groups: Sequence[tuple[int, ...]], order: Sequence[int]
    ) -> tuple[tuple[int, ...], ...]:
        outputs, depth = groups
        batch, rows = outputs[:first_row], outputs[first_row:first_column]
        parts = batch, rows, outputs[first_column:], depth
        return tuple(parts[group] for group in order)

    def operand(step: int, order: Sequence[int]) -> Expression:
        expression = subexpression(term, step)
        accesses = tuple(
            Access(access.offset, regroup(access.strides, order))
            for access in expression.accesses
        )
        groups = regroup(term.groups, order)
        return replace(expression, groups=groups, accesses=accesses)

    batch, rows, columns, depth = map(prod, regroup(term.groups, range(4)))
    if min(rows, columns) < policy.LEAST_PAIR_SIDE:
        return None
    left, right = staged
    sizes = batch, rows, columns, depth
    operands = operand(left, (0, 1, 3)), operand(right, (0, 3, 2))
    return Pairing(sizes, *operands, term, staged)


def _column_accesses(term: Expression) -> set[int]:
    """Return the accesses that vary with the last axis of the outputs."""
    return {n for n, a in enumerate(term.accesses) if any(a.strides[0][-1:])}


def _row_and_column_axes(term: Expression) -> tuple[int, int] | None:
    """Return the first row axis and the first column axis of the outputs."""
    if len(term.groups) != 2 or not term.groups[1] or len(term.groups[0]) < 2:
        return None
    moving = [
        {n for n, access in enumerate(term.accesses) if access.strides[0][axis]}
        for axis in range(len(term.groups[0]))
    ]
    right = _column_accesses(term)
    first_column = len(moving)
    while first_column and moving[first_column - 1] <= right:
        first_column -= 1
    first_row = first_column
    while first_row and not moving[first_row - 1] & right:
        first_row -= 1
    return (first_row, first_column) if first_row < first_column and right else None


def _operand_steps(term: Expression) -> tuple[int, int] | None:
    """Return the one step per side that steps of both sides read, None if several."""
    right_accesses = _column_accesses(term)
    sides: list[set[bool]] = []
    for step in term.steps:
        side = {step.access in right_accesses} if step.access >= 0 else set()
        for source in (*step.args, step.guard):
            if source >= 0:
                side |= sides[source]
        sides.append(side)
    if len(sides[term.result]) != 2:
        return None
    read: dict[bool, set[int]] = {False: set(), True: set()}
    for index in dependencies(term, term.result):
        step = term.steps[index]
        if len(sides[index]) != 2:
            continue
        if step.kind not in ("map", "cast"):
            return None
        for source in step.args:
            if len(sides[source]) == 1:
                read[next(iter(sides[source]))].add(source)
    if any(len(steps) != 1 for steps in read.values()):
        return None
    (left,), (right,) = read[False], read[True]
    if any(VALUE_TYPES[term.steps[n].dtype] == "bool" for n in (left, right)):
        return None
    return left, right


class _PairOperand:
    """How one operand is read, and its layout in workgroup memory."""

    def __init__(
        self, name: str, expression: Expression, blocks: int, layout: PairLayout
    ) -> None:
        self.name = name
        is_left = name == "left"
        self.axis = "row" if is_left else "column"
        self.blocks = "down" if is_left else "across"
        self.value = VALUE_TYPES[expression.dtype]
        self.expression = expression
        self.along_axis = (
            reorder_groups(expression, (0, 2, 1)) if is_left else expression
        )
        self.is_vector = is_vectorizable(self.along_axis)
        self.arguments = (
            ("batch", "row", "depth") if is_left else ("batch", "depth", "column")
        )
        depth = self.arguments.index("depth")
        self.is_depth_first = any(
            access.strides[depth] and abs(access.strides[depth][-1]) == 1
            for access in expression.accesses
        )
        count = layout.matrices * layout.depth * blocks
        self.loads = 1 << (ceil_divide(count, layout.threads) - 1).bit_length()
        self.width = blocks | 1
        self.vectors = layout.matrices * layout.depth * self.width
        self.is_adjacent = False

    def add_position(self, builder: LaunchBuilder) -> None:
        """Add the functions of a vector's indices in the tile and in the matrix."""
        size = f"parameters.{self.blocks}"
        lines = (
            f"  let rest = number / {size};\n"
            f"  return vec3u(rest / DEPTH, rest % DEPTH, number % {size});\n"
        )
        if self.is_depth_first and not self.is_vector:
            lines = (
                "  let rest = number / DEPTH;\n"
                f"  return vec3u(rest / {size}, number % DEPTH, rest % {size});\n"
            )
        inside = f"vector + component * {size}"
        if self.is_adjacent:
            inside = "vector * 4u + component"
        builder.text += (
            f"fn {self.name}_position(number: u32) -> vec3u {{\n{lines}}}\n"
            f"fn {self.name}_inside(vector: u32, component: u32) -> u32 {{\n"
            f"  return {inside};\n}}\n"
        )

    def add_reads(self, builder: LaunchBuilder) -> None:
        """Add the functions that read one element, and four of them."""
        kind = self.name.title()
        if self.is_vector:
            function = ShaderFunction(self.name, ("batch", "depth", self.axis), kind)
            add_vector_function(builder, function, self.along_axis, f"vec4<{kind}>")
            index = f"min(first / 4u + vector, parameters.{self.axis}s / 4u - 1u)"
            value = f"{self.name}(batch, depth, {index})"
        else:
            function = ShaderFunction(self.name, self.arguments, kind)
            builder.add_function(function, self.expression)
            calls = []
            for component in range(WIDTH):
                inside = f"{self.name}_inside(vector, {component}u)"
                index = f"min(first + {inside}, parameters.{self.axis}s - 1u)"
                arguments = [index if a == self.axis else a for a in self.arguments]
                calls.append(f"{self.name}({', '.join(arguments)})")
            value = vector_text(f"vec4<{kind}>", calls)
        builder.text += (
            f"fn {self.name}_vector(batch: u32, first: u32, vector: u32, depth: u32)"
            f" -> vec4<{kind}> {{\n  return {value};\n}}\n"
        )


class _Pairs:
    """Generate the launch."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: tuple[int, int, int, int],
        operands: tuple[Expression, Expression],
        layout: PairLayout,
        target: Target,
    ) -> None:
        self.kernel = kernel
        self.layout = layout
        self.batch, self.rows, self.columns, self.depth = sizes
        self.value = VALUE_TYPES[kernel.core_dtype]
        self.finish = kernel.expression("finish")
        self.left = _PairOperand("left", operands[0], layout.down, layout)
        self.right = _PairOperand("right", operands[1], layout.across, layout)
        self.is_ahead = self.depth > layout.depth and not target.is_software
        both = (self.left, self.right)
        in_vectors = [each.along_axis for each in both if each.is_vector]
        others = [each.expression for each in both if not each.is_vector]
        self.vectors = vector_inputs(in_vectors, [*others, self.finish])
        if not self.vectors:
            self.left.is_vector = self.right.is_vector = False
        self.left.is_adjacent = self.left.is_vector
        self.right.is_adjacent = self.columns % WIDTH == 0

    def program(
        self, add_terms: Callable[[LaunchBuilder], None], identity: int, unrolled: int
    ) -> Program:
        """Return the program, which is one launch.

        Args:
            add_terms: adds `accumulate` and `combine_four`.
            identity: bits of the identity element.
            unrolled: number of unrolled depths.
        """
        kernel, layout, both = self.kernel, self.layout, (self.left, self.right)
        builder = LaunchBuilder(kernel)
        builder.vectors = self.vectors
        builder.add_sizes(
            batch=self.batch,
            rows=self.rows,
            columns=self.columns,
            depth=self.depth,
            down=layout.down,
            across=layout.across,
            tiles_down=layout.tiles_down,
            tiles_across=layout.tiles_across,
            matrices=layout.matrices,
            left_width=self.left.width,
            right_width=self.right.width,
        )
        first = builder.parameter("identity", self.value, identity)
        builder.text = (
            f"alias Left = {self.left.value};\nalias Right = {self.right.value};\n"
            f"alias Value = {self.value};\n"
            f"fn identity() -> Value {{\n  return {first};\n}}\n"
        )
        for operand in both:
            operand.add_position(builder)
            operand.add_reads(builder)
        add_terms(builder)
        self._add_store(builder)
        builder.add_result(kernel.dtype, in_vectors=self.right.is_adjacent)
        most = max(operand.vectors for operand in both)
        shape = {
            "THREADS": layout.threads,
            "DEPTH": layout.depth,
            "UNROLLED": unrolled,
            "LEFT_LOADS": self.left.loads,
            "RIGHT_LOADS": self.right.loads,
            "VECTORS": next(each for each in policy.PAIR_VECTORS if each >= most),
            "IS_AHEAD": self.is_ahead,
        }
        groups = layout.groups(self.batch)
        launch = builder.launch("pairs", groups, shape=constants(shape))
        tile = f"{layout.down * WIDTH} x {layout.across * WIDTH} x {layout.depth}"
        note = f"tiles of {tile}, {layout.matrices} in a workgroup"
        return Program((replace(launch, note=note),))

    def _add_store(self, builder: LaunchBuilder) -> None:
        """Add `store`, which applies the epilogue and stores four results of a row."""
        element = storage_type(self.kernel.dtype)
        builder.add_function(finish_function(self.kernel.dtype), self.finish)
        apart = "1u" if self.right.is_adjacent else "parameters.across"
        prepared, results = each_of_four(
            f"finish(index + u32(i32(i)) * {apart}, totals[i])",
            element,
            is_long_code(self.finish, WIDTH * WIDTH),
        )
        builder.text += store_function(
            "batch: u32, row: u32, column: u32, totals: vec4<Value>",
            "(batch * parameters.rows + row) * parameters.columns + column",
            results,
            [f"{i}u * {apart}" for i in range(WIDTH)],
            element if self.right.is_adjacent else "",
            prepared,
        )


def _add_accumulation(builder: LaunchBuilder, added: str, combined: str) -> None:
    """Add the functions that add a row's term to four totals, and combine totals."""
    builder.text += (
        "fn accumulate(total: vec4<Value>, a: Left, b: vec4<Right>) -> vec4<Value> {\n"
        f"  return {added};\n}}\n"
        "fn combine_four(a: vec4<Value>, b: vec4<Value>) -> vec4<Value> {\n"
        f"  return {combined};\n}}\n"
    )


def _add_pairing(builder: LaunchBuilder, kernel: Kernel, pairing: Pairing) -> None:
    """Add the functions that compute and combine a reduction's terms from pairs."""
    term = pairing.term
    left, right = pairing.staged
    computed = {left: "a", right: "b"}
    required = dependencies(term, term.result, computed)
    unused = {n: "" for n in range(len(term.steps)) if n not in required}
    body, values = builder.steps(term, computed={**unused, **computed})
    combine = OPS[kernel.op].form(term.dtype, kind_of(term.dtype)).format("a", "b")
    builder.text += (
        f"fn term(a: Left, b: Right) -> Value {{\n{body}"
        f"  return {values[term.result]};\n}}\n"
        f"fn combine(a: Value, b: Value) -> Value {{\n  return {combine};\n}}\n"
    )
    ones = [f"combine(total.{c}, term(a, b.{c}))" for c in COMPONENTS]
    fours = [f"combine(a.{c}, b.{c})" for c in COMPONENTS]
    vector = "vec4<Value>"
    _add_accumulation(builder, vector_text(vector, ones), vector_text(vector, fours))


def small_products(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a batch of small matrices, None for other products."""
    batch, rows, columns, depth = kernel.sizes
    if (
        max(rows, columns) > policy.SMALL_PRODUCT_SIDE
        or batch == 1
        or depth > policy.LONGEST_SMALL_DEPTH
    ):
        return None
    few = target.scaled(policy.FEW_SMALL_PRODUCTS)
    if depth > policy.SHORT_SMALL_DEPTH and batch < few:
        return None
    operands = kernel.expression("left"), kernel.expression("right")
    if any(map(has_several_axes, operands)):
        return None
    depths = policy.SMALL_PAIR_DEPTHS
    layout = choose_pair_layout(batch, rows, columns, depth, target, depths)
    if _are_long_reads(operands, layout):
        return None
    sizes = (batch, rows, columns, depth)
    pairs = _Pairs(kernel, sizes, operands, layout, target)
    unrolled = policy.SOFTWARE_UNROLLED if target.is_software else layout.depth
    is_float = VALUE_TYPES[kernel.core_dtype] == "f32"
    added = "fma(vec4<Value>(a), b, total)" if is_float else "total + a * b"
    return pairs.program(
        lambda builder: _add_accumulation(builder, added, "a + b"), 0, unrolled
    )


def paired_reduction(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a reduction over rows by columns, None for others."""
    term = kernel.expression("term")
    if kernel.kind != "reduce" or VALUE_TYPES[term.dtype] == "bool":
        return None
    pairing = find_pairing(term)
    if pairing is None:
        return None
    batch, rows, columns, depth = pairing.sizes
    layout = choose_pair_layout(batch, rows, columns, depth, target)
    few = target.scaled(policy.FEW_GROUPS)
    if layout.groups(batch) < few and depth > policy.SHORT_PAIR_DEPTH:
        return None
    operands = pairing.left, pairing.right
    if _are_long_reads(operands, layout) or is_long_code(term, WIDTH * WIDTH):
        return None
    unrolled = policy.SOFTWARE_UNROLLED if target.is_software else layout.depth
    while unrolled > 1 and is_long_code(term, unrolled * WIDTH * WIDTH):
        unrolled //= 2
    bits = identity_bits(OPS[kernel.op], term.dtype)
    pairs = _Pairs(kernel, pairing.sizes, operands, layout, target)
    return pairs.program(
        lambda builder: _add_pairing(builder, kernel, pairing), bits, unrolled
    )


def _are_long_reads(operands: Sequence[Expression], layout: PairLayout) -> bool:
    """Return whether the copies of an element's read are too long."""
    vectors = layout.matrices * max(layout.down, layout.across) * layout.depth
    copies = 2 * WIDTH * ceil_divide(vectors, layout.threads)
    return any(is_long_code(operand, copies) for operand in operands)
