"""Nodes: an operation on other nodes, or an existing value.

A node's shape and dtype are fixed when it is built. A computed node has a `storage` and
drops its inputs, so a loop retains values and not all earlier iterations; its history
may retain them for a backward pass (`graph/autograd.py`).

A complex node has no storage, and no kernel reads one. Its only input, the pair, is a
float node with an additional last axis of length 2: real and imaginary part. Builders
use the pair or its parts (`nodes/complex_parts.py`); devices compute with floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn, TypeAlias, TypeVar
from weakref import ref

from tensorweb import frames
from tensorweb.dtypes import DType, complex_with, rounded_to
from tensorweb.graph.attributes import Attributes, Movement, Number
from tensorweb.graph.op import COMPLEX, CONSTANT, LEAF, Op
from tensorweb.graph.storage import Storage
from tensorweb.shapes import Shape, size
from tensorweb.view import View

STRUCTURES_KEPT = 1 << 16

_structures: dict[tuple[Hashable, ...], int] = {}
_numbers = itertools.count(1)


def structure_id(*parts: Hashable) -> int:
    """Return an id for a tuple of parts; equal tuples get equal ids.

    An id is never reused: when the table is full it is cleared, and tuples get new ids.
    """
    number = _structures.get(parts)
    if number is None:
        if len(_structures) >= STRUCTURES_KEPT:
            _structures.clear()
        number = _structures[parts] = next(_numbers)
    return number


T = TypeVar("T")


class Cache(dict[Hashable, T]):
    """Bounded cache of checks of operands; clearing it never changes results."""

    __slots__ = ()

    MOST = 4096

    def keep(self, key: Hashable, value: T) -> None:
        """Cache a value; clears the cache first when it is full."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = value


LARGE_SHIFT = 19
"""A stored result adds 1 to the depth for every 2**19 elements."""

VIEWS_KEPT = 8
"""Largest depth of a view of a computed value; `explain` names that many views."""


