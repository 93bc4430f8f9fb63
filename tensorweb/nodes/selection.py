"""Build what joins and selects: padding, joining, writing a box, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, promote
from tensorweb.errors import ShapeError
from tensorweb.graph.attributes import Box, Joining, Padding, Slices, Taking, Writing
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import COMPLEX
from tensorweb.nodes.complex_parts import join_by_part
from tensorweb.nodes.elementwise import cast, common_device, require_promoted
from tensorweb.nodes.movement import move, reshape, slice_ranges
from tensorweb.ops.structure import (
    COMPRESS,
    CONCAT,
    EMBED,
    GATHER,
    IOTA,
    PAD,
    SCATTER,
    SLICE,
)
from tensorweb.shapes import Shape
from tensorweb.view import View

Turned = tuple[Slices, View]
"""A part of a view, and how it looks at the storage."""

MOST_JOINED = 6
"""Nodes that one concat joins; more are joined in groups, since a kernel can bind only
so many storages."""


def iota(length: int, dtype: DType, device: str) -> Node:
    """Return 0, 1, … length - 1 in an integer dtype."""
    require_dtype(dtype, device)
    return Node(IOTA, (), None, (length,), dtype, device)


def pad(node: Node, widths: Sequence[tuple[int, int]], fill: Node) -> Node:
    """Return a border of `fill` (0-d) around the node; widths are not negative."""
    checked = tuple((before, after) for before, after in widths)
    if not any(before or after for before, after in checked):
        return node
    if node.op is COMPLEX:
        fill = cast(fill, node.dtype)
        return join_by_part(lambda *parts: pad(parts[0], checked, parts[1]), node, fill)
    shape = tuple(
        n + before + after
        for n, (before, after) in zip(node.shape, checked, strict=True)
    )
    return Node(
        PAD,
        (node, cast(fill, node.dtype)),
        Padding(checked),
        shape,
        node.dtype,
        node.device,
    )


def spaced_out(node: Node, axis: int, step: int) -> Node:
    """Return elements `step` apart along an axis, zeros between them."""
    shape = node.shape
    count = shape[axis]
    if step == 1 or count < 2:
        return node
    apart = reshape(node, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    widths = [(0, 0)] * (len(shape) + 1)
    widths[axis + 1] = (0, step - 1)
    apart = pad(apart, widths, constant(0, node.dtype, node.device))
    joined = reshape(apart, (*shape[:axis], count * step, *shape[axis + 1 :]))
    ranges = [(0, length, 1) for length in joined.shape]
    ranges[axis] = (0, (count - 1) * step + 1, 1)
    return slice_ranges(joined, ranges)


def concat(nodes: Sequence[Node], axis: int) -> Node:
    """Return nodes one after another along a checked axis.

    Raises:
        ShapeError: the other axes differ.
    """
    first = nodes[0]
    for node in nodes[1:]:
        if len(node.shape) != len(first.shape) or any(
            a != b
            for i, (a, b) in enumerate(zip(first.shape, node.shape, strict=True))
            if i != axis
        ):
            raise ShapeError(
                f"concat: shapes {first.shape} and {node.shape} differ outside axis "
                f"{axis}; all other axes must be equal."
            )
    dtype = first.dtype
    for node in nodes[1:]:
        dtype = promote(dtype, node.dtype)
    common_device(CONCAT, tuple(nodes))
    require_promoted("concat", nodes, dtype)
    parts = tuple(cast(node, dtype) for node in nodes if node.shape[axis])
    if not parts:
        return cast(first, dtype)
    if len(parts) == 1:
        return parts[0]
    if dtype.kind == "complex":
        return join_by_part(lambda *nodes: concat(nodes, axis), *parts)
    while len(parts) > MOST_JOINED:
        parts = tuple(
            _joined(parts[begin : begin + MOST_JOINED], axis)
            for begin in range(0, len(parts), MOST_JOINED)
        )
    return _joined(parts, axis)


def _joined(parts: tuple[Node, ...], axis: int) -> Node:
    """Return few checked nodes of one dtype one after another."""
    first = parts[0]
    if len(parts) == 1:
        return first
    shape = list(first.shape)
    shape[axis] = sum(node.shape[axis] for node in parts)
    return Node(CONCAT, parts, Joining(axis), tuple(shape), first.dtype, first.device)


@lru_cache(maxsize=1024)
def _turned(view: View, shift: int, axis: int) -> tuple[Turned, Turned] | None:
    """Return the two parts of a view that change places; None if none does."""
    length = view.shape[axis]
    cut = (-shift) % length if length else 0
    if cut == 0:
        return None
    ranges = [(0, n, 1) for n in view.shape]
    ranges[axis] = (cut, length - cut, 1)
    front = Slices(tuple(ranges))
    ranges[axis] = (0, cut, 1)
    back = Slices(tuple(ranges))
    return (front, view.slice(front.ranges)), (back, view.slice(back.ranges))


def roll(node: Node, shift: int, axis: int) -> Node:
    """Return elements moved along a checked axis, in at one end and out at the other.

    Programs turn one shape again and again, so that parts and views are remembered.
    """
    if node.op is COMPLEX:
        return join_by_part(lambda part: roll(part, shift, axis), node)
    found = _turned(node.view, shift, axis)
    if found is None:
        return node
    parts = tuple(move(SLICE, node, attrs, view) for attrs, view in found)
    return Node(CONCAT, parts, Joining(axis), node.shape, node.dtype, node.device)


def embed(node: Node, values: Node, starts: Sequence[int]) -> Node:
    """Return the node with the box that begins at `starts` replaced by `values`."""
    if node.op is COMPLEX:
        values = cast(values, node.dtype)
        return join_by_part(lambda n, v: embed(n, v, starts), node, values)
    return Node(
        EMBED,
        (node, cast(values, node.dtype)),
        Box(tuple(starts)),
        node.shape,
        node.dtype,
        node.device,
    )


def gather(source: Node, indices: Sequence[Node], taking: Taking, shape: Shape) -> Node:
    """Return the elements, or slices of whole axes, at checked int32 positions.

    `taking` says which axis of the source each index tensor addresses; they broadcast.
    `shape` is that of the result.
    """
    if source.op is COMPLEX:
        return join_by_part(lambda part: gather(part, indices, taking, shape), source)
    return Node(GATHER, (source, *indices), taking, shape, source.dtype, source.device)


def scatter(
    node: Node, indices: Sequence[Node], values: Node, writing: Writing
) -> Node:
    """Return the node with values at checked int32 positions of a part of it.

    Of several values for one position the last wins, as in NumPy. `values` have the
    shape that gathering from there would give.
    """
    if node.op is COMPLEX:
        values = cast(values, node.dtype)
        return join_by_part(
            lambda *parts: scatter(parts[0], indices, parts[1], writing), node, values
        )
    return Node(
        SCATTER,
        (node, *indices, cast(values, node.dtype)),
        writing,
        node.shape,
        node.dtype,
        node.device,
    )


def compress(mask: Node, running: Node, count: int) -> Node:
    """Return the row-major positions where a 1-D mask holds.

    `running` are the inclusive running counts of the mask, `count` its total.
    """
    return Node(
        COMPRESS, (mask, running), None, (count,), dtypes.DEFAULT_INT, mask.device
    )
