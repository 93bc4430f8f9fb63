"""The format npy, one array behind a head that describes it, and archives of it, npz.

https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html describes it.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from array import array
from collections.abc import Mapping
from io import BytesIO
from typing import BinaryIO

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.graph.storage import HostData
from tensorweb.saving.source import File, Source, Stored, refuse, source_of
from tensorweb.shapes import Shape, size, strides

MAGIC = b"\x93NUMPY"

LONGEST_HEAD = 1 << 16
"""Bytes; those of arrays of numbers have a hundred."""

KINDS: dict[str, DType] = {dtype.str[1:]: dtype for dtype in dtypes.BY_NAME.values()}
"""Dtypes by NumPy's letter and number of bytes, such as `f4`; bfloat16 is `V2`, as
ml_dtypes and JAX write it."""

HEAD = (
    re.compile(r"'descr'\s*:\s*'([^']{2,})'"),
    re.compile(r"'fortran_order'\s*:\s*(True|False)"),
    re.compile(r"'shape'\s*:\s*\(([\d,\s]*)\)"),
)
"""Matches the header's dtype, order and shape, a literal that is never evaluated."""


def write(file: BinaryIO, stored: Stored) -> None:
    """Write one array."""
    file.write(_head(stored))
    file.write(stored.data)


def _head(stored: Stored) -> bytes:
    """Return what stands in a npy file before the numbers; 64 bytes divide it."""
    described = {
        "descr": stored.dtype.str,
        "fortran_order": False,
        "shape": stored.shape,
    }
    text = repr(described)
    text += " " * (-(len(MAGIC) + 4 + len(text) + 1) % 64) + "\n"
    return MAGIC + bytes([1, 0]) + len(text).to_bytes(2, "little") + text.encode()


def read(source: Source, key: str | None = None) -> Stored:
    """Return the array of a file, or of the entry `key` of an archive.

    Raises:
        DataError: it is no npy file, or one of something else than numbers.
    """
    said = "is" if key is None else f"has {key!r}, which is"
    start = source.read(0, 12)
    wide = 4 if start[6:7] in (b"\2", b"\3") else 2
    if not start.startswith(MAGIC) or start[6:7] not in (b"\1", b"\2", b"\3"):
        refuse(source.name, f"{said} no npy file")
    length = int.from_bytes(start[8 : 8 + wide], "little")
    begin = 8 + wide + length
    if length > LONGEST_HEAD or begin > source.size:
        refuse(
            source.name,
            f"{said} cut: its head ends at byte {begin}, and there are {source.size}",
        )
    head = source.read(8 + wide, begin)
    descr, is_fortran, shape = _described(source.name, said, head)
    dtype = KINDS.get(descr[1:])
    if descr == "|O":
        refuse(
            source.name,
            f"{said} an array of Python objects; they are a pickle, which can run any "
            "code when it is read, and never is. Save arrays of numbers",
        )
    if dtype is None or descr[0] not in "<>|=":
        refuse(
            source.name,
            f"{said} of NumPy's dtype {descr!r}, which tensorweb has not; save "
            "numbers or bools of up to 64 bits",
        )
    count = source.size - begin
    if count != size(shape) * dtype.itemsize:
        refuse(
            source.name,
            f"{said} of shape {shape} in {dtype}; from byte {begin} on it has {count} "
            f"bytes, and it needs {size(shape) * dtype.itemsize}",
        )
    if descr[0] != ">" and not is_fortran:
        return Stored(shape, dtype, source.host(begin, source.size))
    body = source.read(begin)
    if descr[0] == ">":
        body = _swapped(body, dtype.part.itemsize)
    return Stored(
        shape, dtype, HostData(_in_rows(body, shape, dtype) if is_fortran else body)
    )


def source_at(file: File) -> Source:
    """Return the bytes of a file; of arrays in a row in an open one the next array's.

    The file stands behind that array then.

    Raises:
        DataError: as `source_of`.
    """
    if isinstance(file, str | os.PathLike):
        return source_of(file)
    start: object = file.read(12)
    if not isinstance(start, bytes) or not start.startswith(MAGIC) or len(start) < 12:
        return source_of(file, start)
    wide = 4 if start[6:7] in (b"\2", b"\3") else 2
    length = int.from_bytes(start[8 : 8 + wide], "little")
    if length > LONGEST_HEAD:
        return source_of(file, start)
    name = str(getattr(file, "name", "the file"))
    start += file.read(8 + wide + length - len(start))
    descr, _, shape = _described(name, "is", start[8 + wide :])
    dtype = KINDS.get(descr[1:])
    if dtype is None:
        return source_of(file, start)
    return Source(name, start + file.read(size(shape) * dtype.itemsize))


def _described(name: str, said: str, text: bytes) -> tuple[str, bool, Shape]:
    """Return what the head of a npy file says: dtype, order, shape.

    Raises:
        DataError: it says something else.
    """
    head = text.decode("latin-1")
    descr, order, shape = (pattern.search(head) for pattern in HEAD)
    if descr is None or order is None or shape is None:
        refuse(name, f"{said} a npy file whose head describes no array of numbers")
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


START_OF_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""A date for every entry, so that equal tensors are equal files."""


def write_archive(
    file: BinaryIO, tensors: Mapping[str, Stored], *, deflate: bool = False
) -> None:
    """Write tensors by name, as `numpy.savez` does, or `numpy.savez_compressed`."""
    how = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, stored in tensors.items():
            entry = zipfile.ZipInfo(f"{name}.npy", EARLIEST)
            entry.compress_type = how
            with archive.open(entry, "w", force_zip64=True) as part:
                write(part, stored)  # type: ignore[arg-type]  # it takes bytes


def read_archive(source: Source) -> dict[str, Stored]:
    """Return the tensors of an archive, stored or deflated.

    Raises:
        DataError: it is damaged, or an entry is no array of numbers.
    """
    name = source.name
    tensors: dict[str, Stored] = {}
    try:
        with zipfile.ZipFile(BytesIO(source.read())) as archive:
            entries = archive.infolist()
            if any(entry.filename.endswith("/data.pkl") for entry in entries):
                refuse(
                    name,
                    "was written by torch.save and holds Python objects, which may "
                    "run any program. With PyTorch, write its tensors with "
                    "safetensors.torch.save_file(model.state_dict(), 'm.safetensors')",
                )
            for entry in entries:
                key = entry.filename.removesuffix(".npy")
                if key in tensors:
                    refuse(name, f"has {key!r} twice")
                tensors[key] = read(Source(name, archive.read(entry)), key)
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
        *(NotImplementedError, RuntimeError, ValueError),
    ) as error:
        if str(error).startswith("load: "):
            raise
        refuse(name, f"is a damaged npz file ({error})")
    return tensors
