"""Choose how the operands of a product are read: in place or packed.

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
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import needed_steps
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.policy import (
    LONG_ROW,
    MOST_PACKED,
    PACKING_TIME,
    ROW_PADDING,
    SMALL_MATRIX,
    THIN_ROWS,
    TRANSPOSING_TIME,
)
from tensorweb.codegen.wasm.product.sizes import Sizes, best_tile, sizes_of
from tensorweb.schedule.kernel import Access, Expression, Kernel
from tensorweb.schedule.lowering import merge_axes

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
    is_small = sizes.rows * sizes.depth * sizes.numbers.size <= SMALL_MATRIX
    if sizes.depth and is_plain(expression, dtype):
        operand = Operand(expression)
        if is_small or operand.stride(2) in (0, 1):
            return operand
    row = sizes.depth
    if row >= LONG_ROW:
        row = -(-row // ROW_PADDING) * ROW_PADDING + ROW_PADDING
    matrix = 0 if is_shared(expression) else row * sizes.rows
    return Operand(expression, storage, matrix, row)


def right_operand(
    expression: Expression, sizes: Sizes, dtype: str, storage: int
) -> Operand:
    """Return how the right operand is read, whose groups are batch, depth, columns."""
    is_small = sizes.depth * sizes.columns * sizes.numbers.size <= SMALL_MATRIX
    rows = sizes.rows * (sizes.batch if is_shared(expression) else 1)
    if sizes.depth and is_plain(expression, dtype):
        operand = Operand(expression)
        if operand.stride(2) == 1 and (is_small or rows <= THIN_ROWS):
            return operand
    panel = sizes.depth * sizes.width + (ROW_PADDING if sizes.depth >= LONG_ROW else 0)
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
            f.get(pointer)
            f.set(local)
            return
        f.get(self._base)
        if batch is not None and self.operand.matrix:
            if shift is not None:
                f.get(shift)
                f.op("i32.add")
            f.get(batch)
            f.get(self._matrix)
            f.ops("i32.mul", "i32.add")
        f.get(index)
        if self.is_left:
            f.get(self.row)
        else:
            f.const("i32", self.sizes.width)
            f.op("i32.div_u")
            f.get(self.step)
        f.ops("i32.mul", "i32.add")
        f.set(local)


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
        finished = results * TRANSPOSING_TIME if self.is_transposed else 0
        return tile * sizes.batch * sizes.depth + packed * PACKING_TIME + finished


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
        together = min(max(MOST_PACKED // matrix, 1), together)
    taken = tuple(
        scratch_bytes(operand, sizes, operand is left, together)
        for operand in (left, right)
        if operand.is_packed
    )
    return Layout(sizes, left, right, is_transposed, together, taken)
