"""Autograd's record of how values were made, for `grad` and for `backward`.

A computed node drops its inputs, so that a loop retains values and not all earlier
iterations. Where a backward pass may need them, the node's `history` retains them:
for `backward`, if the node depends on a leaf (a tensor whose gradient `backward`
accumulates), until a backward pass has used them; for `grad` and its siblings, if the
node is computed while their scope is open, until the scope ends. A custom backward rule
of a node is part of its history too. Everything else is freed by reference counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

from tensorweb.graph.node import (
    DERIVED,
    FRESH,
    KEPT,
    History,
    Node,
    Rule,
    grad_enabled,
    is_grad_enabled,
)
from tensorweb.graph.provenance import open_provenance
from tensorweb.graph.storage import Storage


class Leaf(History):
    """The history of a leaf's node.

    Attributes:
        tensor: weak reference to the tensor that receives the gradient.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: object) -> None:
        super().__init__(on_leaf=True)
        self.tensor = ref(tensor)


USED = History(
    on_leaf=True,
    freed="backward() has already used the graph of these values and freed it; call "
    "the first backward() with retain_graph=True, add the results up before one "
    "backward(), or compute them again",
)
"""The history of a node that a backward pass has used."""


class Replaced(Leaf):
    """The history of a leaf's node whose tensor has another value now."""

    __slots__ = ()

    def __init__(self, tensor: object) -> None:
        super().__init__(tensor)
        self.freed = (
            "a tensor that requires a gradient was assigned since, so that nothing "
            "depends on its present value; call backward() before the step"
        )


DISCARDED = History()
"""The history of a node whose inputs are not retained, since they are recomputed."""


def depends_on_leaf(node: Node) -> bool:
    """Whether a node was computed from a leaf, even if its history is freed."""
    history = node.history
    return history is not None and history.on_leaf


def reaches_leaf(node: Node) -> bool:
    """Whether a backward pass can reach a leaf from a node, and gradients are on."""
    history = node.history
    return (
        history is not None
        and history.on_leaf
        and not history.freed
        and is_grad_enabled()
    )


def is_leaf_of(node: Node, tensor: object) -> bool:
    """Whether a node is the leaf of a tensor."""
    history = node.history
    return type(history) is Leaf and history.tensor() is tensor


def leaf_tensor(node: Node) -> Any:
    """Return the tensor whose leaf a node is, or was before a step; None if none."""
    history = node.history
    return history.tensor() if isinstance(history, Leaf) else None


def may_differentiate(node: Node) -> bool:
    """Whether the derivative of what is computed from a node may be requested."""
    return _scope.get() is not None or depends_on_leaf(node)


def settle(node: Node, storage: Storage) -> None:
    """Attach the computed storage; move the inputs to the history if it needs them."""
    history = node.history
    scope = _scope.get()
    if history is DERIVED:
        freed = _freed_among(node.inputs)
        if freed is None:
            node.history = History(node.inputs, None, True)
            _retained.add(node)
        else:
            node.history = freed
    if scope is not None and scope.is_recording:
        scope.retain(node)
    provenance = open_provenance()
    if provenance is not None and node.inputs:
        provenance.retain(node, node.inputs)
    node.storage = storage
    node.inputs = ()
    node.depth = 0
    node.structure = 0
    node.mark = KEPT if node.mark else FRESH


def retains_inputs(node: Node) -> bool:
    """Whether the history of a node will retain its inputs if it is computed now."""
    history = node.history
    if history is None or not is_recording():
        return history is DERIVED or is_recording()
    return history is not DISCARDED and history.rule is None


def discard_history(node: Node) -> None:
    """Do not retain the inputs of a node, neither now nor when it is computed."""
    node.history = DISCARDED


def set_rule(node: Node, inputs: tuple[Node, ...], rule: Rule) -> None:
    """Give a node a custom backward rule.

    Args:
        node: the node.
        inputs: the nodes that receive cotangents.
        rule: maps the node's cotangent to one cotangent per input, None where an input
            has none; or the operation whose rule applies to these inputs.
    """
    on_leaf = is_grad_enabled() and any(map(depends_on_leaf, inputs))
    scope = _scope.get()
    if on_leaf or scope is not None or open_provenance() is not None:
        node.history = History(inputs, rule, on_leaf)
        if scope is not None and not on_leaf:
            scope.nodes.add(node)
    else:
        node.history = None


Hook = Callable[[Node], Node]

