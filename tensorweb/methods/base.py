"""The one field of a tensor: its node, and how results become tensors again."""

from __future__ import annotations

from typing import Self

from tensorweb.errors import DataError
from tensorweb.evaluate import DEEPEST, bound_depth
from tensorweb.graph import Node


class TensorBase:
    """Holds a node of the graph; mixins add what one can do with it.

    Attributes:
        node: the value; assignment by index replaces it and changes no other tensor.
        name: what a person calls it, for explanations only.
    """

    __slots__ = ("__weakref__", "name", "node")

    def __init__(self, node: Node, name: str | None = None) -> None:
        """Wrap a node; people call `tensorweb.asarray` instead."""
        if not isinstance(node, Node):
            raise DataError(
                f"Tensor({type(node).__name__}): make tensors with tw.asarray(data), "
                "tw.zeros(shape) and the like."
            )
        if node.depth > DEEPEST:
            bound_depth(node)
        self.node = node
        self.name = name

    def _wrap(self, node: Node) -> Self:
        """Return a tensor of the same class around a node."""
        return type(self)(node)
