"""Plan a graph: kernels in order, tapes and lifetimes of storages; cache the plans.

The counts are derived from the planned kernel, not measured. They are computed when a
plan is made and reported to listeners of `tensorweb/events.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod

from tensorweb.backends import policy
from tensorweb.backends.layouts import Layout, Part, Span, Stock, make_tapes, peak
from tensorweb.backends.liveness import Lifetimes, worth_storing
from tensorweb.backends.pipelines import DeviceTraits, Pipelines
from tensorweb.backends.pool import Pool
from tensorweb.backends.reporting import FlushReport
from tensorweb.backends.tapes import Command, Tape
from tensorweb.codegen.program import Launch, Program, buffer_of
from tensorweb.errors import ShapeError
from tensorweb.events import KernelRecord, NodeRecord, Traffic
from tensorweb.graph.node import Node
from tensorweb.memory_log import Purpose
from tensorweb.ops import OPS
from tensorweb.schedule.formula import formula
from tensorweb.schedule.kernel import AFTER_CORE, Expression, Kernel, Planned, Rule
from tensorweb.schedule.kernels import ordered, plan
from tensorweb.schedule.linear import LinearGraph, equal_constants, is_equal

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


LARGEST_COUNT = 2**31 - 1
"""Lengths, strides and offsets are signed 32-bit integers in kernels."""


Made = tuple[Planned, Program, Sequence[int], Sequence[int]]


@dataclass(slots=True)
class Plan:
    """How to compute the outputs of every graph of one structure.

    References to storages are node indices; larger ones refer to scratch storages.

    Attributes:
        reads: node indices of the storages that must exist already.
        results: bytes of each storage to compute by node index, in order.
        spans: lifetimes of results and scratch storages.
        tapes: the tapes to submit, usually one.
        commands: the commands on the tapes, for explanations.
        made: each kernel with its program, the references of its scratch storages,
            and the bytes that its launches bind.
        lifetimes: liveness analysis, None for an empty plan.
        equal: pairs of indices of constants that must be equal.
        inlined: indices of values that kernels compute inside themselves and that
            should be stored if they are needed again.
        graph: records of the graph's nodes, made at the first request.
        report: the one that counts flushes, while listeners ask for no more.
    """

    reads: list[int] = field(default_factory=list)
    results: dict[int, int] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    tapes: list[Tape] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    lifetimes: Lifetimes | None = None
    inlined: list[int] = field(default_factory=list)
    equal: list[tuple[int, int]] = field(default_factory=list)
    graph: list[NodeRecord] = field(default_factory=list)
    report: FlushReport | None = None
    _records: list[KernelRecord] = field(default_factory=list)
    _layouts: dict[tuple[frozenset[int], bool], Layout] = field(default_factory=dict)

    def described(self, graph: LinearGraph) -> list[NodeRecord]:
        """Return records of the graph's nodes, one cached list."""
        if not self.graph:
            self.graph = node_records(graph)
        return self.graph

    def records(
        self, graph: LinearGraph, traits: DeviceTraits
    ) -> Sequence[KernelRecord]:
        """Return records of the launches, one cached list.

        Made at the first request: they take as long as a tenth of the planning.
        """
        if not self._records:
            work = chain.from_iterable(
                works(planned, program, graph, traits, scratch)
                for planned, program, scratch, _ in self.made
            )
            nbytes = chain.from_iterable(sizes for *_, sizes in self.made)
            commands = [each for each in self.commands if each.launch is not None]
            rows = zip(commands, work, nbytes, strict=True)
            self._records += [_record(*row, traits) for row in rows]
        return self._records

    def purpose(
        self, graph: LinearGraph, layout: Layout, part: Part, device: str
    ) -> Purpose:
        """Return what a part of a layout takes buffers for, and keep it there."""
        kernels = 1 + max((span.last for span in self.spans), default=-1)
        part.purpose = Purpose(
            device,
            "flush",
            [size for size, own in part.taken for _ in own],
            part.served,
            self.described(graph),
            {span.reference: (span.first, span.last) for span in self.spans},
            frozenset(number for number, _ in layout.settled),
            kernels if part is layout.parts[-1] else 0,
            part is layout.parts[0],
        )
        return part.purpose

    def layout(self, graph: LinearGraph) -> Layout:
        """Return the buffer layout for a flush of a graph of this structure."""
        survivors = self._survivors(graph)
        layout = self._layouts.get((survivors, False))
        if layout is None:
            staying = survivors.union(graph.outputs)
            layout = self._stock.layout(self.tapes, staying)
            self._cache((survivors, False), layout)
        return layout

    def layout_in_parts(
        self, graph: LinearGraph, room: int, pipelines: Pipelines
    ) -> Layout | None:
        """Return a layout split into parts that needs at most `room` bytes.

        None if there is no such layout.
        """
        survivors = self._survivors(graph)
        layout = self._layouts.get((survivors, True))
        if layout is None or layout.nbytes > room:
            staying = survivors.union(graph.outputs)
            layout = self._stock.in_parts(self.commands, pipelines, staying, room)
            if layout is not None:
                self._cache((survivors, True), layout)
        return layout

    def computed_again(self, graph: LinearGraph) -> Sequence[int]:
        """Return the indices of inlined values to store if they are needed again."""
        assert self.lifetimes is not None, "internal: an empty plan computes nothing"
        return self.lifetimes.computed_again(graph, self.inlined)

    def peak(self, graph: LinearGraph) -> int:
        """Return the peak of live bytes of a flush, a lower bound of its memory."""
        return peak(self.spans, self._survivors(graph).union(graph.outputs))

    @property
    def _stock(self) -> Stock:
        return Stock(self.reads, self.results, self.spans)

    def _survivors(self, graph: LinearGraph) -> frozenset[int]:
        assert self.lifetimes is not None, "internal: an empty plan has no layout"
        return self.lifetimes.survivors(graph)

    def _cache(self, key: tuple[frozenset[int], bool], layout: Layout) -> None:
        if len(self._layouts) >= policy.LAYOUTS_CACHED:
            self._layouts.clear()
        self._layouts[key] = layout


