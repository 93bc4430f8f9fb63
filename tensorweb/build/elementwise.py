"""Build elementwise nodes: promotion, broadcasting and casts."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import CATEGORIES, DType, promote
from tensorweb.errors import DeviceError, DTypeError, ShapeError
from tensorweb.graph import CONSTANT, Node, Op, constant
from tensorweb.ops.structure import CAST
from tensorweb.shapes import Shape, broadcast_shapes


def cast(node: Node, dtype: DType) -> Node:
    """Return the node in another dtype; itself when nothing changes."""
    if node.dtype is dtype:
        return node
    require_dtype(dtype, node.device)
    if node.op is CONSTANT and dtype.kind == "float":
        return constant(node.attrs, dtype, node.device, node.shape)  # type: ignore[arg-type]  # a constant's attrs are its number
    return Node(CAST, (node,), dtype, node.shape, dtype, node.device)


def common_device(op: Op, inputs: tuple[Node, ...]) -> str:
    """Return the one device of all inputs.

    Raises:
        DeviceError: inputs lie on different devices.
    """
    device = inputs[0].device
    for node in inputs:
        if node.device != device:
            raise DeviceError(
                f"{op.name}: operands lie on {device!r} and {node.device!r}; move one "
                f'with to_device("{device}").'
            )
    return device


def _check_accepts(op: Op, dtype: DType) -> None:
    if dtype.kind not in CATEGORIES[op.accepts]:
        raise DTypeError(
            f"{op.name}: {dtype} operands; it takes {op.accepts} dtypes. Convert "
            "with astype."
        )


def operand_and_result(op: Op, inputs: tuple[Node, ...]) -> tuple[DType, DType]:
    """Return the dtype that operands are cast to and the dtype of the result."""
    dtype = inputs[0].dtype
    for node in inputs[1:]:
        if node.dtype is not dtype:
            dtype = promote(dtype, node.dtype)
    _check_accepts(op, dtype)
    if op.result == "float":
        if dtype.kind != "float":
            dtype = dtypes.DEFAULT_FLOAT
        return dtype, dtype
    if op.result == "bool":
        return dtype, dtypes.bool
    if op.result == "logical":
        return dtypes.bool, dtypes.bool
    return dtype, dtype


def _common_shape(op: Op, inputs: tuple[Node, ...]) -> Shape:
    """Return the shape that all inputs broadcast to."""
    shape = inputs[0].shape
    for node in inputs:
        other = node.shape
        if other == shape or not other:
            continue
        if not shape:
            shape = other
            continue
        try:
            shape = broadcast_shapes(*[node.shape for node in inputs])
        except ShapeError as error:
            raise ShapeError(f"{op.name}: {error}") from None
        break
    return shape


def elementwise(op: Op, *inputs: Node) -> Node:
    """Return the node of an elementwise operation, operands promoted and broadcast.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the operation does not take these dtypes.
        DeviceError: operands lie on different devices.
    """
    device = common_device(op, inputs)
    shape = _common_shape(op, inputs)
    if op.result == "where":
        condition, *choices = inputs
        operand = promote(choices[0].dtype, choices[1].dtype)
        require_dtype(operand, device)
        nodes = (
            cast(condition, dtypes.bool),
            cast(choices[0], operand),
            cast(choices[1], operand),
        )
        return Node(op, nodes, None, shape, operand, device)
    operand, result = operand_and_result(op, inputs)
    for node in inputs:
        if node.dtype is not operand:
            require_dtype(operand, device)
            inputs = tuple(cast(node, operand) for node in inputs)
            break
    return Node(op, inputs, None, shape, result, device)
