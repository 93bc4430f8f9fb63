"""The tensors of a run: statistics on the device, and origins of NaN and infinity."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TypeGuard, cast

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.display import statistics
from tensorweb.display.cells import Budget, cells_of
from tensorweb.display.statistics import drawn, working_dtype
from tensorweb.errors import TensorwebError
from tensorweb.frames import line_of
from tensorweb.graph.node import Node, complex_of, pair_of
from tensorweb.graph.nonfinite import KINDS, Origin, Origins, Search
from tensorweb.graph.op import CONSTANT
from tensorweb.hostdata import Number
from tensorweb.nodes.elementwise import cast as cast_node
from tensorweb.nodes.movement import reshape, slice_ranges
from tensorweb.ops.structure import COPY, RESHAPE
from tensorweb.playground import pictures, policy
from tensorweb.playground.numbers import Reader, read_all
from tensorweb.playground.pictures import heatmap_record, sendable
from tensorweb.playground.records import (
    Fingerprint,
    Heatmap,
    NonfiniteOrigin,
    NonfiniteSearch,
    Pair,
    Statistics,
    StorageMaking,
    StorageRecord,
    TensorRecord,
)
from tensorweb.playground.sources import is_main, is_program
from tensorweb.playground.streams import clip_line, safe_repr


def storage_of(x: tw.Tensor) -> StorageRecord:
    """Return the storage of a tensor; tensors that share one get the same id.

    Sizes are in elements of the tensor's dtype. The parts of a complex tensor count
    floats and not complex numbers, so their storage has an id of its own.
    """
    is_complex = x.dtype.kind == "complex"
    node = pair_of(x.node)
    base = node.base
    location = getattr(base, "location", None)
    line = line_of(location) if location else None
    return {
        # Addresses of objects are even.
        "id": id(base) + is_complex,
        "size": base.size // 2 if is_complex else base.size,
        "made": _making(node, base),
        "line": line.number if line and is_main(line.file) else None,
    }


def _making(node: Node, base: Node) -> StorageMaking:
    """Return how a storage was made, as far as the graph still tells.

    `reshape` copies where no strides express the result: the copy and the reshaped
    view are then of one call, and have the same location.
    """
    if base.op is CONSTANT and base.storage is None:
        return "constant"
    if base.op is not COPY:
        return "computed"
    copied_at = getattr(base, "location", None)
    while node is not base and node.inputs:
        (source,) = node.inputs
        if node.op is RESHAPE and source is base and copied_at is not None:
            is_one_call = getattr(node, "location", None) == copied_at
            return "reshape" if is_one_call else "copy"
        node = source
    return "copy"


async def storage_cells(x: tw.Tensor, reader: Reader) -> Heatmap:
    """Return a tensor's whole storage as one row of cells, in the order of memory.

    Of complex numbers the sizes are returned; a large storage is divided into blocks.
    """
    base = pair_of(x.node).base
    if x.dtype.kind == "complex":
        row = drawn(complex_of(reshape(base, (1, base.size // 2, 2))))
    else:
        row = reshape(base, (1, base.size))
    most = policy.MOST_STORAGE_CELLS
    found = cells_of(row, "mean", Budget(most, most))
    node, encoding = sendable(found.node)
    (values,) = await reader.read([node])
    return heatmap_record(found, values, encoding)


NOT_COMPUTED: Statistics = {
    "problem": "The program was stopped before this was computed."
}

Reached = tuple[Callable[[], str], tw.Tensor]
"""A tensor and a function that returns the expression which reaches it."""


@dataclass
class Entry:
    """One tensor of the run with its names and displays.

    `cuts` are messages about tensors omitted after this one.
    """

    tensor: tw.Tensor
    names: list[str]
    displays: list[int]
    has_more_names: bool = False
    cuts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """Indices of the lines' results whose last value it is."""
    group: str | None = None
    """The list or dict in which it is one of several tensors of one shape and dtype."""


