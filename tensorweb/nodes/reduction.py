"""Build reductions and scans: axes, result dtypes and empty inputs."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.dtypes import CATEGORIES, DType
from tensorweb.errors import DTypeError, ShapeError
from tensorweb.graph.attributes import Reduction
from tensorweb.graph.node import Cache, Node, structure_of
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.nodes.complex_parts import join_by_part
from tensorweb.nodes.complex_products import product, running_product
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.movement import (
    copy,
    move_axis_last,
    move_last_axis_to,
    reshape,
)
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
    key = (name, node.shape, node.dtype, axes, keepdims, dtype)
    known = _known.get(key)
    if known is None:
        return _checked(key, node)
    op, along, shape, structure, kept, kept_structure = known
    result = Node(
        op, (node,), along, shape, node.dtype, node.device, None, None, structure
    )
    if not keepdims:
        return result
    result = reshape(result, kept)
    result.structure = kept_structure
    return result


LEAST_TRANSPOSED = 1 << 16
"""Elements from which on a scan along an axis with a stride is done on a transposed
copy: 0.16 instead of 0.34 ms for 4096 by 4096 (H200)."""

LEAST_SCANNED = 256
"""Elements along that axis from which on it is so: 16 by 2**20 took 0.21 ms with the
copy and 0.12 without (H200)."""

_known: Cache[tuple[Op, Reduction, Shape, int, Shape, int]] = Cache()
"""Reductions of operands that need no cast: operation, axes, shape and structure
without the axes, shape and structure with them."""

OF_BOOL = {"sum": "any", "prod": "all"}
"""What sums and products of bool are whose result is bool: `+` is *or*, `*` *and*."""

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
    without, kept = _kept(shape, axes, False), _kept(shape, axes, True)
    along = Reduction(axes)
    result = Node(op, (source,), along, without, source.dtype, node.device)
    outcome = reshape(result, kept) if keepdims else result
    if source is node and outcome.owner is (result if keepdims else None):
        structures = structure_of(result), structure_of(outcome)
        _known.keep(key, (op, along, without, structures[0], kept, structures[1]))
    return outcome


def _reduce_complex(
    op: Op, node: Node, axes: tuple[int, ...], keepdims: bool, dtype: DType
) -> Node:
    """Return a reduction of complex numbers, or of numbers as such."""
    if op.result == "logical":
        return reduce(op.name, cast(node, dtypes.bool), axes, keepdims)
    source = cast(node, dtype)
    if op.name == "sum":
        return join_by_part(lambda part: reduce("sum", part, axes, keepdims), source)
    if op.name != "prod":
        raise _unordered(op, dtype)
    for axis in axes:
        source = product(source, axis)
    return reshape(source, _kept(node.shape, axes, keepdims))


def _unordered(op: Op, dtype: DType) -> DTypeError:
    return DTypeError(
        f"{op.name}: {dtype} operand, and complex numbers have no order; take "
        "tw.abs(x), tw.real(x) or tw.imag(x)."
    )


def argreduce(name: str, node: Node, axis: int | None, keepdims: bool = False) -> Node:
    """Return where an extremum is along one axis, or in row-major order for None.

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
    if "complex" in (node.dtype.kind, dtype.kind if dtype else ""):
        source = cast(node, dtype or node.dtype)
        if name == "cumulative_prod":
            return running_product(source, axis)
        return join_by_part(lambda part: scan(name, part, axis), source)
    source = cast(node, dtype or accumulator_dtype(op, node.dtype))
    if source.dtype.kind == "bool":
        return cast(scan(name, source, axis, dtypes.DEFAULT_INT), source.dtype)
    last = move_axis_last(source, axis)
    is_apart = bool(last.size) and last.view.strides[-1] != 1
    if is_apart and last.shape[-1] >= LEAST_SCANNED and last.size >= LEAST_TRANSPOSED:
        last = copy(last)
    result = Node(op, (last,), None, last.shape, source.dtype, node.device)
    return move_last_axis_to(result, axis)
