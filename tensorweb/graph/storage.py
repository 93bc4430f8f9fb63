"""Storages: the bytes of computed values, on the host or on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator

PIECE = 16 << 20
"""Bytes per read when a file is uploaded to a device."""


class Storage:
    """Bytes of a computed value; backends and `HostData` subclass it."""

    __slots__ = ("__weakref__",)


class HostData(Storage):
    """Row-major bytes on the host, before a device needs them."""

    __slots__ = ("data",)

    def __init__(self, data: bytes | memoryview) -> None:
        """Store the bytes, which must not change afterwards."""
        self.data = data

    @property
    def nbytes(self) -> int:
        """Return the number of bytes."""
        return len(self.data)

    def part(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` up to `stop`."""
        if start == 0 and stop == len(self.data):
            return bytes(self.data)
        return bytes(memoryview(self.data)[start:stop])

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield all bytes in order; every piece but the last is a multiple of 4."""
        yield self.data


class LazyData(HostData):
    """Bytes that are read when they are needed, such as those of a large file."""

    __slots__ = ("_found", "_read", "_size")

    def __init__(self, size: int, read: Callable[[int, int], bytes]) -> None:
        """Store `read(start, stop)`, which returns a range of the `size` bytes."""
        self._size = size
        self._read = read
        self._found: bytes | None = None

    @property
    def data(self) -> bytes:  # type: ignore[override]  # nobody assigns it
        """Return all bytes and cache them."""
        if self._found is None:
            self._found = self._read(0, self._size)
        return self._found

    @property
    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._size

    def part(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` up to `stop`, reading only these."""
        if self._found is not None:
            return self._found[start:stop]
        return self._read(start, stop)

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield all bytes in order, `PIECE` at a time."""
        for start in range(0, self._size, PIECE):
            yield self.part(start, min(start + PIECE, self._size))
