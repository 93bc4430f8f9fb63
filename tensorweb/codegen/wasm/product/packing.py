"""Compute an operand of a product into the scratch storage where it is read.

Neighbours along one of its axes are computed four at a time; which axis follows from
how its loads lie. They are stored as a vector where they are neighbours there as well,
otherwise each for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from tensorweb.codegen.program import Launch
from tensorweb.codegen.vector import reorder_groups
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import (
    KINDS,
    flops,
    is_vectorizable,
    itemsize,
    store,
)
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.loops import (
    Mover,
    Strided,
    along,
    counted,
    lanes_for,
    units,
)
from tensorweb.codegen.wasm.module import divided, smaller
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.product.sizes import SWAPPED, Operand, Sizes, without_batch
from tensorweb.codegen.wasm.translation import LANES
from tensorweb.schedule.kernel import Expression, Kernel


class MatrixRange:
    """The parameters of the range of matrices that a launch computes.

    Attributes:
        first: local of the index of the first one, times `each`.
        last: local of the end.
        shift: local of the bytes to add to the address of packed matrices.
    """

    def __init__(self, frame: Frame, batch: int, each: int = 1) -> None:
        """Include all matrices.

        Args:
            frame: frame of the launch.
            batch: number of matrices.
            each: units of the index per matrix.
        """
        self.each = each
        self.first = frame.number(0)
        self.last = frame.number(batch * each)
        self.shift = frame.number(0)
        locals_ = (self.first, self.last, self.shift)
        self.words = tuple(frame.word(local) for local in locals_)


@dataclass(frozen=True, slots=True)
class BatchedLaunch:
    """A launch that can be restricted to a range of matrices.

    Attributes:
        launch: for all.
        range: its parameters, None if it is of no batch.
        matrix: the bytes of a packed matrix.
        units: maps a count of matrices to a count of units.
    """

    launch: Launch
    range: MatrixRange | None
    matrix: int
    units: Callable[[int], int]

    def of(self, first: int, last: int) -> Launch:
        """Return the launch for the matrices from `first` to `last` - 1."""
        if self.range is None:
            return self.launch
        words = list(self.launch.words)
        values = first * self.range.each, last * self.range.each, -first * self.matrix
        for index, value in zip(self.range.words, values, strict=True):
            words[index] = value
        units, slice_ = self.units(last - first), self.launch.grid[1]
        return replace(
            self.launch, words=tuple(words), grid=(units, min(slice_, units))
        )


class IndexCounter:
    """A row-major index into the first axes of a group, and their coordinates.

    Attributes:
        index: local of the index.
        coordinates: a local for each axis.
    """

    def __init__(
        self, cursor: Cursor, group: int, count: int | None, axes: int | None = None
    ) -> None:
        """Prepare; `begin` sets the first index.

        Args:
            cursor: whose axes they are.
            group: the group.
            count: local of the number of indices, None if the caller
                tests the end.
            axes: number of counted axes, all by default.
        """
        self.f = cursor.frame.f
        self.cursor = cursor
        self.group = group
        self.count = count
        self.axes = axes
        self.index = self.f.local("i32")
        self.coordinates: list[int] = []

    def begin(self) -> None:
        """Emit the coordinates of the index, which has been set."""
        self.coordinates = self.cursor.split(self.group, self.index, self.axes)

    def step(self, carry: Callable[[], None] | None = None) -> None:
        """Emit a step to the next index; the last one wraps to the first.

        Args:
            carry: emits code for a wrap to the first.
        """
        f = self.f
        if len(self.coordinates) > 1:
            for axis in range(len(self.coordinates) - 1, -1, -1):
                length = self.cursor.size(self.group, axis)
                self._increment(self.coordinates[axis], length)
            for _ in self.coordinates:
                f.end()
        if self.count is None:
            f.set(self.index, self.index, ("i32", 1), "i32.add")
            return
        self._increment(self.index, self.count)
        if carry is not None:
            carry()
        f.end()

    def _increment(self, local: int, length: int) -> None:
        """Emit an increment, and open a block for the wrap to zero."""
        f = self.f
        f.tee(local, local, ("i32", 1), "i32.add")
        f.emit(length, "i32.eq")
        f.begin("if")
        f.set(local, ("i32", 0))


def packing(
    kernel: Kernel,
    target: WasmTarget,
    operand: Operand,
    sizes: Sizes,
    dtype: str,
    is_left: bool,
) -> BatchedLaunch:
    """Return the launch that computes an operand into its scratch storage."""
    return Packing(Frame(kernel, target), operand, sizes, dtype, is_left).portioned()


def _merit(expression: Expression) -> tuple[bool, int]:
    """Return how well neighbours along the last axis are computed together."""
    strides = [
        expression.accesses[step.access].strides[-1]
        for step in expression.steps
        if step.kind == "load"
    ]
    is_good = all(not each or each[-1] in (0, 1, 2) for each in strides)
    last = expression.groups[-1]
    length = last[-1] if last else LANES
    return is_good and length >= LANES, min(length, policy.STRIDED_RUN)


def goes_across(operand: Operand) -> bool:
    """Whether neighbours are computed along the axis that is not the operand's last."""
    return _merit(reorder_groups(operand.expression, SWAPPED)) > _merit(
        operand.expression
    )


