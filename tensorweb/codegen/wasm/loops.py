"""Loops over units and along an axis, and how rows are cut into units of work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import FIRST, LAST, Frame
from tensorweb.codegen.wasm.module import Function, divided, smaller
from tensorweb.codegen.wasm.translation import LANES


@contextmanager
def counted(f: Function, first: int, last: int) -> Iterator[int]:
    """Emit a loop around the body of the context; yields the loop variable's local.

    Args:
        f: the function.
        first: local of the first index.
        last: local of the end of the loop.
    """
    counter = f.local("i32")
    f.set(counter, first)
    with while_below(f, counter, last):
        yield counter
        f.set(counter, counter, ("i32", 1), "i32.add")


@contextmanager
def while_below(f: Function, counter: int, last: int) -> Iterator[None]:
    """Emit a loop that runs while one local is below another, both unsigned."""
    with f.block("block"), f.block("loop"):
        f.br_if(1, counter, last, "i32.ge_u")
        yield
        f.br(0)


@contextmanager
def units(frame: Frame) -> Iterator[int]:
    """Emit the loop over the work units that the entry is called for."""
    with counted(frame.f, FIRST, LAST) as unit:
        yield unit


@contextmanager
def portion(f: Function, unit: int, size: int, count: int) -> Iterator[tuple[int, int]]:
    """Emit the range of a work unit's elements; yields the locals of its bounds.

    Args:
        f: the function.
        unit: local of the unit's index.
        size: local of the number of elements per unit.
        count: local of the total number of elements.
    """
    first, end = f.local("i32"), f.local("i32")
    f.tee(first, unit, size, "i32.mul")
    f.set(end, size, "i32.add")
    smaller(f, end, count)
    f.set(end)
    yield first, end
    f.free(first, end)


@contextmanager
def spans(f: Function, first: int, end: int, size: int, count: int) -> Iterator[int]:
    """Emit a loop over spans of elements; yields the local of each span's start.

    The last span is shifted back to end with the last element, so `count` must be at
    least `size`.

    Args:
        f: the function.
        first: local of the first element.
        end: local of the element before which spans start.
        size: elements of a span.
        count: local of the total number of elements.
    """
    index, start, last = f.local("i32"), f.local("i32"), f.local("i32")
    f.set(last, count, ("i32", size), "i32.sub")
    f.set(index, first)
    with while_below(f, index, end):
        smaller(f, index, last)
        f.set(start)
        yield start
        f.set(index, index, ("i32", size), "i32.add")
    f.free(index, start, last)


class Mover(Protocol):
    """A cursor at an element that can be moved along an axis."""

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move by `count` elements, or by the value of the local `by`."""


class Pointer:
    """An address that is advanced by elements of a fixed size."""

    def __init__(self, f: Function, local: int, size: int) -> None:
        """Wrap a local that contains an address of elements of `size` bytes."""
        self.f = f
        self.local = local
        self.size = size

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move by `count` elements, or by the value of the local `by`."""
        f = self.f
        f.get(self.local)
        if count is None:
            f.emit(by, ("i32", self.size), "i32.mul")
        else:
            f.const("i32", count * self.size)
        f.set(self.local, "i32.add")


class Strided:
    """An address that is advanced by a stride held in a local."""

    def __init__(self, f: Function, local: int, step: int) -> None:
        """Wrap a local with an address, and one with the stride in bytes."""
        self.f = f
        self.local = local
        self.step = step

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move by `count` strides, or by the value of the local `by`."""
        f = self.f
        f.emit(self.local, self.step)
        if count is None:
            f.get(by)
        else:
            f.const("i32", count)
        f.set(self.local, "i32.mul", "i32.add")


@dataclass(frozen=True, slots=True)
class Together:
    """Code that processes several steps of an axis per iteration.

    Attributes:
        count: number of steps.
        write: emits the code.
    """

    count: int
    write: Callable[[], None]


