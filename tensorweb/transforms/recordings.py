"""Recordings of a function, and for which arguments each of them is right.

A signature is what equal calls share: shapes, dtypes and settings. Under it recordings
differ by how arguments look at their storages, and by the ranges of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorweb.graph.node import Node, leaf, view_of
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.tracing import Placeholder
from tensorweb.lookups.keys import ends_within
from tensorweb.nodes.ranges import Interval, promise_interval
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.in_place import is_number_of_its_own, mark_number
from tensorweb.trees import Holder, copied, empty_like, fill, rebuild
from tensorweb.view import View

if TYPE_CHECKING:
    from tensorweb.protocol import Replay

LAYOUTS_KEPT = 4
"""Layouts of a signature's views that are recorded as views; views of others are copied
first, so that windows over a long tensor do not record again and again."""

VARIANTS_KEPT = 4
"""Recordings of a signature for integers that lie in different ranges."""

Layout = tuple[View, Shape]
"""How an argument looks at its storage, and the storage's shape."""


@dataclass(slots=True)
class Record:
    """A recorded call, and how its results and changes reach another caller.

    Attributes:
        replay: computes the nodes of `made` and of the written tensors.
        layouts: of each tensor of `holders` that is handed over as a view, else None.
        assumed: which tensors' integers must lie in which range for the recording to be
            right.
        promised: which of the replay's nodes are integers in a known range.
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
    holders: list[Holder]
    result: object
    made: list[TensorBase]
    written: list[int]
    changed: list[int]

    def holds(self, given: Sequence[Node]) -> bool:
        """Whether the device lives, and what was assumed of integers is true."""
        if not self.replay.is_alive:
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
        others: dict[int, Holder] = {
            id(mine): theirs for mine, theirs in zip(self.holders, holders, strict=True)
        }
        for mine, node in zip(self.made, nodes, strict=False):
            others[id(mine)] = Tensor(node)
            if not node.shape:
                mark_number(node)
        for index, node in zip(self.written, nodes[len(self.made) :], strict=True):
            holder = holders[index]
            assert isinstance(holder, TensorBase), "internal: only tensors are written"
            holder._replace(node)
        for index in self.changed:
            fill(holders[index], self.holders[index], others)
        return rebuild(self.result, others)


class Signature:
    """The recordings for arguments of the same shapes, dtypes and settings."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        """Know none."""
        self._records: dict[tuple[Layout | None, ...], list[Record]] = {}

    def layouts_of(self, given: Sequence[Node]) -> tuple[Layout | None, ...]:
        """Return which tensors are handed over as views; none in too many manners."""
        layouts = tuple([_layout_of(node) if node.owner else None for node in given])
        is_known = layouts in self._records or len(self._records) < LAYOUTS_KEPT
        return layouts if is_known else (None,) * len(layouts)

    def find(self, given: Sequence[Node]) -> Record | None:
        """Return a recording that is right for some arguments."""
        for record in self._records.get(self.layouts_of(given), ()):
            if record.holds(given):
                return record
        return None

    def keep(self, record: Record) -> None:
        """Add a recording; the oldest of too many goes, and those of lost devices."""
        records = self._records.setdefault(tuple(record.layouts), [])
        alive = [each for each in records if each.replay.is_alive]
        records[:] = [*alive[-VARIANTS_KEPT + 1 :], record]


def _layout_of(node: Node) -> Layout | None:
    """Return how a node looks at the storage of another one, None if it does not."""
    owner = node.owner
    if owner is None or (owner.op is CONSTANT and owner.storage is None):
        return None
    return node.view, owner.shape


def _placeholder(node: Node, layout: Layout | None) -> Node:
    """Return what stands for an argument, a view where it is handed over as one."""
    shape = layout[1] if layout else node.shape
    base = leaf(Placeholder(), shape, node.dtype, node.device)
    return view_of(base, layout[0]) if layout else base


def placeholders(
    given: Sequence[Holder], layouts: Sequence[Layout | None]
) -> tuple[list[Holder], list[Holder]]:
    """Return stand-ins for tensors and containers, and copies of the latter."""
    stand_ins: dict[int, Holder] = {}
    left = iter(layouts)
    for holder in given:
        if isinstance(holder, TensorBase):
            node = holder.node
            input_ = _placeholder(node, next(left))
            if not node.shape and is_number_of_its_own(node):
                mark_number(input_)
            stand_ins[id(holder)] = Tensor(input_, holder.name)
        else:
            stand_ins[id(holder)] = empty_like(holder)
    for holder in given:
        fill(stand_ins[id(holder)], holder, stand_ins)
    holders = list(stand_ins.values())
    return holders, [copied(holder) for holder in holders]
