"""Find reductions over pairs: a term combines one value per row and one per column.

`((a[:, None] - b[None]) ** 2).sum(-1)` reads both operands once for every result; as
rows by columns, a tile of results reads each value once. The part that depends only on
rows or only on columns becomes an operand; the remainder is the term of a pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tensorweb.codegen.expression import VALUE_TYPES
from tensorweb.codegen.subexpressions import alone, reached
from tensorweb.schedule.kernel import Access, Expression

LEAST_SIDE = 4
"""Least number of rows and columns for which tiles pay."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A reduction as rows by columns.

    Attributes:
        sizes: batch, rows, columns, depth.
        left: expression over (batch, rows, depth).
        right: expression over (batch, depth, columns).
        term: the steps of the reduction's term.
        staged: indices of the steps whose values are the operands, left and right.
    """

    sizes: tuple[int, int, int, int]
    left: Expression
    right: Expression
    term: Expression
    staged: tuple[int, int]


def find_pairing(term: Expression) -> Pairing | None:
    """Return the pairing of a term over (kept, reduced) axes, None without one."""
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
    """Return the first row and column axis, and which accesses vary with columns."""
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
    """Return the one step per side that steps of both sides read, None if several."""
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
    """Return one operand of a term, with its axes in three groups.

    `order` permutes the groups batch, rows, columns and depth.
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
