"""Reductions along the rows of an index space, and when a row kernel pays."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.graph.attributes import Reduction
from tensorweb.graph.node import Node, attributes_of
from tensorweb.schedule import policy
from tensorweb.shapes import Shape, size


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
