"""Build convolutions and pooling: padding, windows, then a contraction or reduction.

A convolution is one contraction whose right operand is a view of windows, an implicit
matrix product: no operand is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from tensorweb.dtypes import integer_range
from tensorweb.errors import Clash, ShapeError, aligned_clash, window_clash
from tensorweb.graph.attributes import Groups
from tensorweb.graph.autograd import set_rule
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import (
    expand,
    flip,
    per_axis,
    permute,
    reshape,
    slice_ranges,
    unfold,
)
from tensorweb.nodes.selection import dilate, pad
from tensorweb.ops import OPS

PerAxis = SupportsIndex | Iterable[SupportsIndex]
"""One integer for all spatial axes, or one for each."""

Padding = str | SupportsIndex | Iterable[SupportsIndex | Sequence[SupportsIndex]]
"""`same`, `valid`, one width, one per spatial axis, or `(before, after)` for each."""


@dataclass(frozen=True, slots=True)
class Windows:
    """How windows slide over the last axes; one number for each of these axes."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    dilations: tuple[int, ...]
    borders: tuple[tuple[int, int], ...]

    @property
    def reaches(self) -> tuple[int, ...]:
        """Lengths that one window reaches over."""
        pairs = zip(self.sizes, self.dilations, strict=True)
        return tuple(dilation * (size - 1) + 1 for size, dilation in pairs)

    def over(self, node: Node, fill: float) -> Node:
        """Return the windows of a node; the elements of a window are the last axes.

        Raises:
            ShapeError: an axis with its border is shorter than a window.
        """
        first = len(node.shape) - len(self.sizes)
        widths = [(0, 0)] * first + list(self.borders)
        value = constant(fill, node.dtype, node.device)
        result = pad(node, widths, value)
        for axis, numbers in enumerate(
            zip(self.sizes, self.steps, self.dilations, strict=True), first
        ):
            result = unfold(result, axis, *numbers)
        return result


def windows(
    name: str,
    shape: Sequence[int],
    count: int,
    sizes: PerAxis,
    step: PerAxis,
    padding: Padding,
    dilation: PerAxis,
) -> Windows:
    """Return checked windows over the last `count` axes of a shape.

    Raises:
        ShapeError: numbers are not positive or not as many as axes, or a window reaches
            beyond the border; `name` says where.
    """
    lengths = shape[len(shape) - count :]
    checked = []
    for what, numbers in (("size", sizes), ("stride", step), ("dilation", dilation)):
        given = per_axis(f"{name}: {what}", numbers, count)
        if min(given) < 1:
            raise ShapeError(f"{name}: {what} {given}; each is 1 or more.")
        checked.append(given)
    bare = Windows(checked[0], checked[1], checked[2], ((0, 0),) * count)
    borders = _borders(name, padding, lengths, bare)
    for axis, (length, border) in enumerate(zip(lengths, borders, strict=True)):
        reach, whole = bare.reaches[axis], length + sum(border)
        if whole < reach:
            raise ShapeError(
                f"{name}: a window reaches over {reach}, and axis {axis - count} of "
                f"shape {tuple(shape)} is {whole} long with its border; take a smaller "
                "window, or more padding.",
                clash=window_clash(shape, bare.reaches, axis),
            )
    return Windows(bare.sizes, bare.steps, bare.dilations, borders)


