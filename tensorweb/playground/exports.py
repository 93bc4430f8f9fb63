"""Export of tensors in parts: `.npy` of a tensor, CSV of a slice."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Sequence

import tensorweb as tw
from tensorweb.display.cells import plane
from tensorweb.dtypes import DType
from tensorweb.errors import DataError
from tensorweb.nodes.movement import reshape, slice_ranges

from .numbers import Reader, read_all, text_of
from .records import Part

MOST_VALUES = 1 << 20
"""Limit of elements in one part of a `.npy` file."""
MOST_TEXTS = 1 << 15
"""Limit of numbers in one part of a CSV file, and in one row of it."""

ALIGNMENT = 64
GROWTH = 21
"""Digits for which NumPy reserves space, so that the first axis of a file can grow."""


async def npy(x: tw.Tensor, start: int, reader: Reader) -> Part:
    """Return a part of the file that `numpy.save` would write, in base64.

    The first part contains the header; each has at most `MOST_VALUES` elements from
    `start`.
    """
    head = header(x.shape, x.dtype) if start == 0 else b""
    count = min(MOST_VALUES, x.size - start)
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
    kind = {"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}[
        dtype.kind
    ]
    order = "|" if dtype.itemsize == 1 else "<"
    fields = {"descr": f"{order}{kind}{dtype.itemsize}", "fortran_order": False}
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
    if columns > MOST_TEXTS:
        raise DataError(
            f"a row of {columns:,} numbers is too long for CSV, which has at most "
            f"{MOST_TEXTS:,}; download .npy, or draw another axis as columns"
        )
    count = min(max(1, MOST_TEXTS // max(columns, 1)), rows - start)
    if count <= 0 or columns == 0:
        return {"data": "", "next": None}
    window = slice_ranges(part, [(start, count, 1), (0, columns, 1)])
    (values,) = await read_all([window], reader)
    texts = [text_of(value, str(x.dtype)) for value in values]
    lines = [",".join(texts[i * columns : (i + 1) * columns]) for i in range(count)]
    end = start + count
    text = "".join(f"{line}\n" for line in lines)
    return {"data": text, "next": end if end < rows else None}
