"""What of a window lies in the padding, as bits that replace comparisons in a loop.

Whether a padded element exists depends on its position in the window and on where the
window lies. Windows are short, so before the loop a row or column notes what lies
outside, a bit for each position along each axis of the window. One test is left inside
the loop: whether the mask of the window has the bit of the position.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.expression import LONGEST_FIXED
from tensorweb.codegen.subexpressions import reached
from tensorweb.schedule.kernel import Expression

BITS = 32
"""Bits of a mask: positions of all axes of a window together."""

LEAST_TESTS = 2
"""Tests for each bit from which on a mask costs less than comparisons in the loop."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of those that a guard consists of.

    Attributes:
        step: that compares.
        access: the position that it compares.
        axis: of the window, along which the position moves.
        length: of that axis.
        first: the bit of its first position.
    """

    step: int
    access: int
    axis: int
    length: int
    first: int


@dataclass(frozen=True, slots=True)
class PaddingMask:
    """The guard of a load, and all comparisons of which it is the conjunction."""

    guard: int
    comparisons: tuple[Comparison, ...]


def find_padding_mask(
    expression: Expression, load: int, window: int, tests: int
) -> PaddingMask | None:
    """Return what a load's guard consists of, where bits can say it and pay.

    Args:
        expression: what an element is.
        load: the step that loads.
        window: the group of axes that the loop counts.
        tests: how many elements of a row or column a thread loads.
    """
    guard = expression.steps[load].guard
    if guard not in reached(expression, expression.result, {load}):
        return None  # none, or one that the value itself does not depend on
    comparisons: list[Comparison] = []
    first = 0
    for step in _conjuncts(expression, guard):
        found = _comparison(expression, step, window, first)
        if found is None:
            return None
        comparisons.append(found)
        first += found.length
    if first > BITS or first * LEAST_TESTS > tests:
        return None
    return PaddingMask(guard, tuple(comparisons))


def _conjuncts(expression: Expression, step: int) -> list[int]:
    """Return the conditions that must all hold for a condition to hold."""
    found = expression.steps[step]
    if found.name != "logical_and":
        return [step]
    return [each for source in found.args for each in _conjuncts(expression, source)]


def _comparison(
    expression: Expression, step: int, window: int, first: int
) -> Comparison | None:
    """Return the comparison of one position that moves along one axis, else None."""
    read = [expression.steps[number] for number in reached(expression, step)]
    ramps = [each for each in read if each.kind == "ramp"]
    plain = all(
        each.kind in ("ramp", "cast", "map") or (each.kind == "scalar" and each.name)
        for each in read
    )
    if len(ramps) != 1 or not plain:
        return None
    access = ramps[0].access
    strides = expression.accesses[access].strides[window]
    axes = [axis for axis, stride in enumerate(strides) if stride]
    if len(axes) != 1:
        return None
    length = expression.groups[window][axes[0]]
    if length > LONGEST_FIXED:
        return None
    return Comparison(step, access, axes[0], length, first)
