"""The plans of a backend that were made before, by the structure of their graphs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from tensorweb.backends.planning import Plan
from tensorweb.schedule.linear import LinearGraph, is_equal

PLANS_KEPT = 1024

ANY_CONSTANTS = "any constants"
"""Marks the key of a plan that holds whichever constants of a graph are equal."""


class Plans:
    """A cache; those that were not used for longest go."""

    def __init__(self) -> None:
        """Begin without plans."""
        self._known: OrderedDict[Hashable, Plan] = OrderedDict()

    def __len__(self) -> int:
        """Return how many plans are kept."""
        return len(self._known)

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()

    def find(
        self, graph: LinearGraph, make: Callable[[LinearGraph, bool], Plan]
    ) -> Plan:
        """Return the plan of a graph, made if there is none.

        Args:
            graph: the numbered graph.
            make: gets it, and whether the plan must hold for all of its structure.
        """
        key: Hashable = graph.key
        plan = self._known.get(key)
        is_for_all = plan is not None and not is_equal(graph, plan.equal)
        if is_for_all:
            key = (key, ANY_CONSTANTS)
            plan = self._known.get(key)
        if plan is None:
            plan = self._known[key] = make(graph, is_for_all)
            if len(self._known) > PLANS_KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return plan
