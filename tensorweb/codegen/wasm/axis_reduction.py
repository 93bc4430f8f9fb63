"""Combine the values of a reduction, and loop along the last axis and those around it.

An accumulator contains the values combined so far. Where NaN propagates, lanes keep the
extreme value and a mask of the lanes that saw no NaN: this takes three instructions,
where engines emit eight for a NaN-propagating minimum or maximum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from tensorweb.codegen.expression import identity_of, kind_of
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import KINDS, flops, side_by_side
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.loops import Mover
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.translation import LANES, Translation
from tensorweb.ops import OPS

Accumulator = tuple[int, ...]
"""Locals of an accumulator: the value, and a mask of lanes that saw no NaN."""

EXTREMES = {"max": "pmax", "min": "pmin"}
"""Operations that propagate NaN, and the instruction that does not."""

_UPPER_HALF = (8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)
_SECOND_LANE = (4, 5, 6, 7) * 4


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
        self.f.free(*accumulator)

    def start(self, accumulator: Accumulator) -> None:
        """Emit the initial value of an accumulator: the identity."""
        f = self.f
        self.identity()
        f.set(accumulator[0])
        if self._sees_nan:
            f.set(accumulator[1], f.constant("i32x4", -1))

    def take(self, accumulator: Accumulator) -> None:
        """Emit code that combines the value on the stack into an accumulator."""
        f = self.f
        value = f.local(self.values.value_type(self.kind))
        f.set(value)
        self._combine(accumulator[0], value)
        if self._sees_nan:
            f.set(accumulator[1], accumulator[1], value, value, "f32x4.eq", "v128.and")
        f.free(value)

    def _combine(self, into: int, value: int) -> None:
        f = self.f
        if self._sees_nan:
            f.emit(into, value, f"f32x4.{EXTREMES[self.op]}")
        else:
            scope = {"operand0": (into,), "operand1": (value,)}
            self.values.term(self._form, scope)
        f.set(into)

    def merge(self, into: Accumulator, other: Accumulator) -> None:
        """Emit code that combines one accumulator into another."""
        self._combine(into[0], other[0])
        if self._sees_nan:
            self.f.set(into[1], into[1], other[1], "v128.and")

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
            f.emit(f.constant("f32x4", float("nan")), accumulator[1], "v128.bitselect")

    def leave_one(self, accumulator: Accumulator) -> None:
        """Emit code that combines the lanes and pushes the result."""
        f = self.f
        if not self.values.is_vector:
            f.get(accumulator[0])
            return
        value, other = accumulator[0], f.local("v128")
        for lanes in (_UPPER_HALF, _SECOND_LANE):
            f.emit(value, value)
            f.shuffle(lanes)
            f.set(other)
            self._combine(value, other)
        f.free(other)
        shape = self.values.shape(self.kind)
        if self._sees_nan:
            f.get(value)
            f.lane(f"{shape}.extract_lane", 0)
            f.emit(("f32", float("nan")), accumulator[1], "i32x4.all_true", "select")
            return
        f.get(value)
        f.lane(f"{shape}.extract_lane", 0)
        if self.kind == "bool":
            f.emit(("i32", 1), "i32.and")


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
        f.emit(vector, vector)
        f.shuffle(_UPPER_HALF)
        f.op("f64x2.promote_low_f32x4")
        self._increase(self._parts[1])
        f.free(vector)

    def _increase(self, part: int) -> None:
        self._f.set(part, part, f"{self._shape}.add")

    def leave(self) -> None:
        f = self._f
        for part in self._parts:
            f.emit(
                part, "f32x4.demote_f64x2_zero" if self._is_vector else "f32.demote_f64"
            )
        if self._is_vector:
            f.shuffle(_LOWER_HALVES)


class _Compensated(Total):
    """A sum of float64 with a second one of its rounding errors."""

    def __init__(self, values: Translation) -> None:
        self._f = values.f
        self._sum, self._lost = (self._f.local("f64") for _ in range(2))

    def start(self) -> None:
        for part in (self._sum, self._lost):
            self._f.set(part, ("f64", 0))

    def add(self) -> None:
        f = self._f
        addend, total, back = (f.local("f64") for _ in range(3))
        f.tee(addend)
        f.tee(total, self._sum, "f64.add")
        f.set(back, self._sum, "f64.sub")
        # lost += (sum - (total - back)) + (addend - back)
        f.set(
            self._lost,
            self._lost,
            self._sum,
            total,
            back,
            "f64.sub",
            "f64.sub",
            addend,
            back,
            "f64.sub",
            "f64.add",
            "f64.add",
        )
        f.set(self._sum, total)
        f.free(addend, total, back)

    def leave(self) -> None:
        """Push the sum; the error of an infinite one is NaN and is ignored."""
        f = self._f
        f.emit(
            self._sum,
            self._lost,
            ("f64", 0),
            self._lost,
            self._lost,
            "f64.eq",
            "select",
            "f64.add",
        )


def total_of(combiner: Combiner) -> Total:
    """Return the total of a reduction, of one output or of four in lanes."""
    if not combiner.adds_floats:
        return _Plain(combiner)
    is_wide = combiner.kind == "f64"
    return _Compensated(combiner.values) if is_wide else _Widened(combiner.values)


Write = Callable[[], None]

Block = tuple[int, int, Write]
"""An axis, a number of indices along it, and the code to emit after that number."""


class ValueConsumer(Protocol):
    """A second user of the values of an evaluator, which moves with it."""

    def keep(self, ahead: int) -> None:
        """Use the value on the stack, `ahead` elements ahead, and leave it there."""

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move by `count` elements, or by the value of the local `by`."""


