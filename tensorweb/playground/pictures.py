"""What the page draws of a tensor: cells of a heat map, bars, a page of texts.

Every reduction runs on the tensor's device; only what is drawn is read.
"""

from __future__ import annotations

import math
from array import array
from base64 import b64encode
from collections.abc import Sequence

import tensorweb as tw
from tensorweb.display.cells import Pooling, cells_of, finite_range, plane
from tensorweb.hostdata import Number

from .numbers import Reader, read_all, text_of
from .records import Cells, Heatmap, Histogram

MOST_SAMPLES = 100_000
BINS = 40
PAGE_ROWS, PAGE_COLUMNS = 50, 20


async def heatmap(
    x: tw.Tensor,
    row_axis: int | None,
    column_axis: int | None,
    indices: Sequence[int],
    how: Pooling,
    reader: Reader,
) -> Heatmap:
    """Return the cells of one slice, as `tensorweb/display/cells.py` makes them.

    Values are float64 in base64, row by row.
    """
    part = plane(x.node, row_axis, column_axis, indices)
    cells = cells_of(part, how)
    values: list[Number] = (await read_all([cells.node], reader))[0]
    low, high = finite_range(values)
    return {
        "rows": cells.rows if values else 0,
        "columns": cells.columns if values else 0,
        "blockRows": cells.block_rows,
        "blockColumns": cells.block_columns,
        "fullRows": cells.full_rows,
        "fullColumns": cells.full_columns,
        "how": cells.how,
        "values": b64encode(array("d", map(float, values)).tobytes()).decode(),
        "low": low,
        "high": high,
        "diverging": low < 0 < high,
    }


async def histogram(x: tw.Tensor, reader: Reader) -> Histogram:
    """Return how many finite values fall into each of 40 bins, counted on the device.

    A large tensor is sampled with an even step, which is returned.
    """
    step = math.ceil(x.size / MOST_SAMPLES)
    flat = tw.reshape(x, (-1,))[::step] if x.size else None
    if flat is None:
        return {"counts": [], "low": 0.0, "high": 0.0, "step": 1}
    values = tw.astype(flat, tw.float32)
    real = tw.isfinite(values)
    ends = [
        tw.min(tw.where(real, values, math.inf)).node,
        tw.max(tw.where(real, values, -math.inf)).node,
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
    (counts,) = await read_all([tw.sum(hits, axis=1).node], reader)
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
    part = tw.Tensor(plane(x.node, row_axis, column_axis, indices))
    rows, columns = min(rows, PAGE_ROWS), min(columns, PAGE_COLUMNS)
    part = part[row : row + rows, column : column + columns]
    height, width = part.shape
    values = (await read_all([part.node], reader))[0] if part.size else []
    texts = [text_of(value, str(x.dtype)) for value in values]
    return {
        "row": row,
        "column": column,
        "texts": [texts[i * width : (i + 1) * width] for i in range(height)],
    }
