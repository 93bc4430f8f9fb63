"""Tensors put together, taken apart, and repeated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from tensorweb.errors import ShapeError, equal_clash
from tensorweb.functions.creation import asarray
from tensorweb.graph.node import Node
from tensorweb.nodes import selection as build
from tensorweb.nodes.movement import expand_dims
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import numpys
from tensorweb.tensor.convert import ArrayLike, as_operands
from tensorweb.tensor.movement import Axes
from tensorweb.tensor.rearrangement import Widths


def concat(arrays: Iterable[ArrayLike], /, axis: SupportsIndex | None = 0) -> Tensor:
    """Return tensors one after another along an axis; flattened first for None.

    Dtypes are promoted.

    Raises:
        ShapeError: there are no tensors, or other axes differ.
        AxisError: the axis does not exist.

    >>> tw.concat([[[1, 2]], [[3, 4], [5, 6]]])
    tensor([[1, 2],
            [3, 4],
            [5, 6]])
    """
    nodes = _nodes("concat", arrays)
    if axis is None:
        flat = [Tensor(node).ravel().node for node in nodes]
        return Tensor(build.concat(flat, 0))
    if not nodes[0].shape:
        raise ShapeError("concat: 0-d tensors have no axis to join; use stack.")
    return Tensor(build.concat(nodes, normalize_axis(axis, len(nodes[0].shape))))


def stack(arrays: Iterable[ArrayLike], /, axis: SupportsIndex = 0) -> Tensor:
    """Return tensors of equal shape side by side along a new axis.

    Raises:
        ShapeError: there are no tensors, or their shapes differ.
        AxisError: the result has no such axis.

    >>> tw.stack([[1, 2], [3, 4]], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """
    nodes = _nodes("stack", arrays)
    for node in nodes:
        if node.shape != nodes[0].shape:
            raise ShapeError(
                f"stack: shapes {nodes[0].shape} and {node.shape} differ; all must be "
                "equal.",
                clash=equal_clash([node.shape for node in nodes]),
            )
    along = normalize_axis(axis, len(nodes[0].shape) + 1)
    return Tensor(build.concat([expand_dims(node, (along,)) for node in nodes], along))


def _nodes(name: str, arrays: Iterable[ArrayLike]) -> tuple[Node, ...]:
    parts = list(arrays)
    if not parts:
        raise ShapeError(f"{name}: no tensors given; at least one is needed.")
    return as_operands(*parts)


def unstack(x: ArrayLike, /, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """Return the slices along an axis, as views without that axis.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.unstack([[1, 2], [3, 4]])
    (tensor([1, 2]), tensor([3, 4]))
    """
    return asarray(x).unstack(axis)


def tile(x: ArrayLike, repetitions: Axes, /) -> Tensor:
    """Return the tensor repeated as a whole, a number of times along each axis.

    Raises:
        ShapeError: a number is negative.

    >>> tw.tile([1, 2], (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return asarray(x).tile(repetitions)


def repeat(
    x: ArrayLike, repeats: ArrayLike, /, axis: SupportsIndex | None = None
) -> Tensor:
    """Return each element repeated, all equally often or each by its own count.

    Without an axis the elements are taken in row-major order.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: there are not as many counts as elements.

    >>> tw.repeat([1, 2], 3)
    tensor([1, 1, 1, 2, 2, 2])
    >>> tw.repeat([1, 2], [1, 2])
    tensor([1, 2, 2])
    """
    return asarray(x).repeat(repeats, axis)


def pad(
    x: ArrayLike,
    widths: Widths,
    /,
    value: ArrayLike = 0,
    *,
    mode: str = "constant",
    **options: ArrayLike,
) -> Tensor:
    """Return a border of `value` around the tensor.

    `widths` is one number, one `(before, after)` for all axes, or one per axis. NumPy's
    modes, such as `edge`, and options of theirs, such as `constant_values`, are taken
    as `np.pad` takes them.

    Raises:
        ShapeError: a width is negative, or their count is not that of the axes.
        DataError: there is no such mode or option.

    >>> tw.pad([[1, 2]], [(1, 0), (0, 2)])
    tensor([[0, 0, 0, 0],
            [1, 2, 0, 0]])
    """
    if mode != "constant" or options:
        return numpys("pad")(x, widths, mode, **options)
    return asarray(x).pad(widths, value)


declare_public(__name__)