class _Found:
    """Tensors by identity, in the order in which they were found."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self._missed: set[int] = set()

    def add(self, name: str, x: tw.Tensor) -> Entry | None:
        """Add a name of a tensor; None if there are too many tensors."""
        known = self.entries.get(id(x))
        if known is None:
            if len(self.entries) >= policy.MOST_TENSORS:
                self._missed.add(id(x))
                return None
            known = self.entries[id(x)] = Entry(x, [], [])
        if len(known.names) == policy.MOST_NAMES:
            known.has_more_names = True
        elif name not in known.names:
            known.names.append(name)
        return known

    def add_all(self, name: str, value: object) -> None:
        """Add the tensors that a name reaches; of a long list only the first ones."""
        count, last = 0, None
        new: list[Entry] = []
        for suffix, x in _tensors_in(value):
            count += 1
            if count <= policy.MOST_ITEMS:
                last = self.add(
                    clip_line(name + suffix(), policy.LONGEST_TENSOR_NAME), x
                )
                if last is not None and len(last.names) == 1:
                    new.append(last)
        title = clip_line(name, policy.LONGEST_TENSOR_NAME)
        alike = {(entry.tensor.shape, entry.tensor.dtype) for entry in new}
        if len(new) >= policy.LEAST_GROUP and len(alike) == 1:
            for entry in new:
                entry.group = title
        if count > policy.MOST_ITEMS and last is not None:
            total = f"{count}+" if count == policy.MOST_SCANNED else str(count)
            last.cuts.append(f"{title}: {policy.MOST_ITEMS} of {total} shown")

    def listed(self) -> list[Entry]:
        """Return the entries; the last one has a message if tensors were omitted."""
        entries = list(self.entries.values())
        if self._missed:
            total = len(entries) + len(self._missed)
            entries[-1].cuts.append(f"{len(entries)} of {total} tensors shown")
        return entries


def collect(
    names: Mapping[str, object], shown: Sequence[tuple[str | None, object]]
) -> list[Entry]:
    """Return each tensor once: named at module level, inside a container, or shown."""
    found = _Found()
    # Names of a program can be any value, also instances of subclasses of str.
    anything: list[tuple[object, object]] = list(names.items())
    for name, value in anything:
        if isinstance(name, str) and not str.startswith(name, "__"):
            found.add_all(str.__str__(name), value)
    taken = {name for entry in found.entries.values() for name in entry.names}
    for display, (label, value) in enumerate(shown):
        if isinstance(value, tw.Tensor):
            entry = found.entries.get(id(value))
            if entry is None:
                name = _free_name(label or "shown", taken)
                taken.add(name)
                entry = found.add(name, value)
            if entry is not None:
                entry.displays.append(display)
    return found.listed()


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no other tensor has: `x`, `x (2)`, `x (3)` and so on."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def _tensors_in(value: object) -> Iterator[Reached]:
    """Yield a value itself, or the tensors directly inside a list, tuple or dict.

    Each has a function that returns how it is reached from the value. No code of the
    program runs: its classes may have items and methods of any behaviour.
    """
    if _is_tensor(value):
        yield str, value
    elif issubclass(type(value), dict):
        items = dict.items(cast("dict[object, object]", value))
        for key, item in islice(items, policy.MOST_SCANNED):
            if _is_tensor(item):
                yield partial(_at_key, key), item
    elif issubclass(type(value), list):
        yield from _tensors_along(list.__iter__(cast("list[object]", value)))
    elif issubclass(type(value), tuple):
        yield from _tensors_along(tuple.__iter__(cast("tuple[object, ...]", value)))


def _tensors_along(items: Iterator[object]) -> Iterator[Reached]:
    for index, item in enumerate(islice(items, policy.MOST_SCANNED)):
        if _is_tensor(item):
            yield partial("[{}]".format, index), item


def _is_tensor(value: object) -> TypeGuard[tw.Tensor]:
    """Check the class only: `isinstance` would also run the program's `__class__`."""
    return issubclass(type(value), tw.Tensor)


def _at_key(key: object) -> str:
    return f"[{clip_line(safe_repr(key), policy.LONGEST_TENSOR_NAME)}]"


async def describe(
    entries: Sequence[Entry],
    reader: Reader,
    *,
    is_stopped: bool = False,
    search: Search | None = None,
) -> list[TensorRecord]:
    """Return facts and statistics of every tensor, read from the device together.

    Pending values of a stopped program are not evaluated.
    """
    last = {entry.group: entry for entry in entries}
    known: dict[int, Statistics] = {}
    asked: list[int] = []
    for number, entry in enumerate(entries):
        if is_stopped and not is_computed(entry.tensor.node):
            known[number] = NOT_COMPUTED
        elif entry.group is not None and last[entry.group] is not entry:
            known[number] = {}  # asked for once it is looked at
        else:
            asked.append(number)
    tensors = [entries[number].tensor for number in asked]
    found = await statistics_of(tensors, reader, search)
    known.update(zip(asked, found, strict=True))
    return [
        record(number, entry, entries[:number], known[number])
        for number, entry in enumerate(entries)
    ]


