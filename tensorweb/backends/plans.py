"""Cache the plans of a backend by the structure of their graphs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from tensorweb.backends.planning import Plan
from tensorweb.schedule.linear import LinearGraph, is_equal

PLANS_KEPT = 1024

ANY_CONSTANTS = "any constants"
"""Marks the key of a plan that does not depend on which constants are equal."""


class Plans:
    """A least-recently-used cache of plans."""

    def __init__(self) -> None:
        """Begin without plans."""
        self._known: OrderedDict[Hashable, Plan] = OrderedDict()

    def __len__(self) -> int:
        """Return how many plans are cached."""
        return len(self._known)

    def clear(self) -> None:
        """Drop all plans."""
        self._known.clear()

    def find(
        self, graph: LinearGraph, make: Callable[[LinearGraph, bool], Plan]
    ) -> Plan:
        """Return the plan of a graph, made if there is none.

        Args:
            graph: the linear graph.
            make: makes the plan of a graph; the second argument is whether it must hold
                for every graph of this structure.
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