class Node:
    """An operation in the graph, or an existing value.

    Attributes:
        op: the entry of the op table.
        inputs: the nodes it reads; empty once computed.
        attrs: the other parameters of the operation; see `graph/attributes.py`.
        shape, dtype, device: those of the result.
        depth: length of the longest path to a computed node, 0 for a computed one;
            large storages on the path count more, so that a limit bounds memory too.
        owner: for a view, the node that owns the storage; None for all other nodes.
        base: the owner, or the node itself.
        view: shape, strides and offset in the base's storage.
        storage: the device's storage or host bytes once computed, else None.
        structure: see `structure_of`; 0 until it is first requested.
        mark: the state that flushes record, `FRESH`, `WANTED` or `KEPT`; or a weak
            reference to the tensor that was assigned this value, which flushes store.
        history: how it was made, for backward passes; None if none needs that.
        location: the line of the user's program that built it; set only if recorded.
    """

    __slots__ = (
        "__weakref__",
        "_view",
        "attrs",
        "depth",
        "device",
        "dtype",
        "history",
        "inputs",
        "location",
        "mark",
        "op",
        "owner",
        "shape",
        "storage",
        "structure",
    )

    def __init__(
        self,
        op: Op,
        inputs: tuple[Node, ...],
        attrs: Attributes,
        shape: Shape,
        dtype: DType,
        device: str,
        base: Node | None = None,
        view: View | None = None,
        structure: int = 0,
    ) -> None:
        """Build a node; callers have checked shapes, dtypes and devices."""
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.owner = base
        self._view = view
        self.storage: Storage | None = None
        self.structure = structure
        self.mark: int | ref[Any] = FRESH
        depth = 0
        history = None
        for node in inputs:
            if node.depth >= depth:
                if node.depth > VIEWS_KEPT:
                    owner = node.owner
                    if owner is not None and owner.storage is not None:
                        node.depth = VIEWS_KEPT
                depth = max(depth, node.depth + 1)
            if node.history is not None and node.history.on_leaf:
                history = DERIVED
        if history is not None and (dtype.kind != "float" or not is_grad_enabled()):
            history = None
        self.history: History | None = history
        if op.is_stored:
            depth += size(shape) >> LARGE_SHIFT
        self.depth: int = depth
        if frames.left > 0:
            self.location = frames.here()

    @property
    def base(self) -> Node:
        """The node that owns the storage of this one, maybe the node itself."""
        # `owner` is None instead of the node itself, which would be a reference cycle.
        return self if self.owner is None else self.owner

    @property
    def view(self) -> View:
        """Shape, strides and offset in the base's storage."""
        if self._view is None:
            self._view = View.contiguous(self.shape)
        return self._view

    def reshaped_view(self, shape: Shape) -> View | None:
        """Return the view of the same elements under another shape, if there is one."""
        if self._view is None:
            return View.contiguous(shape)
        return self._view.reshape(shape)

    @property
    def is_computed(self) -> bool:
        """Whether the value exists, on the host or on the device."""
        return self.base.storage is not None

    @property
    def size(self) -> int:
        """Number of elements."""
        return size(self.shape)

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: structure ids and storages belong to this process."""
        raise TypeError("a node cannot be copied or pickled; its tensor can.")

    def __repr__(self) -> str:
        """Return operation, dtype and shape for debugging."""
        state = " computed" if self.is_computed else ""
        return f"<{self.op.name} {self.dtype}{list(self.shape)} {self.device}{state}>"


Rule: TypeAlias = "Callable[[Node], tuple[Node | None, ...]] | Op"
"""A custom backward rule: maps a cotangent to one cotangent per input, None where an
input has none; or the operation whose rule is used."""


class History:
    """How a node was made, for backward passes.

    Attributes:
        inputs: the retained inputs of a computed node; those of a custom rule.
        rule: the custom backward rule.
        on_leaf: whether the node depends on a leaf of `backward`.
        freed: why no backward pass can reach a leaf any more; empty if one can.
    """

    __slots__ = ("freed", "inputs", "on_leaf", "rule")

    def __init__(
        self,
        inputs: tuple[Node, ...] = (),
        rule: Rule | None = None,
        on_leaf: bool = False,
        freed: str = "",
    ) -> None:
        self.inputs = inputs
        self.rule = rule
        self.on_leaf = on_leaf
        self.freed = freed


DERIVED = History(on_leaf=True)
"""The history of an uncomputed node that depends on a leaf."""

grad_enabled: ContextVar[bool] = ContextVar("grad_enabled", default=True)


def is_grad_enabled() -> bool:
    """Whether nodes built now record their dependency on leaves."""
    return grad_enabled.get()


FRESH, WANTED, KEPT = range(3)
"""Marks of nodes. FRESH: no flush has computed it. WANTED: an earlier flush computed
the value without storing it, so the next flush that needs it stores it. KEPT: it was
stored for that reason."""


A = TypeVar("A")


def attributes_of(node: Node, kind: type[A]) -> A:
    """Return a node's attributes, checked to be an instance of `kind`."""
    attrs = node.attrs
    assert isinstance(attrs, kind), f"internal: {node!r} carries no {kind.__name__}"
    return attrs


def movement_of(node: Node) -> Movement:
    """Return the movement that maps the input's view to the node's view."""
    attrs = node.attrs
    assert isinstance(attrs, Movement), f"internal: {node!r} is no movement"
    return attrs


def number_of_constant(node: Node) -> Number:
    """Return the value of a constant node."""
    number = node.attrs
    assert isinstance(number, bool | int | float), f"internal: {node!r} is no constant"
    return number


def structure_of(node: Node) -> int:
    """Return the id that nodes of equal structure share, cached in the node.

    The structure is the operation, its attributes (but not a constant's value), shape,
    dtype and count of inputs; for a computed node it is dtype and shape.
    """
    if node.structure:
        return node.structure
    if node.storage is not None:
        node.structure = structure_id(node.dtype, node.shape)
    else:
        attrs = None if node.op is CONSTANT else node.attrs
        count = len(node.inputs)
        node.structure = structure_id(node.op, attrs, node.shape, node.dtype, count)
    return node.structure


