"""History: the inputs of computed nodes, retained outside of the graph.

A computed node drops its inputs, so that a loop retains values and not all earlier
iterations. A transformation that needs a backward pass opens a history, which retains
the inputs of every node computed until it is closed, whether a print or the depth limit
caused the computation. A mark gives a node a custom backward rule. Nodes that depend on
a leaf retain their inputs without a history (`graph/leaves.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from tensorweb.graph import leaves
from tensorweb.graph.leaves import is_following, past_of_computed

if TYPE_CHECKING:
    from tensorweb.graph.node import Node
    from tensorweb.graph.op import Op


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """The custom backward rule of a node.

    Attributes:
        inputs: the nodes that receive cotangents.
        rule: maps the node's cotangent to one cotangent per input, None where an input
            has none; or the operation whose rule applies to these inputs.
    """

    inputs: tuple[Node, ...]
    rule: Callable[[Node], tuple[Node | None, ...]] | Op


@dataclass(slots=True, eq=False)
class History:
    """Inputs and marks of nodes, by weak reference to each node.

    Attributes:
        inputs: the inputs of computed nodes.
        marks: the mark of each marked node.
        is_marked: whether `marks` has entries; looking up a weak dictionary is slow.
        variables: the variables of the open transformations.
        forgotten: nodes whose inputs are not retained because they can be recomputed.
        outer: the enclosing history, which retains nothing any more.
        keeps: whether nodes computed now retain their inputs here.
        taken: for each nested transformation, the variables it differentiates by.
        levels: results of `variable_level`, cached.
    """

    inputs: WeakKeyDictionary[Node, tuple[Node, ...]] = field(
        default_factory=WeakKeyDictionary
    )
    marks: WeakKeyDictionary[Node, Mark] = field(default_factory=WeakKeyDictionary)
    is_marked: bool = False
    variables: WeakSet[Node] = field(default_factory=WeakSet)
    forgotten: WeakSet[Node] = field(default_factory=WeakSet)
    outer: History | None = None
    keeps: bool = True
    taken: list[WeakSet[Node]] = field(default_factory=lambda: [WeakSet()])
    levels: WeakKeyDictionary[Node, int] = field(default_factory=WeakKeyDictionary)


_open: ContextVar[History | None] = ContextVar("history", default=None)
"""The history of this thread or task; nested transformations share it."""


@contextmanager
def keeping_history() -> Iterator[None]:
    """Retain the inputs of nodes computed inside a `with` block until it ends."""
    if leaves.blocks and leaves.is_stopping():
        with leaves.not_stopping(), keeping_history():
            yield
        return
    outer = _open.get()
    if outer is not None and outer.keeps:
        outer.taken.append(WeakSet())
        try:
            yield
        finally:
            if outer.taken.pop():
                outer.levels.clear()
        return
    history = History(outer=outer)
    _open.set(history)
    try:
        yield
    finally:
        _open.set(outer)
        history.inputs.clear()
        history.marks.clear()


@contextmanager
def keeping_no_more(is_outermost: bool) -> Iterator[None]:
    """Retain no inputs inside a `with` block that ends the open history.

    Args:
        is_outermost: whether no enclosing transformation differentiates the nodes that
            the block builds; if False the block changes nothing.
    """
    history = _open.get()
    if history is None or not is_outermost:
        yield
        return
    history.keeps = False
    try:
        yield
    finally:
        history.keeps = True


def is_kept() -> bool:
    """Whether a history is open."""
    return _open.get() is not None


def is_keeping() -> bool:
    """Whether a history is open that retains the inputs of nodes built now."""
    history = _open.get()
    return history is not None and history.keeps


def keep(node: Node) -> None:
    """Retain the inputs of a computed node before `Node.inputs` is cleared."""
    past = node.past
    if past is not None and not past:
        node.past = past_of_computed(node)
    history = _open.get()
    if history is not None and history.keeps and node not in history.forgotten:
        history.inputs[node] = node.inputs


def keeps_inputs(node: Node) -> bool:
    """Whether the inputs of a node are retained if it is computed now."""
    if node.past is not None and not node.past:
        return True
    history = _open.get()
    return history is not None and history.keeps and node not in history.forgotten


def forget(node: Node) -> None:
    """Do not retain the inputs of a node, neither now nor when it is computed."""
    history = _open.get()
    if history is not None:
        history.forgotten.add(node)
        history.inputs.pop(node, None)
    node.past = None


def add_variable(node: Node, *, is_taken: bool = True) -> None:
    """Register a variable of a transformation if a history is open.

    Args:
        node: the variable, an alias of an argument's node.
        is_taken: whether the transformation differentiates by this variable.
    """
    history = _open.get()
    if history is not None:
        history.variables.add(node)
        if is_taken:
            history.taken[-1].add(node)


def has_variables() -> bool:
    """Whether an open transformation has registered variables."""
    history = _open.get()
    return history is not None and len(history.variables) > 0


def is_variable(node: Node) -> bool:
    """Whether a node is a variable of an open transformation."""
    history = _open.get()
    while history is not None:
        if node in history.variables:
            return True
        history = history.outer
    return False


def variable_level(node: Node) -> int:
    """Return the count of nested derivatives, being taken now, that use a float node.

    A variable of an inner transformation that depends on an outer one's is an alias of
    it, so the result is the largest count of variables on a path to the node.
    """
    history = _open.get()
    if history is None or not history.keeps or not any(history.taken):
        return 0
    levels = history.levels
    stack = [node]
    while stack:
        one = stack[-1]
        if one in levels:
            stack.pop()
            continue
        sources = inputs_of(one) if one.dtype.kind == "float" else ()
        missing = [source for source in sources if source not in levels]
        if missing:
            stack += missing
            continue
        below = max((levels[source] for source in sources), default=0)
        levels[one] = below + any(one in each for each in history.taken)
        stack.pop()
    return levels[node]


_allowed: ContextVar[int] = ContextVar("allowed", default=0)
"""Count of the innermost derivatives that may be cut by a Python number."""


@contextmanager
def letting_numbers_leave(levels: int) -> Iterator[None]:
    """Allow Python numbers in a `with` block that has a custom derivative.

    Args:
        levels: how many more of the innermost derivatives may be cut.
    """
    token = _allowed.set(_allowed.get() + levels)
    try:
        yield
    finally:
        _allowed.reset(token)


def numbers_may_leave() -> bool:
    """Whether the running code has a custom derivative."""
    return _allowed.get() > 0


def loses_derivative(node: Node) -> bool:
    """Whether converting a node to a Python number cuts a derivative being taken."""
    return _open.get() is not None and variable_level(node) > _allowed.get()


def mark(node: Node, another: Mark) -> None:
    """Give a node a custom backward rule, for the open history and for leaves."""
    is_followed = any(one.past is not None for one in another.inputs)
    node.past = another if is_followed and is_following() else None
    history = _open.get()
    if history is not None:
        history.marks[node] = another
        history.is_marked = True


def mark_of(node: Node) -> Mark | None:
    """Return the custom backward rule of a node, None if it has none."""
    past = node.past
    if type(past) is Mark:
        return past
    history = _open.get()
    while history is not None:
        another = history.marks.get(node) if history.is_marked else None
        if another is not None:
            return another
        history = history.outer
    return None


def inputs_of(node: Node) -> tuple[Node, ...]:
    """Return the inputs of a backward pass through a node, retained ones included."""
    past = node.past
    if past is not None:
        if isinstance(past, Mark):
            return past.inputs
        if isinstance(past, tuple) and past:
            return past
    found = node.inputs
    history = _open.get()
    while history is not None:
        another = history.marks.get(node) if history.is_marked else None
        if another is not None:
            return another.inputs
        found = found or history.inputs.get(node, ())
        history = history.outer
    return found
