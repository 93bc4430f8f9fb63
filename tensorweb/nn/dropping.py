"""Dropout: some of the inputs are 0, at random, while a network is trained."""

from __future__ import annotations

from tensorweb.errors import DataError
from tensorweb.functions import where
from tensorweb.nn.arguments import as_float
from tensorweb.nn.module import Module
from tensorweb.random import bernoulli
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "dropout"]


def dropout(x: ArrayLike, p: float = 0.5, *, key: Tensor | None = None) -> Tensor:
    """Return `x` with a share `p` of its elements 0, the others divided by `1 - p`.

    Without a key nothing is dropped. The same key drops the same elements. Source:
    N. Srivastava and others, Dropout: a simple way to prevent neural networks from
    overfitting, 2014.

    Raises:
        DataError: `p` is no probability.
        DTypeError: `x` is none of floats, or the key no key.

    >>> tw.nn.dropout(tw.ones(4), 0.5, key=tw.random.key(0))
    tensor([0., 0., 2., 2.])
    >>> tw.nn.dropout(tw.ones(4), 0.5)
    tensor([1., 1., 1., 1.])
    """
    given = as_float("dropout", x)
    return _dropped("dropout", given, p, key, given.shape)


def _dropped(
    name: str, x: Tensor, p: float, key: Tensor | None, shape: tuple[int, ...]
) -> Tensor:
    """Return `x` with what a mask of some shape drops, which broadcasts."""
    share = _checked(name, p)
    if key is None or not share:
        return x
    if share == 1.0:
        return x * 0.0
    kept = bernoulli(key, 1.0 - share, shape)
    return where(kept, x * (1 / (1.0 - share)), 0.0)


def _checked(name: str, p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise DataError(f"{name}: p is {p}; it is a probability, from 0 to 1.")
    return float(p)


class Dropout(Module):
    """A share `p` of the elements is 0, but only in a call with `key=`.

    >>> layer = tw.nn.Dropout(0.5)
    >>> layer(tw.ones(4), key=tw.random.key(0))
    tensor([0., 0., 2., 2.])
    >>> layer(tw.ones(4))
    tensor([1., 1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        """Note the share; `inplace` changes nothing: values never change."""
        self.p = _checked(type(self).__name__, p)

    def forward(self, x: ArrayLike, *, key: Tensor | None = None) -> Tensor:
        """Return `x` with elements dropped where a key is given.

        Raises:
            DTypeError: `x` is none of floats, or the key no key.
        """
        return dropout(x, self.p, key=key)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"p={self.p}"


class Dropout1d(Dropout):
    """A share `p` of the channels of `(n, channels, length)` is 0.

    >>> tw.nn.Dropout1d(0.5)(tw.ones((1, 2, 3)), key=tw.random.key(1)).shape
    (1, 2, 3)
    """

    def forward(self, x: ArrayLike, *, key: Tensor | None = None) -> Tensor:
        """Return `x` with channels dropped where a key is given."""
        given = as_float(type(self).__name__, x)
        shape = given.shape[:2] + (1,) * (given.ndim - 2)
        return _dropped(type(self).__name__, given, self.p, key, shape)


class Dropout2d(Dropout1d):
    """A share `p` of the channels of `(n, channels, h, w)` is 0.

    >>> tw.nn.Dropout2d(0.5)(tw.ones((1, 2, 3, 3)), key=tw.random.key(1)).shape
    (1, 2, 3, 3)
    """
