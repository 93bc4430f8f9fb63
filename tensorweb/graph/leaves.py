"""Retain the inputs of nodes that depend on leaves (see `Tensor.backward`).

A leaf is a tensor whose gradient `backward` accumulates. A node that depends on a leaf
records this in `past`. Once the node is computed, `past` retains its inputs until a
backward pass has used them. Nodes that depend on no leaf retain nothing, and reference
counts free them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import ref

if TYPE_CHECKING:
    from tensorweb.graph.history import Mark
    from tensorweb.graph.node import Node


class Leaf:
    """The past of a leaf's node.

    Attributes:
        tensor: weak reference to the tensor that receives the gradient.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: object) -> None:
        self.tensor = ref(tensor)


class Gone(Enum):
    """The past of a node that no backward pass can use any more, and the reason."""

    WALKED = (
        "backward() has already used the graph of these values and freed it; call the "
        "first backward() with retain_graph=True, add the results up before one "
        "backward(), or compute them again"
    )
    REPLACED = (
        "a tensor that requires a gradient was assigned since, so that nothing depends "
        "on its present value; call backward() before the step"
    )


Past: TypeAlias = "tuple[Node, ...] | Mark | Leaf | Gone | None"
"""None for a node that depends on no leaf. Else the retained inputs of a computed node
(an empty tuple while `Node.inputs` still has them), its custom backward rule (`Mark`),
a `Leaf`, or the reason why its inputs were freed (`Gone`)."""

WAITING: tuple[Node, ...] = ()
"""The past of a node that depends on leaves and is not computed yet."""

blocks = 0
"""Count of open `no_grad` blocks in all threads."""

changed: list[ref[Any]] | None = None
"""Tensors that were assigned since a `no_grad` block opened; None outside of one."""

_followed: ContextVar[bool] = ContextVar("followed", default=True)
_stopped: ContextVar[bool] = ContextVar("stopped", default=False)


def is_following() -> bool:
    """Whether nodes built now record their dependency on leaves."""
    return _followed.get()


def is_stopping() -> bool:
    """Whether tensors made now are constants for the enclosing transformation."""
    return _stopped.get()


@contextmanager
def not_following(*, stopping: bool = False) -> Iterator[None]:
    """Build nodes that depend on no leaf inside a `with` block.

    With `stopping`, tensors are also constants for the enclosing transformation.
    """
    global blocks
    blocks += 1
    tokens = _followed.set(False), _stopped.set(stopping)
    try:
        yield
    finally:
        blocks -= 1
        _followed.reset(tokens[0])
        _stopped.reset(tokens[1])


@contextmanager
def not_stopping() -> Iterator[None]:
    """Undo `stopping` for a transformation that begins inside `no_grad`."""
    token = _stopped.set(False)
    try:
        yield
    finally:
        _stopped.reset(token)


def hangs_on_leaves(node: Node) -> bool:
    """Whether a backward pass can reach a leaf from a node and gradients are on."""
    past = node.past
    return past is not None and type(past) is not Gone and is_following()


def is_leaf_of(node: Node, tensor: object) -> bool:
    """Whether a node is the leaf of a tensor."""
    past = node.past
    return type(past) is Leaf and past.tensor() is tensor


def past_of_computed(node: Node) -> Past:
    """Return the past of a computed node whose `inputs` are about to be cleared."""
    gone = _why_gone(node.inputs)
    if gone is None:
        _retained.add(node)
    return gone or node.inputs


def _why_gone(sources: tuple[Node, ...]) -> Gone | None:
    """Return why no leaf can be reached from `sources`, None if one can."""
    reason: Gone | None = None
    for source in sources:
        past = source.past
        if past is not None:
            if not isinstance(past, Gone):
                return None
            reason = past
    return reason


class RetainedInputs:
    """Registry of weak references to computed nodes that retain their inputs.

    Some retained inputs become useless: those of a sum of losses whose backward passes
    are all done, or of values computed from an old value of a leaf. Nodes have no list
    of their consumers, so all are checked each time their count has doubled.
    """

    LEAST = 512

    def __init__(self) -> None:
        self._nodes: list[ref[Node]] = []
        self._limit = self.LEAST

    def add(self, node: Node) -> None:
        """Register a node; prune the registry when its count has doubled."""
        self._nodes.append(ref(node))
        if len(self._nodes) > self._limit:
            self.prune()

    def prune(self) -> None:
        """Free the retained inputs of nodes from which no leaf can be reached."""
        alive = [one for one in self._nodes if one() is not None]
        checked: set[Node] = set()
        for one in alive:
            node = one()
            if node is not None:
                _free_unreachable(node, checked)
        self._nodes = [
            one
            for one in alive
            if (node := one()) is not None and isinstance(node.past, tuple)
        ]
        self._limit = 2 * len(self._nodes) + self.LEAST


_retained = RetainedInputs()


def _free_unreachable(node: Node, checked: set[Node]) -> None:
    """Free the retained inputs of a node and its ancestors if no leaf is reachable."""
    stack = [node]
    while stack:
        one = stack[-1]
        past = one.past
        if one in checked or past is None or isinstance(past, Gone | Leaf):
            stack.pop()
            continue
        retained = past if isinstance(past, tuple) else past.inputs
        sources = retained or one.inputs
        missing = [
            source
            for source in sources
            if source not in checked
            and source.past is not None
            and not isinstance(source.past, Gone | Leaf)
        ]
        if missing:
            stack += missing
            continue
        checked.add(one)
        one.past = _why_gone(sources) or past
        stack.pop()
