"""Parse an index such as `x[1, ::2, mask]` into one item per axis, checked.

Lists and arrays have become nodes already. Indices whose values are on the host are
checked there; values computed on a device are read once (least and greatest).
"""

from __future__ import annotations

import itertools
import operator
from array import array
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

from tensorweb import dtypes
from tensorweb.errors import TensorIndexError
from tensorweb.evaluate import host_bytes, read, realize
from tensorweb.graph.node import Node, constant, leaf, number_of_constant
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import unpack
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import reshape, slice_ranges
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.nodes.selection import compress
from tensorweb.ops import OPS
from tensorweb.shapes import Shape, strides
from tensorweb.view import Range

SMALL_MASK = 1 << 16
"""Masks on the host up to this size are turned into positions there."""


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of one axis: it stays in the result."""

    range: Range


@lru_cache(maxsize=1024)
def whole_spans(shape: Shape) -> tuple[Span, ...]:
    """Return the key items that keep every axis whole."""
    return tuple(Span((0, length, 1)) for length in shape)


@dataclass(frozen=True, slots=True)
class Pick:
    """One index of one axis: the axis goes."""

    at: int


@dataclass(frozen=True, slots=True)
class NewAxis:
    """An axis of length 1 that the tensor does not have."""


@dataclass(frozen=True, slots=True)
class Dots:
    """An ellipsis that stands for no axis; it still keeps index tensors apart."""


@dataclass(frozen=True, slots=True)
class Indices:
    """Integer positions along one axis, none of them negative or out of range.

    Attributes:
        node: int32 of any shape.
        has_axis: False for a 0-d mask, which takes no axis of the tensor.
    """

    node: Node
    has_axis: bool = True


@dataclass(frozen=True, slots=True)
class Mask:
    """A boolean node over one axis or several."""

    node: Node


Item = Span | Pick | NewAxis | Dots | Indices | Mask


def parse(key: tuple[object, ...], shape: Shape) -> list[Item]:
    """Return the items of a key, with an item for every axis of the shape.

    Raises:
        TensorIndexError: too many indices, one out of range, a second ellipsis, a mask
            of another shape or something that cannot index.
    """
    dots = [place for place, part in enumerate(key) if part is Ellipsis]
    if len(dots) > 1:
        raise TensorIndexError(
            f"an index has one ellipsis (...) at most, this one has {len(dots)}."
        )
    taken = sum(_axes_taken(part) for part in key)
    if taken > len(shape):
        raise TensorIndexError(
            f"too many indices: {taken} for the {len(shape)} axes of shape {shape}."
        )
    rest: list[object] = [slice(None)] * (len(shape) - taken)
    place = dots[0] if dots else len(key)
    parts = [*key[:place], *(rest or key[place : place + 1]), *key[place + 1 :]]
    items: list[Item] = []
    axis = 0
    for part in parts:
        items.append(_item(part, axis, shape))
        axis += _axes_taken(part)
    return items


def _axes_taken(part: object) -> int:
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, Node) and part.dtype.kind == "bool":
        return len(part.shape)
    return 1


def _item(part: object, axis: int, shape: Shape) -> Item:
    if part is None:
        return NewAxis()
    if part is Ellipsis:
        return Dots()
    if isinstance(part, Node):
        if part.dtype.kind == "bool":
            return Mask(_checked_mask(part, axis, shape))
        return Indices(checked_indices(part, axis, shape))
    length = shape[axis]
    if isinstance(part, slice):
        return Span(_range(part, length))
    try:
        at = operator.index(part)  # type: ignore[arg-type]  # raises TypeError if it is none
    except TypeError:
        raise TensorIndexError(
            f"{part!r} of type {type(part).__name__} cannot index axis {axis}; use "
            "integers, slices, None, ..., and integer or bool tensors or lists."
        ) from None
    if not -length <= at < length:
        raise TensorIndexError(
            f"index {at} is out of range for axis {axis} of shape {shape} "
            f"(length {length})."
        )
    return Pick(at % length)


def _range(part: slice, length: int) -> Range:
    try:
        start, stop, step = part.indices(length)
    except (TypeError, ValueError) as error:
        raise TensorIndexError(f"slice {part}: {error}.") from None
    count = len(range(start, stop, step))
    return (start, count, step) if count else (0, 0, 1)


def checked_indices(node: Node, axis: int, shape: Shape) -> Node:
    """Return integer indices as int32 counted from the front, checked for range.

    Raises:
        TensorIndexError: an index is out of range or no integer.
    """
    if node.dtype.kind not in ("int", "uint"):
        raise TensorIndexError(
            f"a {node.dtype} tensor cannot index axis {axis}; indices are integers or "
            "bool. Convert with astype(tw.int32)."
        )
    length = shape[axis]
    if not node.size:
        return cast(node, dtypes.int32)
    low, high = extremes(node)
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
    turned = elementwise(
        OPS["add"], indices, constant(length, dtypes.int32, node.device)
    )
    return elementwise(
        OPS["where"], elementwise(OPS["less"], indices, zero), turned, indices
    )


_known_extremes: WeakKeyDictionary[Node, tuple[int, int]] = WeakKeyDictionary()
"""What was found once about an index tensor; values never change."""


def extremes(node: Node) -> tuple[int, int]:
    """Return the least and the greatest of some integers, read once from a device."""
    found = _known_extremes.get(node)
    if found is None:
        found = _known_extremes[node] = _find_extremes(node)
    return found


def promise_extremes(node: Node, low: int, high: int) -> None:
    """Say what is known about some integers, so that no device is asked."""
    _known_extremes[node] = (low, high)


def _find_extremes(node: Node) -> tuple[int, int]:
    if node.op.kind == "constant":
        number = int(number_of_constant(node))
        return number, number
    data = host_bytes(node)
    if data is not None:
        values = memoryview(data).cast(node.dtype.typecode)  # type: ignore[call-overload]  # a dtype's letter is a native one
        return min(values), max(values)
    axes = tuple(range(len(node.shape)))
    ends = [reduce("min", node, axes), reduce("max", node, axes)]
    realize([node, *ends])
    low, high = (unpack(part, node.dtype, ()) for part in read(ends))
    return int(low), int(high)  # type: ignore[call-overload]  # 0-d integers


def _checked_mask(node: Node, axis: int, shape: Shape) -> Node:
    over = shape[axis : axis + len(node.shape)]
    if node.shape != over:
        if _is_empty_mask(node.shape, over):
            return constant(0, dtypes.bool, node.device, over)
        raise TensorIndexError(
            f"a mask of shape {node.shape} does not fit axes {axis} to "
            f"{axis + len(node.shape) - 1} of shape {shape}, which are {over}; a mask "
            "has the lengths of the axes it chooses from."
        )
    return node


def _is_empty_mask(mask: Shape, over: Shape) -> bool:
    """Whether a mask chooses nothing since some of its axes have length 0.

    The standard lets each axis be as long as the tensor's or 0.
    """
    return 0 in mask and all(a in (0, b) for a, b in zip(mask, over, strict=True))


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
    """Return how many of a 1-D mask hold up to each place, and how many in all."""
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


def unravel_positions(positions: Node, shape: Shape) -> list[Node]:
    """Return the index along each axis of row-major positions in a shape."""
    result = []
    for axis, (length, step) in enumerate(zip(shape, strides(shape), strict=True)):
        index = positions
        if step > 1:
            index = elementwise(OPS["floor_divide"], index, _number(step, positions))
        if axis:
            index = elementwise(OPS["remainder"], index, _number(length, positions))
        result.append(index)
    return result


def _number(value: int, beside: Node) -> Node:
    return constant(max(value, 1), beside.dtype, beside.device)