def accumulators_for(length: int, work: int, looks_ahead: bool = True) -> int:
    """Return the number of accumulators for a loop of steps of `work` operations.

    >>> accumulators_for(1000, 3), accumulators_for(1000, 12), accumulators_for(3, 3)
    (8, 4, 2)
    """
    count = policy.MOST_ACCUMULATORS
    if work >= policy.LEAST_INTERLEAVED_WORK:
        count = side_by_side(work) if looks_ahead else 1
    else:
        while count > 1 and count * work > policy.MOST_UNROLLED_WORK:
            count //= 2
    while count > max(length, 1):
        count //= 2
    return count


def several(
    evaluator: Evaluator,
    count: int,
    take: Callable[[int], None],
    consumer: ValueConsumer | None = None,
) -> None:
    """Emit code that consumes consecutive values and moves the evaluator past them.

    Args:
        evaluator: evaluator set to the first element.
        count: number of elements or vectors.
        take: emits the code that consumes the value on the stack, given its index.
        consumer: uses each value first.
    """
    lanes = evaluator.values.lanes
    movers: list[Mover] = [evaluator] if consumer is None else [evaluator, consumer]
    steps = 1 if evaluator.looks_ahead else count
    together = count // steps
    is_wide = (
        together > 1 and flops(evaluator.expression) >= policy.LEAST_INTERLEAVED_WORK
    )
    for step in range(steps):
        values = [each for (each,) in evaluator.several(together)] if is_wide else []
        for number in range(together):
            evaluator.ahead = number * lanes
            if is_wide:
                evaluator.frame.f.get(values[number])
            else:
                evaluator.value()
            if consumer is not None:
                consumer.keep(evaluator.ahead)
            take(step + number)
        evaluator.ahead = 0
        for mover in movers:
            mover.move(lanes * together)


def begin_blocks(f: Function, left: int, size: int) -> int:
    """Open a loop over blocks; returns the local of the count left after each.

    Args:
        f: the function.
        left: local of the number of indices left.
        size: local of the number of indices of a block.
    """
    stop = f.local("i32")
    f.begin("loop")
    f.tee(stop, ("i32", 0), left, size, "i32.sub")
    f.set(stop, stop, ("i32", 0), "i32.lt_s", "select")
    return stop


def count_down(f: Function, counter: int, count: int, end: int | None = None) -> None:
    """Emit a decrement and push whether `count` more are left above `end`."""
    f.tee(counter, counter, ("i32", count), "i32.sub")
    if end is not None:
        f.emit(end, "i32.sub")
    f.emit(("i32", count), "i32.ge_s")


