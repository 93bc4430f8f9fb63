"""Build elementwise nodes: promotion, broadcasting and casts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from tensorweb import dtypes
from tensorweb.devices import stores, usable_dtype
from tensorweb.dtypes import (
    DType,
    finfo,
    integer_range,
    is_in_category,
    promote,
    rounded_to,
)
from tensorweb.errors import DeviceError, DTypeError, ShapeError
from tensorweb.graph.node import Cache, Node, constant, number_of_constant, structure_of
from tensorweb.graph.op import COMPLEX, CONSTANT, Op
from tensorweb.nodes.complex_parts import (
    imaginary_part,
    join_by_part,
    join_parts,
    real_part,
)
from tensorweb.ops import OPS
from tensorweb.ops.structure import CAST
from tensorweb.shapes import Shape, broadcast_shapes


def cast(node: Node, dtype: DType) -> Node:
    """Return the node in another dtype; itself when nothing changes."""
    if node.dtype is dtype:
        return node
    dtype = usable_dtype(dtype, node.device)
    if node.dtype is dtype:
        return node
    if "complex" in (node.dtype.kind, dtype.kind):
        return _cast_complex(node, dtype)
    if node.op is CONSTANT and dtype.kind == "float":
        number = number_of_constant(node)
        if node.dtype.kind == "float" and node.dtype.bits < dtype.bits:
            number = rounded_to(number, node.dtype)
        return constant(number, dtype, node.device, node.shape)
    return Node(CAST, (node,), None, node.shape, dtype, node.device)


def _cast_complex(node: Node, dtype: DType) -> Node:
    """Return a node in another dtype, of which one is complex."""
    if dtype.kind == "complex":
        real = cast(real_part(node), dtype.part)
        if node.op is not COMPLEX:
            return join_parts(real, constant(0, dtype.part, node.device, node.shape))
        return join_parts(real, cast(imaginary_part(node), dtype.part))
    if dtype.kind == "bool":
        parts = (cast(real_part(node), dtype), cast(imaginary_part(node), dtype))
        return elementwise(OPS["logical_or"], *parts)
    raise DTypeError(
        f"astype: {node.dtype} does not become {dtype}, which would lose the imaginary "
        f"part; say which part: tw.real(x), tw.imag(x) or tw.abs(x)."
    )


def require_promoted(name: str, nodes: Sequence[Node], dtype: DType) -> None:
    """Raise `DTypeError` when the operands' device lacks what they are promoted to.

    The message names the operation, the dtypes and what to do.
    """
    device = nodes[0].device
    if stores(dtype, device):
        return
    operands = " with ".join(dict.fromkeys(str(node.dtype) for node in nodes))
    casts = dict.fromkeys(f"astype(tw.{node.dtype})" for node in nodes)
    raise DTypeError(
        f"{name}: {operands} gives {dtype}, and device {device!r} has no {dtype}. "
        f'Convert one operand with {" or ".join(casts)}, or compute on device="cpu".'
    )


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
    if not is_in_category(dtype, op.accepts):
        raise DTypeError(
            f"{op.name}: {dtype} operands; it takes {op.accepts} dtypes. Convert "
            "with astype."
        )


def operand_and_result(op: Op, inputs: tuple[Node, ...]) -> tuple[DType, DType]:
    """Return the dtype that operands are cast to and the dtype of the result."""
    if op.result == "logical":  # each operand becomes bool by itself
        for node in inputs:
            _check_accepts(op, node.dtype)
        return dtypes.bool, dtypes.bool
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
    return dtype, dtype


def common_shape(op: Op, inputs: tuple[Node, ...]) -> Shape:
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
            raise ShapeError(f"{op.name}: {error}", clash=error.clash) from None
        break
    return shape


POW = OPS["pow"]

SIMPLE_POWERS = {0.5: OPS["sqrt"], -1: OPS["reciprocal"]}
"""Operations on floats that equal powers with a fixed exponent."""


def _simple_power(base: Node, exponent: Node) -> Node | None:
    """Return x^2, x^0.5 and x^-1 as a product, a root and a reciprocal, like NumPy.

    They are no less exact than `pow`; -inf has no root.
    """
    if exponent.op is not CONSTANT or exponent.shape:
        return None
    if exponent.dtype is not base.dtype or exponent.device != base.device:
        return None
    power = number_of_constant(exponent)
    if power == 2:
        return elementwise(OPS["multiply"], base, base)
    op = SIMPLE_POWERS.get(power) if base.dtype.kind == "float" else None
    return elementwise(op, base) if op else None


def _lack_common_dtype(a: Node, b: Node) -> bool:
    """Whether unsigned integers meet signed ones and no dtype of the device has both.

    uint64 does on every device, uint32 where there is no int64.
    """
    if {a.dtype.kind, b.dtype.kind} != {"int", "uint"}:
        return False
    if dtypes.uint64 in (a.dtype, b.dtype):
        return True
    return not stores(promote(a.dtype, b.dtype), a.device)


def _compare_exactly(op: Op, a: Node, b: Node) -> Node:
    """Return a comparison of unsigned integers with signed ones that are no wider.

    Negative integers are less than every unsigned one; the others become unsigned.
    """
    signed, unsigned = (a, b) if a.dtype.kind == "int" else (b, a)
    compared = elementwise(op, *(cast(node, unsigned.dtype) for node in (a, b)))
    zero = constant(0, signed.dtype, signed.device)
    is_negative = elementwise(OPS["less"], signed, zero)
    is_less = op.name in ("less", "less_equal")
    result_if_negative = {"equal": False, "not_equal": True}.get(
        op.name, is_less if signed is a else not is_less
    )
    if result_if_negative:
        return elementwise(OPS["logical_or"], is_negative, compared)
    is_unsigned = elementwise(OPS["logical_not"], is_negative)
    return elementwise(OPS["logical_and"], is_unsigned, compared)


complex_rules: list[Callable[[Op, tuple[Node, ...]], Node]] = []
"""The builder of operations on complex numbers; `complex_functions` registers it."""

_cached: Cache[tuple[Shape, DType, int]] = Cache()
"""Shape, dtype and structure of results whose operands needed no cast."""


def elementwise(op: Op, *inputs: Node) -> Node:
    """Return the node of an elementwise operation, operands promoted and broadcast.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the operation does not take these dtypes.
        DeviceError: operands lie on different devices.
    """
    first = inputs[0]
    if op is POW and (simple := _simple_power(first, inputs[1])) is not None:
        return simple
    key: Hashable
    if len(inputs) == 1:
        key = (op, first.shape, first.dtype, first.device)
    elif len(inputs) == 2:
        b = inputs[1]
        key = (op, first.shape, first.dtype, first.device, b.shape, b.dtype, b.device)
    else:
        key = (op, *[(node.shape, node.dtype, node.device) for node in inputs])
    cached = _cached.get(key)
    if cached is not None:
        shape, dtype, structure = cached
        return Node(op, inputs, None, shape, dtype, first.device, None, None, structure)
    node = _checked(op, inputs)
    if node.inputs is inputs:
        _cached.keep(key, (node.shape, node.dtype, structure_of(node)))
    return node


def _checked(op: Op, inputs: tuple[Node, ...]) -> Node:
    """Return the node after all checks; its inputs are the operands if none is cast."""
    device = common_device(op, inputs)
    if any(node.op is COMPLEX for node in inputs):
        return complex_rules[0](op, inputs)
    if op.result == "bool" and len(inputs) == 2 and _lack_common_dtype(*inputs):
        return _compare_exactly(op, *inputs)
    shape = common_shape(op, inputs)
    operand_dtypes: tuple[DType, ...]
    if op.result == "where":
        operand = result = promote(inputs[1].dtype, inputs[2].dtype)
        operand_dtypes = (dtypes.bool, operand, operand)
    else:
        operand, result = operand_and_result(op, inputs)
        operand_dtypes = (operand,) * len(inputs)
    if any(node.dtype is not operand for node in inputs):
        require_promoted(op.name, inputs, operand)
    targets = list(zip(inputs, operand_dtypes, strict=True))
    if any(node.dtype is not target for node, target in targets):
        inputs = tuple(cast(node, target) for node, target in targets)
    return Node(op, inputs, None, shape, result, device)


MOST_DECIMALS = 400
"""No float has as many digits before or after its point."""


def rounded(node: Node, decimals: int) -> Node:
    """Round to `decimals` decimals, halves to even."""
    decimals = max(-MOST_DECIMALS, min(decimals, MOST_DECIMALS))
    if not decimals or node.dtype.kind == "bool":
        return elementwise(OPS["round"], node)
    if node.op is COMPLEX:
        return join_by_part(lambda part: rounded(part, decimals), node)
    if node.dtype.kind != "float":
        return node if decimals > 0 else _rounded_integers(node, 10**-decimals)
    scale = 10 ** abs(decimals)
    if scale > finfo(node.dtype).max:
        return node if decimals > 0 else _times(node, 0.0)
    factor = constant(float(scale), node.dtype, node.device)
    scale_op, unscale_op = OPS["multiply"], OPS["divide"]
    if decimals < 0:
        scale_op, unscale_op = unscale_op, scale_op
    integers = elementwise(OPS["round"], elementwise(scale_op, node, factor))
    return elementwise(unscale_op, integers, factor)


def _times(node: Node, number: float) -> Node:
    factor = constant(number, node.dtype, node.device)
    return elementwise(OPS["multiply"], node, factor)


def _rounded_integers(node: Node, step: int) -> Node:
    """Return the nearest multiples of a step, halves to even."""
    if step > integer_range(node.dtype)[1]:
        return _times(node, 0)
    steps = constant(step, node.dtype, node.device)
    quotient = elementwise(OPS["floor_divide"], node, steps)
    remainder = elementwise(OPS["remainder"], node, steps)
    missing = elementwise(OPS["subtract"], steps, remainder)
    zero, one, two = (constant(i, node.dtype, node.device) for i in range(3))
    is_odd = elementwise(OPS["remainder"], quotient, two)
    is_half = elementwise(OPS["equal"], remainder, missing)
    tie = elementwise(OPS["where"], is_half, is_odd, zero)
    is_above = elementwise(OPS["greater"], remainder, missing)
    up = elementwise(OPS["where"], is_above, one, tie)
    return elementwise(OPS["multiply"], elementwise(OPS["add"], quotient, up), steps)