hooks: WeakKeyDictionary[Node, tuple[Hook, ...]] = WeakKeyDictionary()
"""Functions from the cotangent of a node to the one that goes on, in their order."""


def custom_rule(node: Node) -> Rule | None:
    """Return the custom backward rule of a node, None if it has none."""
    history = node.history
    return None if history is None else history.rule


def inputs_of(node: Node) -> tuple[Node, ...]:
    """Return the inputs of a backward pass through a node, retained ones included."""
    history = node.history
    if history is not None and (history.inputs or history.rule is not None):
        return history.inputs
    provenance = open_provenance()
    return node.inputs if provenance is None else provenance.inputs_of(node)


# Scopes: the transformations that differentiate functions.


@dataclass(slots=True, eq=False)
class Scope:
    """An open transformation, shared by those nested in it.

    Attributes:
        nodes: the nodes whose history ends with the scope.
        variables: the variables of the open transformations.
        outer: the enclosing scope, which records nothing any more.
        is_recording: whether nodes computed now retain their inputs.
        taken: for each nested transformation, the variables it differentiates by.
        levels: results of `variable_level`, cached.
    """

    nodes: WeakSet[Node] = field(default_factory=WeakSet)
    variables: WeakSet[Node] = field(default_factory=WeakSet)
    outer: Scope | None = None
    is_recording: bool = True
    taken: list[WeakSet[Node]] = field(default_factory=lambda: [WeakSet()])
    levels: WeakKeyDictionary[Node, int] = field(default_factory=WeakKeyDictionary)

    def retain(self, node: Node) -> None:
        """Retain the inputs of a node until the scope ends, if nothing else does."""
        history = node.history
        if history is None:
            node.history = History(node.inputs)
        elif isinstance(history, Leaf):
            history.inputs = node.inputs
        elif history.freed:
            node.history = History(node.inputs, on_leaf=True, freed=history.freed)
        else:
            return
        self.nodes.add(node)

    def close(self) -> None:
        """Free the histories that belong to this scope alone."""
        for node in self.nodes:
            history = node.history
            if history is not None:
                if history.on_leaf:
                    history.inputs = ()
                else:
                    node.history = None


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)
"""The scope of this thread or task."""


@contextmanager
def recording_history() -> Iterator[None]:
    """Retain the inputs of nodes computed inside a `with` block until it ends."""
    if open_blocks and is_making_constants():
        with _not_making_constants(), recording_history():
            yield
        return
    outer = _scope.get()
    if outer is not None and outer.is_recording:
        outer.taken.append(WeakSet())
        try:
            yield
        finally:
            if outer.taken.pop():
                outer.levels.clear()
        return
    scope = Scope(outer=outer)
    _scope.set(scope)
    try:
        yield
    finally:
        _scope.set(outer)
        scope.close()


@contextmanager
def recording_paused(is_outermost: bool) -> Iterator[None]:
    """Retain no inputs inside a `with` block that ends the open scope.

    Args:
        is_outermost: whether no enclosing transformation differentiates the nodes that
            the block builds; if False the block changes nothing.
    """
    scope = _scope.get()
    if scope is None or not is_outermost:
        yield
        return
    scope.is_recording = False
    try:
        yield
    finally:
        scope.is_recording = True


def is_differentiating() -> bool:
    """Whether a transformation that differentiates is open."""
    return _scope.get() is not None


def is_recording() -> bool:
    """Whether an open transformation retains the inputs of nodes computed now."""
    scope = _scope.get()
    return scope is not None and scope.is_recording


def add_variable(node: Node, *, is_taken: bool = True) -> None:
    """Register a variable of a transformation if a scope is open.

    Args:
        node: the variable, an alias of an argument's node.
        is_taken: whether the transformation differentiates by this variable.
    """
    scope = _scope.get()
    if scope is not None:
        scope.variables.add(node)
        if is_taken:
            scope.taken[-1].add(node)


def has_variables() -> bool:
    """Whether an open transformation has registered variables."""
    scope = _scope.get()
    return scope is not None and len(scope.variables) > 0


def is_variable(node: Node) -> bool:
    """Whether a node is a variable of an open transformation."""
    scope = _scope.get()
    while scope is not None:
        if node in scope.variables:
            return True
        scope = scope.outer
    return False


def variable_level(node: Node) -> int:
    """Return the count of nested derivatives, being taken now, that use a float node.

    A variable of an inner transformation that depends on an outer one's is an alias of
    it, so the result is the largest count of variables on a path to the node.
    """
    scope = _scope.get()
    if scope is None or not scope.is_recording or not any(scope.taken):
        return 0
    levels = scope.levels
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
        levels[one] = below + any(one in each for each in scope.taken)
        stack.pop()
    return levels[node]


