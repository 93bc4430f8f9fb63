"""Compute an expression at an index, one element or four at a time.

An evaluator is first set to an index (`locate`) and then advanced along the last axis
of the last group. Values constant along that axis are computed once, in `locate`. Four
neighbours are tested at once for lying inside their tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

from tensorweb.codegen.expression import operation_form
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import (
    KINDS,
    cast,
    drift,
    itemsize,
    load,
    load_lane,
    load_neighbours,
    load_repeated,
    looks_ahead,
    needed_steps,
    widened,
    within,
)
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.translation import LANES, VALUE, Translation
from tensorweb.schedule.kernel import Expression, Step


@dataclass(frozen=True, slots=True)
class Bounds:
    """Conditions under which an expression's guarded loads are inside their tensor.

    Attributes:
        guard: the step that computes the condition.
        fixed: steps of the condition that are constant along the last axis.
        moving: ramps along the last axis, each with the step of the length that is its
            limit.
    """

    guard: int
    fixed: tuple[int, ...]
    moving: tuple[tuple[int, int], ...]


def bounds_of(expression: Expression, moving: Set[int]) -> Bounds | None:
    """Return the bounds of the first guarded load that has such ones.

    Args:
        expression: the expression that is computed.
        moving: its steps that change along the last axis.
    """
    for step in expression.steps:
        if step.guard in moving:
            parts = _parts(expression, step.guard, moving)
            if parts is not None:
                return Bounds(step.guard, *parts)
    return None


_Parts = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]


def _parts(expression: Expression, number: int, moving: Set[int]) -> _Parts | None:
    """Return constant and moving parts of a condition; None if it has another form."""
    steps = expression.steps
    step = steps[number]
    if number not in moving:
        return (number,), ()
    if step.name == "logical_and":
        sides = [_parts(expression, each, moving) for each in step.args]
        known = [side for side in sides if side is not None]
        if len(known) < len(sides):
            return None
        return known[0][0] + known[1][0], known[0][1] + known[1][1]
    if step.name != "less":
        return None
    position, limit = (_before_cast(steps, each) for each in step.args)
    if steps[position].kind != "ramp" or steps[limit].kind != "scalar":
        return None
    is_unsigned = all(steps[each].dtype == "uint32" for each in step.args)
    is_forward = expression.accesses[steps[position].access].strides[-1][-1] > 0
    return (
        ((), ((steps[position].access, limit),)) if is_unsigned and is_forward else None
    )


def _before_cast(steps: Sequence[Step], number: int) -> int:
    step = steps[number]
    return step.args[0] if step.kind == "cast" else number


def without_guard(expression: Expression, guard: int) -> Expression:
    """Return an expression simplified for the case that a guard holds."""
    steps = []
    for step in expression.steps:
        if step.guard == guard:
            steps.append(replace(step, guard=-1))
        elif step.name == "where" and step.args[0] == guard:
            steps.append(Step("cast", step.dtype, args=(step.args[1],)))
        else:
            steps.append(step)
    return replace(expression, steps=tuple(steps))


class BoundsTest:
    """Emits the test of an evaluator of four neighbours."""

    def __init__(self, evaluator: Evaluator, bounds: Bounds) -> None:
        """Prepare to test the evaluator's current index."""
        self._evaluator = evaluator
        self._bounds = bounds
        f = evaluator.frame.f
        self._holds = f.local("i32") if bounds.fixed else None
        self._limits = [self._limit(*pair) for pair in bounds.moving]

    def _limit(self, access: int, length: int) -> int:
        """Return a local that holds where the first of the neighbours must be below."""
        evaluator = self._evaluator
        all_ = evaluator.scalar(length)
        stride = None
        if evaluator.last_stride(access) != 1:
            stride = evaluator.moving_stride(access)
        limit = evaluator.frame.f.own_local("i32")
        with evaluator.frame.at_head() as f:
            f.emit(all_, ("i32", LANES - 1))
            if stride is not None:
                f.emit(stride, "i32.mul")
            f.tee(limit, "i32.sub")
            f.set(limit, ("i32", 0), limit, ("i32", 0), "i32.gt_s", "select")
        return limit

    def arrive(self) -> None:
        """Emit the part of the test that is constant along the last axis."""
        if self._holds is None:
            return
        f = self._evaluator.frame.f
        for count, number in enumerate(self._bounds.fixed):
            f.emit(self._evaluator.result_of(number), "i32x4.all_true")
            if count:
                f.op("i32.and")
        f.set(self._holds)

    def leave(self) -> None:
        """Leave on the stack whether the neighbours are all inside."""
        f = self._evaluator.frame.f
        parts = 0
        if self._holds is not None:
            f.get(self._holds)
            parts += 1
        for (access, _), limit in zip(self._bounds.moving, self._limits, strict=True):
            f.get(self._evaluator.positions[access])
            if self._evaluator.ahead:
                f.emit(("i32", self._evaluator.ahead), "i32.add")
            f.emit(limit, "i32.lt_u")
            parts += 1
            if parts > 1:
                f.op("i32.and")


_EVEN_LANES = tuple(lane + byte for lane in range(0, 32, 8) for byte in range(4))


