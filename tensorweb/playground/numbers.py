"""Reading many small nodes at once, and formatting their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from tensorweb import evaluate
from tensorweb.display.statistics import values_of
from tensorweb.dtypes import as_dtype, rounded_to
from tensorweb.graph.node import Node
from tensorweb.hostdata import Number


class Reader(Protocol):
    """Reads bytes from a device: blocking where possible, awaited elsewhere.

    Values are read as they are, for example those of a factorization of a singular
    matrix.
    """

    async def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Return the row-major bytes of each node, with one read per device."""


class BlockingReader:
    """Reads that block; the coroutine never suspends."""

    async def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Return the row-major bytes of each node, with one read per device."""
        return evaluate.look(nodes)


class AwaitingReader:
    """Reads that are awaited, for browsers without stack switching."""

    async def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Return the row-major bytes of each node, with one read per device."""
        return await evaluate.look_async(nodes)


async def read_all(nodes: Sequence[Node], reader: Reader) -> list[list[Number]]:
    """Return the values of many small nodes, row by row, with few reads."""
    if not nodes:
        return []
    found = await reader.read(nodes)
    return [values_of(data, node) for data, node in zip(found, nodes, strict=True)]


def text_of(value: Number, dtype: str) -> str:
    """Return a value's shortest text that identifies it in its dtype."""
    if isinstance(value, complex):
        part = "float32" if dtype == "complex64" else "float64"
        real, imaginary = (text_of(each, part) for each in (value.real, value.imag))
        sign = "" if imaginary.startswith("-") else "+"
        return f"{real}{sign}{imaginary}j"
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    if dtype in ("float32", "float16", "bfloat16"):
        for digits in range(4, 10):
            text = f"{value:.{digits}g}"
            if rounded_to(float(text), as_dtype(dtype)) == value:
                return text
    return repr(value)
