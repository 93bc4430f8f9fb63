"""Lower pad, concat and embed to selects between guarded parts.

Each part is read through a shifted view. Its loads are guarded, because a select
evaluates both sides and must not read outside of a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorweb.graph.attributes import Box, Joining, Padding, Slices
from tensorweb.graph.node import Node, attributes_of
from tensorweb.schedule.chain import Chain, move
from tensorweb.schedule.kernel import Step
from tensorweb.shapes import Shape
from tensorweb.view import View

if TYPE_CHECKING:
    from tensorweb.schedule.lowering import Space


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
