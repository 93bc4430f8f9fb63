"""The compiled kernels of one device, found by their source, and its traits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tensorweb.backends import policy
from tensorweb.codegen.program import Launch, Program
from tensorweb.dtypes import DType
from tensorweb.graph.node import Node
from tensorweb.schedule.kernel import Kernel


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


T = TypeVar("T", bound=Hashable)

PipelineRequest = tuple[Launch, str]
"""A launch and its kernel in words."""


class Programs:
    """The programs of kernels: layers of a network have the same ones."""

    def __init__(self) -> None:
        """Know none."""
        self._known: OrderedDict[Hashable, Program] = OrderedDict()

    def get(
        self, kernel: Kernel, target: T, write: Callable[[Kernel, T], Program]
    ) -> Program:
        """Return the program of a kernel on a class of device, written once."""
        key = kernel, target
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = write(kernel, target)
            if len(self._known) > policy.PROGRAMS_CACHED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return found


class Pipelines(ABC):
    """Pipelines of one device by their source; each device has a class of its own."""

    def __init__(self) -> None:
        """Begin without pipelines."""
        self._handles: dict[str | bytes, int] = {}
        self._programs = Programs()

    @abstractmethod
    def program(self, kernel: Kernel) -> Program:
        """Return the launches of a kernel on this device."""

    @abstractmethod
    def create(self, launch: Launch, words: str) -> int:
        """Return a new pipeline for a launch.

        Raises:
            ShaderError: the device's compiler refused it.
        """

    def compile(self, requests: Iterable[PipelineRequest]) -> None:  # noqa: B027  # a choice
        """Compile what a plan needs, where that is quicker than one after another."""

    def forget(self, source: str | bytes) -> None:
        """Drop the pipeline of a source that the compiler refused."""
        self._handles.pop(source, None)

    def handle(self, launch: Launch, words: str) -> int:
        """Return the pipeline of a launch, compiled at once when it is new.

        Raises:
            ShaderError: the device's compiler refused it.
        """
        found = self._handles.get(launch.source)
        if found is None:
            found = self._handles[launch.source] = self.create(launch, words)
        return found
