"""The costliest avoidable thing of a run, in a sentence with the edit that removes it.

A rule looks at the flushes and reads of a run for one kind of fault; `RULES` has them
all. `ranked` returns what they find, the costliest first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tensorweb import frames
from tensorweb.events import Flush, KernelRecord, Read
from tensorweb.frames import Line

LEAST_SECONDS = 0.001
LEAST_SHARE = 0.03
"""A cost is reported from this time and this share of the run on."""

LEAST_BYTES = 1 << 20
"""Bytes from which on a cost without a time is reported."""

NOMINAL_BANDWIDTH = 2e10
"""Bytes in a second by which costs without a time are ranked among the others."""

LEAST_REPEATS = 8
"""Repetitions from which on a loop is worth an edit."""

SMALL_BYTES = 1 << 18
SMALL_FLOPS = 1 << 22
"""A launch below both takes less time than it takes to launch."""

SECONDS_PER_NODE = 1e-4
"""Time in which Python builds a node, at most: 5 to 50 microseconds in browsers."""

LEAST_WASTE = 1.5
"""Bytes touched over bytes needed from which on a strided read is reported."""

LONGEST_CODE = 40
"""Characters of the expressions that sentences quote."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An avoidable cost.

    Attributes:
        rule: name of the rule.
        text: the sentence; it contains `line N` if the line is known.
        line: the program's line.
        seconds: time that the edit saves at most; None if it was not measured.
        nbytes: bytes that it saves.
    """

    rule: str
    text: str
    line: Line | None
    seconds: float | None
    nbytes: int = 0

    @property
    def rank(self) -> float:
        """Seconds, estimated from the bytes if they were not measured."""
        return self.nbytes / NOMINAL_BANDWIDTH if self.seconds is None else self.seconds


@dataclass(frozen=True, slots=True)
class Run:
    """What rules look at: the flushes and reads of a run, in order of time.

    Attributes:
        seconds: duration of the run.
        is_recorded: whether functions under `jit` were recorded and replayed, as they
            are unless the values of the run are retained or searched.
    """

    flushes: Sequence[Flush]
    reads: Sequence[Read]
    seconds: float
    is_recorded: bool = True


Rule = Callable[[Run], Iterator[Finding]]


def ranked(run: Run) -> list[Finding]:
    """Return the costs that are worth an edit, the costliest first."""
    least = max(LEAST_SECONDS, LEAST_SHARE * run.seconds)
    found = [finding for rule in RULES for finding in rule(run)]
    worth = [
        each
        for each in found
        if (
            each.nbytes >= LEAST_BYTES
            if each.seconds is None
            else each.seconds >= least
        )
    ]
    return sorted(worth, key=lambda each: each.rank, reverse=True)


def waits(run: Run) -> Iterator[Finding]:
    """Find reads of one expression that each waited for the device."""
    by_call = defaultdict(list)
    for read in run.reads:
        if read.device != "cpu":  # there values are computed before they are read
            by_call[read.code, read.instruction].append(read.done - read.begun)
    for (code, instruction), times in by_call.items():
        text = _quoted((code, instruction, 0), "a read")
        if len(times) < LEAST_REPEATS or "show(" in text:
            continue
        line = frames.line_of((code, instruction, 0))
        sentence = (
            f"{text}{_on(line)} waited for the device {len(times):,} times, "
            f"{_time(sum(times))} together; read once after the loop, from a list of "
            "tensors for example."
        )
        yield Finding("waits", sentence, line, sum(times) - max(times))


def steps(run: Run) -> Iterator[Finding]:
    """Find graphs that Python built and looked up again and again."""
    if not run.is_recorded:
        return
    spent: dict[int, float] = defaultdict(float)
    repeats: dict[int, list[Flush]] = defaultdict(list)
    ends = sorted([f.submitted for f in run.flushes] + [r.done for r in run.reads])
    at = 0
    for flush in run.flushes:
        while at + 1 < len(ends) and ends[at + 1] <= flush.begun:
            at += 1
        key = id(flush.launches)
        if repeats[key] and not flush.is_replay:
            before = ends[at] if ends[at] <= flush.begun else flush.begun
            # The program may have done more than to build the graph.
            most = len(flush.graph) * SECONDS_PER_NODE
            spent[key] += min(flush.begun - before, most) + flush.planned - flush.begun
        repeats[key].append(flush)
    for key, seconds in spent.items():
        first, count = repeats[key][0], len(repeats[key])
        if count < LEAST_REPEATS or not first.launches:
            continue
        line = _line(repeats[key], first.launches[-1])
        text = (
            f"Python built the graph that ends{_on(line)} {count:,} times, "
            f"{_time(seconds)} together with its planning; a function under `tw.jit` "
            "records it once."
        )
        yield Finding("steps", text, line, seconds)


def launches(run: Run) -> Iterator[Finding]:
    """Find equal small kernels that one line launches in one flush."""
    for same in _plans(run):
        flush = same[0]
        groups: dict[tuple[object, ...], list[KernelRecord]] = defaultdict(list)
        for launch in flush.launches:
            is_small = launch.loaded + launch.stored < SMALL_BYTES
            if is_small and launch.flops < SMALL_FLOPS:
                key = launch.name, launch.grid, flush.line(launch)
                groups[key].append(launch)
        host = sum(max(_host(each), 0.0) for each in same)
        for group in groups.values():
            is_chain = _is_chain(flush, group)
            if len(group) < LEAST_REPEATS or (is_chain and not run.is_recorded):
                continue
            line = _line(same, group[0])
            seconds = host * (len(group) - 1) / len(flush.launches)
            edit = (
                "each needs the one before, so `tw.jit` would record them once"
                if is_chain
                else "`tw.vmap`, or one operation on stacked tensors, needs one"
            )
            text = (
                f"{len(group):,} equal kernels of {_size(group[0])} are launched"
                f"{_on(line)}: {_time(seconds)} to plan and submit them; {edit}."
            )
            yield Finding("launches", text, line, seconds)


def copies(run: Run) -> Iterator[Finding]:
    """Find views that the program stores in another order; kernels read them as well.

    Copies that only kernels of their own flush read are left out by the scheduler.
    """
    for same in _plans(run):
        for launch in same[0].launches:
            source = _code(_location(same, launch))
            view = source.removesuffix(".contiguous()").removesuffix(".copy()")
            if not launch.formula.startswith("copy(") or view == source:
                continue
            line = _line(same, launch)
            more = 2 * launch.stored
            times = 1 + more / max(launch.loaded, 1)
            text = (
                f"The copy `{source}`{_on(line)} and a kernel that reads it move "
                f"{times:.1f} times the bytes of a kernel that "
                f"reads `{view}` in place, {_bytes(more)} more."
            )
            seconds = _seconds(same, launch)
            yield Finding("copies", text, line, seconds, more * len(same))


def strides(run: Run) -> Iterator[Finding]:
    """Find kernels that read a part of each cache line, repeatedly."""
    for same in _plans(run):
        for launch in same[0].launches:
            waste = launch.touched / max(launch.loaded, 1)
            if waste < LEAST_WASTE or len(same) < 2:
                continue
            line = _line(same, launch)
            text = (
                f"{_quoted(_location(same, launch), 'A kernel')}{_on(line)} reads "
                f"elements far apart, {len(same):,} times: memory moves {waste:.1f} "
                "times what it needs; `.contiguous()` of that part before the loop "
                "moves it once."
            )
            seconds = _seconds(same, launch)
            part = (1 - 1 / waste) * (len(same) - 1) / len(same)
            nbytes = (launch.touched - launch.loaded) * (len(same) - 1)
            kept = None if seconds is None else seconds * part
            yield Finding("strides", text, line, kept, nbytes)


def shapes(run: Run) -> Iterator[Finding]:
    """Find operations of one line that were planned for many shapes."""
    plans: dict[tuple[object, ...], list[Flush]] = defaultdict(list)
    for same in _plans(run):
        flush = same[0]
        if flush.launches and not flush.is_replay:
            kinds = tuple((each.kind, each.formula) for each in flush.launches)
            plans[kinds, flush.line(flush.launches[-1])].append(flush)
    for flushes in plans.values():
        if len(flushes) < LEAST_REPEATS:
            continue
        line = flushes[0].line(flushes[0].launches[-1])
        seconds = sum(each.planned - each.begun for each in flushes[1:])
        text = (
            f"The operations that end{_on(line)} were planned for {len(flushes):,} "
            f"shapes, {_time(seconds)} together; padded to one shape they need one "
            "plan."
        )
        yield Finding("shapes", text, line, seconds)


RULES: tuple[Rule, ...] = (waits, steps, launches, copies, strides, shapes)
"""Each finds one kind of fault."""


def _plans(run: Run) -> list[list[Flush]]:
    """Return the flushes of each plan."""
    found: dict[int, list[Flush]] = defaultdict(list)
    for flush in run.flushes:
        found[id(flush.launches)].append(flush)
    return list(found.values())


def _host(flush: Flush) -> float:
    """Return Python's seconds of a flush; on the CPU a submission computes."""
    is_cpu = bool(flush.launches) and flush.launches[0].device == "cpu"
    is_waited = is_cpu or flush.seconds is not None
    return (flush.encoded if is_waited else flush.submitted) - flush.begun


