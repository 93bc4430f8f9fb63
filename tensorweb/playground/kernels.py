"""The kernels that a run launched, each once, and how the nodes of a flush became them.

Nothing is planned again: the device's cache still has the plan of what ran.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING

from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.events import Flush, Read, Traffic, count_plans, splits
from tensorweb.events import KernelRecord as Launch
from tensorweb.frames import Line
from tensorweb.inspection.cells import INFIX
from tensorweb.ops import OPS
from tensorweb.playground import policy
from tensorweb.playground.kernel_lines import Spans, described, value_of
from tensorweb.playground.kernel_records import (
    KernelSource,
    KernelSplit,
    StageExpression,
    StageKernel,
    StageLoss,
    Stages,
    StageStep,
)
from tensorweb.playground.records import KernelRecord, Span
from tensorweb.playground.sources import is_main, is_program, name_of
from tensorweb.playground.streams import clip, clip_line
from tensorweb.schedule.formula import input_name
from tensorweb.schedule.kernel import Access, Expression, Kernel, Planned, Rule, Step

if TYPE_CHECKING:
    from tensorweb.playground.attempts import Attempts


LETTERS = "ijklmnpqrst"
"""Indices of an expression's axes, in order."""

WITHOUT_STEP = frozenset({"leaf", "constant", "iota"})
"""Kinds whose nodes are inputs of kernels or numbers in them."""


def record(flush: Flush, launch: Launch, numbers: Mapping[Key, int]) -> Stages:
    """Return the stages of a flush, of a large one those of one launch.

    Raises:
        LookupError: its plan is not cached any more.
    """
    backend = devices.backend(launch.device)
    found = (
        backend.planned(flush.launches) if isinstance(backend, KernelBackend) else ()
    )
    plans = {planned.outputs: planned for planned in found}
    if launch.outputs not in plans:
        raise LookupError("the plan is not cached any more: run the program again")
    shown = [each for each in _firsts(flush) if key_of(each) in numbers]
    nodes: Collection[int] = range(len(flush.graph))
    if len(nodes) > policy.MOST_STAGE_NODES:
        shown = [each for each in shown if each.outputs == launch.outputs]
        inputs = (flush.graph[number].inputs for number in launch.nodes)
        near = sorted({*launch.nodes, *chain.from_iterable(inputs)})
        nodes = near[: policy.MOST_STAGE_NODES]
    spans = Spans(flush)
    return {
        "nodes": [
            {
                "node": number,
                "op": flush.graph[number].op,
                "value": value_of(flush, number),
                "inputs": list(flush.graph[number].inputs),
                "span": spans.of(number),
            }
            for number in nodes
        ],
        "kernels": [
            _kernel(flush, each, plans[each.outputs], numbers[key_of(each)], nodes)
            for each in shown
        ],
        "leftOut": len(flush.graph) - len(nodes),
    }


def _firsts(flush: Flush) -> Iterator[Launch]:
    """Yield the first launch of each kernel."""
    known: set[Hashable] = set()
    for launch in flush.launches:
        if launch.outputs not in known:
            known.add(launch.outputs)
            yield launch


def _kernel(
    flush: Flush, launch: Launch, planned: Planned, index: int, nodes: Collection[int]
) -> StageKernel:
    computed = [number for number in launch.nodes if number in nodes]
    seen = set(chain.from_iterable(numbers for _, numbers in launch.steps))
    kinds = {number: OPS[flush.graph[number].op].kind for number in computed}
    lost: list[StageLoss] = [
        {
            "node": number,
            "why": "view"
            if kind == "movement"
            else "copy"
            if kind == "copy"
            else "equal",
        }
        for number, kind in kinds.items()
        if number not in seen and kind not in WITHOUT_STEP
    ]
    kernel = planned.kernel
    return {
        "kernel": index,
        "nodes": computed,
        "outputs": [number for number in launch.outputs if number in nodes],
        "expressions": [
            _expression(kernel, name, each, nodes) for name, each in kernel.expressions
        ],
        "lost": lost,
    }


def _expression(
    kernel: Kernel, name: str, expression: Expression, nodes: Collection[int]
) -> StageExpression:
    lengths = list(chain.from_iterable(expression.groups))
    steps: list[StageStep] = []
    of_steps = zip(expression.steps, expression.nodes, strict=True)
    for number, (step, node) in enumerate(of_steps):
        text = clip_line(_text(kernel, expression, step), policy.LONGEST_PROBLEM)
        shown = node if node in nodes else None
        steps.append({"name": f"v{number}", "text": text, "node": shown})
    axes = [f"{_letter(at)} < {length}" for at, length in enumerate(lengths)]
    return {
        "name": name,
        "axes": ", ".join(axes),
        "steps": steps[: policy.MOST_STAGE_STEPS],
    }


