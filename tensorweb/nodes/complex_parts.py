"""Real and imaginary parts of complex nodes, and complex nodes of two parts.

What is computed with complex numbers is built of these, out of operations on floats: so
every device computes it, it fuses like anything else, and derivatives need no rules of
their own. Parts that are only joined are found again without a choice between them; of
a stored value a part is a strided view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tensorweb.dtypes import DType
from tensorweb.errors import DTypeError
from tensorweb.graph.attributes import (
    Expansion,
    Joining,
    Movement,
    Permutation,
    Slices,
    Windows,
)
from tensorweb.graph.autograd import depends_on_leaf, inputs_of
from tensorweb.graph.node import (
    Node,
    complex_constants,
    complex_of,
    constant,
    movement_of,
)
from tensorweb.graph.op import COMPLEX
from tensorweb.nodes.movement import expand, permute, reshape, slice_ranges, unfold
from tensorweb.ops.structure import ALIAS, CONCAT
from tensorweb.shapes import Shape, broadcast_shapes

T = TypeVar("T")


def is_complex(*nodes: Node) -> bool:
    """Whether any of the nodes is complex."""
    return any(node.op is COMPLEX for node in nodes)


def real_part(node: Node) -> Node:
    """Return the real parts of a complex node, any other node as it is."""
    return _part(node.inputs[0], 0) if node.op is COMPLEX else node


def imaginary_part(node: Node) -> Node:
    """Return the imaginary parts of a complex node, zeros for any other."""
    if node.op is COMPLEX:
        return _part(node.inputs[0], 1)
    return constant(0, node.dtype, node.device, node.shape)


def join_parts(real: Node, imaginary: Node) -> Node:
    """Return two floats of one dtype as complex numbers; their shapes broadcast.

    Raises:
        DTypeError: they are no float32 or float64, or differ in dtype.
        ShapeError: the shapes do not broadcast.
    """
    dtype = real.dtype
    if dtype.name not in ("float32", "float64") or imaginary.dtype is not dtype:
        raise DTypeError(
            f"complex numbers of {dtype} and {imaginary.dtype}; both parts are float32 "
            "or both float64, convert with astype."
        )
    shape = real.shape
    if imaginary.shape != shape:
        shape = broadcast_shapes(shape, imaginary.shape)
        real, imaginary = expand(real, shape), expand(imaginary, shape)
    along = (*shape, 1)
    parts = (reshape(real, along), reshape(imaginary, along))
    joining = Joining(len(shape))
    return complex_of(Node(CONCAT, parts, joining, (*shape, 2), dtype, real.device))


def join_by_part(build: Callable[..., Node], *nodes: Node) -> Node:
    """Return what a builder makes of the real parts of nodes and of the imaginary ones.

    Each node is complex, or has no imaginary part.
    """
    return join_parts(build(*map(real_part, nodes)), build(*map(imaginary_part, nodes)))


def conjugate(node: Node, negated: Callable[[Node], Node]) -> Node:
    """Return the complex conjugate, given how floats are negated."""
    if node.op is not COMPLEX:
        return node
    return join_parts(real_part(node), negated(imaginary_part(node)))


def _part(pair: Node, which: int) -> Node:
    """Return one part of a node of pairs: the node it was joined from, else a view."""
    base = pair.base
    is_open = base is pair or not depends_on_leaf(base)
    if base.storage is None and is_open and is_joined(base):
        moved = _moved_part(pair, which)
        if moved is not None:
            return moved
    ranges = [(0, length, 1) for length in pair.shape[:-1]]
    return reshape(slice_ranges(pair, [*ranges, (which, 1, 1)]), pair.shape[:-1])


def is_joined(node: Node) -> bool:
    """Whether a node joins two parts that stand side by side."""
    along = (*node.shape[:-1], 1)
    return (
        node.op is CONCAT
        and node.attrs == Joining(len(node.shape) - 1)
        and [part.shape for part in inputs_of(node)] == [along, along]
    )


def _moved_part(pair: Node, which: int) -> Node | None:
    """Return a part of joined pairs, with the movements of the pairs applied to it.

    None if the pairs are not joined or an alias is among the movements, since a
    derivative may depend on the alias.
    """
    moves: list[Node] = []
    node = pair
    while node.op is not CONCAT:
        # A value that was computed meanwhile is a leaf, with no movement to follow.
        is_movement = len(node.inputs) == 1 and isinstance(node.attrs, Movement)
        if node.op is ALIAS or not is_movement:
            return None
        moves.append(node)
        node = node.inputs[0]
    found = _unreshaped(node.inputs[which])
    axis = len(node.shape) - 1
    for move in reversed(moves):
        step = _without_axis(found, move, axis)
        if step is None:
            return None
        found, axis = step
    return found if axis == len(pair.shape) - 1 else None


def _unreshaped(part: Node) -> Node:
    """Return what `join_parts` was given.

    Where gradients are needed, it stays behind the node that this join alone reads,
    since `autograd.grad` by the joined numbers asks for the cotangents of these nodes.
    """
    shape = part.shape[:-1]
    is_reshaped = part.op.name == "reshape" and part.inputs[0].shape == shape
    if is_reshaped and not depends_on_leaf(part):
        return part.inputs[0]
    return reshape(part, shape)


def _without_axis(part: Node, move: Node, axis: int) -> tuple[Node, int] | None:
    """Return a part moved as its pairs were, and where their axis is then."""
    how = movement_of(move)
    if isinstance(how, Permutation):
        order = [each - (each > axis) for each in how.order if each != axis]
        return permute(part, order), how.order.index(axis)
    if isinstance(how, Slices):
        if how.ranges[axis] != (0, 2, 1):
            return None
        return slice_ranges(part, _dropped(how.ranges, axis)), axis
    if isinstance(how, Windows):
        along = how.axis - (how.axis > axis)
        return unfold(part, along, *how[1:]), axis
    is_last = axis == len(move.inputs[0].shape) - 1
    if not is_last or move.shape[-1:] != (2,):
        return None
    shape = move.shape[:-1]
    moved = expand(part, shape) if isinstance(how, Expansion) else reshape(part, shape)
    return moved, len(shape)


def _dropped(items: tuple[T, ...], axis: int) -> tuple[T, ...]:
    """Return items without that of an axis."""
    return (*items[:axis], *items[axis + 1 :])


def _constant(value: complex, dtype: DType, device: str, shape: Shape) -> Node:
    """Return a complex node that repeats one number."""
    parts = (value.real, value.imag)
    real, imag = (constant(part, dtype.part, device, shape) for part in parts)
    return join_parts(real, imag)


complex_constants.append(_constant)