def describe(node: Node) -> str:
    """Describe a node for error messages."""
    return f"a tensor of shape {node.shape} and dtype {node.dtype}"


def make_plan(
    graph: LinearGraph, pool: Pool, pipelines: Pipelines, is_for_all: bool = False
) -> Plan:
    """Return the plan of a graph, with its pipelines compiled.

    Args:
        graph: the linear graph.
        pool: the pool that will provide its buffers.
        pipelines: the pipelines of the device.
        is_for_all: whether the plan must fit every graph of this structure; otherwise
            equal constants may be passed once.

    Raises:
        DeviceMemoryError: a result is larger than the device can bind.
        ShaderError: the device's compiler refused a kernel.
        ShapeError: a kernel would iterate over more elements than int32 counts.
    """
    result = Plan()
    traits = pool.traits
    next_reference = len(graph.nodes)
    results, commands = result.results, result.commands
    reads: dict[int, None] = {}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    equal = {} if is_for_all else equal_constants(graph)
    numbers = graph.numbers
    result.equal = [(numbers[node], numbers[one]) for node, one in equal.items()]
    kernels = plan(graph, traits.most_inputs, equal, traits.rolls)
    for number in [number for planned in kernels for number in planned.outputs]:
        results[number] = nbytes = traits.storage_bytes(graph.nodes[number])
        pool.check(nbytes, describe, graph.nodes[number])
    sizes = {number: pool.size_for(nbytes) for number, nbytes in results.items()}
    for index, planned in enumerate(ordered(kernels, sizes, graph.outputs)):
        for number in planned.outputs:
            first[number] = last[number] = index
        for number in planned.inputs:
            if number in results:
                last[number] = index
            elif number not in reads:
                reads[number] = None
                nbytes = traits.storage_bytes(graph.nodes[number])
                sizes[number] = pool.size_for(nbytes)
        if not any(results[number] for number in planned.outputs):
            continue
        program = pipelines.program(planned.kernel)
        _check_counts(planned, program, traits.device)
        end = next_reference + len(program.scratch_bytes)
        scratch = range(next_reference, end)
        next_reference = end
        for reference, nbytes in zip(scratch, program.scratch_bytes, strict=True):
            sizes[reference] = pool.size_for(nbytes)
            first[reference] = last[reference] = index
        new = [*_commands(planned, program, scratch, index, results)]
        bound = [sum(map(sizes.__getitem__, c.references)) for c in new if c.launch]
        result.made.append((planned, program, scratch, bound))
        commands += new
    result.reads += reads
    result.spans = [
        Span(reference, sizes[reference], begin, last[reference])
        for reference, begin in first.items()
    ]
    result.lifetimes = Lifetimes(graph, results)
    result.inlined = list(worth_storing(graph, {*results, *reads}))
    pipelines.compile((c.launch, c.words) for c in commands if c.launch)
    result.tapes += make_tapes(commands, pipelines)
    return result


