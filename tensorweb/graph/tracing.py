"""Traces: a function runs on placeholders, so that its graph is seen once for all.

A placeholder stands for an argument. Nothing that hangs on one has a value, whatever
its device: asking for it is a `TraceError`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary, WeakSet

from tensorweb.errors import TraceError
from tensorweb.graph.complex_pairs import pair_of
from tensorweb.graph.node import Node
from tensorweb.graph.storage import Storage
from tensorweb.graph.walks import ancestors


class Placeholder(Storage):
    """Stands for an argument's storage while a function is traced."""

    __slots__ = ()


@dataclass(slots=True, weakref_slot=True, eq=False)
class Trace:
    """What is noted while a function is traced.

    Attributes:
        name: of the function, for messages.
        transform: who traces it, `jit` or `vmap`.
        arguments: of this call, by the placeholders that stand for them.
        of_batch: where `vmap` traces, from a node to the one of all examples.
        assumed: what must hold of arguments for the graph to be right: no number of
            theirs is below the first or above the second.
        written: tensors that got another value, by identity, each with its value
            before.
        updated: objects that the function may change, by identity.
        gradients: tensors to whose gradient `backward` added, by identity, each with
            what that was before.
        read: whose values Python saw.
    """

    name: str
    arguments: Mapping[Node, Node]
    transform: str = "jit"
    of_batch: Callable[[Node], Node] | None = None
    assumed: dict[Node, tuple[int, int]] = field(default_factory=dict)
    written: dict[int, tuple[weakref.ref[object], Node]] = field(default_factory=dict)
    updated: Mapping[int, object] = field(default_factory=dict)
    gradients: dict[int, tuple[weakref.ref[object], object]] = field(
        default_factory=dict
    )
    read: list[Node] = field(default_factory=list)

    def argument(self, placeholder: Node) -> Node:
        """Return what a placeholder stands for.

        Raises:
            TraceError: it is none of this trace's.
        """
        found = self.arguments.get(placeholder)
        if found is None:
            raise value_wanted(placeholder)
        return found

    def is_updated(self, value: object) -> bool:
        """Whether the function may change an object from outside."""
        return id(value) in self.updated

    def is_behind(self, node: Node) -> bool:
        """Whether a value hangs on one of this trace's arguments."""
        return any(each.base in self.arguments for each in ancestors([node.base]))

    def assume(self, placeholder: Node, interval: tuple[int, int]) -> None:
        """Note that an argument's numbers lie in an interval."""
        low, high = self.assumed.get(placeholder, interval)
        self.assumed[placeholder] = max(low, interval[0]), min(high, interval[1])


_open: ContextVar[tuple[Trace, ...]] = ContextVar("traces", default=())
"""The functions traced in this thread or task, one inside the other."""


@contextmanager
def tracing(
    name: str,
    arguments: Mapping[Node, Node] | None = None,
    transform: str = "jit",
    updated: Sequence[object] = (),
    of_batch: Callable[[Node], Node] | None = None,
) -> Iterator[Trace]:
    """Trace the function `name`: graphs grow to any depth, nothing is computed."""
    made = Trace(name, arguments or {}, transform, of_batch)
    made.updated = {id(each): each for each in updated}
    before = _open.get()
    _open.set((*before, made))
    try:
        yield made
    finally:
        _open.set(before)


def open_trace() -> Trace | None:
    """Return the trace of the innermost function that is traced."""
    found = _open.get()
    return found[-1] if found else None


def outside_of_vmap(node: Node) -> tuple[Node, Trace | None]:
    """Return a node for all examples that `vmap` maps over, and the trace around.

    That of `jit`, None where none is open or the node depends on no argument.
    """
    trace = None
    for trace in reversed(_open.get()):
        if trace.of_batch is not None:
            node = trace.of_batch(node)
    return node, trace if is_traced(node) else None


def is_tracing() -> bool:
    """Whether a function is traced."""
    return bool(_open.get())


@dataclass(frozen=True, eq=False, slots=True)
class Repeat:
    """A run of the function `name` that is done again later, with the same results."""

    name: str


_repeated: ContextVar[Repeat | None] = ContextVar("repeated", default=None)


@contextmanager
def repeating(name: str) -> Iterator[None]:
    """Run the function `name`, which runs again in the backward pass."""
    before = _repeated.get()
    _repeated.set(Repeat(name))
    try:
        yield
    finally:
        _repeated.set(before)


def open_repeat() -> Repeat | None:
    """Return the innermost run that is done again later."""
    return _repeated.get()


def note_write(tensor: object, old: Node) -> None:
    """Note that a tensor gets another value: for open traces, and for recordings.

    A recording that captured the old value is made anew at its next call.
    """
    if _captures:
        for capture in _captures.get(pair_of(old).base, ()):
            capture.is_current = False
    for trace in _open.get():
        known = trace.written.get(id(tensor))
        if known is None or known[0]() is not tensor:
            trace.written[id(tensor)] = weakref.ref(tensor), old


class Captures:
    """The tensors that a recording of `jit` reads without having them as arguments.

    Every write into a tensor goes through `note_write`, so a call need not compare
    values. `jit` and `surroundings.py` make them.

    Attributes:
        is_current: whether none of these tensors was written to.
    """

    __slots__ = ("__weakref__", "_nodes", "is_current")

    def __init__(self, nodes: Iterable[Node]) -> None:
        """Watch the nodes whose values are captured."""
        self.is_current = True
        self._nodes: WeakSet[Node] = WeakSet()
        for node in nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        """Watch one more node."""
        base = pair_of(node).base
        self._nodes.add(base)
        _captures.setdefault(base, WeakSet()).add(self)

    def has(self, node: Node) -> bool:
        """Whether the value of a node, or one that shares its storage, is captured."""
        return pair_of(node).base in self._nodes


_captures: WeakKeyDictionary[Node, WeakSet[Captures]] = WeakKeyDictionary()
"""By the nodes that tensors have, the recordings that captured their values."""


def note_move(old: Node, node: Node) -> None:
    """Note that a tensor's value is in another node now; recordings watch both."""
    for capture in _captures.get(pair_of(old).base, ()):
        capture.add(node)


def is_traced(node: Node) -> bool:
    """Whether a value hangs on a placeholder, so that nobody knows it."""
    return _placeholder_below([node]) is not None


def require_values(nodes: Sequence[Node]) -> None:
    """Raise `TraceError` while a function is traced and a value hangs on it."""
    if _open.get():
        placeholder = _placeholder_below(nodes)
        if placeholder is not None:
            raise value_wanted(placeholder)
        for trace in _open.get():
            trace.read += nodes


def value_wanted(placeholder: Node) -> TraceError:
    """Return the error for asking for a value that hangs on a placeholder."""
    trace = open_trace()
    about = f"(shape {placeholder.shape}, dtype {placeholder.dtype})"
    if trace is None:
        return TraceError(
            "this value was made while jit recorded a function, or vmap mapped one, "
            f"and hangs on an argument {about} that has had no value since. Return it "
            "from the function instead of keeping it elsewhere."
        )
    name, transform = trace.name, trace.transform
    doing = "recorded" if transform == "jit" else "mapped over a batch"
    return TraceError(
        f"{transform}: a value that hangs on an argument of {name} {about} was asked "
        f"for while the function is {doing} (print, item, tolist, if, a mask). Read "
        "values outside of it, use where instead of if, or call the function without "
        f"{transform}."
    )


def _placeholder_below(nodes: Sequence[Node]) -> Node | None:
    for node in ancestors([node.base for node in nodes]):
        if type(node.base.storage) is Placeholder:
            return node.base
    return None
