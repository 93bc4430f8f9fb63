"""Lower index tensors to storage offsets, computed inside kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorweb.graph.attributes import Expansion, Reshape, Taking
from tensorweb.graph.node import Node, attributes_of
from tensorweb.schedule.chain import Chain, move
from tensorweb.schedule.kernel import Step
from tensorweb.shapes import Shape
from tensorweb.view import View

if TYPE_CHECKING:
    from tensorweb.schedule.lowering import Space

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
