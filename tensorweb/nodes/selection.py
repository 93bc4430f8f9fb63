"""Build what joins and selects: padding, joining, writing a box, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, promote
from tensorweb.errors import ShapeError
from tensorweb.graph.attributes import Box, Joining, Padding, Positions
from tensorweb.graph.node import Node
from tensorweb.nodes.elementwise import cast, common_device, require_promoted
from tensorweb.nodes.movement import expand
from tensorweb.ops.structure import (
    COMPRESS,
    CONCAT,
    EMBED,
    GATHER,
    IOTA,
    PAD,
    SCATTER,
)

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


def embed(node: Node, values: Node, starts: Sequence[int]) -> Node:
    """Return the node with the box that begins at `starts` replaced by `values`."""
    return Node(
        EMBED,
        (node, cast(values, node.dtype)),
        Box(tuple(starts)),
        node.shape,
        node.dtype,
        node.device,
    )


def gather(base: Node, positions: Node, in_lines: bool = False) -> Node:
    """Return elements of a base's storage at checked integer positions.

    `in_lines` says that positions are multiples of four plus an index ramp along the
    last axis, and the storage a multiple of four as well: kernels read vectors there.
    """
    return Node(
        GATHER,
        (base, positions),
        Positions(in_lines),
        positions.shape,
        base.dtype,
        base.device,
    )


def scatter(node: Node, positions: Node, values: Node) -> Node:
    """Return the node with row-major positions (1-D) replaced by values (1-D).

    Of several values for one position the last wins, as in NumPy.
    """
    written = expand(cast(values, node.dtype), positions.shape)
    return Node(
        SCATTER,
        (node, positions, written),
        None,
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
