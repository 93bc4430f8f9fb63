"""How a product is cut into units of work, and how its operands are read.

The order in which a sum is made follows from the depth alone.

An operand that is a plain load is read in place if the innermost loops can read its
strides; any other is computed into a scratch storage first, see `packing.py`. There the
left operand is contiguous by rows, and the right one is cut into panels: the columns
that are multiplied at a time, depth by depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tensorweb.codegen.program import scratch
from tensorweb.codegen.vector import reorder_groups
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import KINDS, needed_steps
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.product.panel import NUMBERS, Numbers
from tensorweb.codegen.wasm.translation import LANES
from tensorweb.schedule.kernel import Access, Expression, Kernel
from tensorweb.schedule.lowering import merge_axes

Costs = dict[tuple[int, int], float]
"""Time of a product of numbers in a tile, by the tile's rows and vectors."""

_PLAIN: Costs = {
    (4, 2): 1.0,
    (5, 2): 1.0,
    (3, 3): 1.04,
    (2, 4): 1.08,
    (2, 3): 1.13,
    (3, 2): 1.1,
    (2, 2): 1.55,
    (5, 1): 1.34,
    (4, 1): 1.5,
    (3, 1): 1.9,
    (2, 1): 2.7,
}
_FUSED: Costs = {
    (4, 2): 1.0,
    (6, 2): 1.01,
    (3, 3): 1.04,
    (5, 2): 1.05,
    (2, 4): 1.2,
    (3, 2): 1.4,
    (2, 3): 1.4,
    (2, 2): 2.1,
    (8, 1): 1.4,
    (6, 1): 1.47,
    (5, 1): 1.8,
    (4, 1): 2.1,
    (3, 1): 2.75,
    (2, 1): 4.0,
}
COSTS: dict[str, Costs] = {
    "f32": _PLAIN,
    "f32 fused": _FUSED,
    "f64": _PLAIN,
    "f64 fused": _FUSED,
    "i32": {each: cost for each, cost in _PLAIN.items() if each != (5, 2)},
    "i64": {(2, 2): 1.0, (2, 1): 1.1},
}
"""Measured in Chromium; with more sums they leave the registers."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The lengths of a product, and of its parts.

    Attributes:
        batch, rows, columns, depth: of the product.
        kind: the type of its sums.
        tile: rows and vectors of a tile.
        unit_batch, unit_rows, unit_columns: sizes of a unit.
        depth_part: the longest part of the depth.
    """

    batch: int
    rows: int
    columns: int
    depth: int
    kind: str
    tile: tuple[int, int]
    unit_batch: int
    unit_rows: int
    unit_columns: int
    depth_part: int

    @property
    def numbers(self) -> Numbers:
        """How they are computed."""
        return NUMBERS[self.kind]

    @property
    def vectors(self) -> int:
        """Vectors that hold all columns."""
        return -(-self.columns // self.numbers.together)

    @property
    def width(self) -> int:
        """Columns of a panel."""
        return self.tile[1] * self.numbers.together

    @property
    def panels(self) -> int:
        """Panels of that width."""
        return self.vectors // self.tile[1]

    @property
    def narrow(self) -> int:
        """Vectors of the last, narrower panel, 0 if there is none."""
        return self.vectors % self.tile[1]

    @property
    def computed_columns(self) -> int:
        """Columns that all panels compute."""
        return self.vectors * self.numbers.together

    @property
    def is_whole(self) -> bool:
        """Whether columns end where vectors do."""
        return self.columns == self.computed_columns

    @property
    def row_blocks(self) -> int:
        """Units along the rows."""
        return -(-self.rows // self.unit_rows)

    @property
    def column_blocks(self) -> int:
        """Units along the columns."""
        return -(-self.columns // self.unit_columns)

    def units(self, matrices: int) -> int:
        """Return the number of units of some matrices of the batch."""
        blocks = self.row_blocks * self.column_blocks
        return -(-matrices // self.unit_batch) * blocks

    @property
    def per_slice(self) -> int:
        """Units of a slice."""
        work = self.unit_batch * self.unit_rows * self.unit_columns
        work *= (self.depth + policy.WORK_PER_SUM) * 4 // self.numbers.together
        return max(policy.PRODUCT_SLICE // max(work, 1), 1)


def best_tile(
    rows: int, columns: int, kind: str, is_fused: bool
) -> tuple[tuple[int, int], float]:
    """Return the tile that computes a product of matrices soonest, and its time.

    The time is for each of its depths, in products of vectors at full speed.

    >>> best_tile(512, 512, "f32", False)[0], best_tile(2, 512, "f32", False)[0]
    ((4, 2), (2, 4))
    """
    costs = COSTS[f"{kind} fused" if is_fused and kind[0] == "f" else kind]
    vectors = -(-columns // NUMBERS[kind].together)

    def time(tile: tuple[int, int]) -> float:
        down, across = tile
        narrow = vectors % across
        wide = (vectors - narrow) * costs[tile]
        rest = narrow * costs[down, narrow] if narrow else 0
        return -(-rows // down) * down * (wide + rest)

    best = min(costs, key=time)
    return best, time(best)


def sizes_of(
    batch: int, rows: int, columns: int, depth: int, dtype: str, is_fused: bool
) -> Sizes:
    """Return how a product of matrices is cut.

    Args:
        batch: number of matrices.
        rows: of the left operand.
        columns: of the right operand.
        depth: terms of each sum.
        dtype: of its sums.
        is_fused: whether multiplying and adding round once.
    """
    kind = kind_of(dtype)
    tile, _ = best_tile(rows, columns, kind, is_fused)
    is_thin = (
        rows <= policy.THIN_ROWS
        and depth * columns * NUMBERS[kind].size > policy.SMALL_MATRIX
    )
    parts = max(-(-depth // (policy.THIN_DEPTH if is_thin else policy.DEPTH_PART)), 1)
    part = max(-(-depth // (4 * parts)) * 4, 4)
    work = batch * rows * columns * (depth + policy.WORK_PER_SUM)
    unit_work = min(
        max(work // policy.LEAST_UNITS, policy.LEAST_UNIT), policy.MOST_UNIT
    )
    results = max(unit_work // (depth + policy.WORK_PER_SUM), 1)
    block = rows, columns
    together = 1
    if results >= rows * columns:
        together = min(results // (rows * columns), batch)
    else:
        if is_thin:
            results = max(results, rows * policy.THIN_COLUMNS)
        block = _unit(rows, columns, results, tile[0], tile[1] * NUMBERS[kind].together)
    return Sizes(batch, rows, columns, depth, kind, tile, together, *block, part)


def kind_of(dtype: str) -> str:
    """Return the type of the numbers that are sums of a dtype."""
    return KINDS[dtype].replace("u", "i")


def _unit(
    rows: int, columns: int, results: int, down: int, across: int
) -> tuple[int, int]:
    """Return the rows and columns of units of about `results` results.

    Args:
        rows: of the product.
        columns: of the product.
        results: of a unit.
        down: rows of a tile.
        across: columns of a panel.
    """
    side = round(results**0.5)
    if rows <= policy.FEW_ROWS:
        return rows, _block(columns, results // rows, across)
    unit_columns = _block(columns, side, across)
    about = results // unit_columns
    if unit_columns > across:
        about = min(about, policy.MOST_UNIT_ROWS)
    return _block(rows, about, down), unit_columns


def _block(length: int, about: int, multiple: int) -> int:
    """Return the length of about equal blocks of an axis, of whole tiles.

    The last one is not narrower than a vector.
    """
    if about >= length:
        return length
    blocks = -(-length // max(about, 1))
    block = -(-length // (blocks * multiple)) * multiple
    while block < length and 0 < length % block < LANES:
        block += multiple
    return min(block, length)


Coordinates = Sequence[int | None]
"""A local for each axis of a group, None where the coordinate is 0."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand as the product reads it, all distances in numbers.

    Attributes:
        expression: expression of its elements.
        storage: the scratch storage it is packed into, None if it is read in place.
        matrix: from one packed matrix to the next, 0 if there is only one.
        row: of a packed left operand from row to row, of a right one from depth to
            depth.
        panel: from panel to panel of a packed right operand.
    """

    expression: Expression
    storage: int | None = None
    matrix: int = 0
    row: int = 0
    panel: int = 0

    @property
    def is_packed(self) -> bool:
        """Whether it is copied to a scratch storage."""
        return self.storage is not None

    def stride(self, group: int) -> int:
        """Return the stride along its only axis of an operand that is read in place."""
        (access,) = self.expression.accesses
        strides = access.strides[group]
        return strides[0] if strides else 0


def batch_as_rows(expression: Expression) -> Expression | None:
    """Return a left operand with its batch as rows, None where they do not merge."""
    strides = [(*a.strides[0], *a.strides[1]) for a in expression.accesses]
    axes = (*expression.groups[0], *expression.groups[1])
    merged, columns = merge_axes(axes, strides)
    if not expression.accesses or len(merged) > 1:
        return None
    accesses = tuple(
        Access(access.offset, ((), column, access.strides[2]))
        for access, column in zip(expression.accesses, columns, strict=True)
    )
    groups = ((), merged, expression.groups[2])
    return replace(expression, groups=groups, accesses=accesses)


def without_batch(expression: Expression) -> Expression:
    """Return an expression without its batch axes, which nothing depends on."""
    accesses = tuple(
        replace(access, strides=((), *access.strides[1:]))
        for access in expression.accesses
    )
    groups = ((), *expression.groups[1:])
    return replace(expression, groups=groups, accesses=accesses)


def is_shared(expression: Expression) -> bool:
    """Whether a batch repeats one matrix."""
    return not any(any(access.strides[0]) for access in expression.accesses)


def is_plain(expression: Expression, dtype: str) -> bool:
    """Whether an operand is a plain load of a dtype with at most one axis per group."""
    step = expression.steps[expression.result]
    return (
        step.kind == "load"
        and step.guard < 0
        and step.dtype == dtype
        and len(needed_steps(expression)) == 1
        and len(expression.accesses) == 1
        and all(len(axes) <= 1 for axes in expression.groups[1:])
    )


def left_operand(
    expression: Expression, sizes: Sizes, dtype: str, storage: int
) -> Operand:
    """Return how the left operand is read.

    Args:
        expression: its groups are batch, rows and depth.
        sizes: of the product.
        dtype: of the sums.
        storage: the scratch storage for it, if it takes one.
    """
    is_small = sizes.rows * sizes.depth * sizes.numbers.size <= policy.SMALL_MATRIX
    if sizes.depth and is_plain(expression, dtype):
        operand = Operand(expression)
        if is_small or operand.stride(2) in (0, 1):
            return operand
    row = sizes.depth
    if row >= policy.LONG_ROW:
        row = -(-row // policy.ROW_PADDING) * policy.ROW_PADDING + policy.ROW_PADDING
    matrix = 0 if is_shared(expression) else row * sizes.rows
    return Operand(expression, storage, matrix, row)


def right_operand(
    expression: Expression, sizes: Sizes, dtype: str, storage: int
) -> Operand:
    """Return how the right operand is read, whose groups are batch, depth, columns."""
    is_small = sizes.depth * sizes.columns * sizes.numbers.size <= policy.SMALL_MATRIX
    rows = sizes.rows * (sizes.batch if is_shared(expression) else 1)
    if sizes.depth and is_plain(expression, dtype):
        operand = Operand(expression)
        if operand.stride(2) == 1 and (is_small or rows <= policy.THIN_ROWS):
            return operand
    panel = sizes.depth * sizes.width + (
        policy.ROW_PADDING if sizes.depth >= policy.LONG_ROW else 0
    )
    panels = sizes.panels + (1 if sizes.narrow else 0)
    matrix = 0 if is_shared(expression) else panel * panels
    return Operand(expression, storage, matrix, sizes.width, panel)


def scratch_bytes(operand: Operand, sizes: Sizes, is_left: bool, together: int) -> int:
    """Return the bytes of the scratch storage of a packed operand.

    Args:
        operand: the operand.
        sizes: of the product.
        is_left: whether it is the left one.
        together: number of matrices of right operands that are packed at a time.
    """
    panels = sizes.panels + (1 if sizes.narrow else 0)
    one = operand.row * sizes.rows if is_left else operand.panel * panels
    matrices = sizes.batch if is_left else together
    count = matrices if operand.matrix else 1
    return max(one * count * sizes.numbers.size, 64)


class OperandAddress:
    """Emits the addresses at which a unit reads an operand.

    Attributes:
        row: local of the bytes from row to row of the left operand, or from depth to
            depth of the right one.
        step: local of the bytes from depth to depth of the left operand, or from panel
            to panel of the right one.
    """

    def __init__(
        self, frame: Frame, operand: Operand, sizes: Sizes, is_left: bool
    ) -> None:
        """Begin with the distances, which are parameters."""
        self.frame = frame
        self.operand = operand
        self.sizes = sizes
        self.size = sizes.numbers.size
        self.is_left = is_left
        self._cursor: Cursor | None = None
        self._base = self._matrix = 0
        first, second = self._distances()
        self.row = frame.number(first * self.size)
        self.step = frame.number(second * self.size)
        if not operand.is_packed:
            self._cursor = Cursor(frame, operand.expression)
        else:
            assert operand.storage is not None, "internal: it is packed"
            self._base = frame.storage(operand.storage)
            self._matrix = frame.number(operand.matrix * self.size)

    def _distances(self) -> tuple[int, int]:
        operand = self.operand
        if operand.is_packed:
            return operand.row, 1 if self.is_left else operand.panel
        if self.is_left:
            return operand.stride(1), operand.stride(2)
        return operand.stride(1), self.sizes.width

    @property
    def is_strided(self) -> bool:
        """Whether neighbours along the depth of a left operand lie apart."""
        return self.is_left and self._distances()[1] != 1

    def begin(
        self, batch: int | None, index: int, local: int, shift: int | None = None
    ) -> None:
        """Emit the address of a matrix's row or column at depth 0 into a local.

        Args:
            batch: local of the index of the matrix, None if there is only one.
            index: local of the index of the row or column; that of a packed column
                must be the first of a panel.
            local: the local for the address.
            shift: local of the bytes to add to the address of packed matrices.
        """
        f = self.frame.f
        if self._cursor is not None:
            groups = self.operand.expression.groups
            first = self._cursor.split(0, batch) if batch is not None else []
            own = [index for _ in groups[1 if self.is_left else 2]]
            depth = [None for _ in groups[2 if self.is_left else 1]]
            inner: tuple[Coordinates, Coordinates]
            inner = (own, depth) if self.is_left else (depth, own)
            self._cursor.locate([first, *inner])
            (pointer,) = self._cursor.pointers.values()
            f.set(local, pointer)
            return
        f.get(self._base)
        if batch is not None and self.operand.matrix:
            if shift is not None:
                f.emit(shift, "i32.add")
            f.emit(batch, self._matrix, "i32.mul", "i32.add")
        f.get(index)
        if self.is_left:
            f.get(self.row)
        else:
            f.emit(("i32", self.sizes.width), "i32.div_u", self.step)
        f.set(local, "i32.mul", "i32.add")


SWAPPED = (0, 2, 1)
"""The groups of an operand with the inner two exchanged."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a product is cut, and where its operands are read.

    Attributes:
        sizes: sizes of the product, or of its transpose.
        left: its left operand.
        right: its right operand.
        is_transposed: whether the operands are exchanged, so that the result's rows are
            computed as columns.
        together: number of matrices of right operands that are packed at a time.
        scratch_bytes: of the scratch storages of operands that are packed.
    """

    sizes: Sizes
    left: Operand
    right: Operand
    is_transposed: bool
    together: int
    scratch_bytes: tuple[int, ...]

    def time(self, is_fused: bool) -> float:
        """Return about how long it takes, in products of vectors."""
        sizes = self.sizes
        _, tile = best_tile(sizes.rows, sizes.columns, sizes.kind, is_fused)
        packed = sum(
            length * sizes.depth * (sizes.batch if operand.matrix else 1)
            for operand, length in (
                (self.left, sizes.rows),
                (self.right, sizes.columns),
            )
            if operand.is_packed
        )
        results = sizes.batch * sizes.rows * sizes.columns
        finished = results * policy.TRANSPOSING_TIME if self.is_transposed else 0
        return (
            tile * sizes.batch * sizes.depth + packed * policy.PACKING_TIME + finished
        )


def layout_of(kernel: Kernel, dtype: str, is_fused: bool) -> Layout:
    """Return the layout of a product that takes the least time.

    Args:
        kernel: the product.
        dtype: of its sums.
        is_fused: whether multiplying and adding round once.
    """
    batch, rows, columns, depth = kernel.sizes
    left, right = kernel.expression("left"), kernel.expression("right")
    operands = left, right
    lengths = batch, rows, columns, depth
    if batch > 1 and is_shared(right):
        one = batch_as_rows(left)
        if one is not None:
            operands, lengths = (
                (one, without_batch(right)),
                (1, batch * rows, columns, depth),
            )
    plain = _read(lengths, operands, dtype, is_fused)
    if not plain.scratch_bytes:
        return plain
    operands = reorder_groups(right, SWAPPED), reorder_groups(left, SWAPPED)
    lengths = batch, columns, rows, depth
    transposed = _read(lengths, operands, dtype, is_fused, is_transposed=True)
    return min(plain, transposed, key=lambda each: each.time(is_fused))


def _read(
    lengths: tuple[int, int, int, int],
    operands: tuple[Expression, Expression],
    dtype: str,
    is_fused: bool,
    is_transposed: bool = False,
) -> Layout:
    """Return the layout of a product of two operands."""
    sizes = sizes_of(*lengths, dtype, is_fused)
    left = left_operand(operands[0], sizes, dtype, scratch(0))
    storage = scratch(1 if left.is_packed else 0)
    right = right_operand(operands[1], sizes, dtype, storage)
    together = sizes.batch
    if right.matrix:
        matrix = right.matrix * sizes.numbers.size
        together = min(max(policy.MOST_PACKED // matrix, 1), together)
    taken = tuple(
        scratch_bytes(operand, sizes, operand is left, together)
        for operand in (left, right)
        if operand.is_packed
    )
    return Layout(sizes, left, right, is_transposed, together, taken)
