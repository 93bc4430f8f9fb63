"""What follows from an expression alone: its steps, its work, how its values lie."""

from __future__ import annotations

from collections.abc import Collection, Set

from tensorweb.codegen.wasm.elements import fits_lanes
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression

MOST_WORK = 64
"""Operations that the body of a loop holds for values side by side."""


def needed_steps(expression: Expression, ends: Collection[int] = ()) -> list[int]:
    """Return the numbers of the steps that the results take, in order.

    Args:
        expression: what is computed.
        ends: steps that take no others.
    """
    found = set(expression.results)
    for number in range(max(found), -1, -1):
        if number in found:
            step = expression.steps[number]
            if number not in ends:
                found.update(step.args)
            if step.guard >= 0:
                found.add(step.guard)
    return sorted(found)


def is_vectorizable(expression: Expression) -> bool:
    """Whether all values of an expression are lanes of 32 bits."""
    steps = expression.steps
    return all(fits_lanes(steps[number].dtype) for number in needed_steps(expression))


def flops(expression: Expression) -> int:
    """Return about how many operations an element takes."""
    steps = (expression.steps[number] for number in needed_steps(expression))
    return 2 + sum(OPS[s.name].weight if s.kind == "map" else 1 for s in steps)


def looks_ahead(expression: Expression) -> bool:
    """Whether elements ahead along the last axis need no other addresses.

    So it is when whatever moves is contiguous. What is guarded may lie elsewhere.
    """
    for number in needed_steps(expression):
        step = expression.steps[number]
        if step.kind not in ("load", "ramp"):
            continue
        strides = expression.accesses[step.access].strides
        if strides and strides[-1] and strides[-1][-1] not in (0, 1):
            return False
        if step.guard >= 0:
            return False
    return True


def drift(expression: Expression, number: int, moving: Set[int]) -> int | None:
    """Return by how much a position grows along the last axis, None if unknown.

    Args:
        expression: what is computed.
        number: the step of the position.
        moving: steps that change along the last axis.
    """
    step = expression.steps[number]
    if number not in moving:
        return 0
    if step.kind == "ramp":
        strides = expression.accesses[step.access].strides
        return strides[-1][-1] if strides and strides[-1] else 0
    if step.name == "add":
        drifts = [drift(expression, arg, moving) for arg in step.args]
        known = [each for each in drifts if each is not None]
        return sum(known) if len(known) == len(drifts) else None
    return None


def side_by_side(work: int) -> int:
    """Return how many values of so much work each are computed side by side.

    >>> side_by_side(3), side_by_side(20), side_by_side(100)
    (4, 2, 1)
    """
    return 4 if work <= MOST_WORK // 4 else 2 if work <= MOST_WORK // 2 else 1
