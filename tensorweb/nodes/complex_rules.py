"""Elementwise operations on complex numbers: each is a formula on real parts.

`elementwise` loads this when it first meets a complex operand. A real operand stays
one, as C's Annex G says: what is multiplied by a real number has no zeros times
infinity in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensorweb import dtypes
from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.nodes.complex_arithmetic import BINARY as ARITHMETIC
from tensorweb.nodes.complex_arithmetic import UNARY as SIGNS
from tensorweb.nodes.complex_arithmetic import Parts
from tensorweb.nodes.complex_exponential import BINARY as POWERS
from tensorweb.nodes.complex_exponential import UNARY as EXPONENTIALS
from tensorweb.nodes.complex_exponential import fixed_exponent, fixed_power
from tensorweb.nodes.complex_parts import imaginary_part, join_parts, real_part
from tensorweb.nodes.complex_trigonometric import UNARY as ANGLES
from tensorweb.nodes.elementwise import cast, common_shape, elementwise
from tensorweb.nodes.float_ops import Real
from tensorweb.ops import OPS

UNARY: Mapping[str, Callable[[Real, Real], Parts | Real]] = {
    **SIGNS,
    **EXPONENTIALS,
    **ANGLES,
}
BINARY: Mapping[str, Callable[[Parts, Parts], Parts | Real]] = {**ARITHMETIC, **POWERS}

ORDERED = frozenset(
    ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum")
)
"""Operations that need an order."""


def complex_elementwise(op: Op, inputs: tuple[Node, ...]) -> Node:
    """Return an operation of which one operand at least is complex.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the operation takes no complex numbers.
    """
    common_shape(op, inputs)
    if op.result == "logical":
        return elementwise(op, *(cast(node, dtypes.bool) for node in inputs))
    if op.name == "where":
        return _where(inputs)
    part = inputs[0].dtype
    for node in inputs[1:]:
        part = dtypes.promote(part, node.dtype)
    operands = [_operand(node, part.part) for node in inputs]
    if op.name == "pow" and (found := _fixed_power(inputs, operands)) is not None:
        return _joined(found)
    if op.name in BINARY:
        return _joined(BINARY[op.name](*operands))
    if op.name not in UNARY:
        raise DTypeError(_refusal(op, part.name))
    real, imaginary = operands[0]
    assert imaginary is not None, "internal: the only operand is complex"
    return _joined(UNARY[op.name](real, imaginary))


def _fixed_power(inputs: tuple[Node, ...], operands: list[Parts]) -> Parts | None:
    """Return a power whose exponent is one small number, if that is simpler."""
    exponent = fixed_exponent(inputs[1])
    real, imaginary = operands[0]
    if exponent is None or imaginary is None:
        return None
    return fixed_power(real, imaginary, exponent)


def _operand(node: Node, part: dtypes.DType) -> Parts:
    """Return the parts of an operand, None for those that a real one has not."""
    real = Real(cast(real_part(node), part))
    if node.op is not COMPLEX:
        return real, None
    return real, Real(cast(imaginary_part(node), part))


def _joined(found: Parts | Real) -> Node:
    if isinstance(found, Real):
        return found.node
    real, imaginary = found
    assert imaginary is not None, "internal: a result has two parts"
    return join_parts(real.node, imaginary.node)


def _where(inputs: tuple[Node, ...]) -> Node:
    condition, yes, no = inputs
    dtype = dtypes.promote(yes.dtype, no.dtype)
    one, other = cast(yes, dtype), cast(no, dtype)
    condition = cast(condition, dtypes.bool)
    if dtype.kind != "complex":
        return elementwise(OPS["where"], condition, one, other)
    parts = [
        elementwise(OPS["where"], condition, part(one), part(other))
        for part in (real_part, imaginary_part)
    ]
    return join_parts(*parts)


def _refusal(op: Op, dtype: str) -> str:
    if op.name in ORDERED:
        return (
            f"{op.name}: {dtype} operands, and complex numbers have no order; compare "
            "tw.abs(x), tw.real(x) or tw.imag(x)."
        )
    return (
        f"{op.name}: {dtype} operands; it takes real dtypes. Take tw.real(x), "
        "tw.imag(x) or tw.abs(x)."
    )
