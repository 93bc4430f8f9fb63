"""The backend of every device that runs kernels: uploads, flushes, reads, explanations.

`DeviceTraits`, `Pipelines` and a driver describe how these devices differ; the module
of each device passes them.
"""

from __future__ import annotations

import gc
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from tensorweb.backends import policy
from tensorweb.backends.inspecting import Inspector
from tensorweb.backends.layouts import Layout
from tensorweb.backends.liveness import (
    call_invariants,
    is_followed,
    needed_again,
    pending_dependents,
    referenced_values,
)
from tensorweb.backends.pipelines import DeviceTraits, Pipelines
from tensorweb.backends.planning import Plan, Plans, describe, make_plan
from tensorweb.backends.pool import Buffer, Pool
from tensorweb.backends.replay import Replay
from tensorweb.backends.reporting import FlushReport, is_counting
from tensorweb.backends.tapes import filled
from tensorweb.devices import forget
from tensorweb.drivers import Driver
from tensorweb.drivers.memory import remember_loss
from tensorweb.drivers.protocol import COPY
from tensorweb.errors import DeviceLostError, DeviceMemoryError, counted
from tensorweb.events import (
    KernelRecord,
    clock,
    listeners,
    locations_of,
    report_read,
    splits,
)
from tensorweb.frames import Location
from tensorweb.graph.attributes import Custom
from tensorweb.graph.autograd import settle
from tensorweb.graph.node import WANTED, Node, number_of_constant, pending
from tensorweb.graph.nonfinite import search
from tensorweb.graph.op import CONSTANT, LEAF
from tensorweb.graph.storage import HostData, Storage
from tensorweb.graph.tracing import Placeholder, value_wanted
from tensorweb.memory_log import memory_log
from tensorweb.nodes.movement import copy
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.linear import LinearGraph, linearize, pieces
from tensorweb.waits import Steps

if TYPE_CHECKING:
    from tensorweb.protocol import (
        BufferSharer,
        Preparer,
        Recorder,
        RowTransformer,
        Tuner,
    )


Region = tuple[Buffer, int, int]
"""A buffer, an offset and a number of bytes."""


def readable(node: Node, traits: DeviceTraits) -> Node:
    """Return a node, or a copy where its elements do not lie in one piece."""
    start = node.view.offset * traits.itemsize(node.dtype)
    is_plain = node.view.is_contiguous and start % traits.alignment == 0
    return node if is_plain or not node.size else copy(node)


def region(node: Node, buffer: Buffer, traits: DeviceTraits) -> Region:
    """Return where a readable node lies in the buffer of its base."""
    offset = node.view.offset * traits.itemsize(node.dtype) if node.size else 0
    return buffer, offset, traits.storage_bytes(node)


def device_pieces(
    node: Node, storage: HostData, traits: DeviceTraits
) -> Iterator[bytes | memoryview]:
    """Yield host bytes as the device stores them: padded to 4, bool at times as u32.

    No other dtype that a device stores is wider there than on the host.
    """
    is_wider = traits.itemsize(node.dtype) != node.dtype.itemsize
    for piece in storage.pieces():
        if is_wider:
            yield array("I", list(bytes(piece))).tobytes()
        else:
            missing = -len(piece) % 4
            yield bytes(piece) + bytes(missing) if missing else piece


def host_bytes(node: Node, data: bytes, traits: DeviceTraits) -> bytes:
    """Return device bytes as the host stores them."""
    if traits.itemsize(node.dtype) != node.dtype.itemsize:
        return bytes(memoryview(data).cast("I").tolist())
    return data[: node.size * node.dtype.itemsize]


def read_together(pool: Pool, regions: Sequence[Region]) -> tuple[Buffer, int] | None:
    """Copy several regions into one buffer, so that one read fetches all.

    Returns the buffer and its bytes; None where each is better read alone.
    """
    total = sum(size for _, _, size in regions)
    if len(regions) < 2 or total > policy.READ_TOGETHER or total == 0:
        return None
    target = pool.take(total, str, "a buffer for reading several tensors")
    words = [0]
    at = 0
    for buffer, offset, size in regions:
        if size:
            words += [COPY, buffer.handle, offset, target.handle, at, size]
        at += size
    pool.driver.submit(array("i", words))
    return target, total


