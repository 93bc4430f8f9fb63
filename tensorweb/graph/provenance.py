"""Provenance: what each value of a program was computed from.

A computed node drops its inputs. An open provenance retains them, and so everything
that the program computes; the oldest ones are dropped where they do not fit. The page
opens one around a run of a program ("Look inside"); `inspection/` reads it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakSet

from tensorweb import frames
from tensorweb.graph.node import Node

MOST_BYTES = 1 << 28
MOST_NODES = 100_000


class Provenance:
    """The inputs of all nodes that were computed while it was open.

    Attributes:
        is_complete: whether everything fitted. Values whose inputs were dropped count
            as data.
        variables: what the outermost `grad` of each call differentiated by.

    >>> with Provenance().open() as provenance:
    ...     x = tw.asarray([1.0, 2.0])
    ...     y = tw.exp(x).realize()
    >>> y.node.inputs, len(provenance.inputs_of(y.node))
    ((), 1)
    """

    def __init__(
        self, most_bytes: int = MOST_BYTES, most_nodes: int = MOST_NODES
    ) -> None:
        """Begin with nothing; the limits are of the values and nodes retained."""
        self.is_complete = True
        self.variables: WeakSet[Node] = WeakSet()
        self._bytes_left = most_bytes
        self._most_nodes = most_nodes
        self._inputs: OrderedDict[Node, tuple[Node, ...]] = OrderedDict()

    @contextmanager
    def open(self) -> Iterator[Provenance]:
        """Retain the inputs of all nodes that are built inside a `with` block."""
        with frames.noting(), self.retaining():
            yield self

    @contextmanager
    def retaining(self) -> Iterator[None]:
        """Go on to retain the inputs of those nodes, but not of nodes built now."""
        token = _open.set(self)
        try:
            yield
        finally:
            _open.reset(token)

    def retain(self, node: Node, inputs: tuple[Node, ...]) -> None:
        """Retain the inputs of a node that has just got its value."""
        if hasattr(node, "location"):
            self._retain(node, inputs)

    def follow(self, result: Node) -> list[Node]:
        """Retain what a pending value will be computed from, also if built before.

        Return the nodes as `ordered` does.
        """
        found = self.ordered([result], lambda node: True)
        for node in found:
            if node not in self._inputs:
                self._retain(node, node.inputs)
        return found

    def _retain(self, node: Node, inputs: tuple[Node, ...]) -> None:
        kept = self._inputs
        if node not in kept:
            self._bytes_left -= _size(node)
        kept[node] = inputs
        while self._bytes_left < 0 or len(kept) > self._most_nodes:
            oldest, _ = kept.popitem(last=False)
            self._bytes_left += _size(oldest)
            self.is_complete = False

    def nodes(self) -> Iterator[Node]:
        """Return an iterator of the nodes whose inputs are retained, oldest first."""
        return iter(self._inputs)

    def inputs_of(self, node: Node) -> tuple[Node, ...]:
        """Return what a node is computed from, empty for data."""
        return self._inputs.get(node) or node.inputs

    def is_updated(self, node: Node) -> bool:
        """Whether a node is a variable of `grad` that an earlier gradient gave."""
        found: list[Node] = []

        def is_opened(one: Node) -> bool:
            if one in self.variables:
                found.append(one)
            return not found

        if node in self.variables:
            self.ordered(self.inputs_of(node), is_opened)
        return bool(found)

    def ordered(
        self, results: Iterable[Node], is_opened: Callable[[Node], bool]
    ) -> list[Node]:
        """Return results and what they are computed from, inputs first, without data.

        The inputs of a node that is not opened are left out, and the node as well.
        """
        order: dict[Node, None] = {}
        stack = [(node, False) for node in results]
        while stack:
            node, is_ready = stack.pop()
            if is_ready:
                order[node] = None
            elif node not in order and self.inputs_of(node) and is_opened(node):
                stack.append((node, True))
                stack += [(source, False) for source in self.inputs_of(node)]
        return list(order)


def _size(node: Node) -> int:
    return node.size * node.dtype.itemsize


_open: ContextVar[Provenance | None] = ContextVar("provenance", default=None)
"""The provenance that is open in this thread or task."""


def open_provenance() -> Provenance | None:
    """Return the open provenance of this thread or task, None without one."""
    return _open.get()
