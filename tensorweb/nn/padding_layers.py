"""Borders around the last axes: zeros, values, mirrored or repeated elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, SupportsIndex

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import asarray
from tensorweb.functions import pad as bordered
from tensorweb.nn.arguments import choice, integers_per_axis
from tensorweb.nn.containers import FunctionModule
from tensorweb.nn.convolution import padded
from tensorweb.nodes.convolution import PerAxis
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

PADDINGS = {
    "constant": "zeros",
    "reflect": "reflect",
    "replicate": "replicate",
    "circular": "circular",
}
"""The modes of `pad`, and those of a convolution's padding."""


def pad(
    x: ArrayLike,
    pad: Sequence[SupportsIndex],
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """Return a tensor with a border around its last axes.

    Args:
        x: the tensor.
        pad: widths before and after the last axis, then those of the one before it:
            `(left, right, top, bottom)`. Negative widths cut off.
        mode: `constant`, `reflect` (without repeating the boundary), `replicate` or
            `circular`.
        value: of the border in mode `constant`, 0 by default.

    Raises:
        ShapeError: there are more widths than axes, or the mode allows less.
        DataError: there is no such mode, or a value goes with another one.

    >>> tw.nn.pad([[1.0, 2.0, 3.0]], (1, 2), "replicate")
    tensor([[1., 1., 2., 3., 3., 3.]])
    >>> tw.nn.pad([[1.0, 2.0]], (0, 1, 1, 0), value=9.0)
    tensor([[9., 9., 9.],
            [1., 2., 9.]])
    """
    tensor = asarray(x)
    widths = integers_per_axis("pad", "pad", pad, len(tuple(pad)), -(2**31))
    choice("pad", "mode", mode, tuple(PADDINGS))
    if len(widths) % 2 or len(widths) > 2 * tensor.ndim:
        raise ShapeError(
            f"pad: pad is {tuple(pad)} for shape {tensor.shape}; give two widths for "
            "each of the last axes, beginning with the last."
        )
    if value and mode != "constant":
        raise DataError(f"pad: value is {value}, and mode {mode!r} takes none.")
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)][::-1]
    first = tensor.ndim - len(pairs)
    cuts = [
        slice(max(-before, 0), length - max(-after, 0))
        for (before, after), length in zip(pairs, tensor.shape[first:], strict=True)
    ]
    if pairs and min(min(pair) for pair in pairs) < 0:
        tensor = tensor[(..., *cuts)]
    borders = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if mode == "constant":
        return bordered(tensor, [(0, 0)] * first + borders, value or 0)
    return padded("pad", tensor, borders, PADDINGS[mode])


