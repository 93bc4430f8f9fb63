"""Find which part of a reduction a unit does, and which outputs."""

from __future__ import annotations

from tensorweb.codegen.wasm.finishing import Finish, Records, Store
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.integers import smaller
from tensorweb.codegen.wasm.traversal import Traversal


class Partition:
    """The parts of a launch: each goes through some of the terms of all outputs.

    Attributes:
        units: how many there are: one for every block of outputs in every part.
        part: the local with the number of a part, None if there is only one.
        counts: locals with the number of places along each reduced axis.
        starts: locals with the first place along each, None where that is 0.
    """

    def __init__(self, frame: Frame, traversal: Traversal, blocks: int) -> None:
        """Share out `blocks` blocks of outputs."""
        self._frame = frame
        self._traversal = traversal
        self.units = blocks * traversal.parts
        self.part: int | None = None
        self.starts: list[int | None] = [None for _ in traversal.reduced]
        self.counts = [frame.number(size) for size in traversal.reduced]
        if traversal.parts > 1:
            f = frame.f
            self._axis = traversal.axis
            self._blocks = frame.number(blocks)
            self._chunk = frame.number(traversal.chunk)
            self._length = self.counts[self._axis]
            self._start, self.part = f.local("i32"), f.local("i32")
            self.counts[self._axis] = f.local("i32")
            self.starts[self._axis] = self._start

    def find(self, unit: int) -> int:
        """Write which part a unit does; return the local with its block of outputs."""
        if self.part is None:
            return unit
        f, count = self._frame.f, self.counts[self._axis]
        block = f.local("i32")
        f.get(unit)
        f.get(self._blocks)
        f.op("i32.div_u")
        f.set(self.part)
        f.get(unit)
        f.get(self.part)
        f.get(self._blocks)
        f.ops("i32.mul", "i32.sub")
        f.set(block)
        f.get(self.part)
        f.get(self._chunk)
        f.op("i32.mul")
        f.set(self._start)
        f.get(self._length)
        f.get(self._start)
        f.op("i32.sub")
        f.set(count)
        smaller(f, count, self._chunk)
        f.set(count)
        return block


def result_of(frame: Frame, way: Traversal, lanes: int, part: int | None) -> Store:
    """Return what stores the results of a part, as many at once as lanes."""
    if way.makes_records:
        return Records(frame, way.term.dtype, lanes, part, way.scratch)
    return Finish(frame, lanes)