async def statistics_of(
    tensors: Sequence[tw.Tensor], reader: Reader, search: Search | None = None
) -> list[Statistics]:
    """Return statistics of each tensor, or the reason if there are none.

    After a search for NaN they include the origin of the first one.
    """
    try:
        return await _statistics(tensors, reader, search)
    except TensorwebError:  # of one of them: each alone says what is wrong with it
        return [await _alone(x, reader, search) for x in tensors]


def is_computed(node: Node) -> bool:
    """Whether a value is evaluated, or is a constant without storage."""
    return node.base.storage is not None or node.base.op is CONSTANT


async def _alone(x: tw.Tensor, reader: Reader, search: Search | None) -> Statistics:
    """Return one tensor's statistics, or the error of computing them."""
    try:
        return (await _statistics([x], reader, search))[0]
    except TensorwebError as error:
        problem = f"{type(error).__name__}: {error}"
        return {"problem": clip_line(problem, policy.LONGEST_PROBLEM)}


def record(
    number: int, entry: Entry, earlier: Sequence[Entry], found: Statistics
) -> TensorRecord:
    """Return the record of a tensor from its metadata and its statistics."""
    x = entry.tensor
    base = next((old for old in earlier if _shares(x, old.tensor)), None)
    return {
        "id": number,
        "name": title_of(entry),
        "names": entry.names,
        "cuts": entry.cuts,
        "lines": entry.lines,
        "displays": entry.displays,
        "group": entry.group,
        "shape": list(x.shape),
        "dtype": str(x.dtype),
        "device": str(x.device),
        "strides": list(x.strides),
        "offset": x.offset,
        "contiguous": x.is_contiguous,
        "viewOf": base.names[0] if base is not None else None,
        "storage": storage_of(x),
        "size": x.size,
        "channels": pictures.channel_axis(x.shape, x.dtype),
        "coloured": pictures.is_image(x.shape, x.dtype),
        **found,
    }


async def paired(
    a: tw.Tensor, b: tw.Tensor, names: Sequence[str], first: int, reader: Reader
) -> tuple[list[Entry], Pair]:
    """Measure the difference of two tensors of one shape.

    Return both and their difference, whose ids begin with `first`, and the record.
    """
    less = pictures.difference(a, b)
    titles = [*names, f"({names[0]} - {names[1]})"]
    pair = [
        Entry(x, [title], []) for x, title in zip((a, b, less), titles, strict=True)
    ]
    known = await statistics_of([a, b, less], reader)
    made = [
        record(first + index, entry, [], found)
        for index, (entry, found) in enumerate(zip(pair, known, strict=True))
    ]
    count, largest, index = await pictures.measure(a, b, less, reader)
    return pair, {
        "first": made[0],
        "second": made[1],
        "difference": made[2],
        "differing": count,
        "largest": largest,
        "index": index,
    }


def title_of(entry: Entry) -> str:
    """Return a title of all names of a tensor."""
    names = entry.names[: policy.NAMES_IN_TITLE]
    more = entry.has_more_names or len(entry.names) > policy.NAMES_IN_TITLE
    return " = ".join([*names, "…"] if more else names)


def _shares(x: tw.Tensor, y: tw.Tensor) -> bool:
    return x.device == y.device and x.shares_memory_with(y)


async def _statistics(
    tensors: Sequence[tw.Tensor], reader: Reader, search: Search | None
) -> list[Statistics]:
    """Compute statistics on the device and read all results at once.

    The tensors are evaluated first: the kernels of their statistics are then the same
    for all tensors, independent of their graphs.
    """
    nodes = [x.node for x in tensors]
    with nullcontext() if search is None else search.searching():
        statistics.store(nodes)
    asked = [statistics.questions(node) for node in nodes]
    flat = [question for questions in asked for question in questions]
    answers = iter(await read_all(flat, reader))
    found: list[Statistics] = []
    for node, questions in zip(nodes, asked, strict=True):
        numbers = [next(answers)[0] for _ in questions]
        known = _record_of(node, numbers) if node.size else {}
        if search is not None:
            kinds = frozenset(kind for kind in KINDS if known.get(kind))
            known["origins"] = nonfinite_records(
                search.origins_of(pair_of(node), kinds)
            )
        found.append(known)
    return found


