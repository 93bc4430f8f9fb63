"""Builders that must look at values: masks become positions, sets, checked indices.

Their count determines a shape, so it is read from the device.

Indices whose interval is in range are not read. Of others the minimum and maximum are
computed once, by the host if it has the bytes, else by the device. While a function is
traced, the trace records the intervals that its arguments must lie in.

A mask that stands alone needs no positions to write by it: every element chooses.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tensorweb import dtypes
from tensorweb.errors import TensorIndexError, TraceError, index_clash
from tensorweb.evaluate import host_bytes, read, realize
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import Placeholder, Trace, outside_of_vmap
from tensorweb.hostdata import unpack
from tensorweb.nodes import assignment, indexing
from tensorweb.nodes.assignment import spread_to
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.keys import Indices, Item, Mask, Span, parse, unravel_positions
from tensorweb.nodes.movement import expand, reshape, slice_ranges
from tensorweb.nodes.ranges import Interval, interval_of, promise_interval
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.nodes.selection import compress, concat
from tensorweb.nodes.sorting import argsort, sort
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
            f"(length {length}).",
            clash=index_clash(int(wrong), shape, axis),
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


def select(node: Node, items: Sequence[Item]) -> Node:
    """Return the elements that a checked key names."""
    if has_mask(items):
        node, items = _merge_masked_axes(node, items)
    return indexing.select(node, without_masks(items))


def _merge_masked_axes(
    node: Node, items: Sequence[Item]
) -> tuple[Node, Sequence[Item]]:
    """Let a mask over several axes address them as one where strides allow."""
    axis = 0
    result: list[Item] = []
    for item in items:
        if isinstance(item, Mask) and len(item.node.shape) > 1:
            rank = len(item.node.shape)
            merged = (*node.shape[:axis], item.node.size, *node.shape[axis + rank :])
            if node.view.reshape(merged) is not None:
                node = reshape(node, merged)
                item = Mask(reshape(item.node, (item.node.size,)))
        result.append(item)
        axis += item.axes_taken
    return node, result


def assign(node: Node, items: Sequence[Item], values: Node) -> Node:
    """Return the node with the elements that a checked key names replaced.

    Raises:
        ShapeError: the values do not broadcast to the elements named.
    """
    mask = _lone_mask(items, node.shape)
    if mask is None:
        return assignment.assign(node, without_masks(items), values)
    found = _masked_values(node, mask, cast(values, node.dtype))
    return node if found is None else elementwise(OPS["where"], *found, node)


def accumulate(name: str, node: Node, items: Sequence[Item], values: Node) -> Node:
    """Return the node with values combined into the elements that a key names.

    Args:
        name: one of `nodes.accumulation.COMBINED`.
        node: what the values are combined with.
        items: the checked key.
        values: broadcast to the elements named and cast to the node's dtype.

    Raises:
        ShapeError: the values do not broadcast to the elements named.
    """
    mask = _lone_mask(items, node.shape)
    if mask is None:
        return assignment.accumulate(name, node, without_masks(items), values)
    found = _masked_values(node, mask, cast(values, node.dtype))
    if found is None:
        return node
    wide, written = found
    op = assignment.combining_op(name, node.dtype)
    return elementwise(OPS["where"], wide, elementwise(op, node, written), node)


def _lone_mask(items: Sequence[Item], shape: Shape) -> Node | None:
    """Return the mask of a key that is one mask over the leading axes, else None."""
    first = items[0] if items else None
    if isinstance(first, Mask) and all(
        isinstance(item, Span) and item.range == (0, length, 1)
        for item, length in zip(items[1:], shape[len(first.node.shape) :], strict=False)
    ):
        return first.node
    return None


def _masked_values(node: Node, mask: Node, values: Node) -> tuple[Node, Node] | None:
    """Return a mask over the leading axes and the values that belong where it holds.

    Both broadcast to the node's shape; None when the mask is known to hold nowhere.
    Values that are the same everywhere are found without a read.
    """
    rank = len(mask.shape)
    rest = node.shape[rank:]
    while len(values.shape) > len(rest) + 1 and values.shape[0] == 1:
        values = reshape(values, values.shape[1:])
    wide = reshape(mask, (*mask.shape, *(1,) * len(rest)))
    has_rows = len(values.shape) == len(rest) + 1 and values.shape[0] != 1
    if not has_rows:
        row = spread_to(values, (1, *rest))
        same = reshape(row, (*(1,) * rank, *rest))
        return wide, expand(same, node.shape)
    flat = reshape(mask, (mask.size,))
    running, total = running_counts(flat) if mask.size else (flat, 0)
    rows = spread_to(values, (total, *rest))
    if total == 0:
        return None
    one = constant(1, dtypes.int32, node.device)
    zero = constant(0, dtypes.int32, node.device)
    source = elementwise(
        OPS["maximum"], elementwise(OPS["subtract"], running, one), zero
    )
    spans: list[Item] = [Span((0, length, 1)) for length in rest]
    chosen = reshape(indexing.select(rows, [Indices(source), *spans]), node.shape)
    return wide, chosen


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct values of a node, their counts and indices.

    Attributes:
        shape: of the node.
        ordered: all values in order, 1-D.
        order: where they are in row-major order of the node; without meaning unless
            asked for.
        running: how many distinct values have begun up to each ordered one.
        firsts: where in `ordered` each distinct value begins.
    """

    shape: Shape
    ordered: Node
    order: Node
    running: Node
    firsts: Node

    @property
    def values(self) -> Node:
        """The distinct values in order."""
        return take_along(self.ordered, self.firsts, 0)

    @property
    def indices(self) -> Node:
        """Where each distinct value is first, in row-major order of the node."""
        return take_along(self.order, self.firsts, 0)

    @property
    def counts(self) -> Node:
        """How often each distinct value occurs."""
        later = slice_ranges(self.firsts, [(1, max(self.firsts.size - 1, 0), 1)])
        end = _numbers(self.ordered.size, (min(self.firsts.size, 1),), self.ordered)
        return elementwise(OPS["subtract"], concat([later, end], 0), self.firsts)

    @property
    def inverse(self) -> Node:
        """Which distinct value each element of the node is."""
        one = _numbers(1, (), self.ordered)
        ranks = elementwise(OPS["subtract"], self.running, one)
        zeros = _numbers(0, ranks.shape, self.ordered)
        inverse = assignment.assign(zeros, [Indices(self.order)], ranks)
        return reshape(inverse, self.shape)


