"""The tensors of a run: which there are, and their statistics from the device."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tensorweb as tw

from .numbers import Number, Reader, finite, read_all

MOST_TENSORS = 200
MOST_ITEMS = 50

Record = dict[str, object]


@dataclass
class Entry:
    """One tensor of the run with every name and every display that reaches it."""

    tensor: tw.Tensor
    names: list[str]
    displays: list[int]


def collect(
    names: Mapping[str, object], shown: Sequence[tuple[str | None, object]]
) -> list[Entry]:
    """Return each tensor once: named at module level, inside a container, or shown."""
    entries: dict[int, Entry] = {}
    for name, value in list(names.items()):
        if not name.startswith("__"):
            for full_name, x in _tensors_of(name, value):
                _add(entries, full_name, x)
    taken = {name for entry in entries.values() for name in entry.names}
    for display, (label, value) in enumerate(shown):
        if isinstance(value, tw.Tensor):
            entry = entries.get(id(value))
            if entry is None:
                name = _free_name(label or "shown", taken)
                taken.add(name)
                entry = _add(entries, name, value)
            if entry is not None:
                entry.displays.append(display)
    return list(entries.values())


def _add(entries: dict[int, Entry], name: str, x: tw.Tensor) -> Entry | None:
    """Note a name of a tensor; None when there are too many tensors already."""
    known = entries.get(id(x))
    if known is None:
        if len(entries) >= MOST_TENSORS:
            return None
        known = entries[id(x)] = Entry(x, [], [])
    if name not in known.names:
        known.names.append(name)
    return known


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no other tensor has: `x`, `x (2)`, `x (3)` and so on."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def _tensors_of(name: str, value: object) -> Iterator[tuple[str, tw.Tensor]]:
    """Yield a value itself, or the tensors directly inside a list, tuple or dict."""
    if isinstance(value, tw.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, item in list(value.items())[:MOST_ITEMS]:
            if isinstance(item, tw.Tensor):
                yield f"{name}[{key!r}]", item
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value[:MOST_ITEMS]):
            if isinstance(item, tw.Tensor):
                yield f"{name}[{index}]", item


async def describe(entries: Sequence[Entry], reader: Reader) -> list[Record]:
    """Return facts and statistics of every tensor, read from the device together."""
    try:
        statistics = await _statistics([entry.tensor for entry in entries], reader)
    except Exception:
        statistics = [await _alone(entry.tensor, reader) for entry in entries]
    return [
        {"id": number, **_facts(entry, entries[:number]), **found}
        for number, (entry, found) in enumerate(zip(entries, statistics, strict=True))
    ]


async def _alone(x: tw.Tensor, reader: Reader) -> Record:
    """Return one tensor's statistics, or the reason why they cannot be had."""
    try:
        return (await _statistics([x], reader))[0]
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"}


def _facts(entry: Entry, earlier: Sequence[Entry]) -> Record:
    """Return what is known without looking at any value."""
    x = entry.tensor
    base = next((old for old in earlier if _shares(x, old.tensor)), None)
    return {
        "name": " = ".join(entry.names[:3]),
        "names": entry.names,
        "displays": entry.displays,
        "shape": list(x.shape),
        "dtype": str(x.dtype),
        "device": str(x.device),
        "strides": list(x.strides),
        "offset": x.offset,
        "contiguous": x.is_contiguous,
        "viewOf": base.names[0] if base is not None else None,
        "size": x.size,
    }


def _shares(x: tw.Tensor, y: tw.Tensor) -> bool:
    return x.device == y.device and x.shares_memory_with(y)


def is_floating(x: tw.Tensor) -> bool:
    """Whether a tensor can hold NaN and infinities."""
    return tw.isdtype(x.dtype, "real floating")


def is_countable(x: tw.Tensor) -> bool:
    """Whether statistics make sense: real numbers or truth values, and some of them."""
    kinds = ("real floating", "integral", "bool")
    return x.size > 0 and tw.isdtype(x.dtype, kinds)


async def _statistics(tensors: Sequence[tw.Tensor], reader: Reader) -> list[Record]:
    """Compute on the device and read every result in one go.

    The tensors themselves come first: their statistics are then the same few kernels
    for all of them, whatever they were made of.
    """
    if tensors:
        tw.realize(*tensors)
    questions = [_ask(x) if is_countable(x) else [] for x in tensors]
    flat = [scalar for parts in questions for scalar in parts]
    answers = iter(await read_all(flat, reader))
    records = []
    for x, parts in zip(tensors, questions, strict=True):
        values = [next(answers)[0] for _ in parts]
        records.append(_record(x, values) if values else {})
    return records


def _ask(x: tw.Tensor) -> list[tw.Tensor]:
    """Return least, greatest, sum, NaN count and infinity count, all still lazy."""
    if is_floating(x):
        real = tw.isfinite(x)
        return [
            tw.min(tw.where(real, x, math.inf)),
            tw.max(tw.where(real, x, -math.inf)),
            tw.sum(tw.where(real, x, 0.0)),
            tw.sum(tw.astype(tw.isnan(x), tw.int32)),
            tw.sum(tw.astype(tw.isinf(x), tw.int32)),
        ]
    if tw.isdtype(x.dtype, "bool"):
        x = tw.astype(x, tw.int32)
    return [tw.min(x), tw.max(x), tw.sum(tw.astype(x, tw.float32))]


def _record(x: tw.Tensor, values: list[Number]) -> Record:
    least, greatest, total = values[:3]
    nans, infinities = (int(values[3]), int(values[4])) if len(values) > 3 else (0, 0)
    counted = x.size - nans - infinities
    return {
        "min": finite(least) if counted else None,
        "max": finite(greatest) if counted else None,
        "mean": finite(total / counted) if counted else None,
        "nan": nans,
        "inf": infinities,
    }