def _record_of(node: Node, numbers: Sequence[Number]) -> Statistics:
    """Return statistics as a record for the page."""
    found = statistics.answer(node, numbers)
    return {
        "min": _finite(found.least),
        "max": _finite(found.greatest),
        "mean": _finite(found.mean),
        "nan": found.nans,
        "inf": found.infinities,
    }


def _finite(value: Number | None) -> Number | None:
    """Return a number that JSON can hold, None for NaN and infinities."""
    return value if value is not None and math.isfinite(value) else None


def nonfinite_records(origins: Origins) -> list[NonfiniteOrigin]:
    """Return the origin of a value, NaN before infinity, followed by its causes."""
    first = next((origins[kind] for kind in KINDS if kind in origins), None)
    found: list[NonfiniteOrigin] = []
    while first is not None and len(found) < policy.MOST_CAUSES:
        found.append(_nonfinite_record(first))
        first = first.cause
    return found


def nonfinite_search(search: Search) -> NonfiniteSearch:
    """Return what a search found in the values that its program has read."""
    return {"complete": search.is_complete, "origins": nonfinite_records(search.read)}


def _nonfinite_record(origin: Origin) -> NonfiniteOrigin:
    lines = [line for line in origin.lines if is_program(line.file)]
    file = lines[0].file if lines else ""
    return {
        "kind": origin.kind,
        "op": origin.op,
        "file": file,
        "lines": [line.number for line in lines if line.file == file][
            : policy.MOST_ORIGIN_LINES
        ],
    }


async def fingerprints(entries: Sequence[Entry], reader: Reader) -> list[Fingerprint]:
    """Return the fingerprints of the shown tensors, or of the named ones.

    Tensors whose values cannot be computed are omitted.
    """
    shown = [entry for entry in entries if entry.displays]
    results = (shown or list(entries))[: policy.MOST_FINGERPRINTS]
    found = await statistics_of([entry.tensor for entry in results], reader)
    return [
        await _fingerprint(entry, known, reader)
        for entry, known in zip(results, found, strict=True)
        if "problem" not in known
    ]


async def _fingerprint(entry: Entry, known: Statistics, reader: Reader) -> Fingerprint:
    x = entry.tensor
    is_float = x.dtype.kind in ("float", "complex")
    return {
        "name": title_of(entry),
        "shape": list(x.shape),
        "dtype": str(x.dtype),
        "digest": None if is_float else await _digest(x.node, reader),
        "numbers": await _numbers(x, known, reader) if is_float else [],
    }


async def _digest(node: Node, reader: Reader) -> str:
    """Return a digest of the (sampled) elements."""
    size = node.size
    step = max(1, -(-size // policy.MOST_DIGESTED))
    part = slice_ranges(reshape(node, (size,)), [(0, -(-size // step), step)])
    if part.dtype.itemsize < 4 or part.dtype.kind == "bool":
        part = cast_node(part, dtypes.int32)
    (values,) = await reader.read([part])
    return hashlib.sha256(values).hexdigest()[: policy.DIGEST_LENGTH]


async def _numbers(
    x: tw.Tensor, known: Statistics, reader: Reader
) -> list[float | None]:
    """Return minimum, maximum, mean, mean of |x|, trend, counts of NaN and infinity.

    The trend is the mean of all values times their position, from -1 to 1: it differs
    if the same values have another order.
    """
    if x.size == 0:
        return [None] * 5 + [0, 0]
    x = tw.Tensor(drawn(x.node))
    flat = tw.astype(tw.reshape(x, (-1,)), working_dtype(x.dtype))
    flat = tw.where(tw.isfinite(flat), flat, 0.0)
    positions = tw.linspace(-1.0, 1.0, x.size, dtype=flat.dtype, device=x.device)
    means = [tw.mean(tw.abs(flat)).node, tw.mean(flat * positions).node]
    further = [values[0] for values in await read_all(means, reader)]
    numbers = [known.get("min"), known.get("max"), known.get("mean"), *further]
    return [*map(_rounded, numbers), known.get("nan", 0), known.get("inf", 0)]


def _rounded(value: float | None) -> float | None:
    """Return a number with the digits of a fingerprint, None if JSON cannot hold it."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{policy.FINGERPRINT_DIGITS}g}")
