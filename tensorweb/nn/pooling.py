"""Max and average pooling, also adaptive."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod
from typing import Any, Literal, SupportsIndex, overload

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import (
    asarray,
    concat,
    maximum,
    stack,
    take_along_axis,
    zeros,
)
from tensorweb.nn.arguments import as_float
from tensorweb.nn.convolution import AXES, numbers
from tensorweb.nn.module import FunctionModule
from tensorweb.nodes import convolution as build
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


Numbers = SupportsIndex | Iterable[SupportsIndex]


Options = tuple[Numbers, Numbers | None, Numbers, Numbers]
"""Kernel size, stride, padding and dilation."""


class _Windows:
    """Validated windows over the last axes; `ceil_mode` extends the padding's end."""

    def __init__(
        self, name: str, x: Tensor, rank: int, options: Options, ceil_mode: bool
    ) -> None:
        kernel_size, stride, padding, dilation = options
        self.size = numbers(name, "kernel_size", kernel_size, rank, 1)
        stride = self.size if stride is None else stride
        self.step = numbers(name, "stride", stride, rank, 1)
        self.padding = numbers(name, "padding", padding, rank, 0)
        self.dilation = numbers(name, "dilation", dilation, rank, 1)
        self.lengths = x.shape[x.ndim - rank :]
        if x.ndim not in (rank + 1, rank + 2):
            raise ShapeError(
                f"{name}: the input has shape {x.shape}; it takes "
                f"(n, channels, {AXES[rank]}), or one example."
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
            if length < reach:
                raise ShapeError(
                    f"{name}: a window reaches over {reach}, and axis {axis - rank} "
                    f"of shape {x.shape} is {length} long with its border."
                )
            extra = self._extra_padding(axis, length, reach) if ceil_mode else 0
            self.borders.append((width, width + extra))
        self._windows = build.windows(
            name, self.lengths, self.size, self.step, self.borders, self.dilation
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
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...


@overload
def max_pool1d(
    x: ArrayLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def max_pool1d(
    x: ArrayLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
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
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...


@overload
def max_pool2d(
    x: ArrayLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def max_pool2d(
    x: ArrayLike,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
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
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
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
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
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
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
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
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
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


@lru_cache(maxsize=64)
def _intervals(length: int, count: int) -> tuple[slice, ...]:
    """Return the `count` adaptive intervals of an axis."""
    return tuple(
        [
            slice(n * length // count, -(-(n + 1) * length // count))
            for n in range(count)
        ]
    )


def adaptive_pool(
    name: str, x: ArrayLike, output_size: object, rank: int, reduction: str
) -> Tensor:
    """Return means or maxima of adaptive intervals of the last axes."""
    tensor = as_float(name, x)
    for axis, count in enumerate(_counts(name, tensor, output_size, rank), -rank):
        length = tensor.shape[axis]
        if length % count == 0:
            first = axis % tensor.ndim
            shape = (*tensor.shape[:first], count, length // count)
            parts = tensor.reshape(*shape, *tensor.shape[first + 1 :])
            tensor = getattr(parts, reduction)(first + 1)
        else:
            reduced = [
                getattr(_along(tensor, axis, interval), reduction)(axis)
                for interval in _intervals(length, count)
            ]
            tensor = stack(reduced, axis=axis)
    return tensor


def _counts(name: str, x: Tensor, output_size: object, rank: int) -> list[int]:
    """Return the count of intervals of each axis; None retains an axis."""
    sizes: Any = (
        output_size if isinstance(output_size, tuple | list) else (output_size,) * rank
    )
    if len(sizes) != rank:
        raise DataError(
            f"{name}: output_size is {output_size!r}; give {rank} integers."
        )
    checked = [
        None if size is None else numbers(name, "output_size", size, 1, 1)[0]
        for size in sizes
    ]
    if x.ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"{name}: the input has shape {x.shape}; it has {rank + 2} axes, or "
            f"{rank + 1} for one example."
        )
    lengths = x.shape[x.ndim - rank :]
    return [
        n if size is None else size for n, size in zip(lengths, checked, strict=True)
    ]


def _along(x: Tensor, axis: int, interval: slice) -> Tensor:
    """Return an interval of a negative axis."""
    part: Tensor = x[(..., interval, *[slice(None)] * (-axis - 1))]
    return part


def _adaptive_max_pool(
    name: str, x: ArrayLike, output_size: object, rank: int, return_indices: bool
) -> Any:
    """Return maxima, and the flat row-major index of each if they are requested.

    Columns are reduced before rows, and the first of equal maxima is taken.
    """
    largest = adaptive_pool(name, x, output_size, rank, "max")
    if not return_indices:
        return largest
    tensor = as_float(name, x)
    counts = _counts(name, tensor, output_size, rank)
    lengths = tensor.shape[tensor.ndim - rank :]
    flat: Tensor | None = None
    for axis in range(-1, -rank - 1, -1):
        values, indices = [], []
        for interval in _intervals(lengths[axis], counts[axis]):
            part = _along(tensor, axis, interval)
            argmax = part.argmax(axis, keepdims=True)
            values.append(take_along_axis(part, argmax, axis=axis))
            index = (argmax + interval.start) * prod(lengths[rank + axis + 1 :])
            if flat is not None:
                inner = _along(flat, axis, interval)
                index = index + take_along_axis(inner, argmax, axis=axis)
            indices.append(index)
        tensor, flat = concat(values, axis=axis), concat(indices, axis=axis)
    return largest, flat


def adaptive_avg_pool1d(x: ArrayLike, output_size: Numbers) -> Tensor:
    """Return the means of `output_size` even parts of `(n, channels, length)`.

    >>> tw.nn.adaptive_avg_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[2., 1.]]])
    """
    return adaptive_pool("adaptive_avg_pool1d", x, output_size, 1, "mean")


def adaptive_avg_pool2d(x: ArrayLike, output_size: Any) -> Tensor:
    """Return the means of even parts of images: `output_size` is `(h', w')`.

    One number counts for both axes, None leaves an axis as it is.

    >>> tw.nn.adaptive_avg_pool2d(tw.ones((2, 3, 7, 5)), (2, None)).shape
    (2, 3, 2, 5)
    """
    return adaptive_pool("adaptive_avg_pool2d", x, output_size, 2, "mean")


def adaptive_avg_pool3d(x: ArrayLike, output_size: Any) -> Tensor:
    """Return the means of even parts of volumes: `output_size` is `(d', h', w')`.

    One number counts for all axes, None leaves an axis as it is.

    >>> tw.nn.adaptive_avg_pool3d(tw.ones((2, 3, 7, 5, 4)), (2, None, 1)).shape
    (2, 3, 2, 5, 1)
    """
    return adaptive_pool("adaptive_avg_pool3d", x, output_size, 3, "mean")


@overload
def adaptive_max_pool1d(
    x: ArrayLike, output_size: Numbers, return_indices: Literal[False] = False
) -> Tensor: ...


@overload
def adaptive_max_pool1d(
    x: ArrayLike, output_size: Numbers, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def adaptive_max_pool1d(
    x: ArrayLike, output_size: Numbers, return_indices: bool = False
) -> Any:
    """Return the largest of `output_size` even parts of `(n, channels, length)`.

    >>> tw.nn.adaptive_max_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[3., 2.]]])
    """
    return _adaptive_max_pool("adaptive_max_pool1d", x, output_size, 1, return_indices)


@overload
def adaptive_max_pool2d(
    x: ArrayLike, output_size: Any, return_indices: Literal[False] = False
) -> Tensor: ...


@overload
def adaptive_max_pool2d(
    x: ArrayLike, output_size: Any, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def adaptive_max_pool2d(
    x: ArrayLike, output_size: Any, return_indices: bool = False
) -> Any:
    """Return the largest of even parts of images: `output_size` is `(h', w')`.

    >>> tw.nn.adaptive_max_pool2d(tw.ones((2, 3, 7, 5)), 1).shape
    (2, 3, 1, 1)
    """
    return _adaptive_max_pool("adaptive_max_pool2d", x, output_size, 2, return_indices)


def adaptive_max_pool3d(
    x: ArrayLike, output_size: Any, return_indices: bool = False
) -> Any:
    """Return the largest of even parts of volumes: `output_size` is `(d', h', w')`.

    >>> tw.nn.adaptive_max_pool3d(tw.ones((2, 3, 7, 5, 4)), 1).shape
    (2, 3, 1, 1, 1)
    """
    return _adaptive_max_pool("adaptive_max_pool3d", x, output_size, 3, return_indices)


class _Pool(FunctionModule):
    """A reduction of each window."""

    kernel_size: Numbers
    stride: Numbers | None = None
    padding: Numbers = 0

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

    dilation: Numbers = 1
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


class _AdaptivePool(FunctionModule):
    """A reduction of even parts of the last axes."""

    output_size: Any

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptivePool):
    """The largest of even parts, and its index."""

    return_indices: bool = False


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


class AdaptiveAvgPool1d(_AdaptivePool):
    """The means of even parts; see `adaptive_avg_pool1d`.

    >>> tw.nn.AdaptiveAvgPool1d(3)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    _function = staticmethod(adaptive_avg_pool1d)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest of even parts; see `adaptive_max_pool1d`.

    >>> tw.nn.AdaptiveMaxPool1d(3)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    _function = staticmethod(adaptive_max_pool1d)


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


class AdaptiveAvgPool2d(_AdaptivePool):
    """The means of even parts; see `adaptive_avg_pool2d`.

    >>> tw.nn.AdaptiveAvgPool2d(3)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    _function = staticmethod(adaptive_avg_pool2d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest of even parts; see `adaptive_max_pool2d`.

    >>> tw.nn.AdaptiveMaxPool2d(3)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    _function = staticmethod(adaptive_max_pool2d)


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


class AdaptiveAvgPool3d(_AdaptivePool):
    """The means of even parts; see `adaptive_avg_pool3d`.

    >>> tw.nn.AdaptiveAvgPool3d(3)(tw.ones((1, 2, 6, 6, 6))).shape
    (1, 2, 3, 3, 3)
    """

    _function = staticmethod(adaptive_avg_pool3d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest of even parts; see `adaptive_max_pool3d`.

    >>> tw.nn.AdaptiveMaxPool3d(3)(tw.ones((1, 2, 6, 6, 6))).shape
    (1, 2, 3, 3, 3)
    """

    _function = staticmethod(adaptive_max_pool3d)
