"""Traits of a device that the kernel backend depends on, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from tensorweb.dtypes import DType
from tensorweb.graph.node import Node


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """Sizes, limits and names of a device that runs kernels.

    Attributes:
        device: The name of the device, a key of the table in `tensorweb/devices.py`.
        itemsizes: Bytes of one element in a buffer of the device, by name of dtype.
        most_inputs: Maximum number of storages that a kernel reads.
        alignment: A kernel reads a view in place if the view's offset in bytes is a
            multiple of this number, and a copy of the view otherwise.
        capacity: Maximum number of bytes in all buffers together.
        extension: Extension of files with kernels in its language, such as `wgsl`.
        grid_words: Describes the size of a launch for `explain`.
        readable: Returns an object whose `str` is the kernel's readable source, made on
            demand. Objects of equal sources are equal.
        rolls: Whether repeated statements of a kernel become a loop in its source.
    """

    device: str
    itemsizes: Mapping[str, int]
    most_inputs: int
    alignment: int
    capacity: int
    extension: str
    grid_words: Callable[[tuple[int, int]], str]
    readable: Callable[[str | bytes], Hashable]
    rolls: bool = False

    def itemsize(self, dtype: DType) -> int:
        """Return the bytes of one element in a buffer."""
        return self.itemsizes[dtype.name]

    def storage_bytes(self, node: Node) -> int:
        """Return the bytes of a node's buffer, a multiple of 4."""
        return -(-node.size * self.itemsizes[node.dtype.name] // 4) * 4
