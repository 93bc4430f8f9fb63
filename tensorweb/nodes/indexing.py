"""Read by an index: views for integers and slices, a gather for tensors and masks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tensorweb import dtypes
from tensorweb.errors import ShapeError, TensorIndexError
from tensorweb.graph.attributes import Movement, Taking, Writing
from tensorweb.graph.autograd import may_differentiate
from tensorweb.graph.node import Cache, Node, constant, movement_of, number_of_constant
from tensorweb.graph.op import COMPLEX, CONSTANT, Op
from tensorweb.nodes.elementwise import common_device, elementwise
from tensorweb.nodes.keys import (
    Indices,
    Item,
    Mask,
    NewAxis,
    Pick,
    Span,
    parse,
)
from tensorweb.nodes.movement import move, reshape, slice_ranges
from tensorweb.nodes.selection import gather, iota
from tensorweb.ops import OPS
from tensorweb.ops.structure import GATHER
from tensorweb.shapes import Shape, broadcast_shapes
from tensorweb.view import Range, View


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
_known_moves: Cache[tuple[_Move, ...]] = Cache()
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
    moves = None if node.op is COMPLEX else _known_moves.get(known)
    if moves is None:
        items = parse(parts, node.shape)
        sliced = slice_ranges(node, basic_ranges(items))
        result = reshape(sliced, basic_shape(items))
        if node.op is COMPLEX:
            return result
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
    """Return a cache key of a basic index, else None; `True` is no integer."""
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
    """Return the elements that a checked key without masks names."""
    if is_basic(items):
        return reshape(slice_ranges(node, basic_ranges(items)), basic_shape(items))
    is_number = node.base.op is CONSTANT and node.base.storage is None
    if is_number and not may_differentiate(node):
        shape = advanced_shape(items)[0]
        number = number_of_constant(node.base)
        return constant(number, node.dtype, node.device, shape)
    writing, indices, shape = addressed(node, items)
    part = reshape(slice_ranges(node, writing.ranges), writing.shape)
    return gather(part, indices, writing.taking, shape)


def _together(indices: Sequence[Node]) -> Shape:
    """Return the shape to which index tensors broadcast."""
    try:
        return broadcast_shapes(*(node.shape for node in indices))
    except ShapeError as error:
        raise TensorIndexError(f"index tensors: {error}") from None


def advanced_shape(items: Sequence[Item]) -> tuple[Shape, Shape, int]:
    """Return the shape of the result, of the index tensors in it, and their first axis.

    As in NumPy: it stands where the first index tensor is when all of them (integers
    count) are neighbours, else in front.
    """
    together = _together([item.node for item in items if isinstance(item, Indices)])
    indexed = [
        number for number, item in enumerate(items) if isinstance(item, Indices | Pick)
    ]
    are_neighbours = indexed[-1] - indexed[0] == len(indexed) - 1
    before = [
        item
        for item in items[: indexed[0] if are_neighbours else 0]
        if isinstance(item, Span | NewAxis)
    ]
    kept = basic_shape(items)
    shape = (*kept[: len(before)], *together, *kept[len(before) :])
    return shape, together, len(before)


_known_parts: Cache[Writing] = Cache()
"""The cached `Writing` of each structure of keys with index tensors."""


def addressed(node: Node, items: Sequence[Item]) -> tuple[Writing, list[Node], Shape]:
    """Return the elements that a key names, its index tensors and the result shape.

    Raises:
        TensorIndexError: the index tensors do not broadcast.
    """
    indices = [item.node for item in items if type(item) is Indices]
    common_device(GATHER, (node, *indices))
    key = (node.shape, *(_described(item) for item in items))
    found = _known_parts.get(key)
    if found is None:
        found = _addressed(node.shape, items)
        _known_parts.keep(key, found)
    return found, indices, found.taking.result_shape(found.shape, _together(indices))


def _described(item: Item) -> Hashable:
    """Return the cache key of one item of a key."""
    if type(item) is Span:
        return item.range
    if type(item) is Indices:
        return (len(item.node.shape), item.has_axis)
    return item.at if isinstance(item, Pick) else type(item).__name__


def _addressed(lengths: Shape, items: Sequence[Item]) -> Writing:
    ranges: list[Range] = []
    shape: list[int] = []
    taken: list[int] = []
    for item in items:
        if isinstance(item, Pick):
            ranges.append((item.at, 1, 1))
        elif isinstance(item, Span):
            ranges.append(item.range)
            shape.append(item.range[1])
        elif isinstance(item, NewAxis):
            shape.append(1)
        elif isinstance(item, Indices):
            taken.append(len(shape))
            if item.has_axis:
                ranges.append((0, lengths[len(ranges)], 1))
            # A 0-d mask takes no axis: its positions are those in an axis of length 1.
            shape.append(ranges[-1][1] if item.has_axis else 1)
    first = advanced_shape(items)[2]
    return Writing(tuple(ranges), tuple(shape), Taking(tuple(taken), first))


def index_sum(terms: Sequence[tuple[Node, int]], rank: int, device: str) -> Node:
    """Return the sum of index nodes times their strides, last axes aligned."""
    aligned = [
        reshape(
            _times(node, stride), _aligned(node.shape, rank - len(node.shape), rank)
        )
        for node, stride in terms
    ]
    return _sum(aligned, 0, device)


def _aligned(shape: Shape, start: int, rank: int) -> Shape:
    """Return a shape with axes of length 1 around it: `start` before, `rank` in all."""
    return (*(1,) * start, *shape, *(1,) * (rank - start - len(shape)))


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
