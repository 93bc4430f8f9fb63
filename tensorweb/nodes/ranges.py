"""Interval analysis of integer nodes, without computing values.

An index is in range if its interval is. Only otherwise are values read to check it
(`lookups.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from tensorweb.dtypes import integer_range
from tensorweb.graph.attributes import Reduction
from tensorweb.graph.node import Node, attributes_of, number_of_constant
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import Placeholder
from tensorweb.nodes import policy
from tensorweb.ops.structure import ARGSORT

Interval = tuple[int, int]
"""Lower and upper bound of all elements, inclusive."""

Actual = Callable[[Node], Interval]
"""Returns bounds of the argument of a placeholder."""

_cached: WeakKeyDictionary[Node, Interval] = WeakKeyDictionary()
"""Cached bounds of nodes, whose values never change."""


def promise_interval(node: Node, low: int, high: int) -> None:
    """Record bounds of an integer node that the caller guarantees."""
    _cached[node] = (low, high)


def limits(node: Node) -> Interval:
    """Return the least and the greatest value of the node's integer dtype or bool."""
    return (0, 1) if node.dtype.kind == "bool" else integer_range(node.dtype)


def interval_of(node: Node, actual: Actual | None = None) -> Interval:
    """Return bounds for the integers of a node; its dtype's limits if unknown.

    Args:
        node: of an integer dtype or bool.
        actual: returns bounds of placeholders; without it they have dtype limits.
    """
    interval = _cached.get(node)
    if interval is None:
        return _Walk(actual).bound(node, policy.DEEPEST_INTERVAL)
    return interval


class _Walk:
    """One traversal of the graph with cached bounds."""

    def __init__(self, actual: Actual | None) -> None:
        self._actual = actual
        self._found: dict[Node, Interval] = {}

    def bound(self, node: Node, depth: int) -> Interval:
        known = _cached.get(node) or self._found.get(node)
        if known is None:
            known = self._found[node] = self._bound(node, depth)
        return known

    def _bound(self, node: Node, depth: int) -> Interval:
        least, most = whole = limits(node)
        if node.owner is not None:
            return self.bound(node.owner, depth)
        if node.storage is not None:
            return self._bound_stored(node)
        if not depth:
            return whole
        if node.op.kind in ("map", "scan", "reduce"):
            low, high = self._bound_operation(node, depth - 1)
        else:
            low, high = self._bound_choice(node, depth - 1)
        return (low, high) if least <= low and high <= most else whole

    def _bound_stored(self, node: Node) -> Interval:
        if type(node.storage) is Placeholder and self._actual is not None:
            return self._actual(node)
        is_readable = 0 < node.size <= policy.LARGEST_INSPECTED
        if type(node.storage) is not HostData or not is_readable:
            return limits(node)
        data = memoryview(node.storage.data)[: node.size * node.dtype.itemsize]
        values = data.cast("B").cast(node.dtype.typecode)  # type: ignore[call-overload]  # a dtype's letter is a native one
        found = _cached[node] = int(min(values)), int(max(values))
        return found

    def _bound_operation(self, node: Node, depth: int) -> Interval:
        """Return bounds of a calculated node, ignoring overflow of its dtype."""
        if node.dtype.kind == "bool" or any(
            each.dtype.kind == "float" for each in node.inputs
        ):
            return limits(node)
        inputs = [self.bound(each, depth) for each in node.inputs]
        name = node.op.name
        if name in ("sum", "cumulative_sum"):
            (low, high), terms = inputs[0], node.inputs[0].size
            count = terms // max(node.size, 1) if name == "sum" else terms
            return min(low, low * count), max(high, high * count)
        rule = _RULES.get(name)
        return rule(inputs) if rule is not None else limits(node)

    def _bound_choice(self, node: Node, depth: int) -> Interval:
        """Return bounds of a node that selects, moves or counts elements."""
        kind = node.op.kind
        if kind == "constant":
            number = int(number_of_constant(node))
            return number, number
        if kind in ("iota", "compress") or node.op is ARGSORT:
            source = node.inputs[0] if node.inputs else node
            return 0, max(source.shape[-1] - 1, 0)
        if kind == "argreduce":
            (axis,) = attributes_of(node, Reduction).axes
            return 0, node.inputs[0].shape[axis] - 1
        if kind in ("copy", "sort", "gather"):
            return self.bound(node.inputs[0], depth)
        if kind in ("pad", "concat", "embed"):
            return _union([self.bound(each, depth) for each in node.inputs])
        if kind == "scatter":
            ends = (node.inputs[0], node.inputs[-1])
            return _union([self.bound(each, depth) for each in ends])
        return limits(node)


def _union(parts: Sequence[Interval]) -> Interval:
    return min(low for low, _ in parts), max(high for _, high in parts)


def _multiplied(parts: Sequence[Interval]) -> Interval:
    (a, b), (c, d) = parts
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def _remainder(parts: Sequence[Interval]) -> Interval:
    (a, b), (c, d) = parts
    if c <= 0:
        return (min(c + 1, 0), max(d - 1, 0))
    return (0, min(b, d - 1)) if a >= 0 else (0, d - 1)


def _floor_divided(parts: Sequence[Interval]) -> Interval:
    (a, b), (c, d) = parts
    if c <= 0:
        far = max(abs(a), abs(b))
        return -far, far
    return min(a // c, a // d), max(b // c, b // d)


def _absolute(parts: Sequence[Interval]) -> Interval:
    ((a, b),) = parts
    least = 0 if a <= 0 <= b else min(abs(a), abs(b))
    return least, max(abs(a), abs(b))


def _masked(parts: Sequence[Interval]) -> Interval:
    highs = [high for low, high in parts if low >= 0]
    return (0, min(highs)) if highs else (-(2**63), 2**63)


_RULES: dict[str, Callable[[Sequence[Interval]], Interval]] = {
    "cast": lambda parts: parts[0],
    "positive": lambda parts: parts[0],
    "add": lambda parts: (sum(low for low, _ in parts), sum(high for _, high in parts)),
    "subtract": lambda parts: (parts[0][0] - parts[1][1], parts[0][1] - parts[1][0]),
    "multiply": _multiplied,
    "negative": lambda parts: (-parts[0][1], -parts[0][0]),
    "abs": _absolute,
    "sign": lambda parts: (-1, 1),
    "minimum": lambda parts: (
        min(low for low, _ in parts),
        min(high for _, high in parts),
    ),
    "maximum": lambda parts: (
        max(low for low, _ in parts),
        max(high for _, high in parts),
    ),
    "remainder": _remainder,
    "floor_divide": _floor_divided,
    "bitwise_and": _masked,
    "where": lambda parts: _union(parts[1:]),
    "max": lambda parts: parts[0],
    "min": lambda parts: parts[0],
}
"""By the operation's name, bounds of a result from those of its operands. If they
exceed the dtype the result may wrap around, so the caller uses the dtype's limits."""
