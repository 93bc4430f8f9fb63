"""Load elements at a cursor's index, one or four neighbours at a time."""

from __future__ import annotations

from collections.abc import Mapping

from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import (
    KINDS,
    itemsize,
    load,
    load_lane,
    load_neighbours,
    load_repeated,
    widened,
)
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.terms import LANES, VALUE
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.schedule.kernel import Expression, Step

_EVEN_LANES = tuple(lane + byte for lane in range(0, 32, 8) for byte in range(4))


class Loader(Cursor):
    """A cursor that loads the elements at its index.

    Attributes:
        values: the translation, which determines the number of lanes.
        ahead: offset in elements from its index at which it reads; see `looks_ahead`.
        results: locals of the values of steps, guards among them.
    """

    def __init__(
        self,
        frame: Frame,
        expression: Expression,
        lanes: int,
        storages: Mapping[int, int] | None = None,
    ) -> None:
        """Prepare to load `lanes` neighbours at once; see `Cursor`."""
        super().__init__(frame, expression, storages)
        self.values = Translation(frame.writer, frame.f, lanes)
        self.ahead = 0
        self.results: dict[int, int] = {}

    def along(self, step: Step, pointer: int, stride: int) -> None:
        """Emit the loads of elements with a constant stride."""
        if not self.values.is_vector:
            ahead = self._bytes_ahead(step, stride)
            self.one(step, lambda: self.frame.f.get(pointer), ahead)
            return
        if step.guard < 0:
            self._four(step, pointer, stride)
            return
        f = self.frame.f
        f.get(self.results[step.guard])
        f.op("i32x4.all_true")
        f.begin("if", "v128")
        self._four(step, pointer, stride)
        f.orelse()
        self.each(step, lambda lane: self._lane_address(step, pointer, stride, lane))
        f.end()

    def _bytes_ahead(self, step: Step, stride: int) -> int:
        return self.ahead * itemsize(step.dtype) if stride else 0

    def one(self, step: Step, address: object, ahead: int = 0) -> None:
        """Emit the load of one element, 0 if its guard is false."""
        f = self.frame.f
        assert callable(address), "internal: something that writes the address"
        if step.guard < 0:
            address()
            load(self.values, step.dtype, ahead)
            return
        kind = VALUE.get(KINDS[step.dtype], KINDS[step.dtype])
        f.get(self.results[step.guard])
        f.begin("if", kind)
        address()
        load(self.values, step.dtype, ahead)
        f.orelse()
        f.const(kind, 0)
        f.end()

    def _four(self, step: Step, pointer: int, stride: int) -> None:
        f = self.frame.f
        if stride == 1 or not stride:
            f.get(pointer)
            if stride:
                ahead = self._bytes_ahead(step, stride)
                load_neighbours(self.values, step.dtype, ahead)
            else:
                load_repeated(self.values, step.dtype)
            return
        if stride == 2 and itemsize(step.dtype) == 4:
            for offset in (0, 16):
                f.get(pointer)
                f.memory("v128.load", offset)
            f.shuffle(_EVEN_LANES)
            return
        f.const("i32x4", 0)
        vector = f.local("v128")
        f.set(vector)
        for lane in range(LANES):
            self._lane_address(step, pointer, stride, lane)
            f.get(vector)
            load_lane(self.values, step.dtype, lane)
            f.set(vector)
        f.get(vector)
        self._made_wide(step)
        f.free(vector)

    def _made_wide(self, step: Step) -> None:
        if itemsize(step.dtype) < 4:
            widened(self.values, step.dtype)

    def _lane_address(self, step: Step, pointer: int, stride: int, lane: int) -> None:
        """Push the address of a lane's element on the stack."""
        f = self.frame.f
        size = itemsize(step.dtype)
        f.get(pointer)
        if lane + self.ahead and stride == 1:
            f.const("i32", (lane + self.ahead) * size)
            f.op("i32.add")
        elif lane and stride:
            f.get(self.byte_stride(step.access, size))
            f.const("i32", lane)
            f.ops("i32.mul", "i32.add")

    def each(self, step: Step, address: object) -> None:
        """Emit the loads of four elements one by one, 0 where the guard is false."""
        f = self.frame.f
        assert callable(address), "internal: something that writes the address"
        vector = f.local("v128")
        f.const("i32x4", 0)
        f.set(vector)
        for lane in range(LANES):
            if step.guard >= 0:
                f.get(self.results[step.guard])
                f.lane("i32x4.extract_lane", lane)
                f.begin("if")
            address(lane)
            f.get(vector)
            load_lane(self.values, step.dtype, lane)
            f.set(vector)
            if step.guard >= 0:
                f.end()
        f.get(vector)
        self._made_wide(step)
        f.free(vector)
