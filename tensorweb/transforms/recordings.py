"""Recordings of a compiled function, and the arguments for which each is valid.

A signature is shared by calls with equal shapes, dtypes and settings. Recordings of one
signature differ by the arguments' views of their storages and by integer ranges.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress, repeat
from operator import is_
from typing import TYPE_CHECKING, Any

from tensorweb.errors import TraceError
from tensorweb.graph.autograd import depends_on_leaf, grad_disabled, is_leaf_of
from tensorweb.graph.node import Node, is_grad_enabled, leaf, like, pair_of, view_of
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.tracing import Captures, Placeholder, Trace
from tensorweb.lookups import ends_within
from tensorweb.nodes.movement import stopped
from tensorweb.nodes.ranges import Interval, promise_interval
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase, become_leaf
from tensorweb.tensor.operators import is_number_of_its_own, mark_number
from tensorweb.tensor.views import base_or_self, other_views
from tensorweb.trees import (
    Builder,
    Content,
    Filler,
    Holder,
    attributes,
    builder,
    content_of,
    empty_like,
    fill,
    filler,
    flatten,
    is_changed,
    is_opened,
    tensor_key,
)
from tensorweb.view import View

if TYPE_CHECKING:
    from tensorweb.protocol import Replay


# Limit of layouts per signature that are recorded as views. Views of further layouts
# are copied first, so that sliding windows over a long tensor do not record at each
# call.
LAYOUTS_KEPT = 4

# Limit of recordings per layout, for integers of different ranges.
VARIANTS_KEPT = 4

Layout = tuple[View, Shape, int]
"""An argument's view of its storage, the storage's shape, and the index of the first
argument that views the same storage."""

Layouts = tuple[Layout | None, ...]
"""The layouts of all arguments of a call; None for an argument that is no view."""


@dataclass(slots=True)
class Record:
    """A recorded call, which can be replayed with other arguments.

    Attributes:
        replay: computes the nodes of `made` and of the written tensors.
        layouts: for each tensor of `holders` its layout if it is passed as a view, else
            None.
        assumed: indices of tensors and the integer ranges for which the recording is
            valid.
        promised: indices of replayed nodes and their known integer ranges.
        captures: values of captured tensors, which are no arguments.
        holders: tensors and containers that the function was given.
        result: the tree that it returned.
        made: new tensors in the result and in changed containers.
        written: indices in `holders` of tensors that were written.
        changed: indices in `holders` of containers that were changed.
    """

    replay: Replay
    layouts: Sequence[Layout | None]
    assumed: Sequence[tuple[int, Interval]]
    promised: Sequence[tuple[int, Interval]]
    captures: Captures
    holders: list[Holder]
    result: object
    made: list[TensorBase]
    written: list[int]
    changed: list[int]
    _build_result: Builder = field(init=False)
    _fillers: list[tuple[int, Filler]] = field(init=False)
    _has_views: bool = field(init=False)

    def __post_init__(self) -> None:
        """Prepare how results and changed containers are rebuilt."""
        indices = {id(h): n for n, h in enumerate((*self.holders, *self.made))}
        self._build_result = builder(self.result, indices)
        self._fillers = [(n, filler(self.holders[n], indices)) for n in self.changed]
        self._has_views = any(self.layouts)

    @property
    def is_alive(self) -> bool:
        """Whether the device is alive and captured tensors have not changed."""
        return self.replay.is_alive and self.captures.is_current

    def holds(self, nodes: Sequence[Node]) -> bool:
        """Whether the recording is alive and the integers lie in the assumed ranges."""
        if not self.is_alive:
            return False
        for number, (least, most) in self.assumed:
            low, high = ends_within(nodes[number], least, most)
            if low < least or high > most:
                return False
        return True

    def __call__(self, holders: Sequence[Holder], given: Sequence[Node]) -> object:
        """Replay with other arguments: return the results and update the arguments."""
        if self._has_views:
            pairs = zip(given, self.layouts, strict=True)
            given = [node.base if layout else node for node, layout in pairs]
        nodes = self.replay(given)
        for number, interval in self.promised:
            promise_interval(nodes[number], *interval)
        values: list[Holder] = [*holders]
        for mine, pair in zip(self.made, nodes, strict=False):
            node = like(mine.node, pair)
            values.append(Tensor.without_registering(node))
            if not node.shape:
                mark_number(node)
        if self.written:
            with grad_disabled():
                written = zip(self.written, nodes[len(self.made) :], strict=True)
                for index, node in written:
                    holder = holders[index]
                    holder._replace(like(holder.node, node))
        for index, fill_holder in self._fillers:
            fill_holder(holders[index], values)
            if isinstance(holders[index], Gradients):
                holders[index].hand_out()
        return self._build_result(values)


class Signature:
    """The recordings for arguments of the same shapes, dtypes and settings."""

    __slots__ = ("_found", "_last", "_records")

    def __init__(self) -> None:
        """Start without recordings."""
        self._records: dict[Layouts, list[Record]] = {}
        self._last: Layouts | None = None
        self._found: list[Record] = []

    def layouts_of(self, nodes: Sequence[Node]) -> Layouts:
        """Return the arguments' layouts, all None beyond the limit of layouts."""
        return self._known(_layouts(nodes))

    def _known(self, layouts: Layouts) -> Layouts:
        """Return layouts that are or may be recorded, otherwise all None."""
        is_known = layouts in self._records or len(self._records) < LAYOUTS_KEPT
        return layouts if is_known else (None,) * len(layouts)

    def find(self, nodes: Sequence[Node]) -> Record | None:
        """Return a recording that is valid for the arguments, or None."""
        layouts = _layouts(nodes)
        if layouts != self._last:
            self._found = self._records.get(self._known(layouts), [])
            self._last = layouts
        for record in self._found:
            if record.holds(nodes):
                return record
        return None

    def keep(self, record: Record) -> None:
        """Add a recording; drop the oldest above the limit and invalid ones."""
        records = self._records.setdefault(tuple(record.layouts), [])
        self._last = None
        alive = [value for value in records if value.is_alive]
        records[:] = [*alive[-VARIANTS_KEPT + 1 :], record]


