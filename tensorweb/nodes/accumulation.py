"""Scatter with accumulation: combine values with the elements that a key names.

Values for equal indices accumulate. Axes that the key does not index form rows, and a
kernel gets one index per row.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.dtypes import DType
from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.nodes.assignment import assign, spread_to
from tensorweb.nodes.complex_parts import join_by_part
from tensorweb.nodes.elementwise import cast, common_device, elementwise
from tensorweb.nodes.indexing import (
    advanced_shape,
    index_sum,
    is_basic,
    select,
)
from tensorweb.nodes.keys import Dots, Indices, Item, NewAxis, Pick, Span
from tensorweb.nodes.movement import expand, permute, reshape, slice_ranges
from tensorweb.ops import OPS
from tensorweb.shapes import Shape, strides
from tensorweb.view import Range

COMBINED = ("add", "multiply", "minimum", "maximum")
"""Elementwise operations that can accumulate, by the op `scatter_NAME`."""


def combining_op(name: str, dtype: DType) -> Op:
    """Return the elementwise operation that combines two values of a dtype."""
    if dtype.kind == "bool":
        name = {"add": "maximum", "multiply": "minimum"}.get(name, name)
    return OPS[name]


def accumulate(name: str, node: Node, items: Sequence[Item], values: Node) -> Node:
    """Return the node with values accumulated into the elements that a key names.

    Args:
        name: one of `COMBINED`; of bool `add` is *or* and `multiply` is *and*.
        node: the node that provides the other elements.
        items: the checked key, without masks.
        values: broadcast to the elements named and cast to the node's dtype.

    Raises:
        ShapeError: the values do not broadcast to the elements named.
    """
    assert name in COMBINED, f"internal: {name} does not accumulate"
    combining = combining_op(name, node.dtype)
    values = cast(values, node.dtype)
    if is_basic(items):
        named = select(node, items)
        spread = spread_to(values, named.shape)
        return assign(node, items, elementwise(combining, named, spread))
    op = OPS[f"scatter_{combining.name}"]
    indices = [item.node for item in items if isinstance(item, Indices)]
    common_device(op, (node, *indices))
    if node.op is COMPLEX:
        if name != "add":
            raise DTypeError(
                f"x.at[key].{name}: {node.dtype}, of which positions that may be equal "
                "can only add up; write x[key] = v where they differ."
            )
        return join_by_part(
            lambda *parts: _in_box(op, parts[0], items, parts[1]), node, values
        )
    return _in_box(op, node, items, values)


def _in_box(op: Op, node: Node, items: Sequence[Item], values: Node) -> Node:
    """Accumulate in the slice of the node that integers and slices select."""
    ranges: list[Range] = []
    inner: list[Item] = []
    for item in items:
        if isinstance(item, Pick):
            ranges.append((item.at, 1, 1))
        elif isinstance(item, Span):
            ranges.append(item.range)
            item = Span((0, item.range[1], 1))
        elif isinstance(item, Indices) and item.has_axis:
            ranges.append((0, node.shape[len(ranges)], 1))
        inner.append(item)
    box = slice_ranges(node, ranges)
    changed = _in_rows(op, box, inner, values)
    if box is node:
        return changed
    return node if changed is box else assign(node, [Span(r) for r in ranges], changed)


def _in_rows(op: Op, node: Node, items: Sequence[Item], values: Node) -> Node:
    """Accumulate rows at the indices of index tensors."""
    shape, together, first = advanced_shape(items)
    values = spread_to(values, shape)
    if not values.size:
        return node
    front = range(first, first + len(together))
    others = [axis for axis in range(len(shape)) if axis not in front]
    values = permute(values, (*front, *others))
    taken, whole, positions = _positions(node, items, together)
    row = tuple(node.shape[axis] for axis in whole)
    order = (*taken, *whole)
    rows = permute(node, order)
    result = Node(
        op,
        (rows, positions, reshape(values, (*together, *row))),
        None,
        rows.shape,
        node.dtype,
        node.device,
    )
    return permute(result, [order.index(axis) for axis in range(len(order))])


def _positions(
    node: Node, items: Sequence[Item], together: Shape
) -> tuple[list[int], list[int], Node]:
    """Return the indexed axes, the other axes, and the flat index of each row."""
    taken: list[int] = []
    whole: list[int] = []
    chosen: list[tuple[int, Node]] = []
    for item in items:
        if isinstance(item, NewAxis | Dots):
            continue
        axis = len(taken) + len(whole)
        if isinstance(item, Span):
            whole.append(axis)
            continue
        if isinstance(item, Indices):
            if not item.has_axis:
                continue
            chosen.append((len(taken), item.node))
        taken.append(axis)
    steps = strides(tuple(node.shape[axis] for axis in taken))
    terms = [(index, steps[number]) for number, index in chosen]
    positions = index_sum(terms, len(together), node.device)
    return taken, whole, expand(positions, together)
