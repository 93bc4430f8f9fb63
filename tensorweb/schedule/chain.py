"""Movements between a node and the index space that asks for it."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.graph.attributes import Movement
from tensorweb.graph.node import Node
from tensorweb.view import View


class Link(NamedTuple):
    """A movement between a node and the index space, and those outside of it."""

    movement: Movement
    source: Node
    rest: Link | None


Chain = Link | None
"""Movements from the innermost outwards."""


class Blocked(Exception):  # a signal inside the scheduler, no error
    """A kernel cannot be built as it is; `nodes` must be stored first.

    Attributes:
        link: the movement that has no strides, if that is why.
    """

    def __init__(self, *nodes: Node, link: Link | None = None) -> None:
        """Name the nodes, for example the one below a reshape without strides."""
        super().__init__(*nodes)
        self.nodes = nodes
        self.link = link


def move(view: View, chain: Chain) -> View:
    """Return a view after a chain of movements.

    Raises:
        Blocked: a reshape of the chain cannot be expressed by strides.
    """
    while chain is not None:
        moved = chain.movement.apply(view)
        if moved is None:
            raise Blocked(chain.source, link=chain)
        view, chain = moved, chain.rest
    return view