def split(nodes: Sequence[Node], data: bytes, traits: DeviceTraits) -> list[bytes]:
    """Return the parts of bytes that were read together."""
    parts, at = [], 0
    for node in nodes:
        size = traits.storage_bytes(node)
        parts.append(host_bytes(node, data[at : at + size], traits))
        at += size
    return parts


def explain_plan(graph: LinearGraph, plan: Plan, traits: DeviceTraits) -> str:
    """Return graph, kernels and their sources of a plan as text."""
    if not plan.commands:
        return "Nothing to run: the value is already there.\n"
    lines = ["Graph\n"]
    for number, node in enumerate(graph.nodes):
        shape = " x ".join(str(n) for n in node.shape) or "scalar"
        state = "  (stored)" if node.base.storage is not None else ""
        call = _call(node, graph.numbers)
        lines.append(f"  %{number} = {call}  {node.dtype} {shape}{state}\n")
    launches = [command for command in plan.commands if command.launch is not None]
    counts = (counted(len(launches), "launch"), counted(len(plan.tapes), "submit"))
    lines.append(f"\nKernels: {counts[0]}, {counts[1]}\n")
    for number, command in enumerate(launches):
        launch = command.launch
        assert launch is not None, "internal: filtered above"
        template = f"{launch.template}.{traits.extension}"
        note = f"{launch.note}, " if launch.note else ""
        lines.append(
            f"  {number + 1}. {command.words}  [{template}, {note}"
            f"{traits.grid_words(launch.grid)}, "
            f"{counted(len(launch.storages), 'storage')}]\n"
        )
    lines += _between(graph, plan.records(graph, traits))
    for number, command in enumerate(launches):
        assert command.launch is not None, "internal: filtered above"
        lines.append(f"\nKernel {number + 1}: {command.words}\n\n")
        lines.append(str(traits.readable(command.launch.source)))
    return "".join(lines)


def _between(graph: LinearGraph, records: Sequence[KernelRecord]) -> list[str]:
    """Return what kernels write for others, and why these are not one kernel."""
    lines = []
    for writer, reader, written, read in splits(records):
        is_node = written.storage < len(graph.nodes)
        value = f"%{written.storage}" if is_node else "scratch"
        lines.append(
            f"  {writer + 1} to {reader + 1}, {value}: {written.nbytes:,} bytes "
            f"written, {read.nbytes:,} read. {read.why}\n"
        )
    return ["\nBetween kernels\n", *lines] if lines else []


def _call(node: Node, numbers: Mapping[Node, int]) -> str:
    """Return an operation and the numbers of what it reads.

    A view of a stored tensor reads the storage: the views between have no numbers, so
    their movements are said one inside the other.
    """
    owner = node.owner
    if owner is not None and owner.storage is not None:
        text = f"%{numbers[owner]}"
        for name in reversed(_movements(node, owner)):
            text = f"{name}({text})"
        return text
    value = f" {number_of_constant(node)}" if node.op is CONSTANT else ""
    sources = ", ".join(f"%{numbers[source]}" for source in node.inputs)
    attrs = node.attrs
    name = attrs.name if isinstance(attrs, Custom) else node.op.name
    return f"{name}{value}" + (f"({sources})" if sources else "")


def _movements(node: Node, owner: Node) -> list[str]:
    """Return the names of the movements from a node down to the storage it looks at."""
    names = []
    while node is not owner:
        names.append("view" if node.op is LEAF else node.op.name)
        node = node.inputs[0]
    return names


GONE = Storage()
"""Marks a buffer that a flush in parts has freed."""


