"""Max and average pooling, also adaptive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from tensorweb.nn.convolution import numbers
from tensorweb.nn.module import Module
from tensorweb.nodes import convolution as build
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "max_pool1d",
    "max_pool2d",
]


Numbers = SupportsIndex | Iterable[SupportsIndex]


class _Windows:
    """Validated windows over the last axes; `ceil_mode` extends the padding's end."""

    def __init__(
        self,
        name: str,
        x: Tensor,
        count: int,
        options: tuple[Numbers, Numbers | None, Numbers, Numbers],
        ceil_mode: bool,
    ) -> None:
        size, step, border, gap = options
        self.size = numbers(name, "kernel_size", size, count, 1)
        given = self.size if step is None else step
        self.step = numbers(name, "stride", given, count, 1)
        self.border = numbers(name, "padding", border, count, 0)
        self.gap = numbers(name, "dilation", gap, count, 1)
        self.lengths = x.shape[x.ndim - count :]
        if x.ndim not in (count + 1, count + 2):
            axes = ("length",) if count == 1 else ("h", "w")
            raise ShapeError(
                f"{name}: the input has shape {x.shape}; it takes "
                f"(n, channels, {', '.join(axes)}), or one example."
            )
        ends = []
        for axis in range(count):
            reach = self.gap[axis] * (self.size[axis] - 1) + 1
            if self.border[axis] > reach // 2:
                raise DataError(
                    f"{name}: padding {self.border} for windows of {self.size}; it is "
                    "half a window at most."
                )
            whole = self.lengths[axis] + 2 * self.border[axis]
            if whole < reach:
                raise ShapeError(
                    f"{name}: a window reaches over {reach}, and axis {axis - count} "
                    f"of shape {x.shape} is {whole} long with its border."
                )
            ends.append(self._end(axis, whole, reach) if ceil_mode else 0)
        pairs = [
            (width, width + end) for width, end in zip(self.border, ends, strict=True)
        ]
        self.pairs = pairs
        self.how = build.windows(
            name, self.lengths, self.size, self.step, pairs, self.gap
        )

    def _end(self, axis: int, whole: int, reach: int) -> int:
        """Return how much to extend the padding, so that windows cover all inputs."""
        step = self.step[axis]
        last = -(-(whole - reach) // step)
        if last * step >= self.lengths[axis] + self.border[axis]:
            last -= 1
        return max(last * step + reach - whole, 0)

    def over(self, name: str, x: Tensor, is_lowest: bool) -> Tensor:
        """Return the windows, with their elements along the last axes."""
        return Tensor(build.pooled(name, x.node, self.how, is_lowest))

    def indices(self, seen: Tensor) -> Tensor:
        """Return the flat row-major index in the input of each window's maximum.

        Args:
            seen: the windows, as `over` returns them.
        """
        count = len(self.size)
        flat = seen.reshape(*seen.shape[:-count], prod(self.size)).argmax(-1)
        found = zeros((), dtype=flat.dtype, device=flat.device)
        for axis in range(count):
            border, gap, step = self.border[axis], self.gap[axis], self.step[axis]
            element = flat // prod(self.size[axis + 1 :]) % self.size[axis]
            windows = seen.shape[seen.ndim - 2 * count + axis]
            starts = [number * step - border for number in range(windows)]
            # A window of -inf alone has its largest in the border, which is no input.
            firsts = [start + -(min(start, 0) // gap) * gap for start in starts]
            column = (windows, *(1 for _ in range(count - axis - 1)))
            first, start = (
                asarray(each, flat.dtype, device=flat.device).reshape(column)
                for each in (firsts, starts)
            )
            found = found * self.lengths[axis] + maximum(start + element * gap, first)
        return found

    def counts(self, with_border: bool) -> list[list[int]]:
        """Return the divisor of each window's mean, by axis."""
        found = []
        for axis, length in enumerate(self.lengths):
            border, size, step = self.border[axis], self.size[axis], self.step[axis]
            before, after = self.pairs[axis]
            count = (length + before + after - size) // step + 1
            row = []
            for number in range(count):
                start = number * step - border
                if with_border:
                    row.append(min(start + size, length + border) - start)
                else:
                    row.append(min(start + size, length) - max(start, 0))
            found.append(row)
        return found


def _max_pool(
    name: str,
    x: ArrayLike,
    count: int,
    options: tuple[Numbers, Numbers | None, Numbers, Numbers],
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    given = as_float(name, x)
    windows = _Windows(name, given, count, options, ceil_mode)
    seen = windows.over(name, given, is_lowest=True)
    found = seen.max(tuple(range(-count, 0)))
    return (found, windows.indices(seen)) if return_indices else found


def _avg_pool(
    name: str,
    x: ArrayLike,
    count: int,
    options: tuple[Numbers, Numbers | None, Numbers, Numbers],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: float | None = None,
) -> Tensor:
    given = as_float(name, x)
    windows = _Windows(name, given, count, options, ceil_mode)
    axes = tuple(range(-count, 0))
    seen = windows.over(name, given, is_lowest=False)
    if divisor is not None:
        return seen.sum(axes) / divisor
    counts = windows.counts(count_include_pad)
    sizes = zip(counts, windows.size, strict=True)
    if all(each == size for row, size in sizes for each in row):
        return seen.mean(axes)
    total = seen.sum(axes)
    for axis, row in zip(axes, counts, strict=True):
        column = asarray([1 / each for each in row], total.dtype, device=total.device)
        total = total * column.reshape(-1, *(1 for _ in range(-axis - 1)))
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


@lru_cache(maxsize=64)
def _parts(length: int, count: int) -> tuple[tuple[int, int], ...]:
    """Return start and end of each of `count` adaptive intervals of an axis."""
    return tuple(
        (i * length // count, -(-(i + 1) * length // count)) for i in range(count)
    )


def _adaptive(
    name: str, x: ArrayLike, sizes: Sequence[int | None], reduction: str
) -> Tensor:
    """Return means or maxima of adaptive intervals of the last axes."""
    given = as_float(name, x)
    count = len(sizes)
    if given.ndim not in (count + 1, count + 2):
        raise ShapeError(
            f"{name}: the input has shape {given.shape}; it has {count + 2} axes, or "
            f"{count + 1} for one example."
        )
    for axis, size in enumerate(sizes, -count):
        length = given.shape[axis]
        parts = length if size is None else size
        if length % parts == 0:
            cut = axis % given.ndim
            shape = (*given.shape[:cut], parts, length // parts)
            rows = given.reshape(*shape, *given.shape[cut + 1 :])
            given = getattr(rows, reduction)(cut + 1)
            continue
        whole: list[Any] = [slice(None)] * given.ndim
        found = []
        for first, last in _parts(length, parts):
            whole[axis] = slice(first, last)
            found.append(getattr(given[tuple(whole)], reduction)(axis))
        given = stack(found, axis=axis)
    return given


def _adaptive_indices(x: Tensor, sizes: Sequence[int | None]) -> Tensor:
    """Return the flat row-major index of the maximum of each adaptive interval.

    Rows are searched before columns, so that the first of equal numbers is found.
    """
    count = len(sizes)
    found: Tensor | None = None
    lengths = x.shape[x.ndim - count :]
    for axis in range(-1, -count - 1, -1):
        size, length = sizes[axis], lengths[axis]
        values, indices = [], []
        for first, last in _parts(length, length if size is None else size):
            part: list[Any] = [slice(None)] * x.ndim
            part[axis] = slice(first, last)
            numbers = x[tuple(part)]
            largest = numbers.argmax(axis, keepdims=True)
            values.append(take_along_axis(numbers, largest, axis=axis))
            index = (largest + first) * prod(lengths[count + axis + 1 :])
            if found is not None:
                below = found[tuple(part)]
                index = index + take_along_axis(below, largest, axis=axis)
            indices.append(index)
        x, found = concat(values, axis=axis), concat(indices, axis=axis)
    assert found is not None, "internal: there is an axis"
    return found


def _sizes(name: str, given: object, count: int) -> tuple[int | None, ...]:
    """Return one output length per axis, None to retain an axis."""
    each: Any = given if isinstance(given, tuple | list) else (given,) * count
    if len(each) == count:
        return tuple(
            None if size is None else numbers(name, "output_size", size, 1, 1)[0]
            for size in each
        )
    raise DataError(f"{name}: output_size is {given!r}; give {count} integers.")


def adaptive_avg_pool1d(x: ArrayLike, output_size: Numbers) -> Tensor:
    """Return the means of `output_size` even parts of `(n, channels, length)`.

    >>> tw.nn.adaptive_avg_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[2., 1.]]])
    """
    name = "adaptive_avg_pool1d"
    return _adaptive(name, x, _sizes(name, output_size, 1), "mean")


def adaptive_avg_pool2d(x: ArrayLike, output_size: Any) -> Tensor:
    """Return the means of even parts of images: `output_size` is `(h', w')`.

    One number counts for both axes, None leaves an axis as it is.

    >>> tw.nn.adaptive_avg_pool2d(tw.ones((2, 3, 7, 5)), (2, None)).shape
    (2, 3, 2, 5)
    """
    name = "adaptive_avg_pool2d"
    return _adaptive(name, x, _sizes(name, output_size, 2), "mean")


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
    name = "adaptive_max_pool1d"
    sizes = _sizes(name, output_size, 1)
    found = _adaptive(name, x, sizes, "max")
    if not return_indices:
        return found
    return found, _adaptive_indices(as_float(name, x), sizes)


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
    name = "adaptive_max_pool2d"
    sizes = _sizes(name, output_size, 2)
    found = _adaptive(name, x, sizes, "max")
    if not return_indices:
        return found
    return found, _adaptive_indices(as_float(name, x), sizes)


class _MaxPool(Module):
    """The largest of each window."""

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        """Store the settings, which are those of the function."""
        self.return_indices = return_indices
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _AvgPool(Module):
    """The mean of each window."""

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        """Store the settings, which are those of the function."""
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad = count_include_pad

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class _Adaptive(Module):
    """Even parts of the last axes."""

    def __init__(self, output_size: Any) -> None:
        """Note how many parts; one number, or one for each axis."""
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"output_size={self.output_size}"


class _AdaptiveMax(_Adaptive):
    """The largest of even parts, and where it is."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        """Note how many parts; one number, or one for each axis."""
        super().__init__(output_size)
        self.return_indices = return_indices


class MaxPool1d(_MaxPool):
    """The largest of each window of `(n, channels, length)`; see `max_pool1d`.

    >>> tw.nn.MaxPool1d(2)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        options = (self.kernel_size, self.stride, self.padding, self.dilation)
        pool: Any = max_pool1d
        return pool(x, *options, self.ceil_mode, self.return_indices)


class AvgPool1d(_AvgPool):
    """The mean of each window of `(n, channels, length)`; see `avg_pool1d`.

    >>> tw.nn.AvgPool1d(2)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        options = (self.kernel_size, self.stride, self.padding, self.ceil_mode)
        return avg_pool1d(x, *options, self.count_include_pad)


class AdaptiveAvgPool1d(_Adaptive):
    """The means of even parts; see `adaptive_avg_pool1d`.

    >>> tw.nn.AdaptiveAvgPool1d(3)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        return adaptive_avg_pool1d(x, self.output_size)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest of even parts; see `adaptive_max_pool1d`.

    >>> tw.nn.AdaptiveMaxPool1d(3)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        pool: Any = adaptive_max_pool1d
        return pool(x, self.output_size, self.return_indices)


class MaxPool2d(_MaxPool):
    """The largest of each window of `(n, channels, h, w)`; see `max_pool2d`.

    >>> tw.nn.MaxPool2d(2)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        options = (self.kernel_size, self.stride, self.padding, self.dilation)
        pool: Any = max_pool2d
        return pool(x, *options, self.ceil_mode, self.return_indices)


class AvgPool2d(_AvgPool):
    """The mean of each window of `(n, channels, h, w)`; see `avg_pool2d`.

    >>> tw.nn.AvgPool2d(2)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: float | None = None,
    ) -> None:
        """Store the settings, which are those of the function."""
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        options = (self.kernel_size, self.stride, self.padding, self.ceil_mode)
        return avg_pool2d(x, *options, self.count_include_pad, self.divisor_override)


class AdaptiveAvgPool2d(_Adaptive):
    """The means of even parts; see `adaptive_avg_pool2d`.

    >>> tw.nn.AdaptiveAvgPool2d(3)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        return adaptive_avg_pool2d(x, self.output_size)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest of even parts; see `adaptive_max_pool2d`.

    >>> tw.nn.AdaptiveMaxPool2d(3)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        pool: Any = adaptive_max_pool2d
        return pool(x, self.output_size, self.return_indices)
