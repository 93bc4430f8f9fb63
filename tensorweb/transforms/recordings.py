"""Recordings of a function, and for which arguments each of them is right.

A signature is what equal calls share: shapes, dtypes and settings. Under it recordings
differ by how arguments look at their storages, and by the ranges of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorweb.graph.complex_pairs import like, pair_of
from tensorweb.graph.leaves import not_following
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

LAYOUTS_KEPT = 4
"""Layouts of a signature's views that are recorded as views; views of others are copied
first, so that windows over a long tensor do not record again and again."""

VARIANTS_KEPT = 4
"""Recordings of a signature for integers that lie in different ranges."""

Layout = tuple[View, Shape, int]
"""How an argument looks at its storage, the storage's shape, and the number of the
first argument that looks at the same one."""

Layouts = tuple[Layout | None, ...]
"""Of all arguments of a call; None where one is all of its storage."""


@dataclass(slots=True)
class Record:
    """A recorded call, and how its results and changes reach another caller.

    Attributes:
        replay: computes the nodes of `made` and of the written tensors.
        layouts: of each tensor of `holders` that is handed over as a view, else None.
        assumed: which tensors' integers must lie in which range for the recording to be
            right.
        promised: which of the replay's nodes are integers in a known range.
        captures: the values it has of tensors that are no arguments.
        holders: tensors and containers that the function was given.
        result: what it returned.
        made: tensors in the result and in changed containers that it was not given.
        written: indices in `holders` of tensors that got another value.
        changed: indices in `holders` of containers with other content.
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
        """Work out how results and changed containers are put together."""
        places = {id(h): n for n, h in enumerate((*self.holders, *self.made))}
        self._assembly = assembly(self.result, places)
        self._fillings = [
            (index, filling(self.holders[index], places)) for index in self.changed
        ]

    @property
    def is_alive(self) -> bool:
        """Whether the device lives, and captured tensors have the values they had."""
        return self.replay.is_alive and self.captures.is_current

    def holds(self, given: Sequence[Node]) -> bool:
        """Whether the recording is alive, and what was assumed of integers is true."""
        if not self.is_alive:
            return False
        for number, (least, most) in self.assumed:
            low, high = ends_within(given[number], least, most)
            if low < least or high > most:
                return False
        return True

    def __call__(self, holders: Sequence[Holder], given: Sequence[Node]) -> object:
        """Return the results for another caller's arguments, and change those."""
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
            with not_following():
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
        """Know none."""
        self._records: dict[Layouts, list[Record]] = {}
        self._last: Layouts | None = None
        self._found: list[Record] = []

    def layouts_of(self, given: Sequence[Node]) -> Layouts:
        """Return which tensors are handed over as views; none in too many manners."""
        return self._known(_layouts(given))

    def _known(self, layouts: Layouts) -> Layouts:
        """Return layouts that are recorded or may be, else those without views."""
        is_known = layouts in self._records or len(self._records) < LAYOUTS_KEPT
        return layouts if is_known else (None,) * len(layouts)

    def find(self, given: Sequence[Node]) -> Record | None:
        """Return a recording that is right for some arguments."""
        layouts = _layouts(given)
        if layouts != self._last:
            self._found = self._records.get(self._known(layouts), [])
            self._last = layouts
        for record in self._found:
            if record.holds(given):
                return record
        return None

    def keep(self, record: Record) -> None:
        """Add a recording; the oldest of too many goes, and those out of date."""
        records = self._records.setdefault(tuple(record.layouts), [])
        self._last = None
        alive = [each for each in records if each.is_alive]
        records[:] = [*alive[-VARIANTS_KEPT + 1 :], record]


def _layouts(given: Sequence[Node]) -> Layouts:
    """Return how arguments look at storages of others, None where they do not."""
    firsts: dict[Node, int] = {}
    return tuple(
        [
            None if node.owner is None else _layout_of(node, firsts, number)
            for number, node in enumerate(given)
        ]
    )


def _layout_of(node: Node, firsts: dict[Node, int], number: int) -> Layout | None:
    """Return how a node looks at the storage of another one, None if it does not.

    Integers are told apart also in one storage, since their ranges are looked at.
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
    """Return what stands for values, views where they are handed over as such.

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
    """Return stand-ins for tensors and containers, and what the latter hold.

    Args:
        given: tensors and containers of the arguments.
        inputs: what stands for the values of the tensors.
        updated: objects that stay what they are, by identity.
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
