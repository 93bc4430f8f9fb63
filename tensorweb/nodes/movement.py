"""Build movement nodes: views that move no data, and a copy where strides fail."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import SupportsIndex

from tensorweb import frames
from tensorweb.errors import ShapeError, broadcast_clash
from tensorweb.graph.attributes import (
    Alias,
    Expansion,
    Movement,
    Permutation,
    Reshape,
    Slices,
    Windows,
)
from tensorweb.graph.autograd import may_differentiate, set_rule
from tensorweb.graph.node import VIEWS_KEPT, Node, complex_of
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.graph.provenance import open_provenance
from tensorweb.ops.structure import (
    ALIAS,
    COPY,
    EXPAND,
    PERMUTE,
    RESHAPE,
    SLICE,
    UNFOLD,
)
from tensorweb.shapes import Shape, is_integer
from tensorweb.view import Range, View

_reshape = lru_cache(maxsize=4096)(Reshape)
_permutation = lru_cache(maxsize=4096)(Permutation)
_expansion = lru_cache(maxsize=4096)(Expansion)
_slices = lru_cache(maxsize=4096)(Slices)


def move(op: Op, node: Node, attrs: Movement, view: View) -> Node:
    """Return a movement of a node: a view of the same storage.

    For a long chain of views of a computed node, the intermediate views are dropped.
    """
    base = node.base
    is_long = base.storage is not None and node.depth >= VIEWS_KEPT
    source = base if is_long and not _is_followed(node) else node
    return Node(op, (source,), attrs, view.shape, node.dtype, node.device, base, view)


def _is_followed(node: Node) -> bool:
    """Whether a derivative or the page may ask how a node was made."""
    return may_differentiate(node) or open_provenance() is not None


def alias(node: Node) -> Node:
    """Return a distinct node with the same value, so that derivatives can differ."""
    if node.op is COMPLEX:
        return complex_of(alias(node.inputs[0]))
    return Node(
        ALIAS,
        (node,),
        Alias(),
        node.shape,
        node.dtype,
        node.device,
        node.base,
        node.view,
    )


def stopped(node: Node) -> Node:
    """Return a node with the same value that is a constant for derivatives."""
    if node.op is COMPLEX:
        return complex_of(stopped(node.inputs[0]))
    found = alias(node)
    set_rule(found, (), _nothing)
    return found


def _nothing(cotangent: Node) -> tuple[Node | None, ...]:
    return ()


def copy(node: Node) -> Node:
    """Return a contiguous copy with storage of its own."""
    if node.op is COMPLEX:
        return complex_of(copy(node.inputs[0]))
    frames.note_copy()
    return Node(COPY, (node,), None, node.shape, node.dtype, node.device)


def reshape(node: Node, shape: Shape) -> Node:
    """Return the elements under another shape of equal size."""
    if shape == node.shape:
        return node
    if node.op is COMPLEX:
        return complex_of(reshape(node.inputs[0], (*shape, 2)))
    view = node.reshaped_view(shape)
    if view is None:
        node = copy(node)
        view = View.contiguous(shape)
    return move(RESHAPE, node, _reshape(shape), view)


def permute(node: Node, axes: Sequence[int]) -> Node:
    """Return the node with permuted axes; `axes` is a checked permutation."""
    order = tuple(axes)
    if order == tuple(range(len(order))):
        return node
    if node.op is COMPLEX:
        return complex_of(permute(node.inputs[0], (*order, len(order))))
    return move(PERMUTE, node, _permutation(order), node.view.permute(order))


def expand(node: Node, shape: Shape) -> Node:
    """Return the node broadcast to a shape, repeated axes with stride 0.

    Raises:
        ShapeError: an axis that is not 1 would have to change, or axes are too few.
    """
    if shape == node.shape:
        return node
    added = len(shape) - len(node.shape)
    if added < 0 or any(
        old not in (1, new)
        for old, new in zip(node.shape, shape[max(added, 0) :], strict=True)
    ):
        raise ShapeError(
            f"shape {node.shape} does not broadcast to {shape}; only axes of length 1 "
            "grow, and new axes are added at the front.",
            clash=broadcast_clash((node.shape, shape), is_fixed=True),
        )
    if node.op is COMPLEX:
        return complex_of(expand(node.inputs[0], (*shape, 2)))
    return move(EXPAND, node, _expansion(shape), node.view.expand(shape))


def slice_ranges(node: Node, ranges: Sequence[Range]) -> Node:
    """Return `start, start + step, …` of each axis; ranges are checked by callers."""
    checked = tuple(ranges)
    if all(r == (0, length, 1) for r, length in zip(checked, node.shape, strict=True)):
        return node
    if node.op is COMPLEX:
        return complex_of(slice_ranges(node.inputs[0], (*checked, (0, 2, 1))))
    return move(SLICE, node, _slices(checked), node.view.slice(checked))


def slice_axis(node: Node, axis: int, start: int, length: int, step: int = 1) -> Node:
    """Return `length` elements along one axis: `start, start + step, …`."""
    ranges = [(0, n, 1) for n in node.shape]
    ranges[axis] = (start if length else 0, length, step)
    return slice_ranges(node, ranges)


def flip(node: Node, axes: Sequence[int]) -> Node:
    """Return the node with some axes reversed, by negative strides."""
    return slice_ranges(
        node,
        [
            (length - 1, length, -1) if axis in axes and length else (0, length, 1)
            for axis, length in enumerate(node.shape)
        ],
    )


def unfold(node: Node, axis: int, size: int, step: int = 1, dilation: int = 1) -> Node:
    """Return sliding windows of a checked axis; their elements form a new last axis.

    Raises:
        ShapeError: a number is not positive, or the axis is shorter than one window.
    """
    for name, number in (("size", size), ("step", step), ("dilation", dilation)):
        if number < 1:
            raise ShapeError(f"windows: {name} {number}; it is 1 or more.")
    reach = dilation * (size - 1) + 1
    if node.shape[axis] < reach:
        raise ShapeError(
            f"windows: axis {axis} of shape {node.shape} has length "
            f"{node.shape[axis]}, a window of {size} with dilation {dilation} reaches "
            f"over {reach}; pad the tensor or take smaller windows."
        )
    windows = Windows(axis, size, step, dilation)
    if node.op is COMPLEX:
        found = unfold(node.inputs[0], *windows)
        rank = len(node.shape)
        return complex_of(permute(found, (*range(rank), rank + 1, rank)))
    return move(UNFOLD, node, windows, node.view.unfold(*windows))


def per_axis(
    what: str, numbers: SupportsIndex | Iterable[SupportsIndex], count: int
) -> tuple[int, ...]:
    """Return one integer for each of `count` axes; a single integer applies to all.

    Raises:
        ShapeError: `numbers` are not integers or not `count` of them; the message
            begins with `what`.
    """
    try:
        if is_integer(numbers):
            return (operator.index(numbers),) * count
        given = tuple(operator.index(number) for number in numbers)
    except TypeError as error:
        raise ShapeError(f"{what} {numbers!r} is not made of integers.") from error
    if len(given) != count:
        raise ShapeError(
            f"{what} {given} has {len(given)} numbers for {count} axes; give one for "
            "each axis, or one for all."
        )
    return given


def squeeze(node: Node, axes: Sequence[int]) -> Node:
    """Return the node without some axes of length 1.

    Raises:
        ShapeError: an axis is longer than 1.
    """
    for axis in axes:
        if node.shape[axis] != 1:
            raise ShapeError(
                f"squeeze: axis {axis} of shape {node.shape} has length "
                f"{node.shape[axis]}, only axes of length 1 can go."
            )
    kept = tuple(n for axis, n in enumerate(node.shape) if axis not in axes)
    return reshape(node, kept)


def expand_dims(node: Node, axes: Sequence[int]) -> Node:
    """Return the node with axes of length 1 at positions `axes` of the result."""
    lengths = iter(node.shape)
    total = len(node.shape) + len(axes)
    return reshape(
        node, tuple(1 if axis in axes else next(lengths) for axis in range(total))
    )


def move_axis_last(node: Node, axis: int) -> Node:
    """Return the node with one axis moved to the end."""
    others = [a for a in range(len(node.shape)) if a != axis]
    return permute(node, (*others, axis))


def move_last_axis_to(node: Node, axis: int) -> Node:
    """Undo `move_axis_last`."""
    order = list(range(len(node.shape) - 1))
    order.insert(axis, len(node.shape) - 1)
    return permute(node, order)
