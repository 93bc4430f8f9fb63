"""Registry of weak references to pending values, so that a read computes them too.

Tensors register the nodes they hold. An entry is dropped once a flush has taken it;
flushes mark the values that they did not store (`Node.mark`).
"""

from __future__ import annotations

from weakref import ref

from tensorweb.graph.node import Node

MOST = 4096
"""Entries per device; above this limit the oldest are dropped."""

LEAST = 64


class Pending(list[ref[Node]]):
    """Weak references to values of one device that no flush has taken yet."""

    __slots__ = ("room",)

    def __init__(self) -> None:
        """Start without entries."""
        self.room = LEAST

    def make_room(self) -> None:
        """Drop entries whose nodes are freed."""
        self[:] = [one for one in self if one() is not None][-MOST:]
        self.room = 2 * len(self) + LEAST

    def take(self) -> list[Node]:
        """Remove all entries and return the uncomputed nodes in order of building."""
        found = [node for one in self if (node := one()) is not None]
        self.clear()
        self.room = LEAST
        return [node for node in found if (node.owner or node).storage is None]


_pending: dict[str, Pending] = {}


def pending(device: str) -> Pending:
    """Return the registry of a device; `watch` fills it from the first call on."""
    return _pending.setdefault(device, Pending())


def watch(node: Node) -> None:
    """Register a pending value if its device has a registry."""
    known = _pending.get(node.device)
    if known is not None:
        known.append(ref(node))
        if len(known) > known.room:
            known.make_room()
