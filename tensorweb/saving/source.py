"""What a file holds: ranges of its bytes, and tensors on the host without a device."""

from __future__ import annotations

import os
import threading
from array import array
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, TypeAlias

from tensorweb import dtypes
from tensorweb.devices import NARROWER, stores
from tensorweb.dtypes import DType
from tensorweb.errors import DataError
from tensorweb.functions import asarray, zeros
from tensorweb.graph.node import complex_of, leaf
from tensorweb.graph.storage import HostData, LazyData
from tensorweb.hostdata import unpack
from tensorweb.shapes import Shape, size
from tensorweb.tensor import Tensor

File: TypeAlias = "str | os.PathLike[str] | BinaryIO"

LAZY_FROM = 1 << 20
"""Bytes from which a tensor of a file on disk is read when it is needed."""


class Source:
    """The bytes of a file that is in memory."""

    def __init__(self, name: str, data: bytes) -> None:
        """Take the whole file, and its name for messages."""
        self.name = name
        self.size = len(data)
        self._data = data

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes from `start` up to `stop`, or up to the end."""
        return self._data[start:stop]

    def host(self, start: int, stop: int) -> HostData:
        """Return a range as the storage of a tensor."""
        return HostData(self.read(start, stop))


class DiskSource(Source):
    """The bytes of a file on disk, which stays open as long as somebody needs it."""

    def __init__(self, name: str, path: str | os.PathLike[str]) -> None:
        """Open the file.

        Raises:
            OSError: it cannot be opened.
        """
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # see __del__
        self._lock = threading.Lock()
        self.name = name
        self.size, self._changed = self._state()

    def __del__(self) -> None:
        """Close the file."""
        if hasattr(self, "_file"):
            self._file.close()

    def _state(self) -> tuple[int, int]:
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes from `start` up to `stop`, or up to the end.

        Raises:
            DataError: the file is not as it was when it was opened.
        """
        stop = self.size if stop is None else min(stop, self.size)
        data = bytearray(max(stop - start, 0))
        view = memoryview(data)
        count = 0
        with self._lock:
            if self._state() != (self.size, self._changed):
                raise DataError(
                    f"load: {self.name!r} has changed since it was loaded, and not all "
                    "of it had been read; load it again."
                )
            self._file.seek(start)
            while count < len(data) and (got := self._file.readinto(view[count:])):
                count += got
        view.release()
        return bytes(data[:count]) if count < len(data) else bytes(data)

    def host(self, start: int, stop: int) -> HostData:
        """Return a range as the storage of a tensor; a long one is read later."""
        # Windows replaces no file that is open.
        if stop - start < LAZY_FROM or os.name == "nt":
            return super().host(start, stop)
        return LazyData(stop - start, lambda a, b: self.read(start + a, start + b))


def source_of(file: File, start: Any = b"") -> Source:
    """Return the bytes of a path, or of a file that is open for reading bytes.

    `start` holds the bytes that were already read from the file.

    Raises:
        DataError: the file is open for reading text.
        OSError: it cannot be read.
    """
    if isinstance(file, str | os.PathLike):
        return DiskSource(os.fspath(file), file)
    name = str(getattr(file, "name", "the file"))
    data = start + file.read() if start else file.read()
    if not isinstance(data, bytes):
        raise DataError(
            f"load: {name!r} gives {type(data).__name__}; open it for reading "
            'bytes, with open(path, "rb").'
        )
    return Source(name, data)


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor's numbers in row-major order, little-endian.

    Attributes:
        shape: may be that of a file; `host` has as many bytes as it and `dtype` say.
        dtype: of the numbers.
        host: the bytes, perhaps not read yet.
    """

    shape: Shape
    dtype: DType
    host: HostData

    @property
    def data(self) -> bytes | memoryview:
        """Return all bytes."""
        return self.host.data

    def tensor(self, device: str) -> Tensor:
        """Return the tensor on a device.

        Where the device lacks float16 it becomes float32, 64 bits 32 as in `asarray`.
        """
        if self.dtype.kind == "complex":
            pairs = Stored((*self.shape, 2), self.dtype.part, self.host)
            return Tensor(complex_of(pairs.tensor(device).node))
        if stores(self.dtype, device):
            return Tensor(leaf(self.host, self.shape, self.dtype, device))
        wider = dtypes.float32 if self.dtype is dtypes.float16 else None
        if not size(self.shape):
            dtype = wider or NARROWER[self.dtype]
            return zeros(self.shape, dtype=dtype, device=device)
        result = asarray(self.numbers(), dtype=wider, device=device)
        return result.reshape(self.shape)

    def numbers(self) -> Any:
        """Return its elements in row-major order, as a buffer of numbers."""
        if self.dtype.wide is not self.dtype:
            found: Any = unpack(bytes(self.data), self.dtype, (size(self.shape),))
            return array("f", found)
        letter: Any = self.dtype.typecode
        return memoryview(self.data).cast("B").cast(letter)


def refuse(name: str, said: str) -> NoReturn:
    """Raise for a file that is not what it should be.

    Raises:
        DataError: always.
    """
    raise DataError(f"load: {name!r} {said}.")
