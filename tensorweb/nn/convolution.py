"""Convolutions as functions and layers; kernels are not flipped (cross-correlation)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import ClassVar, SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError, expected_clash
from tensorweb.functions import asarray, flip, pad
from tensorweb.nn import init
from tensorweb.nn.arguments import (
    as_float,
    choice,
    integers_per_axis,
    positive,
)
from tensorweb.nn.module import Module
from tensorweb.nodes import convolution as build
from tensorweb.nodes.convolution import Padding, PerAxis
from tensorweb.nodes.selection import dilate
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, as_operands

Border = str | PerAxis

AXES = {1: "length", 2: "h, w", 3: "d, h, w"}
"""The last axes of an input, by their count."""


def conv1d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: Border = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of `(n, c, length)` with `(o, c / groups, size)`.

    See `tw.conv1d`; `(c, length)` is one example.

    Raises:
        ShapeError: the shapes do not fit.

    >>> tw.nn.conv1d([[[1.0, 2.0, 4.0]]], [[[-1.0, 1.0]]])
    tensor([[[1., 2.]]])
    """
    return _convolved("conv1d", x, weight, bias, (stride, padding, dilation), groups)


def conv2d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: Border = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of `(n, c, h, w)` with `(o, c / groups, kh, kw)`.

    See `tw.conv2d`; `(c, h, w)` is one example.

    Raises:
        ShapeError: the shapes do not fit.

    >>> tw.nn.conv2d(tw.ones((1, 2, 4, 4)), tw.ones((3, 2, 3, 3)), None, 1, 1).shape
    (1, 3, 4, 4)
    """
    return _convolved("conv2d", x, weight, bias, (stride, padding, dilation), groups)


def conv3d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: Border = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of `(n, c, d, h, w)` with `(o, c / groups, kd, kh, kw)`.

    As `conv2d`; `(c, d, h, w)` is one example.

    Raises:
        ShapeError: the shapes do not fit.

    >>> tw.nn.conv3d(tw.ones((1, 2, 4, 4, 4)), tw.ones((3, 2, 3, 3, 3))).shape
    (1, 3, 2, 2, 2)
    """
    return _convolved("conv3d", x, weight, bias, (stride, padding, dilation), groups)


def _convolved(
    name: str,
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike,
    options: tuple[PerAxis, Padding, PerAxis],
    groups: int,
) -> Tensor:
    """Return the convolution of operands of any shape."""
    kernel = as_float(name, weight, x)
    image = as_float(name, x, kernel)
    return _convolution(
        name, image, kernel, bias, options, groups, checks_channels=True
    )


def _convolution(
    name: str,
    x: Tensor,
    weight: Tensor,
    bias: ArrayLike,
    options: tuple[PerAxis, Padding, PerAxis],
    groups: int,
    checks_channels: bool = False,
) -> Tensor:
    """Return the convolution of a batch or of one example."""
    is_one = x.ndim == weight.ndim - 1
    batch = x.expand_dims(axis=0) if is_one else x
    image, kernel, *added = as_operands(
        batch, weight, *(() if bias is None else (bias,))
    )
    if checks_channels:
        build.check_channels(
            name,
            AXES[weight.ndim - 2],
            image,
            kernel,
            added[0] if added else None,
            groups,
        )
    sizes = kernel.shape[2:]
    windows = build.windows(name, image.shape, len(sizes), sizes, *options)
    result = build.convolve(image, kernel, windows, groups)
    if added:
        result = build.add_bias(result, added[0])
    return Tensor(result).squeeze(0) if is_one else Tensor(result)


