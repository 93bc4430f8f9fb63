"""Write by an index: a new value with some elements replaced; nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.clashes import broadcast_clash
from tensorweb.errors import ShapeError
from tensorweb.graph.node import Cache, Node, constant, number_of_constant
from tensorweb.graph.op import CONSTANT
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import (
    addressed,
    basic_ranges,
    basic_shape,
    is_basic,
    plain_key,
)
from tensorweb.nodes.keys import Item, parse
from tensorweb.nodes.movement import (
    expand,
    flip,
    reshape,
    slice_ranges,
)
from tensorweb.nodes.selection import dilate, embed, iota, scatter
from tensorweb.ops import OPS
from tensorweb.shapes import Shape, size


def assign_plain(node: Node, key: object, values: Node) -> Node | None:
    """Return the node with the elements of a key of integers and slices replaced.

    None for any other key, also of slices with steps: `parse` and `assign` take it.

    Raises:
        TensorIndexError: as `parse`.
        ShapeError: the values do not broadcast to the elements named.
    """
    parts = key if type(key) is tuple else (key,)
    plain = plain_key(parts)
    if plain is None:
        return None
    known = (plain, node.shape)
    if known not in _boxes:
        _boxes.keep(known, _box(parse(parts, node.shape)))
    box = _boxes[known]
    if box is None:
        return None
    shape, lengths, starts = box
    values = cast(values, node.dtype)
    if values.op is CONSTANT and not values.shape:
        number = number_of_constant(values)
        written = constant(number, node.dtype, node.device, lengths)
    else:
        if values.shape != shape:
            values = spread_to(values, shape)
        written = reshape(values, lengths)
    return written if lengths == node.shape else embed(node, written, starts)


_Box = tuple[Shape, Shape, tuple[int, ...]]
_boxes: Cache[_Box | None] = Cache()
"""The box that a plain key names in a shape: the shape of what is written, its lengths
along every axis and where they start; None for one that is empty or has steps."""


def _box(items: Sequence[Item]) -> _Box | None:
    ranges = basic_ranges(items)
    if any(not length or step != 1 for _, length, step in ranges):
        return None
    starts = tuple(start for start, _, _ in ranges)
    return basic_shape(items), tuple(length for _, length, _ in ranges), starts


def assign(node: Node, items: Sequence[Item], values: Node) -> Node:
    """Return the node with the elements that a checked key names replaced; no masks.

    Raises:
        ShapeError: the values do not broadcast to the elements named.
    """
    values = cast(values, node.dtype)
    if is_basic(items):
        return _assign_box(node, items, values)
    writing, indices, shape = addressed(node, items)
    written = spread_to(values, shape)
    return scatter(node, indices, written, writing) if written.size else node


def spread_to(values: Node, shape: Shape) -> Node:
    """Return values broadcast to a shape; leading axes of length 1 may be too many."""
    extra = len(values.shape) - len(shape)
    if extra > 0 and size(values.shape[:extra]) == 1:
        values = reshape(values, values.shape[extra:])
    try:
        return expand(values, shape)
    except (ShapeError, ValueError):
        raise ShapeError(
            f"x[key] = v: v has shape {values.shape} and the elements named have "
            f"shape {shape}; v must broadcast to that.",
            clash=broadcast_clash((values.shape, shape), is_fixed=True),
        ) from None


def _assign_box(node: Node, items: Sequence[Item], values: Node) -> Node:
    ranges = basic_ranges(items)
    written = spread_to(values, basic_shape(items))
    lengths = tuple(length for _, length, _ in ranges)
    if 0 in lengths:
        return node
    written = reshape(written, lengths)
    reversed_axes = [axis for axis, (_, _, step) in enumerate(ranges) if step < 0]
    written = flip(written, reversed_axes)
    starts, steps = [], []
    for start, length, step in ranges:
        starts.append(start if step > 0 else start + step * (length - 1))
        steps.append(abs(step) if length > 1 else 1)
    mask: Node | None = None
    for axis, step in enumerate(steps):
        if step > 1:
            written = dilate(written, axis, step)
            on_axis = _multiples(written.shape, axis, step, node.device)
            if mask is not None:
                on_axis = elementwise(OPS["logical_and"], mask, on_axis)
            mask = on_axis
    if mask is not None:
        box = [(s, n, 1) for s, n in zip(starts, written.shape, strict=True)]
        written = elementwise(OPS["where"], mask, written, slice_ranges(node, box))
    if written.shape == node.shape:
        return written
    return embed(node, written, starts)


def _multiples(shape: Shape, axis: int, step: int, device: str) -> Node:
    """Return whether the index along an axis is a multiple of `step`."""
    ramp = iota(shape[axis], dtypes.int32, device)
    phase = elementwise(OPS["remainder"], ramp, constant(step, dtypes.int32, device))
    is_multiple = elementwise(OPS["equal"], phase, constant(0, dtypes.int32, device))
    aligned = [1] * len(shape)
    aligned[axis] = shape[axis]
    return reshape(is_multiple, tuple(aligned))
