"""Build distinct values: sort, mark where a value differs from the one before, select.

Their count determines a shape, so it is read from the device.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb import dtypes
from tensorweb.evaluate import realize
from tensorweb.graph.node import Node, constant
from tensorweb.lookups.keys import running_counts
from tensorweb.nodes.assignment import assign
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.keys import Indices
from tensorweb.nodes.movement import expand, reshape, slice_ranges
from tensorweb.nodes.selection import compress, concat
from tensorweb.nodes.sorting import argsort, sort
from tensorweb.ops import OPS
from tensorweb.shapes import Shape


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct values of a node, their counts and indices.

    Attributes:
        shape: of the node.
        ordered: all values in order, 1-D.
        order: where they are in row-major order of the node; without meaning unless
            asked for.
        running: how many distinct values have begun up to each ordered one.
        firsts: where in `ordered` each distinct value begins.
    """

    shape: Shape
    ordered: Node
    order: Node
    running: Node
    firsts: Node

    @property
    def values(self) -> Node:
        """The distinct values in order."""
        return take_along(self.ordered, self.firsts, 0)

    @property
    def indices(self) -> Node:
        """Where each distinct value is first, in row-major order of the node."""
        return take_along(self.order, self.firsts, 0)

    @property
    def counts(self) -> Node:
        """How often each distinct value occurs."""
        later = slice_ranges(self.firsts, [(1, max(self.firsts.size - 1, 0), 1)])
        end = _numbers(self.ordered.size, (min(self.firsts.size, 1),), self.ordered)
        return elementwise(OPS["subtract"], concat([later, end], 0), self.firsts)

    @property
    def inverse(self) -> Node:
        """Which distinct value each element of the node is."""
        one = _numbers(1, (), self.ordered)
        ranks = elementwise(OPS["subtract"], self.running, one)
        zeros = _numbers(0, ranks.shape, self.ordered)
        inverse = assign(zeros, [Indices(self.order)], ranks)
        return reshape(inverse, self.shape)


def distinct(node: Node, with_order: bool) -> Distinct:
    """Return the distinct values of a node; `with_order` says where they come from.

    Each NaN is a value of its own, as comparing tells, and -0 is 0.
    """
    flat = reshape(node, (node.size,))
    if not node.size:
        nothing = _numbers(0, (0,), node)
        return Distinct(node.shape, flat, nothing, nothing, nothing)
    order = argsort(flat, 0) if with_order else _numbers(0, (1,), node)
    ordered = take_along(flat, order, 0) if with_order else sort(flat, 0)
    starts = _starts(ordered)
    realize([order, ordered, starts])
    running, total = running_counts(starts)
    firsts = compress(starts, running, total)
    return Distinct(node.shape, ordered, order, running, firsts)


def _starts(ordered: Node) -> Node:
    """Return where an ordered value differs from the one before; the first does."""
    length = ordered.size
    first = expand(constant(True, dtypes.bool, ordered.device), (1,))
    if length == 1:
        return first
    before = slice_ranges(ordered, [(0, length - 1, 1)])
    here = slice_ranges(ordered, [(1, length - 1, 1)])
    differs = elementwise(OPS["not_equal"], here, before)
    return concat([first, differs], 0)


def _numbers(value: int, shape: Shape, other: Node) -> Node:
    return constant(value, dtypes.DEFAULT_INT, other.device, shape)
