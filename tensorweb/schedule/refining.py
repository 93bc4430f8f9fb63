"""Move views between index spaces, and refine them: split axes for reshapes.

A reshape that merges a broadcast axis with others has no strides. In an index space
whose axes are split as they were before the reshape, the storage is read through
strides, and results keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod
from operator import mul
from typing import NamedTuple

from tensorweb.graph.attributes import (
    Expansion,
    Movement,
    Permutation,
    Reduction,
    Reshape,
)
from tensorweb.graph.node import Node, attributes_of
from tensorweb.schedule import policy
from tensorweb.schedule.kernel import Rule
from tensorweb.shapes import Shape, size
from tensorweb.view import View


class Link(NamedTuple):
    """One movement of a chain, the node it applies to, and the rest of the chain."""

    movement: Movement
    source: Node
    rest: Link | None


Chain = Link | None
"""Movements from the node outwards to the index space; None is the empty chain."""


class Blocked(Exception):  # a signal inside the scheduler, no error
    """A kernel cannot be built until `nodes` are stored.

    Attributes:
        rule: the rule by which nodes are stored that were not to be stored before.
        link: the movement that cannot be expressed by strides, if that is the reason.
    """

    def __init__(self, rule: Rule, *nodes: Node, link: Link | None = None) -> None:
        """Name the nodes, for example the one below a reshape without strides."""
        super().__init__(*nodes)
        self.rule = rule
        self.nodes = nodes
        self.link = link


def move(view: View, chain: Chain) -> View:
    """Apply a chain of movements to a view.

    Raises:
        Blocked: a reshape in the chain cannot be expressed by strides.
    """
    while chain is not None:
        moved = chain.movement.apply(view)
        if moved is None:
            raise Blocked(Rule.RESHAPED, chain.source, link=chain)
        view, chain = moved, chain.rest
    return view


def refined(link: Link | None, shape: Shape) -> Shape | None:
    """Return a space's shape with axes split so that a link has strides.

    None if the link is not a reshape that merges axes, or if its axes are not axes of
    the space.
    """
    if link is None or not isinstance(link.movement, Reshape):
        return None
    target = link.movement.shape
    joined = _joined(_common(link.source.shape, target), target)
    if joined is None:
        return None
    marker = View.contiguous(target)
    try:
        seen = move(marker, link.rest)
    except Blocked as blocked:
        return refined(blocked.link, shape)
    if seen.shape != shape:
        return None
    split: list[Shape] = [(n,) for n in shape]
    for length, stride, parts in zip(marker.shape, marker.strides, joined, strict=True):
        indices = [
            axis
            for axis, found in enumerate(zip(seen.shape, seen.strides, strict=True))
            if found == (length, stride)
        ]
        if len(parts) > 1 and len(indices) == 1:
            split[indices[0]] = parts
    finer = tuple(n for parts in split for n in parts)
    return finer if len(finer) > len(shape) else None


def split_first(
    movement: Movement, shape: Shape, finer: Shape
) -> tuple[Reshape, Movement] | None:
    """Swap a movement and the reshape of its result: reshape first, then move.

    >>> split_first(Permutation((1, 0)), (6, 5), (5, 2, 3))
    (Reshape(shape=(2, 3, 5)), Permutation(order=(2, 0, 1)))
    >>> split_first(Expansion((4, 6)), (6,), (4, 2, 3))
    (Reshape(shape=(2, 3)), Expansion(shape=(4, 2, 3)))
    """
    if isinstance(movement, Expansion):
        joined = _joined(finer, movement.shape)
        if joined is None:
            return None
        own = joined[len(movement.shape) - len(shape) :]
        parts = [
            part if n != 1 else (1,) * len(part)
            for n, part in zip(shape, own, strict=True)
        ]
        return _reshape(parts), Expansion(finer)
    if not isinstance(movement, Permutation):
        return None
    joined = _joined(finer, tuple(shape[axis] for axis in movement.order))
    if joined is None:
        return None
    parts = [joined[movement.order.index(axis)] for axis in range(len(shape))]
    ends = list(accumulate(map(len, parts), initial=0))
    order = [
        index for axis in movement.order for index in range(ends[axis], ends[axis + 1])
    ]
    return _reshape(parts), Permutation(tuple(order))


def _reshape(parts: Sequence[Shape]) -> Reshape:
    return Reshape(tuple(n for part in parts for n in part))


def split_groups(
    shape: Shape, finer: Shape, groups: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Map groups of a shape's axes to groups of the finer axes."""
    joined = _joined(finer, shape)
    assert joined is not None, "internal: the finer shape splits axes"
    ends = list(accumulate(map(len, joined), initial=0))
    return [
        tuple(index for axis in group for index in range(ends[axis], ends[axis + 1]))
        for group in groups
    ]


def _common(a: Shape, b: Shape) -> Shape:
    """Return the coarsest common refinement of two shapes.

    Axis boundaries of either shape are boundaries of the result.
    """
    ends = sorted({*accumulate(a, mul), *accumulate(b, mul)})
    return tuple(end // begin for begin, end in pairwise([1, *ends]) if end != begin)


def _joined(source: Shape, target: Shape) -> list[Shape] | None:
    """Return the neighbouring source lengths that each target axis merges, or None."""
    found: list[Shape] = []
    index = 0
    for length in target:
        begin = index
        while index < len(source) and prod(source[begin : index + 1]) <= length:
            index += 1
            if prod(source[begin:index]) == length:
                break
        if prod(source[begin:index]) != length:
            return None
        found.append(tuple(source[begin:index]))
    rest = source[index:]
    if prod(rest) != 1 or (rest and not found):
        return None
    if rest:
        found[-1] += rest
    return found


class RowSpace(NamedTuple):
    """An index space split into outer axes and the inner axes that form a row."""

    outer: Shape
    inner: Shape

    @property
    def shape(self) -> Shape:
        """Lengths of all axes."""
        return (*self.outer, *self.inner)

    @property
    def rank(self) -> int:
        """Number of axes that form a row."""
        return len(self.inner)

    def has_results(self, shape: Shape) -> bool:
        """Whether a result of this shape has one value per element or per row.

        >>> RowSpace((2, 3), (4,)).has_results((2, 3, 1))
        True
        """
        rows = [length for length in self.outer if length != 1]
        return shape == self.shape or [n for n in shape if n != 1] == rows

    @property
    def pays(self) -> bool:
        """Whether one kernel should compute such rows, a workgroup per row.

        Rows must fit into registers; long rows must be many to fill the device.
        """
        length = size(self.inner)
        is_busy = size(self.outer) >= policy.LEAST_ROWS or length <= policy.SHORT_ROW
        return 1 < length <= policy.LONGEST_ROW and is_busy


def row_space(node: Node) -> RowSpace | None:
    """Return the space whose rows a node reduces, or None if a row kernel does not fit.

    None unless the node reduces exactly the last axes, is not bool, and the rows pay.
    """
    space = rows_below(node)
    return space if space is not None and space.pays else None


def rows_below(node: Node) -> RowSpace | None:
    """Return the space whose rows a node reduces, also where they do not pay."""
    if node.op.kind != "reduce" or node.dtype.kind == "bool":
        return None
    shape = node.inputs[0].shape
    axes = attributes_of(node, Reduction).axes
    rank = len(shape) - len(axes)
    if axes != tuple(range(rank, len(shape))):
        return None
    return RowSpace(shape[:rank], shape[rank:])
