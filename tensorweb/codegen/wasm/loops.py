"""Loops over the units of a launch and over elements along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from tensorweb.codegen.wasm.frame import FIRST, LAST, Frame
from tensorweb.codegen.wasm.integers import smaller
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.reader import Reader
from tensorweb.codegen.wasm.terms import LANES

BLOCK = 1 << 14
"""Elements of a unit: enough to hide what beginning one costs."""


@contextmanager
def counted(f: Function, first: int, last: int) -> Iterator[int]:
    """Write a loop around what is written inside; yields the local that counts.

    Args:
        f: the function.
        first: the local with the first number.
        last: the local with the number at which it ends.
    """
    counter = f.local("i32")
    f.get(first)
    f.set(counter)
    with while_below(f, counter, last):
        yield counter
        f.get(counter)
        f.const("i32", 1)
        f.op("i32.add")
        f.set(counter)


@contextmanager
def while_below(f: Function, counter: int, last: int) -> Iterator[None]:
    """Write a loop that runs while a local is below another one, both unsigned."""
    f.begin("block")
    f.begin("loop")
    f.get(counter)
    f.get(last)
    f.op("i32.ge_u")
    f.br_if(1)
    yield
    f.br(0)
    f.end()
    f.end()


@contextmanager
def units(frame: Frame) -> Iterator[int]:
    """Write the loop over the units that the entry is called for."""
    with counted(frame.f, FIRST, LAST) as unit:
        yield unit


@contextmanager
def portion(f: Function, unit: int, size: int, count: int) -> Iterator[tuple[int, int]]:
    """Write where a unit's elements begin and end; yields locals with both.

    Args:
        f: the function.
        unit: the local with the unit's number.
        size: the local with the number of a unit's elements.
        count: the local with the number of all elements.
    """
    first, end = f.local("i32"), f.local("i32")
    f.get(unit)
    f.get(size)
    f.op("i32.mul")
    f.tee(first)
    f.get(size)
    f.op("i32.add")
    f.set(end)
    smaller(f, end, count)
    f.set(end)
    yield first, end
    f.free(first)
    f.free(end)


@contextmanager
def spans(f: Function, first: int, end: int, size: int, count: int) -> Iterator[int]:
    """Write a loop over spans of elements; yields a local with where each begins.

    The last one is shifted back to end with all elements, of which there must be
    enough for a span.

    Args:
        f: the function.
        first: the local with the first element.
        end: the local with the element before which spans begin.
        size: elements of a span.
        count: the local with the number of all elements.
    """
    place, start, last = f.local("i32"), f.local("i32"), f.local("i32")
    f.get(count)
    f.const("i32", size)
    f.op("i32.sub")
    f.set(last)
    f.get(first)
    f.set(place)
    with while_below(f, place, end):
        smaller(f, place, last)
        f.set(start)
        yield start
        f.get(place)
        f.const("i32", size)
        f.op("i32.add")
        f.set(place)
    for local in (place, start, last):
        f.free(local)


class Mover(Protocol):
    """Stands at an element and can be moved along an axis."""

    def move(self, count: int | None, by: int = 0) -> None:
        """Write a move by `count` elements, or by those that the local `by` holds."""


class Pointer:
    """An address that moves with the elements it stands for."""

    def __init__(self, f: Function, local: int, size: int) -> None:
        """Take a local that holds an address, of elements of some bytes."""
        self.f = f
        self.local = local
        self.size = size

    def move(self, count: int | None, by: int = 0) -> None:
        """Write a move by `count` elements, or by those that the local `by` holds."""
        f = self.f
        f.get(self.local)
        if count is None:
            f.get(by)
            f.const("i32", self.size)
            f.op("i32.mul")
        else:
            f.const("i32", count * self.size)
        f.op("i32.add")
        f.set(self.local)


class Strided:
    """An address that moves by a distance that a local holds."""

    def __init__(self, f: Function, local: int, step: int) -> None:
        """Take a local that holds an address, and one with the bytes of a move."""
        self.f = f
        self.local = local
        self.step = step

    def move(self, count: int | None, by: int = 0) -> None:
        """Write a move by `count` numbers, or by those that the local `by` holds."""
        f = self.f
        f.get(self.local)
        f.get(self.step)
        if count is None:
            f.get(by)
        else:
            f.const("i32", count)
        f.ops("i32.mul", "i32.add")
        f.set(self.local)


@dataclass(frozen=True, slots=True)
class Together:
    """What is done for several steps of an axis at once.

    Attributes:
        count: how many steps.
        write: writes it.
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
    """Write a loop over the elements of an axis; `counter` stands at the first.

    In vectors the last one is shifted back to end with the axis: its first elements are
    computed twice. So there must be four elements at least from the axis's beginning.

    Args:
        f: the function.
        counter: a local, the place along the axis.
        end: a local, where it ends; it lies behind the counter.
        lanes: how many elements are done at a time.
        movers: what stands at the counter and moves with it.
        is_whole: whether there are whole vectors only.
        together: what does several steps at once, as long as there are so many.
    """
    last, back = f.local("i32"), f.local("i32")
    if together is not None:
        _in_steps(f, counter, end, lanes, movers, together)
        f.get(counter)
        f.get(end)
        f.op("i32.lt_s")
        f.begin("if")
    f.get(end)
    f.const("i32", lanes)
    f.op("i32.sub")
    f.set(last)
    if together is not None and lanes > 1 and not is_whole:
        _back_to(f, counter, last, back, movers)
    f.begin("loop")
    yield
    _step(f, counter, lanes, movers)
    f.get(counter)
    f.get(last)
    f.op("i32.le_s")
    f.br_if(0)
    if lanes > 1 and not is_whole:
        f.get(counter)
        f.get(end)
        f.op("i32.lt_s")
        f.begin("if")
        _back_to(f, counter, last, back, movers)
        f.br(1)
        f.end()
    f.end()
    if together is not None:
        f.end()
    f.free(last)
    f.free(back)