def _text(kernel: Kernel, expression: Expression, step: Step) -> str:
    """Return a step as a formula of earlier values."""
    args = [f"v{number}" for number in step.args]
    name = input_name(step.slot)
    guard = f" if v{step.guard}" if step.guard >= 0 else ""
    match step.kind:
        case "load":
            return f"{name}[{_index(expression.accesses[step.access])}]{guard}"
        case "gather":
            return f"{name}[{', '.join(args)}]{guard}"
        case "ramp":
            return _index(expression.accesses[step.access])
        case "scalar":
            return step.name or f"c{step.slot + 1 if step.slot else ''}"
        case "core":
            return kernel.op.split(",")[max(step.slot, 0)]
        case "cast":
            return f"{step.dtype}({args[0]})"
    infix = INFIX.get(step.name)
    return infix.join(args) if infix else f"{step.name}({', '.join(args)})"


def _index(access: Access) -> str:
    """Return an index of a storage as a formula; an axis of stride 0 is not in it."""
    strides = enumerate(chain.from_iterable(access.strides))
    terms = [
        _letter(at) if stride == 1 else f"{stride}·{_letter(at)}"
        for at, stride in strides
        if stride
    ]
    if access.offset or not terms:
        terms.append(str(access.offset))
    return " + ".join(terms)


def _letter(axis: int) -> str:
    return LETTERS[axis] if axis < len(LETTERS) else f"i{axis}"


Key = tuple[str, Hashable, tuple[int, int]]
"""A kernel's name, its code and its grid."""

Output = tuple[tuple[int, ...], str]
"""Shape and dtype of a value that a kernel stores."""


