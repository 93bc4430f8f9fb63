"""Compute an expression at places of its index space, one element or four at a time.

A reader is first sent to a place (`locate`), from which it moves along the last axis of
the last group. What stays the same on the way is computed on arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from tensorweb.codegen.expression import operation_form
from tensorweb.codegen.wasm.bounds import BoundsTest, bounds_of, without_guard
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import (
    KINDS,
    cast,
    itemsize,
    load,
    load_lane,
    load_neighbours,
    load_repeated,
    widened,
    within,
)
from tensorweb.codegen.wasm.expressions import looks_ahead, needed_steps
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.terms import LANES, VALUE
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.schedule.kernel import Expression, Step

WHOLE = -1
"""The slot of a kernel's only core."""

_EVEN_LANES = tuple(lane + byte for lane in range(0, 32, 8) for byte in range(4))


class Reader(Cursor):
    """Writes what computes one expression.

    Attributes:
        values: the translation, which knows how many lanes there are.
        cores: locals that hold what the kernel's core made, by slot.
        ahead: how many elements ahead of its place the reader looks; see `looks_ahead`.
    """

    def __init__(
        self,
        frame: Frame,
        expression: Expression,
        lanes: int = 1,
        cores: Mapping[int, int] | None = None,
        storages: Mapping[int, int] | None = None,
        cores_move: bool = True,
    ) -> None:
        """Prepare to compute an expression.

        Args:
            frame: of the launch; receives its parameters.
            expression: what to compute.
            lanes: how many neighbours along the last axis are computed at once.
            cores: locals that hold what the kernel's core made, by slot.
            storages: locals that hold addresses of inputs, where they are not the
                kernel's own.
            cores_move: whether what the core made changes along the last axis.
        """
        super().__init__(frame, expression, storages)
        self.values = Translation(frame.writer, frame.f, lanes)
        self.cores = dict(cores or {})
        self.ahead = 0
        self._cores_move = cores_move
        self._moving = self._moving_steps()
        self._results: dict[int, int] = {}
        bounds = bounds_of(expression, self._moving) if lanes > 1 else None
        self._test = BoundsTest(self, bounds) if bounds else None
        self._inside = self._unguarded(bounds.guard) if bounds else None

    @property
    def result(self) -> Step:
        """The step whose value is computed."""
        return self.expression.steps[self.expression.result]

    def _moving_steps(self) -> set[int]:
        """Return the steps whose values change along the last axis."""
        found: set[int] = set()
        for number in self.needed:
            step = self.expression.steps[number]
            moves = step.kind in ("load", "ramp") and self.last_stride(step.access)
            before = any(arg in found for arg in (*step.args, step.guard))
            is_core = step.kind == "core" and self._cores_move
            if moves or before or is_core:
                found.add(number)
        return found

    @property
    def looks_ahead(self) -> bool:
        """Whether it can look `ahead`."""
        return looks_ahead(self.expression)

    def locate(self, coordinates: Sequence[Sequence[int | None]]) -> None:
        """Write what sends the reader to a place; see `Cursor.locate`."""
        self.place(coordinates)
        self.arrive()

    def place(self, coordinates: Sequence[Sequence[int | None]]) -> None:
        """Write the same without what is computed on arrival; `arrive` must follow."""
        super().locate(coordinates)

    def arrive(self) -> None:
        """Write what stays the same along the last axis, which `shift` has changed."""
        for number in self.needed:
            if number not in self._moving:
                self._compute(number)
        if self._test is not None:
            self._test.arrive()

    def _unguarded(self, guard: int) -> Reader:
        """Return this reader of what the value is where a guard holds."""
        found = copy(self)
        found.expression = without_guard(self.expression, guard)
        found.needed = needed_steps(found.expression)
        return found

    def value(self) -> None:
        """Write what leaves the value at this place on the stack."""
        f = self.frame.f
        if self._test is None or self._inside is None:
            self._move_on()
        else:
            self._inside.ahead = self.ahead
            self._test.leave()
            f.begin("if")
            self._inside._move_on()
            f.orelse()
            self._move_on()
            f.end()
        f.get(self.result_of(self.expression.result))

    def result_of(self, number: int) -> int:
        """Return the local that holds the value of a step."""
        return self._results[number]

    def _move_on(self) -> None:
        """Write what changes along the last axis."""
        for number in self.needed:
            if number in self._moving:
                self._compute(number)

    def _compute(self, number: int) -> None:
        """Write a step; its value stands in a local from then on."""
        step = self.expression.steps[number]
        f, values = self.frame.f, self.values
        if step.kind == "core":
            self._results[number] = self.cores[step.slot]
            return
        if step.kind == "scalar" and not values.is_vector:
            self._results[number] = self.scalar(number)
            return
        if step.kind == "load":
            self._load(step)
        elif step.kind == "gather":
            self._gather(step)
        elif step.kind == "ramp":
            self._ramp(step)
        elif step.kind == "scalar":
            f.get(self.scalar(number))
            self.splat(step.dtype)
        elif step.kind == "cast":
            f.get(self._results[step.args[0]])
            cast(values, self.expression.steps[step.args[0]].dtype, step.dtype)
        else:
            self._operation(step)
        if number not in self._results:
            self._results[number] = f.local(values.value_type(KINDS[step.dtype]))
        f.set(self._results[number])

    def scalar(self, number: int) -> int:
        """Return the local that holds a constant, not yet in lanes."""
        step = self.expression.steps[number]
        if step.name:
            return self.frame.number(int(step.name))
        return self.frame.scalar(step.slot)

    def splat(self, dtype: str) -> None:
        """Write what makes a vector of the value on the stack."""
        f, kind = self.frame.f, KINDS[dtype]
        if kind == "bool":
            f.const("i32", 0)
            f.op("i32.ne")
            f.const("i32", -1)
            f.op("i32.mul")
        f.op("f32x4.splat" if kind == "f32" else "i32x4.splat")

    def _operation(self, step: Step) -> None:
        steps = self.expression.steps
        form = operation_form(step, steps[step.args[-1]].dtype)
        kinds = tuple(KINDS[steps[arg].dtype] for arg in step.args)
        places = {
            f"operand{number}": (self._results[arg],)
            for number, arg in enumerate(step.args)
        }
        self.values.term(expression(form, kinds), places)
        within(self.values, step.dtype)

    def _ramp(self, step: Step) -> None:
        f = self.frame.f
        position = self.positions[step.access]
        f.get(position)
        if self.ahead and self.last_stride(step.access):
            f.const("i32", self.ahead)
            f.op("i32.add")
        if not self.values.is_vector:
            return
        f.op("i32x4.splat")
        stride = self.last_stride(step.access)
        if stride:
            f.get(f.counting())
            if stride != 1:
                f.get(self.moving_stride(step.access))
                f.ops("i32x4.splat", "i32x4.mul")
            f.op("i32x4.add")

    def _load(self, step: Step) -> None:
        pointer = self.pointers[step.slot, step.access]
        if not self.values.is_vector:
            ahead = self._bytes_ahead(step)
            self._one(step, lambda: self.frame.f.get(pointer), ahead)
            return
        stride = self.last_stride(step.access)
        if step.guard < 0:
            self._four(step, pointer, stride)
            return
        f = self.frame.f
        f.get(self._results[step.guard])
        f.op("i32x4.all_true")
        f.begin("if", "v128")
        self._four(step, pointer, stride)
        f.orelse()
        self._each(step, lambda lane: self._lane_address(step, pointer, lane))
        f.end()

    def _bytes_ahead(self, step: Step) -> int:
        if not self.ahead or not self.last_stride(step.access):
            return 0
        return self.ahead * itemsize(step.dtype)

    def _one(self, step: Step, address: object, ahead: int = 0) -> None:
        """Write the load of one element, 0 where its guard does not hold."""
        f = self.frame.f
        assert callable(address), "internal: something that writes the address"
        if step.guard < 0:
            address()
            load(self.values, step.dtype, ahead)
            return
        kind = VALUE.get(KINDS[step.dtype], KINDS[step.dtype])
        f.get(self._results[step.guard])
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
                load_neighbours(self.values, step.dtype, self._bytes_ahead(step))
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
            self._lane_address(step, pointer, lane)
            f.get(vector)
            load_lane(self.values, step.dtype, lane)
            f.set(vector)
        f.get(vector)
        self._made_wide(step)
        f.free(vector)

    def _made_wide(self, step: Step) -> None:
        if itemsize(step.dtype) < 4:
            widened(self.values, step.dtype)

    def _lane_address(self, step: Step, pointer: int, lane: int) -> None:
        """Leave the address of a lane's element on the stack."""
        f = self.frame.f
        size = itemsize(step.dtype)
        stride = self.last_stride(step.access)
        f.get(pointer)
        if lane + self.ahead and stride == 1:
            f.const("i32", (lane + self.ahead) * size)
            f.op("i32.add")
        elif lane and stride:
            f.get(self.byte_stride(step.access, size))
            f.const("i32", lane)
            f.ops("i32.mul", "i32.add")

    def _each(self, step: Step, address: object) -> None:
        """Write the loads of four elements one by one, 0 where the guard is false."""
        f = self.frame.f
        assert callable(address), "internal: something that writes the address"
        vector = f.local("v128")
        f.const("i32x4", 0)
        f.set(vector)
        for lane in range(LANES):
            if step.guard >= 0:
                f.get(self._results[step.guard])
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

    def _gather(self, step: Step) -> None:
        f = self.frame.f
        size = itemsize(step.dtype)
        base = self.base(step.slot)
        places = self._results[step.args[0]]

        def address(lane: int | None = None) -> None:
            f.get(base)
            f.get(places)
            if lane is not None:
                f.lane("i32x4.extract_lane", lane)
            self.in_bytes(size)
            f.op("i32.add")

        if not self.values.is_vector:
            self._one(step, address)
            return
        drift = self._drift(step.args[0])
        if drift not in (0, 1):
            self._each(step, address)
            return
        if step.guard >= 0:
            f.get(self._results[step.guard])
            f.op("i32x4.all_true")
            f.begin("if", "v128")
        address(0)
        (load_neighbours if drift else load_repeated)(self.values, step.dtype)
        if step.guard >= 0:
            f.orelse()
            self._each(step, address)
            f.end()

    def _drift(self, number: int) -> int | None:
        """Return by how much a position grows along the last axis, None if unknown."""
        step = self.expression.steps[number]
        if number not in self._moving:
            return 0
        if step.kind == "ramp":
            return self.last_stride(step.access)
        if step.name == "add":
            drifts = [self._drift(arg) for arg in step.args]
            known = [drift for drift in drifts if drift is not None]
            return sum(known) if len(known) == len(drifts) else None
        return None
