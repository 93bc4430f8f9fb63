"""Choices and orders at random under NumPy's names; a mixin of generators."""

from __future__ import annotations

import builtins
from collections.abc import MutableSequence
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError
from tensorweb.numpy.random.hidden import Hidden
from tensorweb.numpy.random.shapes import Size, sample_shape
from tensorweb.shapes import is_integer, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


class Drawing(Hidden):
    """Elements and orders, all as likely unless probabilities are given."""

    def _integers(
        self, name: str, low: ArrayLike, high: ArrayLike, size: Size, dtype: DTypeLike
    ) -> Tensor:
        """Return integers from `low` up to and without `high`; up to `low` for None."""
        first, last = (0, low) if high is None else (low, high)
        shape = sample_shape(name, size, first, last)
        return self._draw().randint(shape, first, last, dtype)

    def choice(
        self,
        a: ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike = None,
        axis: SupportsIndex = 0,
        shuffle: bool = True,
    ) -> Tensor:
        """Return random elements of `a`, or of the numbers below it.

        Raises:
            DataError: without `replace` there are fewer elements than asked for.

        >>> sorted(np.random.choice([3, 5, 7], 3, replace=False).tolist())
        [3, 5, 7]
        """
        chances = None if p is None else tw.asarray(p).astype("float32")
        return self._draw().choice(
            a, sample_shape("choice", size), replace, chances, axis
        )

    def permutation(self, x: ArrayLike, axis: SupportsIndex = 0) -> Tensor:
        """Return a tensor in random order, or the numbers below an integer.

        >>> sorted(np.random.permutation(4).tolist())
        [0, 1, 2, 3]
        """
        return self._draw().permutation(x, axis)

    def shuffle(self, x: Any, axis: SupportsIndex = 0) -> None:
        """Bring a tensor or a list into random order; a list's order is read.

        Raises:
            DataError: it is neither.

        >>> x = np.arange(5)
        >>> np.random.shuffle(x)
        >>> int(x.sum())
        10
        """
        if isinstance(x, Tensor):
            x[...] = self._draw().permutation(x, axis)
        elif isinstance(x, MutableSequence):
            order = self._draw().permutation(len(x)).tolist()
            x[:] = [x[i] for i in order]
        else:
            raise DataError(
                f"shuffle: {type(x).__name__} cannot be changed; use permutation(x)."
            )

    def permuted(
        self, x: ArrayLike, axis: SupportsIndex | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Return slices along an axis, each in an order of its own; all for None.

        >>> np.random.default_rng(0).permuted([[1, 2], [3, 4]], axis=1).sum(1)
        tensor([3, 7])
        """
        values = tw.asarray(x)
        flat = values.reshape(-1) if axis is None else values
        along = 0 if axis is None else normalize_axis(axis, values.ndim)
        found = self._draw().permutation(flat, along, independent=axis is not None)
        found = found.reshape(values.shape)
        if out is None:
            return found
        out[...] = found
        return out

    def bytes(self, length: SupportsIndex) -> builtins.bytes:
        """Return random bytes, which are read.

        >>> len(np.random.bytes(5))
        5
        """
        count = length.__index__()
        words = self._draw().bits((count + 3) // 4)
        return b"".join(word.to_bytes(4, "little") for word in words.tolist())[:count]


def plain(value: ArrayLike) -> ArrayLike:
    """Return NumPy's and tensors' integers as Python's, others as they are.

    >>> plain(3), plain(2.5)
    (3, 2.5)
    """
    return value.__index__() if is_integer(value) else value
