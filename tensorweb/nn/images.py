"""Images and rows resized, sampled, and cut into windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, SupportsIndex

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import (
    asarray,
    broadcast_to,
    clip,
    expand_dims,
    floor,
    minimum,
    round,
    take_along_axis,
    where,
    zeros,
)
from tensorweb.nn.adaptive_pooling import adaptive_pool
from tensorweb.nn.arguments import (
    as_float,
    choice,
    integers_per_axis,
    positive,
)
from tensorweb.nn.containers import FunctionModule
from tensorweb.nodes import convolution as build
from tensorweb.nodes.convolution import PerAxis
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.custom import stop_gradient
from tensorweb.transforms.gradients import vjp

Tap = tuple[list[int], list[float]]
"""Of each element of a result, one index into an axis and its weight."""

RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
"""How many axes a mode of `interpolate` is for; the others are for 1 to 3."""

_MODES = ("nearest", "nearest-exact", *RANKS, "area")

SHARPNESS = -0.75
"""PyTorch's parameter of cubic convolution, `a` in R. Keys, 1981."""


def interpolate(
    x: ArrayLike,
    size: PerAxis | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return `(n, channels, ...)` with its last axes resized.

    Args:
        x: floats with 1 to 3 axes behind the channels.
        size: lengths of the result, one number or one per axis; or `scale_factor`.
        scale_factor: the lengths are these times those of `x`, rounded down.
        mode: `nearest`, `nearest-exact`, `linear` (rows), `bilinear` and `bicubic`
            (images), `trilinear` (volumes), or `area`, the mean of each part.
        align_corners: whether the first and last elements stay where they are; not for
            `nearest`, `nearest-exact` and `area`.
        recompute_scale_factor: whether positions follow from the rounded lengths.
        antialias: is not there, and must be False.

    Raises:
        ShapeError: the mode is for another count of axes.
        DataError: there is no such mode, size or option.

    >>> tw.nn.interpolate([[[1.0, 2.0]]], scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    >>> tw.nn.interpolate([[[1.0, 3.0]]], 4, mode="linear")
    tensor([[[1. , 1.5, 2.5, 3. ]]])
    """
    name = "interpolate"
    tensor = as_float(name, x)
    rank = tensor.ndim - 2
    choice(name, "mode", mode, _MODES)
    if not 1 <= rank <= 3 or RANKS.get(mode, rank) != rank:
        axes = ("length", "h, w", "d, h, w")
        fits = axes[RANKS[mode] - 1] if mode in RANKS else " or ".join(axes)
        raise ShapeError(
            f"{name}: the input has shape {tensor.shape}; mode {mode!r} takes "
            f"(n, channels, {fits})."
        )
    if antialias:
        raise DataError(
            f"{name}: antialias=True is not here; leave it out, or make images smaller "
            "by mode='area'."
        )
    if align_corners is not None and mode not in RANKS:
        raise DataError(
            f"{name}: align_corners is not for mode {mode!r}; leave it out."
        )
    lengths = tensor.shape[2:]
    sizes, scales = _sizes(name, lengths, size, scale_factor)
    if 0 in lengths:
        raise ShapeError(f"{name}: the input has shape {tensor.shape}, no element.")
    if recompute_scale_factor:
        scales = [None] * rank
    if mode == "area":
        return adaptive_pool(name, tensor, sizes, rank, "mean")
    for axis, (length, count, scale) in enumerate(
        zip(lengths, sizes, scales, strict=True), -rank
    ):
        if (
            mode == "nearest"
            and count % length == 0
            and scale in (None, count / length)
        ):
            tensor = tensor.repeat(count // length, axis=axis)
        elif count != length or scale is not None:
            taps = _taps(mode, length, count, scale, bool(align_corners))
            tensor = sum(
                (_tapped(tensor, axis, tap) for tap in taps[1:]),
                start=_tapped(tensor, axis, taps[0]),
            )
    return tensor


def _sizes(
    name: str,
    lengths: Sequence[int],
    size: PerAxis | None,
    factor: float | Sequence[float] | None,
) -> tuple[list[int], list[float | None]]:
    """Return the lengths of the result, and the factors that were given."""
    rank = len(lengths)
    if (size is None) == (factor is None):
        raise DataError(f"{name}: give one of size and scale_factor.")
    if size is not None:
        return list(integers_per_axis(name, "size", size, rank, 1)), [None] * rank
    factors = list(factor) if isinstance(factor, Sequence) else [factor] * rank
    found = [float(f) for f in factors if f is not None]
    sizes = [math.floor(n * f) for n, f in zip(lengths, found, strict=False)]
    if len(found) != rank or len(factors) != rank or min(sizes) < 1:
        raise DataError(
            f"{name}: scale_factor is {factor!r} for lengths {tuple(lengths)}; give a "
            f"number, or {rank} of them, that leave 1 or more."
        )
    return sizes, list(found)


@lru_cache(maxsize=64)
def _taps(
    mode: str, length: int, count: int, factor: float | None, align_corners: bool
) -> list[Tap]:
    """Return the taps that resize an axis of `length` elements to `count` elements."""
    step = 1 / factor if factor is not None else length / count
    if align_corners:
        step = (length - 1) / (count - 1) if count > 1 else 0.0
    if mode in ("nearest", "nearest-exact"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        nearest = [min(int((i + shift) * step), length - 1) for i in range(count)]
        return [(nearest, [])]
    middle = 0.0 if align_corners else 0.5
    at = [(i + middle) * step - middle for i in range(count)]
    if mode != "bicubic":
        at = [max(position, 0.0) for position in at]
    first = [min(math.floor(position), length - 1) for position in at]
    parts = [min(max(p - i, 0.0), 1.0) for p, i in zip(at, first, strict=True)]
    kernel, reach = (_cubic, (-1, 0, 1, 2)) if mode == "bicubic" else (_tent, (0, 1))
    return [
        (
            [min(max(i + offset, 0), length - 1) for i in first],
            [kernel(abs(part - offset)) for part in parts],
        )
        for offset in reach
    ]


def _tent(distance: float) -> float:
    return 1.0 - distance


def _cubic(distance: float) -> float:
    a, d = SHARPNESS, distance
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((d - 5) * d + 8) * a * d - 4 * a


def _tapped(x: Tensor, axis: int, tap: Tap) -> Tensor:
    """Return the elements of an axis at a tap's indices, times its weights."""
    indices, weights = tap
    taken = x.take(asarray(indices, "int32", device=x.device), axis=axis)
    if not weights:
        return taken
    column = (len(weights), *(1 for _ in range(-axis - 1)))
    return taken * asarray(weights, x.dtype, device=x.device).reshape(column)


def pixel_shuffle(x: ArrayLike, upscale_factor: SupportsIndex) -> Tensor:
    """Return `(..., c, h r, w r)` of `(..., c r², h, w)`, `r` being the factor.

    Source: W. Shi and others, Real-time single image and video super-resolution, 2016.

    Raises:
        ShapeError: the square of the factor does not divide the channels.
        DataError: the factor is not positive.

    >>> tw.nn.pixel_shuffle([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], 2)
    tensor([[[1., 2.],
             [3., 4.]]])
    """
    name = "pixel_shuffle"
    tensor, r = asarray(x), positive(name, "upscale_factor", upscale_factor)
    outer, (c, h, w) = _image(name, tensor, r, channels=r * r)
    parts = tensor.reshape(-1, c // (r * r), r, r, h, w)
    shuffled = parts.permute_dims((0, 1, 4, 2, 5, 3))
    return shuffled.reshape(*outer, c // (r * r), h * r, w * r)


def pixel_unshuffle(x: ArrayLike, downscale_factor: SupportsIndex) -> Tensor:
    """Return `(..., c r², h, w)` of `(..., c, h r, w r)`, `r` being the factor.

    Raises:
        ShapeError: the factor does not divide height and width.
        DataError: the factor is not positive.

    >>> tw.nn.pixel_unshuffle(tw.ones((2, 3, 4, 6)), 2).shape
    (2, 12, 2, 3)
    """
    name = "pixel_unshuffle"
    tensor, r = asarray(x), positive(name, "downscale_factor", downscale_factor)
    outer, (c, h, w) = _image(name, tensor, r, sides=r)
    parts = tensor.reshape(-1, c, h // r, r, w // r, r)
    shuffled = parts.permute_dims((0, 1, 3, 5, 2, 4))
    return shuffled.reshape(*outer, c * r * r, h // r, w // r)


def _image(
    name: str, x: Tensor, factor: int, channels: int = 1, sides: int = 1
) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """Return the shape of a tensor of images: the outer axes, and the last three."""
    if x.ndim < 3 or x.shape[-3] % channels or any(n % sides for n in x.shape[-2:]):
        raise ShapeError(
            f"{name}: the input has shape {x.shape}; it is (..., channels, h, w), with "
            + (f"{channels} times as many channels" if channels > 1 else "h and w")
            + f" as a factor of {factor} needs."
        )
    channel_count, height, width = x.shape[-3:]
    return x.shape[:-3], (channel_count, height, width)


def unfold(
    x: ArrayLike,
    kernel_size: PerAxis,
    dilation: PerAxis = 1,
    padding: PerAxis = 0,
    stride: PerAxis = 1,
) -> Tensor:
    """Return the windows of images: `(n, c, h, w)` gives `(n, c kh kw, windows)`.

    Args:
        x: floats; one image may do without `n`.
        kernel_size: size of the window, one number or one per axis.
        dilation: step between elements of a window.
        padding: width of the padding, with zeros.
        stride: between windows.

    Raises:
        ShapeError: a window is larger than the padded image.
        DataError: a number is too small.

    >>> tw.nn.unfold(tw.ones((2, 3, 4, 5)), (2, 3)).shape
    (2, 18, 9)
    """
    name = "unfold"
    tensor = as_float(name, x)
    if tensor.ndim not in (3, 4):
        raise ShapeError(
            f"{name}: the input has shape {tensor.shape}; it is (n, channels, h, w), "
            "or one example."
        )
    windows = build.windows(
        name,
        tensor.shape,
        2,
        integers_per_axis(name, "kernel_size", kernel_size, 2, 1),
        integers_per_axis(name, "stride", stride, 2, 1),
        integers_per_axis(name, "padding", padding, 2, 0),
        integers_per_axis(name, "dilation", dilation, 2, 1),
    )
    batch = tensor.reshape(-1, *tensor.shape[-3:])
    found = Tensor(windows.over(batch.node, 0)).permute_dims((0, 1, 4, 5, 2, 3))
    _, c, kh, kw, rows, columns = found.shape
    return found.reshape(*tensor.shape[:-3], c * kh * kw, rows * columns)


def fold(
    x: ArrayLike,
    output_size: PerAxis,
    kernel_size: PerAxis,
    dilation: PerAxis = 1,
    padding: PerAxis = 0,
    stride: PerAxis = 1,
) -> Tensor:
    """Return images as sums of windows: the transpose of `unfold`.

    Args:
        x: `(n, c kh kw, windows)`; one image may do without `n`.
        output_size: `(h, w)` of the result `(n, c, h, w)`.
        kernel_size: size of the window, one number or one per axis.
        dilation: step between elements of a window.
        padding: width of the padding that the result loses.
        stride: between windows.

    Raises:
        ShapeError: the windows are not those of such an image.
        DataError: a number is too small.

    >>> tw.nn.fold(tw.ones((1, 4, 4)), (3, 3), 2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    name = "fold"
    tensor = as_float(name, x)
    size = integers_per_axis(name, "output_size", output_size, 2, 1)
    window = math.prod(integers_per_axis(name, "kernel_size", kernel_size, 2, 1))
    channels = max(tensor.shape[-2] // window, 1) if tensor.ndim in (2, 3) else 1
    shape = (*tensor.shape[:-2], channels, *size)
    windows, pullback = vjp(
        lambda image: unfold(image, kernel_size, dilation, padding, stride),
        zeros(shape, dtype=tensor.dtype, device=tensor.device),
    )
    if windows.shape != tensor.shape:
        raise ShapeError(
            f"{name}: the input has shape {tensor.shape}; windows of {window} elements "
            f"of images of {size} are (n, channels * {window}, {windows.shape[-1]})."
        )
    result: Tensor = pullback(tensor)[0]
    return result


def affine_grid(
    theta: ArrayLike, size: Sequence[int], align_corners: bool = False
) -> Tensor:
    """Return the positions for `grid_sample` by which images are transformed affinely.

    Args:
        theta: matrices `(n, 2, 3)` of positions in the result.
        size: `(n, channels, h, w)` of the result.
        align_corners: whether -1 and 1 are the middles of the outermost pixels, and
            not their ends.

    Returns:
        `(n, h, w, 2)`: x and y.

    Raises:
        ShapeError: the shapes do not fit.

    >>> tw.nn.affine_grid([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], (1, 1, 1, 2))[0, 0]
    tensor([[-0.5,  0. ],
            [ 0.5,  0. ]])
    """
    tensor, lengths = as_float("affine_grid", theta), tuple(size)
    if tensor.ndim != 3 or len(lengths) != 4 or tensor.shape != (lengths[0], 2, 3):
        raise ShapeError(
            f"affine_grid: theta has shape {tensor.shape} and size is {lengths}; they "
            "are (n, 2, 3) and (n, channels, h, w)."
        )
    h, w = lengths[2:]
    rows, columns = (
        asarray(_middles(count, align_corners), tensor.dtype, device=tensor.device)
        for count in (h, w)
    )
    linear = tensor[:, None, None]
    x, y = expand_dims(columns, -1), expand_dims(rows, (-1, -2))
    return linear[..., 0] * x + linear[..., 1] * y + linear[..., 2]


def _middles(count: int, align_corners: bool) -> list[float]:
    """Return the positions of an axis' elements from -1 to 1."""
    if align_corners:
        return [2 * i / (count - 1) - 1 if count > 1 else 0.0 for i in range(count)]
    return [(2 * i + 1) / count - 1 for i in range(count)]


def grid_sample(
    x: ArrayLike,
    grid: ArrayLike,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """Return images at the positions of a grid.

    Args:
        x: images `(n, channels, h, w)`.
        grid: `(n, h', w', 2)`: x and y, from -1 to 1 inside of the image.
        mode: `bilinear` or `nearest`.
        padding_mode: what is outside: `zeros`, the `border`, or its `reflection`.
        align_corners: whether -1 and 1 are the middles of the outermost pixels, and
            not their ends.

    Returns:
        `(n, channels, h', w')`. Source: M. Jaderberg and others, Spatial transformer
        networks, 2015.

    Raises:
        ShapeError: the shapes do not fit.
        DataError: there is no such mode.

    >>> image = [[[[1.0, 2.0], [3.0, 4.0]]]]
    >>> tw.nn.grid_sample(image, [[[[0.0, 0.0]]]])
    tensor([[[[2.5]]]])
    """
    name = "grid_sample"
    image = as_float(name, x, grid)
    at = as_float(name, grid, image)
    choice(name, "mode", mode, ("bilinear", "nearest"))
    choice(name, "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    if (image.ndim, at.ndim, at.shape[-1:]) != (4, 4, (2,)) or (
        image.shape[0] != at.shape[0]
    ):
        raise ShapeError(
            f"{name}: the shapes are {image.shape} and {at.shape}; they are "
            "(n, channels, h, w) and (n, h', w', 2)."
        )
    h, w = image.shape[2:]
    column = _position(at[..., 0], w, padding_mode, align_corners)
    row = _position(at[..., 1], h, padding_mode, align_corners)
    if mode == "nearest":
        return _pixels(image, round(row), round(column))
    top, left = floor(row), floor(column)
    down, right = expand_dims(row - top, 1), expand_dims(column - left, 1)
    upper = _pixels(image, top, left) * (1.0 - right)
    upper = upper + _pixels(image, top, left + 1.0) * right
    lower = _pixels(image, top + 1.0, left) * (1.0 - right)
    lower = lower + _pixels(image, top + 1.0, left + 1.0) * right
    return upper * (1.0 - down) + lower * down


def _position(x: Tensor, length: int, mode: str, align_corners: bool) -> Tensor:
    """Convert coordinates from -1 to 1 into coordinates in elements of an axis."""
    if align_corners:
        at = (x + 1.0) * ((length - 1) / 2)
        low, span = 0.0, float(length - 1)
    else:
        at = ((x + 1.0) * length - 1.0) / 2
        low, span = -0.5, float(length)
    if mode == "reflection":
        distance = abs(at - low) % (2 * span) if span else at * 0.0
        at = minimum(distance, 2 * span - distance) + low
    return at if mode == "zeros" else clip(at, 0.0, float(length - 1))


def _pixels(image: Tensor, row: Tensor, column: Tensor) -> Tensor:
    """Return the pixels at whole positions `(n, h', w')`, 0 outside."""
    n, channels, h, w = image.shape
    inside = (row >= 0) & (row < h) & (column >= 0) & (column < w)
    # Positions are bounded before they become integers, which have an end; and after,
    # since NaN becomes any of them.
    whole = [
        stop_gradient(clip(at, 0.0, length - 1.0)).astype("int32")
        for at, length in ((row, h), (column, w))
    ]
    flat = clip(whole[0] * w + whole[1], 0, h * w - 1)
    indices = flat.reshape(n, 1, -1)
    shape = (n, channels, indices.shape[-1])
    found = take_along_axis(
        image.reshape(n, channels, h * w), broadcast_to(indices, shape), axis=-1
    )
    return where(
        expand_dims(inside, 1), found.reshape(n, channels, *row.shape[1:]), 0.0
    )


class Upsample(FunctionModule):
    """Resizes rows, images or volumes; see `interpolate`.

    Args:
        size: lengths of the result; or `scale_factor`.
        scale_factor: by what lengths are multiplied.
        mode: `nearest`, `linear`, `bilinear`, `bicubic`, `trilinear`, and the others
            of `interpolate`.
        align_corners: whether the first and last elements stay where they are.
        recompute_scale_factor: whether positions follow from the rounded lengths.

    >>> tw.nn.Upsample(scale_factor=2, mode="bilinear")(tw.ones((1, 3, 4, 4))).shape
    (1, 3, 8, 8)
    """

    _function = staticmethod(interpolate)
    size: Any = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def extra_repr(self) -> str:
        """Return the settings."""
        how = "scale_factor" if self.size is None else "size"
        return f"{how}={getattr(self, how)}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes images by nearest neighbours; see `interpolate`.

    >>> tw.nn.UpsamplingNearest2d(scale_factor=2)(tw.ones((1, 3, 4, 4))).shape
    (1, 3, 8, 8)
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        """Make a layer.

        Args:
            size: lengths of the result; or `scale_factor`.
            scale_factor: by what lengths are multiplied.
        """
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Resizes images bilinearly, with the corners aligned; see `interpolate`.

    >>> tw.nn.UpsamplingBilinear2d(scale_factor=2)(tw.ones((1, 3, 4, 4))).shape
    (1, 3, 8, 8)
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        """Make a layer.

        Args:
            size: lengths of the result; or `scale_factor`.
            scale_factor: by what lengths are multiplied.
        """
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(FunctionModule):
    """Makes images larger by moving channels into them; see `pixel_shuffle`.

    >>> tw.nn.PixelShuffle(2)(tw.ones((1, 12, 4, 4))).shape
    (1, 3, 8, 8)
    """

    _function = staticmethod(pixel_shuffle)
    upscale_factor: int


class PixelUnshuffle(FunctionModule):
    """Makes images smaller by moving pixels into channels; see `pixel_unshuffle`.

    >>> tw.nn.PixelUnshuffle(2)(tw.ones((1, 3, 8, 8))).shape
    (1, 12, 4, 4)
    """

    _function = staticmethod(pixel_unshuffle)
    downscale_factor: int


class Unfold(FunctionModule):
    """Windows of images as columns; see `unfold`.

    >>> tw.nn.Unfold((2, 3))(tw.ones((2, 3, 4, 5))).shape
    (2, 18, 9)
    """

    _function = staticmethod(unfold)
    kernel_size: PerAxis
    dilation: PerAxis = 1
    padding: PerAxis = 0
    stride: PerAxis = 1


class Fold(FunctionModule):
    """Images as sums of windows; see `fold`.

    >>> tw.nn.Fold((4, 5), (2, 3))(tw.ones((2, 18, 9))).shape
    (2, 3, 4, 5)
    """

    _function = staticmethod(fold)
    output_size: PerAxis
    kernel_size: PerAxis
    dilation: PerAxis = 1
    padding: PerAxis = 0
    stride: PerAxis = 1


declare_public(__name__)
