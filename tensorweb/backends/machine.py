"""What the kernel backend must know of the device that it serves, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from tensorweb.dtypes import DType
from tensorweb.graph.node import Node


@dataclass(frozen=True, slots=True)
class Machine:
    """A device that runs kernels.

    Attributes:
        device: its name, an entry of `tensorweb/devices.py`.
        itemsizes: bytes of one element in its storages, by name of dtype.
        most_inputs: how many storages a kernel may read, room for its results aside.
        alignment: of the bytes that a read begins at; what begins elsewhere is copied.
        capacity: bytes that its storages can take together at most.
        extension: of files with kernels in its language, `wgsl` for example.
        grid_words: says for people how a launch's work is divided.
        readable: what a launch compiled, so that `str` of it is a text for people,
            made when somebody looks. Equal for equal sources.
        rolls: whether steps of a kernel that repeat become a loop of its text.
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
        """Return the bytes of one element."""
        return self.itemsizes[dtype.name]

    def storage_bytes(self, node: Node) -> int:
        """Return the bytes that a node's elements take, whole words."""
        return -(-node.size * self.itemsizes[node.dtype.name] // 4) * 4
