"""Programs over pairs: small batched products, and reductions of rows by columns.

A thread computes 4 x 4 results. Small matrices share a workgroup, so that few threads
are outside of them; large ones are divided into tiles. Sizes are parameters, so that
matrices of all sizes share few pipelines; `pairs.wgsl` contains the loop over depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    dependencies,
    function,
    identity_bits,
    is_bulky,
    kind_of,
    steps_text,
    storage_type,
    subexpression,
    to_storage,
)
from tensorweb.codegen.launches import constants, input_bindings, launch
from tensorweb.codegen.product.operands import has_several_axes
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    each_of_four,
    is_vectorizable,
    reorder_groups,
    scalar_slots,
    vector_function,
    vector_of,
    vector_slots,
)
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel

# How a workgroup computes pairs: result blocks, tiles, matrices per workgroup.


def ceil_divide(length: int, size: int) -> int:
    """Return how many pieces of length `size` cover a length."""
    return -(-length // size)


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


def layout_of(
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    target: Target,
    depths: Sequence[int] = policy.PAIR_DEPTHS,
) -> PairLayout:
    """Return the layout for `batch` matrices of results.

    >>> layout_of(4096, 16, 16, 16, Target()).matrices
    4
    >>> layout_of(1, 4096, 4096, 3, Target()).threads
    256
    """
    deep = next((each for each in depths if each >= depth), depths[-1])
    blocks_down, blocks_across = ceil_divide(rows, WIDTH), ceil_divide(columns, WIDTH)
    sides = (policy.PAIR_SIDES[-1],) if target.is_software else policy.PAIR_SIDES
    for side in sides:
        area = side * side
        down = min(blocks_down, side)
        across = min(blocks_across, area // down, policy.LONGEST_PAIR_SIDE)
        down = min(blocks_down, area // across, policy.LONGEST_PAIR_SIDE)
        tiles_down = ceil_divide(blocks_down, down)
        tiles_across = ceil_divide(blocks_across, across)
        down, across = (
            ceil_divide(blocks_down, tiles_down),
            ceil_divide(blocks_across, tiles_across),
        )
        is_whole = tiles_down * tiles_across == 1
        matrices, threads = _group_matrices(down, across, deep, is_whole, target)
        found = PairLayout(
            down, across, tiles_down, tiles_across, matrices, threads, deep
        )
        if found.groups(batch) >= target.scaled(policy.ENOUGH_PAIR_GROUPS):
            break
    return found


def _group_matrices(
    down: int, across: int, deep: int, is_whole: bool, target: Target
) -> tuple[int, int]:
    """Return the number of matrices of a workgroup, and its threads."""
    area = down * across
    room = policy.PAIR_TILE_VECTORS // (deep * (max(down, across) | 1))
    best = (-1.0, 1, policy.PAIR_THREADS[-1])
    for threads in policy.PAIR_THREADS:
        if threads > target.threads or threads < area:
            continue
        matrices = min(threads // area, room) if is_whole else 1
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
    """Return the pairing of a term over (kept, reduced) axes, None without one."""
    axes = _sides(term)
    if axes is None:
        return None
    first_row, first_column, is_right = axes
    steps = _operand_steps(term, is_right)
    if steps is None:
        return None
    kept, reduced = term.groups
    groups = kept[:first_row], kept[first_row:first_column], kept[first_column:]
    batch, rows, columns = (_product(group) for group in groups)
    if min(rows, columns) < policy.LEAST_PAIR_SIDE:
        return None
    left, right = steps
    ends = first_row, first_column
    return Pairing(
        (batch, rows, columns, _product(reduced)),
        _operand(term, left, ends, (0, 1, 3)),
        _operand(term, right, ends, (0, 3, 2)),
        term,
        steps,
    )


def _product(lengths: Iterable[int]) -> int:
    found = 1
    for length in lengths:
        found *= length
    return found


def _sides(term: Expression) -> tuple[int, int, list[bool]] | None:
    """Return the first row and column axis, and which accesses vary with columns."""
    if len(term.groups) != 2 or not term.groups[1]:
        return None
    moving = [
        {n for n, each in enumerate(term.accesses) if each.strides[0][axis]}
        for axis in range(len(term.groups[0]))
    ]
    if len(moving) < 2:
        return None
    right = moving[-1]
    first_column = len(moving)
    while first_column and moving[first_column - 1] <= right:
        first_column -= 1
    first_row = first_column
    while first_row and not moving[first_row - 1] & right:
        first_row -= 1
    if first_row == first_column or not right:
        return None
    return first_row, first_column, [n in right for n in range(len(term.accesses))]


def _operand_steps(term: Expression, is_right: list[bool]) -> tuple[int, int] | None:
    """Return the one step per side that steps of both sides read, None if several."""
    sides: list[set[bool]] = []
    for step in term.steps:
        side = {is_right[step.access]} if step.access >= 0 else set()
        for source in (*step.args, step.guard):
            if source >= 0:
                side |= sides[source]
        sides.append(side)
    if len(sides[term.result]) != 2:
        return None
    found: dict[bool, set[int]] = {False: set(), True: set()}
    needed = dependencies(term, term.result)
    for number in needed:
        step = term.steps[number]
        if len(sides[number]) != 2:
            continue
        if step.kind not in ("map", "cast"):
            return None
        for source in step.args:
            if len(sides[source]) == 1:
                found[next(iter(sides[source]))].add(source)
    if any(len(steps) != 1 for steps in found.values()):
        return None
    (left,), (right,) = found[False], found[True]
    for step in (term.steps[left], term.steps[right]):
        if VALUE_TYPES[step.dtype] == "bool":
            return None
    return left, right


def _operand(
    term: Expression, result: int, ends: tuple[int, int], order: tuple[int, int, int]
) -> Expression:
    """Return one operand of a term, with its axes in three groups.

    `order` permutes the groups batch, rows, columns and depth.
    """
    first_row, first_column = ends

    def regroup(
        kept: tuple[int, ...], reduced: tuple[int, ...]
    ) -> list[tuple[int, ...]]:
        parts = kept[:first_row], kept[first_row:first_column], kept[first_column:]
        return [(*parts, reduced)[group] for group in order]

    found = subexpression(term, result)
    accesses = tuple(
        Access(each.offset, tuple(regroup(each.strides[0], each.strides[1])))
        for each in found.accesses
    )
    groups = tuple(regroup(term.groups[0], term.groups[1]))
    return replace(found, groups=groups, accesses=accesses)


class _Side:
    """How one operand is read, and its layout in workgroup memory."""

    def __init__(
        self, name: str, expression: Expression, blocks: int, layout: PairLayout
    ) -> None:
        self.name = name
        self.axis = "row" if name == "left" else "column"
        self.blocks = "down" if name == "left" else "across"
        self.value = VALUE_TYPES[expression.dtype]
        is_left = name == "left"
        self.along_axis = (
            reorder_groups(expression, (0, 2, 1)) if is_left else expression
        )
        self.is_vector = is_vectorizable(self.along_axis)
        self.expression = expression
        self.arguments = (
            ("batch", "row", "depth") if is_left else ("batch", "depth", "column")
        )
        depth = 2 if is_left else 1
        self.is_depth_first = any(
            each.strides[depth] and abs(each.strides[depth][-1]) == 1
            for each in expression.accesses
        )
        count = layout.matrices * layout.depth * blocks
        self.loads = 1 << (ceil_divide(count, layout.threads) - 1).bit_length()
        self.width = blocks | 1
        self.vectors = layout.matrices * layout.depth * self.width
        self.is_adjacent = False

    @property
    def slots(self) -> set[int]:
        """The inputs that it reads."""
        return {s.slot for s in self.expression.steps if s.kind in ("load", "gather")}

    def position(self) -> str:
        """Return the function of a vector's matrix, depth and index in the tile."""
        size = f"parameters.{self.blocks}"
        head = f"fn {self.name}_position(number: u32) -> vec3u {{\n"
        if self.is_depth_first and not self.is_vector:
            return (
                f"{head}  let rest = number / DEPTH;\n"
                f"  return vec3u(rest / {size}, number % DEPTH, rest % {size});\n}}\n"
            )
        return (
            f"{head}  let rest = number / {size};\n"
            f"  return vec3u(rest / DEPTH, rest % DEPTH, number % {size});\n}}\n"
        )

    def inside(self) -> str:
        """Return the function of the row or column of a vector's component."""
        inside = f"vector + component * parameters.{self.blocks}"
        if self.is_adjacent:
            inside = "vector * 4u + component"
        return (
            f"fn {self.name}_inside(vector: u32, component: u32) -> u32 {{\n"
            f"  return {inside};\n}}\n"
        )

    def read(self, declarations: Declarations, inputs: Sequence[str]) -> str:
        """Return the functions that read one element, and four of them."""
        kind = self.name.title()
        head = (
            f"fn {self.name}_vector(batch: u32, first: u32, vector: u32, depth: u32)"
            f" -> vec4<{kind}> {{\n"
        )
        if self.is_vector:
            signature = Signature(self.name, ("batch", "depth", self.axis), kind)
            text = vector_function(
                declarations,
                signature,
                self.along_axis,
                inputs,
                vector_of(f"vec4<{kind}>"),
            )
            index = f"min(first / 4u + vector, parameters.{self.axis}s / 4u - 1u)"
            return f"{text}{head}  return {self.name}(batch, depth, {index});\n}}\n"
        signature = Signature(self.name, self.arguments, kind)
        text = function(declarations, signature, self.expression, inputs)
        calls = []
        for component in range(WIDTH):
            inside = f"{self.name}_inside(vector, {component}u)"
            here = f"min(first + {inside}, parameters.{self.axis}s - 1u)"
            listed = [here if each == self.axis else each for each in self.arguments]
            calls.append(f"{self.name}({', '.join(listed)})")
        return f"{text}{head}  return vec4<{kind}>({', '.join(calls)});\n}}\n"


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
        self.left = _Side("left", operands[0], layout.down, layout)
        self.right = _Side("right", operands[1], layout.across, layout)
        self.is_ahead = self.depth > layout.depth and not target.is_software
        self.vectors = self._vectors()
        self.left.is_adjacent = self.left.is_vector
        self.right.is_adjacent = self.columns % WIDTH == 0

    def _vectors(self) -> set[int]:
        """Return the inputs read as vectors, empty if one is also read one by one."""
        vectors: set[int] = set()
        single = {s.slot for s in self.finish.steps if s.kind in ("load", "gather")}
        for side in (self.left, self.right):
            if side.is_vector:
                vectors |= vector_slots(side.along_axis)
                single |= scalar_slots(side.along_axis)
            else:
                single |= side.slots
        if not vectors & single:
            return vectors
        self.left.is_vector = self.right.is_vector = False
        return set()

    def program(
        self, terms: Callable[[Declarations], str], identity: int, unrolled: int
    ) -> Program:
        """Return the program, which is one launch.

        Args:
            terms: generates `accumulate` and `combine_four`.
            identity: bits of the identity element.
            unrolled: number of unrolled depths.
        """
        kernel, layout = self.kernel, self.layout
        declarations = Declarations(kernel.scalar_dtypes)
        for name, size in (
            ("batch", self.batch),
            ("rows", self.rows),
            ("columns", self.columns),
            ("depth", self.depth),
            ("down", layout.down),
            ("across", layout.across),
            ("tiles_down", layout.tiles_down),
            ("tiles_across", layout.tiles_across),
            ("matrices", layout.matrices),
            ("left_width", self.left.width),
            ("right_width", self.right.width),
        ):
            declarations.parameter(name, "u32", size)
        first = declarations.parameter("identity", self.value, identity)
        text = (
            f"alias Left = {self.left.value};\nalias Right = {self.right.value};\n"
            f"alias Value = {self.value};\n"
            f"fn identity() -> Value {{\n  return {first};\n}}\n"
        )
        for side in (self.left, self.right):
            text += side.position() + side.inside()
            text += side.read(declarations, kernel.input_dtypes)
        text += terms(declarations) + self._store(declarations)
        read = [self.left.expression, self.right.expression, self.finish]
        bindings = input_bindings(kernel, read, self.vectors)
        element = storage_type(kernel.dtype)
        element = f"vec4<{element}>" if self.right.is_adjacent else element
        bindings.append(("result", "w", element, OUTPUT))
        made = launch(
            "pairs",
            declarations,
            bindings,
            text,
            layout.groups(self.batch),
            shape=self._shape(unrolled),
        )
        tile = f"{layout.down * WIDTH} x {layout.across * WIDTH} x {layout.depth}"
        note = f"tiles of {tile}, {layout.matrices} in a workgroup"
        return Program((replace(made, note=note),))

    def _shape(self, unrolled: int) -> str:
        most = max(self.left.vectors, self.right.vectors)
        numbers = {
            "THREADS": self.layout.threads,
            "DEPTH": self.layout.depth,
            "UNROLLED": unrolled,
            "LEFT_LOADS": self.left.loads,
            "RIGHT_LOADS": self.right.loads,
            "VECTORS": next(each for each in policy.PAIR_VECTORS if each >= most),
        }
        return constants({**numbers, "IS_AHEAD": self.is_ahead})

    def _store(self, declarations: Declarations) -> str:
        """Return `store`.

        Which applies the epilogue and stores four results of a row.
        """
        element = storage_type(self.kernel.dtype)
        form = to_storage("{0}", self.kernel.dtype)
        signature = Signature("finish", ("index",), element, form, "core: Value")
        inputs = self.kernel.input_dtypes
        text = function(declarations, signature, self.finish, inputs)
        apart = "1u" if self.right.is_adjacent else "parameters.across"
        head = (
            "fn store(batch: u32, row: u32, column: u32, totals: vec4<Value>) {\n"
            "  if (row < parameters.rows && column < parameters.columns) {\n"
            "    let index = (batch * parameters.rows + row) * parameters.columns"
            " + column;\n"
        )
        prepared, each = each_of_four(
            f"finish(index + u32(i32(i)) * {apart}, totals[i])",
            element,
            is_bulky(self.finish, WIDTH * WIDTH),
        )
        if self.right.is_adjacent:
            lines = f"    result[index / 4u] = vec4<{element}>({', '.join(each)});\n"
        else:
            lines = "".join(
                f"    if (column + {i}u * {apart} < parameters.columns) {{\n"
                f"      result[index + {i}u * {apart}] = {value};\n    }}\n"
                for i, value in enumerate(each)
            )
        return f"{text}{head}{prepared}{lines}  }}\n}}\n"


