"""Recordings of a compiled function, and the arguments for which each is valid.

A signature is shared by calls with equal shapes, dtypes and settings. Recordings of one
signature differ by the arguments' views of their storages and by integer ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.complex_pairs import like, pair_of
from tensorweb.graph.node import Node, leaf, view_of
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.tracing import Captures, Placeholder
from tensorweb.lookups.keys import ends_within
from tensorweb.nodes.ranges import Interval, promise_interval
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.in_place import is_number_of_its_own, mark_number
from tensorweb.transforms.jit_state import Gradients
from tensorweb.transforms.tree_codec import Assembly, Values, assembly, filling
from tensorweb.trees import Content, Holder, content_of, empty_like, fill
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
    _assembly: Assembly = field(init=False)
    _fillings: list[tuple[int, Callable[[Any, Values], None]]] = field(init=False)

    def __post_init__(self) -> None:
        """Prepare how results and changed containers are rebuilt."""
        places = {id(h): n for n, h in enumerate((*self.holders, *self.made))}
        self._assembly = assembly(self.result, places)
        self._fillings = [
            (index, filling(self.holders[index], places)) for index in self.changed
        ]

    @property
    def is_alive(self) -> bool:
        """Whether the device is alive and captured tensors have not changed."""
        return self.replay.is_alive and self.captures.is_current

    def holds(self, given: Sequence[Node]) -> bool:
        """Whether the recording is alive and the integers lie in the assumed ranges."""
        if not self.is_alive:
            return False
        for number, (least, most) in self.assumed:
            low, high = ends_within(given[number], least, most)
            if low < least or high > most:
                return False
        return True

    def __call__(self, holders: Sequence[Holder], given: Sequence[Node]) -> object:
        """Replay with other arguments: return the results and update the arguments."""
        pairs = zip(given, self.layouts, strict=True)
        nodes = self.replay([node.base if layout else node for node, layout in pairs])
        for number, interval in self.promised:
            promise_interval(nodes[number], *interval)
        values: list[Holder] = [*holders]
        for mine, pair in zip(self.made, nodes, strict=False):
            node = like(mine.node, pair)
            values.append(Tensor.around(node))
            if not node.shape:
                mark_number(node)
        if self.written:
            with grad_disabled():
                written = zip(self.written, nodes[len(self.made) :], strict=True)
                for index, node in written:
                    holder = holders[index]
                    holder._replace(like(holder.node, node))
        for index, fill_in in self._fillings:
            fill_in(holders[index], values)
            if isinstance(holders[index], Gradients):
                holders[index].hand_out()
        return self._assembly(values)


class Signature:
    """The recordings for arguments of the same shapes, dtypes and settings."""

    __slots__ = ("_found", "_last", "_records")

    def __init__(self) -> None:
        """Start without recordings."""
        self._records: dict[Layouts, list[Record]] = {}
        self._last: Layouts | None = None
        self._found: list[Record] = []

    def layouts_of(self, given: Sequence[Node]) -> Layouts:
        """Return the arguments' layouts, all None beyond the limit of layouts."""
        return self._known(_layouts(given))

    def _known(self, layouts: Layouts) -> Layouts:
        """Return layouts that are or may be recorded, otherwise all None."""
        is_known = layouts in self._records or len(self._records) < LAYOUTS_KEPT
        return layouts if is_known else (None,) * len(layouts)

    def find(self, given: Sequence[Node]) -> Record | None:
        """Return a recording that is valid for the arguments, or None."""
        layouts = _layouts(given)
        if layouts != self._last:
            self._found = self._records.get(self._known(layouts), [])
            self._last = layouts
        for record in self._found:
            if record.holds(given):
                return record
        return None

    def keep(self, record: Record) -> None:
        """Add a recording; drop the oldest above the limit and invalid ones."""
        records = self._records.setdefault(tuple(record.layouts), [])
        self._last = None
        alive = [each for each in records if each.is_alive]
        records[:] = [*alive[-VARIANTS_KEPT + 1 :], record]


def _layouts(given: Sequence[Node]) -> Layouts:
    """Return the layout of each argument, None where it owns its storage."""
    firsts: dict[Node, int] = {}
    return tuple(
        [
            None if node.owner is None else _layout_of(node, firsts, number)
            for number, node in enumerate(given)
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
    for number, (node, layout) in enumerate(zip(pairs, layouts, strict=True)):
        if layout and layout[2] != number:
            base = bases[layout[2]]
        else:
            shape = layout[1] if layout else node.shape
            base = leaf(Placeholder(), shape, node.dtype, node.device)
        whole = given[number]
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