class AxisReduction:
    """Reduces the values of an evaluator along the last axis.

    Attributes:
        evaluator: evaluator whose values are reduced.
        total: result of the reduction, over all calls of `run` since `start`.
        block: elements that are added before their sum is added to the total.
        adds_floats: whether rounding depends on the order.
    """

    def __init__(self, evaluator: Evaluator, op: str, length: int) -> None:
        """Prepare.

        Args:
            evaluator: evaluator whose values are reduced.
            op: name of the reduction.
            length: length of the longest axis; the code is the same for all long ones.
        """
        self.evaluator = evaluator
        self._f = evaluator.frame.f
        self._lanes = evaluator.values.lanes
        dtype = evaluator.result.dtype
        self._combiner = Combiner(evaluator.values, op, dtype)
        steps = length // self._lanes
        work = flops(evaluator.expression)
        self._count = accumulators_for(steps, work, evaluator.looks_ahead)
        self._accumulators = [self._combiner.new() for _ in range(self._count)]
        self.block = policy.LONGEST_RUN * self._lanes * self._count
        self.adds_floats = self._combiner.adds_floats
        self._is_blocked = self.adds_floats and length > self.block
        # Lanes are combined first; the total is one number.
        single = Translation(evaluator.frame.writer, self._f)
        self.total = total_of(Combiner(single, op, dtype))

    def start(self) -> None:
        """Emit the beginning of a reduction."""
        self.total.start()
        self._begin()

    def _begin(self) -> None:
        for each in self._accumulators:
            self._combiner.start(each)

    def flush(self) -> None:
        """Emit code that adds the accumulators to the total."""
        self._combiner.merge_all(self._accumulators)
        self._combiner.leave_one(self._accumulators[0])
        self.total.add()
        self._begin()

    def run(self, left: int, consumer: ValueConsumer | None = None) -> None:
        """Emit the loops along the last axis, from the evaluator's index on.

        Args:
            left: local of the number of elements, which is counted down.
            consumer: uses each value first.
        """
        if self._count > 1 or self._is_blocked:
            self._loop(left, self._count, consumer, self._is_blocked)
        if self._count > 1 or not self._is_blocked:
            self._loop(left, 1, consumer)
        if self._lanes > 1:
            self._rest(left, consumer)

    def _loop(
        self,
        left: int,
        count: int,
        consumer: ValueConsumer | None,
        is_blocked: bool = False,
    ) -> None:
        """Emit a loop of `count` steps per iteration, by blocks if blocked."""
        f, step = self._f, count * self._lanes
        with f.block("if", left, ("i32", step), "i32.ge_s"):
            stop = self._begin_blocks(left) if is_blocked else None
            with f.block("loop"):
                several(
                    self.evaluator,
                    count,
                    lambda number: self._combiner.take(self._accumulators[number]),
                    consumer,
                )
                count_down(f, left, step, stop)
                f.br_if(0)
            if stop is not None:
                self.flush()
                f.br_if(0, left, ("i32", step), "i32.ge_s")
                f.end()
                f.free(stop)

    def _begin_blocks(self, left: int) -> int:
        return begin_blocks(self._f, left, self._f.constant("i32", self.block))

    def _rest(self, left: int, consumer: ValueConsumer | None) -> None:
        """Emit the last, incomplete vector, shifted back to end with the axis."""
        f, evaluator, combiner = self._f, self.evaluator, self._combiner
        with f.block("if", left):
            back = f.local("i32")
            f.set(back, left, ("i32", LANES), "i32.sub")
            evaluator.move(None, back)
            evaluator.value()
            if consumer is not None:
                consumer.move(None, back)
                consumer.keep(0)
            if not combiner.is_idempotent:
                combiner.identity()
                # Lanes from 4 - left on were not reduced yet.
                f.emit(
                    f.counting(),
                    ("i32", 0),
                    back,
                    "i32.sub",
                    "i32x4.splat",
                    "i32x4.ge_s",
                    "v128.bitselect",
                )
            combiner.take(self._accumulators[-1])
        f.free(back)


def walk(
    evaluator: Cursor,
    group: int,
    counts: Sequence[int],
    body: Write,
    *,
    body_moves: bool,
    block: Block | None = None,
    axis: int = 0,
) -> None:
    """Emit loops over the first axes of a group, the last of these innermost.

    Args:
        evaluator: cursor at the first index; its index is undefined after the loops.
        group: index of the group.
        counts: locals of the lengths of these axes, at least 1.
        body: emits the code at each index.
        body_moves: whether the body moves the evaluator.
        block: code to emit after each block.
        axis: the first axis.
    """
    if axis == len(counts):
        body()
        return
    f = evaluator.frame.f
    left = f.local("i32")
    f.set(left, counts[axis])
    flush = block[2] if block is not None and block[0] == axis else None
    stop = None
    if block is not None and flush is not None:
        stop = begin_blocks(f, left, evaluator.frame.number(block[1]))
    with f.block("loop"):
        is_inner = axis == len(counts) - 1
        saved = evaluator.saved() if body_moves or not is_inner else []
        walk(
            evaluator,
            group,
            counts,
            body,
            body_moves=body_moves,
            block=block,
            axis=axis + 1,
        )
        evaluator.restore(saved)
        evaluator.shift(group, axis)
        f.tee(left, left, ("i32", 1), "i32.sub")
        if stop is not None:
            f.emit(stop, "i32.gt_s")
        f.br_if(0)
    if flush is not None and stop is not None:
        flush()
        f.br_if(0, left)
        f.end()
        f.free(stop)
    for _, copy in saved:
        f.free(copy)
    f.free(left)
