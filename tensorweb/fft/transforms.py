"""Transforms of complex numbers, along one axis or several."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Literal, SupportsIndex

from tensorweb.errors import AxisError, DataError, ShapeError
from tensorweb.functions import asarray
from tensorweb.graph.node import Node
from tensorweb.nodes.complex_parts import conjugate
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.fourier import (
    complex_to_complex,
    complex_to_real,
    real_to_complex,
)
from tensorweb.ops import OPS
from tensorweb.public_names import declare_public
from tensorweb.shapes import Shape, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

Norm = Literal["backward", "ortho", "forward"]

Lengths = list[tuple[int, int]]
"""Axes, each with the count of points of its transform."""

NORMS = ("backward", "ortho", "forward")


def _along_axis(
    name: str, x: ArrayLike, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm
) -> Tensor:
    """Return the transform `name` along one axis.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the transform does not take this dtype.
        DataError: the norm is unknown.
    """
    node = asarray(x).node
    index = normalize_axis(axis, len(node.shape))
    length = _axis_length(name, node.shape, index) if n is None else n
    lengths = [(index, _point_count(name, "n", length))]
    return _transform(name, node, lengths, n is not None, norm)


def _along_axes(
    name: str,
    x: ArrayLike,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: Norm,
) -> Tensor:
    """Return the transform `name` along several axes.

    Raises:
        AxisError: an axis does not exist or is given twice, or a real transform has no
            axis.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ in
            length.
        DTypeError: the transform does not take this dtype.
        DataError: the norm is unknown.
    """
    node = asarray(x).node
    lengths = _axes_and_lengths(name, node.shape, s, axes)
    if name in ("rfftn", "irfftn") and not lengths:
        raise AxisError(f"{name}: it needs at least one axis; the last one is halved.")
    return _transform(name, node, lengths, s is not None, norm)


def _transform(
    name: str, node: Node, lengths: Lengths, has_lengths: bool, norm: object
) -> Tensor:
    """Return the transform `name` along axes with these counts of points."""
    is_inverse = name.startswith("i")
    if name in ("fft", "ifft", "fftn", "ifftn"):
        factor = _scale(name, norm, lengths, is_inverse)
        sign = 1 if is_inverse else -1
        return Tensor(complex_to_complex(name, node, lengths, sign, factor))
    if name in ("rfft", "rfftn", "ihfft"):
        factor = _scale(name, norm, lengths, is_inverse)
        spectrum = real_to_complex(name, node, lengths, factor)
        return Tensor(_conjugate(spectrum) if name == "ihfft" else spectrum)
    if not has_lengths:
        lengths = _real_lengths(name, lengths)
    factor = _scale(name, norm, lengths, is_inverse)
    spectrum = _conjugate(node) if name == "hfft" else node
    return Tensor(complex_to_real(name, spectrum, lengths, factor))


def _conjugate(node: Node) -> Node:
    return conjugate(node, lambda part: elementwise(OPS["negative"], part))


def _scale(name: str, norm: object, lengths: Lengths, is_inverse: bool) -> float:
    """Return the factor of a transform.

    Raises:
        DataError: the norm is unknown.
    """
    if norm not in NORMS:
        raise DataError(
            f"{name}: norm {norm!r}; it is 'backward' (the inverse divides by the "
            "number of points), 'forward' (the other one does) or 'ortho' (both divide "
            "by its root)."
        )
    points = math.prod(length for _, length in lengths)
    if norm == "ortho":
        return 1 / math.sqrt(points)
    return 1 / points if (norm == "backward") == is_inverse else 1.0


def _axes_and_lengths(
    name: str,
    shape: Shape,
    s: Iterable[SupportsIndex | None] | None,
    axes: Iterable[SupportsIndex] | None,
) -> Lengths:
    """Return the axes of a transform as indices, and their counts of points."""
    sizes = None
    if s is not None:
        sizes = _integers(name, "s", [-1 if size is None else size for size in s])
    if axes is not None:
        indices = [
            normalize_axis(axis, len(shape)) for axis in _integers(name, "axes", axes)
        ]
    elif sizes is None:
        indices = list(range(len(shape)))
    elif len(sizes) <= len(shape):
        indices = list(range(len(shape) - len(sizes), len(shape)))
    else:
        raise ShapeError(
            f"{name}: s has {len(sizes)} lengths for the {len(shape)} axes of "
            f"shape {shape}."
        )
    if len(set(indices)) != len(indices):
        raise AxisError(f"{name}: axes {tuple(indices)} name the same axis twice.")
    if sizes is None:
        sizes = [-1] * len(indices)
    if len(sizes) != len(indices):
        raise ShapeError(
            f"{name}: s has {len(sizes)} lengths and axes {len(indices)}; give one "
            "length for each axis."
        )
    return [
        (
            index,
            _axis_length(name, shape, index)
            if size == -1
            else _point_count(name, "s", size),
        )
        for index, size in zip(indices, sizes, strict=True)
    ]


def _integers(name: str, argument: str, items: Iterable[SupportsIndex]) -> list[int]:
    try:
        return [operator.index(item) for item in items]
    except TypeError as error:
        raise ShapeError(
            f"{name}: {argument} is {items!r}; give a tuple of integers."
        ) from error


def _axis_length(name: str, shape: Shape, axis: int) -> int:
    """Return the length of an axis as the count of points of its transform."""
    if not shape[axis]:
        raise ShapeError(
            f"{name}: axis {axis} of shape {shape} is empty; a transform has 1 point "
            "or more. Give a length to fill it with zeros."
        )
    return shape[axis]


def _point_count(name: str, argument: str, n: SupportsIndex) -> int:
    """Return a requested count of points as an integer."""
    try:
        count = operator.index(n)
    except TypeError as error:
        raise ShapeError(f"{name}: {argument} is {n!r}; give an integer.") from error
    if count < 1:
        raise ShapeError(
            f"{name}: {argument} is {count}; a transform has 1 point or more."
        )
    return count


def _real_lengths(name: str, lengths: Lengths) -> Lengths:
    """Return axes, the last one with `2 * (m - 1)` real points for m elements.

    Raises:
        ShapeError: there is one element.
    """
    *others, (axis, count) = lengths
    if count == 1:
        raise ShapeError(
            f"{name}: axis {axis} has 1 element, which is the transform of 2 * (1 - 1) "
            "= 0 points; ask for 1 or more."
        )
    return [*others, (axis, 2 * (count - 1))]


def fft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the discrete Fourier transform along an axis.

    `X[k] = sum over j of x[j] · exp(-2πi · j · k / n)`. The result has the shape of x
    with n elements along the axis. float32 and complex64 give complex64, float64 and
    complex128 give complex128.

    Args:
        x: complex or floating numbers.
        n: number of points: the axis is truncated or zero-padded to it.
        axis: the axis of the transform.
        norm: the transform that divides by n: `"backward"` the inverse, `"forward"`
            this one; with `"ortho"` both divide by its square root.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.fft([1.0, 0.0, 0.0, 0.0])
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _along_axis("fft", x, n, axis, norm)


def ifft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the inverse of `fft` along an axis.

    `x[j] = sum over k of X[k] · exp(2πi · j · k / n) / n`; the rest is as for `fft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.ifft(tw.ones(4))
    tensor([1.+0.j, 0.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    return _along_axis("ifft", x, n, axis, norm)


def fftn(
    x: ArrayLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the discrete Fourier transform along several axes, one after the other.

    Args:
        x: complex or floating numbers.
        s: number of points of each axis, -1 for its length; without `axes` they are
            those of the last axes.
        axes: the axes of the transform; all axes by default.
        norm: as for `fft`, by the product of all lengths.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.fftn(tw.ones((2, 2)))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _along_axes("fftn", x, s, axes, norm)


def ifftn(
    x: ArrayLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the inverse of `fftn` along several axes; arguments as for `fftn`.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.ifftn(tw.fft.fftn([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]], dtype=complex64)
    """
    return _along_axes("ifftn", x, s, axes, norm)