class _Padding(FunctionModule):
    """A border around the last axes: one width, or two for each axis."""

    padding: PerAxis

    _spatial: ClassVar[int] = 1
    _mode: ClassVar[str] = "constant"

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the input with its border."""
        count, name = 2 * self._spatial, type(self).__name__
        widths = integers_per_axis(name, "padding", self.padding, count, -(2**31))
        return pad(x, widths, self._mode, getattr(self, "value", 0.0))

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.padding}"


class ConstantPad1d(_Padding):
    """Puts a border of a value around `(n, channels, length)`; see `pad`.

    >>> tw.nn.ConstantPad1d(1, 1.0)(tw.ones((1, 2, 5))).shape
    (1, 2, 7)
    """

    _spatial, _mode = 1, "constant"
    value: float


class ConstantPad2d(_Padding):
    """Puts a border of a value around `(n, channels, h, w)`; see `pad`.

    >>> tw.nn.ConstantPad2d(1, 1.0)(tw.ones((1, 2, 5, 5))).shape
    (1, 2, 7, 7)
    """

    _spatial, _mode = 2, "constant"
    value: float


class ConstantPad3d(_Padding):
    """Puts a border of a value around `(n, channels, d, h, w)`; see `pad`.

    >>> tw.nn.ConstantPad3d(1, 1.0)(tw.ones((1, 2, 5, 5, 5))).shape
    (1, 2, 7, 7, 7)
    """

    _spatial, _mode = 3, "constant"
    value: float


class ZeroPad1d(_Padding):
    """Puts a border of zeros around `(n, channels, length)`; see `pad`.

    >>> tw.nn.ZeroPad1d(1)(tw.ones((1, 2, 5))).shape
    (1, 2, 7)
    """

    _spatial, _mode = 1, "constant"


class ZeroPad2d(_Padding):
    """Puts a border of zeros around `(n, channels, h, w)`; see `pad`.

    >>> tw.nn.ZeroPad2d(1)(tw.ones((1, 2, 5, 5))).shape
    (1, 2, 7, 7)
    """

    _spatial, _mode = 2, "constant"


class ZeroPad3d(_Padding):
    """Puts a border of zeros around `(n, channels, d, h, w)`; see `pad`.

    >>> tw.nn.ZeroPad3d(1)(tw.ones((1, 2, 5, 5, 5))).shape
    (1, 2, 7, 7, 7)
    """

    _spatial, _mode = 3, "constant"


class ReflectionPad1d(_Padding):
    """Mirrors around `(n, channels, length)`; see `pad`.

    >>> tw.nn.ReflectionPad1d(1)(tw.ones((1, 2, 5))).shape
    (1, 2, 7)
    """

    _spatial, _mode = 1, "reflect"


class ReflectionPad2d(_Padding):
    """Mirrors around `(n, channels, h, w)`; see `pad`.

    >>> tw.nn.ReflectionPad2d(1)(tw.ones((1, 2, 5, 5))).shape
    (1, 2, 7, 7)
    """

    _spatial, _mode = 2, "reflect"


class ReflectionPad3d(_Padding):
    """Mirrors around `(n, channels, d, h, w)`; see `pad`.

    >>> tw.nn.ReflectionPad3d(1)(tw.ones((1, 2, 5, 5, 5))).shape
    (1, 2, 7, 7, 7)
    """

    _spatial, _mode = 3, "reflect"


class ReplicationPad1d(_Padding):
    """Repeats the boundary around `(n, channels, length)`; see `pad`.

    >>> tw.nn.ReplicationPad1d(1)(tw.ones((1, 2, 5))).shape
    (1, 2, 7)
    """

    _spatial, _mode = 1, "replicate"


class ReplicationPad2d(_Padding):
    """Repeats the boundary around `(n, channels, h, w)`; see `pad`.

    >>> tw.nn.ReplicationPad2d(1)(tw.ones((1, 2, 5, 5))).shape
    (1, 2, 7, 7)
    """

    _spatial, _mode = 2, "replicate"


class ReplicationPad3d(_Padding):
    """Repeats the boundary around `(n, channels, d, h, w)`; see `pad`.

    >>> tw.nn.ReplicationPad3d(1)(tw.ones((1, 2, 5, 5, 5))).shape
    (1, 2, 7, 7, 7)
    """

    _spatial, _mode = 3, "replicate"


class CircularPad1d(_Padding):
    """Continues periodically `(n, channels, length)`; see `pad`.

    >>> tw.nn.CircularPad1d(1)(tw.ones((1, 2, 5))).shape
    (1, 2, 7)
    """

    _spatial, _mode = 1, "circular"


class CircularPad2d(_Padding):
    """Continues periodically `(n, channels, h, w)`; see `pad`.

    >>> tw.nn.CircularPad2d(1)(tw.ones((1, 2, 5, 5))).shape
    (1, 2, 7, 7)
    """

    _spatial, _mode = 2, "circular"


class CircularPad3d(_Padding):
    """Continues periodically `(n, channels, d, h, w)`; see `pad`.

    >>> tw.nn.CircularPad3d(1)(tw.ones((1, 2, 5, 5, 5))).shape
    (1, 2, 7, 7, 7)
    """

    _spatial, _mode = 3, "circular"


declare_public(__name__)