@contextmanager
def along(
    f: Function,
    counter: int,
    end: int,
    lanes: int,
    movers: Sequence[Mover],
    is_whole: bool = False,
    together: Together | None = None,
) -> Iterator[None]:
    """Emit a loop over the elements of an axis, from `counter` on.

    With vectors, the last vector is shifted back to end with the axis: its first
    elements are computed twice. The axis must therefore have at least four elements.

    Args:
        f: the function.
        counter: local of the index along the axis.
        end: local of the end of the axis, which is after the counter.
        lanes: elements per iteration.
        movers: cursors that move with the counter.
        is_whole: whether the length is a multiple of `lanes`.
        together: code for several steps, used while that many are left.
    """
    last, back = f.local("i32"), f.local("i32")
    if together is not None:
        _in_steps(f, counter, end, lanes, movers, together)
        f.emit(counter, end, "i32.lt_s")
        f.begin("if")
    f.set(last, end, ("i32", lanes), "i32.sub")
    if together is not None and lanes > 1 and not is_whole:
        _back_to(f, counter, last, back, movers)
    with f.block("loop"):
        yield
        _step(f, counter, lanes, movers)
        f.br_if(0, counter, last, "i32.le_s")
        if lanes > 1 and not is_whole:
            with f.block("if", counter, end, "i32.lt_s"):
                _back_to(f, counter, last, back, movers)
                f.br(1)
    if together is not None:
        f.end()
    f.free(last, back)


def _step(f: Function, counter: int, count: int, movers: Sequence[Mover]) -> None:
    """Emit a move by `count` elements."""
    f.set(counter, counter, ("i32", count), "i32.add")
    for mover in movers:
        mover.move(count)


def _back_to(
    f: Function, counter: int, last: int, back: int, movers: Sequence[Mover]
) -> None:
    """Emit a move back to the local `last`, if the counter is past it."""
    f.tee(back, last, counter, "i32.sub")
    with f.block("if", ("i32", 0), "i32.lt_s"):
        f.set(counter, last)
        for mover in movers:
            mover.move(None, back)


def _in_steps(
    f: Function,
    counter: int,
    end: int,
    lanes: int,
    movers: Sequence[Mover],
    together: Together,
) -> None:
    """Emit the loop that processes several steps per iteration."""
    limit = f.local("i32")
    f.set(limit, end, ("i32", lanes * together.count), "i32.sub")
    with f.block("if", counter, limit, "i32.le_s"), f.block("loop"):
        together.write()
        _step(f, counter, lanes * together.count, movers)
        f.br_if(0, counter, limit, "i32.le_s")
    f.free(limit)


def lanes_for(length: int, is_vectorizable: bool) -> int:
    """Return the number of elements of an axis per iteration."""
    return LANES if is_vectorizable and length >= LANES else 1


@contextmanager
def segments(
    frame: Frame, evaluators: Sequence[Evaluator], first: int, last: int
) -> Iterator[int]:
    """Emit a loop over elements by row-major index, for several evaluators.

    The axes of each evaluator are merged differently: a segment ends where the last
    axis of any of them ends. Yields the local of the index.

    Args:
        frame: frame of the launch.
        evaluators: evaluators of single elements, with one group of axes each.
        first: local of the first index.
        last: local of the end index.
    """
    f = frame.f
    index, end, rest = f.local("i32"), f.local("i32"), f.local("i32")
    f.set(index, first)
    with while_below(f, index, last):
        f.set(end, last)
        for evaluator in evaluators:
            coordinates = (
                evaluator.split(0, index) if evaluator.expression.accesses else []
            )
            evaluator.locate([coordinates])
            if len(coordinates) > 1:
                f.get(index)
                f.set(
                    rest,
                    evaluator.size(0, len(coordinates) - 1),
                    "i32.add",
                    coordinates[-1],
                    "i32.sub",
                )
                smaller(f, rest, end)
                f.set(end)
        with while_below(f, index, end):
            yield index
            f.set(index, index, ("i32", 1), "i32.add")
            for evaluator in evaluators:
                evaluator.move(1)


