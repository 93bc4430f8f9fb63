"""Parse an index such as `x[1, ::2, mask]` into one item per axis.

Lists and arrays have become nodes already. Python's own numbers are checked here, index
tensors in `lookups.py`, where values can be looked at.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from tensorweb import dtypes
from tensorweb.errors import TensorIndexError, index_clash
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.shapes import Shape, strides
from tensorweb.view import Range


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of one axis: it stays in the result."""

    range: Range
    axes_taken: ClassVar[int] = 1


@lru_cache(maxsize=1024)
def whole_spans(shape: Shape) -> tuple[Span, ...]:
    """Return the key items that keep every axis whole."""
    return tuple(Span((0, length, 1)) for length in shape)


@dataclass(frozen=True, slots=True)
class Pick:
    """One index of one axis: the axis goes."""

    at: int
    axes_taken: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class NewAxis:
    """An axis of length 1 that the tensor does not have."""

    axes_taken: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Dots:
    """An ellipsis that stands for no axis; it still keeps index tensors apart."""

    axes_taken: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Indices:
    """Positions along one axis.

    Attributes:
        node: integers of any shape; once checked int32, none of them negative or out of
            range.
        has_axis: False for a 0-d mask, which takes no axis of the tensor.
    """

    node: Node
    has_axis: bool = True

    @property
    def axes_taken(self) -> int:
        """How many axes of the tensor it takes."""
        return int(self.has_axis)


@dataclass(frozen=True, slots=True)
class Mask:
    """A boolean node over one axis or several."""

    node: Node

    @property
    def axes_taken(self) -> int:
        """How many axes of the tensor it takes."""
        return len(self.node.shape)


Item = Span | Pick | NewAxis | Dots | Indices | Mask


def parse(key: tuple[object, ...], shape: Shape) -> list[Item]:
    """Return the items of a key, with an item for every axis of the shape.

    Index tensors are not checked yet.

    Raises:
        TensorIndexError: too many indices, a number out of range, a second ellipsis, a
            mask of another shape or something that cannot index.
    """
    dots = [number for number, part in enumerate(key) if part is Ellipsis]
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
    split = dots[0] if dots else len(key)
    parts = [*key[:split], *(rest or key[split : split + 1]), *key[split + 1 :]]
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
        return Indices(part)
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
            f"(length {length}).",
            clash=index_clash(at, shape, axis),
        )
    return Pick(at % length)


def _range(part: slice, length: int) -> Range:
    try:
        start, stop, step = part.indices(length)
    except (TypeError, ValueError) as error:
        raise TensorIndexError(f"slice {part}: {error}.") from None
    count = len(range(start, stop, step))
    return (start, count, step) if count else (0, 0, 1)


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


def _number(value: int, other: Node) -> Node:
    return constant(max(value, 1), other.dtype, other.device)
