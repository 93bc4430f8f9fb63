"""Layouts: where tensors lie, one behind the other, in one joined storage.

What is done to many parameters alike is done once to the joined one, so that a step
takes a few kernels however many parameters there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.functions import concat, pad
from tensorweb.graph.history import is_kept
from tensorweb.graph.node import Node
from tensorweb.shapes import Shape, size
from tensorweb.tensor import Tensor

ALIGNMENT = 64
"""Tensors begin at multiples of so many elements; a GPU can bind a storage from there
on."""

LARGE = 1 << 18
"""A tensor of so many elements stays alone: a launch of its own costs less than moving
it."""


class Layout:
    """Names and shapes of tensors, and where each begins in the joined storage.

    It never changes, and equal layouts are equal, so that it can stand in a tree beside
    the tensors that it describes.
    """

    __slots__ = ("_hash", "names", "shapes", "size", "starts")

    def __init__(self, names: Sequence[str], shapes: Sequence[Shape]) -> None:
        """Lay tensors out in this order; one alone needs no room behind it."""
        self.names = tuple(names)
        self.shapes = tuple(shapes)
        starts = []
        end = 0
        for shape in shapes:
            starts.append(-(-end // ALIGNMENT) * ALIGNMENT)
            end = starts[-1] + size(shape)
        self.starts = tuple(starts)
        self.size = end
        self._hash = hash((self.names, self.shapes))

    def __eq__(self, other: object) -> bool:
        """Whether names and shapes are the same."""
        if self is other:
            return True
        return (
            isinstance(other, Layout)
            and self.names == other.names
            and self.shapes == other.shapes
        )

    def __hash__(self) -> int:
        """Return the same number for equal layouts."""
        return self._hash

    def __repr__(self) -> str:
        """Return how many tensors there are, and of how many elements."""
        return f"<Layout of {len(self.names)} tensors, {self.size} elements>"

    def join(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return tensors of one dtype as one, of shape `(size,)`.

        Those that are the slices of a joined one already are that one.
        """
        whole = self._whole([tensor.node for tensor in tensors])
        if whole is not None:
            return Tensor.around(whole)
        flat = [tensor.reshape(-1) for tensor in tensors]
        ends = [*self.starts[1:], self.size]
        parts = []
        for part, start, end in zip(flat, self.starts, ends, strict=True):
            gap = end - start - part.size
            parts.append(pad(part, (0, gap)) if gap else part)
        return concat(parts) if len(parts) > 1 else parts[0]

    def _whole(self, nodes: Sequence[Node]) -> Node | None:
        """Return the node that all of some nodes are the slices of, if there is one.

        While a derivative is taken each slice may be a variable of its own.
        """
        base = nodes[0].base
        if base.shape != (self.size,) or is_kept():
            return None
        for node, start in zip(nodes, self.starts, strict=True):
            view = node.view
            if node.base is not base or view.offset != start or not view.is_contiguous:
                return None
        return base

    def parts(self, joined: Tensor) -> list[Tensor]:
        """Return the slices of a joined tensor, each in its shape."""
        return [
            joined[start : start + size(shape)].reshape(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]
