"""A slice of a tensor as at most 10,000 cells, each the mean or extreme of a block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tensorweb import dtypes
from tensorweb.evaluate import plain_number
from tensorweb.graph.node import Node, constant
from tensorweb.hostdata import Number
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import (
    expand,
    expand_dims,
    permute,
    reshape,
    slice_ranges,
    squeeze,
)
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import pad
from tensorweb.ops import OPS

from .statistics import without_repeats, working_dtype

MOST_CELLS = 10_000
MOST_PER_AXIS = 512
CORNER = 100

Pooling = Literal["mean", "extreme", "corner"]
Shown = Pooling | Literal["each"]


@dataclass(frozen=True, slots=True)
class Cells:
    """What is drawn of a plane.

    Attributes:
        full_rows, full_columns: of the plane, in elements.
        block_rows, block_columns: of a block, in elements.
        how: what a cell is of its block; `each` where a block is one element.
        node: the value of each cell, `(rows, columns)`; still lazy.
    """

    full_rows: int
    full_columns: int
    block_rows: int
    block_columns: int
    how: Shown
    node: Node

    @property
    def rows(self) -> int:
        """Rows of cells."""
        return self.node.shape[0]

    @property
    def columns(self) -> int:
        """Columns of cells."""
        return self.node.shape[1]


def plane(
    node: Node, row_axis: int | None, column_axis: int | None, indices: Sequence[int]
) -> Node:
    """Return the `(rows, columns)` slice of a node of any rank, without a copy.

    `indices` has one entry per axis; those of the two drawn axes are not looked at.
    An axis that is None has length one.
    """
    drawn = [axis for axis in (row_axis, column_axis) if axis is not None]
    fixed = tuple(axis for axis in range(len(node.shape)) if axis not in drawn)
    ranges = [
        (indices[axis], 1, 1) if axis in fixed else (0, length, 1)
        for axis, length in enumerate(node.shape)
    ]
    part = squeeze(slice_ranges(node, ranges), fixed)
    if row_axis is not None and column_axis is not None and row_axis > column_axis:
        part = permute(part, (1, 0))
    if row_axis is None:
        part = expand_dims(part, (0,))
    if column_axis is None:
        part = expand_dims(part, (1,))
    return part


def cells_of(part: Node, how: Pooling) -> Cells:
    """Return the cells of a plane `(rows, columns)`; no elements have no cells.

    `how` is `mean`, `extreme` (the value farthest from zero) or `corner` (the first
    cells only).
    """
    rows, columns = part.shape
    block_rows, block_columns = block_sizes(rows, columns)
    each = Cells(rows, columns, 1, 1, "each", part)
    if part.size == 0 or block_rows == block_columns == 1:
        return replace(each, node=_readable(part))
    if how == "corner":
        ranges = [(0, min(length, CORNER), 1) for length in part.shape]
        return replace(each, how=how, node=_readable(slice_ranges(part, ranges)))
    pooled = _pooled(part, block_rows, block_columns, how)
    return Cells(rows, columns, block_rows, block_columns, how, pooled)


def block_sizes(rows: int, columns: int) -> tuple[int, int]:
    """Return the least block, near to square, that leaves at most 10,000 cells."""
    scale = max(1.0, math.sqrt(rows * columns / MOST_CELLS))
    block_rows = max(1, min(rows, math.ceil(scale)), math.ceil(rows / MOST_PER_AXIS))
    cells_down = math.ceil(rows / block_rows) if rows else 1
    most_across = max(1, min(MOST_PER_AXIS, MOST_CELLS // cells_down))
    return block_rows, max(1, math.ceil(columns / most_across))


def finite_range(values: Sequence[Number]) -> tuple[float, float]:
    """Return least and greatest of the finite values, zeros where there are none."""
    real = [float(value) for value in values if math.isfinite(value)]
    return (min(real), max(real)) if real else (0.0, 0.0)


def _readable(part: Node) -> Node:
    return cast(part, dtypes.int32) if part.dtype.kind == "bool" else part


def _pooled(part: Node, block_rows: int, block_columns: int, how: Pooling) -> Node:
    """Reduce blocks over their finite values; a NaN or infinity inside wins.

    Along axes that repeat one element a block is that element.
    """
    rows, columns = part.shape
    shape = (math.ceil(rows / block_rows), math.ceil(columns / block_columns))
    number = plain_number(part)
    if number is not None:
        part = constant(number, part.dtype, part.device, (1, 1))
    part = without_repeats(part)
    block_rows = block_rows if part.shape[0] == rows else 1
    block_columns = block_columns if part.shape[1] == columns else 1
    pool = _Pool(block_rows, block_columns)
    x = cast(part, working_dtype(part.dtype))
    zero = constant(0, x.dtype, x.device)
    if part.dtype.kind == "float":
        real = elementwise(OPS["isfinite"], x)
        marks = pool.reduced("sum", elementwise(OPS["where"], real, zero, x))
        finite = elementwise(OPS["where"], real, x, zero)
    else:
        real = constant(True, dtypes.bool, x.device, x.shape)
        marks, finite = zero, x
    if how == "mean":
        one = constant(1, x.dtype, x.device)
        count = elementwise(
            OPS["maximum"], pool.reduced("sum", cast(real, x.dtype)), one
        )
        result = elementwise(OPS["divide"], pool.reduced("sum", finite), count)
    else:
        high, low = pool.reduced("max", finite), pool.reduced("min", finite)
        is_low = elementwise(OPS["greater"], elementwise(OPS["abs"], low), high)
        result = elementwise(OPS["where"], is_low, low, high)
    return expand(elementwise(OPS["add"], result, marks), shape)


@dataclass(frozen=True, slots=True)
class _Pool:
    """The blocks of a plane."""

    block_rows: int
    block_columns: int

    def reduced(self, name: str, x: Node) -> Node:
        """Return a reduction of each block of `(r, c)`, as `(r / b, c / d)`.

        The edges are filled with zeros, which change neither a sum nor the value
        farthest from zero.
        """
        rows, columns = x.shape
        down = math.ceil(rows / self.block_rows)
        across = math.ceil(columns / self.block_columns)
        beyond = (down * self.block_rows - rows, across * self.block_columns - columns)
        if any(beyond):
            zero = constant(0, x.dtype, x.device)
            x = pad(x, [(0, after) for after in beyond], zero)
        blocks = reshape(x, (down, self.block_rows, across, self.block_columns))
        return reduce(name, blocks, (1, 3))
