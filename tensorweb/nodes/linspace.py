"""Build evenly spaced values, exact or rounded once from float64, and grids of them.

On a device without float64, the host computes short results. For long ones it computes
the middle of each block, and the device adds small offsets to it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.devices import stores
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import pack
from tensorweb.nodes import policy
from tensorweb.nodes.elementwise import cast, common_device, elementwise
from tensorweb.nodes.movement import expand, reshape, slice_ranges
from tensorweb.nodes.selection import iota
from tensorweb.ops import OPS

EXACT = 1 << 24
"""Integers up to this magnitude are exact in float32."""


def counted(count: int, start: float, step: float, dtype: DType, device: str) -> Node:
    """Return `start + i * step`, computed in a dtype that represents all values."""
    integer = dtype if dtype.kind in ("int", "uint") else dtypes.int32
    node = cast(iota(count, integer, device), dtype)
    if step != 1:
        factor = constant(_wrapped(step, dtype), dtype, device)
        node = elementwise(OPS["multiply"], node, factor)
    # 0 * -4 is -0; adding 0 makes it 0.
    has_signs = step < 0 and dtype.kind == "float"
    if start != 0 or has_signs:
        node = elementwise(OPS["add"], node, constant(start, dtype, device))
    return node


def _wrapped(step: float, dtype: DType) -> float:
    """Return a negative step modulo the range of an unsigned dtype."""
    return step + 2**dtype.bits if dtype.kind == "uint" and step < 0 else step


def spaced(
    count: int,
    start: float,
    step: float,
    dtype: DType,
    device: str,
    last: float | None = None,
) -> Node:
    """Return `start + i * step`, computed as in float64 and rounded once.

    `last` replaces the last value. Integer dtypes get the floor of each value.
    """
    if dtype.kind == "complex":
        return cast(spaced(count, start, step, dtype.part, device, last), dtype)
    if stores(dtypes.float64, device):
        node = counted(count, start, step, dtypes.float64, device)
        return _converted(_ended(node, last), dtype)
    if _is_exact(count, start, step, last):
        return cast(counted(count, start, step, dtypes.float32, device), dtype)
    if count > policy.LARGEST_HOST_RANGE:
        return _converted(_ended(_in_blocks(count, start, step, device), last), dtype)
    numbers = [start + i * step for i in range(count)]
    if last is not None and count:
        numbers[-1] = last
    if dtype.kind in ("int", "uint"):
        low, high = dtypes.integer_range(dtype)
        if all(low <= number < high + 1 for number in numbers):
            return _stored([math.floor(number) for number in numbers], dtype, device)
    if dtype.kind == "float":
        return _stored(numbers, dtype, device)
    return _converted(_stored(numbers, dtypes.float32, device), dtype)


def _stored(numbers: Sequence[float], dtype: DType, device: str) -> Node:
    shape = (len(numbers),)
    return leaf(HostData(pack(numbers, dtype, shape)), shape, dtype, device)


def _is_exact(count: int, start: float, step: float, last: float | None) -> bool:
    """Whether float32 represents all intermediate values exactly."""
    if not (float(start).is_integer() and float(step).is_integer()):
        return False
    is_short = max(abs(start), abs(start + count * step)) <= EXACT
    return is_short and last in (None, start + (count - 1) * step)


def _in_blocks(count: int, start: float, step: float, device: str) -> Node:
    """Return evenly spaced float32 values as block middles plus offsets.

    A middle is a sum of two float32 values. The offsets are small relative to most
    values, so nearly all sums are correctly rounded and the others are off by 1 ULP.
    """
    block = policy.RANGE_BLOCK
    blocks = -(-count // block)
    half = block // 2
    middles = [start + (index * block + half) * step for index in range(blocks)]
    high = array("f", middles)
    low = [
        middle - near if math.isfinite(near) else 0.0
        for middle, near in zip(middles, high, strict=True)
    ]
    shape = (blocks, block)
    offsets = _stored([i * step for i in range(-half, half)], dtypes.float32, device)
    remainders, nearest = (
        expand(reshape(_stored(part, dtypes.float32, device), (blocks, 1)), shape)
        for part in (low, high)
    )
    offsets = expand(reshape(offsets, (1, block)), shape)
    small = elementwise(OPS["add"], remainders, offsets)
    values = elementwise(OPS["add"], nearest, small)
    return slice_ranges(reshape(values, (blocks * block,)), [(0, count, 1)])


def _ended(node: Node, last: float | None) -> Node:
    """Return a node with its last element replaced by `last`, if given."""
    if last is None or not node.size:
        return node
    index = iota(node.size, dtypes.int32, node.device)
    end = constant(node.size - 1, dtypes.int32, node.device)
    is_before = elementwise(OPS["less"], index, end)
    number = constant(last, node.dtype, node.device)
    return elementwise(OPS["where"], is_before, node, number)


def _converted(node: Node, dtype: DType) -> Node:
    if dtype.kind != "float":
        node = elementwise(OPS["floor"], node)
    return cast(node, dtype)


def grids(nodes: Sequence[Node], indexing: str) -> list[Node]:
    """Return coordinate grids of nodes of one axis; `xy` puts the first one last.

    Raises:
        ShapeError: a node has more than one axis.
        DataError: `indexing` is neither `xy` nor `ij`.
    """
    if indexing not in ("xy", "ij"):
        raise DataError(f"meshgrid: indexing {indexing!r}; it is 'xy' or 'ij'.")
    if not nodes:
        return []
    common_device(OPS["add"], tuple(nodes))
    for node in nodes:
        if len(node.shape) > 1:
            raise ShapeError(f"meshgrid: shape {node.shape}; give tensors of one axis.")
    rank = len(nodes)
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[:2] = [1, 0]
    shape = [0] * rank
    for axis, node in zip(axes, nodes, strict=True):
        shape[axis] = node.size
    result = []
    for axis, node in zip(axes, nodes, strict=True):
        aligned = [1] * rank
        aligned[axis] = node.size
        result.append(expand(reshape(node, tuple(aligned)), tuple(shape)))
    return result
