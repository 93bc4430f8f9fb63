"""A recorded plan: the tape of a function, replayed with other arguments' buffers."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol

from tensorweb.backends.planning import Plan, describe, filled
from tensorweb.backends.pool import Buffer, Pool
from tensorweb.backends.reporting import Report
from tensorweb.drivers import Driver
from tensorweb.errors import DeviceLostError
from tensorweb.events import is_heard, lines_of
from tensorweb.graph.node import Node, leaf, view_of
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


class Replay:
    """Fills a tape's holes with the buffers of new arguments and submits it.

    Buffers inside the function and the values it captured are kept and reused; only
    results get fresh ones, so a call costs one submission and no graph.
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
        self._launches = plan.records
        self._described = plan.described(graph)
        self._lines = lines_of(graph.nodes)
        numbers = graph.numbers
        arguments = {numbers[n]: i for i, n in enumerate(inputs) if n in numbers}
        self._outputs = [(numbers[node.base], node.view) for node in outputs]
        self._bases = {number: graph.nodes[number] for number, _ in self._outputs}
        made = {number for number, _ in plan.results}
        self._given = [
            (number, arguments[number])
            for number in {*plan.reads, *self._bases}
            if number in arguments
        ]
        self._fresh = [
            (size, chosen)
            for size, requests in plan.taken
            if (chosen := [pair for pair in requests if pair[0] in self._bases])
        ]
        self._fresh_numbers = [
            number for _, requests in self._fresh for number, _ in requests
        ]
        self._kept: dict[int, Buffer] = {
            number: host.buffer_of(graph.nodes[number])
            for number in {*plan.reads, *self._bases} - arguments.keys() - made
        }
        for number, nbytes in plan.results:
            if number not in self._bases:
                self._kept[number] = host.pool.take(
                    nbytes, describe, graph.nodes[number]
                )
        for number, nbytes in plan.scratch:
            self._kept[number] = host.pool.take(nbytes, str, "a scratch storage")
        references = plan.references
        changing = {number for number, _ in self._given}.union(self._fresh_numbers)
        handles = [
            0 if number in changing else self._kept[number].handle
            for number in references
        ]
        self._tapes: list[tuple[array[int], list[tuple[int, int]]]] = [
            (
                filled(tape, handles, graph.nodes)[:],
                [
                    (at, references[slot])
                    for at, slot in tape.buffer_holes
                    if references[slot] in changing
                ],
            )
            for tape in plan.tapes
        ]

    @property
    def is_alive(self) -> bool:
        """Whether the device that holds the kept buffers still exists."""
        return not self._host.driver.is_lost

    def _name(self, number: int) -> str:
        return describe(self._bases[number])

    def __call__(self, inputs: Sequence[Node]) -> list[Node]:
        """Return the results for other arguments of the same shapes and dtypes.

        Raises:
            DeviceLostError: the device that holds the captured values is gone.
        """
        host = self._host
        if not self.is_alive:
            raise DeviceLostError("the device of a recorded function was lost.")
        plain = [node if node.base is node else copy(node) for node in inputs]
        if any(node.storage is None for node in plain):
            host.realize(plain)
        buffers: dict[int, Buffer] = {
            number: host.buffer_of(plain[argument]) for number, argument in self._given
        }
        report = Report(host.driver) if is_heard() else None
        submit = host.driver.submit if report is None else report.submit
        with host.pool.lock:
            taken, _ = host.pool.take_all(self._fresh, self._name)
            buffers.update(zip(self._fresh_numbers, taken, strict=True))
            for words, holes in self._tapes:
                for word, number in holes:
                    words[word] = buffers[number].handle
                submit(words)
        if report is not None:
            report.tell(self._launches, self._described, self._lines)
        host.driver.pace()
        results: dict[int, Node] = {}
        for number, base in self._bases.items():
            storage = buffers.get(number) or self._kept[number]
            results[number] = leaf(storage, base.shape, base.dtype, base.device)
        return [
            results[number]
            if view == results[number].view
            else view_of(results[number], view)
            for number, view in self._outputs
        ]