class _Complex(Node):
    """A complex value: a handle on a float node of pairs, which has the history."""

    __slots__ = ()

    @property
    def history(self) -> History | None:
        """The history of the pairs."""
        return self.inputs[0].history

    @history.setter
    def history(self, value: History | None) -> None:
        """Set the history of the pairs, except to None, as `__init__` does."""
        if value is not None:
            self.inputs[0].history = value


def complex_of(pair: Node) -> Node:
    """Return pairs `(…, 2)` of float32 or float64 as complex numbers `(…)`."""
    view = pair.view
    shape = view.shape[:-1]
    return _Complex(
        COMPLEX,
        (pair,),
        None,
        shape,
        complex_with(pair.dtype),
        pair.device,
        pair.base,
        View(shape, view.strides[:-1], view.offset),
    )


def leaf(storage: Storage, shape: Shape, dtype: DType, device: str) -> Node:
    """Return a node for an existing storage; of pairs of floats for complex dtypes."""
    if dtype.kind == "complex":
        return complex_of(leaf(storage, (*shape, 2), dtype.part, device))
    node = Node(LEAF, (), None, shape, dtype, device)
    node.storage = storage
    return node


def view_of(base: Node, view: View) -> Node:
    """Return a node that is a view of a computed node's storage."""
    return Node(LEAF, (base,), None, view.shape, base.dtype, base.device, base, view)


def constant(value: complex, dtype: DType, device: str, shape: Shape = ()) -> Node:
    """Return a node whose elements all have one value; it has no storage until read."""
    kind = dtype.kind
    if kind == "complex":
        return complex_constants[0](value, dtype, device, shape)
    number: float
    if kind == "float":
        number = value if type(value) is float else float(value.real)
        # Kernels compute in float32 and must not see more digits than 16 bits store.
        if dtype.wide is not dtype:
            number = rounded_to(number, dtype)
    else:
        number = bool(value) if kind == "bool" else int(value.real)
    node = Node(CONSTANT, (), number, shape, dtype, device)
    structure = _constants.get((shape, dtype))
    if structure is None:
        _constants.keep((shape, dtype), structure_of(node))
    else:
        node.structure = structure
    return node


complex_constants: list[Callable[[complex, DType, str, Shape], Node]] = []
"""The builder of complex constants, registered by `nodes/complex_parts.py`."""

_constants: Cache[int] = Cache()
"""Cached structures of constants by shape and dtype."""


def ancestors(outputs: Sequence[Node]) -> list[Node]:
    """Return the uncomputed nodes that outputs depend on and the computed inputs.

    The order is topological: inputs come before their consumers.
    """
    order: dict[Node, None] = {}
    stack: list[Node] = []
    for node in outputs:
        while True:
            waits_for = None
            if node not in order and (node.owner or node).storage is None:
                for source in node.inputs:
                    if source in order:
                        continue
                    if source.storage is None and source.inputs:
                        waits_for = source
                        break
                    order[source] = None
            if waits_for is not None:
                stack.append(node)
                node = waits_for
                continue
            order[node] = None
            if not stack:
                break
            node = stack.pop()
    return list(order)


def pair_of(node: Node) -> Node:
    """Return the pair of a complex node, any other node unchanged."""
    return node.inputs[0] if node.op is COMPLEX else node


def pairs_of(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return nodes with each complex node replaced by its pair."""
    for node in nodes:
        if node.op is COMPLEX:
            return [pair_of(each) for each in nodes]
    return nodes


def like(node: Node, pair: Node) -> Node:
    """Return `pair` as a complex node if `node` is complex, else unchanged."""
    return complex_of(pair) if node.op is COMPLEX else pair


def element_view(node: Node) -> View:
    """Return a node's view with strides and offset in elements of its own dtype."""
    view = node.view
    if node.op is not COMPLEX:
        return view
    strides = tuple([stride // 2 for stride in view.strides])
    return View(view.shape, strides, view.offset // 2)


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
