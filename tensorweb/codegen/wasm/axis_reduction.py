"""Loops of a reduction along the last axis and the axes around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tensorweb.codegen.wasm.accumulation import Combiner, total_of
from tensorweb.codegen.wasm.cursor import Cursor
from tensorweb.codegen.wasm.elements import flops, side_by_side
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.loops import Mover
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.operators import LANES
from tensorweb.codegen.wasm.policy import (
    LEAST_INTERLEAVED_WORK,
    LONGEST_RUN,
    MOST_ACCUMULATORS,
    MOST_UNROLLED_WORK,
)
from tensorweb.codegen.wasm.translation import Translation

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
    count = MOST_ACCUMULATORS
    if work >= LEAST_INTERLEAVED_WORK:
        count = side_by_side(work) if looks_ahead else 1
    else:
        while count > 1 and count * work > MOST_UNROLLED_WORK:
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
    is_wide = together > 1 and flops(evaluator.expression) >= LEAST_INTERLEAVED_WORK
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
    f.const("i32", 0)
    f.get(left)
    f.get(size)
    f.op("i32.sub")
    f.tee(stop)
    f.get(stop)
    f.const("i32", 0)
    f.ops("i32.lt_s", "select")
    f.set(stop)
    return stop


def count_down(f: Function, counter: int, count: int, end: int | None = None) -> None:
    """Emit a decrement and push whether `count` more are left above `end`."""
    f.get(counter)
    f.const("i32", count)
    f.op("i32.sub")
    f.tee(counter)
    if end is not None:
        f.get(end)
        f.op("i32.sub")
    f.const("i32", count)
    f.op("i32.ge_s")


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
        self.block = LONGEST_RUN * self._lanes * self._count
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
        f.get(left)
        f.const("i32", step)
        f.op("i32.ge_s")
        f.begin("if")
        stop = self._begin_blocks(left) if is_blocked else None
        f.begin("loop")
        several(
            self.evaluator,
            count,
            lambda number: self._combiner.take(self._accumulators[number]),
            consumer,
        )
        count_down(f, left, step, stop)
        f.br_if(0)
        f.end()
        if stop is not None:
            self.flush()
            f.get(left)
            f.const("i32", step)
            f.op("i32.ge_s")
            f.br_if(0)
            f.end()
            f.free(stop)
        f.end()

    def _begin_blocks(self, left: int) -> int:
        return begin_blocks(self._f, left, self._f.constant("i32", self.block))

    def _rest(self, left: int, consumer: ValueConsumer | None) -> None:
        """Emit the last, incomplete vector, shifted back to end with the axis."""
        f, evaluator, combiner = self._f, self.evaluator, self._combiner
        f.get(left)
        f.begin("if")
        back = f.local("i32")
        f.get(left)
        f.const("i32", LANES)
        f.op("i32.sub")
        f.set(back)
        evaluator.move(None, back)
        evaluator.value()
        if consumer is not None:
            consumer.move(None, back)
            consumer.keep(0)
        if not combiner.is_idempotent:
            combiner.identity()
            # Lanes from 4 - left on were not reduced yet.
            f.get(f.counting())
            f.const("i32", 0)
            f.get(back)
            f.ops("i32.sub", "i32x4.splat", "i32x4.ge_s", "v128.bitselect")
        combiner.take(self._accumulators[-1])
        f.end()
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
    f.get(counts[axis])
    f.set(left)
    flush = block[2] if block is not None and block[0] == axis else None
    stop = None
    if block is not None and flush is not None:
        stop = begin_blocks(f, left, evaluator.frame.number(block[1]))
    f.begin("loop")
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
    f.get(left)
    f.const("i32", 1)
    f.op("i32.sub")
    f.tee(left)
    if stop is not None:
        f.get(stop)
        f.op("i32.gt_s")
    f.br_if(0)
    f.end()
    if flush is not None and stop is not None:
        flush()
        f.get(left)
        f.br_if(0)
        f.end()
        f.free(stop)
    for _, copy in saved:
        f.free(copy)
    f.free(left)
