"""Iterate over arrays: their indices, their elements, several arrays at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

from tensorweb import functions as tw
from tensorweb.errors import DataError
from tensorweb.numpy.arguments import declare_public
from tensorweb.numpy.creation import asarray
from tensorweb.shapes import as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """Yield every index of a shape, the last axis fastest.

    >>> list(np.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return itertools.product(*map(range, as_shape(lengths)))


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
        """Broadcast arrays.

        Raises:
            ShapeError: their shapes do not broadcast.
        """
        self._arrays = [asarray(array) for array in args]
        self.shape = broadcast_shapes(*(array.shape for array in self._arrays))
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(self._arrays)

    @property
    def size(self) -> int:
        """The count of elements of the common shape."""
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the elements side by side, as numbers; reads each array once."""
        wide = [array.broadcast_to(self.shape).ravel() for array in self._arrays]
        return iter(list(zip(*(array.tolist() for array in wide), strict=True)))


FLAGS = (
    *("multi_index", "c_index", "external_loop", "refs_ok", "zerosize_ok"),
    *("buffered", "delay_bufalloc", "grow_inner"),
)
"""The flags that nditer accepts; those about buffers have no effect."""


class nditer:
    """Elements of operands that broadcast, side by side; `z[...] = v` writes.

    An operand that is None is allocated for results. Written values are stored in
    `operands` when the loop ends.

    Raises:
        DataError: flags ask for ranges or indices in columns.

    `external_loop` yields all elements at once, as a vector.

    >>> both = np.nditer([[1, 2], [[10], [20]], None])
    >>> for x, y, z in both:
    ...     z[...] = x + y
    >>> both.operands[2]
    tensor([[11, 12],
            [21, 22]])
    """

    def __init__(
        self,
        op: Any,
        flags: Sequence[str] = (),
        op_flags: Sequence[Any] = (),
    ) -> None:
        """Take one operand, or several in a list."""
        refused = [flag for flag in flags if flag not in FLAGS]
        if refused:
            raise DataError(
                f"nditer: the flag {refused[0]!r} is not possible; use functions of "
                "whole tensors."
            )
        self._is_loop_outside = "external_loop" in flags
        self._is_one = not isinstance(op, list | tuple) or _is_data(op)
        self.operands: tuple[Any, ...] = tuple(
            None if x is None else tw.asarray(x) for x in ([op] if self._is_one else op)
        )
        shapes = [x.shape for x in self.operands if x is not None]
        self.shape = broadcast_shapes(*shapes)
        self._indices = list(itertools.product(*(range(n) for n in self.shape)))
        self.multi_index: tuple[int, ...] = ()
        self.index = 0

    def __enter__(self) -> Self:
        """Return the iterator; written values are stored when the loop ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there are no buffers."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the operands side by side: elements, or vectors of all of them."""
        inputs = [x for x in self.operands if x is not None]
        dtype = tw.result_type(*inputs) if inputs else None
        empty = tw.zeros(self.shape, dtype, device=inputs[0].device if inputs else None)
        columns = [
            self._parts(empty if x is None else tw.broadcast_to(x, self.shape))
            for x in self.operands
        ]
        written = [x is None for x in self.operands]
        indices = [()] if self._is_loop_outside else self._indices
        for i, index in enumerate(indices):
            self.multi_index, self.index = index, i
            row = [tw.asarray(column[i], copy=True) for column in columns]
            before = [part.node for part in row]
            yield row[0] if self._is_one else tuple(row)
            for number, (part, old) in enumerate(zip(row, before, strict=True)):
                columns[number][i] = part
                written[number] |= part.node is not old
        self.operands = tuple(map(self._stored, self.operands, columns, written))

    def _parts(self, x: Tensor) -> list[Tensor]:
        """Return the elements, or one vector of all of them."""
        flat = x.reshape(-1)
        return [flat] if self._is_loop_outside else list(tw.unstack(flat))

    def _stored(
        self, operand: Tensor | None, parts: list[Tensor], is_written: bool
    ) -> Tensor | None:
        """Return an operand with its written parts, or a new one for results."""
        if not parts or not is_written:
            return operand
        values = parts[0] if self._is_loop_outside else tw.stack(parts)
        values = values.reshape(self.shape)
        if operand is None:
            return values
        if operand.shape == self.shape:
            operand[...] = values.astype(operand.dtype)
        return operand

    @property
    def nop(self) -> int:
        """The count of operands."""
        return len(self.operands)

    @property
    def itersize(self) -> int:
        """The count of iterations."""
        return len(self._indices)


def _is_data(values: Sequence[Any]) -> bool:
    """Whether a list is one operand: of numbers and lists of them alone."""
    return all(isinstance(value, int | float) for value in values)


declare_public(__name__)
