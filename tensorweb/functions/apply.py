"""Apply one operation of the op table to anything array-like."""

from __future__ import annotations

from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operations import operation


def apply(name: str, *operands: ArrayLike) -> Tensor:
    """Return an elementwise operation on operands that become tensors first.

    >>> apply("add", [1, 2], 10)
    tensor([11, 12])
    """
    return Tensor(operation(name, *operands))
