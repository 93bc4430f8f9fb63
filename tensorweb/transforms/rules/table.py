"""All vjp rules, by the operation's name."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.graph.node import Node
from tensorweb.transforms.rules import (
    elementwise,
    factorizations,
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
    **factorizations.RULES,
}
"""Operations without an entry have no inputs."""

READS: dict[str, Callable[[Node], tuple[Node, ...]]] = {
    "matmul": products.before_repeating
}
"""Replaces a node's inputs in the backward pass, where those differ."""
