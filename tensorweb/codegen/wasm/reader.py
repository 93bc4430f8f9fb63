"""Compute an expression at an index, one element or four at a time.

A reader is first set to an index (`locate`) and then moved along the last axis of the
last group. Values constant along that axis are computed once, in `locate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

from tensorweb.codegen.expression import operation_form
from tensorweb.codegen.wasm.bounds import BoundsTest, bounds_of, without_guard
from tensorweb.codegen.wasm.elements import (
    KINDS,
    cast,
    itemsize,
    load_repeated,
    within,
)
from tensorweb.codegen.wasm.expressions import drift, looks_ahead, needed_steps
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.loading import Loader
from tensorweb.schedule.kernel import Expression, Step

WHOLE = -1
"""The slot of a kernel's only core."""


class Reader(Loader):
    """Generates the code that computes one expression.

    Attributes:
        cores: locals of the results of the kernel's core, by slot.
        forms: WGSL that replaces that of the op table, by step.
    """

    def __init__(
        self,
        frame: Frame,
        expression: Expression,
        lanes: int = 1,
        cores: Mapping[int, int] | None = None,
        storages: Mapping[int, int] | None = None,
        cores_move: bool = True,
        forms: Mapping[int, str] | None = None,
    ) -> None:
        """Prepare to compute an expression.

        Args:
            frame: frame of the launch; receives its parameters.
            expression: what to compute.
            lanes: neighbours along the last axis that are computed at once.
            cores: locals of the results of the kernel's core, by slot.
            storages: locals of input addresses that replace the kernel's own.
            cores_move: whether the core's results vary along the last axis.
            forms: WGSL that replaces that of the op table, by step, if more is known of
                the operands.
        """
        super().__init__(frame, expression, lanes, storages)
        self.cores = dict(cores or {})
        self._cores_move = cores_move
        self.forms = dict(forms or {})
        self._moving = self._moving_steps()
        self._followed = self._followed_gathers()
        self._copies: list[dict[int, int]] = []
        bounds = bounds_of(expression, self._moving) if lanes > 1 else None
        self._test = BoundsTest(self, bounds) if bounds else None
        self._inside = self._unguarded(bounds.guard) if bounds else None

    @property
    def result(self) -> Step:
        """The step whose value is computed."""
        return self.expression.steps[self.expression.result]

    def _moving_steps(self) -> set[int]:
        """Return the steps whose values vary along the last axis."""
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
        """Emit the code that sets the reader to an index; see `Cursor.locate`."""
        self.place(coordinates)
        self.arrive()

    def place(self, coordinates: Sequence[Sequence[int | None]]) -> None:
        """Emit `locate` without its values; `arrive` must follow."""
        super().locate(coordinates)

    def arrive(self) -> None:
        """Emit the values constant along the last axis, which `shift` has changed."""
        for number in self.needed:
            if number not in self._moving:
                self._compute(number)
        for number, pointer in self._followed.items():
            self._go_to(number, pointer)
        if self._test is not None:
            self._test.arrive()

    def _unguarded(self, guard: int) -> Reader:
        """Return a copy of this reader for the case that a guard holds."""
        found = copy(self)
        found.expression = without_guard(self.expression, guard)
        return found

    def value(self) -> None:
        """Emit code that pushes the value at the current index."""
        self.compute()
        self.frame.f.get(self.result_of(self.expression.result))

    def compute(self) -> None:
        """Emit code that computes all results at the current index; see `result_of`."""
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

    def several(self, count: int) -> list[list[int]]:
        """Emit the values at the current index and at the next ones, interleaved.

        For each index, the locals of the expression's results are returned. The reader
        must be one that `looks_ahead`, and its core must not vary along the axis.
        """
        here = self.results
        while len(self._copies) < count - 1:
            self._copies.append({})

        def write(number: int) -> None:
            self.ahead = number * self.values.lanes
            if number:
                fixed = {n: at for n, at in here.items() if n not in self._moving}
                self.results = self._copies[number - 1]
                self.results.update(fixed)
            self._move_on()

        self.frame.f.interleave([partial(write, number) for number in range(count)])
        self.ahead, self.results = 0, here
        all_ = [here, *self._copies[: count - 1]]
        return [[each[number] for number in self.expression.results] for each in all_]

    def result_of(self, number: int) -> int:
        """Return the local that holds the value of a step."""
        return self.results[number]

    def _move_on(self) -> None:
        """Emit the steps that vary along the last axis."""
        for number in needed_steps(self.expression, self._followed):
            if number in self._moving:
                self._compute(number)

    def _followed_gathers(self) -> dict[int, int]:
        """Return gathers of contiguous elements, each with the local of its address."""
        found = {}
        for number in self.needed:
            step = self.expression.steps[number]
            if step.kind == "gather" and number in self._moving:
                by = drift(self.expression, step.args[0], self._moving)
                if by in (0, 1):
                    found[number] = self.frame.f.local("i32")
        return found

    def _go_to(self, number: int, pointer: int) -> None:
        """Emit the first address of a gather of contiguous elements."""
        f = self.frame.f
        step = self.expression.steps[number]
        place = step.args[0]
        for each in needed_steps(replace(self.expression, result=place, more=())):
            if each in self._moving:
                self._compute(each)
        f.get(self.base(step.slot))
        f.get(self.results[place])
        if self.values.is_vector:
            f.lane("i32x4.extract_lane", 0)
        self.in_bytes(itemsize(step.dtype))
        f.op("i32.add")
        f.set(pointer)

    def _drift(self, number: int) -> int:
        """Return the stride in elements of a gather along the last axis."""
        step = self.expression.steps[number]
        return drift(self.expression, step.args[0], self._moving) or 0

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move of the reader along the last axis; see `Cursor.move`."""
        super().move(count, by)
        f = self.frame.f
        for number, pointer in self._followed.items():
            if self._drift(number):
                size = itemsize(self.expression.steps[number].dtype)
                f.get(pointer)
                if count is None:
                    f.get(by)
                    self.in_bytes(size)
                else:
                    f.const("i32", count * size)
                f.op("i32.add")
                f.set(pointer)

    def saved(self) -> list[tuple[int, int]]:
        """Emit code that saves the current index; returns the argument of `restore`."""
        f = self.frame.f
        found = super().saved()
        for pointer in self._followed.values():
            copy_ = f.local("i32")
            f.get(pointer)
            f.set(copy_)
            found.append((pointer, copy_))
        return found

    def _compute(self, number: int) -> None:
        """Emit a step, whose value is in a local afterwards."""
        step = self.expression.steps[number]
        f, values = self.frame.f, self.values
        if step.kind == "core":
            self.results[number] = self.cores[step.slot]
            return
        if step.kind == "scalar" and not values.is_vector:
            self.results[number] = self.scalar(number)
            return
        if step.kind == "load":
            self._load(step)
        elif step.kind == "gather":
            self._gather(number)
        elif step.kind == "ramp":
            self._ramp(step)
        elif step.kind == "scalar":
            f.get(self.scalar(number))
            self.splat(step.dtype)
        elif step.kind == "cast":
            f.get(self.results[step.args[0]])
            cast(values, self.expression.steps[step.args[0]].dtype, step.dtype)
        else:
            self._operation(number)
        if number not in self.results:
            self.results[number] = f.local(values.value_type(KINDS[step.dtype]))
        f.set(self.results[number])
        f.mark()

    def scalar(self, number: int) -> int:
        """Return the local of a constant, not broadcast to lanes."""
        step = self.expression.steps[number]
        if step.name:
            return self.frame.number(int(step.name))
        return self.frame.scalar(step.slot)

    def splat(self, dtype: str) -> None:
        """Emit code that broadcasts the value on the stack to a vector."""
        f, kind = self.frame.f, KINDS[dtype]
        if kind == "bool":
            f.const("i32", 0)
            f.op("i32.ne")
            f.const("i32", -1)
            f.op("i32.mul")
        f.op("f32x4.splat" if kind == "f32" else "i32x4.splat")

    def _operation(self, number: int) -> None:
        steps = self.expression.steps
        step = steps[number]
        form = self.forms.get(number)
        form = form or operation_form(step, steps[step.args[-1]].dtype)
        kinds = tuple(KINDS[steps[arg].dtype] for arg in step.args)
        places = {
            f"operand{number}": (self.results[arg],)
            for number, arg in enumerate(step.args)
        }
        self.values.step(expression(form, kinds), places)
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
        self.along(step, pointer, self.last_stride(step.access))

    def _gather(self, number: int) -> None:
        step = self.expression.steps[number]
        f = self.frame.f
        if number in self._followed:
            pointer, stride = self._followed[number], self._drift(number)
            self.along(step, pointer, stride)
            return
        base = self.base(step.slot)
        places = self.results[step.args[0]]

        def address(lane: int | None = None) -> None:
            f.get(base)
            f.get(places)
            if lane is not None:
                f.lane("i32x4.extract_lane", lane)
            self.in_bytes(itemsize(step.dtype))
            f.op("i32.add")

        if not self.values.is_vector:
            self.one(step, address)
            return
        if step.guard < 0 and number not in self._moving:
            address(0)
            load_repeated(self.values, step.dtype)
            return
        self.each(step, address)