def _layouts(nodes: Sequence[Node]) -> Layouts:
    """Return the layout of each argument, None where it owns its storage."""
    firsts: dict[Node, int] = {}
    return tuple(
        [
            None if node.owner is None else _layout_of(node, firsts, index)
            for index, node in enumerate(nodes)
        ]
    )


def _layout_of(node: Node, firsts: dict[Node, int], number: int) -> Layout | None:
    """Return the layout of a node that is a view, None if it is none.

    Integer views of one storage are distinguished, since each has its own range.
    """
    owner = node.owner
    if owner is None or (owner.op is CONSTANT and owner.storage is None):
        return None
    is_float = node.dtype.kind == "float"
    first = firsts.setdefault(owner, number) if is_float else number
    return node.view, owner.shape, first


def inputs_for(
    given: Sequence[Node], layouts: Sequence[Layout | None]
) -> tuple[list[Node], list[Node]]:
    """Return placeholders for values, as views where the layout asks for one.

    Returns:
        `(inputs, bases)`: views of one storage have one base. Complex inputs are
        handles on placeholders of pairs.
    """
    inputs: list[Node] = []
    bases: list[Node] = []
    pairs = [pair_of(node) for node in given]
    for index, (node, layout) in enumerate(zip(pairs, layouts, strict=True)):
        if layout and layout[2] != index:
            base = bases[layout[2]]
        else:
            shape = layout[1] if layout else node.shape
            base = leaf(Placeholder(), shape, node.dtype, node.device)
        whole = given[index]
        input_ = like(whole, view_of(base, layout[0]) if layout else base)
        if not whole.shape and is_number_of_its_own(whole):
            mark_number(input_)
        inputs.append(input_)
        bases.append(base)
    return inputs, bases


