"""Remember weakly which values are pending, so that a read can compute them too.

Tensors tell of what they hold; nobody is kept alive by it. What has been looked at once
is forgotten: flushes mark the rest.
"""

from __future__ import annotations

from weakref import ref

from tensorweb.graph.node import Node

MOST = 4096
"""Values remembered of a device; of more, the oldest are forgotten."""

LEAST = 64


class Pending(list[ref[Node]]):
    """Values of one device that are alive and that nobody has looked at yet."""

    __slots__ = ("room",)

    def __init__(self) -> None:
        """Remember nothing."""
        self.room = LEAST

    def make_room(self) -> None:
        """Forget those that are gone."""
        self[:] = [one for one in self if one() is not None][-MOST:]
        self.room = 2 * len(self) + LEAST

    def take(self) -> list[Node]:
        """Return those that are pending in the order they were built; forget all."""
        found = [node for one in self if (node := one()) is not None]
        self.clear()
        self.room = LEAST
        return [node for node in found if (node.owner or node).storage is None]


_pending: dict[str, Pending] = {}


def pending(device: str) -> Pending:
    """Return what is pending on a device; from the first call on it is remembered."""
    return _pending.setdefault(device, Pending())


def watch(node: Node) -> None:
    """Remember a value built from pending ones, if its device wants to know."""
    known = _pending.get(node.device)
    if known is not None:
        known.append(ref(node))
        if len(known) > known.room:
            known.make_room()
