"""Build reductions and scans: axes, result dtypes and empty inputs."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.dtypes import CATEGORIES, DType
from tensorweb.errors import DTypeError, ShapeError
from tensorweb.graph.attributes import Reduction
from tensorweb.graph.node import Cache, Node, constant, structure_of
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.nodes import policy
from tensorweb.nodes.complex_parts import join_by_part
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import (
    copy,
    expand,
    move_axis_last,
    move_last_axis_to,
    reshape,
    slice_axis,
)
from tensorweb.nodes.selection import concat
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


def _reduced_shape(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
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
        ShapeError: an extremum along an empty axis.
    """
    key = (name, node.shape, node.dtype, axes, keepdims, dtype)
    cached = _cached.get(key)
    if cached is None:
        return _checked(key, node)
    op, along, shape, structure, kept_shape, kept_structure = cached
    result = Node(
        op, (node,), along, shape, node.dtype, node.device, None, None, structure
    )
    if not keepdims:
        return result
    result = reshape(result, kept_shape)
    result.structure = kept_structure
    return result


_cached: Cache[tuple[Op, Reduction, Shape, int, Shape, int]] = Cache()
"""Reductions of operands that need no cast: operation, axes, shape and structure
without the axes, shape and structure with them."""

OF_BOOL = {"sum": "any", "prod": "all"}
"""Reductions of bool that equal a sum or product: `+` is *or*, `*` is *and*."""

_Key = tuple[str, Shape, DType, tuple[int, ...], bool, DType | None]


def _checked(key: _Key, node: Node) -> Node:
    """Return a reduction, with all checks."""
    name, shape, _, axes, keepdims, dtype = key
    op = OPS[name]
    if "complex" in (node.dtype.kind, dtype.kind if dtype else ""):
        return _reduce_complex(op, node, axes, keepdims, dtype or node.dtype)
    source = cast(node, dtype or accumulator_dtype(op, node.dtype))
    if source.dtype.kind == "bool" and name in OF_BOOL:
        return reduce(OF_BOOL[name], source, axes, keepdims)
    if name in ("max", "min"):
        _refuse_empty(op, node, axes)
    if not axes:
        return source
    shape_without = _reduced_shape(shape, axes, False)
    kept_shape = _reduced_shape(shape, axes, True)
    along = Reduction(axes)
    result = Node(op, (source,), along, shape_without, source.dtype, node.device)
    outcome = reshape(result, kept_shape) if keepdims else result
    if source is node and outcome.owner is (result if keepdims else None):
        structure, kept_structure = structure_of(result), structure_of(outcome)
        entry = (op, along, shape_without, structure, kept_shape, kept_structure)
        _cached.keep(key, entry)
    return outcome


def _reduce_complex(
    op: Op, node: Node, axes: tuple[int, ...], keepdims: bool, dtype: DType
) -> Node:
    """Return a reduction of complex numbers, or of numbers cast to a complex dtype."""
    if op.result == "logical":
        return reduce(op.name, cast(node, dtypes.bool), axes, keepdims)
    source = cast(node, dtype)
    if op.name == "sum":
        return join_by_part(lambda part: reduce("sum", part, axes, keepdims), source)
    if op.name != "prod":
        raise _unordered(op, dtype)
    for axis in axes:
        source = _complex_product(source, axis)
    return reshape(source, _reduced_shape(node.shape, axes, keepdims))


def _unordered(op: Op, dtype: DType) -> DTypeError:
    return DTypeError(
        f"{op.name}: {dtype} operand, and complex numbers have no order; take "
        "tw.abs(x), tw.real(x) or tw.imag(x)."
    )


def argreduce(name: str, node: Node, axis: int | None, keepdims: bool = False) -> Node:
    """Return the index of an extremum along one axis, or of all elements for None.

    Raises:
        ShapeError: the axis is empty.
    """
    op = OPS[name]
    if node.op is COMPLEX:
        raise _unordered(op, node.dtype)
    ones = (1,) * len(node.shape)
    source = reshape(node, (node.size,)) if axis is None else node
    along = 0 if axis is None else axis
    _refuse_empty(op, source, (along,))
    result = Node(
        op,
        (source,),
        Reduction((along,)),
        _reduced_shape(source.shape, (along,), False),
        dtypes.DEFAULT_INT,
        node.device,
    )
    if not keepdims:
        return result
    shape = ones if axis is None else _reduced_shape(node.shape, (along,), True)
    return reshape(result, shape)


def scan(name: str, node: Node, axis: int, dtype: DType | None = None) -> Node:
    """Return cumulative sums or products along one axis, inclusive."""
    op = OPS[name]
    if "complex" in (node.dtype.kind, dtype.kind if dtype else ""):
        source = cast(node, dtype or node.dtype)
        if name == "cumulative_prod":
            return _complex_scan(source, axis)
        return join_by_part(lambda part: scan(name, part, axis), source)
    source = cast(node, dtype or accumulator_dtype(op, node.dtype))
    if source.dtype.kind == "bool":
        return cast(scan(name, source, axis, dtypes.DEFAULT_INT), source.dtype)
    last = move_axis_last(source, axis)
    is_strided = bool(last.size) and last.view.strides[-1] != 1
    is_long = last.shape[-1] >= policy.SCAN_TRANSPOSE_LENGTH
    if is_strided and is_long and last.size >= policy.SCAN_TRANSPOSE_ELEMENTS:
        last = copy(last)
    result = Node(op, (last,), None, last.shape, source.dtype, node.device)
    return move_last_axis_to(result, axis)


def _complex_product(node: Node, axis: int) -> Node:
    """Return the product along an axis, which keeps length 1; the product of none is 1.

    No kernel reduces complex numbers: the two halves of the axis are multiplied until
    one element is left.
    """
    if not node.shape[axis]:
        one = constant(1, node.dtype, node.device)
        return expand(one, _reduced_shape(node.shape, (axis,), True))
    while (length := node.shape[axis]) > 1:
        half = length // 2
        first, second = (slice_axis(node, axis, at, half) for at in (0, half))
        pairs = elementwise(OPS["multiply"], first, second)
        last = slice_axis(node, axis, 2 * half, length % 2)
        node = concat([pairs, last], axis) if length % 2 else pairs
    return node


def _complex_scan(node: Node, axis: int) -> Node:
    """Return the cumulative products along one axis.

    W. D. Hillis and G. L. Steele, Data parallel algorithms, CACM 29 (1986).
    """
    length, distance = node.shape[axis], 1
    while distance < length:
        earlier = slice_axis(node, axis, 0, length - distance)
        later = slice_axis(node, axis, distance, length - distance)
        products = elementwise(OPS["multiply"], earlier, later)
        node = concat([slice_axis(node, axis, 0, distance), products], axis)
        distance *= 2
    return node
