"""The one table of allowed errors, in units in the last place of the exact result.

`tests/codegen/test_math_wgsl.py` measures each WGSL function on its own against tighter
bounds; these hold for a whole operation on any device, NumPy's own rounding included.
"""

from __future__ import annotations

TRANSCENDENTAL = 4.0
"""NumPy's vector code promises 4 ULP; the WGSL functions stay below 3."""

MAP: dict[str, float] = {
    "divide": 1.0,
    "reciprocal": 1.0,
    "remainder": 1.0,
    "sqrt": 1.0,
    "rsqrt": 2.0,
    "hypot": 2.0,
    "pow": TRANSCENDENTAL,
    "exp": TRANSCENDENTAL,
    "exp2": TRANSCENDENTAL,
    "expm1": TRANSCENDENTAL,
    "log": TRANSCENDENTAL,
    "log1p": TRANSCENDENTAL,
    "log2": TRANSCENDENTAL,
    "log10": TRANSCENDENTAL,
    "logaddexp": TRANSCENDENTAL,
    "sigmoid": TRANSCENDENTAL,
    "erf": TRANSCENDENTAL,
    "sin": TRANSCENDENTAL,
    "cos": TRANSCENDENTAL,
    "tan": TRANSCENDENTAL,
    "asin": TRANSCENDENTAL,
    "acos": TRANSCENDENTAL,
    "atan": TRANSCENDENTAL,
    "sinh": TRANSCENDENTAL,
    "cosh": TRANSCENDENTAL,
    "tanh": TRANSCENDENTAL,
    "asinh": TRANSCENDENTAL,
    "acosh": TRANSCENDENTAL,
    "atanh": TRANSCENDENTAL,
    "atan2": TRANSCENDENTAL,
}
"""Elementwise operations on floats, by name; the others round correctly."""

ROUNDED = 0.5
"""The error of a result that is the float nearest to the exact one."""

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
}
"""Reductions of floats: sums at the sum of sizes, products at the product."""

ACCUMULATED = 16.0
"""Sums at positions on `webgpu`, in ULP of the sum of sizes; they meet in a tree."""


def map_tolerance(name: str, dtype: str) -> float:
    """Return the allowed error of an elementwise operation on a float dtype.

    float16 is computed in more digits and rounded once, or once more.
    """
    allowed = MAP.get(name, ROUNDED)
    return min(allowed, 1.0) if dtype == "float16" else allowed