class Packing:
    """Emits the code that computes an operand into its scratch storage."""

    def __init__(
        self,
        frame: Frame,
        operand: Operand,
        sizes: Sizes,
        dtype: str,
        is_left: bool,
        range_: MatrixRange | None = None,
    ) -> None:
        """Prepare; `range_` is the range of matrices of an existing launch."""
        self.operand = operand
        self.sizes = sizes
        self.dtype = dtype
        self.is_left = is_left
        self.is_swapped = goes_across(operand)
        expression = operand.expression
        if self.is_swapped:
            expression = reorder_groups(expression, SWAPPED)
        if not operand.matrix:
            expression = without_batch(expression)
        self.batch = sizes.batch if operand.matrix else 1
        lengths = (
            (sizes.rows if is_left else sizes.depth),
            (sizes.depth if is_left else sizes.columns),
        )
        self.lengths = lengths[::-1] if self.is_swapped else lengths
        axes = expression.groups[2]
        self.run = axes[-1] if axes else self.lengths[1]
        self.runs = prod(axes[:-1]) if axes else 1
        self.lanes = lanes_for(self.run, is_vectorizable(expression))
        self.frame = frame
        self.lines = self.runs * self.lengths[0]
        self.range = range_
        if range_ is None and self.batch > 1:
            self.range = MatrixRange(frame, sizes.batch, self.lines)
        self.f = self.frame.f
        self.evaluator = Evaluator(self.frame, expression, self.lanes)
        self.size = itemsize(dtype)
        self.index = self.f.local("i32")
        self.address = self.f.local("i32")
        self.column = self.f.local("i32")
        self.vector = self.f.local("v128")
        assert operand.storage is not None, "internal: it is packed"
        self.base = self.frame.storage(operand.storage, "w")
        self.matrix = self.frame.number(operand.matrix * self.size)
        self.row = self.frame.number(operand.row * self.size)
        self.panel = self.frame.number(operand.panel * self.size)

    def _is_apart(self) -> bool:
        """Whether neighbours are stored apart."""
        return self.is_swapped

    def portioned(self) -> BatchedLaunch:
        """Return the launch."""
        frame, f = self.frame, self.f
        longest = (
            policy.STRIDED_RUN
            if self._is_apart() is self.is_left
            else policy.PACKED_RUN
        )
        block = _block(self.run, longest)
        blocks = -(-self.run // block)
        together = max(policy.PACKING_UNIT // block, 1)
        count = self.range.last if self.range else frame.number(self.lines)
        per_run = frame.number(blocks)
        length, step = frame.number(self.run), frame.number(block)
        per_unit = frame.number(together)
        first, last, start, end = (f.local("i32") for _ in range(4))
        with units(frame) as unit:
            divided(f, unit, per_run, first, start)
            for local, by in ((start, step), (first, per_unit)):
                f.set(local, local, by, "i32.mul")
            if self.range:
                f.set(first, first, self.range.first, "i32.add")
            for local, begin, by, most in (
                (end, start, step, length),
                (last, first, per_unit, count),
            ):
                f.set(local, begin, by, "i32.add")
                smaller(f, local, most)
                f.set(local)
            self._begin_lines(first)
            with counted(f, first, last):
                self.line(start, end)
                self._next_line()
        work = together * block * flops(self.evaluator.expression) // self.lanes
        slices = per_slice(work * (2 if self._is_apart() else 1))
        name = "product_left" if self.is_left else "product_right"
        note = "four at a time" if self.lanes > 1 else ""

        def count_units(matrices: int) -> int:
            return blocks * -(-matrices * self.lines // together)

        launch = frame.launch(name, count_units(self.batch), slices, note)
        matrix = self.operand.matrix * self.size
        return BatchedLaunch(launch, self.range, matrix, count_units)

    def _begin_lines(self, first: int) -> None:
        """Write where the first run of a unit is: across, which run, which matrix."""
        f, frame, evaluator = self.f, self.frame, self.evaluator
        groups = evaluator.expression.groups
        self.across = IndexCounter(evaluator, 1, frame.number(self.lengths[0]))
        runs = frame.number(self.runs) if self.range else None
        self.runs_before = IndexCounter(evaluator, 2, runs, max(len(groups[2]) - 1, 0))
        self.matrices = IndexCounter(evaluator, 0, None)
        counters = [self.across, self.runs_before]
        rest = self.runs_before.index
        if self.range:
            rest = f.local("i32")
            counters.append(self.matrices)
        assert self.across.count is not None, "internal: it is counted"
        divided(f, first, self.across.count, rest, self.across.index)
        if runs is not None:
            divided(f, rest, runs, self.matrices.index, self.runs_before.index)
        for counter in counters:
            counter.begin()

    def _next_line(self) -> None:
        """Emit the step to the next run."""
        carry = self.matrices.step if self.range else None
        self.across.step(lambda: self.runs_before.step(carry))

    def line(self, start: int, end: int) -> None:
        """Emit the part of one run: neighbours of one row, depth or column."""
        frame, f, evaluator = self.frame, self.f, self.evaluator
        run, across = self.runs_before.index, self.across.index
        f.set(self.index, start)
        own = [self.index] if evaluator.expression.groups[2] else []
        evaluator.locate(
            [
                self.matrices.coordinates,
                self.across.coordinates,
                [*self.runs_before.coordinates, *own],
            ]
        )
        along_run, base = f.local("i32"), f.local("i32")
        f.get(run)
        f.set(along_run, frame.number(self.run), "i32.mul")
        f.get(self.base)
        if self.range:
            f.emit(self.range.shift, "i32.add")
            self._add(self.matrices.index, self.matrix)
        movers: list[Mover] = [evaluator]
        if self.is_left:
            movers.append(self._begin_left(across, along_run, base))
        elif self.is_swapped:
            movers.append(self._begin_columns(across, along_run))
        else:
            self._add_depth(across)
            f.set(base)
        with along(f, self.index, end, self.lanes, movers):
            if not (self.is_left or self.is_swapped):
                self._in_panel(along_run, base)
            evaluator.value()
            self._store()

    def _begin_left(self, across: int, along_run: int, index: int) -> Mover:
        """Emit the address of a left operand's element; returns its cursor."""
        f = self.f
        f.set(index, along_run, self.index, "i32.add")
        row, depth = (index, across) if self.is_swapped else (across, index)
        self._add(row, self.row)
        f.set(self.address, depth, ("i32", self.size), "i32.mul", "i32.add")
        if self.is_swapped:
            return Strided(f, self.address, self.row)
        return Strided(f, self.address, f.constant("i32", self.size))

    def _begin_columns(self, column: int, along_run: int) -> Mover:
        """Emit the address of a right operand's number, to go along its depth."""
        f = self.f
        index = f.local("i32")
        f.set(index, along_run, self.index, "i32.add")
        self._add_depth(index)
        f.set(self.address)
        self._add_column(column)
        return Strided(f, self.address, self.row)

    def _in_panel(self, along_run: int, base: int) -> None:
        """Emit the address of a right operand's number, going along its columns."""
        f = self.f
        f.set(self.column, along_run, self.index, "i32.add")
        f.set(self.address, base)
        self._add_column(self.column)

    def _add(self, count: int, step: int) -> None:
        f = self.f
        f.emit(count, step, "i32.mul", "i32.add")

    def _add_depth(self, depth: int) -> None:
        f = self.f
        f.emit(depth, ("i32", self.sizes.width * self.size), "i32.mul", "i32.add")

    def _add_column(self, column: int) -> None:
        """Emit the addition of a column's offset to the address."""
        f, width = self.f, self.sizes.width
        f.set(
            self.address,
            self.address,
            column,
            ("i32", width),
            "i32.div_u",
            self.panel,
            "i32.mul",
            "i32.add",
            column,
            ("i32", width),
            "i32.rem_u",
            ("i32", self.size),
            "i32.mul",
            "i32.add",
        )

    def _store(self) -> None:
        """Emit the store of the value on the stack at the address."""
        f = self.f
        if self.lanes == 1:
            kind = {"f32": "f32", "f64": "f64"}.get(KINDS[self.dtype], "")
            local = f.local(kind or ("i64" if self.size == 8 else "i32"))
            f.set(local)
            f.emit(self.address, local)
            store(self.evaluator.values, self.dtype)
            f.free(local)
            return
        f.set(self.vector)
        if self._is_apart():
            self._store_apart()
        elif self.is_left or not self.run % LANES:
            self._store_together()
        else:
            self._store_in_panels()

    def _store_together(self) -> None:
        f = self.f
        f.emit(self.address, self.vector, ("v128.store", 0))

    def _store_apart(self) -> None:
        """Emit a store for each lane, a row apart."""
        f = self.f
        for lane in range(LANES):
            f.get(self.address)
            if self.is_left:
                for _ in range(lane):
                    f.emit(self.row, "i32.add")
                offset = 0
            else:
                offset = lane * self.sizes.width * self.size
            f.get(self.vector)
            f.memory("v128.store32_lane", offset, lane)

    def _store_in_panels(self) -> None:
        """Emit the store of a vector that may cross into the next panel."""
        f, width = self.f, self.sizes.width
        column = f.local("i32")
        f.tee(column, self.column, ("i32", width), "i32.rem_u")
        with f.block("if", ("i32", width - LANES), "i32.le_u"):
            self._store_together()
            f.orelse()
            for lane in range(LANES):
                f.emit(
                    self.address,
                    self.panel,
                    ("i32", width * self.size),
                    "i32.sub",
                    ("i32", 0),
                    column,
                    ("i32", width - lane),
                    "i32.ge_u",
                    "select",
                    "i32.add",
                    self.vector,
                )
                f.memory("v128.store32_lane", lane * self.size, lane)
        f.free(column)


def _block(length: int, longest: int) -> int:
    """Return the length of a run's blocks; the last one is a vector at least."""
    block = min(longest, length)
    while block < length and 0 < length % block < LANES:
        block += LANES
    return block
