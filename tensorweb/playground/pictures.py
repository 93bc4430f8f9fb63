"""A tensor reduced for the eye: a heat map of at most 10,000 cells, bars, a page.

Every reduction runs on the tensor's device; only what is drawn is read.
"""

from __future__ import annotations

import math
from array import array
from base64 import b64encode
from collections.abc import Sequence
from typing import Literal

import tensorweb as tw

from .numbers import Number, Reader, read_all, text_of
from .records import Cells, Heatmap, Histogram, Pooling
from .tensors import is_countable, is_floating

MOST_CELLS = 10_000
MOST_PER_AXIS = 512
CORNER = 100
MOST_SAMPLES = 100_000
BINS = 40
PAGE_ROWS, PAGE_COLUMNS = 50, 20


def plane(
    x: tw.Tensor, row_axis: int | None, column_axis: int | None, indices: Sequence[int]
) -> tw.Tensor:
    """Return the `(rows, columns)` slice of a tensor of any rank, without a copy.

    `indices` has one entry per axis; those of the two drawn axes are not looked at.
    An axis that is None has length one.
    """
    drawn = [axis for axis in (row_axis, column_axis) if axis is not None]
    key = tuple(
        slice(None) if axis in drawn else int(indices[axis]) for axis in range(x.ndim)
    )
    part = x[key] if x.ndim else x
    if row_axis is not None and column_axis is not None and row_axis > column_axis:
        part = tw.permute_dims(part, (1, 0))
    if row_axis is None:
        part = tw.expand_dims(part, axis=0)
    if column_axis is None:
        part = tw.expand_dims(part, axis=part.ndim)
    return part


async def heatmap(
    x: tw.Tensor,
    row_axis: int | None,
    column_axis: int | None,
    indices: Sequence[int],
    how: Pooling,
    reader: Reader,
) -> Heatmap:
    """Return the cells of one slice, each the mean or the extreme of a block.

    `how` is `mean`, `extreme` (the value farthest from zero) or `corner` (the first
    cells only). Values are float64 in base64, row by row.
    """
    part = plane(x, row_axis, column_axis, indices)
    full_rows, full_columns = rows, columns = part.shape
    block_rows, block_columns = block_sizes(rows, columns)
    shown: Pooling | Literal["each"] = how
    if block_rows == block_columns == 1:
        shown = "each"
    elif how == "corner":
        rows, columns = min(rows, CORNER), min(columns, CORNER)
        part = part[:rows, :columns]
        block_rows = block_columns = 1
    blocks = (math.ceil(rows / block_rows), math.ceil(columns / block_columns))
    if not is_countable(part):
        values: list[Number] = []
    elif block_rows == block_columns == 1:
        values = (await read_all([_readable(part)], reader))[0]
    else:
        values = await _pooled(part, block_rows, block_columns, how, reader)
    low, high = _range(values)
    return {
        "rows": blocks[0] if values else 0,
        "columns": blocks[1] if values else 0,
        "blockRows": block_rows,
        "blockColumns": block_columns,
        "fullRows": full_rows,
        "fullColumns": full_columns,
        "how": shown,
        "values": b64encode(array("d", map(float, values)).tobytes()).decode(),
        "low": low,
        "high": high,
        "diverging": low < 0 < high,
    }


