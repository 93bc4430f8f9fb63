"""Views of arrays by strides: windows, and strides that are given.

Strides count elements here, as `x.strides` does; in NumPy they count bytes.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.shapes import as_shape, is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.movement import Axes


def sliding_window_view(
    x: ArrayLike,
    window_shape: Axes,
    axis: Axes | None = None,
    *,
    subok: builtins.bool = False,
    writeable: builtins.bool = False,
) -> Tensor:
    """Return windows that slide over axes, over all unless some are given, as a view.

    The elements of a window lie along new last axes.

    Raises:
        ShapeError: a window is longer than its axis, or their numbers differ.

    >>> from tensorweb.numpy.lib.stride_tricks import sliding_window_view
    >>> sliding_window_view([1, 2, 3, 4], 3)
    tensor([[1, 2, 3],
            [2, 3, 4]])
    """
    values = asarray(x)
    sizes = [window_shape] if is_integer(window_shape) else list(window_shape)
    axes: Any = range(values.ndim) if axis is None else axis
    axes = [axes] if is_integer(axes) else list(axes)
    if len(sizes) != len(axes):
        raise ShapeError(
            f"sliding_window_view: window_shape {window_shape} for {len(axes)} axes; "
            "give a length for each."
        )
    return values.sliding_windows(sizes, axis=axes)


def _are_bytes(values: Tensor, steps: Sequence[int]) -> builtins.bool:
    """Whether strides are most likely bytes: all are multiples of the element size."""
    width = values.dtype.itemsize
    moving = [step for step in steps if step]
    own = [step for step in values.strides if step % width]
    return (
        width > 1
        and builtins.bool(moving and own)
        and all(s % width == 0 for s in moving)
    )


def as_strided(
    x: ArrayLike,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: builtins.bool = False,
    writeable: builtins.bool = True,
) -> Tensor:
    """Return elements of an array found by strides from its first one.

    Strides count elements, as `x.strides` does, so that `2 * x.strides` means what it
    means in NumPy; a number of bytes, `x.itemsize`, does not. Elements are taken one by
    one, in a copy: `sliding_window_view` and broadcasting make views.

    Raises:
        ShapeError: shape and strides differ in length, lead beyond the array, or are
            all multiples of an element's bytes while the array's own are not.
        DataError: the input is a view with strides of its own.

    >>> from tensorweb.numpy.lib.stride_tricks import as_strided
    >>> x = np.arange(5)
    >>> as_strided(x, (3, 3), x.strides * 2)
    tensor([[0, 1, 2],
            [1, 2, 3],
            [2, 3, 4]])
    """
    values = asarray(x)
    lengths = values.shape if shape is None else as_shape(shape)
    own = _row_major(values.shape)
    steps = values.strides if strides is None else tuple(strides)
    if len(lengths) != len(steps):
        raise ShapeError(f"as_strided: shape {lengths} and strides {steps} differ.")
    if _are_bytes(values, steps):
        raise ShapeError(
            f"as_strided: strides {steps} look like bytes, and count elements here; "
            f"divide them by x.itemsize, which is {values.dtype.itemsize}, or build "
            "them of x.strides."
        )
    if values.strides != own:
        if any(stride not in values.strides for stride in steps):
            raise DataError(
                f"as_strided: an array with strides {values.strides} is a view; make a "
                "copy first, and give strides of that."
            )
        # Each stride stands for the axis that has it.
        steps = tuple(own[values.strides.index(stride)] for stride in steps)
    ends = [(n - 1) * step for n, step in zip(lengths, steps, strict=True)]
    least, most = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    if math.prod(lengths) and (least < 0 or most >= values.size):
        raise ShapeError(
            f"as_strided: shape {lengths} with strides {steps} reaches from element "
            f"{least} to {most} of {values.size}; strides count elements here, not "
            "bytes."
        )
    position = tw.zeros((), int, device=values.device)
    for n, step in zip(lengths, steps, strict=True):
        ramp = tw.arange(n, device=values.device) * step
        position = position[..., None] + ramp
    return values.ravel()[position]


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of elements in row-major order."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


declare_public(__name__)
