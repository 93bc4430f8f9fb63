"""Records what ran outside of the page, as the page records a run of a program.

A recording has the page's own records: the run with its lines and kernels, its tensors,
and the responses to what a report asks for. Lines are known by the locations of nodes,
because the program was compiled without the markers of the page.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from time import perf_counter
from types import FrameType
from typing import Any

import tensorweb as tw
from tensorweb import frames
from tensorweb.display.cells import PICTURE
from tensorweb.display.statistics import short
from tensorweb.events import listening
from tensorweb.frames import Location
from tensorweb.graph.node import Node, number_of_constant, pair_of
from tensorweb.graph.op import CONSTANT, LEAF
from tensorweb.graph.provenance import Provenance, open_provenance
from tensorweb.memory_log import MemoryLog, logging_memory, memory_log
from tensorweb.ops.structure import COPY
from tensorweb.playground import (
    kernels,
    memory,
    pictures,
    policy,
    records,
    sources,
    tensors,
    timeline,
)
from tensorweb.playground.bridge import drive
from tensorweb.playground.inside import Inside, label_of
from tensorweb.playground.inside_recording import (
    Film,
    InsideRecording,
    first_cells,
    response_of,
)
from tensorweb.playground.lines import Made
from tensorweb.playground.numbers import BlockingReader
from tensorweb.playground.program import argument_text
from tensorweb.playground.sources import FILENAME

MOST_FILES = 20
"""Files of a program whose lines a report knows."""

MOST_STEPS = 200
"""Operations of the graph that a report lists, the last ones."""

LARGE_PICTURES = 8
"""Tensors up to which each has a picture with a cell for each of many elements."""

Entries = list[tensors.Entry]
Lines = list[records.LineResult]


@dataclass(frozen=True)
class Built:
    """A node and the instruction that built it, in one execution of its line."""

    node: Node
    location: Location
    line: int
    end_line: int

    @property
    def order(self) -> tuple[int, int]:
        """When it was built."""
        _, instruction, execution = self.location
        return execution, instruction


@dataclass
class Recorder:
    """What a program computes while this is open, and the tensors at its end."""

    entries: Entries = field(default_factory=list)
    seconds: float = 0.0
    error: records.Failure | None = None
    main: str = ""
    why: Sequence[tuple[int, ...]] = ()
    """The cells of an inspected tensor to explain; empty for those of small tensors."""
    _tally: kernels.Tally = field(default_factory=kernels.Tally)
    _started: float = 0.0
    _names: Mapping[str, object] = field(default_factory=dict)
    """The networks that have a name."""
    _log: MemoryLog | None = None
    """None inside of another log: a buffer reports its release to one."""
    _inside: Inside = field(default_factory=lambda: Inside(blocking=True))
    _first: int = 0
    _last: int = sys.maxsize
    """The first execution of a line, and the first one after the block."""
    _nodes: Sequence[Node] = ()
    """What the block built, or what the inspected tensor was computed from."""
    _followed: list[Node] | None = None
    """What one inspected tensor was computed from, inputs first; None of a run."""

    @contextmanager
    def open(self, main: str) -> Iterator[None]:
        """Record inside a `with` block; `main` is the name of the program's file."""
        self.main = main
        self._first = frames.end_execution()
        outer = open_provenance()
        self._inside.provenance = outer or self._provenance
        self._started = perf_counter()
        with ExitStack() as stack:
            stack.enter_context(self._standing_in([]))
            stack.enter_context(listening(self._tally.add))
            if memory_log() is None:
                self._log = MemoryLog()
                stack.enter_context(logging_memory(self._log))
            stack.enter_context(self._inside.calls.noting())
            if outer is None:
                stack.enter_context(self._provenance.open())
            try:
                yield
            except BaseException as error:
                self.fail(error)
                raise
            finally:
                self.seconds = perf_counter() - self._started
                self._last = frames.end_execution()
                self._nodes = self._followed or self._built_nodes()

    def take(self, names: Mapping[str, object], seen: Mapping[str, object]) -> None:
        """Take over the tensors with names, and compute the ones built in the block.

        Networks are those among the names that the block has `seen`.
        After an error nothing is computed. Pending tensors of before are left out.
        """
        self._names = _networks(seen)
        built = []
        for entry in tensors.collect(names, []):
            # An assignment to elements gives a tensor of the program another node.
            x = entry.tensor = tw.Tensor(entry.tensor.node)
            is_new = self._is_new(x.node)
            if is_new or tensors.is_computed(pair_of(x.node)):
                self.entries.append(entry)
            if is_new:
                built.append(x)
        if self.error is None:
            tw.realize(*built)

    def inspect(
        self, x: tw.Tensor, name: str, main: str, seen: Mapping[str, object]
    ) -> None:
        """Compute one tensor, and take over the values that it was made from."""
        self._names = _networks(seen)
        with self.open(main):
            self._followed = self._provenance.follow(pair_of(x.node))
            tw.realize(x)
        self._first = 0
        self.entries = [tensors.Entry(tw.Tensor(x.node), [name], [])]

    @property
    def _provenance(self) -> Provenance:
        return self._inside.provenance

    def fail(self, error: BaseException) -> None:
        """Note the exception that ended the program."""
        kind, message = type(error).__name__, str(error)
        text = f"{kind}: {message}"
        self.error = {
            "type": kind,
            "message": message,
            "frames": [],
            "text": text,
            "hidden": 0,
        }

    def text(self) -> str:
        """Return the text of the program's file; empty if it is unknown."""
        return "".join(linecache.getlines(self.main))

    def recording(self) -> dict[str, Any]:
        """Return the records of what ran, with the pictures that a report shows."""
        nodes = dict.fromkeys([*self._named_nodes(), *self._nodes])
        built = [*_built(filter(self._is_new, nodes))]
        # Nobody listens to what a report reads, another recording included.
        record = self._standing_in(built)(self._retaining)
        return Context().run(record, self._nodes, built)

    def _named_nodes(self) -> list[Node]:
        return [pair_of(entry.tensor.node) for entry in self.entries]

    def _built_nodes(self) -> list[Node]:
        results = [*self._provenance.nodes(), *self._named_nodes()]
        return self._provenance.ordered(results, self._is_new)

    def _retaining(self, nodes: Sequence[Node], built: list[Built]) -> dict[str, Any]:
        """Return the records; values that are computed for them retain their inputs."""
        with self._provenance.retaining():
            return self._recording(nodes, built)

    def _recording(self, nodes: Sequence[Node], built: list[Built]) -> dict[str, Any]:
        entries: Entries = []
        ids: dict[Node, int] = {}

        def look(node: Node) -> None:
            if node not in ids and len(entries) < policy.MOST_TENSORS:
                ids[node] = len(entries)
                name = label_of(node)
                name = "data" if name == LEAF.name else name
                entries.append(tensors.Entry(tw.Tensor(node), [name], []))

        own = {pair_of(one.tensor.node) for one in self.entries}
        for node in nodes[-MOST_STEPS:] if self._followed is not None else ():
            for each in (*self._provenance.inputs_of(node), node):
                if each not in own and not _is_number(each):
                    look(each)
        for one in self.entries:
            one.lines.clear()
            ids[pair_of(one.tensor.node)] = len(entries)
            entries.append(one)
        lines: Lines = []
        films: list[Film] = []
        for results in _by_line(built):
            if len(lines) == policy.MOST_LINE_RESULTS:
                break
            node = results[-1].node
            look(node)
            if node in ids:
                entries[ids[node]].lines.append(len(lines))
            name = entries[ids[node]].names[0] if node in own else ""
            line = _line_result(results, name)
            if line["count"] > 1:
                films.append((len(lines), name or "value", _steps(results)))
            lines.append(line)
        # Values that a kernel did not store drop their inputs when they are read.
        graph = [*_graph(self._provenance, nodes[-MOST_STEPS:], ids)]
        described = tensors.describe(
            entries, BlockingReader(), is_stopped=self.error is not None
        )
        found = drive(described)
        run: records.RunRecord = {
            "seconds": self.seconds,
            "stopped": False,
            "error": self.error,
            "lines": lines,
            "kernels": self._tally.records(),
            "kernelsLeftOut": self._tally.left_out,
            "memory": self._log is not None,
            "faults": [],
        }
        inside = InsideRecording(self._inside, entries, BlockingReader())
        named = [ids[pair_of(one.tensor.node)] for one in reversed(self.entries)]
        cells = first_cells(entries, named)
        asked = [(named[0], index) for index in self.why]
        if self.error is None:
            drive(inside.record(self._names, films, asked or cells))
        return {
            "source": self.text(),
            "notes": [],
            "run": run,
            # The one that was inspected is of the highest id, and comes first.
            "tensors": found if self._followed is None else found[::-1],
            "responses": [*self._responses(entries, found), *inside.responses],
            "graph": graph,
        }

    def _responses(
        self, entries: Entries, found: Sequence[records.TensorRecord]
    ) -> Iterator[dict[str, Any]]:
        """Yield texts of kernels, the memory, pictures and storages of tensors."""
        for kernel in range(len(self._tally.records())):
            yield response_of("source", {"kernel": kernel}, self._tally.source(kernel))
        yield response_of("splits", {}, self._tally.splits())
        # Its values are retained, so functions under jit are not recorded.
        spent = timeline.record(self._tally, self._started, self.seconds, False)
        yield response_of("timeline", {}, spent)
        if self._log is not None:
            yield response_of("memory", {}, memory.record(self._log, self.entries))
        for entry, record in zip(entries, found, strict=True):
            if "problem" in record or not record["shape"] or record["size"] < 2:
                continue
            details = {"tensor": record["id"]}
            x = entry.tensor
            is_large = len(entries) <= LARGE_PICTURES
            yield response_of("heatmap", details, _picture(x, record, is_large))
            if any(entry is one for one in self.entries):
                storage = drive(tensors.storage_cells(x, BlockingReader()))
                yield response_of("storage", details, storage)

    def _is_new(self, node: Node) -> bool:
        location: Location | None = getattr(pair_of(node), "location", None)
        return location is not None and self._first <= location[2] < self._last

    @contextmanager
    def _standing_in(self, built: Iterable[Built]) -> Iterator[None]:
        """Take the files in which values were built for the program's."""
        names = {self.main: FILENAME}
        for one in built:
            file = one.location[0].co_filename
            if file not in names and len(names) < MOST_FILES:
                name = file.replace("\\", "/").rpartition("/")[2]
                taken = name in names.values()
                names[file] = f"{name} ({len(names)})" if taken else name
        texts = {file: "".join(linecache.getlines(file)) for file in names}
        with sources.standing_in(texts, names):
            yield


