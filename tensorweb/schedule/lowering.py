"""Turn a piece of the graph into expressions: movements go down to the loads.

Lowering a node asks for its value at a point of some index space. Movements between
the node and that space are carried along as a chain and applied to the views of the
loads at the bottom. `pad`, `concat` and `embed` become choices over index ramps, and
the loads under them get a guard, since a choice must not read outside a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tensorweb.graph.attributes import (
    Box,
    Expansion,
    Joining,
    Movement,
    Padding,
    Positions,
    Slices,
)
from tensorweb.graph.node import Node, attributes_of, movement_of
from tensorweb.graph.op import CONSTANT
from tensorweb.ops.structure import CAST
from tensorweb.schedule.kernel import Access, Expression, Step
from tensorweb.shapes import Shape
from tensorweb.view import View


class Link(NamedTuple):
    """A movement between a node and the index space, and those outside of it."""

    movement: Movement
    source: Node
    rest: Link | None


Chain = Link | None
"""Movements from the innermost outwards."""


class Blocked(Exception):  # a signal inside the scheduler, no error
    """A kernel cannot be built as it is; `nodes` must be stored first."""

    def __init__(self, *nodes: Node) -> None:
        """Name the nodes, for example the one below a reshape without strides."""
        super().__init__(*nodes)
        self.nodes = nodes


def move(view: View, chain: Chain) -> View:
    """Return a view after a chain of movements.

    Raises:
        Blocked: a reshape of the chain cannot be expressed by strides.
    """
    while chain is not None:
        moved = chain.movement.apply(view)
        if moved is None:
            raise Blocked(chain.source)
        view, chain = moved, chain.rest
    return view


class Bindings:
    """The input storages and constants of one kernel, shared by its expressions."""

    def __init__(self) -> None:
        """Start without inputs."""
        self.inputs: list[Node] = []
        self.scalars: list[Node] = []
        self._slots: dict[Node, int] = {}

    def input(self, base: Node) -> int:
        """Return the slot of a storage."""
        slot = self._slots.get(base)
        if slot is None:
            slot = self._slots[base] = len(self.inputs)
            self.inputs.append(base)
        return slot

    def scalar(self, node: Node) -> int:
        """Return the slot of a constant."""
        slot = self._slots.get(node)
        if slot is None:
            slot = self._slots[node] = len(self.scalars)
            self.scalars.append(node)
        return slot


class Space:
    """Builds one expression over one index space."""

    def __init__(
        self,
        bindings: Bindings,
        stored: set[Node],
        root: Node | None = None,
        core: Node | None = None,
        rows: Sequence[Node] = (),
    ) -> None:
        """Begin an empty expression.

        Args:
            bindings: the kernel's inputs, extended as loads appear.
            stored: the nodes that are computed by kernels of their own.
            root: the node this kernel computes; it is never loaded.
            core: the node whose value the kernel's core provides.
            rows: the reductions along rows that the kernel computes inside itself.
        """
        self.bindings = bindings
        self.stored = stored
        self.root = root
        self.core = core
        self.rows = {node: stage for stage, node in enumerate(rows)}
        self.steps: list[Step] = []
        self.views: list[View] = []
        self._step_numbers: dict[Step, int] = {}
        self._view_numbers: dict[View, int] = {}
        self._memo: dict[tuple[Node, int, int], int] = {}
        self._links: dict[tuple[type, Movement, Node, int], Link] = {}

    def add(self, step: Step) -> int:
        """Return the number of a step; equal steps are computed once."""
        number = self._step_numbers.get(step)
        if number is None:
            number = self._step_numbers[step] = len(self.steps)
            self.steps.append(step)
        return number

    def operation(self, name: str, dtype: str, *args: int) -> int:
        """Return the number of an elementwise step."""
        return self.add(Step("map", dtype, name, args=args))

    def access(self, view: View) -> int:
        """Return the number of an access."""
        number = self._view_numbers.get(view)
        if number is None:
            number = self._view_numbers[view] = len(self.views)
            self.views.append(view)
        return number

    def lower(self, node: Node, chain: Chain = None, guard: int = -1) -> int:
        """Return the step that holds a node's value seen through a chain.

        Raises:
            Blocked: a node must be stored before its values can be reached.
        """
        key = (node, id(chain), guard)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._lower(node, chain, guard)
        return found

    def _lower(self, node: Node, chain: Chain, guard: int) -> int:
        while True:
            base = node.base
            if base.storage is not None or (
                base in self.stored and base is not self.root
            ):
                return self.load(base, move(node.view, chain), guard)
            kind = node.op.kind
            if kind != "movement":
                break
            source = node.inputs[0]
            node, chain = source, self.link(movement_of(node), source, chain)
        if node is self.core:
            return self.add(Step("core", node.dtype.name))
        if node in self.rows:
            return self._lower_row(node, chain)
        lower = LOWERED.get(kind)
        if lower is None:
            raise AssertionError(f"internal: {node!r} is neither stored nor lowered")
        return lower(self, node, chain, guard)

    def _lower_row(self, node: Node, chain: Chain) -> int:
        """Return the step of a row's reduction, seen from elements of the same row.

        Raises:
            Blocked: the chain leads to other rows.
        """
        view = move(View.contiguous(node.shape), chain)
        own = View.contiguous((*node.shape, 1)).expand(view.shape)
        lengths = zip(view.shape, view.strides, own.strides, strict=True)
        if view.offset or any(n != 1 and a != b for n, a, b in lengths):
            raise Blocked(node)
        return self.add(Step("core", node.dtype.name, slot=self.rows[node]))

    def load(self, base: Node, view: View, guard: int) -> int:
        """Return the step that reads a storage through a view."""
        return self.add(
            Step(
                "load",
                base.dtype.name,
                slot=self.bindings.input(base),
                access=self.access(view),
                guard=guard,
            )
        )

    def link(self, movement: Movement, source: Node, rest: Chain) -> Link:
        """Return a longer chain; one object for equal ones, so that memo keys meet."""
        key = (type(movement), movement, source, id(rest))
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = Link(movement, source, rest)
        return found

    def lower_map(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of an elementwise operation."""
        args = []
        for source in node.inputs:
            is_number = source.op is CONSTANT and source.storage is None
            if is_number or source.shape == node.shape:
                args.append(self.lower(source, chain, guard))
            else:
                grown = self.link(Expansion(node.shape), source, chain)
                args.append(self.lower(source, grown, guard))
        if node.op is CAST:
            return self.add(Step("cast", node.dtype.name, args=tuple(args)))
        return self.operation(node.op.name, node.dtype.name, *args)

    def lower_copy(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of what is copied."""
        return self.lower(node.inputs[0], chain, guard)

    def lower_constant(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of a number."""
        slot = self.bindings.scalar(node)
        return self.add(Step("scalar", node.dtype.name, slot=slot))

    def lower_iota(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of an index ramp."""
        view = move(View.contiguous(node.shape), chain)
        return self._ramp(view, node.dtype.name)

    def lower_gather(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step that reads a storage at computed positions."""
        position = self.lower(node.inputs[1], chain, guard)
        return self.add(
            Step(
                "gather",
                node.dtype.name,
                slot=self.bindings.input(node.inputs[0].base),
                args=(position,),
                guard=guard,
                in_lines=attributes_of(node, Positions).in_lines,
            )
        )

    def _ramp(self, view: View, dtype: str = "int32") -> int:
        number = self.add(Step("ramp", "int32", access=self.access(view)))
        if dtype == "int32":
            return number
        return self.add(Step("cast", dtype, args=(number,)))

    def _coordinate(self, shape: Shape, axis: int, start: int, chain: Chain) -> int:
        """Return the step `index along axis - start`, seen through a chain."""
        unit = tuple(1 if a == axis else 0 for a in range(len(shape)))
        return self._ramp(move(View(shape, unit, -start), chain))

    def _number(self, value: int) -> int:
        """Return the step of a small fixed number, part of the kernel's structure."""
        return self.add(Step("scalar", "int32", name=str(value)))

    def _inside(
        self, shape: Shape, box: Sequence[tuple[int, int]], chain: Chain, guard: int
    ) -> int:
        """Return the bool step `point lies in the box`, a box of (start, length)."""
        inside = guard
        for axis, (start, length) in enumerate(box):
            if start <= 0 and start + length >= shape[axis]:
                continue
            along = self._coordinate(shape, axis, start, chain)
            unsigned = self.add(Step("cast", "uint32", args=(along,)))
            end = self.add(Step("cast", "uint32", args=(self._number(length),)))
            test = self.operation("less", "bool", unsigned, end)
            inside = (
                test
                if inside < 0
                else self.operation("logical_and", "bool", inside, test)
            )
        return inside

    def _part(
        self, outer: Node, part: Node, starts: Sequence[int], chain: Chain, guard: int
    ) -> tuple[int, int]:
        """Return (value, inside) of a part that lies at `starts` of `outer`."""
        box = [(s, n) for s, n in zip(starts, part.shape, strict=True)]
        inside = self._inside(outer.shape, box, chain, guard)
        ranges = tuple((-s, n, 1) for s, n in zip(starts, outer.shape, strict=True))
        shifted = self.link(Slices(ranges), part, chain)
        return self.lower(part, shifted, inside), inside

    def lower_concat(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step that chooses between parts one after another."""
        along = attributes_of(node, Joining).axis
        start = 0
        value = -1
        for part in node.inputs:
            starts = [start if axis == along else 0 for axis in range(len(node.shape))]
            here, inside = self._part(node, part, starts, chain, guard)
            value = here if value < 0 else self._choice(node, inside, here, value)
            start += part.shape[along]
        return value

    def lower_pad(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step that chooses between a tensor and its border."""
        inner, fill = node.inputs
        before = [first for first, _ in attributes_of(node, Padding).widths]
        value, inside = self._part(node, inner, before, chain, guard)
        return self._choice(node, inside, value, self.lower(fill, chain, guard))

    def lower_embed(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step that chooses between a box and what it is written over."""
        outer, written = node.inputs
        starts = attributes_of(node, Box).starts
        value, inside = self._part(node, written, starts, chain, guard)
        below = self.lower(outer, chain, guard)
        return value if inside == guard else self._choice(node, inside, value, below)

    def _choice(self, node: Node, inside: int, value: int, other: int) -> int:
        return self.operation("where", node.dtype.name, inside, value, other)

    def expression(self, result: int, groups: Sequence[Sequence[int]]) -> Expression:
        """Return the finished expression; `groups` are axes of the index space."""
        shape: Shape = self.views[0].shape if self.views else ()
        return finish(self.steps, self.views, result, groups, shape)


LOWERED: dict[str, Callable[[Space, Node, Chain, int], int]] = {
    "map": Space.lower_map,
    "copy": Space.lower_copy,
    "constant": Space.lower_constant,
    "iota": Space.lower_iota,
    "gather": Space.lower_gather,
    "pad": Space.lower_pad,
    "concat": Space.lower_concat,
    "embed": Space.lower_embed,
}
"""How a node is computed inside a kernel, by the name of its kind."""


def merge_axes(
    sizes: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Merge neighbouring axes that every access walks through evenly.

    Args:
        sizes: lengths of the axes.
        strides: one sequence per access, one stride per axis.

    >>> merge_axes((2, 3, 4), [(12, 4, 1), (4, 0, 1)])
    ((2, 3, 4), [(12, 4, 1), (4, 0, 1)])
    >>> merge_axes((2, 3, 4), [(12, 4, 1)])
    ((24,), [(1,)])
    """
    kept = [axis for axis, n in enumerate(sizes) if n != 1]
    merged: list[int] = []
    columns: list[list[int]] = []
    for axis in kept:
        column = [s[axis] for s in strides]
        n = sizes[axis]
        if merged and all(
            outer == inner * n for outer, inner in zip(columns[-1], column, strict=True)
        ):
            merged[-1] *= n
            columns[-1] = column
        else:
            merged.append(n)
            columns.append(column)
    return tuple(merged), [
        tuple(column[i] for column in columns) for i in range(len(strides))
    ]


def finish(
    steps: Sequence[Step],
    views: Sequence[View],
    result: int,
    groups: Sequence[Sequence[int]],
    shape: Shape,
) -> Expression:
    """Return an expression with its axes gathered in groups and merged there."""
    merged_groups = []
    strides_of: list[list[tuple[int, ...]]] = [[] for _ in views]
    for group in groups:
        sizes = [shape[axis] for axis in group] if shape else []
        merged, columns = merge_axes(
            sizes, [[v.strides[axis] for axis in group] for v in views] if views else []
        )
        merged_groups.append(merged if views else ())
        for collected, column in zip(strides_of, columns, strict=True):
            collected.append(column)
    accesses = tuple(
        Access(view.offset, tuple(strides))
        for view, strides in zip(views, strides_of, strict=True)
    )
    return Expression(tuple(merged_groups), accesses, tuple(steps), result)
