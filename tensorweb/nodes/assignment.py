"""Write by an index: replace elements, or combine values with them.

Accumulated values of equal indices are combined. Axes that the key does not index form
rows, and a kernel gets one index per row.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import DTypeError, ShapeError, broadcast_clash
from tensorweb.graph.node import Cache, Node, constant, number_of_constant
from tensorweb.graph.op import COMPLEX, CONSTANT, Op
from tensorweb.nodes.complex_parts import join_by_part
from tensorweb.nodes.elementwise import cast, common_device, elementwise
from tensorweb.nodes.indexing import (
    addressed,
    advanced_shape,
    basic_ranges,
    basic_shape,
    index_sum,
    is_basic,
    plain_key,
    select,
)
from tensorweb.nodes.keys import Dots, Indices, Item, NewAxis, Pick, Span, parse
from tensorweb.nodes.movement import expand, flip, permute, reshape, slice_ranges
from tensorweb.nodes.selection import dilate, embed, iota, scatter
from tensorweb.ops import OPS
from tensorweb.shapes import Shape, size, strides
from tensorweb.view import Range


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
