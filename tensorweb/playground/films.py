"""The values that one statement of a program bound, step by step: a film."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from weakref import ref

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.tensor.base import TensorBase

from . import policy

node_of: Callable[[tw.Tensor], Node] = vars(TensorBase)["node"].__get__
"""Return a tensor's node; a subclass of the program may have another `node`."""


def _references(box: Sequence[object]) -> int:
    """Return the reference count of the only item of a list."""
    return sys.getrefcount(box[0])


_ONE_REFERENCE = _references([object()])
"""The count of an item that only its list refers to."""


class Film:
    """The values that a statement bound, evenly spaced in time, and the last one.

    A flush stores what is referred to. So that it stores what it would store without a
    film, a pending value that others depend on is not: the run's provenance has it, and
    what it is computed from. A value that nothing else refers to is computed for the
    film alone; those of functions are omitted.
    """

    def __init__(self, is_local: bool = False) -> None:
        """Begin without a value; those of a function live while others need them."""
        self._is_local = is_local
        self._steps: list[tuple[int, Node | ref[Node]]] = []
        self._last: list[Node] = []
        self._stride = 1
        self._count = 0

    def add(self, x: tw.Tensor) -> None:
        """Add a value; of many every second one is dropped, again and again."""
        self._release_last()
        node = node_of(x)
        if self._count % self._stride == 0:
            self._steps.append((self._count, ref(node)))
        self._count += 1
        if not self._is_local:
            self._last.append(node)
        size = x.size * x.dtype.itemsize
        most = min(policy.MOST_FILM_STEPS, policy.MOST_FILM_BYTES // max(size, 1))
        if len(self._steps) > max(most, 1):
            self._steps = [(at, _retained(value)) for at, value in self._steps[::2]]
            self._stride *= 2

    def _release_last(self) -> None:
        """Refer to the last value no more, unless nothing else does or it exists."""
        if self._last:
            is_step = (self._count - 1) % self._stride == 0
            if is_step and (
                _references(self._last) == _ONE_REFERENCE or self._last[0].is_computed
            ):
                self._steps[-1] = self._count - 1, self._last[0]
            self._last.clear()

    def steps(self) -> list[tuple[int, tw.Tensor]]:
        """Return the values, each with the count of those before it."""
        found = {at: _node(value) for at, value in self._steps}
        if self._last:
            found[self._count - 1] = self._last[0]
        return [(at, tw.Tensor(x)) for at, x in found.items() if x is not None]


def _node(value: Node | ref[Node]) -> Node | None:
    return value if isinstance(value, Node) else value()


def _retained(value: Node | ref[Node]) -> Node | ref[Node]:
    """Return a computed value itself, so that it remains; else what was given."""
    node = _node(value)
    return value if node is None or not node.is_computed else node
