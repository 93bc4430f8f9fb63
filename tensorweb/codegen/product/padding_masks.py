"""Which elements of a window are in the padding, as bit masks tested in a loop.

Whether a padded element exists depends on its index in the window and on the window's
offset. Windows are short, so before the loop each row or column computes a mask with a
bit per index along each axis of the window. The loop then only tests whether the mask
has the bit of the current index.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.expression import LONGEST_FIXED
from tensorweb.codegen.subexpressions import reached
from tensorweb.schedule.kernel import Expression

BITS = 32
"""Bits of a mask: indices along all axes of a window."""

LEAST_TESTS = 2
"""Tests per bit from which a mask costs less than comparisons in the loop."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a guard.

    Attributes:
        step: the step of the comparison.
        access: the access whose index is compared.
        axis: the axis of the window along which that index varies.
        length: length of that axis.
        first: the bit of the axis's first index.
    """

    step: int
    access: int
    axis: int
    length: int
    first: int


@dataclass(frozen=True, slots=True)
class PaddingMask:
    """The guard of a load, and the comparisons of which it is the conjunction."""

    guard: int
    comparisons: tuple[Comparison, ...]


def find_padding_mask(
    expression: Expression, load: int, window: int, tests: int
) -> PaddingMask | None:
    """Return the padding mask of a load's guard, None if it has none or none pays.

    Args:
        expression: the expression of an element.
        load: index of the step that loads.
        window: the group of axes that the loop iterates over.
        tests: number of elements of a row or column that a thread loads.
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
    """Return the conditions of which a condition is the conjunction."""
    found = expression.steps[step]
    if found.name != "logical_and":
        return [step]
    return [each for source in found.args for each in _conjuncts(expression, source)]


def _comparison(
    expression: Expression, step: int, window: int, first: int
) -> Comparison | None:
    """Return the comparison of an index that varies along one axis, else None."""
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
