"""Numbers out of tensors: many small reads in few, and their text for people."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Protocol

import tensorweb as tw

Number = float | int | bool


class CannotWait(Exception):
    """Python cannot block here and the caller did not await."""


class Reader(Protocol):
    """How values leave the device: blocking where possible, awaited elsewhere."""

    async def read(self, x: tw.Tensor) -> list[Number]:
        """Return the values of a 1-d tensor."""


class BlockingReader:
    """Reads that block; the coroutine ends without ever being suspended."""

    async def read(self, x: tw.Tensor) -> list[Number]:
        """Return the values of a 1-d tensor."""
        values: list[Number] = x.tolist()
        return values


class AwaitingReader:
    """Reads that are awaited, for browsers without stack switching."""

    async def read(self, x: tw.Tensor) -> list[Number]:
        """Return the values of a 1-d tensor."""
        values: list[Number] = await x.tolist_async()
        return values


async def read_all(tensors: Sequence[tw.Tensor], reader: Reader) -> list[list[Number]]:
    """Return the values of many small tensors with one read per device and dtype."""
    groups: dict[tuple[str, str], list[int]] = {}
    for position, x in enumerate(tensors):
        groups.setdefault((str(x.device), str(x.dtype)), []).append(position)
    results: list[list[Number]] = [[] for _ in tensors]
    for positions in groups.values():
        flat = [tw.reshape(tensors[position], (-1,)) for position in positions]
        joined = flat[0] if len(flat) == 1 else tw.concat(flat)
        values = await reader.read(joined)
        start = 0
        for position, part in zip(positions, flat, strict=True):
            results[position] = values[start : start + part.size]
            start += part.size
    return results


def text_of(value: Number, dtype: str) -> str:
    """Return a value's shortest text that names it exactly in its dtype."""
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    code = {"float32": "f", "float16": "e"}.get(dtype)
    if code is None:
        return repr(value)
    for digits in range(4, 10):
        text = f"{value:.{digits}g}"
        if struct.pack(code, float(text)) == struct.pack(code, value):
            return text
    return repr(value)


def finite(value: Number) -> Number | None:
    """Return a number that JSON can hold, None for NaN and infinities."""
    return value if math.isfinite(value) else None