def _networks(names: Mapping[str, object]) -> dict[str, object]:
    """Return the names that refer to networks."""
    return {
        name: each
        for name, each in names.items()
        if issubclass(type(each), tw.nn.Module)
    }


def argument_of(frame: FrameType) -> str:
    """Return the expression of the first argument of a frame's call; empty if long."""
    file = frame.f_code.co_filename
    text = "".join(linecache.getlines(file))
    with sources.standing_in({file: text}, {file: FILENAME}):
        return argument_text(frame) or ""


def _picture(
    x: tw.Tensor, record: records.TensorRecord, is_large: bool
) -> records.Heatmap:
    """Return the cells of the slice that the page shows first."""
    channels = record["channels"] if record["coloured"] else None
    axes = [axis for axis in range(len(x.shape)) if axis != channels]
    rows, columns = ([None, *axes])[-2:]
    coloured = pictures.heatmap(
        x,
        rows,
        columns,
        [0] * len(x.shape),
        "mean",
        "full" if is_large and x.size <= PICTURE.cells // 16 else "small",
        BlockingReader(),
        channels,
    )
    return drive(coloured)


def _built(nodes: Iterable[Node]) -> Iterator[Built]:
    """Yield nodes with known lines."""
    for node in nodes:
        location: Location | None = getattr(node, "location", None)
        if location is None or node.op is CONSTANT:
            continue
        code, instruction, _ = location
        line, end_line, _, _ = frames.position_of(code, instruction)
        if line is not None:
            yield Built(node, location, line, end_line or line)


