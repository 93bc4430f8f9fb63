"""From a graph to a plan: a tape with holes that is filled again at every flush."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tensorweb.backends.machine import Machine
from tensorweb.backends.pipelines import Pipelines
from tensorweb.backends.pool import Pool
from tensorweb.backends.reuse import worth_storing
from tensorweb.backends.work import Work, node_records, works
from tensorweb.codegen.expression import number_bits, number_words
from tensorweb.codegen.program import OUTPUT, Launch, Program
from tensorweb.drivers.protocol import CLEAR, DISPATCH, PARAMETER_WORDS
from tensorweb.dtypes import BY_NAME
from tensorweb.errors import ShapeError
from tensorweb.events import KernelRecord, NodeRecord
from tensorweb.graph.node import Node, number_of_constant
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.plan import plan

LARGE_SCRATCH = 1 << 20
"""Scratch storages from this size on serve several kernels of a flush. Small ones do
not: kernels that share nothing may run side by side."""

MOST_COMMANDS = 1000
"""Commands in one tape; its parameter block has room for 1024 launches."""


LARGEST_COUNT = 2**31 - 1
"""Lengths, strides and positions are signed 32-bit integers in kernels."""


@dataclass(slots=True)
class Tape:
    """A tape with holes.

    Attributes:
        words: the tape; what stands in its holes is of the last flush.
        floats: the same memory as float32.
        buffer_holes: (word of the tape, slot of a storage in the plan).
        float_holes: (word, number of a constant node) of float32 constants.
        scalar_holes: (word, number of a constant node, dtype name) of others.
        wide_holes: the same of constants of 64 bits; the next word is theirs too.
    """

    words: array[int]
    floats: memoryview[float]
    buffer_holes: list[tuple[int, int]]
    float_holes: list[tuple[int, int]]
    scalar_holes: list[tuple[int, int, str]]
    wide_holes: list[tuple[int, int, str]]


@dataclass(slots=True)
class Plan:
    """How to compute the outputs of every graph of one structure.

    References of storages are node numbers, and beyond those scratch storages. Storages
    have slots: those that are read first, then those that are taken from the pool.

    Attributes:
        reads: node numbers of the storages that exist before.
        results: (node number, bytes) of the storages to make, in order.
        scratch: (reference, bytes) of storages that live during the flush only.
        tapes: what to submit, usually one.
        commands: what the tapes hold, for explanations.
        records: of its launches.
        taken: what a flush takes from the pool, results and scratch: for each size of
            buffers the references and their bytes.
        settled: node number and slot of each result.
        inlined: node number of each value that its kernels compute inside
            themselves and that is worth a storage if it is needed again.
        graph: its nodes in words, from when somebody first listens.
    """

    reads: list[int] = field(default_factory=list)
    results: list[tuple[int, int]] = field(default_factory=list)
    scratch: list[tuple[int, int]] = field(default_factory=list)
    tapes: list[Tape] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    records: list[KernelRecord] = field(default_factory=list)
    taken: list[tuple[int, list[tuple[int, int]]]] = field(default_factory=list)
    settled: list[tuple[int, int]] = field(default_factory=list)
    inlined: list[int] = field(default_factory=list)
    graph: list[NodeRecord] = field(default_factory=list)

    def described(self, graph: LinearGraph) -> list[NodeRecord]:
        """Return the nodes of a graph of its structure, the same list every time."""
        if not self.graph:
            self.graph = node_records(graph)
        return self.graph

    @property
    def references(self) -> list[int]:
        """Return the references of all storages in the order of their slots."""
        taken = (reference for _, requests in self.taken for reference, _ in requests)
        return [*self.reads, *taken]


def describe(node: Node) -> str:
    """Return what a node is for people, as errors name it."""
    return f"a tensor of shape {node.shape} and dtype {node.dtype}"


@dataclass(frozen=True, slots=True)
class Command:
    """One dispatch, or the clearing of a scratch storage when `launch` is None."""

    launch: Launch | None
    references: tuple[int, ...]
    scalars: tuple[int, ...] = ()
    words: str = ""
    work: Work | None = None
    nbytes: int = 0


def make_plan(graph: LinearGraph, pool: Pool, pipelines: Pipelines) -> Plan:
    """Return the plan of a graph, its pipelines compiled.

    Raises:
        DeviceMemoryError: a result is larger than the device can bind.
        ShaderError: the device's compiler refused a kernel.
        ShapeError: a kernel would go over more elements than it can count.
    """
    result = Plan()
    machine = pool.machine
    next_reference = len(graph.nodes)
    made: set[int] = set()
    reads: dict[int, None] = {}
    spare: dict[int, list[int]] = {}  # scratch storages of earlier kernels, by bytes
    for planned in plan(graph, machine.most_inputs):
        node = graph.nodes[planned.output]
        made.add(planned.output)
        nbytes = machine.storage_bytes(node)
        pool.check(nbytes, describe, node)
        result.results.append((planned.output, nbytes))
        for number in planned.inputs:
            if number not in made:
                reads[number] = None
        if node.size == 0:
            continue
        program = pipelines.program(planned.kernel)
        _check_counts(planned, program, node.device)
        scratch = []
        for nbytes in program.scratch_bytes:
            if not spare.get(nbytes):
                result.scratch.append((next_reference, nbytes))
                spare[nbytes] = [next_reference]
                next_reference += 1
            scratch.append(spare[nbytes].pop())
        for reference, nbytes in zip(scratch, program.scratch_bytes, strict=True):
            if nbytes >= LARGE_SCRATCH:
                spare[nbytes].append(reference)
        work = works(planned, program, graph, machine)
        result.commands += _commands(planned, program, scratch, work)
    result.reads += reads
    by_size: dict[int, list[tuple[int, int]]] = {}
    for reference, nbytes in result.results + result.scratch:
        by_size.setdefault(pool.size_for(nbytes), []).append((reference, nbytes))
    result.taken = list(by_size.items())
    slots = {reference: slot for slot, reference in enumerate(result.references)}
    result.settled = [(number, slots[number]) for number, _ in result.results]
    sizes = {
        number: pool.size_for(machine.storage_bytes(graph.nodes[number]))
        for number in result.reads
    }
    for size, requests in result.taken:
        sizes.update((reference, size) for reference, _ in requests)
    result.records = _records(result.commands, sizes, machine)
    made.update(result.reads)
    result.inlined = list(worth_storing(graph, made))
    pipelines.compile((c.launch, c.words) for c in result.commands if c.launch)
    for begin in range(0, len(result.commands), MOST_COMMANDS):
        part = result.commands[begin : begin + MOST_COMMANDS]
        result.tapes.append(_tape(part, slots, pipelines))
    return result


def _check_counts(planned: Planned, program: Program, device: str) -> None:
    """Raise `ShapeError` when a kernel would count further than its integers do."""
    words = [
        word
        for launch in program.launches
        for word in (*launch.words, *launch.grid)
        if isinstance(word, int)
    ]
    if all(-LARGEST_COUNT - 1 <= word <= LARGEST_COUNT for word in words):
        return
    kernel = planned.kernel
    sizes = " by ".join(f"{length:,}" for length in kernel.sizes)
    raise ShapeError(
        f"{kernel.op or kernel.kind}: one kernel would go over {sizes} elements, and "
        f"device {device!r} counts to {LARGEST_COUNT:,}. Reduce one axis after "
        "another, or work in parts."
    )


def _records(
    commands: Sequence[Command], sizes: Mapping[int, int], machine: Machine
) -> list[KernelRecord]:
    """Return the records of all launches, for the bytes of each storage."""
    found = []
    for command in commands:
        launch, work = command.launch, command.work
        if launch is None or work is None:
            continue
        record = KernelRecord(
            command.words,
            launch.template,
            machine.readable(launch.source),
            launch.grid,
            len(launch.storages),
            sum(sizes[reference] for reference in command.references),
            work.nodes,
            work.output,
            work.flops,
            work.loaded,
            work.stored,
            device=machine.device,
        )
        found.append(record)
    return found


def _commands(
    planned: Planned, program: Program, scratch: Sequence[int], work: Sequence[Work]
) -> Iterator[Command]:
    """Return the commands of one kernel."""
    for number in sorted(program.cleared):
        nbytes = program.scratch_bytes[number]
        yield Command(None, (scratch[number],), nbytes=nbytes)
    words = planned.kernel.words
    for launch, own in zip(program.launches, work, strict=True):
        references = tuple(
            planned.inputs[storage]
            if storage >= 0
            else planned.output
            if storage == OUTPUT
            else scratch[-2 - storage]
            for storage in launch.storages
        )
        yield Command(launch, references, planned.scalars, words, own)


def _tape(
    commands: Sequence[Command], slots: Mapping[int, int], pipelines: Pipelines
) -> Tape:
    """Return the tape of some commands: parameter block first, then the commands."""
    parameters: list[int] = []
    stream: list[int] = []
    buffer_holes: list[tuple[int, int]] = []
    float_holes: list[tuple[int, int]] = []
    scalar_holes: list[tuple[int, int, str]] = []
    wide_holes: list[tuple[int, int, str]] = []
    for command in commands:
        if command.launch is None:
            buffer_holes.append((len(stream) + 1, slots[command.references[0]]))
            stream += [CLEAR, 0, 0, command.nbytes]
            continue
        launch = command.launch
        offset = len(parameters)
        for word in launch.words:
            if not isinstance(word, int):
                slot, dtype = word
                word, number = 1 + len(parameters), command.scalars[slot]
                if dtype == "float32":
                    float_holes.append((word, number))
                elif BY_NAME[dtype].bits == 64:
                    wide_holes.append((word, number, dtype))
                else:
                    scalar_holes.append((word, number, dtype))
                word = 0
            parameters.append(word)
        parameters += [0] * (offset + PARAMETER_WORDS - len(parameters))
        stream += [
            DISPATCH,
            pipelines.handle(launch, command.words),
            *launch.grid,
            0 if launch.is_in_order else 1,
            offset * 4,
            len(launch.storages),
        ]
        for reference in command.references:
            buffer_holes.append((len(stream), slots[reference]))
            stream.append(0)
    start = 1 + len(parameters)
    words = array("i", [len(parameters), *parameters, *stream])
    return Tape(
        words,
        memoryview(words).cast("B").cast("f"),
        [(start + at, slot) for at, slot in buffer_holes],
        float_holes,
        scalar_holes,
        wide_holes,
    )


def filled(tape: Tape, handles: Sequence[int], nodes: Sequence[Node]) -> array[int]:
    """Return the words of a tape, its holes filled with handles and constants.

    They are overwritten by the next call; a float32 beyond its range becomes infinite.
    """
    words, floats = tape.words, tape.floats
    for at, slot in tape.buffer_holes:
        words[at] = handles[slot]
    for at, number in tape.float_holes:
        floats[at] = number_of_constant(nodes[number])
    for at, number, dtype in tape.scalar_holes:
        words[at] = number_bits(number_of_constant(nodes[number]), dtype)
    for at, number, dtype in tape.wide_holes:
        value = number_of_constant(nodes[number])
        words[at], words[at + 1] = number_words(value, dtype)
    return words
