"""Find the operations that make NaN and infinity out of finite inputs, when asked.

The page opens a `Search` around a run of a program ("Find the line"). Backends then
report each value that they have computed: `numpy_backend.py` node by node, backends
with kernels by way of `inspecting.py`. A value that is not finite gets an origin:
that of an input that is not finite either, else the operation itself. Without a search
a flush only reads one context variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any, Literal
from weakref import WeakKeyDictionary

from tensorweb import frames
from tensorweb.frames import Line
from tensorweb.graph.node import Node, number_of_constant
from tensorweb.graph.op import CONSTANT
from tensorweb.hostdata import unpack

Kind = Literal["nan", "inf"]

Found = frozenset[Kind]
"""The kinds of non-finite values among a tensor's elements; empty if all are finite."""

FINITE: Found = frozenset()

KINDS: tuple[Kind, ...] = ("nan", "inf")
"""NaN first: the page reports the first of these kinds that a value has."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The operation that first made a NaN or an infinity.

    Attributes:
        kind: which of the two.
        op: the operation's name; `leaf` for data and `constant` for a number that the
            program has written; `""` where only the kernel is known.
        lines: of the program, where the operation was built; where only the kernel is
            known, the lines of all its operations. Empty if no line is known.
        number: the order in which a search has found its origins, from 1.
        cause: the origin of an infinity among the inputs of what made a NaN, or the
            other way round; None where the inputs are finite.
    """

    kind: Kind
    op: str
    lines: tuple[Line, ...]
    number: int
    cause: Origin | None = None


Origins = dict[Kind, Origin]
Look = Callable[[Node], Found]
"""Returns the kinds of non-finite values in a node, read from its device."""


class Search:
    """The origins of what one program computes.

    Attributes:
        is_complete: whether every value was looked at; where Python cannot wait for a
            device, its values are not.
        read: the origins of the first values of each kind that the program has read.
    """

    def __init__(self) -> None:
        """Begin without an origin."""
        self.is_complete = True
        self.read: Origins = {}
        self._origins: WeakKeyDictionary[Node, Origins] = WeakKeyDictionary()
        self._count = 0

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Look at what is computed inside a `with` block.

        >>> with Search().searching():
        ...     is_searching()
        True
        """
        token = _open.set(self)
        try:
            yield
        finally:
            _open.reset(token)

    def origins(self, node: Node) -> Origins:
        """Return the origins of what is not finite in a node's storage, by kind."""
        return self._origins.get(node) or self._origins.get(node.base) or {}

    def is_known(self, node: Node) -> bool:
        """Whether a node's values were looked at."""
        return node in self._origins

    def inherit(self, node: Node, origins: Origins) -> None:
        """Set the origins of a node that has the values of another one."""
        self._origins[node] = origins

    def origins_of(self, node: Node, found: Found) -> Origins:
        """Return the known origins of the non-finite elements of a value.

        Data and constants have an origin of their own, even if no device has read them.
        """
        base = node.base
        if not self.is_known(base) and base.op.kind in ("leaf", "constant"):
            self._origins[base] = {kind: self._new(kind, base, []) for kind in found}
        known = self.origins(node)
        return {kind: known[kind] for kind in KINDS if kind in found and kind in known}

    def note_read(self, node: Node, data: bytes) -> None:
        """Note that the program has read a value, as these bytes."""
        if node.dtype.kind != "float":
            return
        values: Any = unpack(data, node.dtype, (node.size,))
        found = FINITE.union(*map(found_in, values))
        for kind, origin in self.origins_of(node, found).items():
            self.read.setdefault(kind, origin)

    def made(
        self, node: Node, inputs: Sequence[Node], found: Found, look: Look
    ) -> Origins:
        """Note a computed value and return its origins.

        Args:
            node: the value.
            inputs: what it was computed from; a computed node has dropped its inputs.
            found: what is not finite in it.
            look: reads an input whose values were not reported, such as data.
        """
        origins: Origins = {}
        if found:
            sources = [self._seen(source, look) for source in inputs]
            for kind in KINDS:
                if kind in found:
                    same = [each[kind] for each in sources if kind in each]
                    others = [origin for each in sources for origin in each.values()]
                    origins[kind] = (
                        _first(same) if same else self._new(kind, node, others)
                    )
        self._origins[node] = origins
        return origins

    def made_inside(self, kind: Kind, nodes: Sequence[Node]) -> Origin:
        """Return a new origin that is one, it is not known which, of several nodes."""
        self._count += 1
        lines = {line for node in nodes if (line := _line(node)) is not None}
        return Origin(kind, "", tuple(sorted(lines)), self._count)

    def _seen(self, node: Node, look: Look) -> Origins:
        """Return the origins of what is not finite in an input.

        A view has those origins of its base whose kinds its own elements have.
        """
        if node.dtype.kind != "float":
            return {}
        if node in self._origins:
            return self._origins[node]
        base = node.base
        known = self._origins.get(base)
        if known is None:
            known = {kind: self._new(kind, base, []) for kind in look_at(base, look)}
            self._origins[base] = known
        if base is node or not known:
            return known
        found = look_at(node, look)
        return {kind: origin for kind, origin in known.items() if kind in found}

    def _new(self, kind: Kind, node: Node, others: Sequence[Origin]) -> Origin:
        self._count += 1
        line = _line(node)
        lines = () if line is None else (line,)
        cause = _first(others) if others else None
        return Origin(kind, node.op.name, lines, self._count, cause)


_open: ContextVar[Search | None] = ContextVar("search", default=None)
"""The search of this thread or task, if there is one."""


def search() -> Search | None:
    """Return the open search of this thread or task, None without one."""
    return _open.get()


def start_search(found: Search | None) -> None:
    """Open a search in this thread or task, or with None end the open one."""
    _open.set(found)


def is_searching() -> bool:
    """Whether a search is open."""
    return _open.get() is not None


@contextmanager
def not_searching() -> Iterator[None]:
    """Keep the search out of a `with` block: what it computes is no program's value."""
    token = _open.set(None)
    try:
        yield
    finally:
        _open.reset(token)


def look_at(node: Node, look: Look) -> Found:
    """Return what is not finite in a value; a constant's number needs no read."""
    if node.base.op is not CONSTANT:
        return look(node)
    return found_in(number_of_constant(node.base))


def found_in(number: float) -> Found:
    """Return what is not finite in a number.

    >>> found_in(1.0), found_in(float("nan"))
    (frozenset(), frozenset({'nan'}))
    """
    if isfinite(number):
        return FINITE
    return frozenset({"nan" if isnan(number) else "inf"})


def _line(node: Node) -> Line | None:
    location = getattr(node, "location", None)
    return None if location is None else frames.line_of(location)


def _first(origins: Sequence[Origin]) -> Origin:
    return min(origins, key=lambda origin: origin.number)
