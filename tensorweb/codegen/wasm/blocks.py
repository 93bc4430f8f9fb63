"""Cut rows into units of work: several short rows, or blocks of one long row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.loops import counted, portion, units
from tensorweb.codegen.wasm.module import divided


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
            f.const("i32", 0)
            f.set(index)
            f.get(length)
            f.set(end)
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
    f.get(frame.number(cut.length))
    f.op("i32.mul")
    f.get(block.index)
    f.op("i32.add")
    f.const("i32", size)
    f.op("i32.mul")
    f.get(storage)
    f.op("i32.add")
    f.set(result)
