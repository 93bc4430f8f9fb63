"""Movements between a node and the index space in which it is computed."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.graph.attributes import Movement
from tensorweb.graph.node import Node
from tensorweb.schedule.rules import Rule
from tensorweb.view import View


class Link(NamedTuple):
    """One movement of a chain, the node it applies to, and the rest of the chain."""

    movement: Movement
    source: Node
    rest: Link | None


Chain = Link | None
"""Movements from the node outwards to the index space; None is the empty chain."""


class Blocked(Exception):  # a signal inside the scheduler, no error
    """A kernel cannot be built until `nodes` are stored.

    Attributes:
        rule: the rule by which nodes are stored that were not to be stored before.
        link: the movement that cannot be expressed by strides, if that is the reason.
    """

    def __init__(self, rule: Rule, *nodes: Node, link: Link | None = None) -> None:
        """Name the nodes, for example the one below a reshape without strides."""
        super().__init__(*nodes)
        self.rule = rule
        self.nodes = nodes
        self.link = link


def move(view: View, chain: Chain) -> View:
    """Apply a chain of movements to a view.

    Raises:
        Blocked: a reshape in the chain cannot be expressed by strides.
    """
    while chain is not None:
        moved = chain.movement.apply(view)
        if moved is None:
            raise Blocked(Rule.RESHAPED, chain.source, link=chain)
        view, chain = moved, chain.rest
    return view