def distinct(node: Node, with_order: bool) -> Distinct:
    """Return the distinct values of a node; `with_order` says where they come from.

    Each NaN is a value of its own, as comparing tells, and -0 is 0.
    """
    flat = reshape(node, (node.size,))
    if not node.size:
        nothing = _numbers(0, (0,), node)
        return Distinct(node.shape, flat, nothing, nothing, nothing)
    order = argsort(flat, 0) if with_order else _numbers(0, (1,), node)
    ordered = take_along(flat, order, 0) if with_order else sort(flat, 0)
    starts = _starts(ordered)
    realize([order, ordered, starts])
    running, total = running_counts(starts)
    firsts = compress(starts, running, total)
    return Distinct(node.shape, ordered, order, running, firsts)


def _starts(ordered: Node) -> Node:
    """Return where an ordered value differs from the one before; the first does."""
    length = ordered.size
    first = expand(constant(True, dtypes.bool, ordered.device), (1,))
    if length == 1:
        return first
    before = slice_ranges(ordered, [(0, length - 1, 1)])
    here = slice_ranges(ordered, [(1, length - 1, 1)])
    differs = elementwise(OPS["not_equal"], here, before)
    return concat([first, differs], 0)


def _numbers(value: int, shape: Shape, other: Node) -> Node:
    return constant(value, dtypes.DEFAULT_INT, other.device, shape)
