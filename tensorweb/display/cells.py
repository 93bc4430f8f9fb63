"""A slice of a tensor as a bounded number of cells: its elements, or blocks of them."""

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

CORNER = 100


@dataclass(frozen=True, slots=True)
class Budget:
    """What a picture may cost.

    Attributes:
        cells, per_axis: how many cells there are at most, and along one axis.
        looked_at: of more elements than that only a sample is looked at.
    """

    cells: int
    per_axis: int
    looked_at: int = 1 << 24


NOTEBOOK = Budget(10_000, 512)
PICTURE = Budget(1 << 20, 8192)
SMALL_PICTURE = Budget(64 * 64, 128, 1 << 16)

Pooling = Literal["mean", "extreme", "corner"]
Shown = Pooling | Literal["each"]


@dataclass(frozen=True, slots=True)
class Cells:
    """What is drawn of a plane.

    Attributes:
        full_rows, full_columns: of the plane, in elements.
        block_rows, block_columns: of a block, in elements.
        step_rows, step_columns: the step between the sampled rows, columns of a block.
        how: what a cell is of its block; `each` where a block is one element.
        node: the value of each cell, `(rows, columns)`; still lazy.
    """

    full_rows: int
    full_columns: int
    block_rows: int
    block_columns: int
    how: Shown
    node: Node
    step_rows: int = 1
    step_columns: int = 1

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


def cells_of(part: Node, how: Pooling, budget: Budget = NOTEBOOK) -> Cells:
    """Return the cells of a plane `(rows, columns)`; no elements have no cells.

    `how` is `mean`, `extreme` (the value farthest from zero) or `corner` (the first
    cells only). A cell is one element wherever the budget allows it.
    """
    rows, columns = part.shape
    block_rows, block_columns = block_sizes(rows, columns, budget)
    each = Cells(rows, columns, 1, 1, "each", part)
    if part.size == 0 or block_rows == block_columns == 1:
        return replace(each, node=_readable(part))
    if how == "corner":
        ranges = [(0, min(length, CORNER), 1) for length in part.shape]
        return replace(each, how=how, node=_readable(slice_ranges(part, ranges)))
    down, across = 1, 1
    if without_repeats(part).size > budget.looked_at:
        down, across = max(1, block_rows // 2), max(1, block_columns // 2)
        block_rows = down * math.ceil(block_rows / down)
        block_columns = across * math.ceil(block_columns / across)
        part = slice_ranges(
            part, [(0, -(-rows // down), down), (0, -(-columns // across), across)]
        )
    pooled = _pooled(part, block_rows // down, block_columns // across, how)
    return Cells(rows, columns, block_rows, block_columns, how, pooled, down, across)


def block_sizes(rows: int, columns: int, budget: Budget = NOTEBOOK) -> tuple[int, int]:
    """Return the least block, near to square, that leaves few enough cells."""
    scale = max(1.0, math.sqrt(rows * columns / budget.cells))
    least = math.ceil(rows / budget.per_axis)
    block_rows = max(1, min(rows, math.ceil(scale)), least)
    cells_down = math.ceil(rows / block_rows) if rows else 1
    most_across = max(1, min(budget.per_axis, budget.cells // cells_down))
    return block_rows, max(1, math.ceil(columns / most_across))


def finite_range(values: Sequence[Number]) -> tuple[float, float]:
    """Return least and greatest of the finite values, zeros where there are none."""
    real = [float(value) for value in values if math.isfinite(value)]
    return (min(real), max(real)) if real else (0.0, 0.0)


def _readable(part: Node) -> Node:
    return cast(part, dtypes.int32) if part.dtype.kind == "bool" else part


def _pooled(part: Node, block_rows: int, block_columns: int, how: Pooling) -> Node:
    """Reduce each block in one pass for a mean, in two for an extreme.

    A NaN or infinity inside a block is what becomes of it. Along axes that repeat one
    element a block is that element.
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
    if how == "mean":
        counts = pool.counts(part.shape, x)
        result = elementwise(OPS["divide"], pool.reduced("sum", x), counts)
    else:
        high, low = pool.reduced("max", x), pool.reduced("min", x)
        is_low = elementwise(OPS["greater"], elementwise(OPS["negative"], low), high)
        result = elementwise(OPS["where"], is_low, low, high)
    return expand(result, shape)


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

    def counts(self, shape: Sequence[int], x: Node) -> Node:
        """Return how many elements of a plane of this shape each block has."""
        sizes = (self.block_rows, self.block_columns)
        down, across = (
            _lengths(length, size, x) for length, size in zip(shape, sizes, strict=True)
        )
        column, row = expand_dims(down, (1,)), expand_dims(across, (0,))
        return elementwise(OPS["multiply"], column, row)


def _lengths(length: int, block: int, x: Node) -> Node:
    """Return the lengths of the blocks along an axis; the last may be shorter."""
    whole = constant(block, x.dtype, x.device, (length // block,))
    rest = length % block
    if not rest:
        return whole
    return pad(whole, [(0, 1)], constant(rest, x.dtype, x.device))
