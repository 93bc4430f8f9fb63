"""Transforms of real numbers, whose second half is the first one's mirror image.

`rfft` and its kin give or take the first half; of `hfft` and `ihfft` the real numbers
are on the side of the frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from tensorweb.fft.arguments import (
    Norm,
    along_many,
    along_one,
    of_real,
    require_axes,
    scale,
)
from tensorweb.functions import asarray
from tensorweb.graph.node import Node
from tensorweb.nodes.complex_parts import conjugate
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.fourier.axes import complex_to_real, real_to_complex
from tensorweb.ops import OPS
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def rfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the first half of the transform of real numbers along an axis.

    These are the `n // 2 + 1` elements at the frequencies of `rfftfreq`; the others
    are their conjugates. An even n costs half as much as `fft`.

    Args:
        x: real floating numbers.
        n: how many points to transform: the axis is cut, or filled up with zeros.
        axis: which one.
        norm: as for `fft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is not real and floating.
        DataError: there is no such norm.

    >>> tw.fft.rfft([0.0, 1.0, 0.0, 0.0])
    tensor([ 1.+0.j,  0.-1.j, -1.+0.j], dtype=complex64)
    """
    node = asarray(x).node
    lengths = along_one("rfft", node.shape, n, axis)
    factor = scale("rfft", norm, lengths, is_inverse=False)
    return Tensor(real_to_complex("rfft", node, lengths, factor))


def irfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the real numbers whose `rfft` is given, along an axis.

    The imaginary part of the first element, and of the last where n is even, counts as
    zero.

    Args:
        x: complex numbers, or floating ones.
        n: how many real numbers there are; `2 * (m - 1)` for m elements unless said
            otherwise, so give it where it is odd.
        axis: which one.
        norm: as for `ifft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: there is no such norm.

    >>> tw.fft.irfft(tw.fft.rfft([1.0, 2.0, 3.0]), n=3)
    tensor([1., 2., 3.])
    """
    node = asarray(x).node
    lengths = along_one("irfft", node.shape, n, axis)
    lengths = of_real("irfft", lengths, is_asked=n is not None)
    factor = scale("irfft", norm, lengths, is_inverse=True)
    return Tensor(complex_to_real("irfft", node, lengths, factor))


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
        s: how many points each axis shall have, -1 for those that are there; without
            `axes` these are the last axes.
        axes: which ones; all of them unless said otherwise.
        norm: as for `fftn`.

    Raises:
        AxisError: an axis does not exist or is given twice, or there is none.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is not real and floating.
        DataError: there is no such norm.

    >>> tw.fft.rfftn(tw.ones((2, 4)))
    tensor([[8.+0.j, 0.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j, 0.+0.j]], dtype=complex64)
    """
    node = asarray(x).node
    lengths = require_axes("rfftn", along_many("rfftn", node.shape, s, axes))
    factor = scale("rfftn", norm, lengths, is_inverse=False)
    return Tensor(real_to_complex("rfftn", node, lengths, factor))


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
        s: how many real numbers there are along each axis, -1 for as many as there are
            elements, along the last axis too; without `s` that has `2 * (m - 1)` real
            numbers for m elements.
        axes: which ones; all of them unless said otherwise.
        norm: as for `ifftn`.

    Raises:
        AxisError: an axis does not exist or is given twice, or there is none.
        ShapeError: an axis is empty, a length less than 1, or `s` and `axes` differ.
        DTypeError: the dtype is neither complex nor floating.
        DataError: there is no such norm.

    >>> tw.fft.irfftn(tw.fft.rfftn([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    node = asarray(x).node
    lengths = require_axes("irfftn", along_many("irfftn", node.shape, s, axes))
    lengths = of_real("irfftn", lengths, is_asked=s is not None)
    factor = scale("irfftn", norm, lengths, is_inverse=True)
    return Tensor(complex_to_real("irfftn", node, lengths, factor))


def hfft(
    x: ArrayLike,
    /,
    *,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Return the real transform of a signal whose second half mirrors the first.

    Given is the first half, whose conjugates in reverse order are the other one; the
    imaginary part of its first element, and of the last where n is even, counts as
    zero.

    Args:
        x: complex numbers, or floating ones.
        n: how many real numbers there are; `2 * (m - 1)` for m elements unless said
            otherwise.
        axis: which one.
        norm: as for `fft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is neither complex nor floating.
        DataError: there is no such norm.

    >>> tw.fft.hfft([1.0, 2.0, 3.0])
    tensor([ 8., -2.,  0., -2.])
    """
    node = asarray(x).node
    lengths = along_one("hfft", node.shape, n, axis)
    lengths = of_real("hfft", lengths, is_asked=n is not None)
    factor = scale("hfft", norm, lengths, is_inverse=False)
    return Tensor(complex_to_real("hfft", _conjugate(node), lengths, factor))


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
        n: how many points to transform: the axis is cut, or filled up with zeros.
        axis: which one.
        norm: as for `ifft`.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty, or `n` is less than 1.
        DTypeError: the dtype is not real and floating.
        DataError: there is no such norm.

    >>> tw.fft.ihfft([8.0, -2.0, 0.0, -2.0])
    tensor([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    node = asarray(x).node
    lengths = along_one("ihfft", node.shape, n, axis)
    factor = scale("ihfft", norm, lengths, is_inverse=True)
    return Tensor(_conjugate(real_to_complex("ihfft", node, lengths, factor)))


def _conjugate(node: Node) -> Node:
    return conjugate(node, lambda part: elementwise(OPS["negative"], part))
