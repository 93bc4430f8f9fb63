"""The op table: one entry per operation, read by both backends, tests and docs."""

from __future__ import annotations

from tensorweb.graph.op import CONSTANT, LEAF, Op
from tensorweb.ops.arithmetic import ARITHMETIC, ROUNDING
from tensorweb.ops.factorizations import FACTORIZATIONS
from tensorweb.ops.logic import LOGIC
from tensorweb.ops.random import RANDOM
from tensorweb.ops.structure import REDUCTIONS, STRUCTURE
from tensorweb.ops.transcendental import EXPONENTIAL, TRIGONOMETRIC

GROUPS: dict[str, tuple[Op, ...]] = {
    "arithmetic": ARITHMETIC,
    "exponential": EXPONENTIAL,
    "trigonometric": TRIGONOMETRIC,
    "rounding": ROUNDING,
    "logic": LOGIC,
    "random": RANDOM,
    "reductions": REDUCTIONS,
    "factorizations": FACTORIZATIONS,
    "structure": (LEAF, CONSTANT, *STRUCTURE),
}
"""The entries by topic, in the order of the documentation."""

OPS: dict[str, Op] = {
    entry.name: entry for entries in GROUPS.values() for entry in entries
}
"""Every entry by name."""
