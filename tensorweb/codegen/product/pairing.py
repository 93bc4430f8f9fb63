"""Find reductions over pairs: each term is made of one row's and one column's value.

`((a[:, None] - b[None]) ** 2).sum(-1)` reads both operands once for every result; seen
as rows by columns, a tile of results reads each value once. What depends on rows alone
or on columns alone becomes an operand of its own; the rest is the term of a pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tensorweb.codegen.expression import VALUE_TYPES
from tensorweb.codegen.subexpressions import alone, reached
from tensorweb.schedule.kernel import Access, Expression

LEAST_SIDE = 4
"""Rows and columns from which on a tile of them pays."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A reduction seen as rows by columns.

    Attributes:
        sizes: batch, rows, columns, depth.
        left: of axes (batch, rows, depth).
        right: of axes (batch, depth, columns).
        term: the steps of the reduction's term.
        staged: the steps whose values the operands are, left and right.
    """

    sizes: tuple[int, int, int, int]
    left: Expression
    right: Expression
    term: Expression
    staged: tuple[int, int]


def find_pairing(term: Expression) -> Pairing | None:
    """Return how a term of axes (kept, reduced) pairs rows with columns, if it does."""
    axes = _sides(term)
    if axes is None:
        return None
    first_row, first_column, is_right = axes
    steps = _staged(term, is_right)
    if steps is None:
        return None
    kept, reduced = term.groups
    groups = kept[:first_row], kept[first_row:first_column], kept[first_column:]
    batch, rows, columns = (_product(group) for group in groups)
    if min(rows, columns) < LEAST_SIDE:
        return None
    left, right = steps
    ends = first_row, first_column
    return Pairing(
        (batch, rows, columns, _product(reduced)),
        _operand(term, left, ends, (0, 1, 3)),
        _operand(term, right, ends, (0, 3, 2)),
        term,
        steps,
    )


def _product(lengths: Iterable[int]) -> int:
    found = 1
    for length in lengths:
        found *= length
    return found


def _sides(term: Expression) -> tuple[int, int, list[bool]] | None:
    """Return where rows and columns begin, and which accesses move with columns."""
    if len(term.groups) != 2 or not term.groups[1]:
        return None
    moving = [
        {n for n, each in enumerate(term.accesses) if each.strides[0][axis]}
        for axis in range(len(term.groups[0]))
    ]
    if len(moving) < 2:
        return None
    right = moving[-1]
    first_column = len(moving)
    while first_column and moving[first_column - 1] <= right:
        first_column -= 1
    first_row = first_column
    while first_row and not moving[first_row - 1] & right:
        first_row -= 1
    if first_row == first_column or not right:
        return None
    return first_row, first_column, [n in right for n in range(len(term.accesses))]


def _staged(term: Expression, is_right: list[bool]) -> tuple[int, int] | None:
    """Return the one step of each side that steps of both sides read, if it is one."""
    sides: list[set[bool]] = []
    for step in term.steps:
        side = {is_right[step.access]} if step.access >= 0 else set()
        for source in (*step.args, step.guard):
            if source >= 0:
                side |= sides[source]
        sides.append(side)
    if len(sides[term.result]) != 2:
        return None
    found: dict[bool, set[int]] = {False: set(), True: set()}
    needed = reached(term, term.result)
    for number in needed:
        step = term.steps[number]
        if len(sides[number]) != 2:
            continue
        if step.kind not in ("map", "cast"):
            return None
        for source in step.args:
            if len(sides[source]) == 1:
                found[next(iter(sides[source]))].add(source)
    if any(len(steps) != 1 for steps in found.values()):
        return None
    (left,), (right,) = found[False], found[True]
    for step in (term.steps[left], term.steps[right]):
        if VALUE_TYPES[step.dtype] == "bool":
            return None
    return left, right


def _operand(
    term: Expression, result: int, ends: tuple[int, int], order: tuple[int, int, int]
) -> Expression:
    """Return one side of a term alone, its axes in three groups.

    `order` numbers them among batch, rows, columns and depth.
    """
    first_row, first_column = ends

    def grouped(
        kept: tuple[int, ...], reduced: tuple[int, ...]
    ) -> list[tuple[int, ...]]:
        parts = kept[:first_row], kept[first_row:first_column], kept[first_column:]
        return [(*parts, reduced)[group] for group in order]

    found = alone(term, result)
    accesses = tuple(
        Access(each.offset, tuple(grouped(each.strides[0], each.strides[1])))
        for each in found.accesses
    )
    groups = tuple(grouped(term.groups[0], term.groups[1]))
    return replace(found, groups=groups, accesses=accesses)
