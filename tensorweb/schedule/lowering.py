"""Lower a part of the graph to expressions: movements are folded into the loads.

A node is lowered to its value at an index of some index space. Movements between the
node and that space are carried along as a chain and applied to the views of the loads.
`pad`, `concat` and `embed` become selects over index ramps, and the loads below them
are guarded, because a select evaluates both sides and must not read out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence

from tensorweb.graph.attributes import (
    Box,
    Expansion,
    Joining,
    Movement,
    Padding,
    Reshape,
    Slices,
    Taking,
)
from tensorweb.graph.node import Node, attributes_of, movement_of
from tensorweb.graph.op import CONSTANT, Role, kinds_of
from tensorweb.ops.structure import ALIAS, CAST
from tensorweb.schedule import policy
from tensorweb.schedule.kernel import Access, Expression, Rule, Step
from tensorweb.schedule.refining import Blocked, Chain, Link, move, refined, split_first
from tensorweb.shapes import Shape
from tensorweb.view import View

COMPUTED = kinds_of(Role.INLINE, Role.CHOICE)
"""Kinds that a kernel computes."""

NO_CHAIN = id(None)
"""The empty chain in memo keys."""


class Bindings:
    """The input storages and constants of one kernel, shared by its expressions."""

    def __init__(self, numbers: Mapping[Node, int], equal: Mapping[Node, Node]) -> None:
        """Start without inputs.

        Args:
            numbers: indices of the graph's nodes.
            equal: constants by the equal constant to pass.
        """
        self.numbers = numbers
        self._equal = equal
        self.inputs: list[Node] = []
        self.scalars: list[Node] = []
        self._input_slots: dict[Node, int] = {}
        self._scalar_slots: dict[Node, int] = {}

    def input(self, base: Node) -> int:
        """Return the slot of a storage."""
        slot = self._input_slots.get(base)
        if slot is None:
            slot = self._input_slots[base] = len(self.inputs)
            self.inputs.append(base)
        return slot

    def keep(self, inputs: int, scalars: int) -> None:
        """Drop all inputs and constants but the first ones."""
        for node in self.inputs[inputs:]:
            del self._input_slots[node]
        for node in self.scalars[scalars:]:
            del self._scalar_slots[node]
        del self.inputs[inputs:], self.scalars[scalars:]

    def scalar(self, node: Node) -> int:
        """Return the slot of a constant, or of the equal constant passed for it."""
        node = self._equal.get(node, node)
        slot = self._scalar_slots.get(node)
        if slot is None:
            slot = self._scalar_slots[node] = len(self.scalars)
            self.scalars.append(node)
        return slot


class Space:
    """Builds one expression over one index space."""

    def __init__(
        self,
        bindings: Bindings,
        stored: Container[Node],
        root: Node | None = None,
        core: Node | None = None,
        rows: Sequence[Node] = (),
        inner: int = 1,
        others: Collection[Node] = (),
    ) -> None:
        """Begin an empty expression.

        Args:
            bindings: the kernel's inputs, extended as loads appear.
            stored: the nodes that are computed by kernels of their own.
            root: the node that this kernel computes; it is never loaded.
            core: the node whose value the kernel's core provides.
            rows: the reductions along rows that the kernel computes inside itself.
            inner: how many of the last axes form a row.
            others: further nodes that it computes; never loaded either.
        """
        self.bindings = bindings
        self.stored = stored
        self.own = {root, *others}
        self.core = core
        self.rows = {node: stage for stage, node in enumerate(rows)}
        self.inner = inner
        self._begin()

    def _begin(self) -> None:
        """Start over without steps."""
        self.steps: list[Step] = []
        self.views: list[View] = []
        self._step_numbers: dict[Step, int] = {}
        self._view_numbers: dict[View, int] = {}
        self._memo: dict[tuple[Node, int, int], int] = {}
        self._origins: dict[int, Node] = {}
        self._links: dict[tuple[type, Movement, Node, int], Link] = {}
        self._place = NO_CHAIN

    def add(self, step: Step) -> int:
        """Return the index of a step; equal steps are added once."""
        number = self._step_numbers.get(step)
        if number is None:
            number = self._step_numbers[step] = len(self.steps)
            self.steps.append(step)
        return number

    def operation(self, name: str, dtype: str, *args: int) -> int:
        """Return the index of an elementwise step."""
        return self.add(Step("map", dtype, name, args=args))

    def access(self, view: View) -> int:
        """Return the index of an access; views of equal addresses are added once."""
        view = _canonical(view)
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

    def lower_finely(self, *nodes: Node) -> tuple[list[int], Shape]:
        """Return the steps that hold the nodes' values, and the shape of the space.

        Its axes are the nodes' axes, split where a reshape below has no strides.

        Raises:
            Blocked: a node must be stored before its values can be reached.
        """
        inputs, scalars = len(self.bindings.inputs), len(self.bindings.scalars)
        chain: Chain = None
        first_node, shape = nodes[0], nodes[0].shape
        first: Blocked | None = None
        while True:
            try:
                return [self.lower(node, chain) for node in nodes], shape
            except Blocked as blocked:
                first = first or blocked
                finer = refined(blocked.link, shape)
            if finer is None or len(finer) > policy.MOST_AXES:
                raise first
            self._begin()
            self.bindings.keep(inputs, scalars)
            shape, chain = finer, self.link(Reshape(finer), first_node, None)
            self._place = id(chain)

    def _lower(self, node: Node, chain: Chain, guard: int) -> int:
        while True:
            base = node.base
            if base.storage is not None or (
                base in self.stored and base not in self.own
            ):
                step = self.load(base, move(node.view, chain), guard)
                self._origins.setdefault(step, base)
                return step
            kind = node.op.kind
            if kind != "movement":
                break
            source = node.inputs[0]
            chain = self._longer(node, source, chain)
            node = source
        if node is self.core:
            step = self.add(Step("core", node.dtype.name))
        elif node in self.rows:
            step = self._lower_row(node, chain)
        else:
            lower = LOWERED.get(kind)
            if lower is None:
                raise AssertionError(f"internal: {node!r} is not stored or lowered")
            step = lower(self, node, chain, guard)
        self._origins.setdefault(step, node)
        return step

    def _longer(self, node: Node, source: Node, chain: Chain) -> Chain:
        """Prepend a node's movement to a chain, and merge consecutive reshapes.

        A reshape that splits axes moves before a permutation, so that it can cancel
        the reshape that merged them.
        """
        if node.op is ALIAS:  # it moves nothing, and chains of it would multiply
            return chain
        movement = movement_of(node)
        if chain is None or type(chain.movement) is not Reshape:
            return self.link(movement, source, chain)
        finer = chain.movement.shape
        if type(movement) is Reshape:
            rest = chain.rest
            return (
                rest
                if finer == source.shape
                else self.link(Reshape(finer), source, rest)
            )
        refined = split_first(movement, source.shape, finer)
        if refined is None:
            return self.link(movement, source, chain)
        split, order = refined
        return self.link(split, source, self.link(order, node, chain.rest))

    def _lower_row(self, node: Node, chain: Chain) -> int:
        """Return the step of a row's reduction, read by elements of the same row.

        Raises:
            Blocked: the chain leads to other rows.
        """
        view = move(View.contiguous(node.shape), chain)
        widened = (*node.shape, *(1 for _ in range(self.inner)))
        own = View.contiguous(widened).expand(view.shape)
        lengths = zip(view.shape, view.strides, own.strides, strict=True)
        if view.offset or any(n != 1 and a != b for n, a, b in lengths):
            raise Blocked(Rule.OTHER_ROWS, node)
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
        """Return a longer chain; equal chains are one object, as memo keys need."""
        key = (type(movement), movement, source, id(rest))
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = Link(movement, source, rest)
        return found

    def lower_map(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of an elementwise operation."""
        args = []
        for source in node.inputs:
            is_stored = source.storage is not None or source in self.stored
            is_number = source.op is CONSTANT and not is_stored
            if is_number or source.shape == node.shape:
                args.append(self.lower(source, chain, guard))
            else:
                grown = self.link(Expansion(node.shape), source, chain)
                args.append(self.lower(source, grown, guard))
        if node.op is CAST:
            return self.add(Step("cast", node.dtype.name, args=tuple(args)))
        return self.operation(node.op.name, node.dtype.name, *args)

    def lower_copy(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of a copy's input."""
        return self.lower(node.inputs[0], chain, guard)

    def lower_constant(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of a constant."""
        slot = self.bindings.scalar(node)
        return self.add(Step("scalar", node.dtype.name, slot=slot))

    def lower_iota(self, node: Node, chain: Chain, guard: int) -> int:
        """Return the step of an index ramp."""
        view = move(View.contiguous(node.shape), chain)
        return self.ramp(view, node.dtype.name)

    def ramp(self, view: View, dtype: str = "int32") -> int:
        """Return the step whose value is the offset that a view reaches."""
        number = self.add(Step("ramp", "int32", access=self.access(view)))
        if dtype == "int32":
            return number
        return self.add(Step("cast", dtype, args=(number,)))

    def lower_in_order(self, nodes: Sequence[Node]) -> None:
        """Lower the elementwise ancestors of nodes, inputs first.

        Avoids deep recursion: chains may be longer than Python's recursion limit.
        """
        seen: set[Node] = set()
        stack = [(node, False) for node in reversed(nodes)]
        while stack:
            node, is_ready = stack.pop()
            if is_ready:
                self.lower(node)
                continue
            if node in seen:
                continue
            seen.add(node)
            stack.append((node, True))
            for source in reversed(node.inputs):
                is_read = source.storage is not None or source in self.stored
                is_here = source.op.kind == "map" and source.shape == node.shape
                if is_here and (source in self.own or not is_read):
                    stack.append((source, False))

    @property
    def inside(self) -> Iterator[Node]:
        """The nodes that are computed at the index of the kernel's result."""
        for node, chain, guard in self._memo:
            is_here = chain == self._place and guard < 0 and node.op.kind in COMPUTED
            is_read = node.storage is not None or node in self.stored
            if is_here and (node in self.own or not is_read):
                yield node

    def reads_in_place(self, slot: int, view: View) -> bool:
        """Whether all reads of an input are unguarded loads through this view."""
        view = _canonical(view)
        return all(
            step.kind == "load" and step.guard < 0 and self.views[step.access] == view
            for step in self.steps
            if step.kind in ("load", "gather") and step.slot == slot
        )

    def expression(self, result: int, groups: Sequence[Sequence[int]]) -> Expression:
        """Return the finished expression; `groups` are axes of the index space."""
        shape: Shape = self.views[0].shape if self.views else ()
        numbers, origins = self.bindings.numbers, self._origins
        nodes = [
            numbers.get(origins[step], -1) if step in origins else -1
            for step in range(len(self.steps))
        ]
        return finish(self.steps, self.views, result, groups, shape, nodes)


def _canonical(view: View) -> View:
    """Return the view with stride 0 along axes of length 1, which are never stepped.

    Two loads of one address would be two values to `fences` in `codegen/`, and one to a
    driver's compiler, which then takes their difference for 0, also that of NaN.
    """
    if 1 not in view.shape:
        return view
    pairs = zip(view.shape, view.strides, strict=True)
    strides = tuple(0 if n == 1 else stride for n, stride in pairs)
    return View(view.shape, strides, view.offset)


# Expressions: group the axes and merge contiguous neighbours.


def merge_axes(
    sizes: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Merge neighbouring axes that are contiguous in every access.

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
    nodes: Sequence[int],
) -> Expression:
    """Return an expression with its axes grouped, and merged inside each group."""
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
    inside = tuple(merged_groups), accesses, tuple(steps), result
    return Expression(*inside, nodes=tuple(nodes))


# Choices: pad, concat and embed become selects between guarded parts.


def _coordinate(space: Space, shape: Shape, axis: int, start: int, chain: Chain) -> int:
    """Return the step `index along axis - start`, seen through a chain."""
    unit = tuple(1 if a == axis else 0 for a in range(len(shape)))
    return space.ramp(move(View(shape, unit, -start), chain))


def _number(space: Space, value: int) -> int:
    """Return the step of an integer literal, part of the kernel's structure."""
    return space.add(Step("scalar", "int32", name=str(value)))


def _inside(
    space: Space, shape: Shape, box: Sequence[tuple[int, int]], chain: Chain, guard: int
) -> int:
    """Return the bool step whether an index lies in a box of (start, length) pairs."""
    inside = guard
    for axis, (start, length) in enumerate(box):
        if start <= 0 and start + length >= shape[axis]:
            continue
        along = _coordinate(space, shape, axis, start, chain)
        unsigned = space.add(Step("cast", "uint32", args=(along,)))
        end = space.add(Step("cast", "uint32", args=(_number(space, length),)))
        test = space.operation("less", "bool", unsigned, end)
        inside = (
            test if inside < 0 else space.operation("logical_and", "bool", inside, test)
        )
    return inside


def _part(
    space: Space,
    outer: Node,
    part: Node,
    starts: Sequence[int],
    chain: Chain,
    guard: int,
) -> tuple[int, int]:
    """Return (value, inside) of a part that lies at `starts` of `outer`."""
    box = [(s, n) for s, n in zip(starts, part.shape, strict=True)]
    inside = _inside(space, outer.shape, box, chain, guard)
    ranges = tuple((-s, n, 1) for s, n in zip(starts, outer.shape, strict=True))
    shifted = space.link(Slices(ranges), part, chain)
    return space.lower(part, shifted, inside), inside


def lower_concat(space: Space, node: Node, chain: Chain, guard: int) -> int:
    """Return the step that selects among the concatenated parts."""
    along = attributes_of(node, Joining).axis
    start = 0
    value = -1
    for part in node.inputs:
        starts = [start if axis == along else 0 for axis in range(len(node.shape))]
        here, inside = _part(space, node, part, starts, chain, guard)
        value = here if value < 0 else _choice(space, node, inside, here, value)
        start += part.shape[along]
    return value


def lower_pad(space: Space, node: Node, chain: Chain, guard: int) -> int:
    """Return the step that selects between a tensor and its padding."""
    inner, fill = node.inputs
    before = [first for first, _ in attributes_of(node, Padding).widths]
    value, inside = _part(space, node, inner, before, chain, guard)
    return _choice(space, node, inside, value, space.lower(fill, chain, guard))


def lower_embed(space: Space, node: Node, chain: Chain, guard: int) -> int:
    """Return the step that selects between a box and the tensor it overwrites."""
    outer, written = node.inputs
    starts = attributes_of(node, Box).starts
    value, inside = _part(space, node, written, starts, chain, guard)
    below = space.lower(outer, chain, guard)
    return value if inside == guard else _choice(space, node, inside, value, below)


def _choice(space: Space, node: Node, inside: int, value: int, other: int) -> int:
    return space.operation("where", node.dtype.name, inside, value, other)


# Gathers: index tensors become storage offsets.

LINE = 4
"""Elements of one vec4 load."""


def lower_gather(space: Space, node: Node, chain: Chain, guard: int) -> int:
    """Return the step that loads from a storage at computed offsets."""
    source, *indices = node.inputs
    taking = attributes_of(node, Taking)
    position = positions(space, source.view, indices, taking, node.shape, chain, guard)
    return space.add(
        Step(
            "gather",
            node.dtype.name,
            slot=space.bindings.input(source.base),
            args=(position,),
            guard=guard,
            in_lines=_is_in_lines(source, taking),
            is_whole=source.base.size % LINE == 0,
        )
    )


def positions(
    space: Space,
    view: View,
    indices: Sequence[Node],
    taking: Taking,
    shape: Shape,
    chain: Chain = None,
    guard: int = -1,
) -> int:
    """Return the step of the storage offsets that index tensors address.

    Args:
        space: the space that is being lowered.
        view: view of the indexed tensor.
        indices: the index tensors.
        taking: the axes that they index.
        shape: shape of the gathered result.
        chain: movements between the result and the index space.
        guard: bool step that guards the loads, or -1.
    """
    whole = [s for axis, s in enumerate(view.strides) if axis not in taking.axes]
    count = len(shape) - len(whole)
    none = (0,) * len(shape)
    strides = (*whole[: taking.first], *(0,) * count, *whole[taking.first :])
    terms = []
    if strides and strides[-1] not in (-1, 0, 1):
        # Kernels that compute vec4s support only ramps of stride -1, 0 and 1.
        unit = View(shape, (*none[:-1], 1))
        step = _parameter(space, strides[-1], shape, chain)
        ramp = space.ramp(move(unit, chain))
        terms.append(space.operation("multiply", "int32", ramp, step))
        strides = (*strides[:-1], 0)
    after = len(shape) - taking.first - count
    for axis, index in zip(taking.axes, indices, strict=True):
        before = taking.first + count - len(index.shape)
        aligned = Reshape((*(1,) * before, *index.shape, *(1,) * after))
        grown = space.link(Expansion(shape), index, chain)
        term = space.lower(index, space.link(aligned, index, grown), guard)
        if index.dtype.name != "int32":
            term = space.add(Step("cast", "int32", args=(term,)))
        if view.strides[axis] != 1:
            step = _parameter(space, view.strides[axis], shape, chain)
            term = space.operation("multiply", "int32", term, step)
        terms.append(term)
    if view.offset or any(strides):
        terms.append(space.ramp(move(View(shape, strides, view.offset), chain)))
    total = terms[0]
    for term in terms[1:]:
        total = space.operation("add", "int32", total, term)
    return total


def _parameter(space: Space, value: int, shape: Shape, chain: Chain) -> int:
    """Return the step of an integer passed as a parameter, not part of the text.

    It is the offset of an access whose strides are all 0.
    """
    return space.ramp(move(View(shape, (0,) * len(shape), value), chain))


def _is_in_lines(source: Node, taking: Taking) -> bool:
    """Whether offsets are multiples of four plus a ramp along the last axis."""
    *outer, last = source.view.strides
    axis = len(outer)
    is_whole = axis not in taking.axes and taking.first < axis + 1 - len(taking.axes)
    numbers = (*outer, source.view.offset, source.shape[-1], source.base.size)
    return is_whole and last == 1 and all(number % LINE == 0 for number in numbers)


LOWERED: dict[str, Callable[[Space, Node, Chain, int], int]] = {
    "map": Space.lower_map,
    "copy": Space.lower_copy,
    "constant": Space.lower_constant,
    "iota": Space.lower_iota,
    "gather": lower_gather,
    "pad": lower_pad,
    "concat": lower_concat,
    "embed": lower_embed,
}
"""The lowering of each kind that is computed inside kernels."""