def _by_line(built: Iterable[Built]) -> list[list[Built]]:
    """Return the values of each line in the order in which they were built.

    Lines are in the order of their first value.
    """
    found: dict[tuple[str, int], list[Built]] = {}
    # Values of one instruction keep the order of the graph.
    for one in sorted(built, key=lambda one: one.order):
        code = one.location[0]
        found.setdefault((code.co_filename, one.line), []).append(one)
    return [*found.values()]


def _line_result(results: Sequence[Built], name: str) -> records.LineResult:
    """Return what a line made: its last value, and how often one was computed."""
    last = results[-1]
    code = last.location[0]
    executions: dict[int, set[int]] = {}
    for one in results:
        _, instruction, execution = one.location
        # A call of another function within a line begins a new execution as well.
        executions.setdefault(instruction, set()).add(execution)
    alike = {(x.shape, x.dtype) for _, x in _steps(results)}
    count = max(map(len, executions.values()))
    function = "" if code.co_name == "<module>" else code.co_name
    made = Made(code.co_filename, last.line, last.end_line, function, name)
    made.note(tw.Tensor(last.node))
    made.varies = count > 1 and len(alike) > 1
    copied = {(made.file, one.line) for one in results if one.node.op is COPY}
    return made.record(count, copied) | {"file": sources.name_of(code.co_filename)}


