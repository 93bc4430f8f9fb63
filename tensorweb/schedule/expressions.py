"""Finish an expression: group its axes and merge contiguous neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.schedule.kernel import Access, Expression, Step
from tensorweb.shapes import Shape
from tensorweb.view import View


def merge_axes(
    sizes: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Merge neighbouring axes that are contiguous in every access.

    Args:
        sizes: lengths of the axes.
        strides: one sequence per access, one stride per axis.

    >>> merge_axes((2, 3, 4), [(12, 4, 1), (4, 0, 1)])
    ((2, 3, 4), [(12, 4, 1), (4, 0, 1)])
    >>> merge_axes((2, 3, 4), [(12, 4, 1)])
    ((24,), [(1,)])
    """
    kept = [axis for axis, n in enumerate(sizes) if n != 1]
    merged: list[int] = []
    columns: list[list[int]] = []
    for axis in kept:
        column = [s[axis] for s in strides]
        n = sizes[axis]
        if merged and all(
            outer == inner * n for outer, inner in zip(columns[-1], column, strict=True)
        ):
            merged[-1] *= n
            columns[-1] = column
        else:
            merged.append(n)
            columns.append(column)
    return tuple(merged), [
        tuple(column[i] for column in columns) for i in range(len(strides))
    ]


def finish(
    steps: Sequence[Step],
    views: Sequence[View],
    result: int,
    groups: Sequence[Sequence[int]],
    shape: Shape,
) -> Expression:
    """Return an expression with its axes grouped, and merged inside each group."""
    merged_groups = []
    strides_of: list[list[tuple[int, ...]]] = [[] for _ in views]
    for group in groups:
        sizes = [shape[axis] for axis in group] if shape else []
        merged, columns = merge_axes(
            sizes, [[v.strides[axis] for axis in group] for v in views] if views else []
        )
        merged_groups.append(merged if views else ())
        for collected, column in zip(strides_of, columns, strict=True):
            collected.append(column)
    accesses = tuple(
        Access(view.offset, tuple(strides))
        for view, strides in zip(views, strides_of, strict=True)
    )
    return Expression(tuple(merged_groups), accesses, tuple(steps), result)
