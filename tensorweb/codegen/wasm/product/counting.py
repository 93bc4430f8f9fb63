"""Step through a group of axes: an index and its coordinates, without dividing."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.codegen.wasm.cursor import Cursor


class Counter:
    """A row-major index into the first axes of a group, and their coordinates.

    Attributes:
        index: the local with the index.
        coordinates: a local for each axis.
    """

    def __init__(
        self, cursor: Cursor, group: int, count: int | None, axes: int | None = None
    ) -> None:
        """Begin without a place.

        Args:
            cursor: whose axes they are.
            group: the group.
            count: the local with the number of indices, None where the end is known
                otherwise.
            axes: how many of its axes are counted, all without it.
        """
        self.f = cursor.frame.f
        self.cursor = cursor
        self.group = group
        self.count = count
        self.axes = axes
        self.index = self.f.local("i32")
        self.coordinates: list[int] = []

    def begin(self) -> None:
        """Write the coordinates of the index, which has been set."""
        self.coordinates = self.cursor.split(self.group, self.index, self.axes)

    def step(self, carry: Callable[[], None] | None = None) -> None:
        """Write a step to the next index; behind the last one follows the first.

        Args:
            carry: writes what is done when the first follows.
        """
        f = self.f
        if len(self.coordinates) > 1:
            for axis in range(len(self.coordinates) - 1, -1, -1):
                length = self.cursor.size(self.group, axis)
                self._increment(self.coordinates[axis], length)
            for _ in self.coordinates:
                f.end()
        if self.count is None:
            f.get(self.index)
            f.const("i32", 1)
            f.op("i32.add")
            f.set(self.index)
            return
        self._increment(self.index, self.count)
        if carry is not None:
            carry()
        f.end()

    def _increment(self, local: int, length: int) -> None:
        """Write one more, and the beginning of what is done at the end: zero first."""
        f = self.f
        f.get(local)
        f.const("i32", 1)
        f.op("i32.add")
        f.tee(local)
        f.get(length)
        f.op("i32.eq")
        f.begin("if")
        f.const("i32", 0)
        f.set(local)