def _of_product(value: str) -> str:
    """Return the functions that accumulate the terms of a product."""
    added = "fma(vec4<Value>(a), b, total)" if value == "f32" else "total + a * b"
    return (
        "fn accumulate(total: vec4<Value>, a: Left, b: vec4<Right>) -> vec4<Value> {\n"
        f"  return {added};\n}}\n"
        "fn combine_four(a: vec4<Value>, b: vec4<Value>) -> vec4<Value> {\n"
        "  return a + b;\n}\n"
    )


def _of_pairing(kernel: Kernel, pairing: Pairing, declarations: Declarations) -> str:
    """Return the functions that compute and combine a reduction's terms from pairs."""
    term = pairing.term
    left, right = pairing.staged
    given = {left: "a", right: "b"}
    needed = dependencies(term, term.result, given)
    rest = {n: "" for n in range(len(term.steps)) if n not in needed}
    body, values = steps_text(
        term, declarations, kernel.input_dtypes, "", {**rest, **given}
    )
    combine = OPS[kernel.op].form(term.dtype, kind_of(term.dtype)).format("a", "b")
    ones = ", ".join(f"combine(total.{c}, term(a, b.{c}))" for c in COMPONENTS)
    fours = ", ".join(f"combine(a.{c}, b.{c})" for c in COMPONENTS)
    return (
        f"fn term(a: Left, b: Right) -> Value {{\n{body}"
        f"  return {values[term.result]};\n}}\n"
        f"fn combine(a: Value, b: Value) -> Value {{\n  return {combine};\n}}\n"
        "fn accumulate(total: vec4<Value>, a: Left, b: vec4<Right>) -> vec4<Value> {\n"
        f"  return vec4<Value>({ones});\n}}\n"
        "fn combine_four(a: vec4<Value>, b: vec4<Value>) -> vec4<Value> {\n"
        f"  return vec4<Value>({fours});\n}}\n"
    )


