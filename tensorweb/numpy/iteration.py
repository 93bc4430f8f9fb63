"""Going through arrays element by element: their indices, and their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tensorweb.numpy.creation import asarray
from tensorweb.shapes import as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "broadcast",
    "iterable",
    "ndenumerate",
    "ndindex",
]


def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """Yield every index of a shape, the last axis fastest.

    >>> list(np.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return itertools.product(*map(range, as_shape(given)))


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield every index with its element, as a number; reads the array once.

    >>> list(np.ndenumerate([[1, 2]]))
    [((0, 0), 1), ((0, 1), 2)]
    """
    x = asarray(arr)
    return zip(ndindex(x.shape), x.ravel().tolist(), strict=True)


def iterable(y: object) -> bool:
    """Return whether an object can be iterated.

    >>> np.iterable([1, 2]), np.iterable(2)
    (True, False)
    """
    if isinstance(y, Tensor):
        return bool(y.ndim)
    try:
        iter(y)  # type: ignore[call-overload]  # that is the question
    except TypeError:
        return False
    return True


class broadcast:
    """Arrays that broadcast: their common shape, and their elements side by side.

    >>> b = np.broadcast([[1], [2]], [10, 20])
    >>> b.shape, list(b)
    ((2, 2), [(1, 10), (1, 20), (2, 10), (2, 20)])
    """

    def __init__(self, *args: ArrayLike) -> None:
        """Look at arrays.

        Raises:
            ShapeError: their shapes do not broadcast.
        """
        self._arrays = [asarray(array) for array in args]
        self.shape = broadcast_shapes(*(array.shape for array in self._arrays))
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(self._arrays)

    @property
    def size(self) -> int:
        """How many elements there are side by side."""
        found = 1
        for length in self.shape:
            found *= length
        return found

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the elements side by side, as numbers; reads each array once."""
        wide = [array.broadcast_to(self.shape).ravel() for array in self._arrays]
        return iter(list(zip(*(array.tolist() for array in wide), strict=True)))
