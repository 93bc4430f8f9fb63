"""History: what computed nodes were made of, kept apart from the graph.

A computed node forgets its inputs, so that a loop holds values and not its past. Who
must still walk back, a derivative for example, opens a history: what is computed until
it is closed stays known in it, whether somebody printed a value on the way or a graph
became too deep. A mark says that the way back from a node is another one. What hangs on
a leaf is kept without a history, by its nodes (`graph/leaves.py`).
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
    """Another way back from a node.

    Attributes:
        inputs: the nodes that it leads to.
        rule: from the node's cotangent to theirs, None where there is none; or the
            operation that would give the same of them.
    """

    inputs: tuple[Node, ...]
    rule: Callable[[Node], tuple[Node | None, ...]] | Op


@dataclass(slots=True, eq=False)
class History:
    """What is kept; it keeps none of the nodes themselves alive.

    Attributes:
        inputs: of computed nodes.
        marks: by the node they belong to; `is_marked` says whether there are any, since
            asking a weak dictionary takes longer than all else here.
        variables: of the transformations that are open.
        forgotten: nodes whose inputs are not kept, since they can be had again.
        outer: the history around, where that keeps nothing any more.
        keeps: whether what is computed now is kept.
        taken: variables by which derivatives are being taken now, by the
            transformations around each other that are open.
        levels: of nodes, as `variable_level` has found them.
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
"""The history of this thread or task; those opened inside of it share it."""


@contextmanager
def keeping_history() -> Iterator[None]:
    """Keep the inputs of what is computed inside a `with` block until it ends."""
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
    """Keep nothing more of a history that ends with what is built in a `with` block.

    Args:
        is_outermost: whether no other transformation walks through that.
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
    """Whether somebody may walk back through what is built now."""
    history = _open.get()
    return history is not None and history.keeps


def keep(node: Node) -> None:
    """Note the inputs of a node that is about to forget them."""
    past = node.past
    if past is not None and not past:
        node.past = past_of_computed(node)
    history = _open.get()
    if history is not None and history.keeps and node not in history.forgotten:
        history.inputs[node] = node.inputs


def keeps_inputs(node: Node) -> bool:
    """Whether the inputs of a node are kept if it is computed now."""
    if node.past is not None and not node.past:
        return True
    history = _open.get()
    return history is not None and history.keeps and node not in history.forgotten


def forget(node: Node) -> None:
    """Keep no inputs of a node, now or when it is computed."""
    history = _open.get()
    if history is not None:
        history.forgotten.add(node)
        history.inputs.pop(node, None)
    node.past = None


def add_variable(node: Node, *, is_taken: bool = True) -> None:
    """Note a variable of a transformation, while a history is open.

    Args:
        node: the variable, an alias of an argument's node.
        is_taken: whether a derivative is taken by it, and not only through it.
    """
    history = _open.get()
    if history is not None:
        history.variables.add(node)
        if is_taken:
            history.taken[-1].add(node)


def has_variables() -> bool:
    """Whether a transformation is open that has variables already."""
    history = _open.get()
    return history is not None and len(history.variables) > 0


def is_variable(node: Node) -> bool:
    """Whether a node is a variable of a transformation that is open."""
    history = _open.get()
    while history is not None:
        if node in history.variables:
            return True
        history = history.outer
    return False


def variable_level(node: Node) -> int:
    """Return how many nested derivatives being taken now depend on a float node.

    0 where none does. A variable of an inner transformation is an alias of an outer
    one's where it depends on that, so variables are counted along each path.
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
"""Levels of derivatives that numbers may leave without a derivative."""


@contextmanager
def letting_numbers_leave(levels: int) -> Iterator[None]:
    """Let values become numbers inside a `with` block whose derivative is given.

    Args:
        levels: how many more of the innermost derivatives do not go through them.
    """
    token = _allowed.set(_allowed.get() + levels)
    try:
        yield
    finally:
        _allowed.reset(token)


def numbers_may_leave() -> bool:
    """Whether the code that runs now has its derivative given."""
    return _allowed.get() > 0


def loses_derivative(node: Node) -> bool:
    """Whether a derivative being taken is cut if a node's value becomes a number."""
    return _open.get() is not None and variable_level(node) > _allowed.get()


def mark(node: Node, another: Mark) -> None:
    """Give a node another way back, for the open history and for leaves."""
    is_followed = any(one.past is not None for one in another.inputs)
    node.past = another if is_followed and is_following() else None
    history = _open.get()
    if history is not None:
        history.marks[node] = another
        history.is_marked = True


def mark_of(node: Node) -> Mark | None:
    """Return a node's other way back, if it has one."""
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
    """Return a node's inputs, also those that it has forgotten, where they are kept."""
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
