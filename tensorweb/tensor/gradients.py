"""Methods of tensors for gradients, by PyTorch's names.

A leaf is a tensor with `requires_grad`; `backward` of a result computed from it adds to
its `grad`. The backward pass is in `tensorweb/transforms/backward.py`, which registers
itself here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import ref

from tensorweb.errors import TransformError
from tensorweb.evaluate import end_step
from tensorweb.graph.autograd import (
    Hook,
    Leaf,
    depends_on_leaf,
    grad_disabled,
    hooks,
    is_differentiating,
    is_leaf_of,
    reaches_leaf,
)
from tensorweb.graph.node import Node, like, pair_of
from tensorweb.nodes.movement import alias, stopped
from tensorweb.tensor.base import FLOWING, TensorBase, become_leaf
from tensorweb.tensor.convert import as_node
from tensorweb.tensor.views import DATA, base_of

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

Walk = Callable[[TensorBase, object, bool], None]

_walks: list[Walk] = []
"""The function that runs a backward pass, set by the transformations."""


def register_walk(walk: Walk) -> None:
    """Register the backward pass: a function of tensor, gradient and retain_graph."""
    _walks.append(walk)


class GradientHook:
    """A hook of a tensor's gradient, which `remove` ends.

    >>> w = tw.ones(2).requires_grad_()
    >>> w.register_hook(lambda gradient: 2 * gradient).remove()
    """

    def __init__(self, tensor: GradientMethods, hook: Hook) -> None:
        """Add a hook; `register_hook` does."""
        self._tensor, self._hook = ref(tensor), hook
        node = pair_of(tensor.node)
        hooks[node] = (*hooks.get(node, ()), hook)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        tensor = self._tensor()
        node = pair_of(tensor.node) if tensor is not None else None
        if node is not None and node in hooks:
            hooks[node] = tuple([one for one in hooks[node] if one is not self._hook])


class GradientMethods(TensorBase):
    """Gradient and leaf state of a tensor."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether `backward` from here, or through here, reaches a leaf."""
        return depends_on_leaf(self.node)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, value: bool = True) -> Tensor:
        """Make this tensor a leaf, whose `grad` `backward` adds to, or an ordinary one.

        Results that were computed from it before do not depend on it. With False the
        tensor is frozen: an optimiser that is given it leaves it as it is.

        Raises:
            TransformError: the dtype has no derivatives, or the tensor is a result that
                depends on a leaf.

        >>> w = tw.ones(2).requires_grad_()
        >>> (w * tw.asarray([3.0, 4.0])).sum().backward()
        >>> w.grad
        tensor([3., 4.])
        """
        node = self.node
        is_leaf = is_leaf_of(node, self)
        if value and node.dtype.kind not in FLOWING:
            raise TransformError(
                f"requires_grad_: a tensor of {node.dtype} has no derivative; convert "
                "it to floats before, with astype(tw.float32)."
            )
        if not value and not is_leaf and reaches_leaf(node):
            raise TransformError(
                "requires_grad_(False): this tensor was computed from one that "
                "requires a gradient; x.detach() is the same value as a constant."
            )
        if value and not is_leaf and not reaches_leaf(node):
            end_step([pair_of(node)])
            become_leaf(self, node)
        elif not value and depends_on_leaf(node):
            self.node = stopped(node)
        self._is_frozen = not value
        return self  # type: ignore[return-value]  # all tensors are Tensor

    @property
    def data(self) -> Tensor:
        """The value as a constant that shares elements; writes change the leaf too.

        `with tw.no_grad():` is the better way to change a tensor that requires a
        gradient: its steps are computed together. Assign to replace all elements.

        >>> w = tw.ones(2).requires_grad_()
        >>> w.data -= 0.5
        >>> w, w.requires_grad
        (tensor([0.5, 0.5]), True)
        """
        return self._view(stopped(self.node), DATA, None)

    @data.setter
    def data(self, value: TensorBase) -> None:
        if base_of(value) is not self:  # as after x.data += 1
            with grad_disabled():
                self._replace(as_node(value, device=self.node.device))
            end_step([pair_of(self.node)])

    @property
    def is_frozen(self) -> bool:
        """Whether `requires_grad_(False)` said that this tensor is not trained.

        >>> tw.ones(2).is_frozen, tw.ones(2).requires_grad_(False).is_frozen
        (False, True)
        """
        return getattr(self, "_is_frozen", False)

    @property
    def is_leaf(self) -> bool:
        """Whether no tensor that requires a gradient was used to make this one."""
        return not depends_on_leaf(self.node) or type(self.node.history) is Leaf

    @property
    def grad(self) -> Tensor | None:
        """What `backward` has added up for this leaf, None before; assign to change it.

        A tensor of the leaf's shape and dtype that depends on nothing. Results that are
        no leaves have None.
        """
        gradient: Tensor | None = getattr(self, "_grad", None)
        return gradient

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            self._check_gradient(value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _check_gradient(self, value: object) -> None:
        if not isinstance(value, TensorBase):
            raise TransformError(
                f"x.grad = {type(value).__name__}: assign None or a tensor."
            )
        leaf, gradient = self.node, value.node
        if (leaf.shape, leaf.dtype, leaf.device) != (
            gradient.shape,
            gradient.dtype,
            gradient.device,
        ):
            raise TransformError(
                f"x.grad = g: x is {leaf.dtype} of shape {leaf.shape} on "
                f"{leaf.device!r}, g {gradient.dtype} of shape {gradient.shape} on "
                f"{gradient.device!r}; they must be equal."
            )

    def backward(self, gradient: object = None, *, retain_graph: bool = False) -> None:
        """Add the derivatives of this tensor to the `grad` of every leaf it depends on.

        The graph is freed, so that a second call is an error.

        Args:
            gradient: what arrives here, of this tensor's shape; needed where that is
                not 0-d.
            retain_graph: retains the graph for another call.

        Raises:
            TransformError: the tensor depends on no leaf, is not 0-d and has no
                `gradient`, was walked before, or a transformation is open.

        >>> w = tw.asarray(3.0, requires_grad=True)
        >>> (w**3).backward()
        >>> w.grad
        tensor(27.)
        """
        _walks[0](self, gradient, retain_graph)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> GradientHook:
        """Call `hook(gradient)` when a backward pass reaches this tensor.

        What it returns replaces the gradient, unless it is None: in `grad` of a leaf,
        and in all that this tensor was computed from. Derivatives of functions
        (`tw.grad`) call it too. Writes into the tensor end it, but not into a leaf;
        what was computed from a complex result before does not call it.

        Args:
            hook: a function of the gradient, a tensor of this shape and dtype.

        Raises:
            TransformError: no gradient is computed for the tensor; in the backward
                pass, the hook returned another shape or dtype.

        >>> x = tw.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x * x
        >>> handle = y.register_hook(lambda gradient: gradient.clip(max=1.0))
        >>> (3.0 * y).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        if not is_differentiating() and not reaches_leaf(pair_of(self.node)):
            raise TransformError(
                "register_hook: this tensor was computed from none that requires a "
                "gradient; call requires_grad_() on a weight before."
            )
        whole = self.node
        if pair_of(whole) is not whole and not is_leaf_of(whole, self):
            # Else the real part of a complex result would bypass the pair of both.
            self.node = whole = like(whole, alias(pair_of(whole)))

        def changed(cotangent: Node) -> Node:
            given = self._wrap(like(whole, cotangent))
            found = hook(given)
            if found is None:
                return cotangent
            if (found.shape, found.dtype) != (given.shape, given.dtype):
                raise TransformError(
                    f"register_hook: the hook returned {found.dtype} of shape "
                    f"{found.shape} for a gradient of {given.dtype}, {given.shape}."
                )
            return pair_of(found.node)

        return GradientHook(self, changed)

    def retain_grad(self) -> None:
        """Let `backward` store the gradient of a result in its `grad`, as of a leaf.

        Raises:
            TransformError: no gradient is computed for the tensor.

        >>> x = tw.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x * x
        >>> y.retain_grad()
        >>> (3.0 * y).sum().backward()
        >>> y.grad
        tensor([3., 3.])
        """
        if is_leaf_of(self.node, self):
            return
        tensor = ref(self)

        def store(gradient: Tensor) -> None:
            owner = tensor()
            if owner is not None:
                owner.grad = gradient if owner.grad is None else owner.grad + gradient

        self.register_hook(store)

    def detach(self) -> Tensor:
        """Return the value as a constant: no derivative goes through it.

        >>> w = tw.asarray(3.0, requires_grad=True)
        >>> (w * w.detach()).backward()
        >>> w.grad
        tensor(3.)
        """
        return self._wrap(stopped(self.node))
