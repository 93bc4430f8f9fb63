"""Methods and properties of NumPy's arrays that the Array API lacks.

Most are functions of `tensorweb.numpy`, which knows tensors, so that it is imported
when a program first calls one.
"""

from __future__ import annotations

import io
import math
import operator
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from tensorweb.errors import TensorIndexError
from tensorweb.evaluate import read
from tensorweb.graph.node import constant, element_view
from tensorweb.nodes.movement import permute, reshape
from tensorweb.nodes.selection import concat
from tensorweb.shapes import as_shape
from tensorweb.tensor.arguments import into, numpys
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.indexing import IndexingMethods
from tensorweb.tensor.layout import LayoutMethods
from tensorweb.tensor.movement import MovementMethods
from tensorweb.tensor.reductions import Axis
from tensorweb.tensor.views import (
    base_of,
    is_read_only,
    reshape_in_place,
    set_read_only,
)

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class NumpyMethods(LayoutMethods, MovementMethods, IndexingMethods):
    """What programs written for NumPy ask of arrays."""

    __slots__ = ()

    @property
    def base(self) -> Tensor | None:
        """The tensor whose elements a view has, None for others."""
        base: Tensor | None = base_of(self)
        return base

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.node.dtype.itemsize

    @property
    def flags(self) -> Flags:
        """How the elements lie in memory, and whether they may be written to."""
        return Flags(self)  # type: ignore[arg-type]  # all tensors are Tensor

    @property
    def flat(self) -> Flat:
        """The elements in row-major order, to read and to write; settable."""
        return Flat(self)  # type: ignore[arg-type]  # all tensors are Tensor

    @flat.setter
    def flat(self, value: ArrayLike) -> None:
        self.flat[:] = value

    def argpartition(
        self,
        kth: SupportsIndex | Sequence[SupportsIndex],
        axis: SupportsIndex | None = -1,
        kind: str = "introselect",
        order: None = None,
    ) -> Tensor:
        """Return indices with smaller values before `kth` and larger ones behind it.

        >>> tw.tensor([7, 1, 5, 3]).argpartition(1)[0]
        tensor(1)
        """
        return numpys("argpartition")(self, kth, axis, kind, order)

    def choose(
        self, *choices: Any, out: Tensor | None = None, mode: str = "raise"
    ) -> Tensor:
        """Return for each element the value that the array of its number has there.

        Arrays are given as one list, or one by one.

        >>> tw.tensor([1, 0, 1]).choose([[1, 2, 3], [10, 20, 30]])
        tensor([10,  2, 30])
        """
        arrays = choices[0] if len(choices) == 1 else choices
        return numpys("choose")(self, arrays, out, mode)

    def compress(
        self,
        condition: ArrayLike,
        axis: SupportsIndex | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Return the elements along an axis for which a condition holds.

        >>> tw.tensor([5, 6, 7]).compress([True, False, True])
        tensor([5, 7])
        """
        return numpys("compress")(condition, self, axis, out)

    def conjugate(self, out: Tensor | None = None) -> Tensor:
        """Return the complex conjugate, as `conj` does.

        >>> tw.tensor([1 + 2j]).conjugate()
        tensor([1.-2.j], dtype=complex64)
        """
        return into(self.conj(), out)

    def cumprod(
        self,
        axis: SupportsIndex | None = None,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Return running products along an axis; of all elements without one.

        >>> tw.tensor([[1, 2], [3, 4]]).cumprod(1)
        tensor([[ 1,  2],
                [ 3, 12]])
        """
        return numpys("cumprod")(self, axis, dtype, out)

    def cumsum(
        self,
        axis: SupportsIndex | None = None,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Return running sums along an axis; of all elements without one.

        >>> tw.tensor([[1, 2], [3, 4]]).cumsum()
        tensor([ 1,  3,  6, 10])
        """
        return numpys("cumsum")(self, axis, dtype, out)

    def diagonal(
        self, offset: int = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
    ) -> Tensor:
        """Return the diagonal of two axes, as the last axis of the result.

        >>> tw.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
        """
        return numpys("diagonal")(self, offset, axis1, axis2)

    def fill(self, value: ArrayLike) -> None:
        """Write one value everywhere.

        >>> x = tw.tensor([1, 2, 3])
        >>> x.fill(7)
        >>> x
        tensor([7, 7, 7])
        """
        self[...] = value

    def partition(
        self,
        kth: SupportsIndex | Sequence[SupportsIndex],
        axis: SupportsIndex = -1,
        kind: str = "introselect",
        order: None = None,
    ) -> None:
        """Put smaller values before position `kth`, others behind it, in place.

        >>> x = tw.tensor([7, 1, 5, 3])
        >>> x.partition(1)
        >>> x[1]
        tensor(3)
        """
        along = operator.index(axis)  # None would be another shape
        self[...] = numpys("partition")(self, kth, along, kind, order)

    def ptp(
        self, axis: Axis = None, out: Tensor | None = None, keepdims: bool = False
    ) -> Tensor:
        """Return the largest value less the smallest, along axes.

        >>> tw.tensor([[4, 9, 2], [7, 7, 8]]).ptp(axis=1)
        tensor([7, 1])
        """
        return numpys("ptp")(self, axis, out, keepdims)

    def put(self, indices: ArrayLike, values: ArrayLike, mode: str = "raise") -> None:
        """Write values at positions of the flattened array; few are repeated.

        >>> x = tw.tensor([1, 2, 3])
        >>> x.put([0, 2], [8, 9])
        >>> x
        tensor([8, 2, 9])
        """
        numpys("put")(self, indices, values, mode)

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Give the tensor another shape and size, in place; new elements are zero.

        Raises:
            ShapeError: it shares elements with others.

        >>> x = tw.tensor([1, 2, 3])
        >>> x.resize(2, 2)
        >>> x
        tensor([[1, 2],
                [3, 0]])
        """
        if not shape or shape == (None,):
            return
        lengths = shape[0] if len(shape) == 1 else shape
        new_shape = as_shape((lengths,) if isinstance(lengths, int) else lengths)
        flat = self.ravel()[: math.prod(new_shape)].node
        missing = (math.prod(new_shape) - flat.size,)
        zeros = constant(0, flat.dtype, flat.device, missing)
        reshape_in_place(self, reshape(concat([flat, zeros], 0), new_shape))

    def searchsorted(
        self, v: ArrayLike, side: str = "left", sorter: ArrayLike = None
    ) -> Tensor:
        """Return where values belong in a sorted vector, `side` of equal ones.

        >>> tw.tensor([10, 20, 30]).searchsorted([5, 20, 99])
        tensor([0, 1, 3])
        """
        return numpys("searchsorted")(self, v, side, sorter)

    def setflags(self, write: bool | None = None) -> None:
        """Set whether the tensor may be written to.

        >>> x = tw.tensor([1, 2])
        >>> x.setflags(write=False)
        >>> x.flags.writeable
        False
        """
        if write is not None:
            set_read_only(self, not write)

    def tobytes(self, order: str = "C") -> bytes:
        """Return the elements as bytes, row-major, by columns with `order="F"`.

        >>> tw.tensor([104, 105], dtype="uint8").tobytes()
        b'hi'
        """
        return bytes(read([numpys("ravel")(self, order).node])[0])

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements as bytes, row-major, into a path or an open file.

        With `sep` it is text, each number in Python's `format`; files that are opened
        for text take it as well.

        >>> import io
        >>> file = io.BytesIO()
        >>> tw.tensor([104, 105], dtype="uint8").tofile(file)
        >>> file.getvalue()
        b'hi'
        """
        written: str | bytes = self.tobytes()
        if sep:
            written = sep.join(format % value for value in self.ravel().tolist())
        is_text = isinstance(fid, io.TextIOBase)
        if isinstance(written, str) and not is_text:
            written = written.encode("utf-8")
        if isinstance(fid, str | os.PathLike):
            Path(fid).write_bytes(written)  # type: ignore[arg-type]  # bytes by now
        else:
            fid.write(written)

    def is_integer(self) -> bool:
        """Return whether a number is whole; reads it.

        >>> tw.tensor(2.5).is_integer()
        False
        """
        value: Any = self.item()  # type: ignore[attr-defined]  # all tensors have it
        return isinstance(value, int) or bool(value.is_integer())

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return a float as a fraction, its numerator and denominator; reads it.

        >>> tw.tensor(0.75).as_integer_ratio()
        (3, 4)
        """
        ratio: tuple[int, int] = self.item().as_integer_ratio()  # type: ignore[attr-defined]  # all tensors have it
        return ratio

    def bit_count(self) -> int:
        """Return how many bits of an integer's size are 1; reads it.

        >>> tw.tensor(7).bit_count()
        3
        """
        return abs(operator.index(self)).bit_count()  # type: ignore[arg-type]  # all tensors have it

    def trace(
        self,
        offset: int = 0,
        axis1: SupportsIndex = 0,
        axis2: SupportsIndex = 1,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Return the sum of the diagonal of two axes.

        >>> tw.tensor([[1, 2], [3, 4]]).trace()
        tensor(5)
        """
        return numpys("trace")(self, offset, axis1, axis2, dtype, out)


class Flat:
    """The elements of a tensor in row-major order, to read and to write.

    >>> x = tw.arange(4).reshape(2, 2)
    >>> x.flat[2], list(x.flat)
    (tensor(2), [0, 1, 2, 3])
    >>> x.flat[[0, 3]] = 9
    >>> x
    tensor([[9, 1],
            [2, 9]])
    """

    def __init__(self, x: Tensor) -> None:
        """Wrap a tensor."""
        self._x = x

    def __getitem__(self, key: Any) -> Tensor:
        """Return elements by their positions."""
        flat = self._x.ravel()
        if isinstance(key, bool):  # one number, the first, or none
            return flat[0] if key else flat[:0]
        return flat[_without_new_axes(key)]

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        """Write elements at positions."""
        flat = self._x.ravel()
        if isinstance(key, bool):
            key = slice(0, int(key))
        flat[_without_new_axes(key)] = value
        self._x[...] = flat.reshape(self._x.shape)

    def __iter__(self) -> Iterator[Any]:
        """Yield the elements as numbers; reads them."""
        return iter(self._x.ravel().tolist())

    def __len__(self) -> int:
        """Return the count of elements."""
        return self._x.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the elements as an array of NumPy's."""
        return self._x.ravel().__array__(dtype, copy=copy)


def _without_new_axes(key: Any) -> Any:
    """Return an index of elements in a row.

    Raises:
        TensorIndexError: it asks for further axes.
    """
    if key is None or (type(key) is tuple and any(part is None for part in key)):
        raise TensorIndexError(
            "x.flat has one axis and takes no new ones; write x.ravel()[None]."
        )
    return key


FLAG_LETTERS = {
    "A": "aligned",
    "B": "behaved",
    "C": "c_contiguous",
    "CA": "carray",
    "F": "f_contiguous",
    "FA": "farray",
    "O": "owndata",
    "W": "writeable",
    "X": "writebackifcopy",
}
"""Flags by NumPy's letters for them."""


class Flags:
    """How a tensor lies in memory, and whether it may be written to.

    >>> x = tw.zeros((2, 3))
    >>> x.flags.c_contiguous, x.T.flags["F_CONTIGUOUS"], x[0].flags.owndata
    (True, True, False)
    >>> x.flags.writeable = False
    >>> x[0] = 1
    Traceback (most recent call last):
    ...
    tensorweb.errors.DataError: the tensor is read-only: x.flags.writeable is False...
    """

    def __init__(self, x: Tensor) -> None:
        """Wrap a tensor."""
        self._x = x

    @property
    def writeable(self) -> bool:
        """Whether it may be written to."""
        return not is_read_only(self._x)

    @writeable.setter
    def writeable(self, value: bool) -> None:
        set_read_only(self._x, not value)

    @property
    def owndata(self) -> bool:
        """Whether it is no view."""
        return base_of(self._x) is None

    @property
    def c_contiguous(self) -> bool:
        """Whether its elements follow each other in row-major order."""
        return self._x.is_contiguous

    @property
    def f_contiguous(self) -> bool:
        """Whether its elements follow each other in column-major order."""
        order = tuple(reversed(range(self._x.ndim)))
        return element_view(permute(self._x.node, order)).is_contiguous

    contiguous = c_contiguous

    aligned = True
    """Whether elements begin where the processor reads them at once: always."""

    writebackifcopy = False
    """Whether the tensor is a copy that is written back into another: never."""

    @property
    def fnc(self) -> bool:
        """Whether the elements lie in column-major, not in row-major order."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether the elements lie in one of both orders."""
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        """Whether the elements are aligned and may be written to."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Whether the elements are behaved and lie in row-major order."""
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Whether the elements are behaved and lie in column-major order alone."""
        return self.writeable and self.fnc

    def __eq__(self, other: object) -> bool:
        """Return whether all flags of two tensors are the same."""
        names = set(FLAG_LETTERS.values())
        return isinstance(other, Flags) and all(self[n] == other[n] for n in names)

    def __getitem__(self, name: str) -> bool:
        """Return a flag by NumPy's name for it, or by its letters."""
        return bool(getattr(self, FLAG_LETTERS.get(name, name.lower())))

    def __setitem__(self, name: str, value: bool) -> None:
        """Set a flag by NumPy's name for it, or by its letters."""
        setattr(self, FLAG_LETTERS.get(name, name.lower()), value)
