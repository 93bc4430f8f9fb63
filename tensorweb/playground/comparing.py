"""Compares the values of two runs of a program, bit by bit.

The values of the run before are retained only while the panel Compare is open. They are
compared on the host, since a GPU takes small numbers for 0.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.display.statistics import values_of
from tensorweb.dtypes import DType
from tensorweb.graph.node import Node, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import Number, pack
from tensorweb.shapes import unravel_index

from . import policy
from .numbers import Reader, text_of
from .records import ValueComparison, ValueDifference
from .tensors import Entry, title_of

WORDS: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Codes of unsigned words by their size in bytes."""

Difference = tuple[ValueDifference, tw.Tensor]
"""How a tensor differs, and a mask of the elements that do."""


@dataclass(frozen=True)
class Retained:
    """Values of a run by title, and the titles of those beyond the memory budget."""

    values: dict[str, Node]
    left_out: list[str]


def retained(entries: Sequence[Entry]) -> Retained:
    """Return the values of the named tensors of a run, up to a budget of bytes."""
    values: dict[str, Node] = {}
    left_out: list[str] = []
    left = policy.MOST_COMPARED_BYTES
    for entry in entries:
        node = entry.tensor.node
        size = node.size * node.dtype.itemsize
        if size > left:
            left_out.append(title_of(entry))
            continue
        left -= size
        values[title_of(entry)] = node
    return Retained(values, left_out)


async def compared(
    before: Retained | None, entries: Sequence[Entry], reader: Reader
) -> tuple[ValueComparison, list[tw.Tensor]]:
    """Compare tensors of equal title, shape and dtype with those of a run before.

    Returns:
        The differences in the order in which the program made the tensors, and for each
        a mask of its elements that differ.
    """
    same = 0
    found: list[tuple[int, Difference]] = []
    left_out = [*before.left_out] if before else []
    values = before.values if before else {}
    for number, entry in enumerate(entries):
        old, new = values.get(title_of(entry)), entry.tensor.node
        if old is None or (old.shape, old.dtype) != (new.shape, new.dtype):
            continue
        if old is new:
            same += 1
            continue
        try:
            data = [*await reader.read([old]), *await reader.read([new])]
        except tw.TensorwebError:  # its device was lost, or its computation fails
            left_out.append(title_of(entry))
            continue
        one = _difference(number, entry, data)
        if one is None:
            same += 1
        else:
            found.append((min(entry.lines, default=policy.MOST_LINE_RESULTS), one))
    found.sort(key=lambda each: each[0])
    for position, (_, (described, _)) in enumerate(found):
        described["mask"] = policy.FIRST_MASK_ID + position
    comparison: ValueComparison = {
        "isRetained": before is not None,
        "differences": [described for _, (described, _) in found],
        "same": same,
        "leftOut": left_out,
        "budget": policy.MOST_COMPARED_BYTES,
    }
    return comparison, [mask for _, (_, mask) in found]


def differing(before: bytes, now: bytes, dtype: DType) -> list[int]:
    """Return the indices of elements whose bits differ.

    >>> zeros = array("f", [0.0, 1.0]).tobytes(), array("f", [-0.0, 1.0]).tobytes()
    >>> differing(*zeros, tw.float32)
    [0]
    """
    if before == now:
        return []
    word = min(dtype.itemsize, 8)
    code = WORDS[word]
    pairs = zip(memoryview(before).cast(code), memoryview(now).cast(code), strict=True)
    words = (index for index, (a, b) in enumerate(pairs) if a != b)
    return list(dict.fromkeys(index * word // dtype.itemsize for index in words))


def _difference(number: int, entry: Entry, data: Sequence[bytes]) -> Difference | None:
    """Describe how two values differ; None if they are equal."""
    node = entry.tensor.node
    indices = differing(data[0], data[1], node.dtype)
    if not indices:
        return None
    before, now = (values_of(each, node) for each in data)
    mask = array("f", bytes(4 * node.size))
    count, largest, at = 0, -1.0, -1
    for index in indices:
        a, b = before[index], now[index]
        if a != a and b != b:
            continue
        count += 1
        mask[index] = 1.0
        at = index if at < 0 else at
        # Of infinite values and NaN there is no finite distance.
        distance = float(abs(b - a))
        if largest < distance < math.inf:
            largest, at = distance, index
    if not count:
        return None
    is_finite = largest >= 0
    found: ValueDifference = {
        "tensor": number,
        "name": title_of(entry),
        "differing": count,
        "size": node.size,
        "largest": largest if is_finite else None,
        "ulps": ulps(before[at], now[at], node.dtype) if is_finite else None,
        "index": list(unravel_index(at, node.shape)),
        "before": text_of(before[at], str(node.dtype)),
        "now": text_of(now[at], str(node.dtype)),
        "mask": 0,
    }
    host = leaf(HostData(mask.tobytes()), node.shape, dtypes.float32, "cpu")
    return found, tw.Tensor(host)


def ulps(a: Number, b: Number, dtype: DType) -> float | None:
    """Return how many floats lie from one to the other; None for other dtypes.

    >>> ulps(1.0, 1.0 + 2**-22, tw.float32)
    2.0
    """
    if dtype.kind != "float":
        return None
    steps = []
    for value in (a, b):
        bits = int.from_bytes(pack([value], dtype, ()), "little")
        sign = 1 << (8 * dtype.itemsize - 1)
        steps.append(sign - bits if bits >= sign else bits)
    return float(abs(steps[0] - steps[1]))