def _check_counts(planned: Planned, program: Program, device: str) -> None:
    """Raise `ShapeError` if a word of a launch does not fit into int32."""
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


def _record(
    command: Command, work: Work, nbytes: int, traits: DeviceTraits
) -> KernelRecord:
    """Return the record of a launch; `nbytes` are those of its storages."""
    launch = command.launch
    assert launch is not None, "internal: only launches have records"
    return KernelRecord(
        command.words,
        launch.template,
        traits.readable(launch.source),
        launch.grid,
        len(launch.storages),
        nbytes,
        work.nodes,
        work.outputs,
        work.flops,
        work.loaded,
        work.stored,
        work.touched,
        device=traits.device,
        formula=command.formula,
        reads=work.reads,
        writes=work.writes,
        bindings=command.references,
        steps=work.steps,
    )


def _commands(
    planned: Planned,
    program: Program,
    scratch: Sequence[int],
    index: int,
    sizes: Mapping[int, int],
) -> Iterator[Command]:
    """Yield the commands of the kernel with index `index` in the plan.

    `sizes` are the bytes of its outputs, by node index.
    """
    for number in sorted(program.cleared):
        nbytes = program.scratch_bytes[number]
        yield Command(None, (scratch[number],), nbytes=nbytes, index=index)
    if program.clears_outputs:
        for number in planned.outputs:
            if nbytes := sizes[number]:
                yield Command(None, (number,), nbytes=nbytes, index=index)
    words, text = planned.kernel.words, formula(planned.kernel)
    for launch in program.launches:
        references = tuple(
            buffer_of(storage, planned.inputs, planned.outputs, scratch)
            for storage in launch.storages
        )
        yield Command(
            launch, references, planned.scalars, words, index=index, formula=text
        )


ANY_CONSTANTS = "any constants"
"""Marks the key of a plan that does not depend on which constants are equal."""


class Plans:
    """A least-recently-used cache of plans."""

    def __init__(self) -> None:
        """Begin without plans."""
        self._known: OrderedDict[Hashable, Plan] = OrderedDict()
        self._commands = 0

    def __len__(self) -> int:
        """Return how many plans are cached."""
        return len(self._known)

    def clear(self) -> None:
        """Drop all plans."""
        self._known.clear()
        self._commands = 0

    def of(self, records: Sequence[KernelRecord]) -> Plan | None:
        """Return the plan with this list of launches, None if it was dropped."""
        found = self._known.values()
        return next((plan for plan in found if plan._records is records), None)

    def find(
        self, graph: LinearGraph, make: Callable[[LinearGraph, bool], Plan]
    ) -> Plan:
        """Return the plan of a graph, made if there is none.

        Args:
            graph: the linear graph.
            make: makes the plan of a graph; the second argument is whether it must hold
                for every graph of this structure.
        """
        key: Hashable = graph.key
        plan = self._known.get(key)
        is_for_all = plan is not None and not is_equal(graph, plan.equal)
        if is_for_all:
            key = (key, ANY_CONSTANTS)
            plan = self._known.get(key)
        if plan is None:
            plan = self._known[key] = make(graph, is_for_all)
            self._commands += len(plan.commands)
            while len(self._known) > 1 and self._is_full():
                _, dropped = self._known.popitem(last=False)
                self._commands -= len(dropped.commands)
        else:
            self._known.move_to_end(key)
        return plan

    def _is_full(self) -> bool:
        is_many = len(self._known) > policy.PLANS_CACHED
        return is_many or self._commands > policy.COMMANDS_CACHED
