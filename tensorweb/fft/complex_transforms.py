"""Transforms from complex numbers to complex ones, along one axis or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from tensorweb.fft.arguments import Norm, along_many, along_one, scale
from tensorweb.functions import asarray
from tensorweb.nodes.fourier.axes import complex_to_complex
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def fft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the discrete Fourier transform along an axis.

    `X[k] = sum over j of x[j] · exp(-2πi · j · k / n)`. The shape is kept but for the
    axis, which has n elements then. float32 and complex64 give complex64, float64 and
    complex128 give complex128.

    Args:
        x: complex or floating numbers.
        n: how many points to transform: the axis is cut, or filled up with zeros.
        axis: which one.
        norm: who divides by n: `"backward"`, the inverse does; `"forward"`, this one;
            `"ortho"`, both divide by its root.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: there is no such norm.

    >>> tw.fft.fft([1.0, 0.0, 0.0, 0.0])
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _along_one("fft", x, n, axis, norm, is_inverse=False)


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
        DataError: there is no such norm.

    >>> tw.fft.ifft(tw.ones(4))
    tensor([1.+0.j, 0.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    return _along_one("ifft", x, n, axis, norm, is_inverse=True)


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
        s: how many points each axis shall have, -1 for those that are there; without
            `axes` these are the last axes.
        axes: which ones; all of them unless said otherwise.
        norm: as for `fft`, by the product of all lengths.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is neither complex nor floating.
        DataError: there is no such norm.

    >>> tw.fft.fftn(tw.ones((2, 2)))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _along_many("fftn", x, s, axes, norm, is_inverse=False)


def ifftn(
    x: ArrayLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the inverse of `fftn` along several axes; arguments are those of `fftn`.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is neither complex nor floating.
        DataError: there is no such norm.

    >>> tw.fft.ifftn(tw.fft.fftn([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]], dtype=complex64)
    """
    return _along_many("ifftn", x, s, axes, norm, is_inverse=True)


def _along_one(
    name: str,
    x: ArrayLike,
    n: SupportsIndex | None,
    axis: SupportsIndex,
    norm: Norm,
    *,
    is_inverse: bool,
) -> Tensor:
    node = asarray(x).node
    lengths = along_one(name, node.shape, n, axis)
    factor = scale(name, norm, lengths, is_inverse=is_inverse)
    sign = 1 if is_inverse else -1
    return Tensor(complex_to_complex(name, node, lengths, sign, factor))


def _along_many(
    name: str,
    x: ArrayLike,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: Norm,
    *,
    is_inverse: bool,
) -> Tensor:
    node = asarray(x).node
    lengths = along_many(name, node.shape, s, axes)
    factor = scale(name, norm, lengths, is_inverse=is_inverse)
    sign = 1 if is_inverse else -1
    return Tensor(complex_to_complex(name, node, lengths, sign, factor))
