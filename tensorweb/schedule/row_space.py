"""Which reductions run along the rows of one index space, and when such rows pay."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.graph.attributes import Reduction
from tensorweb.graph.node import Node, attributes_of
from tensorweb.shapes import Shape, size

LONGEST_ROW = 8192
"""Elements of a row that one workgroup keeps in registers."""

SHORT_ROW = 1024
"""Elements up to which a row pays as one kernel, however few rows there are."""

LEAST_ROWS = 16
"""Rows from which on longer ones pay too: a workgroup each keeps the device busy."""


class RowSpace(NamedTuple):
    """An index space cut in rows: its axes, the last of which are a row."""

    outer: Shape
    inner: Shape

    @property
    def shape(self) -> Shape:
        """All axes."""
        return (*self.outer, *self.inner)

    @property
    def rank(self) -> int:
        """How many axes are a row."""
        return len(self.inner)

    def has_results(self, shape: Shape) -> bool:
        """Whether a shape has a place for each element, or one for each row.

        >>> RowSpace((2, 3), (4,)).has_results((2, 3, 1))
        True
        """
        rows = [length for length in self.outer if length != 1]
        return shape == self.shape or [n for n in shape if n != 1] == rows

    @property
    def pays(self) -> bool:
        """Whether one kernel should finish such rows.

        They must be short enough for registers, and many or short enough that one
        workgroup for each of them keeps the device busy.
        """
        length = size(self.inner)
        is_busy = size(self.outer) >= LEAST_ROWS or length <= SHORT_ROW
        return 1 < length <= LONGEST_ROW and is_busy


def row_space(node: Node) -> RowSpace | None:
    """Return the space whose rows a node reduces, None where they are no such rows."""
    if node.op.kind != "reduce" or node.dtype.kind == "bool":
        return None
    shape = node.inputs[0].shape
    axes = attributes_of(node, Reduction).axes
    rank = len(shape) - len(axes)
    if axes != tuple(range(rank, len(shape))):
        return None
    space = RowSpace(shape[:rank], shape[rank:])
    return space if space.pays else None