class KernelBackend:
    """One open device; see `tensorweb.protocol.Backend`.

    `recorder` is the backend itself; `tuner` and `preparer` are None.

    Attributes:
        traits: sizes and limits of the device.
        driver, pool: the device and its buffers.
        dtypes: names of dtypes that it stores.
    """

    row_transformer: RowTransformer | None = None
    sorts_short_rows = False
    factors_in_halves = True
    largest_triangle = sys.maxsize
    is_emulated = False

    def __init__(
        self,
        driver: Driver,
        traits: DeviceTraits,
        pipelines: Pipelines,
        dtypes: frozenset[str],
    ) -> None:
        """Take over an open driver."""
        self.driver = driver
        self.traits = traits
        self.pool = Pool(driver, traits)
        self.dtypes = dtypes
        self._pipelines = pipelines
        self._plans = Plans()
        self._inspector = Inspector(self)
        pending(traits.device)

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

    @property
    def sharer(self) -> BufferSharer | None:
        """None, unless other programs can use the device's buffers."""
        return None

    def realize(
        self,
        nodes: Sequence[Node],
        *,
        alive: bool = False,
        step: bool = False,
        read: bool = False,
    ) -> None:
        """Compute the bases of nodes in one flush; return before the device is done.

        Views of constants are not computed: they need no storage. A read also computes
        pending values that depend on the same values, so that a loop that reads a loss
        leaves no pending history of its other state. The same happens when a history
        gets too long; then all `alive` values are stored, unless only a backward pass
        needs them. At the end of a `step`, all referenced values are computed.
        """
        begun = clock()()
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
            alive = alive and not is_followed(graph)
            more: list[Node] = []
            if alive or step or read:
                more = pending_dependents(graph, everything=step)
            try:
                if more or alive:
                    del graph  # what it holds would seem to be needed afterwards
                    if self._computed_within_memory([*bases, *more], alive, begun):
                        return
                    graph = linearize(list(bases))
                self._compute(graph, begun)
            except (DeviceLostError, DeviceMemoryError) as error:
                raise self._named(error, nodes[0]) from error

    def _computed_within_memory(
        self, nodes: Sequence[Node], alive: bool, begun: float
    ) -> bool:
        """Compute nodes; return False if memory does not suffice.

        With `alive`, also store the referenced values that they depend on, if there
        are no more than a loop retains.
        """
        try:
            graph = linearize(nodes)
            held = referenced_values(graph) if alive else []
            if len(held) > policy.MOST_REFERENCED:
                return False
            self._compute(graph.extended(held) if held else graph, begun)
        except DeviceMemoryError:
            return False
        return True

    def _compute(self, graph: LinearGraph, begun: float) -> None:
        """Compute a graph, a large one in several flushes."""
        if len(graph.nodes) <= policy.LARGEST_GRAPH:
            self._flush(graph, begun)
            return
        for piece in pieces(graph, policy.LARGEST_GRAPH):
            self._flush(linearize(piece), begun)
            begun = clock()()

    def read_steps(self, nodes: Sequence[Node]) -> Steps[list[bytes]]:
        """Compute nodes, wait for the device and return their row-major bytes."""
        regions = self._regions(nodes)
        begun = clock()()
        found = yield from self._read_steps(nodes, regions)
        if begun:
            nbytes = sum(size for _, _, size in regions)
            report_read(self.traits.device, nbytes, begun)
        return found

    def _read_steps(
        self, nodes: Sequence[Node], regions: Sequence[Region]
    ) -> Steps[list[bytes]]:
        together = read_together(self.pool, regions)
        with self._failures(nodes[0]):
            if together is not None:
                buffer, total = together
                data = yield from self.driver.read_steps(buffer.handle, 0, total)
                return split(nodes, data, self.traits)
            parts = []
            for node, (buffer, offset, size) in zip(nodes, regions, strict=True):
                data = b""
                if size:
                    data = yield from self.driver.read_steps(
                        buffer.handle, offset, size
                    )
                parts.append(host_bytes(node, data, self.traits))
            return parts

    def explain(self, nodes: Sequence[Node]) -> str:
        """Say what computing the nodes would run, without running it."""
        bases = [node.base for node in nodes if node.base.storage is None]
        graph = linearize(list(dict.fromkeys(bases)))
        plan = self._plans.find(graph, self._make_plan) if bases else Plan()
        return explain_plan(graph, plan, self.traits)

    def planned(self, launches: Sequence[KernelRecord]) -> list[Planned]:
        """Return the kernels of a flush, empty if its plan is not cached any more.

        Args:
            launches: those of the flush that a listener heard of.
        """
        plan = self._plans.of(launches)
        return [] if plan is None else [planned for planned, *_ in plan.made]

    def synchronize(self) -> None:
        """Wait until the device is done and raise what went wrong meanwhile."""
        with self._failures(None):
            self.driver.check()

    @contextmanager
    def _failures(self, node: Node | None) -> Iterator[None]:
        """Name the tensor in errors that the device reports, and recover.

        An out-of-memory error that is reported late lowers the pool's budget.
        """
        try:
            yield
        except (DeviceLostError, DeviceMemoryError) as error:
            if isinstance(error, DeviceMemoryError):
                self.pool.lower(
                    self.pool.allocated - self.pool.allocated // policy.GROWTH
                )
            if node is None:
                self.make_room(error)
                raise
            raise self._named(error, node) from error

    def make_room(self, error: Exception) -> None:
        """Recover from a failure: forget a lost device, or release unused buffers."""
        if not isinstance(error, DeviceLostError):
            self.pool.trim()
        elif self.driver.is_lost:  # else a tensor lay on the device before this one
            device = self.traits.device
            remember_loss(device, self.pool.allocated, self.pool.budget)
            forget(device)

    def _named(self, error: Exception, node: Node) -> Exception:
        """Return a device error that names the tensor being computed."""
        self.make_room(error)
        kind = type(error)
        if kind is DeviceLostError and describe(node) in str(error):
            return error
        return kind(f"computing {describe(node)}: {error}")

    def record(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> Replay:
        """Return a replay, which computes the outputs for new values of the inputs."""
        bases = list(dict.fromkeys(node.base for node in outputs))
        graph = linearize(bases)
        try:
            fixed = call_invariants(graph, inputs)
            if fixed:
                self.realize(fixed)
                graph = linearize(bases)
            plan = make_plan(graph, self.pool, self._pipelines)
            return Replay(self, graph, plan, inputs, outputs)
        except (DeviceLostError, DeviceMemoryError) as error:
            raise self._named(error, outputs[0]) from error

    def abandon(self) -> bool:
        """Stop using the device; a forked process has none of its threads."""
        self.driver.abandon()
        return True

    def _make_plan(self, graph: LinearGraph, is_for_all: bool) -> Plan:
        return make_plan(graph, self.pool, self._pipelines, is_for_all)

    def _flush(self, graph: LinearGraph, begun: float) -> None:
        """Run one flush; also store values that an earlier flush computed."""
        recomputed = needed_again(graph)
        if recomputed:
            graph = graph.extended(recomputed)
            for index in recomputed:
                graph.nodes[index].mark = WANTED
        plan = self._plans.find(graph, self._make_plan)
        seeker = search()
        if seeker is None:
            self._run(graph, plan, begun)
        elif self.driver.can_block():
            run = partial(self._run, graph, plan, begun)
            self._inspector.inspect(seeker, graph, run)
        else:
            seeker.is_complete = False
            self._run(graph, plan, begun)

    def _run(self, graph: LinearGraph, plan: Plan, begun: float) -> None:
        """Make the storages, submit the tapes and settle the results."""
        nodes = graph.nodes
        pool, buffer_of = self.pool, self.buffer_of
        layout = plan.layout(graph)
        again = plan.computed_again(graph)
        read = [
            storage
            if type(storage := nodes[number].storage) is Buffer
            and storage.home.pool is pool
            else buffer_of(nodes[number])
            for number in plan.reads
        ]

        def name(number: int) -> str:
            scratch = "a kernel's scratch storage"
            return describe(nodes[number]) if number < len(nodes) else scratch

        buffers: list[Storage] = [*read]
        handles = [buffer.handle for buffer in read]
        report, submit = None, self.driver.submit
        locations: Sequence[Location | None] | None = None
        heard, counting = listeners(), plan.report
        if counting is not None and counting.heard_by is heard and counting.times:
            counting.times += 1
        elif heard:
            described, locations = plan.described(graph), locations_of(nodes)
            records = plan.records(graph, self.traits)
            report = FlushReport(records, described, locations, begun, False)
            plan.report = report if is_counting() else None
            submit = partial(report.submit, self.driver)
        log = memory_log()
        with pool.lock:
            layout, (taken, taken_handles) = self._take(graph, plan, layout, name)
            for part in layout.parts:
                if part is not layout.parts[0]:
                    if pool.leaving > pool.budget // policy.GROWTH:
                        pool.wait()
                    taken, taken_handles = pool.take_all(part.taken, name)
                if log is not None:
                    purpose = part.purpose or plan.purpose(
                        graph, layout, part, self.traits.device
                    )
                    if log.lists(pool, purpose):
                        if locations is None:
                            locations = locations_of(nodes)
                        log.add(purpose, taken, taken_handles, locations)
                buffers += taken
                handles += taken_handles
                for tape, holes in part.tapes:
                    submit(filled(tape, holes, handles, nodes))
                if part.left:
                    taken.clear()
                    for slot in part.left:
                        buffers[slot] = GONE
        if report is not None:
            report.send()
        for number, slot in layout.settled:
            settle(nodes[number], buffers[slot])
        for number in (*layout.dropped, *again):
            nodes[number].mark = WANTED
        self.driver.pace()

    def _take(
        self, graph: LinearGraph, plan: Plan, layout: Layout, name: Callable[[int], str]
    ) -> tuple[Layout, tuple[list[Buffer], list[int]]]:
        """Take what a flush begins with; in parts, where all is more than there is.

        A budget that can grow is tried first: parts wait for each other.

        Returns the layout that fits, and what was taken for its first part.

        Raises:
            DeviceMemoryError: it needs more at once than there is.
        """
        pool = self.pool
        for is_last in (False, True):
            is_over = pool.allocated + layout.nbytes > pool.budget
            if is_over and not (pool.can_grow and self.driver.can_block()):
                layout = self._fitting(graph, plan, layout)
            try:
                return layout, pool.take_all(layout.parts[0].taken, name)
            except DeviceMemoryError:  # the budget is what there was
                if is_last:
                    raise
        raise AssertionError("internal: the second time raises")

    def _fitting(self, graph: LinearGraph, plan: Plan, layout: Layout) -> Layout:
        """Return a layout for the room that there is, in parts if need be, or raise."""
        pool = self.pool
        if layout.nbytes > pool.budget - pool.in_use:
            gc.collect()  # what only garbage holds is not in use
        room = pool.budget - pool.in_use
        if layout.nbytes <= room:
            return layout
        found = plan.layout_in_parts(graph, room, self._pipelines)
        if found is None:
            raise pool.over_budget("its graph", plan.peak(graph))
        return found

    def buffer_of(self, node: Node) -> Buffer:
        """Return the device buffer of a computed base, uploading host bytes.

        Raises:
            DeviceLostError: the storage was on a device that is lost.
        """
        storage = node.storage
        if type(storage) is Buffer and storage.home.pool is self.pool:
            return storage
        if isinstance(storage, HostData):
            buffer = self.pool.take(self.traits.storage_bytes(node), describe, node)
            if (log := memory_log()) is not None:
                log.upload(self.traits.device, self.pool, buffer, node)
            at = 0
            for piece in device_pieces(node, storage, self.traits):
                if len(piece):
                    self.driver.write_buffer(buffer.handle, at, piece)
                at += len(piece)
            node.storage = buffer
            return buffer
        if isinstance(storage, Placeholder):
            raise value_wanted(node)
        assert isinstance(storage, Buffer), (
            f"internal: {describe(node)} on {node.device!r}, made by {node.op.name}, "
            f"has the storage {storage!r}, none of device {self.traits.device!r}"
        )
        raise DeviceLostError(
            f"{describe(node)} lay on device {self.traits.device!r}, which was lost; "
            "make it again."
        )

    def _regions(self, nodes: Sequence[Node]) -> list[Region]:
        """Return buffer, offset and bytes of each node, computed and contiguous."""
        sources = [readable(node, self.traits) for node in nodes]
        self.realize(sources, read=True)
        traits = self.traits
        return [region(each, self.buffer_of(each.base), traits) for each in sources]
