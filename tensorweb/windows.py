"""Windows that slide over axes, and what computes with them: pooling, convolution."""

from __future__ import annotations

from tensorweb.convert import ArrayLike
from tensorweb.creation import asarray
from tensorweb.methods.movement import Axes
from tensorweb.tensor import Tensor


def sliding_windows(
    x: ArrayLike,
    /,
    size: Axes,
    *,
    axis: Axes = -1,
    step: Axes = 1,
    dilation: Axes = 1,
) -> Tensor:
    """Return windows of `size` neighbours along axes, as a view that copies nothing.

    The axis counts the windows, which begin `step` apart; their elements, `dilation`
    apart, lie along a new last axis. With several axes each has its size and its new
    axis: `(n, h, w)` gives `(n, h - 2, w - 2, 3, 3)` for `size=3, axis=(-2, -1)`.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: an axis is shorter than a window, a number is not positive, or there
            are not as many numbers as axes.

    >>> tw.sliding_windows([0, 1, 2, 3, 4], 3, step=2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    >>> tw.sliding_windows([1, 2, 3, 4, 5], 2).mean(axis=-1)
    tensor([1.5, 2.5, 3.5, 4.5])
    """
    return asarray(x).sliding_windows(size, axis=axis, step=step, dilation=dilation)
