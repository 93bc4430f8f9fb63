"""Arbitrary Python callables over elements: map, zip_with, fold; on the cpu only.

They call Python once per element and are for learning; compositions of tensor
functions run on every device and are faster by far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

from tensorweb.dtypes import DType
from tensorweb.errors import DeviceError
from tensorweb.evaluate import read
from tensorweb.functions.creation import asarray
from tensorweb.graph.node import Node, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import Number, infer_dtype, pack, unpack
from tensorweb.nodes.movement import expand, move_axis_last
from tensorweb.public_names import declare_public
from tensorweb.shapes import Shape, broadcast_shapes, normalize_axis, size
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, as_operands, optional_dtype


def map(
    function: Callable[[Any], object], x: ArrayLike, /, *, dtype: DTypeLike = None
) -> Tensor:
    """Return `function` of each element, called with Python numbers row by row.

    Raises:
        DeviceError: the tensor is not on the cpu.
        DataError: the function returns no number.

    >>> tw.map(lambda v: v * v + 1, [1, 2, 3])
    tensor([ 2,  5, 10])
    """
    tensor = asarray(x)
    values = _numbers("map", tensor.node)
    results = [function(value) for value in values]
    return _result(results, tensor.shape, tensor.dtype, dtype)


def zip_with(
    function: Callable[[Any, Any], object],
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return `function` of each pair of elements, the shapes broadcast.

    Raises:
        DeviceError: a tensor is not on the cpu.
        ShapeError: the shapes do not broadcast.
        DataError: the function returns no number.

    >>> tw.zip_with(lambda a, b: a * 10 + b, [[1], [2]], [3, 4])
    tensor([[13, 14],
            [23, 24]])
    """
    a, b = as_operands(x1, x2)
    shape = broadcast_shapes(a.shape, b.shape)
    left = _numbers("zip_with", expand(a, shape))
    right = _numbers("zip_with", expand(b, shape))
    results = [function(p, q) for p, q in zip(left, right, strict=True)]
    return _result(results, shape, a.dtype, dtype)


def fold(
    function: Callable[[Any, Any], Any],
    x: ArrayLike,
    initial: Number,
    /,
    axis: SupportsIndex,
    *,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return `f(…f(f(initial, x0), x1)…, xn)` along an axis, which goes.

    Raises:
        DeviceError: the tensor is not on the cpu.
        AxisError: the axis does not exist.
        DataError: the function returns no number.

    >>> tw.fold(lambda total, v: total + v, [[1, 2, 3], [4, 5, 6]], 0, axis=1)
    tensor([ 6, 15])
    """
    tensor = asarray(x)
    along = normalize_axis(axis, tensor.ndim)
    rows = move_axis_last(tensor.node, along)
    length, shape = rows.shape[-1], rows.shape[:-1]
    values = _numbers("fold", rows)
    results: list[Any] = []
    for row in range(size(shape)):
        total: Any = initial
        for value in values[row * length : (row + 1) * length]:
            total = function(total, value)
        results.append(total)
    return _result(results, shape, tensor.dtype, dtype)


def _numbers(name: str, node: Node) -> list[Any]:
    """Return the elements of a tensor on the cpu as Python numbers."""
    if node.device != "cpu":
        raise DeviceError(
            f"{name}: a Python callable runs on the cpu only and the tensor lies on "
            f'{node.device!r}; use x.to_device("cpu"), or tensor functions.'
        )
    flat = unpack(read([node])[0], node.dtype, (node.size,))
    assert isinstance(flat, list), "internal: a flat read gives a list"
    return flat


def _result(
    results: Sequence[object], shape: Shape, default_dtype: DType, dtype: DTypeLike
) -> Tensor:
    """Return results as a tensor; of the input's dtype when they are of its kind."""
    result_dtype = optional_dtype(dtype) or infer_dtype(results, shape)
    if dtype is None and (result_dtype.kind == default_dtype.kind or not results):
        result_dtype = default_dtype
    data = pack(results, result_dtype, shape)
    return Tensor(leaf(HostData(data), shape, result_dtype, "cpu"))


declare_public(__name__)