def placeholders(
    given: Sequence[Holder], inputs: Iterator[Node], updated: Mapping[int, Holder]
) -> tuple[list[Holder], list[Content]]:
    """Return stand-ins for tensors and containers, and the contents of the containers.

    Args:
        given: tensors and containers of the arguments.
        inputs: the placeholders of the tensors.
        updated: objects that are not replaced, by `id`.
    """
    stand_ins: dict[int, Holder] = dict(updated)
    for holder in given:
        if isinstance(holder, TensorBase):
            stand_ins[id(holder)] = Tensor(next(inputs), holder.name)
        else:
            stand_ins[id(holder)] = empty_like(holder)
    for holder in given:
        fill(stand_ins[id(holder)], holder, stand_ins)
    holders = [stand_ins[id(holder)] for holder in given]
    return holders, [content_of(holder) for holder in holders]


class Gradients(list[Any]):
    """The `grad` attributes of the updated tensors, as one more container."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        """Read the gradients of the tensors."""
        super().__init__([tensor.grad for tensor in tensors])
        self._tensors = tensors

    def take(self) -> None:
        """Read the current gradients of the tensors."""
        self[:] = [tensor.grad for tensor in self._tensors]

    def hand_out(self) -> None:
        """Assign these gradients to the tensors."""
        for tensor, gradient in zip(self._tensors, self, strict=True):
            tensor.grad = gradient


def as_updates(updates: object) -> tuple[Any, ...]:
    """Return the value of `updates=` as a tuple.

    Raises:
        TraceError: an object cannot be searched for tensors.
    """
    objects = updates if isinstance(updates, tuple) else (updates,)
    parts = [part for item in objects for part in _members(item)]
    for value in parts:
        if not isinstance(value, TensorBase | list | dict) and not is_opened(value):
            raise TraceError(
                f"jit: updates= holds {type(value).__name__}, in which no tensors can "
                "be found; list models, optimisers, generators, tensors, lists and "
                "dicts of them, or make its class a dataclass."
            )
    return objects


def _members(given: object) -> Sequence[object]:
    """Return the items of a nonempty list, otherwise a list with the value."""
    return given if isinstance(given, list) and given else [given]


class UpdatedState:
    """A cache of the tensors and containers of the updated objects.

    Checking that it is valid takes a tenth of the time of traversing the objects.
    """

    def __init__(self, updates: tuple[Any, ...]) -> None:
        """Traverse the objects."""
        self._updates = updates
        self._numbers: dict[Hashable, int] = {}
        self._find()

    def _find(self) -> None:
        """Traverse the objects and fill the cache."""
        self.holders: list[Holder] = []
        self.seen: dict[int, int] = {}
        structure = flatten(self._updates, self.holders, self.seen)
        # A write to a view also updates its base and the other views of the base.
        owners = (base_or_self(h) for h in self.holders if isinstance(h, TensorBase))
        structure = structure, flatten(tuple(owners), self.holders, self.seen)
        self._containers = [
            (holder, content_of(holder))
            for holder in self.holders
            if not isinstance(holder, TensorBase)
        ]
        self._tensors = [
            value for value in self.holders if isinstance(value, TensorBase)
        ]
        self._keys = list(map(tensor_key, self._tensors))
        self._is_leaf = [depends_on_leaf(tensor.node) for tensor in self._tensors]
        self._leaves = list(compress(self._tensors, self._is_leaf))
        key = structure, tuple(self._is_leaf)
        self._number = self._numbers.setdefault(key, len(self._numbers))

    def collect(self, holders: list[Holder], seen: dict[int, int]) -> Hashable:
        """Add tensors, containers and gradients; return the key of their structure.

        The key includes whether leaves are recorded for `backward`.

        Raises:
            TraceError: an object can be neither traversed nor part of a structure.
        """
        if (
            list(map(tensor_key, self._tensors)) != self._keys
            or [depends_on_leaf(tensor.node) for tensor in self._tensors]
            != self._is_leaf
            or any(is_changed(*pair) for pair in self._containers)
        ):
            self._find()
        holders += self.holders
        seen.update(self.seen)
        gradients = Gradients(self._leaves)
        if all(map(is_, gradients, repeat(None))):
            seen[id(gradients)] = len(holders)
            holders.append(gradients)
            return self._number, is_grad_enabled()
        return self._number, is_grad_enabled(), flatten(gradients, holders, seen)


class TracedUpdates:
    """The contents of the `updates` objects at a call, and the changes of its trace.

    Attributes:
        holders: tensors and containers, each once.
        views: tensors that share elements with these tensors, and change with them.
    """

    def __init__(self, holders: Sequence[Holder], nodes: Sequence[Node]) -> None:
        """Save the contents; `nodes` are the placeholders of the tensors."""
        self.holders = list(holders)
        self._before = [content_of(holder) for holder in holders]
        self._inputs = iter(nodes)
        self._set: list[Node | None] = []
        self.views: list[TensorBase] = []

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Let tensors hold placeholders inside of a `with` block, then restore them."""
        gradients = [h for h in self.holders if isinstance(h, Gradients)]
        tensors: list[Any] = [h for h in self.holders if isinstance(h, TensorBase)]
        old = [tensor.node for tensor in tensors]
        try:
            for holder in self.holders:
                self._set.append(
                    _hold(holder, next(self._inputs))
                    if isinstance(holder, TensorBase)
                    else None
                )
            for view, node in other_views(tensors):
                if not is_leaf_of(view.node, view):
                    tensors.append(view)
                    old.append(view.node)
                    view.node = node
                    self.views.append(view)
            yield
        finally:
            for tensor, node in zip(tensors, old, strict=True):
                tensor.node = node
            for holder, content in zip(self.holders, self._before, strict=True):
                put_back(holder, content)
            for gradient in gradients:
                gradient.hand_out()

    def written(self) -> list[int]:
        """Return the indices of holders that are tensors with another value."""
        return [
            index
            for index, (holder, node) in enumerate(
                zip(self.holders, self._set, strict=True)
            )
            if isinstance(holder, TensorBase) and holder.node is not node
        ]

    def changed(self) -> list[int]:
        """Return the indices of holders that are containers with other content."""
        for holder in self.holders:
            if isinstance(holder, Gradients):
                holder.take()
        return [
            index
            for index, (holder, content) in enumerate(
                zip(self.holders, self._before, strict=True)
            )
            if is_changed(holder, content)
        ]

    def stand_ins(self) -> dict[int, Holder]:
        """Return what a recording retains instead of the holders, by their `id`.

        The stand-ins hold no values, so that the values of the objects can be freed.
        """
        others: dict[int, Holder] = {
            id(holder): (
                empty_like(holder) if node is None else Tensor.without_registering(node)
            )
            for holder, node in zip(self.holders, self._set, strict=True)
        }
        for holder in self.holders:
            fill(others[id(holder)], holder, others)
        return others


