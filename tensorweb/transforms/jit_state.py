"""State that a compiled function updates: models, optimisers, generators.

These objects are implicit arguments and results of every call. While the function is
traced their tensors hold placeholders; afterwards they are restored, and the recording
contains how to update them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress, repeat
from operator import is_
from typing import Any

from tensorweb.errors import TraceError
from tensorweb.graph.autograd import (
    depends_on_leaf,
    grad_disabled,
    is_grad_enabled,
    is_leaf_of,
)
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import Trace
from tensorweb.nodes.movement import stopped
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase, become_leaf
from tensorweb.tensor.views import relatives, top_of
from tensorweb.trees import (
    Holder,
    attributes,
    content_of,
    empty_like,
    fill,
    flatten,
    is_changed,
    is_opened,
    tensor_key,
)


class Gradients(list[Any]):
    """The `grad` attributes of the updated tensors, as one more container."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        """Read the gradients of the tensors."""
        super().__init__([tensor.grad for tensor in tensors])
        self._tensors = tensors

    def take(self) -> None:
        """Read the current gradients of the tensors."""
        self[:] = [tensor.grad for tensor in self._tensors]

    def hand_out(self) -> None:
        """Assign these gradients to the tensors."""
        for tensor, gradient in zip(self._tensors, self, strict=True):
            tensor.grad = gradient


def as_updates(updates: object) -> tuple[Any, ...]:
    """Return the value of `updates=` as a tuple.

    Raises:
        TraceError: an object cannot be searched for tensors.
    """
    found = updates if isinstance(updates, tuple) else (updates,)
    parts = [part for each in found for part in _members(each)]
    for each in parts:
        if not isinstance(each, TensorBase | list | dict) and not is_opened(each):
            raise TraceError(
                f"jit: updates= holds {type(each).__name__}, in which no tensors can "
                "be found; list models, optimisers, generators, tensors, lists and "
                "dicts of them, or make its class a dataclass."
            )
    return found


def _members(given: object) -> Sequence[object]:
    """Return the items of a nonempty list, otherwise a list with the value."""
    return given if isinstance(given, list) and given else [given]


class Known:
    """A cache of the tensors and containers of the updated objects.

    Checking that it is valid takes a tenth of the time of traversing the objects.
    """

    def __init__(self, updates: tuple[Any, ...]) -> None:
        """Traverse the objects."""
        self._updates = updates
        self._numbers: dict[Hashable, int] = {}
        self._find()

    def _find(self) -> None:
        """Traverse the objects and fill the cache."""
        self.holders: list[Holder] = []
        self.seen: dict[int, int] = {}
        structure = flatten(self._updates, self.holders, self.seen)
        # A write into a view is one into its owner, which other views see as well.
        owners = (top_of(h) for h in self.holders if isinstance(h, TensorBase))
        structure = structure, flatten(tuple(owners), self.holders, self.seen)
        self._containers = [
            (holder, content_of(holder))
            for holder in self.holders
            if not isinstance(holder, TensorBase)
        ]
        self._tensors = [each for each in self.holders if isinstance(each, TensorBase)]
        self._keys = list(map(tensor_key, self._tensors))
        self._is_leaf = [depends_on_leaf(tensor.node) for tensor in self._tensors]
        self._leaves = list(compress(self._tensors, self._is_leaf))
        key = structure, tuple(self._is_leaf)
        self._number = self._numbers.setdefault(key, len(self._numbers))

    def collect(self, holders: list[Holder], seen: dict[int, int]) -> Hashable:
        """Add tensors, containers and gradients; return the key of their structure.

        The key includes whether leaves are recorded for `backward`.

        Raises:
            TraceError: an object can be neither traversed nor part of a structure.
        """
        if (
            list(map(tensor_key, self._tensors)) != self._keys
            or [depends_on_leaf(tensor.node) for tensor in self._tensors]
            != self._is_leaf
            or any(is_changed(*pair) for pair in self._containers)
        ):
            self._find()
        holders += self.holders
        seen.update(self.seen)
        gradients = Gradients(self._leaves)
        if all(map(is_, gradients, repeat(None))):
            seen[id(gradients)] = len(holders)
            holders.append(gradients)
            return self._number, is_grad_enabled()
        return self._number, is_grad_enabled(), flatten(gradients, holders, seen)


class Updated:
    """The contents of the `updates` objects at a call, and the changes of its trace.

    Attributes:
        holders: tensors and containers, each once.
        views: tensors that share elements with these tensors, and change with them.
    """

    def __init__(self, holders: Sequence[Holder], nodes: Sequence[Node]) -> None:
        """Save the contents; `nodes` are the placeholders of the tensors."""
        self.holders = list(holders)
        self._before = [content_of(holder) for holder in holders]
        self._inputs = iter(nodes)
        self._set: list[Node | None] = []
        self.views: list[TensorBase] = []

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Let tensors hold placeholders inside of a `with` block, then restore them."""
        gradients = [h for h in self.holders if isinstance(h, Gradients)]
        tensors: list[Any] = [h for h in self.holders if isinstance(h, TensorBase)]
        old = [tensor.node for tensor in tensors]
        try:
            for holder in self.holders:
                self._set.append(
                    _hold(holder, next(self._inputs))
                    if isinstance(holder, TensorBase)
                    else None
                )
            for view, node in relatives(tensors):
                if not is_leaf_of(view.node, view):
                    tensors.append(view)
                    old.append(view.node)
                    view.node = node
                    self.views.append(view)
            yield
        finally:
            for tensor, node in zip(tensors, old, strict=True):
                tensor.node = node
            for holder, content in zip(self.holders, self._before, strict=True):
                _put_back(holder, content)
            for each in gradients:
                each.hand_out()

    def written(self) -> list[int]:
        """Return the indices of holders that are tensors with another value."""
        return [
            number
            for number, (holder, node) in enumerate(
                zip(self.holders, self._set, strict=True)
            )
            if isinstance(holder, TensorBase) and holder.node is not node
        ]

    def changed(self) -> list[int]:
        """Return the indices of holders that are containers with other content."""
        for holder in self.holders:
            if isinstance(holder, Gradients):
                holder.take()
        return [
            number
            for number, (holder, content) in enumerate(
                zip(self.holders, self._before, strict=True)
            )
            if is_changed(holder, content)
        ]

    def stand_ins(self) -> dict[int, Holder]:
        """Return what a recording retains instead of the holders, by their `id`.

        The stand-ins hold no values, so that the values of the objects can be freed.
        """
        others: dict[int, Holder] = {
            id(holder): Tensor.around(node) if node is not None else empty_like(holder)
            for holder, node in zip(self.holders, self._set, strict=True)
        }
        for holder in self.holders:
            fill(others[id(holder)], holder, others)
        return others


