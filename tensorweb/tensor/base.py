"""The one field of a tensor: its node, and how results become tensors again."""

from __future__ import annotations

from typing import Self
from weakref import ref

from tensorweb.errors import DataError
from tensorweb.evaluate import DEEPEST, bound_depth
from tensorweb.graph.node import Node
from tensorweb.graph.pending import watch
from tensorweb.graph.tracing import note_write


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
        if node.depth > 1:
            self._begin(node)
        self.node = node
        self.name = name

    @staticmethod
    def _begin(node: Node) -> None:
        """Let a value that hangs on others be known, and be computed if it is deep."""
        watch(node)
        if node.depth > DEEPEST:
            bound_depth(node)

    def _replace(self, node: Node) -> None:
        """Give this object another value; every name and list that holds it sees it."""
        if node.depth > 1:
            self._begin(node)
        if node.storage is None:
            node.mark = ref(self)
        note_write(self, self.node)
        self.node = node

    def _wrap(self, node: Node) -> Self:
        """Return a tensor of the same class around a node."""
        return type(self)(node)
