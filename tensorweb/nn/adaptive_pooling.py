"""Max and average pooling of even parts, as many as are asked for."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Literal, overload

from tensorweb.errors import DataError, ShapeError, expected_clash
from tensorweb.functions import concat, stack, take_along_axis
from tensorweb.nn.arguments import as_float, integers_per_axis
from tensorweb.nn.containers import FunctionModule
from tensorweb.nodes.convolution import PerAxis
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


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
        None if size is None else integers_per_axis(name, "output_size", size, 1, 1)[0]
        for size in sizes
    ]
    if x.ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"{name}: the input has shape {x.shape}; it has {rank + 2} axes, or "
            f"{rank + 1} for one example.",
            clash=expected_clash(x.shape, (-1,) * (rank + 2), has_one=True),
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


def adaptive_avg_pool1d(x: ArrayLike, output_size: PerAxis) -> Tensor:
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
    x: ArrayLike, output_size: PerAxis, return_indices: Literal[False] = False
) -> Tensor: ...


@overload
def adaptive_max_pool1d(
    x: ArrayLike, output_size: PerAxis, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def adaptive_max_pool1d(
    x: ArrayLike, output_size: PerAxis, return_indices: bool = False
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


class _AdaptivePool(FunctionModule):
    """A reduction of even parts of the last axes."""

    output_size: Any

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptivePool):
    """The largest of even parts, and its index."""

    return_indices: bool = False


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


declare_public(__name__, hidden="adaptive_pool")
