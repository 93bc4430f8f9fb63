"""Fingerprints of results, to compare two runs on different devices.

Integers and bools must be equal in every element, so a digest of their bytes is
compared. Floats differ slightly between GPUs; the page compares statistics of them that
hardly depend on the order of additions, with a tolerance.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.display.statistics import drawn, working_dtype
from tensorweb.graph.node import Node
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.movement import reshape, slice_ranges

from .numbers import Reader, read_all
from .records import Fingerprint, Statistics
from .tensors import Entry, statistics_of, title_of

MOST_FINGERPRINTS = 40
MOST_DIGESTED = 1 << 22
"""Limit of digested elements; larger tensors are sampled with an even step."""

DIGITS = 6
LENGTH = 16
"""Length of a digest in hexadecimal digits."""


async def fingerprints(entries: Sequence[Entry], reader: Reader) -> list[Fingerprint]:
    """Return the fingerprints of the shown tensors, or of the named ones.

    Tensors whose values cannot be computed are omitted.
    """
    shown = [entry for entry in entries if entry.displays]
    results = (shown or list(entries))[:MOST_FINGERPRINTS]
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
    step = max(1, -(-size // MOST_DIGESTED))
    part = slice_ranges(reshape(node, (size,)), [(0, -(-size // step), step)])
    if part.dtype.itemsize < 4 or part.dtype.kind == "bool":
        part = cast(part, dtypes.int32)
    (values,) = await reader.read([part])
    return hashlib.sha256(values).hexdigest()[:LENGTH]


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
    """Return a number rounded to `DIGITS` digits, None if JSON cannot hold it."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")
