"""Floats with Python's operators, so that long formulas on parts read as formulas."""

from __future__ import annotations

from tensorweb.graph.node import Node, constant
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS


class Real:
    """A node of floats, or of bools where it is a condition.

    Operators are elementwise operations; numbers beside it take its dtype.
    """

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        """Wrap a node."""
        self.node = node

    def __add__(self, other: Real | float) -> Real:
        return apply("add", self, other)

    def __radd__(self, other: float) -> Real:
        return apply("add", self, other)

    def __sub__(self, other: Real | float) -> Real:
        return apply("subtract", self, other)

    def __rsub__(self, other: float) -> Real:
        return apply("subtract", self.number(other), self)

    def __mul__(self, other: Real | float) -> Real:
        return apply("multiply", self, other)

    def __rmul__(self, other: float) -> Real:
        return apply("multiply", self, other)

    def __truediv__(self, other: Real | float) -> Real:
        return apply("divide", self, other)

    def __rtruediv__(self, other: float) -> Real:
        return apply("divide", self.number(other), self)

    def __neg__(self) -> Real:
        return apply("negative", self)

    def __abs__(self) -> Real:
        return apply("abs", self)

    def __lt__(self, other: Real | float) -> Real:
        return apply("less", self, other)

    def __gt__(self, other: Real | float) -> Real:
        return apply("greater", self, other)

    def __ge__(self, other: Real | float) -> Real:
        return apply("greater_equal", self, other)

    def __and__(self, other: Real) -> Real:
        return apply("logical_and", self, other)

    def __or__(self, other: Real) -> Real:
        return apply("logical_or", self, other)

    def __invert__(self) -> Real:
        return apply("logical_not", self)

    def equals(self, other: Real | float) -> Real:
        """Return whether it equals another one."""
        return apply("equal", self, other)

    def number(self, value: float) -> Real:
        """Return a number of its dtype."""
        return Real(constant(value, self.node.dtype, self.node.device))

    @property
    def is_nan(self) -> Real:
        """Whether it is not a number."""
        return apply("isnan", self)

    @property
    def is_infinite(self) -> Real:
        """Whether it is infinite."""
        return apply("isinf", self)

    @property
    def is_finite(self) -> Real:
        """Whether it is neither NaN nor infinite."""
        return apply("isfinite", self)


def apply(name: str, first: Real, *others: Real | float) -> Real:
    """Return a row of the op table of floats; numbers take the dtype of the first."""
    nodes = [
        other.node if isinstance(other, Real) else first.number(other).node
        for other in others
    ]
    return Real(elementwise(OPS[name], first.node, *nodes))


def choose(condition: Real, yes: Real | float, no: Real | float) -> Real:
    """Return one of two values, of which one at least is no plain number."""
    if not isinstance(yes, Real):
        assert isinstance(no, Real), "internal: two numbers have no dtype"
        yes = no.number(yes)
    if not isinstance(no, Real):
        no = yes.number(no)
    return Real(elementwise(OPS["where"], condition.node, yes.node, no.node))


def signed(size: Real | float, sign: Real) -> Real:
    """Return a size with another value's sign."""
    if not isinstance(size, Real):
        size = sign.number(size)
    return apply("copysign", size, sign)
