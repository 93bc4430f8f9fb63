"""Pooling as modules, so that `Sequential` can show and copy it."""

from __future__ import annotations

from typing import Any

from tensorweb.nn import pooling as functions
from tensorweb.nn.module import Module
from tensorweb.nn.pooling import Numbers
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
]


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
        pool: Any = functions.max_pool1d
        return pool(x, *options, self.ceil_mode, self.return_indices)


class AvgPool1d(_AvgPool):
    """The mean of each window of `(n, channels, length)`; see `avg_pool1d`.

    >>> tw.nn.AvgPool1d(2)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        options = (self.kernel_size, self.stride, self.padding, self.ceil_mode)
        return functions.avg_pool1d(x, *options, self.count_include_pad)


class AdaptiveAvgPool1d(_Adaptive):
    """The means of even parts; see `adaptive_avg_pool1d`.

    >>> tw.nn.AdaptiveAvgPool1d(3)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        return functions.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest of even parts; see `adaptive_max_pool1d`.

    >>> tw.nn.AdaptiveMaxPool1d(3)(tw.ones((1, 2, 6))).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        pool: Any = functions.adaptive_max_pool1d
        return pool(x, self.output_size, self.return_indices)


class MaxPool2d(_MaxPool):
    """The largest of each window of `(n, channels, h, w)`; see `max_pool2d`.

    >>> tw.nn.MaxPool2d(2)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        options = (self.kernel_size, self.stride, self.padding, self.dilation)
        pool: Any = functions.max_pool2d
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
        return functions.avg_pool2d(
            x, *options, self.count_include_pad, self.divisor_override
        )


class AdaptiveAvgPool2d(_Adaptive):
    """The means of even parts; see `adaptive_avg_pool2d`.

    >>> tw.nn.AdaptiveAvgPool2d(3)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the pooled input; see the function."""
        return functions.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest of even parts; see `adaptive_max_pool2d`.

    >>> tw.nn.AdaptiveMaxPool2d(3)(tw.ones((1, 2, 6, 6))).shape
    (1, 2, 3, 3)
    """

    def forward(self, x: ArrayLike) -> Any:
        """Return the pooled input, with indices if requested; see the function."""
        pool: Any = functions.adaptive_max_pool2d
        return pool(x, self.output_size, self.return_indices)
