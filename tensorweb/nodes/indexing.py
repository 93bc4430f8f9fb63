"""Read by an index: views for integers and slices, a gather for tensors and masks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tensorweb import dtypes
from tensorweb.errors import ShapeError, TensorIndexError
from tensorweb.graph.attributes import Movement
from tensorweb.graph.node import Node, constant, movement_of, number_of_constant
from tensorweb.graph.op import CONSTANT, Op
from tensorweb.graph.structure import Known
from tensorweb.nodes.elementwise import common_device, elementwise
from tensorweb.nodes.keys import (
    Dots,
    Indices,
    Item,
    Mask,
    NewAxis,
    Pick,
    Span,
    mask_indices,
    parse,
)
from tensorweb.nodes.movement import expand, move, reshape, slice_ranges
from tensorweb.nodes.selection import gather, iota
from tensorweb.ops import OPS
from tensorweb.ops.structure import GATHER
from tensorweb.shapes import Shape, broadcast_shapes
from tensorweb.view import Range, View

LINE = 4
"""Elements that a GPU reads at once."""


def is_basic(items: Sequence[Item]) -> bool:
    """Whether a key is made of integers, slices and None: its result is a view."""
    kinds = [type(item) for item in items]
    return Indices not in kinds and Mask not in kinds


def basic_ranges(items: Sequence[Item]) -> list[Range]:
    """Return the range of every axis that a basic key keeps, integers with length 1."""
    return [
        (item.at, 1, 1) if isinstance(item, Pick) else item.range
        for item in items
        if isinstance(item, Pick | Span)
    ]


def basic_shape(items: Sequence[Item]) -> Shape:
    """Return the shape of the result of a basic key."""
    return tuple(
        item.range[1] if isinstance(item, Span) else 1
        for item in items
        if isinstance(item, Span | NewAxis)
    )


_Move = tuple[Op, Movement, View]
_known_moves: Known[tuple[_Move, ...]] = Known()
"""Movements that plain keys stand for, by key and view."""


def select_plain(node: Node, key: object) -> Node | None:
    """Return the view that a key of Python's integers, slices, None and ... names.

    None when the key has anything else in it; `parse` and `select` take that.

    Raises:
        TensorIndexError: as `parse`.
    """
    parts = key if type(key) is tuple else (key,)
    plain = plain_key(parts)
    if plain is None:
        return None
    view = node.view
    known = (plain, view.shape, view.strides, view.offset)
    moves = _known_moves.get(known)
    if moves is None:
        items = parse(parts, node.shape)
        sliced = slice_ranges(node, basic_ranges(items))
        result = reshape(sliced, basic_shape(items))
        found = dict.fromkeys((sliced, result))
        found.pop(node, None)
        _known_moves.keep(known, tuple(_step(each) for each in found))
        return result
    for op, attrs, view in moves:
        node = move(op, node, attrs, view)
    return node


def _step(node: Node) -> _Move:
    return node.op, movement_of(node), node.view


def plain_key(parts: tuple[object, ...]) -> Hashable | None:
    """Return what tells plain keys apart, None for others (True is no 1 here)."""
    plain: list[Hashable] = []
    for part in parts:
        if type(part) is int or part is None or part is Ellipsis:
            plain.append(part)
        elif type(part) is slice:
            ends = (part.start, part.stop, part.step)
            if any(end is not None and type(end) is not int for end in ends):
                return None
            plain.append(ends)
        else:
            return None
    return tuple(plain)


def select(node: Node, items: Sequence[Item]) -> Node:
    """Return the elements that a parsed key names."""
    if is_basic(items):
        return reshape(slice_ranges(node, basic_ranges(items)), basic_shape(items))
    if _has_mask(items):
        node, items = _merge_masked_axes(node, items)
    if node.base.op is CONSTANT and node.base.storage is None:
        shape = advanced_shape(without_masks(items))[0]
        number = number_of_constant(node.base)
        return constant(number, node.dtype, node.device, shape)
    layout, indices = _layout_of(node.view, items, node)
    in_lines = layout.is_in_lines and node.base.size % LINE == 0
    return gather(node.base, _positions(layout, indices, node.device), in_lines)


def _has_mask(items: Sequence[Item]) -> bool:
    return Mask in [type(item) for item in items]


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
        axis += _rank_taken(item)
    return node, result


def _rank_taken(item: Item) -> int:
    if isinstance(item, Mask):
        return len(item.node.shape)
    return 0 if isinstance(item, NewAxis | Dots) else 1


def without_masks(items: Sequence[Item]) -> list[Item]:
    """Return a key with positions in place of its masks."""
    if not _has_mask(items):
        return list(items)
    result: list[Item] = []
    for item in items:
        result.extend(mask_indices(item.node) if isinstance(item, Mask) else [item])
    return result


def advanced_shape(items: Sequence[Item]) -> tuple[Shape, Shape, int]:
    """Return the result's shape, the shape of the index tensors together, its place.

    As in NumPy: it stands where the first index tensor is when all of them (integers
    count) are neighbours, else in front.
    """
    try:
        together = broadcast_shapes(
            *(item.node.shape for item in items if isinstance(item, Indices))
        )
    except ShapeError as error:
        raise TensorIndexError(f"index tensors: {error}") from None
    places = [
        place for place, item in enumerate(items) if isinstance(item, Indices | Pick)
    ]
    are_neighbours = places[-1] - places[0] == len(places) - 1
    before = [
        item
        for item in items[: places[0] if are_neighbours else 0]
        if isinstance(item, Span | NewAxis)
    ]
    kept = basic_shape(items)
    shape = (*kept[: len(before)], *together, *kept[len(before) :])
    return shape, together, len(before)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a key with index tensors comes to, apart from the numbers in them.

    Attributes:
        shape: of the result.
        offset: storage position that is added to every other.
        terms: index tensor by number, or -1 and the length of a ramp instead; stride;
            shape with the result's rank.
        is_in_lines: whether positions are multiples of four plus a ramp along the last
            axis.
    """

    shape: Shape
    offset: int
    terms: tuple[tuple[int, int, int, Shape], ...]
    is_in_lines: bool


