"""Stored tensors: what a file holds of one, on the host and without a device."""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from typing import Any, NoReturn

from tensorweb import dtypes
from tensorweb.devices import NARROWER, stores
from tensorweb.dtypes import DType
from tensorweb.errors import DataError
from tensorweb.functions import asarray, zeros
from tensorweb.graph.node import complex_of, leaf
from tensorweb.graph.storage import HostData
from tensorweb.shapes import Shape, size
from tensorweb.tensor import Tensor


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
        found = asarray(self.numbers(), dtype=wider, device=device)
        return found.reshape(self.shape)

    def numbers(self) -> Any:
        """Return its elements in row-major order, as a buffer of numbers."""
        if self.dtype is dtypes.float16:
            return array("f", struct.unpack(f"<{size(self.shape)}e", self.data))
        letter: Any = self.dtype.typecode
        return memoryview(self.data).cast("B").cast(letter)


def refuse(name: str, said: str) -> NoReturn:
    """Raise for a file that is not what it should be.

    Raises:
        DataError: always.
    """
    raise DataError(f"load: {name!r} {said}.")
