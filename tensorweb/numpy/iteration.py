"""Iterate over arrays: their indices, their elements, several arrays at once."""

from __future__ import annotations

import itertools
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
        found = 1
        for length in self.shape:
            found *= length
        return found

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
        given = [op] if self._is_one else list(op)
        made = [None if each is None else tw.asarray(each) for each in given]
        self.shape = broadcast_shapes(*(x.shape for x in made if x is not None))
        self.operands: tuple[Any, ...] = tuple(made)
        self._indices = list(itertools.product(*(range(n) for n in self.shape)))
        self.multi_index: tuple[int, ...] = ()
        self.index = 0

    def __enter__(self) -> Self:
        """Return the iterator; written values are stored when the loop ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there are no buffers."""

    def __iter__(self) -> Iterator[Any]:
        return self._iterate_flat() if self._is_loop_outside else self._elements()

    def _iterate_flat(self) -> Iterator[Any]:
        """Yield the operands once, each as a vector of its elements."""
        known = [x for x in self.operands if x is not None]
        wide = tw.broadcast_arrays(*known) if known else ()
        empty = tw.zeros(
            self.shape, dtype=tw.result_type(*known), device=wide[0].device
        )
        rows = iter([x.copy().reshape(-1) for x in wide])
        found = [
            empty.copy().reshape(-1) if x is None else next(rows) for x in self.operands
        ]
        before = [row.node for row in found]
        yield found[0] if self._is_one else tuple(found)
        results = []
        for x, row, old in zip(self.operands, found, before, strict=True):
            values = row.reshape(self.shape)
            if x is not None and x.shape == self.shape and row.node is not old:
                x[...] = values
            results.append(values if x is None else x)
        self.operands = tuple(results)

    def _elements(self) -> Iterator[Any]:
        """Yield the elements side by side."""
        known = [x for x in self.operands if x is not None]
        device = known[0].device if known else None
        dtype = tw.result_type(*known) if known else None
        columns = [
            None
            if x is None
            else tw.unstack(tw.broadcast_to(x, self.shape).reshape(-1))
            for x in self.operands
        ]
        cells: list[list[Tensor]] = [[] for _ in self.operands]
        written = [False] * len(cells)
        for i, index in enumerate(self._indices):
            self.multi_index, self.index = index, i
            row = [
                tw.zeros((), dtype=dtype, device=device)
                if column is None
                else _cell(column[i])
                for column in columns
            ]
            before = [cell.node for cell in row]
            yield row[0] if self._is_one else tuple(row)
            for number, (cell, old) in enumerate(zip(row, before, strict=True)):
                cells[number].append(cell)
                written[number] |= cell.node is not old
        self._store_results(columns, cells, written)

    def _store_results(
        self,
        columns: Sequence[Sequence[Tensor] | None],
        cells: list[list[Tensor]],
        written: Sequence[bool],
    ) -> None:
        """Store written elements in their operands, new ones for results."""
        found = []
        for x, column, row, is_written in zip(
            self.operands, columns, cells, written, strict=True
        ):
            if not row or not (is_written or column is None):
                found.append(x)
                continue
            values = tw.stack(row).reshape(self.shape)
            if column is None:
                found.append(values)
                continue
            if x.shape == self.shape:
                x[...] = values.astype(x.dtype)
            found.append(x)
        self.operands = tuple(found)

    @property
    def nop(self) -> int:
        """The count of operands."""
        return len(self.operands)

    @property
    def itersize(self) -> int:
        """The count of iterations."""
        return len(self._indices)


def _cell(value: Tensor) -> Tensor:
    """Return an element as a tensor that can be written."""
    return tw.asarray(value, copy=True)


def _is_data(values: Sequence[Any]) -> bool:
    """Whether a list is one operand: of numbers and lists of them alone."""
    return all(isinstance(each, int | float) for each in values)


declare_public(__name__)
