"""Combine the values of a reduction: one at a time, or four lanes at a time.

An accumulator contains the values combined so far. Where NaN propagates, lanes keep the
extreme value and a mask of the lanes that saw no NaN: this takes three instructions,
where engines emit eight for a NaN-propagating minimum or maximum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tensorweb import dtypes
from tensorweb.codegen.expression import kind_of
from tensorweb.codegen.wasm.elements import KINDS
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.graph.op import Op
from tensorweb.ops import OPS

Accumulator = tuple[int, ...]
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
    value = op.identity
    if not isinstance(value, str):
        return value
    is_lowest = value == "lowest"
    if kind == "bool":
        return 0 if is_lowest else 1
    if kind == "float":
        return float("-inf") if is_lowest else float("inf")
    return dtypes.integer_range(dtypes.BY_NAME[dtype])[0 if is_lowest else 1]


class Combiner:
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

    def new(self) -> Accumulator:
        """Return locals for an accumulator."""
        value = self.f.local(self.values.value_type(self.kind))
        return (value, self.f.local("v128")) if self._sees_nan else (value,)

    def free(self, accumulator: Accumulator) -> None:
        """Free the locals of an accumulator."""
        for local in accumulator:
            self.f.free(local)

    def start(self, accumulator: Accumulator) -> None:
        """Emit the initial value of an accumulator: the identity."""
        f = self.f
        self.identity()
        f.set(accumulator[0])
        if self._sees_nan:
            f.get(f.constant("i32x4", -1))
            f.set(accumulator[1])

    def take(self, accumulator: Accumulator) -> None:
        """Emit code that combines the value on the stack into an accumulator."""
        f = self.f
        value = f.local(self.values.value_type(self.kind))
        f.set(value)
        self._combine(accumulator[0], value)
        if self._sees_nan:
            f.get(accumulator[1])
            f.get(value)
            f.get(value)
            f.ops("f32x4.eq", "v128.and")
            f.set(accumulator[1])
        f.free(value)

    def _combine(self, into: int, value: int) -> None:
        f = self.f
        if self._sees_nan:
            f.get(into)
            f.get(value)
            f.op(f"f32x4.{EXTREMES[self.op]}")
        else:
            scope = {"operand0": (into,), "operand1": (value,)}
            self.values.term(self._form, scope)
        f.set(into)

    def merge(self, into: Accumulator, other: Accumulator) -> None:
        """Emit code that combines one accumulator into another."""
        self._combine(into[0], other[0])
        if self._sees_nan:
            self.f.get(into[1])
            self.f.get(other[1])
            self.f.op("v128.and")
            self.f.set(into[1])

    def merge_all(self, accumulators: list[Accumulator]) -> None:
        """Emit code that combines accumulators in a tree, into the first."""
        half = len(accumulators) // 2
        while half:
            for n in range(half):
                self.merge(accumulators[n], accumulators[n + half])
            half //= 2

    def leave(self, accumulator: Accumulator) -> None:
        """Emit code that pushes the value of an accumulator, by lane."""
        f = self.f
        f.get(accumulator[0])
        if self._sees_nan:
            f.get(f.constant("f32x4", float("nan")))
            f.get(accumulator[1])
            f.op("v128.bitselect")

    def leave_one(self, accumulator: Accumulator) -> None:
        """Emit code that combines the lanes and pushes the result."""
        f = self.f
        if not self.values.is_vector:
            f.get(accumulator[0])
            return
        value, other = accumulator[0], f.local("v128")
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
            f.get(accumulator[1])
            f.ops("i32x4.all_true", "select")
            return
        f.get(value)
        f.lane(f"{shape}.extract_lane", 0)
        if self.kind == "bool":
            f.const("i32", 1)
            f.op("i32.and")


_LOWER_HALVES = (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)


class Total(ABC):
    """A total while its blocks are added."""

    @abstractmethod
    def start(self) -> None:
        """Emit the beginning: nothing was added."""

    @abstractmethod
    def add(self) -> None:
        """Add the block whose value is on the stack."""

    @abstractmethod
    def leave(self) -> None:
        """Push the value on the stack."""


class _Plain(Total):
    """A total in the type of its values."""

    def __init__(self, combiner: Combiner) -> None:
        self._combiner = combiner
        self._running = combiner.new()

    def start(self) -> None:
        self._combiner.start(self._running)

    def add(self) -> None:
        self._combiner.take(self._running)

    def leave(self) -> None:
        self._combiner.leave(self._running)


class _Widened(Total):
    """A sum of float32 in float64, as two pairs for four lanes."""

    def __init__(self, values: Translation) -> None:
        self._f = values.f
        self._is_vector = values.is_vector
        kind, count = ("v128", 2) if self._is_vector else ("f64", 1)
        self._shape = "f64x2" if self._is_vector else "f64"
        self._parts = [self._f.local(kind) for _ in range(count)]

    def start(self) -> None:
        f = self._f
        for part in self._parts:
            if self._is_vector:
                f.get(f.constant("f32x4", 0))
            else:
                f.const("f64", 0)
            f.set(part)

    def add(self) -> None:
        f = self._f
        if not self._is_vector:
            f.op("f64.promote_f32")
            self._increase(self._parts[0])
            return
        vector = f.local("v128")
        f.tee(vector)
        f.op("f64x2.promote_low_f32x4")
        self._increase(self._parts[0])
        f.get(vector)
        f.get(vector)
        f.shuffle(_UPPER_HALF)
        f.op("f64x2.promote_low_f32x4")
        self._increase(self._parts[1])
        f.free(vector)

    def _increase(self, part: int) -> None:
        self._f.get(part)
        self._f.op(f"{self._shape}.add")
        self._f.set(part)

    def leave(self) -> None:
        f = self._f
        for part in self._parts:
            f.get(part)
            f.op("f32x4.demote_f64x2_zero" if self._is_vector else "f32.demote_f64")
        if self._is_vector:
            f.shuffle(_LOWER_HALVES)


class _Compensated(Total):
    """A sum of float64 with a second one of its rounding errors."""

    def __init__(self, values: Translation) -> None:
        self._f = values.f
        self._sum, self._lost = (self._f.local("f64") for _ in range(2))

    def start(self) -> None:
        for part in (self._sum, self._lost):
            self._f.const("f64", 0)
            self._f.set(part)

    def add(self) -> None:
        f = self._f
        addend, total, back = (f.local("f64") for _ in range(3))
        f.tee(addend)
        f.get(self._sum)
        f.op("f64.add")
        f.tee(total)
        f.get(self._sum)
        f.op("f64.sub")
        f.set(back)
        # lost += (sum - (total - back)) + (addend - back)
        f.get(self._lost)
        f.get(self._sum)
        f.get(total)
        f.get(back)
        f.ops("f64.sub", "f64.sub")
        f.get(addend)
        f.get(back)
        f.ops("f64.sub", "f64.add", "f64.add")
        f.set(self._lost)
        f.get(total)
        f.set(self._sum)
        for local in (addend, total, back):
            f.free(local)

    def leave(self) -> None:
        """Push the sum; the error of an infinite one is NaN and is ignored."""
        f = self._f
        f.get(self._sum)
        f.get(self._lost)
        f.const("f64", 0)
        f.get(self._lost)
        f.get(self._lost)
        f.ops("f64.eq", "select", "f64.add")


def total_of(combiner: Combiner) -> Total:
    """Return the total of a reduction, of one output or of four in lanes."""
    if not combiner.adds_floats:
        return _Plain(combiner)
    is_wide = combiner.kind == "f64"
    return _Compensated(combiner.values) if is_wide else _Widened(combiner.values)
