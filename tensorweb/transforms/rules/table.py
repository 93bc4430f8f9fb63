"""Every rule by the operation's name."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.graph.node import Node
from tensorweb.transforms.rules import (
    complex_factorizations,
    elementwise,
    factorizations,
    fourier,
    indexing,
    products,
    reductions,
    structure,
)
from tensorweb.transforms.rules.rule import Rule

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **structure.RULES,
    **reductions.RULES,
    **indexing.RULES,
    **products.RULES,
    **fourier.RULES,
    **factorizations.RULES,
    **complex_factorizations.RULES,
}
"""Rows without one have no inputs."""

READS: dict[str, Callable[[Node], tuple[Node, ...]]] = {
    "matmul": products.before_repeating
}
"""What the way back takes for the inputs, where that is not what a node reads."""
