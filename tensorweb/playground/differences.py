"""The difference of two tensors of one shape."""

from __future__ import annotations

import tensorweb as tw
from tensorweb.tensor import Tensor

from .numbers import Reader, read_all
from .pictures import find

INT32 = ("bool", "int8", "int16", "uint8", "uint16")
"""Dtypes subtracted as int32: bools have no difference, and small integers overflow."""
UNSIGNED = {"uint32": tw.float32, "uint64": tw.float64}
"""Unsigned dtypes, and the dtypes that can hold their differences."""


def difference(a: Tensor, b: Tensor) -> Tensor:
    """Return `a - b` of two tensors of one shape, in a dtype with negative numbers.

    >>> difference(tw.asarray([True, False]), tw.asarray([True, True]))
    tensor([ 0, -1])
    """
    a, b = (tw.astype(x, tw.int32) if x.dtype.name in INT32 else x for x in (a, b))
    if a.dtype is b.dtype and a.dtype.name in UNSIGNED:
        wide = UNSIGNED[a.dtype.name]
        is_less = a < b
        size = tw.astype(tw.where(is_less, b - a, a - b), wide)
        return tw.where(is_less, -size, size)
    return a - b


async def measure(
    a: Tensor, b: Tensor, less: Tensor, reader: Reader
) -> tuple[int, float | None, list[int] | None]:
    """Return the count of different elements, the largest distance and its index.

    Two NaNs at one index do not differ.
    """
    differ = a != b
    if a.dtype.kind == b.dtype.kind and a.dtype.kind in ("float", "complex"):
        differ = differ & ~(tw.isnan(a) & tw.isnan(b))
    distance = tw.abs(less)
    index = (await find(distance, "max", reader))["index"]
    asked = [tw.sum(tw.astype(differ, tw.int32)).node]
    if index is not None:
        asked.append(distance[tuple(index)].node)
    found = await read_all(asked, reader)
    largest = float(found[1][0]) if index is not None else None
    return int(found[0][0]), largest, index