def _steps(results: Sequence[Built]) -> list[tuple[int, tw.Tensor]]:
    """Return the value of each execution of the instruction that a line ends with."""
    _, last, _ = results[-1].location
    of_steps: dict[int, Node] = {}
    for one in results:
        _, instruction, execution = one.location
        if instruction == last:
            of_steps[execution] = one.node
    return [*enumerate(map(tw.Tensor, of_steps.values()))]


def _graph(
    provenance: Provenance, nodes: Sequence[Node], ids: Mapping[Node, int]
) -> Iterator[dict[str, Any]]:
    """Yield operations, inputs first, as `%2 = add(%0, %1)`, data as `%0 = data`."""
    order: dict[Node, int] = {}
    inputs = {node: provenance.inputs_of(node) for node in nodes}
    for node in nodes:
        for one in (*inputs[node], node):
            if one not in order and not _is_number(one):
                order[one] = len(order)
    for node, at in order.items():
        given = ", ".join(
            short(number_of_constant(one)) if _is_number(one) else f"%{order[one]}"
            for one in inputs.get(node, ())
        )
        # A value of before the nodes is data, unless an operation without inputs.
        is_data = not given and (node.op.arity or node.op is LEAF)
        text = f"%{at} = " + ("data" if is_data else f"{node.op.name}({given})")
        location: Location | None = getattr(node, "location", None)
        found = None if location is None else frames.line_of(location)
        yield {
            "text": text,
            "shape": list(node.shape),
            "dtype": str(node.dtype),
            "line": found.number if found and sources.is_main(found.file) else None,
            "tensor": ids.get(node),
        }


def _is_number(node: Node) -> bool:
    """Whether a node is one number, which stands in the text of its consumers."""
    return node.op is CONSTANT and node.storage is None
