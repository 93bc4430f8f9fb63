"""Max and average pooling."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, overload

from tensorweb.errors import DataError, ShapeError, expected_clash
from tensorweb.functions import (
    asarray,
    maximum,
    zeros,
)
from tensorweb.nn.arguments import as_float, integers_per_axis
from tensorweb.nn.containers import FunctionModule
from tensorweb.nn.convolution import AXES
from tensorweb.nodes import convolution as build
from tensorweb.nodes.convolution import PerAxis
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

Options = tuple[PerAxis, PerAxis | None, PerAxis, PerAxis]
"""Kernel size, stride, padding and dilation."""


class _Windows:
    """Validated windows over the last axes; `ceil_mode` extends the padding's end."""

    def __init__(
        self, name: str, x: Tensor, rank: int, options: Options, ceil_mode: bool
    ) -> None:
        kernel_size, stride, padding, dilation = options
        self.size = integers_per_axis(name, "kernel_size", kernel_size, rank, 1)
        stride = self.size if stride is None else stride
        self.step = integers_per_axis(name, "stride", stride, rank, 1)
        self.padding = integers_per_axis(name, "padding", padding, rank, 0)
        self.dilation = integers_per_axis(name, "dilation", dilation, rank, 1)
        self.lengths = x.shape[x.ndim - rank :]
        if x.ndim not in (rank + 1, rank + 2):
            raise ShapeError(
                f"{name}: the input has shape {x.shape}; it takes "
                f"(n, channels, {AXES[rank]}), or one example.",
                clash=expected_clash(x.shape, (-1,) * (rank + 2), has_one=True),
            )
        self.borders = []
        for axis in range(rank):
            reach = self.dilation[axis] * (self.size[axis] - 1) + 1
            width = self.padding[axis]
            if width > reach // 2:
                raise DataError(
                    f"{name}: padding {self.padding} for windows of {self.size}; it is "
                    "half a window at most."
                )
            length = self.lengths[axis] + 2 * width
            is_longer = ceil_mode and length >= reach
            extra = self._extra_padding(axis, length, reach) if is_longer else 0
            self.borders.append((width, width + extra))
        self._windows = build.windows(
            name, x.shape, rank, self.size, self.step, self.borders, self.dilation
        )

    def _extra_padding(self, axis: int, length: int, reach: int) -> int:
        """Return how much to extend the padding, so that windows cover all inputs."""
        step = self.step[axis]
        last = -(-(length - reach) // step)
        if last * step >= self.lengths[axis] + self.padding[axis]:
            last -= 1
        return max(last * step + reach - length, 0)

    def over(self, name: str, x: Tensor, is_lowest: bool) -> Tensor:
        """Return the windows, with their elements along the last axes."""
        return Tensor(build.pooled(name, x.node, self._windows, is_lowest))

    def indices(self, windows: Tensor) -> Tensor:
        """Return the flat row-major index in the input of each window's maximum.

        Args:
            windows: what `over` returns.
        """
        rank = len(self.size)
        flat = windows.reshape(*windows.shape[:-rank], prod(self.size)).argmax(-1)
        indices = zeros((), dtype=flat.dtype, device=flat.device)
        for axis in range(rank):
            dilation = self.dilation[axis]
            element = flat // prod(self.size[axis + 1 :]) % self.size[axis]
            count = windows.shape[windows.ndim - 2 * rank + axis]
            starts = [n * self.step[axis] - self.padding[axis] for n in range(count)]
            # The maximum of a window of -inf is in its padding, which is no input.
            inside = [at + -(min(at, 0) // dilation) * dilation for at in starts]
            column = (count, *(1 for _ in range(rank - axis - 1)))
            least, start = (
                asarray(values, flat.dtype, device=flat.device).reshape(column)
                for values in (inside, starts)
            )
            index = maximum(start + element * dilation, least)
            indices = indices * self.lengths[axis] + index
        return indices

    def counts(self, include_padding: bool) -> list[list[int]]:
        """Return the divisor of each window's mean, by axis."""
        counts = []
        for axis, length in enumerate(self.lengths):
            padding, size, step = self.padding[axis], self.size[axis], self.step[axis]
            windows = (length + sum(self.borders[axis]) - size) // step + 1
            starts = range(-padding, windows * step - padding, step)
            counts.append(
                [
                    min(start + size, length + padding) - start
                    if include_padding
                    else min(start + size, length) - max(start, 0)
                    for start in starts
                ]
            )
        return counts


def _max_pool(
    name: str,
    x: ArrayLike,
    rank: int,
    options: Options,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    tensor = as_float(name, x)
    pool = _Windows(name, tensor, rank, options, ceil_mode)
    windows = pool.over(name, tensor, is_lowest=True)
    largest = windows.max(tuple(range(-rank, 0)))
    return (largest, pool.indices(windows)) if return_indices else largest


def _avg_pool(
    name: str,
    x: ArrayLike,
    rank: int,
    options: Options,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: float | None = None,
) -> Tensor:
    tensor = as_float(name, x)
    pool = _Windows(name, tensor, rank, options, ceil_mode)
    axes = tuple(range(-rank, 0))
    windows = pool.over(name, tensor, is_lowest=False)
    if divisor is not None:
        return windows.sum(axes) / divisor
    counts = pool.counts(count_include_pad)
    if all({*row} <= {size} for row, size in zip(counts, pool.size, strict=True)):
        return windows.mean(axes)
    total = windows.sum(axes)
    for axis, row in zip(axes, counts, strict=True):
        factors = asarray([1 / n for n in row], total.dtype, device=total.device)
        total = total * factors.reshape(-1, *(1 for _ in range(-axis - 1)))
    return total


@overload
def max_pool1d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...


@overload
def max_pool1d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def max_pool1d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the maximum of each window of `(n, channels, length)`.

    Arguments and errors are those of `max_pool2d`.

    >>> tw.nn.max_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[3., 2.]]])
    """
    options = (kernel_size, stride, padding, dilation)
    return _max_pool("max_pool1d", x, 1, options, ceil_mode, return_indices)


@overload
def max_pool2d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...


@overload
def max_pool2d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def max_pool2d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest of each window of images `(n, channels, h, w)`.

    Args:
        x: floats; one image may do without `n`.
        kernel_size: size of the window, one number or one per axis.
        stride: between windows, by default the kernel size.
        padding: width of the padding, with values of -inf.
        dilation: step between elements of a window.
        ceil_mode: whether a last window may reach beyond the padding.
        return_indices: whether to return where they are as well: int32, of the same
            shape, the first of equal numbers, counted row by row in the image.

    Raises:
        ShapeError: a window is larger than the padded image.
        DataError: a number is too small, or the padding exceeds half of the window.

    >>> tw.nn.max_pool2d([[[1.0, 3.0], [2.0, 0.0]]], 2)
    tensor([[[3.]]])
    >>> tw.nn.max_pool2d([[[1.0, 3.0], [2.0, 0.0]]], 2, return_indices=True)[1]
    tensor([[[1]]])
    """
    options = (kernel_size, stride, padding, dilation)
    return _max_pool("max_pool2d", x, 2, options, ceil_mode, return_indices)


def max_pool3d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest of each window of volumes `(n, channels, d, h, w)`.

    Arguments and errors are those of `max_pool2d`.

    >>> tw.nn.max_pool3d(tw.ones((1, 2, 4, 4, 4)), 2).shape
    (1, 2, 2, 2, 2)
    """
    options = (kernel_size, stride, padding, dilation)
    return _max_pool("max_pool3d", x, 3, options, ceil_mode, return_indices)


def avg_pool1d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of `(n, channels, length)`.

    Arguments and errors are those of `avg_pool2d`.

    >>> tw.nn.avg_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[2., 1.]]])
    """
    options = (kernel_size, stride, padding, 1)
    return _avg_pool("avg_pool1d", x, 1, options, ceil_mode, count_include_pad)


def avg_pool2d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: float | None = None,
) -> Tensor:
    """Return the mean of each window of images `(n, channels, h, w)`.

    Args:
        x: floats; one image may do without `n`.
        kernel_size: size of the window, one number or one per axis.
        stride: between windows, by default the kernel size.
        padding: width of the padding, with zeros.
        ceil_mode: whether a last window may reach beyond the padding.
        count_include_pad: whether the padding counts in the mean.
        divisor_override: divisor of the sums instead of the count.

    Raises:
        ShapeError: a window is larger than the padded image.
        DataError: a number is too small, or the padding exceeds half of the window.

    >>> tw.nn.avg_pool2d([[[1.0, 3.0], [2.0, 0.0]]], 2)
    tensor([[[1.5]]])
    """
    options = (kernel_size, stride, padding, 1)
    return _avg_pool(
        "avg_pool2d", x, 2, options, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    x: ArrayLike,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: float | None = None,
) -> Tensor:
    """Return the mean of each window of volumes `(n, channels, d, h, w)`.

    Arguments and errors are those of `avg_pool2d`.

    >>> tw.nn.avg_pool3d(tw.ones((1, 2, 4, 4, 4)), 2).shape
    (1, 2, 2, 2, 2)
    """
    options = (kernel_size, stride, padding, 1)
    return _avg_pool(
        "avg_pool3d", x, 3, options, ceil_mode, count_include_pad, divisor_override
    )