class Tally:
    """Count launches by kernel and grid, in bounded memory.

    A loop flushes the same list of launches repeatedly. So repetitions of lists are
    counted, by the lines that built their values, and the launches in them only on
    request or if there are many lists. A kernel's source line is that of its first
    flush; seconds are summed over all flushes.

    Attributes:
        flushes, reads: the first ones, with their times.
    """

    def __init__(self) -> None:
        self._records: dict[Key, KernelRecord] = {}
        self._outputs: dict[Key, list[Output]] = {}
        self._lines: dict[Key, dict[Line, int]] = {}
        self._others: set[int] = set()
        self._flushes: dict[Hashable, tuple[Flush, int]] = {}
        self._counted = 0
        self._plans = 0
        self._most = policy.MOST_TIMED
        self.flushes: list[Flush] = []
        self.reads: list[Read] = []
        self._total = 0
        self._is_full = False

    def add(self, flush: Flush) -> None:
        """Note one flush; its launches are counted later, together with others."""
        listed = self.flushes
        if self._is_full or len(listed) >= self._most:
            self._is_full = True
            count_plans()
            self._count_flush(flush)
            return
        listed.append(flush)
        if len(listed) % policy.MOST_FLUSHES == 0:
            self._count_listed()

    def _count_listed(self) -> None:
        listed = self.flushes
        new, self._counted = listed[self._counted :], len(listed)
        for flush in new:
            self._count_flush(flush)
        if len(listed) >= policy.LEAST_TIMED:
            seconds = listed[-1].submitted - listed[0].begun
            if seconds < len(listed) * policy.SECONDS_A_FLUSH:
                self._most = len(listed)

    def _count_flush(self, flush: Flush) -> None:
        if flush.seconds is not None:
            self._total += 1
            for launch, seconds in zip(flush.launches, flush.seconds, strict=True):
                self._count(flush, launch, 1, seconds)
            return
        # After `count_plans` the report counts; before, there is a report a flush.
        built = tuple((id(at[0]), at[1]) if at else None for at in flush.locations)
        key = id(flush) if self._is_full else (id(flush.launches), built)
        first, count = self._flushes.get(key, (flush, 0))
        self._flushes[key] = first, count + 1
        if len(self._flushes) > policy.MOST_FLUSHES:
            self._count_lists()
            self._plans += policy.MOST_FLUSHES
            if self._plans > policy.MOST_TIMED_PLANS:
                self._most = len(self.flushes)

    def add_read(self, read: Read) -> None:
        """Note a read, while flushes are noted."""
        if not self._is_full and len(self.reads) < policy.MOST_TIMED:
            self.reads.append(read)

    @property
    def unlisted(self) -> int:
        """The count of flushes that are not in `flushes`."""
        self._fold()
        return self._total - len(self.flushes)

    def numbers(self) -> dict[Key, int]:
        """Return the indices of kernels in `records()`."""
        self._fold()
        return {key: index for index, key in enumerate(self._records)}

    def _fold(self) -> None:
        """Count all launches; kernels above the limit are omitted."""
        self._count_listed()
        self._count_lists()

    def _count_lists(self) -> None:
        for flush, count in self._flushes.values():
            times = count - 1 + flush.times
            flush.times = 0
            self._total += times
            for launch in flush.launches:
                self._count(flush, launch, times)
        self._flushes.clear()

    def _count(
        self, flush: Flush, launch: Launch, times: int, seconds: float | None = None
    ) -> None:
        key = key_of(launch)
        line = flush.line(launch)
        if known := self._records.get(key):
            known["count"] += times
            if self._count_line(key, line, times):
                new = [
                    one for one in _spans(flush, launch) if one not in known["spans"]
                ]
                known["spans"] = [*known["spans"], *new][: policy.MOST_SPANS]
            if seconds is not None:
                known["seconds"] = known.get("seconds", 0.0) + seconds
            return
        if len(self._records) == policy.MOST_KERNELS:
            self._others.add(hash(key))
            return
        stored = [flush.graph[number] for number in launch.outputs]
        self._outputs[key] = [(each.shape, each.dtype) for each in stored]
        self._count_line(key, line, times)
        self._records[key] = {
            "name": launch.name,
            "kind": launch.kind,
            "formula": launch.formula,
            "copies": _copies(flush, launch),
            "device": launch.device,
            "grid": list(launch.grid),
            "buffers": launch.buffers,
            "bytes": launch.bytes,
            "flops": launch.flops,
            "loaded": launch.loaded,
            "stored": launch.stored,
            "line": line.number if line and is_program(line.file) else None,
            "spans": _spans(flush, launch),
            "count": times,
        }
        if line and is_program(line.file) and not is_main(line.file):
            self._records[key]["file"] = name_of(line.file)
        if seconds is not None:
            self._records[key]["seconds"] = seconds

    def _count_line(self, key: Key, line: Line | None, times: int) -> bool:
        """Count launches of a line; return whether they are its first ones."""
        if line is None or not is_program(line.file):
            return False
        counts = self._lines.setdefault(key, {})
        is_new = line not in counts
        counts[line] = counts.get(line, 0) + times
        return is_new

    @property
    def left_out(self) -> int:
        """The count of different kernels and grids that `records()` omits."""
        self._fold()
        return len(self._others)

    def records(self) -> list[KernelRecord]:
        """Return one record per different kernel and grid, in order of first launch."""
        self._fold()
        for key, counts in self._lines.items():
            if len(counts) > 1:
                self._records[key]["launches"] = [
                    {"file": name_of(line.file), "line": line.number, "count": count}
                    for line, count in islice(counts.items(), policy.MOST_SPANS)
                ]
        return list(self._records.values())

    def splits(self) -> list[KernelSplit]:
        """Return what kernels write for others, and why these are not one kernel."""
        numbers = self.numbers()
        lists: dict[int, Flush] = {}
        for flush in self.flushes:
            lists.setdefault(id(flush.launches), flush)
        found: dict[Hashable, KernelSplit] = {}
        for writer, written, reader, read, value in _splits(lists.values()):
            first, second = numbers.get(key_of(writer)), numbers.get(key_of(reader))
            if first is None or second is None or first == second:
                continue
            split: KernelSplit = {
                "writer": first,
                "reader": second,
                "value": value,
                "written": written.nbytes,
                "read": read.nbytes,
                "why": read.why,
            }
            found.setdefault((first, second, value, read.why), split)
        return list(found.values())[: policy.MOST_SPLITS]

    def source(self, kernel: int) -> KernelSource:
        """Return the text of one kernel of `records()`, and what its lines belong to.

        Raises:
            LookupError: there is no such kernel.
        """
        key = self._key(kernel)
        full = str(key[1])
        text = clip(full, policy.MOST_SOURCE)
        found: KernelSource = {"text": text, "lines": [], "buffers": []}
        for flush in self.flushes:
            for launch in flush.launches:
                if key_of(launch) == key:
                    # Lines of a text without its middle have other numbers.
                    found["lines"], found["buffers"] = described(
                        launch.code if text == full else text, flush, launch
                    )
                    return found
        return found

    def stages(self, kernel: int) -> Stages:
        """Return how the first flush with a kernel was planned.

        Raises:
            LookupError: there is no such kernel, or its plan is not cached any more.
        """
        # Imported now: only this request needs it.
        from tensorweb.playground import kernels

        key = self._key(kernel)
        for flush in self.flushes:
            for launch in flush.launches:
                if key_of(launch) == key:
                    return kernels.record(flush, launch, self.numbers())
        raise LookupError("the kernel's flush was not recorded: the run had too many")

    def attempts(self, kernel: int) -> Attempts | None:
        """Return what captures the next launch of a kernel, to edit its text.

        None if there is no such kernel, or if it is not one of a GPU.
        """
        # Imported now: who edits no kernel needs neither.
        from tensorweb.backends.webgpu import WebGpuBackend

        from .attempts import Attempts

        records = self.records()
        if not 0 <= kernel < len(records):
            return None
        _, code, grid = list(self._records)[kernel]
        backend = devices.backend(records[kernel]["device"])
        if not isinstance(backend, WebGpuBackend):
            return None
        return Attempts(backend.capture(str(code), grid))

    def captured(self, attempts: Attempts) -> int | None:
        """Note what a captured kernel stores; return its index, None for none.

        Kernels of different names can have one text and one grid. The first one of
        them in this run is the captured one.
        """
        capture = attempts.capture
        for key, index in self.numbers().items():
            is_same = (str(key[1]), key[2]) == (capture.source, capture.grid)
            if capture.words is not None and is_same:
                attempts.outputs = self._outputs[key]
                attempts.values = self._values(key)
                return index
        return None

    def _values(self, key: Key) -> list[Output | None]:
        """Return what the storages of a kernel have, in order of their bindings."""
        for flush in self.flushes:
            for launch in flush.launches:
                if key_of(launch) == key:
                    known = [(each.shape, each.dtype) for each in flush.graph]
                    return [dict(enumerate(known)).get(n) for n in launch.bindings]
        return []

    def _key(self, kernel: int) -> Key:
        keys = list(self._records)
        if not 0 <= kernel < len(keys):
            raise LookupError(f"there is no kernel number {kernel} in the last run")
        return keys[kernel]


