"""Choose the order in which a reduction reads memory, and store what it computes.

The order follows from sizes and strides. A launch stores final elements (`Finish`) or
partial results (`Records`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import prod

from tensorweb.codegen.program import OUTPUT, Launch, scratch
from tensorweb.codegen.vector import reorder_groups
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.elements import (
    KINDS,
    flops,
    is_vectorizable,
    itemsize,
    looks_ahead,
    needed_steps,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.evaluator import WHOLE, Evaluator
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.translation import LANES, Translation
from tensorweb.dtypes import BY_NAME
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step


def finishes(finish: Expression, columns: int) -> bool:
    """Return whether neighbouring outputs are also adjacent in their epilogue.

    Args:
        finish: the epilogue, with its axes in one group.
        columns: outputs of a row; neighbours are in one row.
    """
    axes = finish.groups[0]
    return len(axes) < 2 or axes[-1] % columns == 0


def record_dtype(dtype: str) -> str:
    """Return the dtype of a record of values of a dtype."""
    return BY_NAME[dtype].wide.name


def of_records(kernel: Kernel, parts: int) -> Kernel:
    """Return the kernel that combines records of all parts and finishes them."""
    outputs = kernel.sizes[0]
    record = record_dtype(kernel.expression("term").dtype)
    access = Access(0, ((1,), (outputs,)))
    load = Step("load", record, slot=len(kernel.input_dtypes), access=0)
    term = Expression(((outputs,), (parts,)), (access,), (load,), 0)
    return replace(
        kernel,
        sizes=(outputs, parts),
        expressions=(("term", term), ("finish", kernel.expression("finish"))),
        input_dtypes=(*kernel.input_dtypes, record),
    )


def finish_of_records(kernel: Kernel) -> Expression:
    """Return the epilogue applied to the records of a reduction of one part."""
    finish = kernel.expression("finish")
    record = record_dtype(kernel.expression("term").dtype)
    axes = finish.groups[0] if finish.accesses else (kernel.sizes[0],)
    strides, stride = [], 1
    for length in reversed(axes):
        strides.append(stride)
        stride *= length
    access = Access(0, (tuple(strides[::-1]),))
    access_index = len(finish.accesses)
    load = Step("load", record, slot=len(kernel.input_dtypes), access=access_index)
    steps = tuple(load if step.kind == "core" else step for step in finish.steps)
    return Expression((axes,), (*finish.accesses, access), steps, finish.result)


def reading_records(kernel: Kernel, launch: Launch, number: int) -> Launch:
    """Return a launch that reads records in the slot after a kernel's inputs.

    Args:
        kernel: the kernel whose launch stored the records.
        launch: the launch that reads them.
        number: index of their scratch buffer.
    """
    slot, records = len(kernel.input_dtypes), scratch(number)
    storages = tuple(
        records if storage == slot else storage for storage in launch.storages
    )
    return replace(launch, storages=storages)


class Store(ABC):
    """Emits the stores of output values; `locate` must be called first."""

    def __init__(self, frame: Frame, lanes: int) -> None:
        """Prepare to store neighbouring outputs, one per lane."""
        self.frame = frame
        self._lanes = lanes
        self._address = frame.f.local("i32")

    @abstractmethod
    def locate(self, output: int) -> None:
        """Emit a move to the output whose index is in a local."""

    @abstractmethod
    def put(self) -> None:
        """Emit the store of the value on the stack."""

    @abstractmethod
    def move(self) -> None:
        """Emit a move to the next neighbours."""

    def _go(self, base: int, index: int, size: int) -> None:
        f = self.frame.f
        f.set(self._address, base, index, ("i32", size), "i32.mul", "i32.add")

    def _step(self, size: int) -> None:
        f = self.frame.f
        f.set(self._address, self._address, ("i32", size * self._lanes), "i32.add")

    def _store(self, values: Translation, dtype: str) -> None:
        (store_neighbours if self._lanes > 1 else store)(values, dtype)


class Finish(Store):
    """Applies the epilogue to values and stores them in the output."""

    def __init__(self, frame: Frame, lanes: int) -> None:
        """Prepare to store neighbouring outputs, one per lane."""
        super().__init__(frame, lanes)
        kernel = frame.kernel
        self._dtype = kernel.core_dtype
        self._base = frame.storage(OUTPUT, "w")
        self._values = Translation(frame.writer, frame.f, lanes)
        self._core = frame.f.local(self._values.value_type(KINDS[self._dtype]))
        expression = kernel.expression("finish")
        self._evaluator = Evaluator(frame, expression, lanes, {WHOLE: self._core})
        self._size = itemsize(expression.dtype)

    def locate(self, output: int) -> None:
        """Emit a move to the output whose index is in a local."""
        self._evaluator.locate([self._evaluator.split(0, output)])
        self._go(self._base, output, self._size)

    def put(self) -> None:
        """Emit the epilogue and the store of the value on the stack."""
        f = self.frame.f
        within(self._values, self._dtype)
        f.set(self._core)
        f.get(self._address)
        self._evaluator.value()
        self._store(self._evaluator.values, self._evaluator.result.dtype)

    def move(self) -> None:
        """Emit a move to the next neighbours."""
        self._evaluator.move(self._lanes)
        self._step(self._size)


class Records(Store):
    """Stores records in scratch."""

    def __init__(
        self,
        frame: Frame,
        dtype: str,
        lanes: int,
        part: int | None,
        number: int,
    ) -> None:
        """Prepare.

        Args:
            frame: frame of the launch.
            dtype: dtype of the values.
            lanes: number of records stored at once.
            part: local of the part's index, None if there is only one part.
            number: index of the scratch buffer.
        """
        super().__init__(frame, lanes)
        self._dtype = record_dtype(dtype)
        self._base = frame.storage(scratch(number), "w")
        self._values = Translation(frame.writer, frame.f, lanes)
        self._part = part
        if part is not None:
            self._outputs = frame.number(frame.kernel.sizes[0])

    def locate(self, output: int) -> None:
        """Emit a move to the record of an output in this part."""
        f, size = self.frame.f, itemsize(self._dtype)
        if self._part is None:
            self._go(self._base, output, size)
            return
        index = f.local("i32")
        f.set(index, self._part, self._outputs, "i32.mul", output, "i32.add")
        self._go(self._base, index, size)
        f.free(index)

    def put(self) -> None:
        """Emit the store of the value on the stack."""
        f = self.frame.f
        within(self._values, self._dtype)
        value = f.local(self._values.value_type(KINDS[self._dtype]))
        f.set(value)
        f.emit(self._address, value)
        self._store(self._values, self._dtype)
        f.free(value)

    def move(self) -> None:
        """Emit a move to the next neighbours."""
        self._step(itemsize(self._dtype))


@dataclass(frozen=True, slots=True)
class LoopOrder:
    """The loop order of a reduction.

    Attributes:
        term: the expression; the group of the innermost loop is last.
        outputs, length: number of outputs, and of terms of each.
        reduced: lengths of the reduced axes.
        columns: neighbouring outputs along the last kept axis.
        is_by_columns: whether neighbouring outputs are reduced together.
        lanes: elements of a step.
        vectors: steps of neighbouring outputs that are computed together.
        run: floats that are added before their sum is added to the total.
        axis: the reduced axis that is split.
        chunk: indices along that axis in each part.
        parts: number of parts.
        makes_records: whether partial results are stored instead of outputs.
        scratch: index of the scratch buffer of the partial results.
    """

    term: Expression
    outputs: int
    length: int
    reduced: tuple[int, ...]
    columns: int
    is_by_columns: bool = False
    lanes: int = 1
    vectors: int = 1
    run: int = policy.MOST_TERMS
    axis: int = 0
    chunk: int = 1
    parts: int = 1
    makes_records: bool = False
    scratch: int = 0

    @property
    def part_sizes(self) -> tuple[int, ...]:
        """Lengths of the reduced axes inside a part."""
        sizes = list(self.reduced)
        sizes[self.axis] = min(sizes[self.axis], self.chunk)
        return tuple(sizes)

    @property
    def part_length(self) -> int:
        """Number of terms of an output in a part."""
        return prod(self.part_sizes)


def loop_order_of(kernel: Kernel, level: int = 0) -> LoopOrder:
    """Return the loop order of a reduction kernel.

    Args:
        kernel: a reduction.
        level: 0 for a tensor's elements, 1 and up for partial results.
    """
    outputs, length = kernel.sizes
    term = kernel.expression("term")
    outer, reduced = term.groups if term.accesses else ((outputs,), (length,))
    reduced = reduced or (1,)
    inner, columns = reduced[-1], outer[-1] if outer else 1
    order = LoopOrder(term, outputs, length, reduced, columns, scratch=level)
    is_vector = is_vectorizable(term)
    by_row = LANES if is_vector and inner >= LANES else 1
    across = _by_columns(kernel, order, is_vector)
    row = _cost(term, 1, by_row, 15 * by_row / max(inner, 1))
    column = _cost(term, 0, across.lanes, 6 / across.vectors)
    if columns > 1 and length and column < row:
        run = policy.MOST_RECORD_TERMS if level else policy.MOST_TERMS
        by_columns = _in_parts(replace(across, run=run))
        if by_columns.makes_records:
            return by_columns
        most = max(policy.MOST_EPILOGUE_WORK // flops(kernel.expression("finish")), 1)
        return replace(by_columns, vectors=min(by_columns.vectors, most))
    return _in_parts(replace(order, lanes=by_row))


def _by_columns(kernel: Kernel, order: LoopOrder, is_vector: bool) -> LoopOrder:
    """Return the loop order that reduces neighbouring outputs together."""
    term = reorder_groups(order.term, (1, 0))
    lanes = LANES if is_vector and order.columns >= LANES else 1
    vectors = 1
    if looks_ahead(term):
        vectors = vectors_for(order.columns, lanes, flops(term))
    finish = kernel.expression("finish")
    is_even = finishes(finish, order.columns)
    can_finish = is_even and (lanes == 1 or is_vectorizable(finish))
    return replace(
        order,
        term=term,
        is_by_columns=True,
        lanes=lanes,
        vectors=vectors,
        makes_records=not can_finish,
    )


def vectors_for(columns: int, lanes: int, work: int) -> int:
    """Return the number of vectors of outputs that are reduced together.

    >>> vectors_for(1000, 4, 3), vectors_for(36, 4, 3), vectors_for(5, 4, 3)
    (8, 5, 1)
    """
    most = max(
        min(policy.MOST_VECTORS, columns // lanes, policy.MOST_BODY_WORK // work), 1
    )

    def cost(count: int) -> float:
        return -(-columns // (lanes * count)) * (count + 1.5)

    counts = range(most, 0, -1)
    if columns >= policy.WIDE_OUTPUTS:
        return next(n for n in counts if policy.MOST_VECTORS % n == 0)
    return min(counts, key=cost)


def _cost(term: Expression, group: int, lanes: int, overhead: float) -> float:
    """Return the cost of four elements that are adjacent along a group's last axis.

    Args:
        term: the expression, whose groups are the kept and the reduced axes.
        group: index of the group.
        lanes: elements of a step.
        overhead: further cost of a step.
    """
    cost = 1 + overhead
    for number in needed_steps(term):
        step = term.steps[number]
        if step.kind != "load":
            continue
        strides = term.accesses[step.access].strides[group]
        stride = abs(strides[-1]) if strides else 0
        if stride == 1:
            cost += 1
        elif stride:
            cost += lanes + (
                lanes if stride * itemsize(step.dtype) >= policy.CACHE_LINE else 0
            )
    return cost * LANES / lanes


def _in_parts(order: LoopOrder) -> LoopOrder:
    """Return the loop order with the axis to split and the chunk of each part."""
    axis = max(range(len(order.reduced)), key=order.reduced.__getitem__)
    rows = order.reduced[axis]
    if not order.length:
        return replace(order, axis=axis, chunk=max(rows, 1))
    around = order.length // rows
    weight = max(flops(order.term) // 4, 1)
    chunk = rows
    if order.is_by_columns:
        work = order.columns * order.length * weight
        total = order.outputs * order.length * weight
        if work > policy.PART_ELEMENTS and total > (
            policy.MANY_RECORDS if order.scratch else policy.LONG_REDUCTION
        ):
            terms = max(policy.LEAST_TERMS, policy.UNIT_ELEMENTS // order.columns)
            chunk = max(terms // around, 1)
    else:
        work = order.length * weight
        if work >= policy.LONGEST_PART or (
            work >= policy.LONG_REDUCTION and order.outputs < policy.FEW_OUTPUTS
        ):
            chunk = max(policy.PART_ELEMENTS // (around * weight), 1)
        if axis == len(order.reduced) - 1 and LANES < chunk < rows:
            chunk = chunk // LANES * LANES
    parts = -(-rows // chunk)
    records = order.makes_records or parts > 1
    return replace(order, axis=axis, chunk=chunk, parts=parts, makes_records=records)