def block_sizes(rows: int, columns: int) -> tuple[int, int]:
    """Return the least block, near to square, that leaves at most 10,000 cells."""
    scale = max(1.0, math.sqrt(rows * columns / MOST_CELLS))
    block_rows = max(1, min(rows, math.ceil(scale)), math.ceil(rows / MOST_PER_AXIS))
    cells_down = math.ceil(rows / block_rows) if rows else 1
    most_across = max(1, min(MOST_PER_AXIS, MOST_CELLS // cells_down))
    return block_rows, max(1, math.ceil(columns / most_across))


def _readable(part: tw.Tensor) -> tw.Tensor:
    if tw.isdtype(part.dtype, "bool"):
        return tw.astype(part, tw.int32)
    return part


async def _pooled(
    part: tw.Tensor, block_rows: int, block_columns: int, how: str, reader: Reader
) -> list[Number]:
    """Reduce blocks over their finite values; a NaN or infinity inside wins."""
    x = tw.astype(part, tw.float32)
    if is_floating(part):
        real, bad = tw.isfinite(x), tw.where(tw.isfinite(x), 0.0, x)
    else:
        real, bad = tw.ones_like(x, dtype=tw.bool), tw.zeros_like(x)
    count = _blocks(tw.astype(real, tw.float32), block_rows, block_columns)
    value = _blocks(tw.where(real, x, 0.0), block_rows, block_columns)
    marks = tw.sum(_blocks(bad, block_rows, block_columns), axis=(1, 3))
    if how == "mean":
        number = tw.sum(count, axis=(1, 3))
        result = tw.sum(value, axis=(1, 3)) / tw.maximum(number, tw.ones_like(number))
    else:
        high, low = tw.max(value, axis=(1, 3)), tw.min(value, axis=(1, 3))
        result = tw.where(tw.abs(low) > high, low, high)
    result = result + marks
    return (await read_all([result], reader))[0]


def _blocks(x: tw.Tensor, block_rows: int, block_columns: int) -> tw.Tensor:
    """Cut `(r, c)` into `(r / b, b, c / d, d)`, the edges filled with zeros.

    Zeros change neither a sum nor the value farthest from zero.
    """
    rows, columns = x.shape
    down, across = math.ceil(rows / block_rows), math.ceil(columns / block_columns)
    padding = [(0, down * block_rows - rows), (0, across * block_columns - columns)]
    padded = x.pad(padding) if any(after for _, after in padding) else x
    return tw.reshape(padded, (down, block_rows, across, block_columns))


def _range(values: Sequence[Number]) -> tuple[float, float]:
    """Return the finite range of what is drawn."""
    real = [float(value) for value in values if math.isfinite(value)]
    return (min(real), max(real)) if real else (0.0, 0.0)


async def histogram(x: tw.Tensor, reader: Reader) -> Histogram:
    """Return how many finite values fall into each of 40 bins, counted on the device.

    A large tensor is sampled with an even step, which is returned.
    """
    step = math.ceil(x.size / MOST_SAMPLES)
    flat = tw.reshape(x, (-1,))[::step] if is_countable(x) else None
    if flat is None:
        return {"counts": [], "low": 0.0, "high": 0.0, "step": 1}
    values = tw.astype(flat, tw.float32)
    real = tw.isfinite(values)
    ends = [
        tw.min(tw.where(real, values, math.inf)),
        tw.max(tw.where(real, values, -math.inf)),
    ]
    low, high = (float(end[0]) for end in await read_all(ends, reader))
    if not (math.isfinite(low) and math.isfinite(high - low)):
        return {"counts": [], "low": 0.0, "high": 0.0, "step": step}
    if low == high:
        low, high = low - 0.5, high + 0.5
    place = tw.floor((tw.where(real, values, low) - low) / (high - low) * BINS)
    place = tw.where(real, tw.clip(place, 0.0, BINS - 1.0), -1.0)
    bins = tw.expand_dims(tw.arange(BINS, dtype=tw.float32, device=x.device), axis=1)
    hits = tw.astype(tw.expand_dims(place, axis=0) == bins, tw.int32)
    (counts,) = await read_all([tw.sum(hits, axis=1)], reader)
    return {"counts": [*map(int, counts)], "low": low, "high": high, "step": step}


async def cells(
    x: tw.Tensor,
    row_axis: int | None,
    column_axis: int | None,
    indices: Sequence[int],
    row: int,
    column: int,
    rows: int,
    columns: int,
    reader: Reader,
) -> Cells:
    """Return the exact text of a small window of one slice, at most 50 by 20 values."""
    part = plane(x, row_axis, column_axis, indices)
    rows, columns = min(rows, PAGE_ROWS), min(columns, PAGE_COLUMNS)
    part = part[row : row + rows, column : column + columns]
    height, width = part.shape
    values = (await read_all([part], reader))[0] if part.size else []
    texts = [text_of(value, str(x.dtype)) for value in values]
    return {
        "row": row,
        "column": column,
        "texts": [texts[i * width : (i + 1) * width] for i in range(height)],
    }
