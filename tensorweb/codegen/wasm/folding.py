"""Combine the values of a reduction: one at a time, or four lanes at a time.

An accumulator contains the values combined so far. Where NaN propagates, lanes keep the
extreme value and a mask of the lanes that saw no NaN: this takes three instructions,
where engines emit eight for a NaN-propagating minimum or maximum.
"""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.codegen.expression import kind_of
from tensorweb.codegen.wasm.elements import KINDS
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.graph.op import Op
from tensorweb.ops import OPS

Running = tuple[int, ...]
"""Locals of an accumulator: the value, and a mask of lanes that saw no NaN."""

EXTREMES = {"max": "pmax", "min": "pmin"}
"""Operations that propagate NaN, and the instruction that does not."""

_UPPER_HALF = (8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)
_SECOND_LANE = (4, 5, 6, 7) * 4


def identity_of(op: Op, dtype: str) -> float:
    """Return the identity element of an operation.

    >>> identity_of(OPS["max"], "int8")
    -128
    """
    kind = kind_of(dtype)
    value = op.identity.get(kind, op.identity.get("any", 0))
    if not isinstance(value, str):
        return value
    is_lowest = value == "lowest"
    if kind == "bool":
        return 0 if is_lowest else 1
    if kind == "float":
        return float("-inf") if is_lowest else float("inf")
    return dtypes.integer_range(dtypes.BY_NAME[dtype])[0 if is_lowest else 1]


class Fold:
    """Emits code that combines the values of one reduction.

    Attributes:
        values: the translation, which determines the number of lanes.
        kind: the type of a value.
        adds_floats: whether rounding depends on the order.
        is_idempotent: whether a value may be combined twice.
    """

    def __init__(self, values: Translation, op: str, dtype: str) -> None:
        """Prepare to combine values of a dtype by the op `op`."""
        self.values = values
        self.f = values.f
        self.op = op
        self.kind = KINDS[dtype]
        self._identity = identity_of(OPS[op], dtype)
        self._form = expression(
            OPS[op].form(dtype, kind_of(dtype)), (self.kind, self.kind)
        )
        is_float = self.kind[0] == "f"
        self.adds_floats = is_float and op == "sum"
        self.is_idempotent = op not in ("sum", "prod")
        self._sees_nan = values.is_vector and is_float and op in EXTREMES

    def identity(self) -> None:
        """Push the identity element on the stack."""
        self.values.number(self.kind, self._identity)

    def new(self) -> Running:
        """Return locals for an accumulator."""
        value = self.f.local(self.values.value_type(self.kind))
        return (value, self.f.local("v128")) if self._sees_nan else (value,)

    def free(self, running: Running) -> None:
        """Free the locals of an accumulator."""
        for local in running:
            self.f.free(local)

    def start(self, running: Running) -> None:
        """Emit the initial value of an accumulator: the identity."""
        f = self.f
        self.identity()
        f.set(running[0])
        if self._sees_nan:
            f.get(f.constant("i32x4", -1))
            f.set(running[1])

    def take(self, running: Running) -> None:
        """Emit code that combines the value on the stack into an accumulator."""
        f = self.f
        value = f.local(self.values.value_type(self.kind))
        f.set(value)
        self._combine(running[0], value)
        if self._sees_nan:
            f.get(running[1])
            f.get(value)
            f.get(value)
            f.ops("f32x4.eq", "v128.and")
            f.set(running[1])
        f.free(value)

    def _combine(self, into: int, value: int) -> None:
        f = self.f
        if self._sees_nan:
            f.get(into)
            f.get(value)
            f.op(f"f32x4.{EXTREMES[self.op]}")
        else:
            places = {"operand0": (into,), "operand1": (value,)}
            self.values.term(self._form, places)
        f.set(into)

    def merge(self, into: Running, other: Running) -> None:
        """Emit code that combines one accumulator into another."""
        self._combine(into[0], other[0])
        if self._sees_nan:
            self.f.get(into[1])
            self.f.get(other[1])
            self.f.op("v128.and")
            self.f.set(into[1])

    def merge_all(self, running: list[Running]) -> None:
        """Emit code that combines accumulators in a tree, into the first."""
        half = len(running) // 2
        while half:
            for n in range(half):
                self.merge(running[n], running[n + half])
            half //= 2

    def leave(self, running: Running) -> None:
        """Emit code that pushes the value of an accumulator, by lane."""
        f = self.f
        f.get(running[0])
        if self._sees_nan:
            f.get(f.constant("f32x4", float("nan")))
            f.get(running[1])
            f.op("v128.bitselect")

    def leave_one(self, running: Running) -> None:
        """Emit code that combines the lanes and pushes the result."""
        f = self.f
        if not self.values.is_vector:
            f.get(running[0])
            return
        value, other = running[0], f.local("v128")
        for lanes in (_UPPER_HALF, _SECOND_LANE):
            f.get(value)
            f.get(value)
            f.shuffle(lanes)
            f.set(other)
            self._combine(value, other)
        f.free(other)
        shape = self.values.shape(self.kind)
        if self._sees_nan:
            f.get(value)
            f.lane(f"{shape}.extract_lane", 0)
            f.const("f32", float("nan"))
            f.get(running[1])
            f.ops("i32x4.all_true", "select")
            return
        f.get(value)
        f.lane(f"{shape}.extract_lane", 0)
        if self.kind == "bool":
            f.const("i32", 1)
            f.op("i32.and")
