"""vjp rules of movements, copies, padding and concatenation."""

from __future__ import annotations

from tensorweb.errors import TransformError
from tensorweb.graph.attributes import (
    Box,
    Custom,
    Joining,
    Padding,
    Permutation,
    Slices,
    Windows,
)
from tensorweb.graph.node import Node, attributes_of
from tensorweb.graph.op import CONSTANT
from tensorweb.nodes.movement import flip, permute, reshape, slice_ranges
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import dilate, embed, pad
from tensorweb.transforms.rules.rule import (
    Cotangents,
    Rule,
    Step,
    minus,
    plus,
    summed_to,
    zeros,
)


def of_itself(step: Step, cotangent: Node) -> Cotangents:
    """Return the cotangent unchanged."""
    return [cotangent]


def of_reshape(step: Step, cotangent: Node) -> Cotangents:
    """Reshape the cotangent to the input's shape."""
    return [reshape(cotangent, step.inputs[0].shape)]


def of_permute(step: Step, cotangent: Node) -> Cotangents:
    """Apply the inverse permutation of the axes."""
    order = attributes_of(step.node, Permutation).order
    return [permute(cotangent, [order.index(axis) for axis in range(len(order))])]


def of_expand(step: Step, cotangent: Node) -> Cotangents:
    """Sum over the broadcast axes."""
    return [summed_to(cotangent, step.inputs[0].shape)]


def of_slice(step: Step, cotangent: Node) -> Cotangents:
    """Flip negative steps, dilate by the steps and pad with zeros."""
    ranges = attributes_of(step.node, Slices).ranges
    result = flip(cotangent, [axis for axis, r in enumerate(ranges) if r[2] < 0])
    widths = []
    for axis, (start, count, stride) in enumerate(ranges):
        result = dilate(result, axis, abs(stride))
        first = start if stride > 0 else start + (count - 1) * stride
        first = first if count else 0
        after = step.inputs[0].shape[axis] - first - result.shape[axis]
        widths.append((first, after))
    return [pad(result, widths, zeros(cotangent, ()))]


def _cut(node: Node, axis: int, start: int, count: int) -> Node:
    """Return a slice of `count` elements along one axis."""
    ranges = [(0, length, 1) for length in node.shape]
    ranges[axis] = (start, count, 1)
    return slice_ranges(node, ranges)


def of_windows(step: Step, cotangent: Node) -> Cotangents:
    """Add the cotangent of each window element to the element it was read from."""
    axis, size, stride, dilation = attributes_of(step.node, Windows)
    shape = step.inputs[0].shape
    last = len(shape)
    if dilation == 1 and size <= stride:
        return [_side_by_side(cotangent, axis, stride, shape[axis])]
    total: Node | None = None
    for offset in range(size):
        part = _cut(cotangent, last, offset, 1)
        part = dilate(reshape(part, cotangent.shape[:-1]), axis, stride)
        widths = [(0, 0)] * len(shape)
        before = offset * dilation
        widths[axis] = (before, shape[axis] - before - part.shape[axis])
        part = pad(part, widths, zeros(cotangent, ()))
        total = part if total is None else plus(total, part)
    return [total]


def _side_by_side(cotangent: Node, axis: int, stride: int, length: int) -> Node:
    """Return windows that do not overlap, reshaped to the axis they were cut from."""
    zero = zeros(cotangent, ())
    widths = [(0, 0)] * len(cotangent.shape)
    widths[-1] = (0, stride - cotangent.shape[-1])
    result = pad(cotangent, widths, zero)
    order = list(range(len(widths) - 1))
    order.insert(axis + 1, len(order))
    shape = list(cotangent.shape[:-1])
    shape[axis] *= stride
    result = reshape(permute(result, order), tuple(shape))
    if shape[axis] > length:
        return _cut(result, axis, 0, length)
    widths = [(0, 0)] * len(shape)
    widths[axis] = (0, length - shape[axis])
    return pad(result, widths, zero)


def of_pad(step: Step, cotangent: Node) -> Cotangents:
    """Return the inner box; the fill value gets the sum of the padding."""
    widths = attributes_of(step.node, Padding).widths
    source, filling = step.inputs
    inner = slice_ranges(
        cotangent,
        [(before, n, 1) for (before, _), n in zip(widths, source.shape, strict=True)],
    )
    if filling.op is CONSTANT or not step.needs_cotangent[1]:
        return [inner, None]
    axes = tuple(range(len(cotangent.shape)))
    around = minus(reduce("sum", cotangent, axes), reduce("sum", inner, axes))
    return [inner, around]


def of_concat(step: Step, cotangent: Node) -> Cotangents:
    """Return each part's slice."""
    axis = attributes_of(step.node, Joining).axis
    start = 0
    parts = []
    for source in step.inputs:
        parts.append(_cut(cotangent, axis, start, source.shape[axis]))
        start += source.shape[axis]
    return parts


def of_embed(step: Step, cotangent: Node) -> Cotangents:
    """Return the box for the values, and zeros in the box for the target."""
    starts = attributes_of(step.node, Box).starts
    _, values = step.inputs
    box = [(start, n, 1) for start, n in zip(starts, values.shape, strict=True)]
    return [
        embed(cotangent, zeros(values), starts),
        slice_ranges(cotangent, box),
    ]


def of_custom(step: Step, cotangent: Node) -> Cotangents:
    """Raise TransformError: only the program knows the derivative of its kernel."""
    own = attributes_of(step.node, Custom)
    raise TransformError(
        f"{own.name}: this kernel has no derivative; give tw.kernel a vjp=, or pass "
        "tw.stop_gradient(x). Inside a vjp, call the kernel on the inputs instead of "
        "reading the result, if second derivatives are needed."
    )


RULES: dict[str, Rule] = {
    "alias": of_itself,
    "custom": of_custom,
    "copy": of_itself,
    "reshape": of_reshape,
    "permute": of_permute,
    "expand": of_expand,
    "slice": of_slice,
    "unfold": of_windows,
    "pad": of_pad,
    "concat": of_concat,
    "embed": of_embed,
}
