"""Programs of float16 products that the matrix units of a GPU multiply.

They need WGSL's subgroup matrices, which few adapters offer, and operands that lie in
memory as they are multiplied: nothing computed, eight halves side by side. Every other
product goes the way of `contraction.py`, as all do where an adapter has no such units.

Source of the operations: Chromium's proposal of subgroup matrices,
https://github.com/gpuweb/gpuweb/issues/4195.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.expression import (
    Declarations,
    Signature,
    addresses,
    coordinates,
    function,
    storage_type,
    stored,
)
from tensorweb.codegen.launches import Storages, constants, launch
from tensorweb.codegen.program import OUTPUT, Launch
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import WIDTH
from tensorweb.schedule.kernel import Access, Expression, Kernel

HALVES = 8
"""Elements of float16 that are loaded at once: 16 bytes."""

SIDE = 16
"""Rows, columns and depth of one matrix."""

DEPTH = 32
"""Terms that are in workgroup memory at a time."""

SUBGROUP = 32
"""Threads of a subgroup."""

LEAST_SIDE = 64
"""Rows and columns below which most of a tile would be empty."""

GAP = 8
"""Halves between lines of a tile: the lines of a matrix lie in different banks."""

SUMS_LINE = 20
"""Sums from one line of a matrix to the next, where a subgroup stores them."""


@dataclass(frozen=True, slots=True)
class UnitTile:
    """A tile of results, of a workgroup whose subgroups lie side by side.

    Attributes:
        rows, columns: of the tile.
        down, across: subgroups.
        enough: workgroups below which a smaller tile is faster.
    """

    rows: int
    columns: int
    down: int
    across: int
    enough: int

    @property
    def matrices(self) -> tuple[int, int]:
        """Matrices of a subgroup, down and across."""
        return self.rows // self.down // SIDE, self.columns // self.across // SIDE

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.down * self.across * SUBGROUP

    def groups(self, batch: int, rows: int, columns: int) -> int:
        """Return the workgroups of a problem."""
        return batch * -(-rows // self.rows) * -(-columns // self.columns)

    def workgroup_bytes(self, lines: tuple[int, int]) -> int:
        """Return the workgroup memory, operands lying in lines of such lengths."""
        halves = sum(
            extent * DEPTH // line * (line + GAP)
            for extent, line in zip((self.rows, self.columns), lines, strict=True)
        )
        return 2 * halves + 4 * self.down * self.across * SIDE * SUMS_LINE


TILES = (UnitTile(128, 128, 2, 2, 100), UnitTile(64, 64, 2, 2, 0))
"""From the largest to the smallest; `bench/TUNING.md` has the figures."""


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand that is a load and nothing else.

    Attributes:
        name: `left` or `right`.
        arguments: of its function.
        expression: the load.
        is_along_depth: whether its neighbours are terms of one row or column.
    """

    name: str
    arguments: tuple[str, str, str]
    expression: Expression
    is_along_depth: bool

    @property
    def slot(self) -> int:
        """The input that it reads."""
        return self.expression.steps[0].slot


def _moves_in_halves(access: Access, group: int) -> bool:
    """Whether an access moves by one along the only axis of a group, else by eights."""
    others = [s for n, each in enumerate(access.strides) if n != group for s in each]
    aligned = all(number % HALVES == 0 for number in (*others, access.offset))
    return access.strides[group] == (1,) and aligned


def _operand(
    name: str, arguments: tuple[str, str, str], kernel: Kernel
) -> _Operand | None:
    """Return an operand that can be read in eights; None where it cannot."""
    expression = kernel.expression(name)
    if len(expression.steps) != 1 or expression.steps[0].kind != "load":
        return None
    step = expression.steps[0]
    if step.guard >= 0 or kernel.input_dtypes[step.slot] != "float16":
        return None
    access = expression.accesses[step.access]
    depth = arguments.index("depth")
    for group in (depth, 3 - depth):
        lengths = expression.groups[group]
        is_whole = len(lengths) == 1 and lengths[0] % HALVES == 0
        if is_whole and _moves_in_halves(access, group):
            return _Operand(name, arguments, expression, group == depth)
    return None


def _tile(kernel: Kernel, target: Target, along: tuple[bool, bool]) -> UnitTile | None:
    """Return the tile for a problem, None where workgroup memory has no room."""
    batch, rows, columns, _ = kernel.sizes
    found = None
    for tile in TILES:
        extents = zip(along, (tile.rows, tile.columns), strict=True)
        left, right = (DEPTH if is_deep else extent for is_deep, extent in extents)
        if tile.workgroup_bytes((left, right)) > target.workgroup_bytes:
            continue
        found = tile
        if tile.groups(batch, rows, columns) >= target.scaled(tile.enough):
            break
    return found


