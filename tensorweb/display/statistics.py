"""Statistics of values, asked of the device, and numbers as short as on the page.

`questions` gives the nodes to read, so that those of many tensors are read together;
`answer` makes the statistics of what was read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.evaluate import plain_number, realize
from tensorweb.graph.node import Node, constant
from tensorweb.hostdata import Number, unpack
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import slice_ranges
from tensorweb.nodes.reduction import reduce
from tensorweb.ops import OPS

DIGITS = 4
"""Significant digits of a short number."""

LARGEST_WHOLE = 10**7
"""Whole numbers below this are written in full."""

SCIENTIFIC = (1e-4, 1e6)
"""Other numbers have an exponent outside of this range."""

MOST_AXES = 16
"""Axes beyond which a shape is cut."""


def short(value: Number) -> str:
    """Return four significant digits without trailing zeros, `1.5e6` for large ones.

    >>> [short(value) for value in (0.1 + 0.2, 1234567.5, -0.0, float("nan"), 12)]
    ['0.3', '1.235e6', '-0', 'nan', '12']
    """
    if not math.isfinite(value):
        return str(float(value))
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    if value == int(value) and abs(value) < LARGEST_WHOLE:
        return str(int(value))
    least, greatest = SCIENTIFIC
    is_plain = least <= abs(value) < greatest
    return _tidy(f"{value:.{DIGITS}g}" if is_plain else f"{value:.{DIGITS - 1}e}")


def _tidy(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it, cut where there are many axes."""
    if len(shape) <= MOST_AXES:
        return str(tuple(shape))
    first = ", ".join(map(str, shape[: MOST_AXES - 2]))
    return f"({first}, … {len(shape)} axes)"


def values_of(data: bytes, node: Node) -> list[Number]:
    """Return the numbers of a node in row-major order from its bytes."""
    values = unpack(data, node.dtype, (node.size,))
    assert isinstance(values, list), "internal: a 1-d read gives a list"
    return values


def drawn(node: Node) -> Node:
    """Return the sizes of complex numbers, any other node as it is."""
    return elementwise(OPS["abs"], node) if node.dtype.kind == "complex" else node


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the values; None where no value is finite.

    Attributes:
        least, greatest, mean: of the finite values.
        nans, infinities: how many values are not finite.
    """

    least: Number | None
    greatest: Number | None
    mean: float | None
    nans: int = 0
    infinities: int = 0


def store(nodes: Sequence[Node]) -> None:
    """Compute nodes that have values of their own before questions are asked of them.

    The questions are then the same few kernels, whatever the values were made of.
    Constants and ramps take no storage, however large.
    """
    realize([node for node in nodes if node.base.op.kind not in ("constant", "iota")])


def without_repeats(node: Node) -> Node:
    """Return the node with length one along each axis whose elements are all one."""
    strides = node.view.strides
    ranges = [
        (0, min(length, 1) if stride == 0 else length, 1)
        for length, stride in zip(node.shape, strides, strict=True)
    ]
    return slice_ranges(node, ranges)


def working_dtype(dtype: DType) -> DType:
    """Return the dtype for sums and means: float64 for itself, float32 for others."""
    return dtype if dtype is dtypes.float64 else dtypes.float32


def questions(node: Node) -> list[Node]:
    """Return what to read for the statistics, each of one element, all still lazy.

    Of complex numbers the statistics are those of their sizes.

    Nothing where they are known without a look: of no elements, of a constant.
    """
    if node.size == 0 or plain_number(node) is not None:
        return []
    node = drawn(without_repeats(node))
    if node.dtype.kind != "float":
        whole = cast(node, dtypes.int32) if node.dtype.kind == "bool" else node
        total = _all("sum", cast(whole, dtypes.float32))
        return [_all("min", whole), _all("max", whole), total]
    real = elementwise(OPS["isfinite"], node)
    numbers = _chosen(real, node, 0.0)
    return [
        _all("min", _chosen(real, node, math.inf)),
        _all("max", _chosen(real, node, -math.inf)),
        _all("sum", cast(numbers, working_dtype(node.dtype))),
        *(_count(elementwise(OPS[name], node)) for name in ("isnan", "isinf")),
    ]


def answer(node: Node, read: Sequence[Number]) -> Statistics:
    """Return the statistics of a node from the numbers that `questions` asked for."""
    size = without_repeats(node).size
    if size == 0:
        return Statistics(None, None, None)
    number = plain_number(node)
    if number is not None:
        read = [number, number, number] if math.isfinite(number) else [0, 0, 0]
        read = [*read, int(math.isnan(number)), int(math.isinf(number))]
        size = 1
    least, greatest, total = read[:3]
    nans, infinities = (int(read[3]), int(read[4])) if len(read) > 3 else (0, 0)
    repeats = node.size // size
    counted = size - nans - infinities
    if not counted:
        return Statistics(None, None, None, nans * repeats, infinities * repeats)
    return Statistics(
        least, greatest, total / counted, nans * repeats, infinities * repeats
    )


def _all(name: str, node: Node) -> Node:
    return reduce(name, node, tuple(range(len(node.shape))))


def _chosen(mask: Node, node: Node, otherwise: float) -> Node:
    number = constant(otherwise, node.dtype, node.device)
    return elementwise(OPS["where"], mask, node, number)


def _count(mask: Node) -> Node:
    return _all("sum", cast(mask, dtypes.int32))
