"""Layers that read the count of input features off their first input, as PyTorch's do.

With the first call a lazy layer becomes an ordinary one, of the class without `Lazy`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tensorweb.errors import ShapeError, TraceError
from tensorweb.functions import asarray
from tensorweb.graph.autograd import is_differentiating
from tensorweb.graph.tracing import is_tracing
from tensorweb.nn.affine import Linear
from tensorweb.nn.batch_statistics import BatchNorm1d, BatchNorm2d
from tensorweb.nn.convolution import Conv1d, Conv2d, ConvTranspose2d
from tensorweb.nn.module import Module
from tensorweb.public_names import declare_public


class _Lazy(Module):
    """A layer without parameters before its first call."""

    _kind: ClassVar[type[Module]]
    _axis: ClassVar[int] = 1
    _is_lazy = True

    def __init__(self, *settings: Any, **options: Any) -> None:
        """Store the arguments of the layer, without its first, the input features."""
        self._arguments = settings, options

    def forward(self, x: Any, **keywords: Any) -> Any:
        """Make the parameters at the first call, and return the result of the layer.

        Raises:
            TraceError: a transformation is open, which would make them anew each time.
            ShapeError: the input has no axis of features.
        """
        name = type(self).__name__
        if is_tracing() or is_differentiating():
            raise TraceError(
                f"{name}: the first call makes the parameters, and it is inside of a "
                "transformation; call the model once on an example before."
            )
        axis, shape = self._axis, asarray(x).shape
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(
                f"{name}: an input of shape {shape} has no axis {axis}, whose length "
                "is the count of features."
            )
        lazy, before = type(self), dict(vars(self))
        settings, options = self._arguments
        del self._arguments
        self.__class__ = self._kind  # type: ignore[assignment]  # both are modules, without slots
        try:
            self.__init__(shape[axis], *settings, **options)  # type: ignore[misc]  # that of the class just taken
            return self.forward(x, **keywords)
        except BaseException:
            # A wrong input leaves the layer lazy, for the next call.
            vars(self).clear()
            vars(self).update(before)
            self.__class__ = lazy
            raise

    def _parts(self) -> Any:
        """Return no parts: the parameters are made by the first call."""
        return iter(())


class LazyLinear(_Lazy):
    """`Linear` whose `in_features` is the length of the last axis of its first input.

    >>> layer = tw.nn.LazyLinear(2)
    >>> layer(tw.ones((5, 3))).shape, layer
    ((5, 2), Linear(in_features=3, out_features=2, bias=True))
    """

    _kind, _axis = Linear, -1


class LazyConv1d(_Lazy):
    """`Conv1d` whose `in_channels` is read off its first input.

    >>> tw.nn.LazyConv1d(3, kernel_size=2)(tw.ones((4, 2, 8))).shape
    (4, 3, 7)
    """

    _kind, _axis = Conv1d, -2


class LazyConv2d(_Lazy):
    """`Conv2d` whose `in_channels` is read off its first input.

    >>> tw.nn.LazyConv2d(8, kernel_size=3)(tw.ones((4, 1, 9, 9))).shape
    (4, 8, 7, 7)
    """

    _kind, _axis = Conv2d, -3


class LazyConvTranspose2d(_Lazy):
    """`ConvTranspose2d` whose `in_channels` is read off its first input.

    >>> tw.nn.LazyConvTranspose2d(2, 2, stride=2)(tw.ones((1, 3, 4, 4))).shape
    (1, 2, 8, 8)
    """

    _kind, _axis = ConvTranspose2d, -3


class LazyBatchNorm1d(_Lazy):
    """`BatchNorm1d` whose `num_features` is read off its first input.

    >>> tw.nn.LazyBatchNorm1d()(tw.ones((4, 2))).shape
    (4, 2)
    """

    _kind = BatchNorm1d


class LazyBatchNorm2d(_Lazy):
    """`BatchNorm2d` whose `num_features` is read off its first input.

    >>> tw.nn.LazyBatchNorm2d()(tw.ones((4, 2, 3, 3))).shape
    (4, 2, 3, 3)
    """

    _kind = BatchNorm2d


declare_public(__name__)
