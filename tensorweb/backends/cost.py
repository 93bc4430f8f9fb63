"""Count the nodes, floating-point operations and bytes of each kernel of a plan.

The counts are derived from the planned kernel, not measured. They are computed when a
plan is made and reported to listeners of `tensorweb/events.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod

from tensorweb.backends.traits import DeviceTraits
from tensorweb.codegen.program import Launch, Program, buffer_of
from tensorweb.events import NodeRecord, Traffic
from tensorweb.graph.node import Node
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import AFTER_CORE, Expression, Kernel, Planned
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.rules import Rule

CACHE_LINE = 64
"""Bytes that memory moves for any one of them, on common devices."""

PER_TERM = frozenset({"reduce", "argreduce", "scan", "rows"})
"""Kinds of kernels whose core does one operation per term."""


@dataclass(frozen=True, slots=True)
class Work:
    """Counts of one launch, with the field names of `events.KernelRecord`."""

    nodes: tuple[int, ...]
    outputs: tuple[int, ...]
    flops: int
    loaded: int
    stored: int
    touched: int
    reads: tuple[Traffic, ...]
    writes: tuple[Traffic, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]


def works(
    planned: Planned,
    program: Program,
    graph: LinearGraph,
    traits: DeviceTraits,
    scratch: Sequence[int],
) -> list[Work]:
    """Return the work of each launch of a kernel; `scratch` are its references."""
    nodes = _inside(planned, graph)
    loaded = _loads(planned, graph, traits)
    touched = _loads(planned, graph, traits, CACHE_LINE)
    stored = [traits.storage_bytes(graph.nodes[n]) for n in planned.outputs]
    flops = flops_of(planned.kernel)
    steps = _steps(planned)
    values = _values(planned, program, loaded, stored, scratch)
    found = []
    for launch, (read, written) in zip(program.launches, values, strict=True):
        reads, writes = _traffic(launch, loaded, stored, program.scratch_bytes)
        lines, _ = _traffic(launch, touched, stored, program.scratch_bytes)
        counts = flops, reads, writes, lines
        found.append(Work(nodes, planned.outputs, *counts, read, written, steps))
        flops = 0
    return found


def _steps(planned: Planned) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the nodes of the steps of each expression, and of the core."""
    kernel = planned.kernel
    found = [(name, each.nodes) for name, each in kernel.expressions]
    if kernel.kind not in ("elementwise", "rows"):
        finish = dict(kernel.expressions).get(AFTER_CORE[0])
        kinds = [] if finish is None else [step.kind for step in finish.steps]
        core = planned.outputs[0]
        if finish is not None and "core" in kinds:
            core = finish.nodes[kinds.index("core")]
        found.append(("core", (core,)))
    return tuple(found)


def _traffic(
    launch: Launch, loaded: Sequence[int], stored: Sequence[int], scratch: Sequence[int]
) -> tuple[int, int]:
    """Return the bytes that a launch reads and writes; scratch storages count fully."""
    reads = writes = 0
    for storage, access in zip(launch.storages, launch.access, strict=True):
        nbytes = buffer_of(storage, loaded, stored, scratch)
        if access == "w":
            writes += nbytes
        else:
            reads += nbytes
    return reads, writes


def _values(
    planned: Planned,
    program: Program,
    loaded: Sequence[int],
    stored: Sequence[int],
    scratch: Sequence[int],
) -> Iterator[tuple[tuple[Traffic, ...], tuple[Traffic, ...]]]:
    """Yield the storages that each launch reads, and the ones that it writes."""
    inputs = [
        Traffic(number, nbytes, "" if rule is None else rule.value)
        for number, nbytes, rule in zip(
            planned.inputs, loaded, planned.rules, strict=True
        )
    ]
    outputs = list(map(Traffic, planned.outputs, stored))
    inner = list(map(Traffic, scratch, program.scratch_bytes))
    before: set[int] = set()
    for launch in program.launches:
        reads, writes = [], []
        for storage, access in zip(launch.storages, launch.access, strict=True):
            traffic = buffer_of(storage, inputs, outputs, inner)
            if access == "w":
                writes.append((storage, traffic))
            if storage in before:
                reads.append(traffic._replace(why=Rule.LAUNCHES.value))
            elif storage >= 0:
                reads.append(traffic)
        before = {storage for storage, _ in writes}
        yield tuple(reads), tuple(traffic for _, traffic in writes)