class _Convolution(Module):
    """Base of convolution layers: settings, weights, their names."""

    _spatial: ClassVar[int] = 0
    _is_transposed: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: SupportsIndex,
        out_channels: SupportsIndex,
        kernel_size: PerAxis,
        stride: PerAxis = 1,
        padding: Border = 0,
        dilation: PerAxis = 1,
        groups: SupportsIndex = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            in_channels: channels of the input.
            out_channels: channels of the result.
            kernel_size: size of the window, one number or one per axis.
            stride: between windows.
            padding: width of the padding, `same` (stride 1) or `valid`.
            dilation: step between elements of a window.
            groups: count of groups of channels, each convolved separately.
            bias: whether there is a bias.
            padding_mode: padding mode: `zeros`, `reflect`, `replicate`
                or `circular`.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: a number is not positive, groups do not divide the channels, or a
                word is unknown.
        """
        name, count = type(self).__name__, self._spatial
        self.in_channels = positive(name, "in_channels", in_channels)
        self.out_channels = positive(name, "out_channels", out_channels)
        self.groups = positive(name, "groups", groups)
        if self.in_channels % self.groups or self.out_channels % self.groups:
            raise DataError(
                f"{name}: {self.groups} groups must divide {self.in_channels} "
                f"in_channels and {self.out_channels} out_channels."
            )
        self.kernel_size = integers_per_axis(name, "kernel_size", kernel_size, count, 1)
        self.stride = integers_per_axis(name, "stride", stride, count, 1)
        self.dilation = integers_per_axis(name, "dilation", dilation, count, 1)
        self.padding_mode = choice(name, "padding_mode", padding_mode, _MODES)
        self.padding: str | tuple[int, ...]
        if isinstance(padding, str):
            self.padding = choice(name, "padding", padding, ("same", "valid"))
            if padding == "same" and max(self.stride) > 1:
                raise DataError(
                    f"{name}: padding='same' with stride {self.stride}; it goes with "
                    "stride 1, give widths."
                )
        else:
            self.padding = integers_per_axis(name, "padding", padding, count, 0)
        maker = init.Maker(rng, device, dtype)
        outer = (self.out_channels, self.in_channels)
        first, second = outer[::-1] if self._is_transposed else outer
        shape = (first, second // self.groups, *self.kernel_size)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = maker.uniform(shape, bound)
        self.bias = maker.uniform((self.out_channels,), bound) if bias else None

    def borders(self) -> list[tuple[int, int]]:
        """Return the padding before and after each axis."""
        if self.padding == "valid":
            return [(0, 0)] * self._spatial
        if isinstance(self.padding, str):
            totals = [
                dilation * (size - 1)
                for size, dilation in zip(self.kernel_size, self.dilation, strict=True)
            ]
            return [(total // 2, total - total // 2) for total in totals]
        return [(width, width) for width in self.padding]

    def _checked(self, x: ArrayLike) -> Tensor:
        """Return the input as floats, with validated rank and channels."""
        name, count = type(self).__name__, self._spatial
        tensor = as_float(name, x, self.weight)
        is_fitting = tensor.ndim in (count + 1, count + 2)
        if not is_fitting or tensor.shape[-1 - count] != self.in_channels:
            words = f"{self.in_channels}, {AXES[count]}"
            expected = (-1, self.in_channels, *[-1] * count)
            raise ShapeError(
                f"{name}: the input has shape {tensor.shape}; it takes (n, {words}) or "
                f"({words}), {self.in_channels} being the channels.",
                clash=expected_clash(tensor.shape, expected, has_one=True, layer=name),
            )
        return tensor

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the convolution.

        Raises:
            ShapeError: the input has other axes or channels, or is smaller than a
                window.
        """
        name, tensor = type(self).__name__, self._checked(x)
        borders = self.borders()
        if self.padding_mode != "zeros":
            tensor = padded(name, tensor, borders, self.padding_mode)
            borders = [(0, 0)] * self._spatial
        options = (self.stride, borders, self.dilation)
        return _convolution(name, tensor, self.weight, self.bias, options, self.groups)

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults."""
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if isinstance(self.padding, str) or any(self.padding):
            parts.append(f"padding={self.padding}")
        if max(self.dilation) > 1:
            parts.append(f"dilation={self.dilation}")
        if self.groups > 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class Conv1d(_Convolution):
    """A convolution: `(n, in_channels, length)` gives `(n, out_channels, length')`.

    Attributes:
        weight: `(out_channels, in_channels / groups, size)`.
        bias: `(out_channels,)`, or None.

    >>> tw.nn.Conv1d(2, 3, 3)
    Conv1d(2, 3, kernel_size=(3,), stride=(1,))
    >>> tw.nn.Conv1d(2, 3, 3, padding="same")(tw.ones((4, 2, 8))).shape
    (4, 3, 8)
    """

    _spatial = 1


class Conv2d(_Convolution):
    """A convolution: `(n, in_channels, h, w)` gives `(n, out_channels, h', w')`.

    Attributes:
        weight: `(out_channels, in_channels / groups, kh, kw)`.
        bias: `(out_channels,)`, or None.

    >>> tw.nn.Conv2d(1, 8, 3, padding=1)
    Conv2d(1, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    >>> tw.nn.Conv2d(1, 8, 3, stride=2)(tw.ones((4, 1, 9, 9))).shape
    (4, 8, 4, 4)
    """

    _spatial = 2


class Conv3d(_Convolution):
    """A convolution: `(n, in_channels, d, h, w)` gives `(n, out_channels, d', h', w')`.

    Attributes:
        weight: `(out_channels, in_channels / groups, kd, kh, kw)`.
        bias: `(out_channels,)`, or None.

    >>> tw.nn.Conv3d(1, 8, 3, stride=2)(tw.ones((4, 1, 9, 9, 9))).shape
    (4, 8, 4, 4, 4)
    """

    _spatial = 3


class _ConvTranspose(_Convolution):
    """A transposed convolution of a batch or of one example."""

    _is_transposed = True

    def __init__(
        self,
        in_channels: SupportsIndex,
        out_channels: SupportsIndex,
        kernel_size: PerAxis,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: SupportsIndex = 1,
        bias: bool = True,
        dilation: PerAxis = 1,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer; arguments are those of the convolution that it transposes.

        Args:
            in_channels: channels of the input.
            out_channels: channels of the result.
            kernel_size: of the window.
            stride: distance of inputs in the result.
            padding: width cropped from the result's boundary.
            output_padding: length added at the end of the result.
            groups: count of groups of channels.
            bias: whether there is a bias.
            dilation: step between elements of a window.
            padding_mode: `zeros`.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: a number is too small or too large.
        """
        name = type(self).__name__
        if isinstance(padding, str) or padding_mode != "zeros":
            raise DataError(
                f"{name}: padding {padding!r} of {padding_mode}; give widths, and "
                "padding_mode 'zeros'."
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            device=device,
            dtype=dtype,
            rng=rng,
        )
        self.output_padding = integers_per_axis(
            name, "output_padding", output_padding, self._spatial, 0
        )
        limits = map(max, self.stride, self.dilation)
        if any(
            n >= limit for n, limit in zip(self.output_padding, limits, strict=True)
        ):
            raise DataError(
                f"{name}: output_padding {self.output_padding}; it is below stride or "
                "dilation."
            )

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the transposed convolution.

        Raises:
            ShapeError: the input has other axes or channels, or nothing is left.
        """
        name, tensor = type(self).__name__, self._checked(x)
        node = tensor.node
        for axis, step in enumerate(self.stride, tensor.ndim - self._spatial):
            node = dilate(node, axis, step)
        bordered = self._with_borders(Tensor(node))
        options = (1, 0, self.dilation)
        weight = self._flipped_weight()
        return _convolution(name, bordered, weight, self.bias, options, self.groups)

    def _with_borders(self, x: Tensor) -> Tensor:
        """Return the dilated input, padded or cropped to the windows' reach."""
        borders = []
        for size, dilation, out, extra in zip(
            self.kernel_size,
            self.dilation,
            self.borders(),
            self.output_padding,
            strict=True,
        ):
            reach = dilation * (size - 1)
            borders.append((reach - out[0], reach - out[1] + extra))
        first = x.ndim - len(borders)
        widths = [(max(a, 0), max(b, 0)) for a, b in borders]
        bordered = pad(x, [(0, 0)] * first + widths)
        cuts = [slice(None)] * first
        for axis, (a, b) in enumerate(borders, first):
            end = bordered.shape[axis] + min(b, 0)
            if end <= max(-a, 0):
                raise ShapeError(
                    f"{type(self).__name__}: padding {self.padding} leaves nothing of "
                    "the result; give less."
                )
            cuts.append(slice(max(-a, 0), end))
        cropped: Tensor = bordered[tuple(cuts)]
        return cropped

    def _flipped_weight(self) -> Tensor:
        """Return the weight as that of a convolution: `(out, in / groups, ...)`."""
        axes = tuple(range(-self._spatial, 0))
        into, out = self.in_channels // self.groups, self.out_channels // self.groups
        parts = flip(self.weight, axis=axes).reshape(
            self.groups, into, out, *self.kernel_size
        )
        order = (0, 2, 1, *range(3, 3 + self._spatial))
        return parts.permute_dims(order).reshape(
            self.out_channels, into, *self.kernel_size
        )

    def extra_repr(self) -> str:
        """Return the settings that are no defaults."""
        text = super().extra_repr()
        if any(self.output_padding):
            text += f", output_padding={self.output_padding}"
        return text


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution of `(n, in_channels, length)`.

    Attributes:
        weight: `(in_channels, out_channels / groups, size)`.
        bias: `(out_channels,)`, or None.

    >>> tw.nn.ConvTranspose1d(2, 3, 4, stride=2, padding=1)(tw.ones((1, 2, 5))).shape
    (1, 3, 10)
    """

    _spatial = 1


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution of `(n, in_channels, h, w)`, which enlarges images.

    Attributes:
        weight: `(in_channels, out_channels / groups, kh, kw)`.
        bias: `(out_channels,)`, or None.

    >>> layer = tw.nn.ConvTranspose2d(2, 3, 4, stride=2, padding=1)
    >>> layer(tw.ones((1, 2, 5, 5))).shape
    (1, 3, 10, 10)
    """

    _spatial = 2


class ConvTranspose3d(_ConvTranspose):
    """A transposed convolution of `(n, in_channels, d, h, w)`, which enlarges volumes.

    Attributes:
        weight: `(in_channels, out_channels / groups, kd, kh, kw)`.
        bias: `(out_channels,)`, or None.

    >>> layer = tw.nn.ConvTranspose3d(2, 3, 4, stride=2, padding=1)
    >>> layer(tw.ones((1, 2, 5, 5, 5))).shape
    (1, 3, 10, 10, 10)
    """

    _spatial = 3


def conv_transpose1d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    output_padding: PerAxis = 0,
    groups: SupportsIndex = 1,
    dilation: PerAxis = 1,
) -> Tensor:
    """Return the transposed convolution of `(n, channels, length)`.

    `weight` is `(channels, out / groups, size)`; arguments and errors are those of
    `ConvTranspose1d`.

    >>> tw.nn.conv_transpose1d([[[1.0, 2.0]]], [[[1.0, 10.0]]], stride=2)
    tensor([[[ 1., 10.,  2., 20.]]])
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _called("conv_transpose1d", ConvTranspose1d, x, weight, bias, options)


def conv_transpose2d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    output_padding: PerAxis = 0,
    groups: SupportsIndex = 1,
    dilation: PerAxis = 1,
) -> Tensor:
    """Return the transposed convolution of images `(n, channels, h, w)`.

    `weight` is `(channels, out / groups, kh, kw)`; arguments and errors are those of
    `ConvTranspose2d`.

    >>> tw.nn.conv_transpose2d(tw.ones((1, 1, 2, 2)), tw.ones((1, 3, 2, 2))).shape
    (1, 3, 3, 3)
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _called("conv_transpose2d", ConvTranspose2d, x, weight, bias, options)


