"""Check index tensors and convert masks to indices, reading values where needed.

Indices whose interval is in range are not read. Of others the minimum and maximum are
computed once, by the host if it has the bytes, else by the device. While a function is
traced, the trace records the intervals that its arguments must lie in.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from tensorweb import dtypes
from tensorweb.errors import TensorIndexError, TraceError
from tensorweb.evaluate import host_bytes, read, realize
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import Placeholder, Trace, outside_of_vmap
from tensorweb.hostdata import unpack
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.keys import Indices, Item, Mask, parse, unravel_positions
from tensorweb.nodes.movement import reshape, slice_ranges
from tensorweb.nodes.ranges import Interval, interval_of, promise_interval
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.nodes.selection import compress
from tensorweb.ops import OPS
from tensorweb.shapes import Shape

SMALL_MASK = 1 << 16
"""Masks on the host up to this many elements are converted to indices there."""


def parse_checked(key: tuple[object, ...], shape: Shape) -> list[Item]:
    """Return the items of a key, index tensors checked and counted from the front.

    Raises:
        TensorIndexError: as `nodes.keys.parse`, or an index tensor is out of range.
        TraceError: nobody knows whether it is while a function is traced.
    """
    items = parse(key, shape)
    axis = 0
    for number, item in enumerate(items):
        if isinstance(item, Indices):
            checked = checked_indices(item.node, axis, shape)
            items[number] = Indices(checked, item.has_axis)
        axis += item.axes_taken
    return items


def checked_indices(node: Node, axis: int, shape: Shape) -> Node:
    """Return integer indices as int32 counted from the front, checked for range.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        TraceError: nobody knows whether it is while a function is traced.
    """
    if node.dtype.kind not in ("int", "uint"):
        raise TensorIndexError(
            f"a {node.dtype} tensor cannot index axis {axis}; indices are integers or "
            "bool. Convert with astype(tw.int32)."
        )
    length = shape[axis]
    if not node.size:
        return cast(node, dtypes.int32)
    low, high = interval_of(node)
    if low < -length or high >= length:
        words = f"axis {axis} of shape {shape}"
        low, high = ends_within(node, -length, length - 1, words)
    if low < -length or high >= length:
        wrong = low if low < -length else high
        raise TensorIndexError(
            f"index {wrong} is out of range for axis {axis} of shape {shape} "
            f"(length {length})."
        )
    indices = cast(node, dtypes.int32)
    if low >= 0:
        return indices
    zero = constant(0, dtypes.int32, node.device)
    end = constant(length, dtypes.int32, node.device)
    from_front = elementwise(OPS["add"], indices, end)
    is_negative = elementwise(OPS["less"], indices, zero)
    return elementwise(OPS["where"], is_negative, from_front, indices)


def ends_within(node: Node, least: int, most: int, words: str = "") -> Interval:
    """Return bounds of integers that should lie from `least` to `most`.

    Where they do not, they are the least and the greatest, exactly.

    Args:
        node: the integers.
        least: smallest number allowed; with a negative one numbers are counted from
            either end.
        most: largest number allowed.
        words: what they are positions of, for the error.

    Raises:
        TraceError: a function is traced that computes them from its arguments, and
            nobody knows whether they lie there.
    """
    low, high = interval_of(node)
    if least <= low and high <= most:
        return low, high
    node, trace = outside_of_vmap(node)
    if trace is None:
        return extremes(node)
    found = _assumed(node, least, most, trace)
    if found is None:
        raise TraceError(
            f"jit: {trace.name} computes integers that are positions along {words}, "
            "and nobody knows while it is recorded whether they are in range. Bound "
            f"them, with tw.clip(i, 0, {most}) or i % {most + 1}, or leave out jit."
        )
    return found


def _assumed(node: Node, least: int, most: int, trace: Trace) -> Interval | None:
    """Return an interval that holds for the arguments of this call, if one is known.

    The trace notes what it was concluded from, which later calls must keep.
    """
    base = node.base
    if type(base.storage) is Placeholder:
        low, high = ends_within(trace.argument(base), least, most)
        if least <= low and high <= most:
            within = (0 if low >= 0 else least, most)
            trace.assume(base, within)
            return within
        has_all = node.size == base.size and 0 not in node.view.strides
        return (low, high) if has_all else None
    for ends in (interval_of, extremes):
        (low, high), used = _concluded(node, trace, ends)
        if least <= low and high <= most:
            for placeholder, interval in used.items():
                trace.assume(placeholder, interval)
            return low, high
    return None


def _concluded(
    node: Node, trace: Trace, ends: Callable[[Node], Interval]
) -> tuple[Interval, dict[Node, Interval]]:
    """Return bounds that follow from those of arguments, and the latter."""
    used: dict[Node, Interval] = {}

    def actual(placeholder: Node) -> Interval:
        found = used[placeholder] = ends(trace.argument(placeholder))
        return found

    return interval_of(node, actual), used


_exact: WeakKeyDictionary[Node, Interval] = WeakKeyDictionary()
"""Least and greatest of what was looked at; values never change."""


def extremes(node: Node) -> Interval:
    """Return the least and the greatest of some integers, read once from a device."""
    found = _exact.get(node)
    if found is None:
        found = _exact[node] = _find_extremes(node)
        promise_interval(node, *found)
    return found


def _find_extremes(node: Node) -> Interval:
    low, high = interval_of(node)
    if low == high:
        return low, high
    data = host_bytes(node)
    if data is not None:
        values = memoryview(data).cast(node.dtype.typecode)  # type: ignore[call-overload]  # a dtype's letter is a native one
        return min(values), max(values)
    axes = tuple(range(len(node.shape)))
    ends = [reduce("min", node, axes), reduce("max", node, axes)]
    realize([node, *ends])
    least, most = (unpack(part, node.dtype, ()) for part in read(ends))
    return int(least), int(most)  # type: ignore[call-overload]  # 0-d integers


def mask_positions(mask: Node) -> Node:
    """Return the row-major positions (1-D int32) where a mask of any rank holds.

    Their number is a shape, so the device is asked for it here.
    """
    flat = reshape(mask, (mask.size,))
    data = host_bytes(flat) if mask.size <= SMALL_MASK else None
    if data is not None:
        found = array("i", itertools.compress(range(len(data)), data))
        return leaf(HostData(found.tobytes()), (len(found),), dtypes.int32, mask.device)
    if not mask.size:
        return _none(mask.device)
    running, total = running_counts(flat)
    return compress(flat, running, total) if total else _none(mask.device)


def _none(device: str) -> Node:
    return leaf(HostData(b""), (0,), dtypes.int32, device)


def running_counts(flat: Node) -> tuple[Node, int]:
    """Return how many of a 1-D mask hold up to each element, and how many in all."""
    running = scan("cumulative_sum", flat, 0, dtypes.int32)
    last = slice_ranges(running, [(flat.size - 1, 1, 1)])
    realize([flat, running])
    total = unpack(read([last])[0], dtypes.int32, ())
    return running, int(total)  # type: ignore[call-overload]  # one integer


def mask_indices(mask: Node) -> list[Indices]:
    """Return a mask as one item of indices per axis; for 0 axes one without an axis."""
    positions = mask_positions(mask)
    if not mask.shape:
        return [Indices(positions, has_axis=False)]
    if len(mask.shape) == 1:
        return [Indices(positions)]
    return [Indices(node) for node in unravel_positions(positions, mask.shape)]


def has_mask(items: Sequence[Item]) -> bool:
    """Whether a key has a mask in it."""
    return Mask in [type(item) for item in items]


def without_masks(items: Sequence[Item]) -> list[Item]:
    """Return a key with positions in place of its masks."""
    if not has_mask(items):
        return list(items)
    result: list[Item] = []
    for item in items:
        result.extend(mask_indices(item.node) if isinstance(item, Mask) else [item])
    return result