def _inside(planned: Planned, graph: LinearGraph) -> tuple[int, ...]:
    """Return the indices of the nodes that a kernel computes, including views."""
    numbers = graph.numbers
    found = set(planned.outputs)
    waiting = [graph.nodes[number] for number in planned.outputs]
    while waiting:
        for source in waiting.pop().inputs:
            number = numbers.get(source)
            is_new = number is not None and number not in found
            if number is None or not is_new or number in planned.inputs:
                continue
            if source.storage is None:
                found.add(number)
                if source.base.storage is None:
                    waiting.append(source)
    return tuple(sorted(found))


def flops_of(kernel: Kernel) -> int:
    """Return the floating-point operations of a kernel; elementwise ops by weight."""
    expressions = [expression for _, expression in kernel.expressions]
    if kernel.kind == "rows":
        terms = prod(kernel.sizes)
        # All expressions of a row kernel share their steps.
        return terms * (_weight(expressions[-1]) + kernel.op.count(",") + 1)
    found = sum(_elements(each) * _weight(each) for each in expressions)
    if kernel.kind == "matmul":
        return found + 2 * prod(kernel.sizes)
    if kernel.kind in PER_TERM:
        found += prod(kernel.sizes)
    if kernel.kind == "accumulate":
        found += prod(kernel.sizes[1:])
    return found


def _weight(expression: Expression) -> int:
    return sum(OPS[s.name].weight for s in expression.steps if s.kind == "map")


def _elements(expression: Expression) -> int:
    return prod(chain.from_iterable(expression.groups))


def _loads(
    planned: Planned, graph: LinearGraph, traits: DeviceTraits, line: int = 0
) -> list[int]:
    """Return the bytes that a kernel reads of each input, each element once.

    With `line`, the bytes of a cache line, return the bytes of the lines with these
    elements; gathered elements count as if they were neighbours.
    """
    nodes = [graph.nodes[number] for number in planned.inputs]
    found = [0] * len(nodes)
    for _, expression in planned.kernel.expressions:
        for step in expression.steps:
            if step.kind not in ("load", "gather"):
                continue
            size = traits.itemsize(nodes[step.slot].dtype)
            if step.kind == "gather":
                found[step.slot] += _elements(expression) * size
                continue
            apart = _least_stride(expression, step.access) * size
            size = max(size, min(apart, line))
            found[step.slot] += _reached(expression, step.access) * size
    return [
        min(nbytes, traits.storage_bytes(node))
        for nbytes, node in zip(found, nodes, strict=True)
    ]


def _least_stride(expression: Expression, access: int) -> int:
    """Return the distance of neighbours, in elements."""
    strides = chain.from_iterable(expression.accesses[access].strides)
    lengths = chain.from_iterable(expression.groups)
    pairs = zip(lengths, strides, strict=True)
    return min((abs(s) for length, s in pairs if s and length > 1), default=1)


def _reached(expression: Expression, access: int) -> int:
    """Return how many elements an access reads; a stride of zero repeats one."""
    strides = chain.from_iterable(expression.accesses[access].strides)
    lengths = chain.from_iterable(expression.groups)
    pairs = zip(lengths, strides, strict=True)
    return prod(length for length, stride in pairs if stride)


def node_records(graph: LinearGraph) -> list[NodeRecord]:
    """Return records that describe a graph's nodes to listeners."""
    numbers = graph.numbers
    found = []
    for node in graph.nodes:
        if node.storage is not None:
            found.append(NodeRecord("leaf", (node.size,), node.dtype.name))
            continue
        owner = node.owner
        sources: Sequence[Node] = node.inputs
        if owner is not None and owner.storage is not None:
            sources = (owner,)
        inputs = tuple(numbers[source] for source in sources)
        found.append(NodeRecord(node.op.name, node.shape, node.dtype.name, inputs))
    return found
