"""Colour pictures: which tensors are pictures, and their cells per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorweb.display.cells import Budget, Cells, Pooling, cells_of, plane
from tensorweb.dtypes import DType
from tensorweb.errors import ShapeError
from tensorweb.graph.node import Node
from tensorweb.nodes.selection import concat

CHANNELS = (3, 4)
"""Red, green, blue, and optionally alpha."""
RANKS = (3, 4)
"""Height, width, channels, and optionally a leading batch axis."""
LEAST_SIDE = 8
"""Smaller tensors are treated as matrices of short rows."""


def channel_axis(shape: Sequence[int], dtype: DType) -> int | None:
    """Return the axis of the colour channels, None if there is none.

    >>> [channel_axis(shape, tw.float32) for shape in ((480, 640, 3), (480, 640))]
    [2, None]
    """
    if len(shape) not in RANKS or shape[-1] not in CHANNELS or dtype.kind == "bool":
        return None
    return len(shape) - 1


def is_image(shape: Sequence[int], dtype: DType) -> bool:
    """Whether a tensor is shown as a colour picture by default.

    >>> is_image((480, 640, 3), tw.float32), is_image((2, 3, 4), tw.float32)
    (True, False)
    """
    is_coloured = channel_axis(shape, dtype) is not None
    return is_coloured and min(shape[-3:-1]) >= LEAST_SIDE


def coloured_cells(
    node: Node,
    row_axis: int | None,
    column_axis: int | None,
    channels: int,
    indices: Sequence[int],
    how: Pooling,
    budget: Budget,
) -> Cells:
    """Return the cells of each channel, `(channels · rows, columns)`, still lazy.

    Raises:
        ShapeError: there are not three or four channels, or their axis is drawn as rows
            or columns.
    """
    if channels in (row_axis, column_axis) or node.shape[channels] not in CHANNELS:
        raise ShapeError(
            f"colours need 3 or 4 channels along an axis that is not drawn, "
            f"axis {channels} of {node.shape} has {node.shape[channels]}; "
            f"look at it as numbers"
        )
    found: list[Cells] = []
    for channel in range(node.shape[channels]):
        at = [*indices]
        at[channels] = channel
        found.append(cells_of(plane(node, row_axis, column_axis, at), how, budget))
    together = concat([cells.node for cells in found], 0)
    return replace(found[0], node=together)
