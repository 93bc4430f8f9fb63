"""Values that the page draws: heat maps, samples, windows of texts, differences.

Every reduction runs on the tensor's device; only drawn values are read, four bytes per
element (eight if four cannot hold it). The page maps them to colours.
"""

from __future__ import annotations

import math
import struct
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.display.cells import (
    PICTURE,
    SMALL_PICTURE,
    Budget,
    Cells,
    Pooling,
    cells_of,
    plane,
)
from tensorweb.display.statistics import drawn
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.node import Node
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.movement import reshape, slice_ranges
from tensorweb.nodes.selection import concat
from tensorweb.tensor import Tensor

from . import policy, records
from .numbers import Reader, read_all, text_of
from .records import Encoding, Heatmap, Part, PictureSize, Sample

CHANNELS = (3, 4)
"""Red, green, blue, and optionally alpha."""
RANKS = (3, 4)
"""Height, width, channels, and optionally a leading batch axis."""


def channel_axis(shape: Sequence[int], dtype: DType) -> int | None:
    """Return the axis of the colour channels, None if there is none.

    >>> [channel_axis(shape, tw.float32) for shape in ((480, 640, 3), (480, 640))]
    [2, None]
    """
    if len(shape) not in RANKS or shape[-1] not in CHANNELS or dtype.kind == "bool":
        return None
    return len(shape) - 1


def is_image(shape: Sequence[int], dtype: DType) -> bool:
    """Whether a tensor is shown as a colour picture by default.

    >>> is_image((480, 640, 3), tw.float32), is_image((2, 3, 4), tw.float32)
    (True, False)
    """
    is_coloured = channel_axis(shape, dtype) is not None
    return is_coloured and min(shape[-3:-1]) >= policy.LEAST_PICTURE_SIDE


def coloured_cells(
    node: Node,
    row_axis: int | None,
    column_axis: int | None,
    channels: int,
    indices: Sequence[int],
    how: Pooling,
    budget: Budget,
) -> Cells:
    """Return the cells of each channel, `(channels · rows, columns)`, still lazy.

    Raises:
        ShapeError: there are not three or four channels, or their axis is drawn as rows
            or columns.
    """
    if channels in (row_axis, column_axis) or node.shape[channels] not in CHANNELS:
        raise ShapeError(
            f"colours need 3 or 4 channels along an axis that is not drawn, "
            f"axis {channels} of {node.shape} has {node.shape[channels]}; "
            f"look at it as numbers"
        )
    found: list[Cells] = []
    for channel in range(node.shape[channels]):
        at = [*indices]
        at[channels] = channel
        found.append(cells_of(plane(node, row_axis, column_axis, at), how, budget))
    together = concat([cells.node for cells in found], 0)
    return replace(found[0], node=together)


PAGE_ROWS, PAGE_COLUMNS = 50, 20

BUDGETS: dict[PictureSize, Budget] = {"full": PICTURE, "small": SMALL_PICTURE}

WIDE: dict[str, tuple[DType, Encoding]] = {
    "uint32": (dtypes.uint32, "uint32"),
    "int64": (dtypes.float64, "float64"),
    "uint64": (dtypes.float64, "float64"),
    "float64": (dtypes.float64, "float64"),
}
"""Encodings of dtypes that neither float32 nor int32 can hold."""


async def heatmap(
    x: tw.Tensor,
    row_axis: int | None,
    column_axis: int | None,
    indices: Sequence[int],
    how: Pooling,
    size: PictureSize,
    reader: Reader,
    channels: int | None = None,
) -> Heatmap:
    """Return the cells of one slice, as `tensorweb/display/cells.py` computes them.

    With an axis of `channels` there is one plane of cells per channel.
    """
    budget, node = BUDGETS[size], drawn(x.node)
    if channels is None:
        found = cells_of(plane(node, row_axis, column_axis, indices), how, budget)
    else:
        found = coloured_cells(
            node, row_axis, column_axis, channels, indices, how, budget
        )
    node, encoding = sendable(found.node)
    (values,) = await reader.read([node])
    planes = 1 if channels is None else x.shape[channels]
    return heatmap_record(found, values, encoding, planes)


