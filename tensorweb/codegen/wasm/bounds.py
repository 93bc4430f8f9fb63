"""Test once for four neighbours whether what is loaded lies inside its tensor.

Padding, joining and boxes guard their loads by `ramp < length` for each axis, unsigned.
Of neighbours along the last axis these hold for all where they hold for the first and
the last; other axes are tested once for all neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tensorweb.codegen.wasm.terms import LANES
from tensorweb.schedule.kernel import Expression, Step

if TYPE_CHECKING:
    from tensorweb.codegen.wasm.reader import Reader


@dataclass(frozen=True, slots=True)
class Bounds:
    """What must hold where an expression's guarded loads are inside.

    Attributes:
        guard: the step that says so.
        fixed: steps of it that stay the same along the last axis.
        moving: ramps along the last axis, each with the step of the length that is its
            limit.
    """

    guard: int
    fixed: tuple[int, ...]
    moving: tuple[tuple[int, int], ...]


def bounds_of(expression: Expression, moving: Set[int]) -> Bounds | None:
    """Return the bounds of the first guarded load that has such ones.

    Args:
        expression: what is computed.
        moving: its steps that change along the last axis.
    """
    for step in expression.steps:
        if step.guard in moving:
            found = _parts(expression, step.guard, moving)
            if found is not None:
                return Bounds(step.guard, *found)
    return None


_Parts = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]


def _parts(expression: Expression, number: int, moving: Set[int]) -> _Parts | None:
    """Return what stays and what moves of a condition, None where it is another one."""
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
    place, limit = (_before_cast(steps, each) for each in step.args)
    if steps[place].kind != "ramp" or steps[limit].kind != "scalar":
        return None
    is_unsigned = all(steps[each].dtype == "uint32" for each in step.args)
    is_forward = expression.accesses[steps[place].access].strides[-1][-1] > 0
    return ((), ((steps[place].access, limit),)) if is_unsigned and is_forward else None


def _before_cast(steps: Sequence[Step], number: int) -> int:
    step = steps[number]
    return step.args[0] if step.kind == "cast" else number


def without_guard(expression: Expression, guard: int) -> Expression:
    """Return what an expression is where a guard holds."""
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
    """Writes the test of a reader of four neighbours."""

    def __init__(self, reader: Reader, bounds: Bounds) -> None:
        """Prepare to test where the reader stands."""
        self._reader = reader
        self._bounds = bounds
        f = reader.frame.f
        self._holds = f.local("i32") if bounds.fixed else None
        self._limits = [self._limit(*pair) for pair in bounds.moving]

    def _limit(self, access: int, length: int) -> int:
        """Return a local that holds where the first of the neighbours must be below."""
        reader = self._reader
        all_ = reader.scalar(length)
        stride = None
        if reader.last_stride(access) != 1:
            stride = reader.moving_stride(access)
        found = reader.frame.f.own_local("i32")
        with reader.frame.at_head() as f:
            f.get(all_)
            f.const("i32", LANES - 1)
            if stride is not None:
                f.get(stride)
                f.op("i32.mul")
            f.op("i32.sub")
            f.tee(found)
            f.const("i32", 0)
            f.get(found)
            f.const("i32", 0)
            f.ops("i32.gt_s", "select")
            f.set(found)
        return found

    def arrive(self) -> None:
        """Write what is tested once for all neighbours."""
        if self._holds is None:
            return
        f = self._reader.frame.f
        for place, number in enumerate(self._bounds.fixed):
            f.get(self._reader.result_of(number))
            f.op("i32x4.all_true")
            if place:
                f.op("i32.and")
        f.set(self._holds)

    def leave(self) -> None:
        """Leave on the stack whether the neighbours are all inside."""
        f = self._reader.frame.f
        parts = 0
        if self._holds is not None:
            f.get(self._holds)
            parts += 1
        for (access, _), limit in zip(self._bounds.moving, self._limits, strict=True):
            f.get(self._reader.positions[access])
            if self._reader.ahead:
                f.const("i32", self._reader.ahead)
                f.op("i32.add")
            f.get(limit)
            f.op("i32.lt_u")
            parts += 1
            if parts > 1:
                f.op("i32.and")