def _step(f: Function, counter: int, count: int, movers: Sequence[Mover]) -> None:
    """Write a move by so many elements."""
    f.get(counter)
    f.const("i32", count)
    f.op("i32.add")
    f.set(counter)
    for mover in movers:
        mover.move(count)


def _back_to(
    f: Function, counter: int, last: int, back: int, movers: Sequence[Mover]
) -> None:
    """Write a move back to the local `last`, where the counter is beyond it."""
    f.get(last)
    f.get(counter)
    f.op("i32.sub")
    f.tee(back)
    f.const("i32", 0)
    f.op("i32.lt_s")
    f.begin("if")
    f.get(last)
    f.set(counter)
    for mover in movers:
        mover.move(None, back)
    f.end()


def _in_steps(
    f: Function,
    counter: int,
    end: int,
    lanes: int,
    movers: Sequence[Mover],
    together: Together,
) -> None:
    """Write the loop that does several steps at once, as long as there are so many."""
    limit = f.local("i32")
    f.get(end)
    f.const("i32", lanes * together.count)
    f.op("i32.sub")
    f.set(limit)
    f.get(counter)
    f.get(limit)
    f.op("i32.le_s")
    f.begin("if")
    f.begin("loop")
    together.write()
    _step(f, counter, lanes * together.count, movers)
    f.get(counter)
    f.get(limit)
    f.op("i32.le_s")
    f.br_if(0)
    f.end()
    f.end()
    f.free(limit)


def lanes_for(length: int, is_vectorizable: bool) -> int:
    """Return how many elements of an axis are done at a time."""
    return LANES if is_vectorizable and length >= LANES else 1


@contextmanager
def segments(
    frame: Frame, readers: Sequence[Reader], first: int, last: int
) -> Iterator[int]:
    """Write a loop over elements by their row-major number, for several readers.

    The axes of each are merged in its own way: they go together as far as the first of
    their last axes ends. Yields the local with the number.

    Args:
        frame: of the launch.
        readers: of single numbers, with one group of axes each.
        first: the local with the first number.
        last: the local with the number at which it ends.
    """
    f = frame.f
    place, end, rest = f.local("i32"), f.local("i32"), f.local("i32")
    f.get(first)
    f.set(place)
    with while_below(f, place, last):
        f.get(last)
        f.set(end)
        for reader in readers:
            coordinates = reader.split(0, place) if reader.expression.accesses else []
            reader.locate([coordinates])
            if len(coordinates) > 1:
                f.get(place)
                f.get(reader.size(0, len(coordinates) - 1))
                f.op("i32.add")
                f.get(coordinates[-1])
                f.op("i32.sub")
                f.set(rest)
                smaller(f, rest, end)
                f.set(end)
        with while_below(f, place, end):
            yield place
            f.get(place)
            f.const("i32", 1)
            f.op("i32.add")
            f.set(place)
            for reader in readers:
                reader.move(1)