def value_of(tensor: TensorBase) -> Node:
    """Return a tensor's value as a node that is no leaf."""
    if not is_leaf_of(tensor.node, tensor):
        return tensor.node
    with grad_disabled():
        return stopped(tensor.node)


def _hold(tensor: TensorBase, placeholder: Node) -> Node:
    """Assign a placeholder to a tensor, as a leaf if it is one; return its node."""
    if is_leaf_of(tensor.node, tensor):
        become_leaf(tensor, placeholder)
    else:
        tensor.node = placeholder
    return tensor.node


def _put_back(holder: Holder, content: Any) -> None:
    """Restore the content of a container."""
    if not is_changed(holder, content):
        return
    if isinstance(holder, list):
        holder[:] = content
    elif isinstance(holder, dict):
        holder.clear()
        holder.update(content)
    else:
        for name in attributes(holder).keys() - content.keys():
            object.__delattr__(holder, name)
        for name, part in content.items():
            object.__setattr__(holder, name, part)


def refuse_outside_gradients(
    name: str, noted: Trace, known: Mapping[int, object]
) -> None:
    """Raise if `backward` changed the gradient of a tensor not in `updates=`.

    Raises:
        TraceError: it did; the old gradient is restored.
    """
    outside: list[Any] = [
        (tensor, old)
        for key, (kept, old) in noted.gradients.items()
        if key not in known and (tensor := kept()) is not None
    ]
    for tensor, old in outside:
        tensor.grad = old
    if outside:
        shape = outside[0][0].shape
        raise TraceError(
            f"jit: backward() in {name} adds to the grad of a tensor of shape {shape} "
            "that updates= does not hold, which a recording would do once only; list "
            "all that is trained, @tw.jit(updates=(model, opt))."
        )