_known_layouts: Known[_Layout] = Known()


def index_positions(view: View, items: Sequence[Item], node: Node) -> Node:
    """Return the storage positions (int32) of what a key with index tensors names."""
    layout, indices = _layout_of(view, items, node)
    return _positions(layout, indices, node.device)


def _layout_of(
    view: View, items: Sequence[Item], node: Node
) -> tuple[_Layout, list[Node]]:
    """Return the layout of a key and its index tensors."""
    flat_items = without_masks(items)
    indices = [item.node for item in flat_items if type(item) is Indices]
    common_device(GATHER, (node, *indices))
    described = [_described(item) for item in flat_items]
    key = (*described, view.strides, view.offset)
    layout = _known_layouts.get(key)
    if layout is None:
        layout = _layout(view, flat_items)
        _known_layouts.keep(key, layout)
    return layout, indices


def _positions(layout: _Layout, indices: Sequence[Node], device: str) -> Node:
    terms = []
    for number, length, stride, shape in layout.terms:
        term = iota(length, dtypes.int32, device) if number < 0 else indices[number]
        terms.append(reshape(_times(term, stride), shape))
    return expand(_sum(terms, layout.offset, device), layout.shape)


def _described(item: Item) -> Hashable:
    """Return what of an item a layout depends on."""
    if type(item) is Span:
        return item.range
    if type(item) is Indices:
        return (item.node.shape, item.has_axis)
    return item.at if isinstance(item, Pick) else type(item).__name__


def _layout(view: View, items: Sequence[Item]) -> _Layout:
    shape, together, place = advanced_shape(items)
    offset = view.offset
    terms: list[tuple[int, int, int, Shape]] = []
    axis, kept, number = 0, 0, -1
    for item in items:
        if isinstance(item, NewAxis | Dots):
            kept += isinstance(item, NewAxis)
            continue
        stride = view.strides[axis] if axis < len(view.strides) else 0
        if isinstance(item, Indices):
            number += 1
            if item.has_axis:
                start = place + len(together) - len(item.node.shape)
                aligned = _aligned(item.node.shape, start, len(shape))
                terms.append((number, 0, stride, aligned))
                axis += 1
            continue
        if isinstance(item, Pick):
            offset += stride * item.at
        elif isinstance(item, Span):
            first, length, step = item.range
            offset += stride * first
            target = kept if kept < place else kept + len(together)
            if length > 1:
                aligned = _aligned((length,), target, len(shape))
                terms.append((-1, length, stride * step, aligned))
            kept += 1
        axis += 1
    return _Layout(shape, offset, tuple(terms), _is_in_lines(view, items[-1]))


def _is_in_lines(view: View, last: Item) -> bool:
    if not isinstance(last, Span):
        return False
    start, length, step = last.range
    starts = (*view.strides[:-1], view.offset, start, length)
    return step == view.strides[-1] == 1 and all(n % LINE == 0 for n in starts)


def _aligned(shape: Shape, start: int, rank: int) -> Shape:
    """Return a shape with its axes from `start` on in a result of `rank`."""
    return (*(1,) * start, *shape, *(1,) * (rank - start - len(shape)))


def index_sum(terms: Sequence[tuple[Node, int]], rank: int, device: str) -> Node:
    """Return the sum of index nodes times their strides, last axes aligned."""
    aligned = [
        reshape(
            _times(node, stride), _aligned(node.shape, rank - len(node.shape), rank)
        )
        for node, stride in terms
    ]
    return _sum(aligned, 0, device)


def _times(node: Node, stride: int) -> Node:
    if stride == 1:
        return node
    factor = constant(stride, dtypes.int32, node.device)
    return elementwise(OPS["multiply"], node, factor)


def _sum(terms: Sequence[Node], offset: int, device: str) -> Node:
    if not terms:
        return constant(offset, dtypes.int32, device)
    result = terms[0]
    for term in terms[1:]:
        result = elementwise(OPS["add"], result, term)
    if offset == 0:
        return result
    return elementwise(OPS["add"], result, constant(offset, dtypes.int32, device))


def take_along(node: Node, indices: Node, axis: int) -> Node:
    """Return `node[..., indices[..., i, ...], ...]` along one axis, others matched.

    Raises:
        ShapeError: ranks differ or the other axes do not broadcast.
    """
    if len(node.shape) != len(indices.shape):
        raise ShapeError(
            f"take_along_axis: shape {node.shape} and indices of shape {indices.shape} "
            "need equally many axes."
        )
    items: list[Item] = []
    for other, length in enumerate(node.shape):
        if other == axis:
            items.append(Indices(indices))
            continue
        ramp = iota(length, dtypes.int32, node.device)
        aligned = [1] * len(node.shape)
        aligned[other] = length
        items.append(Indices(reshape(ramp, tuple(aligned))))
    return select(node, items)