def sendable(node: Node) -> tuple[Node, Encoding]:
    """Return a node cast to a dtype that the page unpacks, and that encoding's name."""
    kind = "float32" if node.dtype.kind == "float" else "int32"
    plain: tuple[DType, Encoding] = (
        (dtypes.float32, "float32") if kind == "float32" else (dtypes.int32, "int32")
    )
    dtype, encoding = WIDE.get(node.dtype.name, plain)
    return cast(node, dtype), encoding


def heatmap_record(
    found: Cells, values: str | bytes, encoding: Encoding, channels: int = 1
) -> Heatmap:
    """Return cells as a record; values are ordered by channel, then row-major."""
    is_empty = not found.node.size
    return {
        "channels": channels,
        "rows": 0 if is_empty else found.rows // channels,
        "columns": 0 if is_empty else found.columns,
        "blockRows": found.block_rows,
        "blockColumns": found.block_columns,
        "stepRows": found.step_rows,
        "stepColumns": found.step_columns,
        "fullRows": found.full_rows,
        "fullColumns": found.full_columns,
        "how": found.how,
        "encoding": encoding,
        "values": values,
    }


async def sample(
    x: tw.Tensor,
    row_axis: int | None,
    column_axis: int | None,
    indices: Sequence[int],
    reader: Reader,
) -> Sample:
    """Return values of one slice, sampled with an even step; all of a small one."""
    part = drawn(plane(x.node, row_axis, column_axis, indices))
    step = max(1, math.ceil(part.size / policy.MOST_SAMPLES))
    flat = reshape(part, (part.size,))
    node, encoding = sendable(slice_ranges(flat, [(0, -(-part.size // step), step)]))
    (values,) = await reader.read([node])
    text = b64encode(values).decode("ascii")
    return {"step": step, "encoding": encoding, "values": text}


async def find(x: tw.Tensor, what: records.Extreme, reader: Reader) -> records.Found:
    """Return the first index of an extreme finite value, of a NaN or of an infinity."""
    x = tw.Tensor(drawn(x.node))
    if x.size == 0 or (what in ("nan", "inf") and x.dtype.kind != "float"):
        return {"index": None}
    flat = tw.reshape(x, (-1,))
    if x.dtype.kind == "bool":
        flat = tw.astype(flat, tw.int32)
    is_wanted = tw.full((1,), True, device=x.device)
    if x.dtype.kind == "float":
        asked = {"nan": tw.isnan, "inf": tw.isinf}.get(what, tw.isfinite)
        is_wanted = asked(flat)
        worst = -math.inf if what == "max" else math.inf
        flat = tw.where(is_wanted, flat, worst)
    if what in ("nan", "inf"):
        flat = tw.astype(is_wanted, tw.int32)
    first = tw.argmin(flat) if what == "min" else tw.argmax(flat)
    found = await read_all([first.node, tw.any(is_wanted).node], reader)
    (position,), (is_there,) = found
    index = tw.unravel_index(int(position), x.shape)
    return {"index": [*map(int, index)] if is_there else None}


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
) -> records.Cells:
    """Return the exact text of a window of one slice, at most 50 by 20 values."""
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


INT32 = ("bool", "int8", "int16", "uint8", "uint16")
"""Dtypes subtracted as int32: bools have no difference, and small integers overflow."""
UNSIGNED = {"uint32": tw.float32, "uint64": tw.float64}
"""Unsigned dtypes, and the dtypes that can hold their differences."""


def difference(a: Tensor, b: Tensor) -> Tensor:
    """Return `a - b` of two tensors of one shape, in a dtype with negative numbers.

    >>> difference(tw.asarray([True, False]), tw.asarray([True, True]))
    tensor([ 0, -1])
    """
    a, b = (tw.astype(x, tw.int32) if x.dtype.name in INT32 else x for x in (a, b))
    if a.dtype is b.dtype and a.dtype.name in UNSIGNED:
        wide = UNSIGNED[a.dtype.name]
        is_less = a < b
        size = tw.astype(tw.where(is_less, b - a, a - b), wide)
        return tw.where(is_less, -size, size)
    return a - b


async def measure(
    a: Tensor, b: Tensor, less: Tensor, reader: Reader
) -> tuple[int, float | None, list[int] | None]:
    """Return the count of different elements, the largest distance and its index.

    Two NaNs at one index do not differ.
    """
    differ = a != b
    if a.dtype.kind == b.dtype.kind and a.dtype.kind in ("float", "complex"):
        differ = differ & ~(tw.isnan(a) & tw.isnan(b))
    distance = tw.abs(less)
    index = (await find(distance, "max", reader))["index"]
    asked = [tw.sum(tw.astype(differ, tw.int32)).node]
    if index is not None:
        asked.append(distance[tuple(index)].node)
    found = await read_all(asked, reader)
    largest = float(found[1][0]) if index is not None else None
    return int(found[0][0]), largest, index


ALIGNMENT = 64
GROWTH = 21
"""Digits for which NumPy reserves space, so that the first axis of a file can grow."""


async def npy(x: tw.Tensor, start: int, reader: Reader) -> Part:
    """Return a part of the file that `numpy.save` would write, in base64.

    The first part contains the header; each has at most
    `policy.MOST_EXPORTED_VALUES` elements from `start`.
    """
    head = header(x.shape, x.dtype) if start == 0 else b""
    count = min(policy.MOST_EXPORTED_VALUES, x.size - start)
    data = b""
    if count > 0:
        flat = reshape(x.node, (x.size,))
        (data,) = await reader.read([slice_ranges(flat, [(start, count, 1)])])
    end = start + max(count, 0)
    text = b64encode(head + data).decode("ascii")
    return {"data": text, "next": end if end < x.size else None}


def header(shape: Sequence[int], dtype: DType) -> bytes:
    """Return the header of a `.npy` file of version 1.0.

    It is padded exactly like NumPy's, so that the files are identical.

    >>> header((2, 3), tw.float32)[10:].split(b", }")[0]
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)"
    """
    fields = {"descr": dtype.str, "fortran_order": False}
    text = "".join(f"'{key}': {value!r}, " for key, value in fields.items())
    text = f"{{{text}'shape': {tuple(shape)!r}, }}"
    if shape:
        text += " " * (GROWTH - len(str(shape[0])))
    prefix = len(b"\x93NUMPY\x01\x00") + 2
    length = len(text) + 1
    length += ALIGNMENT - (prefix + length) % ALIGNMENT
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", length)
    return head + text.ljust(length - 1).encode("latin-1") + b"\n"


async def csv(
    x: tw.Tensor,
    row_axis: int | None,
    column_axis: int | None,
    indices: Sequence[int],
    start: int,
    reader: Reader,
) -> Part:
    """Return lines of one slice from row `start`; a single axis has one value per line.

    Raises:
        DataError: a row has more numbers than a table can use.
    """
    if row_axis is None:
        row_axis, column_axis = column_axis, None
    part = plane(x.node, row_axis, column_axis, indices)
    rows, columns = part.shape
    if columns > policy.MOST_EXPORTED_TEXTS:
        raise DataError(
            f"a row of {columns:,} numbers is too long for CSV, which has at most "
            f"{policy.MOST_EXPORTED_TEXTS:,}; "
            f"download .npy, or draw another axis as columns"
        )
    count = min(max(1, policy.MOST_EXPORTED_TEXTS // max(columns, 1)), rows - start)
    if count <= 0 or columns == 0:
        return {"data": "", "next": None}
    window = slice_ranges(part, [(start, count, 1), (0, columns, 1)])
    (values,) = await read_all([window], reader)
    texts = [text_of(value, str(x.dtype)) for value in values]
    lines = [",".join(texts[i * columns : (i + 1) * columns]) for i in range(count)]
    end = start + count
    text = "".join(f"{line}\n" for line in lines)
    return {"data": text, "next": end if end < rows else None}