def key_of(launch: Launch) -> Key:
    """Return the key of a launch's kernel."""
    return launch.name, launch.code, launch.grid


def _splits(
    flushes: Iterable[Flush],
) -> Iterator[tuple[Launch, Traffic, Launch, Traffic, str]]:
    """Yield writers and readers with what they write and read, also across flushes.

    A value of an earlier flush is recognised by where the program built it.
    """
    made: dict[Hashable, tuple[Launch, Traffic, str]] = {}
    for flush in flushes:
        launches = flush.launches
        for one in splits(launches):
            value = value_of(flush, one.read.storage)
            writer, reader = launches[one.writer], launches[one.reader]
            yield writer, one.written, reader, one.read, value
        for reader in launches:
            for read in reader.reads:
                origins = () if read.why else _origins(flush, read)
                known = next((made[each] for each in origins if each in made), None)
                if known is not None:
                    writer, written, value = known
                    read = read._replace(why=Rule.FLUSHED.value)
                    yield writer, written, reader, read, value
        for writer in launches:
            for written in writer.writes:
                value = value_of(flush, written.storage)
                for each in _origins(flush, written):
                    made[each] = writer, written, value


def _origins(flush: Flush, traffic: Traffic) -> tuple[Hashable, ...]:
    """Return where a value was built: in this execution, in any; nothing if unknown."""
    if traffic.storage >= len(flush.locations):
        return ()
    location = flush.locations[traffic.storage]
    return () if location is None else (location, location[:2])


def _spans(flush: Flush, launch: Launch) -> list[Span]:
    """Return the expressions of the program that a kernel computes."""
    known = Spans(flush)
    spans: list[Span] = []
    for code, instruction in flush.instructions(launch):
        span = known.at(code, instruction)
        if span is not None and span not in spans:
            spans.append(span)
    return spans[: policy.MOST_SPANS]


def _copies(flush: Flush, launch: Launch) -> bool:
    """Whether a kernel that is not a copy itself contains a copy into another order."""
    is_copy = launch.formula.startswith("copy(")
    return not is_copy and any(flush.graph[n].op == "copy" for n in launch.nodes)


def faults() -> list[str]:
    """Return the known computing errors of the open devices' adapters."""
    return [
        fault
        for backend in devices.all_opened()
        for fault in getattr(backend, "faults", ())
    ]
