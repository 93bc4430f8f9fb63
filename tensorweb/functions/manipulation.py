"""Other shapes and orders of the same elements; views wherever strides allow."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import SupportsIndex

from tensorweb import shapes
from tensorweb.functions.creation import Lengths, asarray
from tensorweb.nodes.movement import expand
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_operands
from tensorweb.tensor.movement import Axes


def reshape(
    x: ArrayLike, /, shape: Lengths, *, copy: builtins.bool | None = None
) -> Tensor:
    """Return the elements in row-major order under another shape.

    One length may be -1. It copies only where no strides fit; `copy=True` always
    copies, `copy=False` never.

    Raises:
        ShapeError: the sizes differ, or `copy=False` and a copy is needed.

    >>> tw.reshape([1, 2, 3, 4, 5, 6], (2, -1))
    tensor([[1, 2, 3],
            [4, 5, 6]])
    """
    return asarray(x).reshape(shape, copy=copy)


def ravel(x: ArrayLike, /) -> Tensor:
    """Return the elements in row-major order along one axis.

    >>> tw.ravel([[1, 2], [3, 4]])
    tensor([1, 2, 3, 4])
    """
    return asarray(x).ravel()


def flatten(x: ArrayLike, /, start_axis: int = 0, end_axis: int = -1) -> Tensor:
    """Return the axes from `start_axis` to `end_axis` merged into one.

    Raises:
        AxisError: an axis does not exist.

    >>> tw.flatten([[[1, 2], [3, 4]]], 1).shape
    (1, 4)
    """
    return asarray(x).flatten(start_axis, end_axis)


def permute_dims(x: ArrayLike, /, axes: Iterable[SupportsIndex]) -> Tensor:
    """Return the axes in another order, as a view: `axes[i]` is the old number of i.

    Raises:
        AxisError: an axis is missing, repeated or does not exist.

    >>> tw.permute_dims([[1, 2, 3], [4, 5, 6]], (1, 0))
    tensor([[1, 4],
            [2, 5],
            [3, 6]])
    """
    return asarray(x).permute_dims(axes)


def matrix_transpose(x: ArrayLike, /) -> Tensor:
    """Return each matrix, `(..., m, n)`, transposed to `(..., n, m)`, as a view.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.matrix_transpose([[1, 2, 3], [4, 5, 6]])
    tensor([[1, 4],
            [2, 5],
            [3, 6]])
    """
    return asarray(x).matrix_transpose()


def swapaxes(x: ArrayLike, axis1: SupportsIndex, axis2: SupportsIndex, /) -> Tensor:
    """Return two axes swapped, as a view.

    Raises:
        AxisError: an axis does not exist.

    >>> tw.swapaxes([[1, 2, 3]], 0, 1).shape
    (3, 1)
    """
    return asarray(x).swapaxes(axis1, axis2)


def moveaxis(x: ArrayLike, source: Axes, destination: Axes, /) -> Tensor:
    """Return axes moved to other positions, the others kept in order, as a view.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: sources and destinations differ in number.

    >>> tw.moveaxis([[[1, 2, 3]]], -1, 0).shape
    (3, 1, 1)
    """
    return asarray(x).moveaxis(source, destination)


def expand_dims(x: ArrayLike, /, axis: Axes = 0) -> Tensor:
    """Return axes of length 1 inserted where the result shall have them, as a view.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.expand_dims([1, 2, 3], axis=-1).shape
    (3, 1)
    >>> tw.expand_dims([1, 2, 3], axis=(0, 2)).shape
    (1, 3, 1)
    """
    return asarray(x).expand_dims(axis)


def squeeze(x: ArrayLike, /, axis: Axes | None = None) -> Tensor:
    """Return the tensor without the given axes of length 1, as a view.

    None removes all axes of length 1.

    Raises:
        ShapeError: a given axis is longer than 1.
        AxisError: an axis does not exist or is given twice.

    >>> tw.squeeze([[[1, 2, 3]]], axis=0).shape
    (1, 3)
    """
    return asarray(x).squeeze(axis)


def broadcast_to(x: ArrayLike, /, shape: Lengths) -> Tensor:
    """Return the tensor repeated to a shape by strides of 0, as a view.

    Raises:
        ShapeError: an axis that is not 1 would have to change.

    >>> tw.broadcast_to([1, 2, 3], (2, 3))
    tensor([[1, 2, 3],
            [1, 2, 3]])
    """
    return asarray(x).broadcast_to(shape)


def broadcast_arrays(*arrays: ArrayLike) -> tuple[Tensor, ...]:
    """Return tensors repeated to their common shape, as views.

    Raises:
        ShapeError: the shapes do not broadcast.

    >>> a, b = tw.broadcast_arrays([[1], [2]], [10, 20, 30])
    >>> a
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    nodes = as_operands(*arrays)
    shape = shapes.broadcast_shapes(*(node.shape for node in nodes))
    return tuple(Tensor(expand(node, shape)) for node in nodes)


def flip(x: ArrayLike, /, axis: Axes | None = None) -> Tensor:
    """Return axes reversed by negative strides, as a view; all of them for None.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.flip([[1, 2], [3, 4]], axis=1)
    tensor([[2, 1],
            [4, 3]])
    """
    return asarray(x).flip(axis)


def roll(x: ArrayLike, /, shift: Axes, *, axis: Axes | None = None) -> Tensor:
    """Return elements moved along axes; those leaving an end return at the other.

    Without an axis the elements are moved in row-major order.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: the numbers of shifts and axes differ.

    >>> tw.roll([1, 2, 3, 4], 1)
    tensor([4, 1, 2, 3])
    """
    return asarray(x).roll(shift, axis)


declare_public(__name__)
