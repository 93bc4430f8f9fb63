"""A user's session: runs programs and answers requests about the last one."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from inspect import iscoroutinefunction
from time import perf_counter
from typing import TYPE_CHECKING

import tensorweb as tw
from tensorweb import frames
from tensorweb.devices import losses, open_device_async, prefer_device
from tensorweb.display.cells import Pooling
from tensorweb.errors import DeviceError
from tensorweb.events import listening
from tensorweb.frames import noting
from tensorweb.graph.nonfinite import Kind, Search
from tensorweb.memory_log import MemoryLog, logging_memory
from tensorweb.playground import (
    completion,
    device_records,
    inside_records,
    kernel_records,
    kernels,
    memory,
    pictures,
    policy,
    records,
    sources,
    tensors,
)
from tensorweb.playground.rich_output import forget_figures

from .failures import describe_failure, exit_text, syntax_problems
from .files import ProgramFiles, remember_lost
from .host import Host, NextLine, ReadLine, end_tasks, flush_streams
from .lines import Lines
from .numbers import AwaitingReader, BlockingReader, Reader
from .program import Compile, RunOptions, Wait, execute, new_main
from .rich_output import Displays
from .sources import FILENAME
from .streams import Emit, Output, clip
from .warming import Warming

if TYPE_CHECKING:
    from .attempts import Attempts
    from .comparing import Retained
    from .inside import Inside
    from .reruns import Checkpoint, Note, Program, Rerun


Handler = Callable[..., Awaitable[object]]


class Session:
    """Holds the last run's names and tensors until the next run begins."""

    def __init__(
        self,
        emit: Emit,
        wait: Wait | None,
        blocking: bool,
        next_line: NextLine | None = None,
        read_line: ReadLine | None = None,
    ) -> None:
        self._emit = emit
        self._wait = wait
        self._blocking = blocking
        self._reader: Reader = BlockingReader() if blocking else AwaitingReader()
        self._entries: list[tensors.Entry] = []
        self._pair: list[tensors.Entry] = []
        self._main = new_main()
        self._names = vars(self._main)
        self._kernels = kernels.Tally()
        self._memory = MemoryLog()
        self._time = 0.0, 0.0
        self._search: Search | None = None
        self._inside: Inside | None = None
        self._attempts: Attempts | None = None
        self._stopped = False
        self._output = Output(emit)
        self._displays = Displays(emit, self._output)
        self._checkpoint: Checkpoint | None = None
        self._ran: Program | None = None
        self._before: Retained | None = None
        self._is_kept = False
        self._masks: list[tw.Tensor] = []
        self._notes: list[Note] | None = None
        self._lines = Lines()
        self._nonfinite: list[records.NonfiniteLine] = []
        self._files = ProgramFiles(self._lines.module)
        self._host = Host(wait, emit, next_line, read_line)
        self._warming = Warming(blocking)

    async def run(
        self,
        source: str,
        device: records.DeviceName | None = None,
        lines: Sequence[int] | None = None,
        keep: bool = False,
        timed: bool = False,
        search: bool = False,
        inside: bool = False,
        memory: bool = False,
        capture: int | None = None,
        dragged: int | None = None,
        compare: bool = False,
        files: Sequence[records.ProgramFile] = (),
        lost: Sequence[str] = (),
    ) -> records.RunRecord:
        """Run a program; its output and displays are emitted while it runs.

        `files` are its modules and data, `lost` names of files that no longer exist.
        For a cell `lines` are its first and last line; with `keep` it sees the names of
        the previous run. `timed` runs wait for the device after every flush to measure
        each kernel. A `search` checks every value and finds the lines that first
        produced a NaN or infinity. `inside` retains what every value was computed from.
        `memory` logs the buffers of devices, which makes short statements slower.
        `capture` is the kernel of the previous run whose first launch is captured.
        `dragged` is the line of a number that was changed: if possible, only its
        statement and what follows run. `compare` retains the values of the previous
        run, unless this one answers a question about it.
        """
        remember_lost(lost)
        is_more = timed or search or inside or capture is not None
        self._retain(compare, is_more)
        try:
            program = source, device, losses(device) if device else 0, list(files)
            options = RunOptions(
                lines, keep, timed, search, inside, memory, capture, dragged
            )
            return await self._run(program, options)
        except KeyboardInterrupt:
            # Stop may strike before the program begins and after it has ended.
            self._stopped = True
            self._host.restore()
            self._output.flush()
            return {
                "seconds": 0.0,
                "stopped": True,
                "error": None,
                "lines": [],
                "kernels": [],
                "kernelsLeftOut": 0,
                "faults": [],
            }
        finally:
            if self._stopped:
                end_tasks()

    async def leave(self) -> None:
        """Cancel tasks of the last run, whose program is no longer open."""
        end_tasks()

    async def warm(self) -> records.WarmUp:
        """Start to compile the next graph; return whether there is more to do."""
        return await self._warming.step()

    async def _run(self, program: Program, options: RunOptions) -> records.RunRecord:
        rerun = self._plan_rerun(program, options)
        self._begin(options, rerun)
        started = perf_counter()
        failure = await self._execute(program, options, rerun)
        self._time = started, perf_counter() - started
        self._output.flush()
        return self._run_record(options, rerun, failure)

    def _plan_rerun(self, program: Program, options: RunOptions) -> Rerun | None:
        """Return which lines run after a number was dragged, None for other runs."""
        if options.dragged is None:
            return None
        from .reruns import Rerun  # no start needs it

        # The panel Memory shows the buffers of the full program.
        checkpoint = None if options.memory else self._checkpoint
        last = self._ran, self._names, self._lines
        return Rerun(program, options.dragged, checkpoint, *last)

    def _begin(self, options: RunOptions, rerun: Rerun | None) -> None:
        """Free the state of the last run and prepare a new one."""
        capture = options.capture
        attempts = None if capture is None else self._kernels.attempts(capture)
        self._ran = None
        checkpoint = self._checkpoint = rerun.checkpoint if rerun else None
        keep = options.keep or checkpoint is not None
        # What they retain is freed before the collection looks at it.
        self._lines.begin(keep, options.inside)
        if checkpoint is None:
            self._kernels = kernels.Tally()
        self._memory = MemoryLog()
        self._free(keep, begins=checkpoint is None)
        self._attempts = attempts
        self._notes = [] if rerun and rerun.records else None
        if checkpoint is None:
            self._output = Output(self._send)
            self._displays = Displays(self._send, self._output)
        self._stopped = False
        if not keep:
            self._host.begin()
            self._main = new_main()
        self._names = vars(self._main)
        self._search = Search() if options.search else None
        self._inside = self._new_inside() if options.inside else None

    async def _execute(
        self, program: Program, options: RunOptions, rerun: Rerun | None
    ) -> records.Failure | None:
        """Run a program while recorders listen; return how it failed, if it did."""
        source, device, _, files = program
        module, checkpoint, texts = self._main, self._checkpoint, {FILENAME: source}
        if checkpoint is not None:
            checkpoint.resume()
            for note in checkpoint.notes:
                self._send(*note)
        with ExitStack() as stack:
            for recorder in self._recorders(options):
                stack.enter_context(recorder)
            try:
                if device is not None and checkpoint is None:
                    await self._choose(device)
                keep = options.keep or checkpoint is not None
                texts |= self._files.install(files, keep)
                sources.remember(texts)
                *heads, last = rerun.parts() if rerun else [options.lines]
                code: Compile = self._lines.compiled
                if rerun:
                    code = stack.enter_context(rerun.reusing(code))
                for part in heads:
                    await execute(source, module, None, self._wait, part, code)
                if rerun and rerun.records:
                    self._checkpoint = self._recorded(rerun)
                show = self._displays.show
                await execute(source, module, show, self._wait, last, code)
                self._displays.finish()
                self._ran = program if not options.lines else None
            except KeyboardInterrupt:
                self._stopped = True
            except SystemExit as leaving:
                self._output.write(exit_text(leaving), "stderr")
            except BaseException as error:
                return describe_failure(error, texts)
        return None

    def _recorders(
        self, options: RunOptions
    ) -> Iterator[AbstractContextManager[object]]:
        """Yield the contexts in which a program runs, the outermost first."""
        yield self._host.around(self._output, self._displays.show)
        tally, seconds = self._kernels, options.timed and not self._attempts
        yield listening(tally.add, seconds=seconds, reads=tally.add_read)
        if options.memory:
            yield logging_memory(self._memory)
        yield noting(sys.maxsize if self._search else policy.MOST_RECORDED_LINES)
        yield self._lines.noting()
        if self._search is not None:
            yield self._search.searching()
        if self._inside is not None:
            yield self._inside.open()
        if self._attempts is not None:
            yield self._attempts.capture.open()

    def _run_record(
        self, options: RunOptions, rerun: Rerun | None, failure: records.Failure | None
    ) -> records.RunRecord:
        """Describe a run that has ended to the page."""
        tally = self._kernels
        record: records.RunRecord = {
            "seconds": self._time[1],
            "stopped": self._stopped,
            "error": failure,
            "lines": self._lines.records(self._names),
            "kernels": tally.records(),
            "kernelsLeftOut": tally.left_out,
            "faults": kernels.faults(),
        }
        if rerun:
            record["again"] = rerun.sentence()
        if self._inside is not None:
            record["inside"] = True
        if options.memory:
            record["memory"] = True
        if options.capture is not None:
            attempts = self._attempts
            record["captured"] = tally.captured(attempts) if attempts else None
        if self._search is not None:
            record["search"] = tensors.nonfinite_search(self._search)
        return record

    def _send(self, kind: str, fields: Mapping[str, object]) -> None:
        """Send a message to the page, and note it if it may be sent again."""
        if self._notes is not None:
            self._notes.append((kind, fields))
        self._emit(kind, fields)

    def _recorded(self, rerun: Rerun) -> Checkpoint | None:
        """Return the state in the middle of a run, if it can be restored."""
        flush_streams()
        self._output.flush()
        self._displays.finish()
        notes, self._notes = self._notes or [], None
        shown, noted = (self._output, self._displays), (self._kernels, self._lines)
        return rerun.record(self._names, notes, shown, noted)

    def _retain(self, compare: bool, is_more: bool) -> None:
        """Retain the values of the last run for a comparison, or free earlier ones."""
        if not compare:
            self._before, self._is_kept = None, False
        elif not self._is_kept and not is_more:
            # Imported now: no start needs it.
            from .comparing import retained

            self._before = retained(self._entries)

    def _new_inside(self) -> Inside:
        # Imported now: no start needs it, nor the networks that it knows.
        from .inside import Inside

        return Inside(self._blocking)

    async def _choose(self, device: str) -> None:
        """Set the default device; a missing device must not stop plain Python."""
        prefer_device(device)
        if not self._blocking:
            # The first tensor raises the error, at the program's own line.
            with contextlib.suppress(DeviceError):
                await open_device_async(device)

    async def describe(self) -> list[records.TensorRecord]:
        """Return every tensor of the last run with its statistics."""
        self._pair, self._nonfinite = [], []
        self._entries = tensors.collect(self._names, self._displays.shown)
        named = [entry.tensor for entry in self._entries]
        made = self._lines.made(named)
        for entry, lines in zip(self._entries, made, strict=True):
            entry.lines = lines
        # Described together with the others, they need no read of their own.
        unnamed = [] if self._stopped else [*self._unnamed(named)]
        others = [tensors.Entry(x, [""], []) for _, x in unnamed]
        try:
            found = await tensors.describe(
                [*self._entries, *others],
                self._reader,
                is_stopped=self._stopped,
                search=self._search,
            )
        except KeyboardInterrupt:
            return []
        for (line, _), one in zip(unnamed, found[len(named) :], strict=True):
            if one.get("nan") or one.get("inf"):
                kind: Kind = "nan" if one.get("nan") else "inf"
                self._nonfinite.append({"line": line, "kind": kind})
        return found[: len(named)]

    def _unnamed(self, named: Sequence[tw.Tensor]) -> Iterator[tuple[int, tw.Tensor]]:
        """Yield values of lines that no name has, within the limits of `policy`."""
        left, count = policy.MOST_LINE_BYTES, 0
        for line, x in self._lines.unnamed(named):
            left -= x.size * x.dtype.itemsize
            if left < 0 or count == policy.MOST_LINE_VALUES:
                return
            if x.dtype.kind in ("float", "complex"):
                count += 1
                yield line, x

    async def nonfinite(self) -> list[records.NonfiniteLine]:
        """Return which lines made NaN or infinity that no name has any more."""
        return self._nonfinite

    async def source(self, kernel: int) -> kernel_records.KernelSource:
        """Return the text of one of the last run's kernels."""
        return self._kernels.source(kernel)

    async def stages(self, kernel: int) -> kernel_records.Stages:
        """Return how the nodes of a kernel's flush became kernels."""
        return self._kernels.stages(kernel)

    async def splits(self) -> list[kernel_records.KernelSplit]:
        """Return what kernels of the last run write for others, and why."""
        return self._kernels.splits()

    async def memory(self) -> device_records.MemoryRecord:
        """Return the buffers of a run that logged them, and its peak."""
        return memory.record(self._memory, self._entries)

    async def timeline(self) -> device_records.TimelineRecord:
        """Return where the time of the last run went."""
        # Imported now: no start needs it.
        from . import timeline

        is_recorded = self._inside is None and self._search is None
        return timeline.record(self._kernels, *self._time, is_recorded)

    async def rates(self, device: records.DeviceName) -> device_records.DeviceRates:
        """Measure what a device does in a second, in some tenths of a second."""
        # Imported now: no start needs it.
        from . import timeline

        return await timeline.rates(device, self._blocking)

    async def statistics(self, tensor: int) -> records.Statistics:
        """Return the statistics of one tensor."""
        x = self._tensor(tensor)
        return (await tensors.statistics_of([x], self._reader, self._search))[0]

    async def text(self, tensor: int) -> records.TensorText:
        """Return the digits of a tensor as `print` writes them."""
        return {"text": clip(repr(self._tensor(tensor)))}

    async def fingerprint(self) -> records.Fingerprints:
        """Return the fingerprints of this run's results, to compare with a run."""
        return await tensors.fingerprints(self._entries, self._reader)

    async def heatmap(
        self,
        tensor: int,
        rows: int | None,
        columns: int | None,
        indices: Sequence[int],
        how: Pooling = "mean",
        size: records.PictureSize = "full",
        channels: int | None = None,
    ) -> records.Heatmap:
        """Return the heat map of one slice of a tensor, in colour with `channels`."""
        x = self._tensor(tensor)
        return await pictures.heatmap(
            x, rows, columns, indices, how, size, self._reader, channels
        )

    async def storage(self, tensor: int) -> records.Heatmap:
        """Return the storage of a tensor as one row of cells, in memory order."""
        return await tensors.storage_cells(self._tensor(tensor), self._reader)

    async def sample(
        self,
        tensor: int,
        rows: int | None,
        columns: int | None,
        indices: Sequence[int],
    ) -> records.Sample:
        """Return some values of one slice of a tensor."""
        x = self._tensor(tensor)
        return await pictures.sample(x, rows, columns, indices, self._reader)

    async def find(self, tensor: int, what: records.Extreme) -> records.Found:
        """Return the index of a tensor's largest, smallest or first NaN value."""
        return await pictures.find(self._tensor(tensor), what, self._reader)

    async def pair(self, first: int, second: int) -> records.Pair:
        """Broadcast two tensors to one shape and measure their difference.

        Both and their difference can be requested by the ids of their records, until
        another pair is chosen.

        Raises:
            ShapeError: the shapes do not broadcast.
        """
        a, b = tw.broadcast_arrays(self._tensor(first), self._tensor(second))
        return await self._paired(a, b, [self._name(one) for one in (first, second)])

    async def _paired(
        self, a: tw.Tensor, b: tw.Tensor, names: list[str]
    ) -> records.Pair:
        """Let both and their difference be requested, and measure the difference."""
        first = len(self._entries)
        self._pair, found = await tensors.paired(a, b, names, first, self._reader)
        return found

    async def attempt(self, source: str) -> kernel_records.Attempt:
        """Run the captured kernel with its own text and with another one."""
        problems, outputs, seconds = await self._captured().run(source, self._blocking)
        pairs: list[records.Pair] = []
        for before, after in outputs:
            pair = await self._paired(before, after, ["original", "edited"])
            if pair["differing"] or not pairs:
                pairs = [pair]
            if pair["differing"]:
                break
        return {"problems": problems, "seconds": seconds, "pairs": pairs}

    async def as_code(self, source: str) -> kernel_records.KernelCode:
        """Return the captured kernel with another text as code of a program."""
        return {"text": self._captured().as_code(source)}

    async def threads(self, source: str, group: list[int]) -> kernel_records.Threads:
        """Return what the invocations of a workgroup of the captured kernel do."""
        return await self._captured().threads(source, group, self._blocking)

    def _captured(self) -> Attempts:
        if self._attempts is None:
            raise LookupError("the last run captured no kernel")
        return self._attempts

    async def why(
        self, tensor: int, index: Sequence[int], search: bool = False
    ) -> inside_records.Why:
        """Explain one cell of a tensor of a run with provenance.

        With `search`, explain the first NaN or infinity that it comes from instead.
        """
        x = self._tensor(tensor)
        inside = self._looked_into()
        return await inside.why(self._entries, x, index, is_search=search)

    async def aligned(self, tensor: int) -> inside_records.Alignment:
        """Return how the operands of an operation that `why` listed align."""
        x = self._tensor(tensor)
        return self._looked_into().aligned(self._entries, x)

    async def partial_sum(
        self, tensor: int, index: Sequence[int], depth: int
    ) -> inside_records.WhyCell:
        """Return the sum of the first terms of a cell of a product of matrices."""
        x = self._tensor(tensor)
        return await self._looked_into().partial_sum(x, index, depth)

    async def reached(
        self, tensor: int, index: Sequence[int]
    ) -> list[inside_records.WhySource]:
        """Return which cells of named tensors a cell of one reaches."""
        x = self._tensor(tensor)
        return await self._looked_into().reached(self._entries, x, index)

    async def export(
        self,
        tensor: int,
        rows: int | None,
        columns: int | None,
        indices: Sequence[int],
        format: records.FileFormat,
        start: int,
    ) -> records.Part:
        """Return a part of a file: a tensor as `.npy`, one slice as CSV."""
        x = self._tensor(tensor)
        if format == "npy":
            return await pictures.npy(x, start, self._reader)
        return await pictures.csv(x, rows, columns, indices, start, self._reader)

    async def cells(
        self,
        tensor: int,
        rows: int | None,
        columns: int | None,
        indices: Sequence[int],
        window: Sequence[int],
    ) -> records.Cells:
        """Return exact values; a window is row, column, count of rows, of columns."""
        row, column, height, width = window
        return await pictures.cells(
            self._tensor(tensor),
            rows,
            columns,
            indices,
            row,
            column,
            height,
            width,
            self._reader,
        )

    async def members(self, path: str, imported: bool) -> list[records.Member]:
        """Return the members of a dotted path; "" for the last run's names."""
        return completion.members(path, self._names, imported)

    async def explain(self, path: str, imported: bool) -> records.Explanation:
        """Return signature and documentation of a dotted path."""
        return completion.explain(path, self._names, imported)

    async def lint(self, source: str) -> records.Problems:
        """Return the syntax error of a program, without running it."""
        return syntax_problems(source)

    async def gradients(
        self, tensor: int, index: Sequence[int]
    ) -> list[inside_records.CellGradient]:
        """Return the gradients of a cell by the named tensors that it depends on."""
        x = self._tensor(tensor)
        inside = self._looked_into()
        bound = self._lines.bound(name for one in self._entries for name in one.names)
        return await inside.gradients(self._entries, x, index, bound, self._reader)

    async def check_gradient(
        self, tensor: int, index: Sequence[int], by: int, gradient: int
    ) -> inside_records.GradientCheck:
        """Compare the largest element of a gradient with a difference quotient."""
        x, by_x, found = map(self._tensor, (tensor, by, gradient))
        inside = self._looked_into()
        return await inside.check_gradient(x, index, by_x, found, self._reader)

    async def compared(
        self, device: records.DeviceName
    ) -> inside_records.DeviceComparison:
        """Compare the operations behind named tensors with another device."""
        return await self._looked_into().compared(self._entries, device)

    async def keep_values(self, kept: bool) -> records.ValueComparison:
        """Compare the following runs with the last one, or each with the one before."""
        self._is_kept = False
        self._retain(True, not kept)
        self._is_kept = kept
        return await self.differences()

    async def differences(self) -> records.ValueComparison:
        """Compare the values of the last run with those retained."""
        from .comparing import compared

        found, self._masks = await compared(self._before, self._entries, self._reader)
        return found

    async def modules(self) -> list[inside_records.ModuleRecord]:
        """Return the modules of the networks that have a name."""
        inside, flushes = self._looked_into(), self._kernels.flushes
        return await inside.modules(self._names, self._reader, flushes)

    async def film(self, result: int) -> inside_records.FilmRecord:
        """Return the values that a statement bound while the program ran."""
        inside = self._looked_into()
        name = self._lines.records(self._names)[result]["name"] or "returned"
        return await inside.film(self._lines.film(result), name, self._reader)

    async def inside(self) -> inside_records.InsideResponses:
        """Return what Why?, Film and Model show of the run, for a report."""
        from .inside_recording import InsideRecording, first_cells

        found = InsideRecording(self._looked_into(), self._entries, self._reader)
        lines = enumerate(self._lines.records(self._names))
        films = (
            (index, line["name"] or "returned", self._lines.film(index))
            for index, line in lines
            if line["count"] > 1
        )
        cells = first_cells(self._entries, reversed(range(len(self._entries))))
        await found.record(self._names, films, cells)
        return {"responses": json.dumps(found.responses)}

    def _looked_into(self) -> Inside:
        if self._inside is None:
            raise LookupError("the last run retained no provenance")
        self._inside.name_parameters(self._names)
        return self._inside

    def answering(self, handler: Handler) -> Handler:
        """Return a handler that retains the provenance of what it computes."""

        @functools.wraps(handler)
        async def answer(*args: object, **details: object) -> object:
            if self._inside is None:
                return await handler(*args, **details)
            with self._inside.provenance.retaining():
                return await handler(*args, **details)

        return answer

    def _tensor(self, number: int) -> tw.Tensor:
        if self._inside is not None and number >= policy.FIRST_VALUE_ID:
            return self._inside.tensor(number)
        if number >= policy.FIRST_MASK_ID:
            return self._masks[number - policy.FIRST_MASK_ID]
        known = [*self._entries, *self._pair]
        if not 0 <= number < len(known):
            raise LookupError(f"there is no tensor number {number} in the last run")
        return known[number].tensor

    def _name(self, number: int) -> str:
        if self._inside is not None and number >= policy.FIRST_VALUE_ID:
            return self._inside.name(number)
        return self._entries[number].names[0]

    def _free(self, keep: bool, begins: bool = True) -> None:
        """Free the state of the previous run; with `keep` its names are retained."""
        if begins:
            frames.begin_program()
        self._entries.clear()
        self._pair.clear()
        self._masks.clear()
        self._inside = None
        if self._attempts is not None:
            self._attempts.capture.close()
        forget_figures()
        if not keep:
            self._names.clear()
            self._files.forget()
        for name in ("last_exc", "last_value", "last_traceback", "last_type"):
            vars(sys).pop(name, None)
        self._host.collect(keep)


def handlers(session: Session) -> Mapping[str, Handler]:
    """Return the handlers of requests, by name: each public coroutine method is one."""
    names = [name for name, one in vars(Session).items() if iscoroutinefunction(one)]
    found = {name: getattr(session, name) for name in names if name[0] != "_"}
    # Neither of the two computes for an answer about a value.
    return {
        name: handler if name in ("run", "rates") else session.answering(handler)
        for name, handler in found.items()
    }
