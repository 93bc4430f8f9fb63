"""Build reductions and scans: axes, result dtypes and empty inputs."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.build.elementwise import cast
from tensorweb.build.movement import (
    move_axis_last,
    move_last_axis_to,
    reshape,
)
from tensorweb.dtypes import CATEGORIES, DType
from tensorweb.errors import DTypeError, ShapeError
from tensorweb.graph import Node, Op
from tensorweb.ops import OPS
from tensorweb.shapes import Shape


def accumulator_dtype(op: Op, dtype: DType) -> DType:
    """Return the dtype in which an operation reduces values of `dtype`."""
    if dtype.kind not in CATEGORIES[op.accepts]:
        raise DTypeError(f"{op.name}: {dtype} operand; it takes {op.accepts} dtypes.")
    if op.result == "logical":
        return dtypes.bool
    if op.result == "sum":
        if dtype.kind == "bool":
            return dtypes.DEFAULT_INT
        if dtype.kind == "int" and dtype.bits < dtypes.DEFAULT_INT.bits:
            return dtypes.DEFAULT_INT
        if dtype.kind == "uint" and dtype.bits < dtypes.DEFAULT_INT.bits:
            return dtypes.uint32
    return dtype


def _kept(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    if keepdims:
        return tuple(1 if axis in axes else n for axis, n in enumerate(shape))
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def _refuse_empty(op: Op, node: Node, axes: tuple[int, ...]) -> None:
    if any(node.shape[axis] == 0 for axis in axes):
        raise ShapeError(
            f"{op.name}: axis {axes} of shape {node.shape} is empty and {op.name} of "
            "nothing has no value."
        )


def reduce(
    name: str,
    node: Node,
    axes: tuple[int, ...],
    keepdims: bool = False,
    dtype: DType | None = None,
) -> Node:
    """Return a reduction along checked axes.

    Raises:
        DTypeError: the operation does not take this dtype.
        ShapeError: an extremum of nothing is asked for.
    """
    op = OPS[name]
    source = cast(node, dtype or accumulator_dtype(op, node.dtype))
    if op.name in ("max", "min"):
        _refuse_empty(op, node, axes)
    if not axes:
        return source
    result = Node(
        op,
        (source,),
        axes,
        _kept(node.shape, axes, False),
        source.dtype,
        node.device,
    )
    return reshape(result, _kept(node.shape, axes, True)) if keepdims else result


def argreduce(name: str, node: Node, axis: int | None, keepdims: bool = False) -> Node:
    """Return where an extremum is along one axis, or in row-major order for None.

    Raises:
        ShapeError: the axis is empty.
    """
    op = OPS[name]
    ones = (1,) * len(node.shape)
    source = reshape(node, (node.size,)) if axis is None else node
    along = 0 if axis is None else axis
    _refuse_empty(op, source, (along,))
    result = Node(
        op,
        (source,),
        (along,),
        _kept(source.shape, (along,), False),
        dtypes.DEFAULT_INT,
        node.device,
    )
    if not keepdims:
        return result
    shape = ones if axis is None else _kept(node.shape, (along,), True)
    return reshape(result, shape)


def scan(name: str, node: Node, axis: int, dtype: DType | None = None) -> Node:
    """Return running sums or products along one axis (inclusive)."""
    op = OPS[name]
    source = cast(node, dtype or accumulator_dtype(op, node.dtype))
    last = move_axis_last(source, axis)
    result = Node(op, (last,), None, last.shape, source.dtype, node.device)
    return move_last_axis_to(result, axis)
