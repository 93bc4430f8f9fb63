"""A device that is nowhere else: NumPy under another name, with abilities on demand.

It is what a new device brings, one module for its row in `tensorweb/devices.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.backends.numpy_backend import CpuBackend
from tensorweb.devices import Device
from tensorweb.graph.node import Node
from tensorweb.protocol import Preparer, Recorder, Replay
from tensorweb.waits import Steps

ROW = Device(
    "pretend",
    "pretend_backend",
    frozenset({"bool", "int32", "float32", "float16"}),
    "NumPy under another name",
    varying=frozenset({"float16"}),
)


class PretendBackend(CpuBackend):
    """NumPy that counts how often it is asked to finish, and has no float16."""

    recorder: Recorder | None = None  # type: ignore[assignment]  # the cpu has none
    preparer: Preparer | None = None  # type: ignore[assignment]  # the cpu has none

    def __init__(self) -> None:
        super().__init__()
        self.description = "pretended"
        self.dtypes = ROW.dtypes - ROW.varying
        self.synchronized = 0

    def synchronize(self) -> None:
        self.synchronized += 1


class PretendPreparer:
    """Remembers what it was asked to compile; three kernels wait until it finishes."""

    is_worthwhile = True

    def __init__(self) -> None:
        self.prepared: list[Node] = []
        self.finished = 0

    def prepare(self, nodes: Sequence[Node]) -> int:
        self.prepared += nodes
        return 3

    def finish_preparing(self) -> Steps[None]:
        yield from ()
        self.finished += 1


class PretendRecorder:
    """Makes recordings that answer with their first argument."""

    def __init__(self) -> None:
        self.recorded: list[tuple[Sequence[Node], Sequence[Node]]] = []

    def record(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> Replay:
        self.recorded.append((inputs, outputs))
        return FirstArgument()


class FirstArgument:
    """A recording; see `tensorweb.protocol.Replay`."""

    is_alive = True

    def __call__(self, inputs: Sequence[Node]) -> list[Node]:
        return [inputs[0]]


def open_backend(name: str) -> Steps[PretendBackend]:
    yield from ()
    return PretendBackend()
