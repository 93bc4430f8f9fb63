"""Transposed convolutions: the vjp of a convolution, as a layer."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

from tensorweb import dtypes, functions
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import flip, pad
from tensorweb.nn import init
from tensorweb.nn.arguments import as_float
from tensorweb.nn.convolution import Convolution, Numbers
from tensorweb.nn.padding import numbers
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

__all__ = [
    "ConvTranspose1d",
    "ConvTranspose2d",
    "conv_transpose1d",
    "conv_transpose2d",
]


class _ConvTranspose(Convolution):
    """A transposed convolution of a batch or of one example."""

    _is_transposed = True

    def __init__(
        self,
        in_channels: SupportsIndex,
        out_channels: SupportsIndex,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        groups: SupportsIndex = 1,
        bias: bool = True,
        dilation: Numbers = 1,
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
        more = numbers(name, "output_padding", output_padding, self._spatial, 0)
        self.output_padding = more
        for extra, step, gap in zip(more, self.stride, self.dilation, strict=True):
            if extra >= max(step, gap):
                raise DataError(
                    f"{name}: output_padding {more}; it is below stride or dilation."
                )

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the transposed convolution.

        Raises:
            ShapeError: the input has other axes or channels, or nothing is left.
        """
        given = self._checked(x)
        is_one = given.ndim == self._spatial + 1
        if is_one:
            given = given.expand_dims(axis=0)
        wide = self._with_borders(spread(given, self.stride))
        call = functions.conv1d if self._spatial == 1 else functions.conv2d
        found = call(
            wide,
            self._turned(),
            bias=self.bias,
            dilation=self.dilation,
            groups=self.groups,
        )
        return found.squeeze(0) if is_one else found

    def _with_borders(self, x: Tensor) -> Tensor:
        """Return the dilated input, padded or cropped to the windows' reach."""
        borders = []
        for size, gap, out, more in zip(
            self.kernel_size,
            self.dilation,
            self.borders(),
            self.output_padding,
            strict=True,
        ):
            reach = gap * (size - 1)
            borders.append((reach - out[0], reach - out[1] + more))
        first = x.ndim - len(borders)
        widths = [(max(a, 0), max(b, 0)) for a, b in borders]
        wide = pad(x, [(0, 0)] * first + widths)
        cuts = [slice(None)] * first
        for axis, (a, b) in enumerate(borders, first):
            end = wide.shape[axis] + min(b, 0)
            if end <= max(-a, 0):
                raise ShapeError(
                    f"{type(self).__name__}: padding {self.padding} leaves nothing of "
                    "the result; give less."
                )
            cuts.append(slice(max(-a, 0), end))
        cut: Tensor = wide[tuple(cuts)]
        return cut

    def _turned(self) -> Tensor:
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


def spread(x: Tensor, steps: Sequence[int]) -> Tensor:
    """Return the last axes dilated with zeros, elements `steps` apart."""
    first = x.ndim - len(steps)
    for axis, step in enumerate(steps, first):
        if step == 1:
            continue
        length = x.shape[axis]
        wide = x.expand_dims(axis=axis + 1)
        widths = [(0, 0)] * wide.ndim
        widths[axis + 1] = (0, step - 1)
        shape = (*x.shape[:axis], length * step, *x.shape[axis + 1 :])
        whole = pad(wide, widths).reshape(shape)
        cuts = [slice(None)] * axis + [slice((length - 1) * step + 1)]
        x = whole[tuple(cuts)]
    return x


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


def conv_transpose1d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: SupportsIndex = 1,
    dilation: Numbers = 1,
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
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: SupportsIndex = 1,
    dilation: Numbers = 1,
) -> Tensor:
    """Return the transposed convolution of images `(n, channels, h, w)`.

    `weight` is `(channels, out / groups, kh, kw)`; arguments and errors are those of
    `ConvTranspose2d`.

    >>> tw.nn.conv_transpose2d(tw.ones((1, 1, 2, 2)), tw.ones((1, 3, 2, 2))).shape
    (1, 3, 3, 3)
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _called("conv_transpose2d", ConvTranspose2d, x, weight, bias, options)


def _called(
    name: str,
    kind: type[_ConvTranspose],
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike,
    options: tuple[Numbers, Numbers, Numbers, SupportsIndex, Numbers],
) -> Tensor:
    """Return the result of a layer with this weight and bias."""
    given = as_float(name, weight)
    rank = kind._spatial + 2
    if given.ndim != rank:
        raise ShapeError(
            f"{name}: weight has shape {given.shape}; it is (channels, out / groups, "
            "...), with as many axes as a batch."
        )
    stride, padding, output_padding, groups, dilation = options
    layer = kind(
        given.shape[0],
        given.shape[1] * operator.index(groups),
        given.shape[2:],
        stride,
        padding,
        output_padding,
        groups,
        dilation=dilation,
        device=given.device,
        dtype=given.dtype,
        rng=0,  # What it draws is replaced, and never computed.
    )
    layer.weight = given
    layer.bias = None if bias is None else as_float(name, bias, given)
    return layer(x)  # type: ignore[no-any-return]  # a module's result