class LoadCursor(Cursor):
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
        with f.block("if", self.results[step.guard], "i32x4.all_true", result="v128"):
            self._four(step, pointer, stride)
            f.orelse()
            self.each(
                step, lambda lane: self._lane_address(step, pointer, stride, lane)
            )

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
        with f.block("if", self.results[step.guard], result=kind):
            address()
            load(self.values, step.dtype, ahead)
            f.orelse()
            f.const(kind, 0)

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
                f.emit(pointer, ("v128.load", offset))
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
            f.emit(("i32", (lane + self.ahead) * size), "i32.add")
        elif lane and stride:
            f.emit(
                self.byte_stride(step.access, size), ("i32", lane), "i32.mul", "i32.add"
            )

    def each(self, step: Step, address: object) -> None:
        """Emit the loads of four elements one by one, 0 where the guard is false."""
        f = self.frame.f
        assert callable(address), "internal: something that writes the address"
        vector = f.local("v128")
        f.set(vector, ("i32x4", 0))
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


WHOLE = -1
"""The slot of a kernel's only core."""


class Evaluator(LoadCursor):
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
        # A copy in another order of axes has the same nodes.
        named = frame.kernel.expressions
        nodes = expression.nodes
        self._name = next((name for name, one in named if one.nodes == nodes), "")
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
        moving: set[int] = set()
        for number in self.needed:
            step = self.expression.steps[number]
            moves = step.kind in ("load", "ramp") and self.last_stride(step.access)
            before = any(arg in moving for arg in (*step.args, step.guard))
            is_core = step.kind == "core" and self._cores_move
            if moves or before or is_core:
                moving.add(number)
        return moving

    @property
    def looks_ahead(self) -> bool:
        """Whether it can look `ahead`."""
        return looks_ahead(self.expression)

    def locate(self, coordinates: Sequence[Sequence[int | None]]) -> None:
        """Emit the code that sets the evaluator to an index; see `Cursor.locate`."""
        self.locate_addresses(coordinates)
        self.arrive()

    def locate_addresses(self, coordinates: Sequence[Sequence[int | None]]) -> None:
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

    def _unguarded(self, guard: int) -> Evaluator:
        """Return a copy of this evaluator for the case that a guard holds."""
        unguarded = copy(self)
        unguarded.expression = without_guard(self.expression, guard)
        return unguarded

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
            with f.block("if"):
                self._inside._move_on()
                f.orelse()
                self._move_on()

    def several(self, count: int) -> list[list[int]]:
        """Emit the values at the current index and at the next ones, interleaved.

        Returns, for each index, the locals of the expression's results. The evaluator
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
        pointers = {}
        for number in self.needed:
            step = self.expression.steps[number]
            if step.kind == "gather" and number in self._moving:
                by = drift(self.expression, step.args[0], self._moving)
                if by in (0, 1):
                    pointers[number] = self.frame.f.local("i32")
        return pointers

    def _go_to(self, number: int, pointer: int) -> None:
        """Emit the first address of a gather of contiguous elements."""
        f = self.frame.f
        step = self.expression.steps[number]
        position = step.args[0]
        for each in needed_steps(replace(self.expression, result=position, more=())):
            if each in self._moving:
                self._compute(each)
        f.emit(self.base(step.slot), self.results[position])
        if self.values.is_vector:
            f.lane("i32x4.extract_lane", 0)
        self.in_bytes(itemsize(step.dtype))
        f.set(pointer, "i32.add")

    def _drift(self, number: int) -> int:
        """Return the stride in elements of a gather along the last axis."""
        step = self.expression.steps[number]
        return drift(self.expression, step.args[0], self._moving) or 0

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move of the evaluator along the last axis; see `Cursor.move`."""
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
                f.set(pointer, "i32.add")

    def saved(self) -> list[tuple[int, int]]:
        """Emit code that saves the current index; returns the argument of `restore`."""
        f = self.frame.f
        copies = super().saved()
        for pointer in self._followed.values():
            copy_ = f.local("i32")
            f.set(copy_, pointer)
            copies.append((pointer, copy_))
        return copies

    def _compute(self, number: int) -> None:
        """Emit a step, whose value is in a local afterwards."""
        step = self.expression.steps[number]
        f, values = self.frame.f, self.values
        start = len(f.code)
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
        f.originate(start, self._name, number)
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
            f.emit(("i32", 0), "i32.ne", ("i32", -1), "i32.mul")
        f.op("f32x4.splat" if kind == "f32" else "i32x4.splat")

    def _operation(self, number: int) -> None:
        steps = self.expression.steps
        step = steps[number]
        form = self.forms.get(number)
        form = form or operation_form(step, steps[step.args[-1]].dtype)
        kinds = tuple(KINDS[steps[arg].dtype] for arg in step.args)
        scope = {
            f"operand{number}": (self.results[arg],)
            for number, arg in enumerate(step.args)
        }
        self.values.step(expression(form, kinds), scope)
        within(self.values, step.dtype)

    def _ramp(self, step: Step) -> None:
        f = self.frame.f
        position = self.positions[step.access]
        f.get(position)
        if self.ahead and self.last_stride(step.access):
            f.emit(("i32", self.ahead), "i32.add")
        if not self.values.is_vector:
            return
        f.op("i32x4.splat")
        stride = self.last_stride(step.access)
        if stride:
            f.get(f.counting())
            if stride != 1:
                f.emit(self.moving_stride(step.access), "i32x4.splat", "i32x4.mul")
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
        positions = self.results[step.args[0]]

        def address(lane: int | None = None) -> None:
            f.emit(base, positions)
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