class _Pool(FunctionModule):
    """A reduction of each window."""

    kernel_size: PerAxis
    stride: PerAxis | None = None
    padding: PerAxis = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Store the options of the function; windows are adjacent by default."""
        super().__init__(*args, **kwargs)
        if self.stride is None:
            self.stride = self.kernel_size

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class _MaxPool(_Pool):
    """The largest of each window."""

    dilation: PerAxis = 1
    return_indices: bool = False
    ceil_mode: bool = False

    def extra_repr(self) -> str:
        """Return the settings."""
        text = super().extra_repr()
        return f"{text}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class _AvgPool(_Pool):
    """The mean of each window."""

    ceil_mode: bool = False
    count_include_pad: bool = True


class MaxPool1d(_MaxPool):
    """The largest of each window of `(n, channels, length)`; see `max_pool1d`.

    >>> tw.nn.MaxPool1d(2)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    _function = staticmethod(max_pool1d)


class AvgPool1d(_AvgPool):
    """The mean of each window of `(n, channels, length)`; see `avg_pool1d`.

    >>> tw.nn.AvgPool1d(2)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    _function = staticmethod(avg_pool1d)


class MaxPool2d(_MaxPool):
    """The largest of each window of `(n, channels, h, w)`; see `max_pool2d`.

    >>> tw.nn.MaxPool2d(2)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    _function = staticmethod(max_pool2d)


class AvgPool2d(_AvgPool):
    """The mean of each window of `(n, channels, h, w)`; see `avg_pool2d`.

    >>> tw.nn.AvgPool2d(2)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    _function = staticmethod(avg_pool2d)
    divisor_override: float | None = None


class MaxPool3d(_MaxPool):
    """The largest of each window of `(n, channels, d, h, w)`; see `max_pool3d`.

    >>> tw.nn.MaxPool3d(2)(tw.ones((1, 2, 6, 6, 6))).shape
    (1, 2, 3, 3, 3)
    """

    _function = staticmethod(max_pool3d)


class AvgPool3d(_AvgPool):
    """The mean of each window of `(n, channels, d, h, w)`; see `avg_pool3d`.

    >>> tw.nn.AvgPool3d(2)(tw.ones((1, 2, 6, 6, 6))).shape
    (1, 2, 3, 3, 3)
    """

    _function = staticmethod(avg_pool3d)
    divisor_override: float | None = None


declare_public(__name__)
