"""The one field of a tensor: its node, and how results become tensors again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from weakref import ref

from tensorweb.errors import DataError, TransformError
from tensorweb.evaluate import DEEPEST, bound_depth
from tensorweb.graph import autograd
from tensorweb.graph.autograd import (
    REPLACED,
    Leaf,
    is_leaf_of,
    is_making_constants,
)
from tensorweb.graph.node import Node, is_grad_enabled
from tensorweb.graph.op import COMPLEX
from tensorweb.graph.pending import watch
from tensorweb.graph.tracing import note_write
from tensorweb.nodes.movement import alias, stopped
from tensorweb.tensor.views import Kin, Look, attach, write

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

FLOWING = ("float", "complex")
"""Kinds of dtypes that have derivatives."""


class TensorBase:
    """Holds a node of the graph; mixins add what one can do with it.

    Attributes:
        node: the value; assignment by index replaces it.
        name: what a person calls it, for explanations only.
    """

    __slots__ = ("__weakref__", "_grad", "_is_frozen", "_kin", "name", "node")

    _grad: TensorBase | None
    _is_frozen: bool  # Set by requires_grad_ only.
    _kin: Kin | None  # Whose elements it has, and who has elements of it.

    def __init__(self, node: Node, name: str | None = None) -> None:
        """Wrap a node; people call `tensorweb.asarray` instead."""
        if not isinstance(node, Node):
            raise DataError(
                f"Tensor({type(node).__name__}): make tensors with tw.asarray(data), "
                "tw.zeros(shape) and the like."
            )
        if node.depth > 1:
            self._begin(node)
        if (
            autograd.open_blocks
            and is_making_constants()
            and node.dtype.kind in FLOWING
        ):
            node = stopped(node)
        self.node = node
        self._kin = None
        self.name = name

    @classmethod
    def around(cls, node: Node) -> Self:
        """Wrap a node that is known already; nothing is computed for it."""
        tensor = cls.__new__(cls)
        tensor.node = node
        tensor._kin = None
        tensor.name = None
        return tensor

    @staticmethod
    def _begin(node: Node) -> None:
        """Register a pending value; compute it if its graph is too deep."""
        watch(node.inputs[0] if node.op is COMPLEX else node)
        if node.depth > DEEPEST:
            bound_depth(node)

    def _replace(self, node: Node, key: object = None) -> None:
        """Give this object another value; every name and list that holds it sees it.

        So do its views, and the tensor whose view it is. What a `key` of integers and
        slices does not name stays as it is.

        Raises:
            TransformError: it is a leaf, and what happens is followed.
        """
        if self._kin is None:
            self._renew(node)
        else:
            write(self, node, key)

    def _renew(self, node: Node) -> None:
        """Take another value, and tell nobody; see `_replace`."""
        if is_leaf_of(self.node, self):
            self._replace_leaf(node)
            return
        if node.depth > 1:
            self._begin(node)
        if node.storage is None and node.op is not COMPLEX:
            node.mark = ref(self)
        note_write(self, self.node)
        self.node = node

    def _replace_leaf(self, node: Node) -> None:
        """Give a leaf another value; it stays one, and keeps its gradient."""
        old = self.node
        if is_grad_enabled():
            raise TransformError(
                f"a tensor of shape {old.shape} that requires a gradient is changed in "
                "place, so that the gradient would be that of its old value. In a "
                "step of training change it inside of `with tw.no_grad():`; for a "
                "new value that is followed write y = x.at[i].set(v), or y = x + v."
            )
        if node.depth > 1:
            self._begin(node)
        note_write(self, old)
        old.history = REPLACED
        become_leaf(self, node)
        if autograd.changed is not None:
            autograd.changed.append(ref(self))

    def _wrap(self, node: Node) -> Tensor:
        """Return a tensor of the same class around a node."""
        return type(self)(node)  # type: ignore[return-value]  # all tensors are Tensor

    def _view(self, node: Node, look: Look, what: object) -> Tensor:
        """Return a tensor around a node that has elements of this one."""
        view = self._wrap(node)
        attach(view, self, look, what)
        return view


def become_leaf(tensor: TensorBase, node: Node) -> None:
    """Let a tensor hold a value as a leaf: a node that nothing else has."""
    tensor.node = alias(node)
    tensor.node.history = Leaf(tensor)