def _borders(
    name: str, padding: Padding, lengths: Sequence[int], bare: Windows
) -> tuple[tuple[int, int], ...]:
    """Return the widths before and after each axis."""
    if isinstance(padding, str):
        if padding == "valid":
            return bare.borders
        if padding != "same":
            raise ShapeError(
                f"{name}: padding {padding!r}; give 'same', 'valid' or widths."
            )
        return tuple(
            (total // 2, total - total // 2)
            for length, step, reach in zip(
                lengths, bare.steps, bare.reaches, strict=True
            )
            for total in [max((-(-length // step) - 1) * step + reach - length, 0)]
        )
    widths = padding if isinstance(padding, SupportsIndex) else list(padding)
    if isinstance(widths, list) and any(isinstance(part, Sequence) for part in widths):
        if len(widths) != len(lengths):
            raise ShapeError(
                f"{name}: padding {widths} for {len(lengths)} axes; give one "
                "(before, after) for each."
            )
        pairs = [per_axis(f"{name}: padding", part, 2) for part in widths]
    else:
        numbers = per_axis(f"{name}: padding", widths, len(lengths))  # type: ignore[arg-type]  # per_axis refuses what is no integer
        pairs = [(width, width) for width in numbers]
    if any(width < 0 for pair in pairs for width in pair):
        raise ShapeError(f"{name}: padding {padding!r}; widths are 0 or more.")
    return tuple((pair[0], pair[1]) for pair in pairs)


def convolve(x: Node, weight: Node, how: Windows, groups: int) -> Node:
    """Return the convolution of checked `(n, c, …)` with `(o, c / groups, …)`.

    `y[n, o, p] = Σ x[n, c, p * step + k * dilation] * weight[o, c, k]` over the
    channels of the output's group and the positions in the window.

    Raises:
        ShapeError: the tensor with its border is shorter than a window.
    """
    images = _in_groups(x, 1, groups)
    weights = _in_groups(weight, 0, groups)
    sums = _sum_of_windows(images, weights, how)
    result = reshape(sums, (x.shape[0], weight.shape[0], *sums.shape[3:]))

    def backward(cotangent: Node) -> tuple[Node, Node]:
        grouped = _in_groups(cotangent, 1, groups)
        dx = reshape(_images_cotangent(grouped, images, weights, how), x.shape)
        d_weight = reshape(_weights_cotangent(grouped, images, how), weight.shape)
        return cast(dx, x.dtype), cast(d_weight, weight.dtype)

    set_rule(result, (x, weight), backward)
    return result


def _in_groups(node: Node, axis: int, groups: int) -> Node:
    """Return an axis of channels as two, the groups first."""
    before, after = node.shape[:axis], node.shape[axis + 1 :]
    return reshape(node, (*before, groups, node.shape[axis] // groups, *after))


def _sum_of_windows(images: Node, weights: Node, how: Windows) -> Node:
    """Return `(n, groups, o, …)` of `(n, groups, c, …)` and `(groups, o, c, …)`."""
    spatial = len(how.sizes)
    seen = how.over(images, 0)
    positions = range(3, 3 + spatial)
    kernel = range(3 + spatial, 3 + 2 * spatial)
    right = permute(seen, (0, 1, 2, *kernel, *positions))
    left = expand(
        reshape(weights, (1, *weights.shape)), (images.shape[0], *weights.shape)
    )
    return contract(left, right, Groups(2, 1, 1 + spatial, spatial))


def _images_cotangent(
    cotangent: Node, images: Node, weights: Node, how: Windows
) -> Node:
    """Return the cotangent of the images, a convolution with flipped weights.

    `x[i] = Σ y[p] * weight[k]` over all `p * step + k * dilation = i + border`, so `y`
    is dilated by `step` and convolved with the reversed windows.
    """
    spatial = len(how.sizes)
    widths = [(0, 0)] * 3
    ranges = [(0, length, 1) for length in cotangent.shape[:3]]
    spread = cotangent
    for axis in range(spatial):
        spread = dilate(spread, 3 + axis, how.steps[axis])
        reach = how.reaches[axis] - 1
        before = reach - how.borders[axis][0]
        length = spread.shape[3 + axis]
        after = images.shape[3 + axis] + reach - before - length
        first, last = max(-before, 0), length - max(-after, 0)
        ranges.append((first, last - first, 1))
        widths.append((max(before, 0), max(after, 0)))
    kernel = range(3, 3 + spatial)
    flipped = flip(permute(weights, (0, 2, 1, *kernel)), kernel)
    ones = (1,) * spatial
    bare = Windows(how.sizes, ones, how.dilations, tuple(widths[3:]))
    return _sum_of_windows(slice_ranges(spread, ranges), flipped, bare)


def _weights_cotangent(cotangent: Node, images: Node, how: Windows) -> Node:
    """Return the cotangent of the weights: one product over images and positions."""
    spatial = len(how.sizes)
    positions = range(3, 3 + spatial)
    kernel = range(3 + spatial, 3 + 2 * spatial)
    left = permute(cotangent, (1, 2, 0, *positions))
    right = permute(how.over(images, 0), (1, 0, *positions, 2, *kernel))
    return contract(left, right, Groups(1, 1, 1 + spatial, 1 + spatial))


def check_channels(
    name: str, axes: str, x: Node, weight: Node, bias: Node | None, groups: int
) -> None:
    """Check the shapes of a convolution's operands; `axes` names the spatial ones.

    Raises:
        ShapeError: says which lengths do not fit and what they should be.
    """
    rank = 2 + axes.count(",") + 1
    if len(x.shape) != rank or len(weight.shape) != rank:
        raise ShapeError(
            f"{name}: shapes {x.shape} and {weight.shape}; x is (n, channels, {axes}) "
            f"and weight (outputs, channels / groups, {axes})."
        )
    channels, (outputs, depth) = x.shape[1], weight.shape[:2]
    if groups < 1 or channels % groups or outputs % groups:
        raise ShapeError(
            f"{name}: groups {groups} must divide the {channels} channels of x and the "
            f"{outputs} outputs of weight."
        )
    if channels != depth * groups:
        raise ShapeError(
            f"{name}: x of shape {x.shape} has {channels} channels, weight of shape "
            f"{weight.shape} takes {depth} in each of {groups} groups; "
            f"weight.shape[1] must be {channels // groups}.",
            clash=_channels_clash(x.shape, weight.shape) if groups == 1 else None,
        )
    if 0 in weight.shape[2:]:
        raise ShapeError(f"{name}: weight of shape {weight.shape} has an empty window.")
    if bias is not None and bias.shape != (outputs,):
        raise ShapeError(
            f"{name}: bias of shape {bias.shape}; it has one number for each of the "
            f"{outputs} outputs, shape ({outputs},)."
        )


def _channels_clash(x: Sequence[int], weight: Sequence[int]) -> Clash:
    """Return the clash of `(n, c, …)` and `(o, c, …)`, whose channels differ."""
    rank = len(x)
    columns = (0, *range(2, rank + 1)), (1, 2, *range(rank + 1, 2 * rank - 1))
    return aligned_clash([x, weight], columns, lacking=range(2 * rank))


def add_bias(y: Node, bias: Node) -> Node:
    """Return `(n, o, …)` plus the bias of each output."""
    column = reshape(bias, (bias.shape[0], *(1 for _ in y.shape[2:])))
    return elementwise(OPS["add"], y, column)


def pooled(name: str, x: Node, how: Windows, is_lowest: bool) -> Node:
    """Return windows of the last axes; the border is the lowest number or 0.

    Raises:
        ShapeError: a window could lie in the border alone, or does not fit.
    """
    for pair, reach in zip(how.borders, how.reaches, strict=True):
        if max(pair) >= reach:
            raise ShapeError(
                f"{name}: padding {pair} for windows that reach over {reach}; a border "
                "as wide as a window would make windows of nothing else."
            )
    return how.over(x, _lowest(x) if is_lowest else 0)


def _lowest(node: Node) -> float:
    if node.dtype.kind == "float":
        return float("-inf")
    return 0 if node.dtype.kind == "bool" else integer_range(node.dtype)[0]
