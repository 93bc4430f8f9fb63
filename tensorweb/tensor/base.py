"""The base class of tensors: a node, and methods that wrap and replace nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from weakref import ref

from tensorweb.errors import DataError, TransformError
from tensorweb.evaluate import DEEPEST, bound_depth
from tensorweb.graph import autograd
from tensorweb.graph.autograd import (
    Leaf,
    Replaced,
    is_leaf_of,
    is_making_constants,
)
from tensorweb.graph.node import Node, is_grad_enabled, watch
from tensorweb.graph.op import COMPLEX
from tensorweb.graph.tracing import note_write
from tensorweb.nodes.movement import alias, stopped
from tensorweb.tensor.views import ViewKind, ViewLinks, attach, write

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

FLOWING = ("float", "complex")
"""Kinds of dtypes that gradients are computed for."""


# Deeper values are registered as pending, and those of greater depth computed.
_registered, _deepest = 1, DEEPEST


def compute_at_once(is_on: bool) -> None:
    """Compute each tensor when it is made, or again only if its graph is too deep."""
    global _registered, _deepest
    _registered, _deepest = (0, 0) if is_on else (1, DEEPEST)


class TensorBase:
    """Holds a node of the graph; mixins add operators and methods.

    Attributes:
        node: The value; assignment by index replaces it.
        name: A name given by the user, shown in explanations and errors only.
    """

    __slots__ = ("__weakref__", "_grad", "_is_frozen", "_links", "name", "node")

    _grad: TensorBase | None
    _is_frozen: bool  # Set by requires_grad_ only.
    _links: ViewLinks | None  # Its owners and views; None if it has neither.

    def __init__(self, node: Node, name: str | None = None) -> None:
        """Wrap a node; users call `tensorweb.asarray` instead.

        Raises:
            DataError: it is no node.
        """
        if not isinstance(node, Node):
            raise DataError(
                f"Tensor({type(node).__name__}): make tensors with tw.asarray(data), "
                "tw.zeros(shape) and the like."
            )
        if node.depth > _registered:
            self._begin(node)
        if (
            autograd.open_blocks
            and is_making_constants()
            and node.dtype.kind in FLOWING
        ):
            node = stopped(node)
        self.node = node
        self._links = None
        self.name = name

    @classmethod
    def without_registering(cls, node: Node) -> Self:
        """Wrap a node without registering it as pending."""
        tensor = cls.__new__(cls)
        tensor.node = node
        tensor._links = None
        tensor.name = None
        return tensor

    @staticmethod
    def _begin(node: Node) -> None:
        """Register a pending value; compute it if its graph is too deep."""
        watch(node.inputs[0] if node.op is COMPLEX else node)
        if node.depth > _deepest:
            bound_depth(node)

    def _replace(self, node: Node, key: object = None) -> None:
        """Replace the node of this tensor, and update its views and its base.

        Args:
            node: The new node, of all elements.
            key: The index of the elements that differ; None for all elements.

        Raises:
            DataError: The tensor is read-only.
            TransformError: It is a leaf and gradients are enabled.
        """
        if self._links is None:
            self._set_node(node)
        else:
            write(self, node, key)

    def _set_node(self, node: Node) -> None:
        """Replace the node and update neither the base nor views."""
        if is_leaf_of(self.node, self):
            self._replace_leaf(node)
            return
        if node.depth > _registered:
            self._begin(node)
        if node.storage is None and node.op is not COMPLEX:
            node.mark = ref(self)
        note_write(self, self.node)
        self.node = node

    def _replace_leaf(self, node: Node) -> None:
        """Replace the value of a leaf, which stays a leaf and retains its gradient."""
        old = self.node
        if is_grad_enabled():
            raise TransformError(
                f"a tensor of shape {old.shape} that requires a gradient is changed in "
                "place, so that the gradient would be that of its old value. In a "
                "step of training change it inside of `with tw.no_grad():`; for a new "
                "tensor with a gradient write y = x.at[i].set(v), or y = x + v."
            )
        if node.depth > _registered:
            self._begin(node)
        note_write(self, old)
        old.history = Replaced(self)
        become_leaf(self, node)
        if autograd.changed is not None:
            autograd.changed.append(ref(self))

    def _wrap(self, node: Node) -> Tensor:
        """Wrap a node in a tensor of this class."""
        return type(self)(node)  # type: ignore[return-value]  # all tensors are Tensor

    def _view(self, node: Node, kind: ViewKind, key: object) -> Tensor:
        """Wrap a node in a tensor that is a view of this one."""
        view = self._wrap(node)
        attach(view, self, kind, key)
        return view


def become_leaf(tensor: TensorBase, node: Node) -> None:
    """Make a tensor a leaf that holds a value in a node of its own."""
    old, tensor.node = tensor.node, alias(node)
    tensor.node.history = Leaf(tensor)
    if autograd.hooks and old in autograd.hooks:
        autograd.hooks[tensor.node] = autograd.hooks.pop(old)
