"""The backend of every device that runs kernels: uploads, flushes and reads.

What differs between these devices is in a `Machine`, their `Pipelines` and their
driver, which the module of each device hands over.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tensorweb.backends.explain import explain_plan
from tensorweb.backends.machine import Machine
from tensorweb.backends.pipelines import Pipelines
from tensorweb.backends.planning import (
    Plan,
    describe,
    filled,
    make_plan,
)
from tensorweb.backends.pool import Buffer, Pool
from tensorweb.backends.reading import (
    Region,
    device_bytes,
    host_bytes,
    read_together,
    split,
)
from tensorweb.backends.replay import Replay
from tensorweb.backends.reporting import Report
from tensorweb.backends.reuse import hanging, wanted_again
from tensorweb.devices import forget
from tensorweb.drivers import Driver
from tensorweb.errors import DeviceLostError, DeviceMemoryError
from tensorweb.events import is_heard, lines_of
from tensorweb.graph.node import WANTED, Node
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.pending import pending
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import Placeholder, value_wanted
from tensorweb.nodes.movement import copy
from tensorweb.schedule.linear import LinearGraph, linearize, pieces

if TYPE_CHECKING:
    from tensorweb.protocol import Preparer, Recorder, Tuner

PLANS_KEPT = 1024

LARGEST_GRAPH = 4096
"""Nodes that one flush computes; a larger graph takes several, so that the memory and
the time of a plan are bounded."""


class KernelBackend:
    """One open device; see `tensorweb.protocol.Backend`.

    It records itself, and does nothing else besides.

    Attributes:
        machine: what the device is.
        driver, pool: the device and its buffers.
        dtypes: names of those that it stores.
    """

    def __init__(
        self,
        driver: Driver,
        machine: Machine,
        pipelines: Pipelines,
        dtypes: frozenset[str],
    ) -> None:
        """Take over an open driver."""
        self.driver = driver
        self.machine = machine
        self.pool = Pool(driver, machine)
        self.dtypes = dtypes
        self._pipelines = pipelines
        self._plans: OrderedDict[Hashable, Plan] = OrderedDict()
        pending(machine.device)

    @property
    def description(self) -> str:
        """Who computes, for people; a driver may find that it has fewer threads."""
        return self.driver.description

    @property
    def recorder(self) -> Recorder:
        """Plans can be recorded."""
        return self

    @property
    def tuner(self) -> Tuner | None:
        """None, unless the device has variants of kernels to choose from."""
        return None

    @property
    def preparer(self) -> Preparer | None:
        """None, unless the device compiles in the background."""
        return None

    def realize(self, nodes: Sequence[Node], *, read: bool = False) -> None:
        """Compute nodes' bases in one flush; returns before the device is done.

        A view of a constant stays what it is: it needs no storage to be read from.
        Before they are read, all is computed that hangs on the same values: a loop that
        reads a loss leaves no history of its other state behind.
        """
        bases: dict[Node, None] = {}
        for node in nodes:
            owner = node.owner
            if owner is None:
                if node.storage is None:
                    bases[node] = None
            elif owner.storage is None and owner.op is not CONSTANT:
                bases[owner] = None
        if bases:
            graph = linearize(list(bases))
            more = hanging(graph) if read else []
            try:
                if more and self._has_room_for([*bases, *more]):
                    return
                self._compute(graph)
            except (DeviceLostError, DeviceMemoryError) as error:
                raise self._named(error, nodes[0]) from error

    def _has_room_for(self, nodes: Sequence[Node]) -> bool:
        """Compute nodes, unless that takes more memory than there is."""
        try:
            self._compute(linearize(nodes))
        except DeviceMemoryError:
            return False
        return True

    def _compute(self, graph: LinearGraph) -> None:
        """Compute a graph, a large one in several flushes."""
        if len(graph.nodes) <= LARGEST_GRAPH:
            self._flush(graph)
            return
        for piece in pieces(graph, LARGEST_GRAPH):
            self._flush(linearize(piece))

    def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Compute nodes and return their row-major bytes, waiting for the device."""
        regions = self._regions(nodes)
        together = read_together(self.pool, regions)
        with self._failures(nodes[0]):
            if together is not None:
                buffer, total = together
                return split(
                    nodes, self.driver.read(buffer.handle, 0, total), self.machine
                )
            return [
                host_bytes(
                    node,
                    self.driver.read(buffer.handle, offset, size) if size else b"",
                    self.machine,
                )
                for node, (buffer, offset, size) in zip(nodes, regions, strict=True)
            ]

    async def read_async(self, nodes: Sequence[Node]) -> list[bytes]:
        """Do the same by awaiting."""
        regions = self._regions(nodes)
        together = read_together(self.pool, regions)
        with self._failures(nodes[0]):
            if together is not None:
                buffer, total = together
                data = await self.driver.read_async(buffer.handle, 0, total)
                return split(nodes, data, self.machine)
            parts = []
            for node, (buffer, offset, size) in zip(nodes, regions, strict=True):
                data = (
                    await self.driver.read_async(buffer.handle, offset, size)
                    if size
                    else b""
                )
                parts.append(host_bytes(node, data, self.machine))
            return parts

    def explain(self, nodes: Sequence[Node]) -> str:
        """Say what computing the nodes would run, without running it."""
        bases = [node.base for node in nodes if node.base.storage is None]
        graph = linearize(list(dict.fromkeys(bases)))
        plan = self._plan(graph) if bases else Plan()
        return explain_plan(graph, plan, self.machine)

    def synchronize(self) -> None:
        """Wait until the device is done and raise what went wrong meanwhile."""
        with self._failures(None):
            self.driver.check()

    @contextmanager
    def _failures(self, node: Node | None) -> Iterator[None]:
        """Name the tensor in what the device reports, and leave the next use a way."""
        try:
            yield
        except (DeviceLostError, DeviceMemoryError) as error:
            if node is None:
                self._make_room(error)
                raise
            raise self._named(error, node) from error

    def _make_room(self, error: Exception) -> None:
        """After a failure let the next use open a new device, or find free memory."""
        if isinstance(error, DeviceLostError):
            forget(self.machine.device)
        else:
            self.pool.trim()

    def _named(self, error: Exception, node: Node) -> Exception:
        """Return an error of the device that says which tensor was to be computed."""
        self._make_room(error)
        kind = type(error)
        if kind is DeviceLostError and describe(node) in str(error):
            return error
        return kind(f"computing {describe(node)}: {error}")

    def record(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> Replay:
        """Return how to compute outputs again for other values of the inputs."""
        graph = linearize(list(dict.fromkeys(node.base for node in outputs)))
        with self._failures(outputs[0]):
            plan = make_plan(graph, self.pool, self._pipelines)
            return Replay(self, graph, plan, inputs, outputs)

    def abandon(self) -> bool:
        """Never call the device again; a forked process has none of its threads."""
        self.driver.abandon()
        return True

    def _plan(self, graph: LinearGraph) -> Plan:
        plan = self._plans.get(graph.key)
        if plan is None:
            plan = self._plans[graph.key] = make_plan(graph, self.pool, self._pipelines)
            if len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
        else:
            self._plans.move_to_end(graph.key)
        return plan

    def _flush(self, graph: LinearGraph) -> None:
        """Compute a graph; what an earlier one had to compute as well is stored."""
        wanted = wanted_again(graph)
        if wanted:
            graph = graph.extended(wanted)
            for number in wanted:
                graph.nodes[number].mark = WANTED
        self._run(graph, self._plan(graph))

    def _run(self, graph: LinearGraph, plan: Plan) -> None:
        """Make the storages, submit the tapes and settle the results."""
        nodes = graph.nodes
        pool, buffer_of = self.pool, self.buffer_of
        buffers = [
            storage
            if type(storage := nodes[number].storage) is Buffer
            and storage.home.pool is pool
            else buffer_of(nodes[number])
            for number in plan.reads
        ]

        def name(number: int) -> str:
            is_result = number < len(nodes)
            return (
                describe(nodes[number]) if is_result else "a kernel's scratch storage"
            )

        handles = [buffer.handle for buffer in buffers]
        report = Report(self.driver) if is_heard() else None
        submit = self.driver.submit if report is None else report.submit
        with pool.lock:
            taken, taken_handles = pool.take_all(plan.taken, name)
            buffers += taken
            handles += taken_handles
            for tape in plan.tapes:
                submit(filled(tape, handles, nodes))
        if report is not None:
            report.tell(plan.records, plan.described(graph), lines_of(nodes))
        for number, slot in plan.settled:
            nodes[number].settle(buffers[slot])
        for number in plan.inlined:
            nodes[number].mark = WANTED
        self.driver.pace()

    def buffer_of(self, node: Node) -> Buffer:
        """Return the device buffer of a computed base, uploading host bytes.

        Raises:
            DeviceLostError: the storage lay on a device that is gone.
        """
        storage = node.storage
        if type(storage) is Buffer and storage.home.pool is self.pool:
            return storage
        if isinstance(storage, HostData):
            data = device_bytes(node, storage, self.machine)
            buffer = self.pool.take(len(data), describe, node)
            if len(data):
                self.driver.write_buffer(buffer.handle, 0, data)
            node.storage = buffer
            return buffer
        if isinstance(storage, Placeholder):
            raise value_wanted(node)
        assert isinstance(storage, Buffer), "internal: a foreign storage"
        raise DeviceLostError(
            f"{describe(node)} lay on device {self.machine.device!r}, which was lost; "
            "make it again."
        )

    def _regions(self, nodes: Sequence[Node]) -> list[Region]:
        """Return buffer, offset and bytes of each node, computed and contiguous."""
        machine = self.machine
        sources = []
        for node in nodes:
            start = node.view.offset * machine.itemsize(node.dtype)
            is_plain = node.view.is_contiguous and start % machine.alignment == 0
            sources.append(node if is_plain or not node.size else copy(node))
        self.realize(sources, read=True)
        regions = []
        for node in sources:
            buffer = self.buffer_of(node.base)
            offset = node.view.offset * machine.itemsize(node.dtype) if node.size else 0
            regions.append((buffer, offset, machine.storage_bytes(node)))
        return regions
