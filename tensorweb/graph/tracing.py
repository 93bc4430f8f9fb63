"""Traces: run a function on placeholders to record its graph.

A placeholder stands for an argument. Nodes that depend on a placeholder have no value
on any device; reading one raises `TraceError`.
"""

from __future__ import annotations

import weakref
from collections.abc import (
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from tensorweb.errors import TraceError
from tensorweb.graph.node import Node, ancestors, pair_of
from tensorweb.graph.storage import Storage


class Placeholder(Storage):
    """Stands for an argument's storage while a function is traced."""

    __slots__ = ()


@dataclass(slots=True, weakref_slot=True, eq=False)
class Trace:
    """State of a function that is being traced.

    Attributes:
        name: the function's name, for messages.
        transform: the transformation that traces, `jit` or `vmap`.
        arguments: the arguments of this call, by placeholder.
        of_batch: for `vmap`, maps a node of one example to the node of the full batch.
        assumed: by placeholder, the interval that all elements of the argument must lie
            in for the graph to be valid.
        written: by `id`, the assigned tensors, each with its node before.
        updated: by `id`, the objects that the function may change.
        gradients: by `id`, the tensors whose gradient `backward` accumulated, each with
            its gradient before.
        read: the nodes whose values Python read.
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
        """Return the argument that a placeholder stands for.

        Raises:
            TraceError: the placeholder belongs to another trace.
        """
        found = self.arguments.get(placeholder)
        if found is None:
            raise value_wanted(placeholder)
        return found

    def is_updated(self, value: object) -> bool:
        """Whether the function may change an object created outside of it."""
        return id(value) in self.updated

    def outside_writes(self, mine: Container[int] = ()) -> list[tuple[Any, Node]]:
        """Return the written tensors, without mine by `id`, and their old nodes."""
        return [
            (tensor, old)
            for key, (reference, old) in self.written.items()
            if key not in mine and (tensor := reference()) is not None
        ]

    def is_behind(self, node: Node) -> bool:
        """Whether a value depends on one of this trace's arguments."""
        return any(each.base in self.arguments for each in ancestors([node.base]))

    def assume(self, placeholder: Node, interval: tuple[int, int]) -> None:
        """Record that all elements of an argument lie in an interval."""
        low, high = self.assumed.get(placeholder, interval)
        self.assumed[placeholder] = max(low, interval[0]), min(high, interval[1])


_open: ContextVar[tuple[Trace, ...]] = ContextVar("traces", default=())
"""The open traces of this thread or task, the innermost last."""


@contextmanager
def tracing(
    name: str,
    arguments: Mapping[Node, Node] | None = None,
    transform: str = "jit",
    updated: Sequence[object] = (),
    of_batch: Callable[[Node], Node] | None = None,
) -> Iterator[Trace]:
    """Trace the function `name` in a `with` block, in which nothing is computed."""
    made = Trace(name, arguments or {}, transform, of_batch)
    made.updated = {id(each): each for each in updated}
    before = _open.get()
    _open.set((*before, made))
    try:
        yield made
    finally:
        _open.set(before)


def open_trace() -> Trace | None:
    """Return the innermost open trace, None if no function is traced."""
    found = _open.get()
    return found[-1] if found else None


def outside_of_vmap(node: Node) -> tuple[Node, Trace | None]:
    """Return the node of the full batch that `vmap` maps over, and the `jit` trace.

    The trace is None where none is open or the node depends on no argument.
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
    """A run of the function `name` that is repeated later with equal results."""

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
    """Return the innermost run that a backward pass repeats, None if none is open."""
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
    values. `jit` makes them.

    Attributes:
        is_current: whether none of these tensors was written to.
    """

    __slots__ = ("__weakref__", "_nodes", "is_current")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.is_current = True
        self._nodes: WeakSet[Node] = WeakSet()
        for node in nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        """Capture one more node."""
        base = pair_of(node).base
        self._nodes.add(base)
        _captures.setdefault(base, WeakSet()).add(self)

    def has(self, node: Node) -> bool:
        """Whether a node, or a node that shares its storage, is captured."""
        return pair_of(node).base in self._nodes


_captures: WeakKeyDictionary[Node, WeakSet[Captures]] = WeakKeyDictionary()
"""The captures of each node."""


def note_move(old: Node, node: Node) -> None:
    """Note that a tensor's value is in another node now; recordings watch both."""
    for capture in _captures.get(pair_of(old).base, ()):
        capture.add(node)


def is_traced(node: Node) -> bool:
    """Whether a value depends on a placeholder, so that it cannot be read."""
    return _placeholder_below([node]) is not None


def require_values(nodes: Sequence[Node]) -> None:
    """Raise `TraceError` if a node depends on an argument of an open trace."""
    if _open.get():
        placeholder = _placeholder_below(nodes)
        if placeholder is not None:
            raise value_wanted(placeholder)
        for trace in _open.get():
            trace.read += nodes


def value_wanted(placeholder: Node) -> TraceError:
    """Return the error for reading a value that depends on a placeholder."""
    trace = open_trace()
    about = f"(shape {placeholder.shape}, dtype {placeholder.dtype})"
    if trace is None:
        return TraceError(
            "this value was made while jit recorded a function, or vmap mapped one, "
            f"and depends on an argument {about} that has no value now. Return it from "
            "the function instead of storing it elsewhere."
        )
    name, transform = trace.name, trace.transform
    what = {"jit": "recorded", "vmap": "mapped over a batch", "eval_shape": "described"}
    return TraceError(
        f"{transform}: a value that depends on an argument of {name} {about} was asked "
        f"for while the function is {what[transform]} (print, item, tolist, if, a "
        "mask, the end of a slice). Read values outside of it, use where instead of "
        "if and x[i + tw.arange(n)] instead of x[i:i + n], or call the function "
        f"without {transform}."
    )


def _placeholder_below(nodes: Sequence[Node]) -> Node | None:
    for node in ancestors([node.base for node in nodes]):
        if type(node.base.storage) is Placeholder:
            return node.base
    return None
