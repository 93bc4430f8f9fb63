"""The compiled kernels of one device, found by their source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from tensorweb.backends import policy
from tensorweb.codegen.program import Launch, Program
from tensorweb.schedule.kernel import Kernel

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
