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

WIDER = {"float": dtypes.float32, "int": dtypes.int32, "uint": dtypes.uint32}
"""What numbers of fewer bits become, exactly, on a device that has not theirs."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor's numbers in row-major order, little-endian.

    Attributes:
        shape: may be that of a file; `data` has as many bytes as it and `dtype` say.
        dtype: of the numbers.
        data: the bytes.
    """

    shape: Shape
    dtype: DType
    data: bytes

    def tensor(self, device: str) -> Tensor:
        """Return the tensor on a device.

        Where the device lacks the dtype, fewer bits become 32, and 64 as in `asarray`.
        """
        if self.dtype.kind == "complex":
            pairs = Stored((*self.shape, 2), self.dtype.part, self.data)
            return Tensor(complex_of(pairs.tensor(device).node))
        if stores(self.dtype, device):
            return Tensor(leaf(HostData(self.data), self.shape, self.dtype, device))
        wider = WIDER[self.dtype.kind] if self.dtype.bits < 32 else None
        if not size(self.shape):
            dtype = wider or NARROWER[self.dtype]
            return zeros(self.shape, dtype=dtype, device=device)
        numbers: Any
        if self.dtype is dtypes.float16:
            count = size(self.shape)
            numbers = array("f", struct.unpack(f"<{count}e", self.data))
        else:
            letter: Any = self.dtype.typecode
            numbers = memoryview(self.data).cast(letter)
        return asarray(numbers, dtype=wider, device=device).reshape(self.shape)


def refuse(name: str, said: str) -> NoReturn:
    """Raise for a file that is not what it should be.

    Raises:
        DataError: always.
    """
    raise DataError(f"load: {name!r} {said}.")
