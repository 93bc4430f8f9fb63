"""How a tensor looks at its storage: shape, strides and offset in elements.

Every movement that strides can express returns a new view and moves no data.
`reshape` returns None when no strides exist; the caller then copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tensorweb.shapes import Shape, size, strides

Range = tuple[int, int, int]
"""One axis of a slice: first index, length, step (in elements of that axis)."""


@dataclass(frozen=True, slots=True)
class View:
    """Element `i` lies at storage position `offset + Σ strides[axis] * i[axis]`.

    >>> View.contiguous((2, 3)).permute((1, 0))
    View(shape=(3, 2), strides=(1, 3), offset=0)
    """

    shape: Shape
    strides: tuple[int, ...]
    offset: int = 0

    @staticmethod
    @lru_cache(maxsize=4096)
    def contiguous(shape: Shape) -> View:
        """Return the row-major view of fresh storage."""
        return View(shape, strides(shape), 0)

    @property
    def is_contiguous(self) -> bool:
        """Whether row-major order visits consecutive storage elements.

        >>> View.contiguous((4, 1, 3)).is_contiguous
        True
        """
        expected = 1
        for length, stride in zip(
            reversed(self.shape), reversed(self.strides), strict=True
        ):
            if length == 0:
                return True
            if length != 1:
                if stride != expected:
                    return False
                expected *= length
        return True

    def permute(self, axes: Sequence[int]) -> View:
        """Reorder the axes; `axes[i]` is the old number of new axis i."""
        return View(
            tuple(self.shape[axis] for axis in axes),
            tuple(self.strides[axis] for axis in axes),
            self.offset,
        )

    def expand(self, shape: Shape) -> View:
        """Repeat axes of length 1 with stride 0, and add leading axes.

        >>> View.contiguous((1, 3)).expand((10, 3)).strides
        (0, 1)
        """
        added = len(shape) - len(self.shape)
        grown = tuple(
            0 if old == 1 and new != 1 else stride
            for old, new, stride in zip(
                self.shape, shape[added:], self.strides, strict=True
            )
        )
        return View(shape, (0,) * added + grown, self.offset)

    def slice(self, ranges: Sequence[Range]) -> View:
        """Keep `start, start + step, …` of each axis; ranges may leave the storage.

        >>> View.contiguous((5,)).slice([(4, 3, -2)])
        View(shape=(3,), strides=(-2,), offset=4)
        """
        offset = self.offset
        for (start, _, _), stride in zip(ranges, self.strides, strict=True):
            offset += start * stride
        return View(
            tuple(length for _, length, _ in ranges),
            tuple(
                stride * step
                for (_, _, step), stride in zip(ranges, self.strides, strict=True)
            ),
            offset,
        )

    def unfold(self, axis: int, size: int, step: int, dilation: int) -> View:
        """Keep the windows of one axis: their starts there, their elements last.

        `size` elements, `dilation` apart, make a window; windows begin `step` apart.

        >>> View.contiguous((2, 7)).unfold(1, 3, 2, 1)
        View(shape=(2, 3, 3), strides=(7, 2, 1), offset=0)
        """
        shape, strides = list(self.shape), list(self.strides)
        stride = strides[axis]
        shape[axis] = (shape[axis] - dilation * (size - 1) - 1) // step + 1
        strides[axis] = stride * step
        return View((*shape, size), (*strides, stride * dilation), self.offset)

    def reshape(self, shape: Shape) -> View | None:
        """Return the elements under another shape, None if that needs a copy.

        >>> View.contiguous((6, 2)).permute((1, 0)).reshape((2, 2, 3)).strides
        (1, 6, 2)
        >>> View.contiguous((6, 2)).permute((1, 0)).reshape((12,)) is None
        True
        """
        if shape == self.shape:
            return self
        if size(shape) == 0:
            return View(shape, strides(shape), self.offset)
        old = [
            (length, stride)
            for length, stride in zip(self.shape, self.strides, strict=True)
            if length != 1
        ]
        new_strides = [0] * len(shape)
        old_at, new_at = 0, 0
        while old_at < len(old):
            old_end, new_end = old_at + 1, new_at
            old_size, new_size = old[old_at][0], 1
            while new_size != old_size:
                if new_size < old_size:
                    new_size *= shape[new_end]
                    new_end += 1
                else:
                    old_size *= old[old_end][0]
                    old_end += 1
            for axis in range(old_at, old_end - 1):
                length, stride = old[axis + 1]
                if old[axis][1] != stride * length:
                    return None
            if old_end == len(old):
                new_end = len(shape)
            stride = old[old_end - 1][1]
            for axis in range(new_end - 1, new_at - 1, -1):
                new_strides[axis] = stride
                stride *= shape[axis]
            old_at, new_at = old_end, new_end
        if not old:
            new_strides = [1] * len(shape)
        return View(shape, tuple(new_strides), self.offset)

    def position(self, index: Sequence[int]) -> int:
        """Return the storage position of an element; the index is not checked."""
        return self.offset + sum(
            stride * i for stride, i in zip(self.strides, index, strict=True)
        )

    def extent(self) -> tuple[int, int]:
        """Return the lowest and highest storage position that the view reaches.

        An empty view reaches nothing: `(offset, offset - 1)`.
        """
        low = high = self.offset
        for length, stride in zip(self.shape, self.strides, strict=True):
            if length == 0:
                return self.offset, self.offset - 1
            reach = stride * (length - 1)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return low, high
