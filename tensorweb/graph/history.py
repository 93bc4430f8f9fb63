"""History: what computed nodes were made of, kept apart from the graph.

A computed node forgets its inputs, so that a loop holds values and not its past. Who
must still walk back, a derivative for example, opens a history: what is computed until
it is closed stays known in it, whether somebody printed a value on the way or a graph
became too deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from tensorweb.graph.node import Node

History = WeakKeyDictionary["Node", "tuple[Node, ...]"]
"""Inputs of computed nodes; it keeps none of the nodes themselves alive."""

_open: ContextVar[History | None] = ContextVar("history", default=None)
"""The history of this thread or task; those opened inside of it share it."""


@contextmanager
def keeping_history() -> Iterator[None]:
    """Keep the inputs of what is computed inside a `with` block until it ends."""
    if _open.get() is not None:
        yield
        return
    history: History = WeakKeyDictionary()
    _open.set(history)
    try:
        yield
    finally:
        _open.set(None)
        history.clear()


def is_kept() -> bool:
    """Whether a history is open."""
    return _open.get() is not None


def keep(node: Node) -> None:
    """Note the inputs of a node that is about to forget them."""
    history = _open.get()
    if history is not None:
        history[node] = node.inputs


def inputs_of(node: Node) -> tuple[Node, ...]:
    """Return a node's inputs, also those that it has forgotten, where they are kept."""
    history = _open.get()
    if node.inputs or history is None:
        return node.inputs
    return history.get(node, ())
