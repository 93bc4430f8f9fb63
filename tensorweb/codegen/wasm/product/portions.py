"""Launches that do some matrices of a batch: one module, other parameters.

Operands that would take much memory when packed are packed for some matrices at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tensorweb.codegen.program import Launch
from tensorweb.codegen.wasm.frame import Frame


class Range:
    """The parameters that say which matrices a launch does.

    Attributes:
        first: the local with the number of the first one, times `each`.
        last: the local with that of the one behind the last.
        shift: the local with the bytes by which packed matrices lie before their place.
    """

    def __init__(self, frame: Frame, batch: int, each: int = 1) -> None:
        """Take all matrices.

        Args:
            frame: of the launch.
            batch: how many there are.
            each: what counts for one.
        """
        self.each = each
        self.first = frame.number(0)
        self.last = frame.number(batch * each)
        self.shift = frame.number(0)
        locals_ = (self.first, self.last, self.shift)
        self.words = tuple(frame.word(local) for local in locals_)


@dataclass(frozen=True, slots=True)
class Portioned:
    """A launch that can be had for some matrices.

    Attributes:
        launch: for all.
        range: its parameters, None if it is of no batch.
        matrix: the bytes of a packed matrix.
        units: how many there are for so many matrices.
    """

    launch: Launch
    range: Range | None
    matrix: int
    units: Callable[[int], int]

    def of(self, first: int, last: int) -> Launch:
        """Return the launch for the matrices from `first` to `last` - 1."""
        if self.range is None:
            return self.launch
        words = list(self.launch.words)
        values = first * self.range.each, last * self.range.each, -first * self.matrix
        for place, value in zip(self.range.words, values, strict=True):
            words[place] = value
        units, slice_ = self.units(last - first), self.launch.grid[1]
        return replace(
            self.launch, words=tuple(words), grid=(units, min(slice_, units))
        )
