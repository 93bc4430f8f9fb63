"""Build iota, pad, concat, roll, embed, gather, scatter and compress."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, promote
from tensorweb.errors import Clash, ShapeError
from tensorweb.graph.attributes import Box, Joining, Padding, Slices, Taking, Writing
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import COMPLEX
from tensorweb.nodes import policy
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

_Part = tuple[Slices, View]
"""The slices that give a part of a node, and the part's view."""


def iota(length: int, dtype: DType, device: str) -> Node:
    """Return 0, 1, … length - 1 in an integer dtype."""
    require_dtype(dtype, device)
    return Node(IOTA, (), None, (length,), dtype, device)


def pad(node: Node, widths: Sequence[tuple[int, int]], fill: Node) -> Node:
    """Return the node padded with `fill` (0-d); widths are not negative."""
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


def dilate(node: Node, axis: int, step: int) -> Node:
    """Return the node dilated along an axis: `step - 1` zeros between elements."""
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
    """Return nodes concatenated along a checked axis.

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
                f"{axis}; all other axes must be equal.",
                clash=_concat_clash(nodes, node, axis),
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
    while len(parts) > policy.LARGEST_CONCAT:
        parts = tuple(
            _concat_node(parts[begin : begin + policy.LARGEST_CONCAT], axis)
            for begin in range(0, len(parts), policy.LARGEST_CONCAT)
        )
    return _concat_node(parts, axis)


def _concat_clash(nodes: Sequence[Node], wrong: Node, axis: int) -> Clash:
    """Return the clash of the first node and one that cannot be joined to it."""
    first = nodes[0].shape
    pairs = enumerate(zip(first, wrong.shape, strict=False))
    differing = next((i for i, (a, b) in pairs if a != b and i != axis), None)
    is_known = len(first) == len(wrong.shape)
    axes = [
        differing if is_known and (at == 0 or node is wrong) else None
        for at, node in enumerate(nodes)
    ]
    return Clash("concat", tuple(node.shape for node in nodes), tuple(axes), axis)


def _concat_node(parts: tuple[Node, ...], axis: int) -> Node:
    """Return the concat node of at most `LARGEST_CONCAT` checked nodes of one dtype."""
    first = parts[0]
    if len(parts) == 1:
        return first
    shape = list(first.shape)
    shape[axis] = sum(node.shape[axis] for node in parts)
    return Node(CONCAT, parts, Joining(axis), tuple(shape), first.dtype, first.device)


@lru_cache(maxsize=1024)
def _roll_parts(view: View, shift: int, axis: int) -> tuple[_Part, _Part] | None:
    """Return the two parts of a view that a roll exchanges; None if none moves."""
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
    """Return the node rolled along a checked axis, as `numpy.roll`."""
    if node.op is COMPLEX:
        return join_by_part(lambda part: roll(part, shift, axis), node)
    found = _roll_parts(node.view, shift, axis)
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
    """Return the elements or slices of the source at checked int32 indices.

    `taking` names the axis of the source that each index tensor addresses; the index
    tensors broadcast. `shape` is the result's shape.
    """
    if source.op is COMPLEX:
        return join_by_part(lambda part: gather(part, indices, taking, shape), source)
    return Node(GATHER, (source, *indices), taking, shape, source.dtype, source.device)


def scatter(
    node: Node, indices: Sequence[Node], values: Node, writing: Writing
) -> Node:
    """Return the node with values written at checked int32 indices of a part of it.

    Of several values for one element the last is written, as in NumPy. `values` have
    the shape of a gather with these indices.
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
    """Return the indices at which a 1-D mask is true.

    `running` is the inclusive cumulative sum of the mask, `count` its total.
    """
    return Node(
        COMPRESS, (mask, running), None, (count,), dtypes.DEFAULT_INT, mask.device
    )