def conv_transpose3d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    output_padding: PerAxis = 0,
    groups: SupportsIndex = 1,
    dilation: PerAxis = 1,
) -> Tensor:
    """Return the transposed convolution of volumes `(n, channels, d, h, w)`.

    `weight` is `(channels, out / groups, kd, kh, kw)`; arguments and errors are of
    `ConvTranspose3d`.

    >>> tw.nn.conv_transpose3d(tw.ones((1, 1, 2, 2, 2)), tw.ones((1, 3, 2, 2, 2))).shape
    (1, 3, 3, 3, 3)
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _called("conv_transpose3d", ConvTranspose3d, x, weight, bias, options)


def _called(
    name: str,
    kind: type[_ConvTranspose],
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike,
    options: tuple[
        PerAxis,
        PerAxis,
        PerAxis,
        SupportsIndex,
        PerAxis,
    ],
) -> Tensor:
    """Return the result of a layer with this weight and bias."""
    tensor = as_float(name, weight, x)
    rank = kind._spatial + 2
    if tensor.ndim != rank:
        raise ShapeError(
            f"{name}: weight has shape {tensor.shape}; it is (channels, out / groups, "
            "...), with as many axes as a batch."
        )
    stride, padding, output_padding, groups, dilation = options
    layer = kind(
        tensor.shape[0],
        tensor.shape[1] * operator.index(groups),
        tensor.shape[2:],
        stride,
        padding,
        output_padding,
        groups,
        dilation=dilation,
        device=tensor.device,
        dtype=tensor.dtype,
        rng=0,  # What it draws is replaced, and never computed.
    )
    layer.weight = tensor
    layer.bias = None if bias is None else as_float(name, bias, tensor)
    return layer(x)  # type: ignore[no-any-return]  # a module's result


_MODES = ("zeros", "reflect", "replicate", "circular")


def padded(
    name: str, x: Tensor, borders: Sequence[tuple[int, int]], mode: str
) -> Tensor:
    """Return a tensor padded along the last axes by zeros or its own elements.

    Raises:
        ShapeError: the padding is wider than the mode allows.
    """
    first = x.ndim - len(borders)
    if mode == "zeros":
        return pad(x, [(0, 0)] * first + list(borders))
    for axis, (before, after) in enumerate(borders, first):
        if not before and not after:
            continue
        length = x.shape[axis]
        widest = {"reflect": length - 1, "circular": length}.get(mode, before + after)
        if max(before, after) > widest or not length:
            raise ShapeError(
                f"{name}: a {mode} border of {max(before, after)} around axis {axis} "
                f"of shape {x.shape}; it is {widest} wide at most."
            )
        indices = [
            _source_index(i, length, mode) for i in range(-before, length + after)
        ]
        x = x.take(asarray(indices, device=x.device), axis=axis)
    return x


def _source_index(position: int, length: int, mode: str) -> int:
    """Return the index of the element that an index beyond the ends stands for."""
    if mode == "circular":
        return position % length
    if mode == "replicate":
        return min(max(position, 0), length - 1)
    if position < 0:
        return -position
    return position if position < length else 2 * (length - 1) - position


declare_public(__name__, hidden="padded")
