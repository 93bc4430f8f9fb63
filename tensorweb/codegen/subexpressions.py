"""Dependencies of one step of an expression, and that step as a sub-expression."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from tensorweb.schedule.kernel import Expression


def reached(
    expression: Expression, number: int, given: Container[int] = ()
) -> set[int]:
    """Return a step and all steps it depends on, stopping at the steps in `given`."""
    found, stack = {number}, [number]
    while stack:
        step = expression.steps[stack.pop()]
        for source in (*step.args, step.guard):
            if source >= 0 and source not in found and source not in given:
                found.add(source)
                stack.append(source)
    return found


def alone(expression: Expression, result: int) -> Expression:
    """Return one step as an expression with only its dependencies."""
    numbers = sorted(reached(expression, result))
    place = {number: at for at, number in enumerate(numbers)} | {-1: -1}
    used = sorted({expression.steps[n].access for n in numbers} - {-1})
    access = {number: at for at, number in enumerate(used)} | {-1: -1}
    steps = tuple(
        replace(
            step,
            access=access[step.access],
            args=tuple(place[source] for source in step.args),
            guard=place[step.guard],
        )
        for step in (expression.steps[number] for number in numbers)
    )
    accesses = tuple(expression.accesses[number] for number in used)
    return Expression(expression.groups, accesses, steps, place[result])
