"""Dropout: in training, random elements are set to 0."""

from __future__ import annotations

from tensorweb.errors import DataError, TraceError
from tensorweb.functions import where
from tensorweb.graph.tracing import open_repeat, open_trace
from tensorweb.nn.arguments import as_float
from tensorweb.nn.init import generator
from tensorweb.nn.module import Module, warn_of_mode
from tensorweb.public_names import declare_public
from tensorweb.random import bernoulli
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def dropout(
    x: ArrayLike,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Tensor | None = None,
) -> Tensor:
    """Return `x` with a share `p` of its elements 0, the others divided by `1 - p`.

    The same key drops the same elements. Source: N. Srivastava and others, Dropout: a
    simple way to prevent neural networks from overfitting, 2014.

    Args:
        x: floats.
        p: probability that an element is 0.
        training: False drops nothing.
        inplace: accepted as in PyTorch; the result is a new tensor.
        key: of `tw.random`; None for one drawn from the program's generator, as in
            PyTorch.

    Raises:
        DataError: `p` is no probability.
        DTypeError: `x` is no floating-point tensor, or the key no key.
        TraceError: a key would be drawn inside of a transformation, which repeats the
            draw of its recording.

    >>> tw.nn.dropout(tw.ones(4), 0.5, key=tw.random.key(0))
    tensor([0., 0., 2., 2.])
    >>> tw.nn.dropout(tw.ones(4), 0.5, training=False)
    tensor([1., 1., 1., 1.])
    """
    tensor = as_float("dropout", x)
    return _dropped(
        "dropout", tensor, p, _drawn(tensor, key) if training and p else None
    )


def dropout1d(
    x: ArrayLike,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Tensor | None = None,
) -> Tensor:
    """Return `(n, channels, length)` with a share `p` of the channels 0.

    One example may do without `n`. Errors are those of `dropout`.

    >>> tw.nn.dropout1d(tw.ones((2, 3)), 1.0, key=tw.random.key(0)).sum()
    tensor(0.)
    """
    return _channels_dropped("dropout1d", x, p, training, key, 3)


def dropout2d(
    x: ArrayLike,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Tensor | None = None,
) -> Tensor:
    """Return `(n, channels, h, w)` with a share `p` of the channels 0.

    One example may do without `n`. Errors are those of `dropout`.

    >>> tw.nn.dropout2d(tw.ones((2, 3, 3)), 0.0, key=tw.random.key(0)).sum()
    tensor(18.)
    """
    return _channels_dropped("dropout2d", x, p, training, key, 4)


def dropout3d(
    x: ArrayLike,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Tensor | None = None,
) -> Tensor:
    """Return `(n, channels, d, h, w)` with a share `p` of the channels 0.

    One example may do without `n`. Errors are those of `dropout`.

    >>> tw.nn.dropout3d(tw.ones((2, 3, 3, 3)), 0.0, key=tw.random.key(0)).sum()
    tensor(54.)
    """
    return _channels_dropped("dropout3d", x, p, training, key, 5)


def _channels_dropped(
    name: str, x: ArrayLike, p: float, training: bool, key: Tensor | None, rank: int
) -> Tensor:
    """Drop full channels of a batch, or of one example of fewer axes than `rank`."""
    tensor = as_float(name, x)
    channels = 1 if tensor.ndim == rank - 1 else 2
    shape = tensor.shape[:channels] + (1,) * (tensor.ndim - channels)
    drawn = _drawn(tensor, key) if training and p else None
    return _dropped(name, tensor, p, drawn, shape)


def _dropped(
    name: str,
    x: Tensor,
    p: float,
    key: Tensor | None,
    shape: tuple[int, ...] | None = None,
) -> Tensor:
    """Return `x` with dropout by a random mask of a shape that broadcasts."""
    fraction = _checked(name, p)
    if key is None or not fraction:
        return x
    if fraction == 1.0:
        return x * 0.0
    retained = bernoulli(key, 1.0 - fraction, x.shape if shape is None else shape)
    return where(retained, x * (1 / (1.0 - fraction)), 0.0)