def by_subgroup_matrices(kernel: Kernel, target: Target) -> Launch | None:
    """Return the launch of a product by matrix units; None where they cannot do it."""
    _, rows, columns, _ = kernel.sizes
    if not target.has_subgroup_matrices or min(rows, columns) < LEAST_SIDE:
        return None
    left = _operand("left", ("batch", "row", "depth"), kernel)
    right = _operand("right", ("batch", "depth", "column"), kernel)
    if left is None or right is None:
        return None
    finish = kernel.expression("finish")
    read = {s.slot for s in finish.steps if s.kind in ("load", "gather")}
    if read & {left.slot, right.slot}:
        return None  # one binding is of vectors or of single elements
    tile = _tile(kernel, target, (left.is_along_depth, right.is_along_depth))
    return _launch(kernel, tile, left, right) if tile else None


def _launch(kernel: Kernel, tile: UnitTile, left: _Operand, right: _Operand) -> Launch:
    batch, rows, columns, depth = kernel.sizes
    declarations = Declarations(kernel.scalar_dtypes)
    for name, size in (("rows", rows), ("columns", columns), ("depth", depth)):
        declarations.parameter(name, "u32", size)
    text = "".join(_read(declarations, operand) for operand in (left, right))
    text += _store(declarations, kernel)
    storages: Storages = []
    finish = kernel.expression("finish")
    slots = {left.slot: "vec4<u32>", right.slot: "vec4<u32>"}
    for step in finish.steps:
        if step.kind in ("load", "gather"):
            slots[step.slot] = storage_type(kernel.input_dtypes[step.slot])
    storages = [(f"input{slot}", "r", slots[slot]) for slot in sorted(slots)]
    element = storage_type(kernel.dtype)
    is_vector = columns % WIDTH == 0
    storages.append(("result", "w", f"vec4<{element}>" if is_vector else element))
    return launch(
        "matmul_subgroup_matrix",
        declarations,
        storages,
        (*sorted(slots), OUTPUT),
        text,
        tile.groups(batch, rows, columns),
        tile=_constants(tile, left, right, depth),
    )


def _read(declarations: Declarations, operand: _Operand) -> str:
    """Return the function that reads eight neighbours of an operand."""
    name, arguments, expression = operand.name, operand.arguments, operand.expression
    lines = coordinates(declarations, name, arguments, expression)
    lines += addresses(declarations, name, arguments, expression)
    head = Signature(name, arguments, "vec4<u32>").head("vec4<u32>")
    address = f"address{expression.steps[0].access} / {HALVES}"
    body = "".join(lines)
    return f"{head} {{\n{body}  return input{operand.slot}[{address}];\n}}\n"


def _store(declarations: Declarations, kernel: Kernel) -> str:
    """Return the functions that finish and store four neighbouring sums."""
    element = storage_type(kernel.dtype)
    form = stored("{0}", kernel.dtype)
    signature = Signature("finish", ("index",), element, form, "core: f32")
    finish = kernel.expression("finish")
    text = function(declarations, signature, finish, kernel.input_dtypes)
    calls = [f"finish(index + {i}u, values[{i}])" for i in range(WIDTH)]
    if kernel.sizes[2] % WIDTH:
        lines = "".join(
            f"    if (column + {i}u < parameters.columns) {{\n"
            f"      result[index + {i}u] = {call};\n    }}\n"
            for i, call in enumerate(calls)
        )
    else:
        lines = f"    result[index / 4u] = vec4<{element}>({', '.join(calls)});\n"
    return (
        f"{text}fn store(batch: u32, row: u32, column: u32, values: vec4<f32>) {{\n"
        "  if (row < parameters.rows && column < parameters.columns) {\n"
        "    let index = (batch * parameters.rows + row) * parameters.columns + column;"
        f"\n{lines}  }}\n}}\n"
    )


def _constants(tile: UnitTile, left: _Operand, right: _Operand, depth: int) -> str:
    """Return the slot of the tile's sizes."""
    down, across = tile.matrices
    numbers = {
        "ROWS": tile.rows,
        "COLUMNS": tile.columns,
        "DOWN": tile.down,
        "ACROSS": tile.across,
        "ROW_MATRICES": down,
        "COLUMN_MATRICES": across,
        "ACCUMULATORS": down * across,
    }
    flags = {"IS_WHOLE": depth % DEPTH == 0}
    for operand, extent in ((left, tile.rows), (right, tile.columns)):
        name = operand.name.upper()
        flags[f"{name}_ALONG_DEPTH"] = operand.is_along_depth
        numbers[f"{name}_LINE"] = DEPTH if operand.is_along_depth else extent
        numbers[f"{name}_LOADS"] = extent * DEPTH // HALVES // tile.threads
    return constants({**numbers, **flags})
