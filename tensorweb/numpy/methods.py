"""Methods of NumPy's arrays that tensors have from here, beside their own.

A row is a method or a property; `tensor/numpy_methods.py` looks here when a program
first names one.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator
from typing import Any

from tensorweb import functions
from tensorweb.evaluate import read
from tensorweb.numpy.assigning import put
from tensorweb.numpy.extremes import ptp
from tensorweb.numpy.matrices import diagonal, trace
from tensorweb.numpy.reductions import cumprod, cumsum
from tensorweb.numpy.searching import searchsorted
from tensorweb.numpy.selecting import choose, compress
from tensorweb.numpy.shaping import ravel
from tensorweb.numpy.sorting import argpartition, partition
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.views import base_of, fix, is_fixed, rename_axes


def fill(x: Tensor, value: ArrayLike) -> None:
    """Write one value everywhere.

    >>> x = np.zeros(2)
    >>> x.fill(7)
    >>> x
    tensor([7., 7.])
    """
    x[...] = value


def tobytes(x: Tensor, order: str = "C") -> bytes:
    r"""Return the elements as bytes in row-major order; reads them.

    `order="F"` runs through columns first.

    >>> np.array([1, 2], np.uint8).tobytes()
    b'\x01\x02'
    """
    return bytes(read([ravel(x, order).node])[0])


def _compress(x: Tensor, condition: ArrayLike, axis: Any = None) -> Tensor:
    """Return the elements along an axis for which a condition holds."""
    return compress(condition, x, axis)


def itemsize(x: Tensor) -> int:
    """Return the bytes of one element.

    >>> np.zeros(2).itemsize
    4
    """
    return x.dtype.itemsize


class Flat:
    """The elements of a tensor in row-major order, to read and to write.

    >>> x = np.arange(4).reshape(2, 2)
    >>> x.flat[2], list(x.flat)
    (tensor(2), [0, 1, 2, 3])
    >>> x.flat[[0, 3]] = 9
    >>> x
    tensor([[9, 1],
            [2, 9]])
    """

    def __init__(self, x: Tensor) -> None:
        """Look at a tensor."""
        self._x = x

    def __getitem__(self, key: Any) -> Tensor:
        """Return elements by their positions."""
        flat = self._x.ravel()
        if isinstance(key, builtins.bool):  # one number, the first, or none
            return flat[0] if key else flat[:0]
        return flat[key]

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        """Write elements at positions."""
        flat = self._x.ravel()
        if isinstance(key, builtins.bool):
            key = slice(0, int(key))
        flat[key] = value
        self._x[...] = flat.reshape(self._x.shape)

    def __iter__(self) -> Iterator[Any]:
        """Yield the elements as numbers; reads them."""
        return iter(self._x.ravel().tolist())

    def __len__(self) -> int:
        """Return how many there are."""
        return self._x.size


class Flags:
    """How a tensor lies in memory, and whether it may be written to.

    >>> x = np.zeros((2, 3))
    >>> x.flags.c_contiguous, x.T.flags["F_CONTIGUOUS"], x[0].flags.owndata
    (True, True, False)
    >>> x.flags.writeable = False
    >>> x[0] = 1
    Traceback (most recent call last):
    ...
    tensorweb.errors.DataError: the tensor is read-only: x.flags.writeable is False...
    """

    def __init__(self, x: Tensor) -> None:
        """Look at a tensor."""
        self._x = x

    @property
    def writeable(self) -> bool:
        """Whether it may be written to."""
        return not is_fixed(self._x)

    @writeable.setter
    def writeable(self, value: bool) -> None:
        fix(self._x, not value)

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
        return functions.permute_dims(self._x, order).is_contiguous

    contiguous = c_contiguous

    def __getitem__(self, name: str) -> bool:
        """Return a flag by NumPy's name for it."""
        found: bool = getattr(self, name.lower())
        return found

    def __setitem__(self, name: str, value: bool) -> None:
        """Set a flag by NumPy's name for it."""
        setattr(self, name.lower(), value)


def setflags(x: Tensor, write: bool | None = None) -> None:
    """Say whether a tensor may be written to.

    >>> x = np.zeros(2)
    >>> x.setflags(write=False)
    >>> x.flags.writeable
    False
    """
    if write is not None:
        fix(x, not write)


def resize(x: Tensor, *shape: Any, refcheck: bool = True) -> None:
    """Give a tensor another shape and size, in place; what is new is zero.

    Raises:
        ShapeError: it shares elements with others.

    >>> x = np.arange(3)
    >>> x.resize((2, 2))
    >>> x
    tensor([[0, 1],
            [2, 0]])
    """
    given = shape[0] if len(shape) == 1 else shape
    wanted = as_shape((given,) if isinstance(given, int) else given)
    size = math.prod(wanted)
    flat = x.copy().reshape(-1)[:size]
    zeros = functions.zeros(size - flat.size, dtype=x.dtype, device=x.device)
    wide = functions.concat([flat, zeros])
    rename_axes(x, wide.reshape(wanted).node)


def _partition(x: Tensor, kth: Any, axis: Any = -1, **options: Any) -> None:
    """Put smaller values before position `kth` and others behind it, in place."""
    x[...] = partition(x, kth, axis, **options)


METHODS: dict[str, Callable[..., Any]] = {
    "argpartition": argpartition,
    "choose": choose,
    "compress": _compress,
    "conjugate": functions.conj,
    "cumprod": cumprod,
    "cumsum": cumsum,
    "diagonal": diagonal,
    "fill": fill,
    "partition": _partition,
    "ptp": ptp,
    "put": put,
    "resize": resize,
    "searchsorted": searchsorted,
    "setflags": setflags,
    "tobytes": tobytes,
    "trace": trace,
}

PROPERTIES: dict[str, Callable[[Tensor], Any]] = {
    "base": base_of,
    "flags": Flags,
    "flat": Flat,
    "itemsize": itemsize,
}