def _checked(name: str, p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise DataError(f"{name}: p is {p}; it is a probability, from 0 to 1.")
    return float(p)


def training_key(
    layer: Module, p: float, key: Tensor | None, x: Tensor
) -> Tensor | None:
    """Return the key of a call: the given one, or in training one that is drawn.

    Raises:
        TraceError: it would be drawn inside of a transformation, which repeats the
            draw of its recording.
    """
    if key is None and p and not layer.training:
        warn_of_mode(layer, x, "drops nothing")
    return _drawn(x, key, layer) if p and (layer.training or key is not None) else key


def _drawn(x: Tensor, key: Tensor | None, layer: object = None) -> Tensor:
    """Return the key of a call, drawn from the program's generator if it gives none."""
    if key is not None:
        return key
    if open_trace() is not None or open_repeat() is not None:
        name, off = "dropout", "training=False"
        if layer is not None:
            name, off = type(layer).__name__, "call model.eval()"
        raise TraceError(
            f"{name}: in training mode dropout draws a key, and inside of jit, vmap "
            "and checkpoint each call would drop the same elements; give the call a "
            f"key=, or {off}."
        )
    return generator(None, x.device)._next()


class Dropout(Module):
    """Sets elements to 0 with probability `p`, in a call with `key=` or in training.

    >>> layer = tw.nn.Dropout(0.5)
    >>> layer(tw.ones(4), key=tw.random.key(0))
    tensor([0., 0., 2., 2.])
    >>> layer(tw.ones(4))
    tensor([1., 1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        """Make a layer.

        Args:
            p: probability that an element is 0; others are divided by `1 - p`.
            inplace: accepted as in PyTorch; the result is a new tensor.
        """
        self.p = _checked(type(self).__name__, p)

    def forward(self, x: ArrayLike, *, key: Tensor | None = None) -> Tensor:
        """Return `x`, with elements dropped if a key is given, or in training mode.

        Raises:
            DTypeError: `x` is no floating-point tensor, or the key no key.
            TraceError: in training mode without a key, inside of a transformation.
        """
        tensor = as_float(type(self).__name__, x)
        return self._dropped(tensor, training_key(self, self.p, key, tensor))

    def _dropped(self, x: Tensor, key: Tensor | None) -> Tensor:
        """Return `x` with dropout by a key, None for none."""
        return dropout(x, self.p, key is not None, key=key)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"p={self.p}"


class Dropout1d(Dropout):
    """Sets channels of `(n, channels, length)` to 0 with probability `p`.

    >>> tw.nn.Dropout1d(0.5)(tw.ones((1, 2, 3)))  # no key: nothing is dropped
    tensor([[[1., 1., 1.],
             [1., 1., 1.]]])
    """

    _rank = 3

    def _dropped(self, x: Tensor, key: Tensor | None) -> Tensor:
        is_drawn, name = key is not None, type(self).__name__
        return _channels_dropped(name, x, self.p, is_drawn, key, self._rank)


class Dropout2d(Dropout1d):
    """Sets channels of `(n, channels, h, w)` to 0 with probability `p`.

    >>> x = tw.ones((1, 32, 2, 2))
    >>> dropped = tw.nn.Dropout2d(0.5)(x, key=tw.random.key(0))
    >>> sorted(set(dropped.sum(axis=(2, 3)).ravel().tolist()))
    [0.0, 8.0]
    """

    _rank = 4


class Dropout3d(Dropout1d):
    """Sets channels of `(n, channels, d, h, w)` to 0 with probability `p`.

    >>> tw.nn.Dropout3d(0.5)(tw.ones((1, 2, 3, 3, 3))).sum()  # no key
    tensor(54.)
    """

    _rank = 5


declare_public(__name__, hidden="training_key")
