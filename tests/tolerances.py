"""The allowed errors, in units in the last place of the exact result.

Those of elementwise operations stand in their rows (`Op.ulp`), the others here. They
hold for a whole operation on any device, NumPy's own rounding included; WGSL functions
tell tighter bounds, which `tests/codegen/test_math_wgsl.py` measures.
"""

from __future__ import annotations

from tensorweb.ops import OPS

OF_OPERANDS = frozenset({"logaddexp"})
"""Operations that cancel: their error is measured at the largest operand."""

REDUCE: dict[str, float] = {
    "sum": 8.0,
    "mean": 8.0,
    "var": 16.0,
    "std": 16.0,
    "prod": 64.0,
    "cumulative_sum": 16.0,
    "cumulative_prod": 64.0,
    "matmul": 8.0,
    "factor": 256.0,
}
"""Reductions of floats: sums at the sum of sizes, products at the product."""

ACCUMULATED = 16.0
"""Sums at positions on `webgpu`, in ULP of the sum of sizes; they meet in a tree."""


def map_tolerance(name: str, dtype: str) -> float:
    """Return the allowed error of an elementwise operation on a float dtype.

    float16 is computed in more digits and rounded once, or once more.
    """
    allowed = OPS[name].ulp
    return min(allowed, 1.0) if dtype == "float16" else allowed