@dataclass(frozen=True, slots=True)
class Cut:
    """How rows are cut into units.

    Attributes:
        rows: number of rows.
        length: elements of each.
        blocks: number of blocks of each row.
        size: elements of a block; the last one may be shorter.
        together: number of rows of a unit, if each row is one block.
    """

    rows: int
    length: int
    blocks: int
    size: int
    together: int = 1

    @property
    def units(self) -> int:
        """Number of units."""
        return -(-self.rows // self.together) * self.blocks

    @property
    def elements(self) -> int:
        """Elements of a unit."""
        return self.size * self.together


def in_rows(rows: int, length: int, elements: int) -> Cut:
    """Return a cut into units of whole rows, of about `elements` elements.

    >>> in_rows(1000, 100, 1600).together
    16
    """
    together = min(max(elements // max(length, 1), 1), max(rows, 1))
    return Cut(rows, length, 1, length, together)


def in_blocks(rows: int, length: int, elements: int, most: int) -> Cut:
    """Return a cut of rows into blocks of whole vectors, of about `elements` elements.

    The last block is not much shorter than the others.

    Args:
        rows: number of rows.
        length: elements of each.
        elements: least elements of a block.
        most: blocks of a row at most.

    >>> in_blocks(1, 100_003, 10_000, 64).size
    10004
    """
    blocks = min(max(length // elements, 1), most)
    size = -(-length // (4 * blocks)) * 4
    return Cut(rows, length, -(-length // size), size)


@dataclass(frozen=True, slots=True)
class Block:
    """Locals of the range of elements that a unit computes.

    Attributes:
        row: index of the row.
        index: index in the row of the next element, at first the block's first one.
        end: index in the row at which the block ends.
        number: index of the block in its row; None if the row is one block.
        unit: index of the unit.
    """

    row: int
    index: int
    end: int
    number: int | None
    unit: int


@contextmanager
def each_block(frame: Frame, cut: Cut) -> Iterator[Block]:
    """Emit the loops over units and over the rows of each."""
    f = frame.f
    length = frame.number(cut.length)
    if cut.blocks == 1:
        rows, together = frame.number(cut.rows), frame.number(cut.together)
        index, end = f.local("i32"), f.local("i32")
        with (
            units(frame) as unit,
            portion(f, unit, together, rows) as (first, last),
            counted(f, first, last) as row,
        ):
            f.set(index, ("i32", 0))
            f.set(end, length)
            yield Block(row, index, end, None, unit)
        return
    blocks, size = frame.number(cut.blocks), frame.number(cut.size)
    row, number = f.local("i32"), f.local("i32")
    with units(frame) as unit:
        divided(f, unit, blocks, row, number)
        with portion(f, number, size, length) as (index, end):
            yield Block(row, index, end, number, unit)


def locate(evaluator: Evaluator, block: Block) -> None:
    """Emit a move of an evaluator of (rows, elements) to the start of a block."""
    value = evaluator.expression
    outer = evaluator.split(0, block.row) if value.accesses and value.groups[0] else []
    inner = [block.index] if value.accesses and value.groups[1] else []
    evaluator.locate([outer, inner])


def element_address(
    frame: Frame, storage: int, cut: Cut, block: Block, size: int, result: int
) -> None:
    """Emit the address of a block's first element in a storage of whole rows.

    Args:
        frame: frame of the launch.
        storage: local of the storage's address.
        cut: of the rows.
        block: which one.
        size: bytes of an element.
        result: the local that takes the address.
    """
    f = frame.f
    f.get(block.row)
    f.set(
        result,
        frame.number(cut.length),
        "i32.mul",
        block.index,
        "i32.add",
        ("i32", size),
        "i32.mul",
        storage,
        "i32.add",
    )