def _seconds(same: Sequence[Flush], launch: KernelRecord) -> float | None:
    """Return the device's seconds of a launch in all flushes of a plan, if measured."""
    if any(flush.seconds is None for flush in same):
        return None
    at = next(n for n, each in enumerate(same[0].launches) if each is launch)
    return sum(flush.seconds[at] for flush in same if flush.seconds is not None)


def _is_chain(flush: Flush, group: Sequence[KernelRecord]) -> bool:
    """Whether each launch reads what the one before stores."""
    return all(
        set(first.outputs)
        & {n for node in then.nodes for n in flush.graph[node].inputs}
        for first, then in pairwise(group)
    )


def _line(same: Sequence[Flush], launch: KernelRecord) -> Line | None:
    """Return a launch's line; later flushes of a plan may not have recorded it."""
    return next((line for flush in same if (line := flush.line(launch))), None)


def _location(same: Sequence[Flush], launch: KernelRecord) -> frames.Location | None:
    for flush in same:
        if flush.locations and launch.outputs:
            return flush.locations[launch.outputs[-1]]
    return None


def _code(location: frames.Location | None) -> str:
    """Return the text of an expression; empty if it is long or unknown."""
    if location is None:
        return ""
    code, instruction, _ = location
    text = frames.segment(code.co_filename, frames.position_of(code, instruction))
    return text if len(text) <= LONGEST_CODE and "\n" not in text else ""


def _quoted(location: frames.Location | None, otherwise: str) -> str:
    text = _code(location)
    return f"`{text}`" if text else otherwise


def _on(line: Line | None) -> str:
    return "" if line is None else f" on line {line.number}"


def _size(launch: KernelRecord) -> str:
    return _bytes(launch.loaded + launch.stored)


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"