# Transforms of real numbers, whose second half is the conjugate of the first.
#
# `rfft` and its variants return or take the first half; for `hfft` and `ihfft` the
# spectrum is real.


def rfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the first half of the transform of real numbers along an axis.

    It has `n // 2 + 1` elements, at the frequencies of `rfftfreq`; the other elements
    are their conjugates. An even n costs half as much as `fft`.

    Args:
        x: real floating numbers.
        n: number of points: the axis is truncated or zero-padded to it.
        axis: the axis of the transform.
        norm: as for `fft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is not real and floating.
        DataError: the norm is unknown.

    >>> tw.fft.rfft([0.0, 1.0, 0.0, 0.0])
    tensor([ 1.+0.j,  0.-1.j, -1.+0.j], dtype=complex64)
    """
    return _along_axis("rfft", x, n, axis, norm)


def irfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the real numbers whose `rfft` is given, along an axis.

    The imaginary part of the first element, and of the last if n is even, counts as
    zero.

    Args:
        x: complex numbers, or floating ones.
        n: number of real numbers; `2 * (m - 1)` for m elements by default, so an odd
            number must be given.
        axis: the axis of the transform.
        norm: as for `ifft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.irfft(tw.fft.rfft([1.0, 2.0, 3.0]), n=3)
    tensor([1., 2., 3.])
    """
    return _along_axis("irfft", x, n, axis, norm)


def rfftn(
    x: ArrayLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the transform of real numbers along several axes, half of the last one.

    Args:
        x: real floating numbers.
        s: number of points of each axis, -1 for its length; without `axes` they are
            those of the last axes.
        axes: the axes of the transform; all axes by default.
        norm: as for `fftn`.

    Raises:
        AxisError: an axis does not exist or is given twice, or there is no axis.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is not real and floating.
        DataError: the norm is unknown.

    >>> tw.fft.rfftn(tw.ones((2, 4)))
    tensor([[8.+0.j, 0.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _along_axes("rfftn", x, s, axes, norm)


def irfftn(
    x: ArrayLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the real numbers whose `rfftn` is given, along several axes.

    Args:
        x: complex numbers, or floating ones.
        s: number of real numbers along each axis, -1 for the number of elements, along
            the last axis too; without `s` the last axis has `2 * (m - 1)` real numbers
            for m elements.
        axes: the axes of the transform; all axes by default.
        norm: as for `ifftn`.

    Raises:
        AxisError: an axis does not exist or is given twice, or there is no axis.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.irfftn(tw.fft.rfftn([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _along_axes("irfftn", x, s, axes, norm)


def hfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the real transform of a signal whose second half mirrors the first.

    The argument is the first half; the second half is its conjugate in reverse order.
    The imaginary part of the first element, and of the last if n is even, counts as
    zero.

    Args:
        x: complex numbers, or floating ones.
        n: number of real numbers; `2 * (m - 1)` for m elements by default.
        axis: the axis of the transform.
        norm: as for `fft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: the norm is unknown.

    >>> tw.fft.hfft([1.0, 2.0, 3.0])
    tensor([ 8., -2.,  0., -2.])
    """
    return _along_axis("hfft", x, n, axis, norm)


def ihfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the first half of the signal whose transform is real: undo `hfft`.

    Args:
        x: real floating numbers.
        n: number of points: the axis is truncated or zero-padded to it.
        axis: the axis of the transform.
        norm: as for `ifft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is not real and floating.
        DataError: the norm is unknown.

    >>> tw.fft.ihfft([8.0, -2.0, 0.0, -2.0])
    tensor([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    return _along_axis("ihfft", x, n, axis, norm)


declare_public(__name__)
