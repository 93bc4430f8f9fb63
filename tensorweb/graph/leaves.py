"""What hangs on leaves, the tensors to which `backward` adds gradients.

A node that was built from a leaf says so in its `past`, and keeps its inputs there once
it is computed, until somebody has walked back through it. So nothing is kept for nodes
that hang on no leaf, and reference counts free the rest.
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
        tensor: who gets the gradient, weakly.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: object) -> None:
        """Note the tensor."""
        self.tensor = ref(tensor)


class Gone(Enum):
    """The past of a node through which nobody can walk any more, and why."""

    WALKED = (
        "through these values backward() has gone already, and their past is let go; "
        "call backward(retain_graph=True) the time before, add the results up before "
        "one backward(), or compute them again"
    )
    REPLACED = (
        "a tensor that requires a gradient has got another value since, so that "
        "nothing hangs on it now; call backward() before the step"
    )


Past: TypeAlias = "tuple[Node, ...] | Mark | Leaf | Gone | None"
"""None: hangs on no leaf. Else the inputs of a computed node, empty as long as it has
them itself, the other way back that it is marked with, or one of the above."""

WAITING: tuple[Node, ...] = ()
"""The past of a node that hangs on leaves and still has its inputs."""

blocks = 0
"""Blocks of `no_grad` that are open, in every thread."""

changed: list[ref[Any]] | None = None
"""Tensors that got another value since a block of `no_grad` opened, if one is open."""

_followed: ContextVar[bool] = ContextVar("followed", default=True)
_stopped: ContextVar[bool] = ContextVar("stopped", default=False)


def is_following() -> bool:
    """Whether nodes built now note that they hang on leaves."""
    return _followed.get()


def is_stopping() -> bool:
    """Whether tensors made now are constants for the transformation around."""
    return _stopped.get()


@contextmanager
def not_following(*, stopping: bool = False) -> Iterator[None]:
    """Build nodes that hang on no leaf, inside of a `with` block.

    `stopping` makes tensors constants for a transformation that is open as well.
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
    """Make ordinary tensors, for a transformation that begins inside of `no_grad`."""
    token = _stopped.set(False)
    try:
        yield
    finally:
        _stopped.reset(token)


def hangs_on_leaves(node: Node) -> bool:
    """Whether somebody can walk from a node to a leaf, and wants to."""
    past = node.past
    return past is not None and type(past) is not Gone and is_following()


def is_leaf_of(node: Node, tensor: object) -> bool:
    """Whether a node is the leaf that a tensor holds."""
    past = node.past
    return type(past) is Leaf and past.tensor() is tensor


def past_of_computed(node: Node) -> Past:
    """Return the past of a node that is about to forget its inputs."""
    gone = _why_gone(node.inputs)
    if gone is None:
        _kept.add(node)
    return gone or node.inputs


def _why_gone(sources: tuple[Node, ...]) -> Gone | None:
    """Return why all of some nodes that hang on leaves are gone, None if one is not."""
    reason: Gone | None = None
    for source in sources:
        past = source.past
        if past is not None:
            if not isinstance(past, Gone):
                return None
            reason = past
    return reason


class Kept:
    """Computed nodes that keep their inputs, to look through when they are many.

    They are held weakly. Through a sum of losses that are all done with nobody can walk
    any more, nor through what was computed from an old value of a leaf. Nodes do not
    know who reads them; so this is found out each time their number has doubled.
    """

    LEAST = 512

    def __init__(self) -> None:
        """Know none."""
        self._nodes: list[ref[Node]] = []
        self._room = self.LEAST

    def add(self, node: Node) -> None:
        """Note a node; looks through all when there are many."""
        self._nodes.append(ref(node))
        if len(self._nodes) > self._room:
            self.look_through()

    def look_through(self) -> None:
        """Let the inputs go of those from which nobody can walk to a leaf any more."""
        found = [one for one in self._nodes if one() is not None]
        known: set[Node] = set()
        for one in found:
            node = one()
            if node is not None:
                _resolve(node, known)
        self._nodes = [
            one
            for one in found
            if (node := one()) is not None and isinstance(node.past, tuple)
        ]
        self._room = 2 * len(self._nodes) + self.LEAST


_kept = Kept()


def _resolve(node: Node, known: set[Node]) -> None:
    """Let the inputs of a node, and of what it hangs on, go if all leaves are gone."""
    stack = [node]
    while stack:
        one = stack[-1]
        past = one.past
        if one in known or past is None or isinstance(past, Gone | Leaf):
            stack.pop()
            continue
        read = past if isinstance(past, tuple) else past.inputs
        sources = read or one.inputs
        missing = [
            source
            for source in sources
            if source not in known
            and source.past is not None
            and not isinstance(source.past, Gone | Leaf)
        ]
        if missing:
            stack += missing
            continue
        known.add(one)
        one.past = _why_gone(sources) or past
        stack.pop()
