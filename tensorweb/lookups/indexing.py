"""Read, write and accumulate by any checked key: masks become positions or choices.

A mask that stands alone needs no positions to write by it: every element chooses.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.graph.node import Node, constant
from tensorweb.lookups.keys import has_mask, running_counts, without_masks
from tensorweb.nodes import assignment, indexing
from tensorweb.nodes.assignment import spread_to
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.keys import Indices, Item, Mask, Span
from tensorweb.nodes.movement import expand, reshape
from tensorweb.ops import OPS
from tensorweb.shapes import Shape


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