_allowed: ContextVar[int] = ContextVar("allowed", default=0)
"""Count of the innermost derivatives that may be cut by a Python number."""


@contextmanager
def numbers_allowed(levels: int) -> Iterator[None]:
    """Allow Python numbers in a `with` block that has a custom derivative.

    Args:
        levels: how many more of the innermost derivatives may be cut.
    """
    token = _allowed.set(_allowed.get() + levels)
    try:
        yield
    finally:
        _allowed.reset(token)


def are_numbers_allowed() -> bool:
    """Whether the running code has a custom derivative."""
    return _allowed.get() > 0


def loses_derivative(node: Node) -> bool:
    """Whether converting a node to a Python number cuts a derivative being taken."""
    return _scope.get() is not None and variable_level(node) > _allowed.get()


# Blocks without gradients: `no_grad`.

open_blocks = 0
"""Count of open `no_grad` blocks in all threads."""

changed: list[ref[Any]] | None = None
"""Tensors that were assigned since a `no_grad` block opened; None outside of one."""

_constants: ContextVar[bool] = ContextVar("constants", default=False)


def is_making_constants() -> bool:
    """Whether tensors made now are constants for the enclosing transformation."""
    return _constants.get()


@contextmanager
def grad_disabled(*, constants: bool = False) -> Iterator[None]:
    """Build nodes that depend on no leaf inside a `with` block.

    With `constants`, tensors are also constants for the enclosing transformation.
    """
    global open_blocks
    open_blocks += 1
    tokens = grad_enabled.set(False), _constants.set(constants)
    try:
        yield
    finally:
        open_blocks -= 1
        grad_enabled.reset(tokens[0])
        _constants.reset(tokens[1])


@contextmanager
def _not_making_constants() -> Iterator[None]:
    """Undo `constants` for a transformation that begins inside `no_grad`."""
    token = _constants.set(False)
    try:
        yield
    finally:
        _constants.reset(token)


# Histories from which no leaf can be reached any more.


def _freed_among(sources: tuple[Node, ...]) -> History | None:
    """Return a freed history of `sources`, None if one of them reaches a leaf."""
    freed: History | None = None
    for source in sources:
        history = source.history
        if history is not None and history.on_leaf:
            if not history.freed:
                return None
            freed = history
    if freed is not None and (freed.inputs or isinstance(freed, Leaf)):
        return History(on_leaf=True, freed=freed.freed)
    return freed


class RetainedInputs:
    """Registry of weak references to computed nodes that retain inputs for `backward`.

    Some retained inputs become useless: those of a sum of losses whose backward passes
    are all done, or of values computed from an old value of a leaf. Nodes have no list
    of their consumers, so all are checked each time their count has doubled.
    """

    LEAST = 512

    def __init__(self) -> None:
        self._nodes: list[ref[Node]] = []
        self._limit = self.LEAST

    def add(self, node: Node) -> None:
        """Register a node; prune the registry when its count has doubled."""
        self._nodes.append(ref(node))
        if len(self._nodes) > self._limit:
            self.prune()

    def prune(self) -> None:
        """Free the retained inputs of nodes from which no leaf can be reached."""
        alive = [node for one in self._nodes if (node := one()) is not None]
        checked: set[Node] = set()
        for node in alive:
            _free_unreachable(node, checked)
        self._nodes = [ref(node) for node in alive if _may_be_unreachable(node)]
        self._limit = 2 * len(self._nodes) + self.LEAST


_retained = RetainedInputs()


def _free_unreachable(node: Node, checked: set[Node]) -> None:
    """Free the histories of a node and its ancestors if no leaf is reachable."""
    stack = [node]
    while stack:
        one = stack[-1]
        if one in checked or not _may_be_unreachable(one):
            stack.pop()
            continue
        sources = inputs_of(one)
        missing = [
            source
            for source in sources
            if source not in checked and _may_be_unreachable(source)
        ]
        if missing:
            stack += missing
            continue
        checked.add(one)
        one.history = _freed_among(sources) or one.history
        stack.pop()


def _may_be_unreachable(node: Node) -> bool:
    """Whether a node depends on leaves and its history is not known to be freed."""
    history = node.history
    return (
        history is not None
        and history.on_leaf
        and not history.freed
        and type(history) is not Leaf
    )
