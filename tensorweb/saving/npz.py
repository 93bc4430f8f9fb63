"""The format npz: a zip archive with a file of NumPy's format npy for each tensor.

https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html describes it.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from array import array
from collections.abc import Mapping
from io import BytesIO
from typing import BinaryIO

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.saving.stored import Stored, refuse
from tensorweb.shapes import Shape, size, strides

MAGIC = b"\x93NUMPY"
START_OF_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

KINDS: dict[str, DType] = {
    f"{'b' if dtype.kind == 'bool' else dtype.kind[0]}{dtype.itemsize}": dtype
    for dtype in dtypes.BY_NAME.values()
}
"""Dtypes by NumPy's letter and number of bytes, such as `f4`."""

HEAD = (
    re.compile(r"'descr'\s*:\s*'([^']{2,})'"),
    re.compile(r"'fortran_order'\s*:\s*(True|False)"),
    re.compile(r"'shape'\s*:\s*\(([\d,\s]*)\)"),
)
"""What a head says of dtype, order and shape; it is read and never run."""

KIND_OF = {dtype.name: word for word, dtype in KINDS.items()}

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""A date for every entry, so that equal tensors are equal files."""


def write(file: BinaryIO, tensors: Mapping[str, Stored]) -> None:
    """Write tensors by name, not deflated, as `numpy.savez` does."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, stored in tensors.items():
            entry = zipfile.ZipInfo(f"{name}.npy", EARLIEST)
            with archive.open(entry, "w", force_zip64=True) as part:
                part.write(_head(stored))
                part.write(stored.data)


def _head(stored: Stored) -> bytes:
    """Return what stands in a npy file before the numbers; 64 bytes divide it."""
    order = "|" if stored.dtype.itemsize == 1 else "<"
    described = {
        "descr": order + KIND_OF[stored.dtype.name],
        "fortran_order": False,
        "shape": stored.shape,
    }
    text = repr(described)
    text += " " * (-(len(MAGIC) + 4 + len(text) + 1) % 64) + "\n"
    return MAGIC + bytes([1, 0]) + len(text).to_bytes(2, "little") + text.encode()


def read(name: str, data: memoryview) -> dict[str, Stored]:
    """Return the tensors of an archive's bytes, stored or deflated.

    Raises:
        DataError: it is damaged, or an entry is no array of numbers.
    """
    found = {}
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for entry in archive.infolist():
                key = entry.filename.removesuffix(".npy")
                if key in found:
                    refuse(name, f"has {key!r} twice")
                found[key] = _array(name, key, archive.read(entry))
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
        *(NotImplementedError, RuntimeError, ValueError),
    ) as error:
        if str(error).startswith("load: "):
            raise
        refuse(name, f"is a damaged npz file ({error})")
    return found


def _array(name: str, key: str, data: bytes) -> Stored:
    """Return the array of a npy file's bytes.

    Raises:
        DataError: it is no npy file, or one of something else than numbers.
    """
    wide = 4 if data[6:7] in (b"\2", b"\3") else 2
    if not data.startswith(MAGIC) or data[6:7] not in (b"\1", b"\2", b"\3"):
        refuse(name, f"has {key!r}, which is no npy file")
    begin = 8 + wide + int.from_bytes(data[8 : 8 + wide], "little")
    descr, is_fortran, shape = _described(name, key, data[8 + wide : begin])
    dtype = KINDS.get(descr[1:])
    if dtype is None or descr[0] not in "<>|=":
        refuse(
            name,
            f"has {key!r} of NumPy's dtype {descr!r}, which tensorweb has not; save "
            "numbers or bools of up to 64 bits",
        )
    body = data[begin:]
    if len(body) != size(shape) * dtype.itemsize:
        refuse(
            name,
            f"gives {key!r} of shape {shape} in {dtype} {len(body)} bytes, and it "
            f"needs {size(shape) * dtype.itemsize}",
        )
    if descr[0] == ">":
        body = _swapped(body, dtype.part.itemsize)
    return Stored(shape, dtype, _in_rows(body, shape, dtype) if is_fortran else body)


def _described(name: str, key: str, text: bytes) -> tuple[str, bool, Shape]:
    """Return what the head of a npy file says: dtype, order, shape.

    Raises:
        DataError: it says something else.
    """
    said = text.decode("latin-1")
    descr, order, shape = (pattern.search(said) for pattern in HEAD)
    if descr is None or order is None or shape is None:
        refuse(name, f"has {key!r}, whose head describes no array of numbers")
    lengths = tuple([int(number) for number in shape[1].split(",") if number.strip()])
    return descr[1], order[1] == "True", lengths


def _swapped(data: bytes, width: int) -> bytes:
    """Return numbers of the other byte order."""
    numbers = array({1: "B", 2: "H", 4: "I", 8: "Q"}[width], data)
    numbers.byteswap()
    return numbers.tobytes()


def _in_rows(data: bytes, shape: Shape, dtype: DType) -> bytes:
    """Return numbers that lie by columns in row-major order."""
    by_columns = strides(shape[::-1])[::-1]
    positions = [0]
    for length, stride in zip(shape, by_columns, strict=True):
        positions = [at + n * stride for at in positions for n in range(length)]
    width = dtype.itemsize
    return b"".join([data[at * width : (at + 1) * width] for at in positions])