def value_of(tensor: TensorBase) -> Node:
    """Return a tensor's value as a node that is no leaf."""
    if not is_leaf_of(tensor.node, tensor):
        return tensor.node
    with grad_disabled():
        return stopped(tensor.node)


def _hold(tensor: TensorBase, placeholder: Node) -> Node:
    """Assign a placeholder to a tensor, as a leaf if it is one; return its node."""
    if is_leaf_of(tensor.node, tensor):
        become_leaf(tensor, placeholder)
    else:
        tensor.node = placeholder
    return tensor.node


def put_back(holder: Holder, content: Any) -> None:
    """Restore the content of a container."""
    if not is_changed(holder, content):
        return
    if isinstance(holder, list):
        holder[:] = content
    elif isinstance(holder, dict):
        holder.clear()
        holder.update(content)
    else:
        for name in attributes(holder).keys() - content.keys():
            object.__delattr__(holder, name)
        for name, part in content.items():
            object.__setattr__(holder, name, part)


def refuse_outside_gradients(
    name: str, trace: Trace, known: Mapping[int, object]
) -> None:
    """Raise if `backward` changed the gradient of a tensor not in `updates=`.

    Raises:
        TraceError: it did; the old gradient is restored.
    """
    outside: list[Any] = [
        (tensor, old)
        for key, (reference, old) in trace.gradients.items()
        if key not in known and (tensor := reference()) is not None
    ]
    for tensor, old in outside:
        tensor.grad = old
    if outside:
        shape = outside[0][0].shape
        raise TraceError(
            f"jit: backward() in {name} adds to the grad of a tensor of shape {shape} "
            "that updates= does not hold, which a recording would do once only; list "
            "all that is trained, @tw.jit(updates=(model, opt))."
        )
