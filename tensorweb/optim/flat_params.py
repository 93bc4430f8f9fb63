"""Flat parameters: many tensors concatenated in one buffer.

An elementwise update runs once on the flat tensor, so a step takes a few kernels
regardless of the number of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.functions import concat, pad
from tensorweb.graph.history import is_kept
from tensorweb.graph.node import Node
from tensorweb.shapes import Shape, size
from tensorweb.tensor import Tensor

# Tensors begin at multiples of this count of elements, so that a GPU can bind the
# buffer at their offset.
ALIGNMENT = 64

# Tensors with at least this count of elements are not concatenated: a separate launch
# costs less than copying them.
LARGE = 1 << 18


class Layout:
    """Names, shapes and offsets of tensors in a flat tensor.

    It is immutable and compares by value, so that it can be part of a tree together
    with the tensors that it describes.
    """

    __slots__ = ("_hash", "names", "shapes", "size", "starts")

    def __init__(self, names: Sequence[str], shapes: Sequence[Shape]) -> None:
        """Assign offsets in this order; no padding after the last tensor."""
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
        """Whether names and shapes are equal."""
        if self is other:
            return True
        return (
            isinstance(other, Layout)
            and self.names == other.names
            and self.shapes == other.shapes
        )

    def __hash__(self) -> int:
        """Return a hash, equal for equal layouts."""
        return self._hash

    def __repr__(self) -> str:
        """Return the count of tensors and of elements."""
        return f"<Layout of {len(self.names)} tensors, {self.size} elements>"

    def join(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return tensors of one dtype as one flat tensor of shape `(size,)`.

        Tensors that are already the slices of a flat tensor are not copied.
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
        """Return the flat node whose slices these nodes are, None if there is none.

        During differentiation there is none, since each slice may be a variable of its
        own.
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
        """Return the slices of a flat tensor, each in its shape."""
        return [
            joined[start : start + size(shape)].reshape(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]
