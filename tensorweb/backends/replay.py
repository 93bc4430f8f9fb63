"""A recorded plan: the tape of a function, replayed with other arguments' buffers."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from functools import partial
from typing import Protocol

from tensorweb.backends.layouts import Layout, Part, allocations
from tensorweb.backends.planning import Plan, describe
from tensorweb.backends.pool import Buffer, Pool, Taken
from tensorweb.backends.reporting import FlushReport, is_counting
from tensorweb.backends.tapes import Holes, filled
from tensorweb.drivers import Driver
from tensorweb.errors import DeviceLostError, DeviceMemoryError
from tensorweb.events import clock, listeners, locations_of
from tensorweb.graph.node import Node, leaf, view_of
from tensorweb.memory_log import memory_log
from tensorweb.nodes.movement import copy
from tensorweb.schedule.linear import LinearGraph


class Host(Protocol):
    """What a replay needs of its backend."""

    pool: Pool
    driver: Driver

    def realize(self, nodes: Sequence[Node]) -> None:
        """Compute nodes."""

    def buffer_of(self, node: Node) -> Buffer:
        """Return the buffer of a computed base."""

    def make_room(self, error: Exception) -> None:
        """After a failure let the next use find a device, or memory."""


class Replay:
    """Fills a tape's holes with the buffers of new arguments and submits it.

    Only results get fresh buffers, so a call costs one submission and no graph.
    Captured values are retained. Temporaries use buffers that all compiled functions
    share, because calls run one after another.
    """

    def __init__(
        self,
        host: Host,
        graph: LinearGraph,
        plan: Plan,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
    ) -> None:
        """Keep what does not change between calls."""
        self._host = host
        self._plan = plan
        self._launches = plan.records(graph, host.pool.traits)
        self._described = plan.described(graph)
        self._locations = locations_of(graph.nodes)
        numbers, nodes = graph.numbers, graph.nodes
        arguments = {numbers[n]: i for i, n in enumerate(inputs) if n in numbers}
        bases = {numbers[node.base]: node.base for node in outputs}
        self._names = {number: describe(node) for number, node in bases.items()}
        read_arguments = [n for n in {*plan.reads, *bases} if n in arguments]
        self._arguments = [arguments[number] for number in read_arguments]
        fresh = [number for number in plan.results if number in bases]
        self._fresh = by_size(plan, fresh)
        # In the order in which the pool returns them.
        fresh = [number for _, requests in self._fresh for number, _ in requests]
        part = Part(self._fresh, [], [], [[number] for number in fresh])
        own = Layout([part], 0, [(number, at) for at, number in enumerate(fresh)], [])
        self._purpose = plan.purpose(graph, own, part, host.pool.traits.device)
        changing = [*read_arguments, *fresh]
        self._captured: dict[int, Buffer] = {
            number: host.buffer_of(nodes[number])
            for number in {*plan.reads, *bases} - arguments.keys() - set(fresh)
        }
        captured_results = [number for number in self._captured if number in bases]
        self._captured_results = [self._captured[number] for number in captured_results]
        inner, self._inner = self._shared_buffers(plan, fresh)
        handles = {number: buffer.handle for number, buffer in self._captured.items()}
        handles.update((number, buffer.handle) for number, buffer in inner.items())
        handles.update(dict.fromkeys(changing, 0))
        slots = {number: slot for slot, number in enumerate(changing)}
        self._tapes: list[tuple[array[int], Holes]] = [
            (
                filled(tape, tape.buffer_holes, handles, nodes)[:],
                [(word, slots[n]) for word, n in tape.buffer_holes if n in slots],
            )
            for tape in plan.tapes
        ]
        found = {n: at for at, n in enumerate([*changing, *captured_results])}
        self._like = [
            (found[n], (b.shape, b.dtype, b.device)) for n, b in bases.items()
        ]
        order = {number: index for index, number in enumerate(bases)}
        self._outputs = [
            (
                order[numbers[node.base]],
                None if node.view == node.base.view else node.view,
            )
            for node in outputs
        ]

    def _shared_buffers(
        self, plan: Plan, fresh: Collection[int]
    ) -> tuple[dict[int, Buffer], list[Buffer]]:
        """Return the buffers of what lives during a call only, and all of them."""
        spans = [span for span in plan.spans if span.reference not in fresh]
        found: dict[int, Buffer] = {}
        counts: dict[int, int] = {}
        buffers = []
        for allocation in allocations(spans, frozenset()):
            number = counts[allocation.size] = counts.get(allocation.size, 0) + 1
            buffer = self._host.pool.take_shared(allocation.size, number)
            found.update(dict.fromkeys(allocation.references, buffer))
            buffers.append(buffer)
        return found, buffers

    @property
    def is_alive(self) -> bool:
        """Whether the device of the retained buffers still exists."""
        return not self._host.driver.is_lost

    def _name(self, number: int) -> str:
        return self._names[number]

    def __call__(self, inputs: Sequence[Node]) -> list[Node]:
        """Return the results for other arguments of the same shapes and dtypes.

        Raises:
            DeviceLostError: the device that holds the captured values is lost.
            DeviceMemoryError: the results do not fit.
        """
        try:
            return self._computed(inputs)
        except (DeviceLostError, DeviceMemoryError) as error:
            self._host.make_room(error)
            raise

    def _computed(self, inputs: Sequence[Node]) -> list[Node]:
        begun = clock()()
        host = self._host
        plain = [node if node.owner is None else copy(node) for node in inputs]
        if None in [node.storage for node in plain]:
            host.realize(plain)
        buffers = [host.buffer_of(plain[argument]) for argument in self._arguments]
        handles = [buffer.handle for buffer in buffers]
        report, submit = None, host.driver.submit
        described, locations = self._described, self._locations
        plan = self._plan
        heard, counting = listeners(), plan.report
        if counting is not None and counting.heard_by is heard and counting.times:
            counting.times += 1
        elif heard:
            report = FlushReport(self._launches, described, locations, begun, True)
            plan.report = report if is_counting() else None
            submit = partial(report.submit, host.driver)
        with host.pool.lock:
            fresh, fresh_handles = host.pool.take_all(self._fresh, self._name)
            if (log := memory_log()) is not None and log.lists(
                host.pool, self._purpose
            ):
                log.add(self._purpose, fresh, fresh_handles, locations)
            buffers += fresh
            handles += fresh_handles
            for words, holes in self._tapes:
                for word, index in holes:
                    words[word] = handles[index]
                submit(words)
        if report is not None:
            report.send()
        host.driver.pace()
        buffers += self._captured_results
        results = [leaf(buffers[index], *like) for index, like in self._like]
        return [
            results[index] if view is None else view_of(results[index], view)
            for index, view in self._outputs
        ]


def by_size(plan: Plan, numbers: Collection[int]) -> Taken:
    """Return what results of a plan take from the pool when each has its own buffer."""
    found: dict[int, list[tuple[int, int]]] = {}
    for span in plan.spans:
        number = span.reference
        if number in numbers:
            found.setdefault(span.size, []).append((number, plan.results[number]))
    return list(found.items())