def small_products(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a batch of small matrices, None for other products."""
    batch, rows, columns, depth = kernel.sizes
    if (
        max(rows, columns) > policy.SMALL_PRODUCT_SIDE
        or batch == 1
        or depth > policy.LONGEST_SMALL_DEPTH
    ):
        return None
    if depth > policy.SHORT_SMALL_DEPTH and batch < target.scaled(
        policy.FEW_SMALL_PRODUCTS
    ):
        return None
    operands = kernel.expression("left"), kernel.expression("right")
    if any(has_several_axes(each) for each in operands):
        return None
    layout = layout_of(batch, rows, columns, depth, target, policy.SMALL_PAIR_DEPTHS)
    if any(is_bulky(each, _copies(layout)) for each in operands):
        return None
    value = VALUE_TYPES[kernel.core_dtype]
    pairs = _Pairs(kernel, (batch, rows, columns, depth), operands, layout, target)
    unrolled = policy.SOFTWARE_UNROLLED if target.is_software else layout.depth
    return pairs.program(lambda _: _of_product(value), 0, unrolled)


def paired_reduction(kernel: Kernel, target: Target) -> Program | None:
    """Return the program of a reduction over rows by columns, None for others."""
    term = kernel.expression("term")
    if kernel.kind != "reduce" or VALUE_TYPES[term.dtype] == "bool":
        return None
    pairing = find_pairing(term)
    if pairing is None:
        return None
    batch, rows, columns, depth = pairing.sizes
    layout = layout_of(batch, rows, columns, depth, target)
    few = target.scaled(policy.FEW_GROUPS)
    if layout.groups(batch) < few and depth > policy.SHORT_PAIR_DEPTH:
        return None
    operands = pairing.left, pairing.right
    if any(is_bulky(each, _copies(layout)) for each in operands):
        return None
    unrolled = policy.SOFTWARE_UNROLLED if target.is_software else layout.depth
    while unrolled > 1 and is_bulky(term, unrolled * WIDTH * WIDTH):
        unrolled //= 2
    if is_bulky(term, WIDTH * WIDTH):
        return None
    bits = identity_bits(OPS[kernel.op], term.dtype)
    pairs = _Pairs(kernel, pairing.sizes, operands, layout, target)
    return pairs.program(
        lambda declarations: _of_pairing(kernel, pairing, declarations), bits, unrolled
    )


def _copies(layout: PairLayout) -> int:
    """Return the largest number of copies of an element's read in the text."""
    blocks = layout.matrices * max(layout.down, layout.across)
    return 2 * WIDTH * ceil_divide(blocks * layout.depth, layout.threads)
