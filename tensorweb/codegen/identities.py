"""The identity element of a reduction, as the bits of a parameter."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.codegen.expression import kind_of, number_bits
from tensorweb.graph.op import Op


def identity_bits(op: Op, dtype: str) -> int:
    """Return the bits of the identity element of `op` for values of a dtype."""
    value = op.identity.get(kind_of(dtype), op.identity.get("any", 0))
    if not isinstance(value, str):
        return number_bits(value, dtype)
    is_lowest = value == "lowest"
    if dtype == "bool":
        return 0 if is_lowest else 1
    if kind_of(dtype) == "float":
        return number_bits(float("-inf") if is_lowest else float("inf"), dtype)
    low, high = dtypes.integer_range(dtypes.BY_NAME[dtype])
    return number_bits(low if is_lowest else high, dtype)
