"""Store the values of a reduction: final elements, or partial results (records).

A record is the partial result of one part of a reduction, float16 as float32. Records
of a part are stored in the order of outputs, one part after another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from tensorweb.codegen.program import OUTPUT, Launch, scratch
from tensorweb.codegen.wasm.elements import (
    KINDS,
    itemsize,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.reader import WHOLE, Reader
from tensorweb.codegen.wasm.translation import Translation
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
    return "float32" if dtype == "float16" else dtype


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
    place = len(finish.accesses)
    load = Step("load", record, slot=len(kernel.input_dtypes), access=place)
    steps = tuple(load if step.kind == "core" else step for step in finish.steps)
    return Expression((axes,), (*finish.accesses, access), steps, finish.result)


def reading_records(kernel: Kernel, launch: Launch, number: int) -> Launch:
    """Return a launch that reads records in the slot after a kernel's inputs.

    Args:
        kernel: the kernel whose launch stored the records.
        launch: the launch that reads them.
        number: index of their scratch buffer.
    """
    slot, place = len(kernel.input_dtypes), scratch(number)
    storages = tuple(place if each == slot else each for each in launch.storages)
    return replace(launch, storages=storages)


class Store(ABC):
    """Emits the stores of output values; `place` must be called first."""

    def __init__(self, frame: Frame, lanes: int) -> None:
        """Prepare to store neighbouring outputs, one per lane."""
        self.frame = frame
        self._lanes = lanes
        self._address = frame.f.local("i32")

    @abstractmethod
    def place(self, output: int) -> None:
        """Emit a move to the output whose index is in a local."""

    @abstractmethod
    def put(self) -> None:
        """Emit the store of the value on the stack."""

    @abstractmethod
    def move(self) -> None:
        """Emit a move to the next neighbours."""

    def _go(self, base: int, index: int, size: int) -> None:
        f = self.frame.f
        f.get(base)
        f.get(index)
        f.const("i32", size)
        f.ops("i32.mul", "i32.add")
        f.set(self._address)

    def _step(self, size: int) -> None:
        f = self.frame.f
        f.get(self._address)
        f.const("i32", size * self._lanes)
        f.op("i32.add")
        f.set(self._address)

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
        self._reader = Reader(frame, expression, lanes, {WHOLE: self._core})
        self._size = itemsize(expression.dtype)

    def place(self, output: int) -> None:
        """Emit a move to the output whose index is in a local."""
        self._reader.locate([self._reader.split(0, output)])
        self._go(self._base, output, self._size)

    def put(self) -> None:
        """Emit the epilogue and the store of the value on the stack."""
        f = self.frame.f
        within(self._values, self._dtype)
        f.set(self._core)
        f.get(self._address)
        self._reader.value()
        self._store(self._reader.values, self._reader.result.dtype)

    def move(self) -> None:
        """Emit a move to the next neighbours."""
        self._reader.move(self._lanes)
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

    def place(self, output: int) -> None:
        """Emit a move to the record of an output in this part."""
        f, size = self.frame.f, itemsize(self._dtype)
        if self._part is None:
            self._go(self._base, output, size)
            return
        index = f.local("i32")
        f.get(self._part)
        f.get(self._outputs)
        f.op("i32.mul")
        f.get(output)
        f.op("i32.add")
        f.set(index)
        self._go(self._base, index, size)
        f.free(index)

    def put(self) -> None:
        """Emit the store of the value on the stack."""
        f = self.frame.f
        within(self._values, self._dtype)
        value = f.local(self._values.value_type(KINDS[self._dtype]))
        f.set(value)
        f.get(self._address)
        f.get(value)
        self._store(self._values, self._dtype)
        f.free(value)

    def move(self) -> None:
        """Emit a move to the next neighbours."""
        self._step(itemsize(self._dtype))
