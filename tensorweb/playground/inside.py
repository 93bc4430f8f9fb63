"""Answer "why has this cell its value?" about a run whose provenance was retained."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from math import isfinite
from typing import TypeVar

import tensorweb as tw
from tensorweb import frames
from tensorweb.devices import open_device_async
from tensorweb.events import Flush
from tensorweb.frames import Location
from tensorweb.graph.autograd import leaf_tensor
from tensorweb.graph.node import Node, pair_of
from tensorweb.graph.provenance import Provenance
from tensorweb.inspection import cells
from tensorweb.inspection.alignments import Alignment, alignment_of, partial_sum
from tensorweb.inspection.cells import Explanation, Source, text_of_row
from tensorweb.inspection.differences import compare_devices
from tensorweb.inspection.gradients import difference_quotient, gradients
from tensorweb.ops.structure import ALIAS
from tensorweb.waits import Steps, run_async, run_blocking

from . import inside_records, pictures, policy, records, tensors
from .models import Call, Calls, Part, Time, parts_of
from .numbers import Reader, text_of
from .sources import is_program, name_of
from .streams import clip_line

T = TypeVar("T")


class Inside:
    """The provenance of one run, and the values without a name that were looked at."""

    def __init__(self, blocking: bool) -> None:
        """Begin with nothing; `blocking` is whether Python can wait for devices."""
        self.provenance = Provenance(policy.MOST_RETAINED_BYTES)
        self.calls = Calls(self.provenance)
        self._blocking = blocking
        self._looked: list[tensors.Entry] = []
        self._ids: dict[Node, int] = {}
        self._parameters: list[Node] = []

    @contextmanager
    def open(self) -> Iterator[None]:
        """Retain provenance, and what modules return, inside a `with` block."""
        with self.provenance.open(), self.calls.noting():
            yield

    def name_parameters(self, names: Mapping[str, object]) -> None:
        """Let answers name the parameters of networks by their paths."""
        self._parameters = [
            node
            for part in islice(parts_of(names), policy.MOST_MODULES)
            for key, x in part.tensors.items()
            for node in (pair_of(x.node),)
            if self._look(node, f"{part.path}.{key}")
        ]

    def tensor(self, number: int) -> tw.Tensor:
        """Return a value that an answer named by its id.

        Raises:
            LookupError: there is none.
        """
        return self._entry(number).tensor

    def _entry(self, number: int) -> tensors.Entry:
        index = number - policy.FIRST_VALUE_ID
        if not 0 <= index < len(self._looked):
            raise LookupError(f"there is no value number {number} in the last run")
        return self._looked[index]

    async def why(
        self,
        entries: Sequence[tensors.Entry],
        x: tw.Tensor,
        index: Sequence[int],
        *,
        is_search: bool,
    ) -> inside_records.Why:
        """Explain one cell, or with `is_search` the NaN or infinity that it is from."""
        if not x.size:
            empty = cells.explain_empty(self.provenance, pair_of(x.node))
            return {**self._record(entries, empty), "value": "no cells"}
        explain = cells.first_nonfinite if is_search else cells.explain_cell
        steps = explain(self.provenance, x.node, _checked(x, index))
        found = await self._answer(steps)
        return self._record(entries, found)

    def aligned(
        self, entries: Sequence[tensors.Entry], x: tw.Tensor
    ) -> inside_records.Alignment:
        """Return how the operands of a broadcast operation or of a product align."""
        found = self._alignment(x)
        names = _names(entries)
        operands = [
            (self._tensor_record(entries, names, each.given), each.repeated)
            for each in found.operands
        ]
        return {
            "rule": found.rule,
            "op": found.node.op.name,
            "infix": " @ "
            if found.rule == "matmul"
            else cells.INFIX.get(found.node.op.name, ""),
            "result": self._tensor_record(entries, names, found.node),
            "operands": [
                {"tensor": given, "repeated": self._looked_record(node, given["name"])}
                for given, node in operands
            ],
        }

    async def partial_sum(
        self, x: tw.Tensor, index: Sequence[int], depth: int
    ) -> inside_records.WhyCell:
        """Return the sum of the first terms of a cell of a product of matrices."""
        node = partial_sum(self._alignment(x), _checked(x, index), depth)
        first = (0,) * len(node.shape)
        (value,) = await self._answer(cells.values_at([(node, first)]))
        return {"index": [*index], "value": text_of(value, str(node.dtype))}

    def _alignment(self, x: tw.Tensor) -> Alignment:
        found = alignment_of(self.provenance, pair_of(x.node))
        if found is None:
            raise LookupError("the value is no broadcast result and no product")
        return found

    async def reached(
        self,
        entries: Sequence[tensors.Entry],
        x: tw.Tensor,
        index: Sequence[int],
    ) -> list[inside_records.WhySource]:
        """Return which cells of named tensors one cell reaches."""
        names = _names(entries)
        index = _checked(x, index)
        steps = cells.reached_cells(self.provenance, x.node, index, list(names))
        found = await self._answer(steps)
        return [
            self._source(entries, names, source)
            for source in found[: policy.MOST_SOURCES]
        ]

    async def gradients(
        self,
        entries: Sequence[tensors.Entry],
        x: tw.Tensor,
        index: Sequence[int],
        bound: Mapping[Node, str],
        reader: Reader,
    ) -> list[inside_records.CellGradient]:
        """Return the gradients of a cell by the named tensors that it depends on.

        `bound` has what names were bound to before, the last value first.
        """
        index = _checked(x, index)
        if x.dtype.kind != "float":
            raise LookupError(f"a {x.dtype} value has no gradient")
        names = _names(entries)
        by = [*names, *self._parameters, *bound]
        looked: dict[str, tuple[records.TensorRecord, int]] = {}
        for node, used, gradient in gradients(x.node, index, by):
            value = self._tensor_record(entries, names, used)
            if node in bound and node not in names:
                value = self._looked_record(used, bound[node])
                value |= {"name": bound[node], "names": [bound[node]]}
            name = value["names"][0]
            if name not in looked and len(looked) < policy.MOST_GRADIENTS:
                looked[name] = value, self._look(gradient, f"gradient by {name}")
        asked = [self.tensor(number) for _, number in looked.values()]
        known = await tensors.statistics_of(asked, reader)
        return [
            {
                "tensor": value,
                "gradient": tensors.record(number, self._entry(number), [], statistics),
            }
            for (value, number), statistics in zip(looked.values(), known, strict=True)
        ]

    async def check_gradient(
        self,
        x: tw.Tensor,
        index: Sequence[int],
        by: tw.Tensor,
        gradient: tw.Tensor,
        reader: Reader,
    ) -> inside_records.GradientCheck:
        """Compare the largest element of a gradient with a difference quotient."""
        index = _checked(x, index)
        found = (await pictures.find(tw.abs(gradient), "max", reader))["index"]
        if found is None or gradient.shape != by.shape:
            raise LookupError("the gradient has no finite element")
        at = tuple(found)
        steps = difference_quotient(
            self.provenance, pair_of(x.node), index, pair_of(by.node), at
        )
        quotient, step = await self._answer(steps)
        (own,) = await self._answer(cells.values_at([(gradient.node, at)]))
        return {
            "index": found,
            "gradient": text_of(own, str(gradient.dtype)),
            "quotient": f"{quotient:.4g}" if isfinite(quotient) else "not finite",
            "step": f"{step:.2g}",
        }

    async def compared(
        self, entries: Sequence[tensors.Entry], device: records.DeviceName
    ) -> inside_records.DeviceComparison:
        """Compute the operations behind named tensors on another device as well."""
        if not self._blocking:
            await open_device_async(device)
        targets = list(_names(entries))
        found = await self._answer(compare_devices(self.provenance, targets, device))
        first, why, other = found.first, None, ""
        if first is not None:
            steps = cells.explain_cell(self.provenance, first.node, first.index)
            why = self._record(entries, await self._answer(steps))
            other = text_of(first.other, str(first.node.dtype))
        return {
            "device": device,
            "compared": found.compared,
            "leftOut": found.left_out,
            "first": why,
            "other": other,
        }

    async def film(
        self, steps: Sequence[tuple[int, tw.Tensor]], name: str, reader: Reader
    ) -> inside_records.FilmRecord:
        """Return the values of a statement with their statistics and histograms."""
        values = [x for _, x in steps]
        numbers = [self._look(pair_of(x.node), name) for x in values]
        known = await tensors.statistics_of(values, reader)
        found: list[inside_records.FilmStep] = [
            {
                "step": step,
                "tensor": tensors.record(number, self._entry(number), [], statistics),
            }
            for (step, _), number, statistics in zip(steps, numbers, known, strict=True)
        ]
        counts = _histograms(values, known)
        histogram = None
        if counts is not None:
            number = self._look(counts.node, f"histogram of {name}")
            histogram = tensors.record(number, self._entry(number), [], {})
        return {"steps": found, "histogram": histogram}

    def name(self, number: int) -> str:
        """Return how answers name a value."""
        return self._entry(number).names[0]

    async def modules(
        self,
        names: Mapping[str, object],
        reader: Reader,
        flushes: Sequence[Flush] = (),
    ) -> list[inside_records.ModuleRecord]:
        """Return the modules of the networks that have a name.

        Their times are those of the timed ones of the run's `flushes`.
        """
        found = list(islice(parts_of(names), policy.MOST_MODULES))
        times = self.calls.times(flushes)
        shown: list[int] = []

        def look(x: tw.Tensor, name: str) -> int:
            shown.append(self._look(pair_of(x.node), name))
            return shown[-1]

        rows: list[tuple[Part, list[int], int | None, Call]] = []
        for part in found:
            call = self.calls.of(part.module)
            own = [look(x, f"{part.path}.{key}") for key, x in part.tensors.items()]
            output = None
            if call.output is not None:
                output = look(call.output, f"{part.path}(…)")
            rows.append((part, own, output, call))
        known = await tensors.statistics_of([self.tensor(one) for one in shown], reader)
        records_of = {
            number: tensors.record(number, self._entry(number), [], statistics)
            for number, statistics in zip(shown, known, strict=True)
        }
        return [
            {
                "path": part.path,
                "name": part.name,
                "depth": part.depth,
                "kind": type(part.module).__name__,
                "settings": clip_line(_settings(part), policy.LONGEST_TENSOR_NAME),
                "parameters": sum(x.size for x, is_buffer in own_of if not is_buffer),
                "buffers": sum(x.size for x, is_buffer in own_of if is_buffer),
                "bytes": sum(x.size * x.dtype.itemsize for x, _ in own_of),
                "calls": call.count,
                "seconds": time.seconds if time else None,
                "shared": time is not None and time.is_shared,
                "tensors": [records_of[number] for number in own],
                "output": None if output is None else records_of[output],
            }
            for part, own, output, call in rows
            for time in (_time_of(found, part, times),)
            for own_of in ([*_tensors_of(found, part)],)
        ]

    async def _answer(self, steps: Steps[T]) -> T:
        if self._blocking:
            return run_blocking(steps)
        await open_device_async("cpu")  # computes small masks
        return await run_async(steps)

    def _record(
        self, entries: Sequence[tensors.Entry], found: Explanation
    ) -> inside_records.Why:
        names = _names(entries)
        line = _line(found.location)
        return {
            "tensor": self._tensor_record(entries, names, found.node),
            "index": list(found.index),
            "value": text_of(found.value, str(found.node.dtype)),
            "line": line.number if line else None,
            "file": name_of(line.file) if line else "",
            "code": _code(line),
            "complete": self.provenance.is_complete,
            "rows": [
                {
                    "text": clip_line(text_of_row(row), policy.LONGEST_PROBLEM),
                    "op": row.node.op.name,
                    "shape": list(row.node.shape),
                    "index": list(row.index),
                    "count": row.count,
                    "aligned": self._look(row.node, label_of(row.node))
                    if alignment_of(self.provenance, row.node)
                    else None,
                }
                for row in found.rows
            ],
            "sources": [
                self._source(entries, names, source)
                for source in found.sources[: policy.MOST_SOURCES]
            ],
            "sourcesLeftOut": max(0, len(found.sources) - policy.MOST_SOURCES),
        }

    def _source(
        self,
        entries: Sequence[tensors.Entry],
        names: dict[Node, int],
        source: Source,
    ) -> inside_records.WhySource:
        node = source.terms.node
        # The variable of a derivative is the value that its function was given.
        while node.op is ALIAS and node not in names and node not in self._ids:
            if not (inputs := self.provenance.inputs_of(node)):
                break
            (node,) = inputs
        dtype = str(node.dtype)
        line = _line(getattr(node, "location", None))
        return {
            "tensor": self._tensor_record(entries, names, node),
            "mask": self._look(source.mask, "mask"),
            "line": line.number if line else None,
            "file": name_of(line.file) if line else "",
            "count": source.terms.count,
            "cells": [
                {"index": list(index), "value": text_of(value, dtype)}
                for index, value in zip(
                    source.terms.indices, source.terms.values, strict=True
                )
            ],
        }

    def _tensor_record(
        self, entries: Sequence[tensors.Entry], names: dict[Node, int], node: Node
    ) -> records.TensorRecord:
        number = names.get(node)
        if number is not None and entries[number].tensor.shape == node.shape:
            return tensors.record(number, entries[number], [], {})
        leaf = leaf_tensor(node)
        if leaf is not None:
            now = pair_of(leaf.node)
            if now in names:
                return self._looked_record(node, entries[names[now]].names[0])
            if now in self._ids:
                return self._looked_record(node, self.name(self._ids[now]))
        return self._looked_record(node, label_of(node))

    def _looked_record(self, node: Node, name: str) -> records.TensorRecord:
        number = self._look(node, name)
        return tensors.record(number, self._entry(number), [], {})

    def _look(self, node: Node, name: str) -> int:
        """Return the id of a value without a name."""
        known = self._ids.get(node)
        if known is None:
            known = self._ids[node] = policy.FIRST_VALUE_ID + len(self._looked)
            self._looked.append(tensors.Entry(tw.Tensor(node), [name], []))
        return known


def _histograms(
    values: Sequence[tw.Tensor], known: Sequence[records.Statistics]
) -> tw.Tensor | None:
    """Return counts of finite values: a column for each tensor, row 0 the largest."""
    lows = [low for each in known if (low := each.get("min")) is not None]
    highs = [high for each in known if (high := each.get("max")) is not None]
    if not lows or max(x.size for x in values) < 2 or min(lows) == max(highs):
        return None
    low, high, bins = min(lows), max(highs), policy.FILM_BINS
    rows = []
    for column, x in enumerate(values):
        flat = tw.astype(tw.reshape(x, (-1,)), tw.float32)
        row = tw.floor((high - flat) / (high - low) * bins)
        cell = tw.clip(row, 0, bins - 1) * len(values) + column
        # What is not finite is counted in an element that is cut off.
        cell = tw.where(tw.isfinite(flat), cell, bins * len(values))
        rows.append(tw.astype(cell, tw.int32))
    size = bins * len(values)
    counts = tw.bincount(tw.concat(rows), minlength=size + 1)[:size]
    return tw.reshape(counts, (bins, len(values)))


def _settings(part: Part) -> str:
    """Return the settings of a layer of the library; other classes run no code."""
    kind = type(part.module)
    return part.module.extra_repr() if kind.__module__.startswith("tensorweb.") else ""


def _time_of(
    found: Sequence[Part], part: Part, times: Mapping[int, Time]
) -> Time | None:
    """Return the time of a module and of its parts, None if none has one."""
    known = (times.get(id(each.module)) for each in _within(found, part))
    own = [time for time in known if time is not None]
    seconds = sum(time.seconds for time in own)
    return Time(seconds, any(time.is_shared for time in own)) if own else None


def _within(found: Sequence[Part], part: Part) -> Iterator[Part]:
    """Yield a module and its parts."""
    for each in found:
        if each.path == part.path or each.path.startswith(f"{part.path}."):
            yield each


def _tensors_of(found: Sequence[Part], part: Part) -> Iterator[tuple[tw.Tensor, bool]]:
    """Yield the tensors of a module and of its parts, and whether each is a buffer."""
    for each in _within(found, part):
        for name, x in each.tensors.items():
            yield x, name in each.buffers


def _names(entries: Sequence[tensors.Entry]) -> dict[Node, int]:
    """Return the indices of named tensors by their nodes."""
    return {pair_of(entry.tensor.node): at for at, entry in enumerate(entries)}


def _checked(x: tw.Tensor, index: Sequence[int]) -> tuple[int, ...]:
    """Return an index of a cell; it comes from the page, and the tensor may differ."""
    fits = len(index) == len(x.shape)
    if not fits or any(at >= n for at, n in zip(index, x.shape, strict=True)):
        raise LookupError(f"there is no cell {tuple(index)} in shape {x.shape}")
    return tuple(index)


def _line(location: Location | None) -> frames.Line | None:
    """Return the program's line of a location, None outside of the program."""
    line = None if location is None else frames.line_of(location)
    return line if line is not None and is_program(line.file) else None


def _code(line: frames.Line | None) -> str:
    if line is None:
        return ""
    text = linecache.getline(line.file, line.number).strip()
    return clip_line(text, policy.LONGEST_PROBLEM)


def label_of(node: Node) -> str:
    """Return the expression that built a value, else its operation."""
    location: Location | None = getattr(node, "location", None)
    line = _line(location)
    if location is None or line is None:
        return node.op.name
    code, instruction, _ = location
    text = frames.segment(code.co_filename, frames.position_of(code, instruction))
    is_short = 0 < len(text) <= policy.LONGEST_LABEL and "\n" not in text
    return text if is_short else f"{node.op.name} of line {line.number}"
