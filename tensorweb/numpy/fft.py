"""NumPy's Fourier transforms: those of `tw.fft`, called as NumPy calls them.

Integers and bool become float32 first, and results are complex64 where NumPy's are
complex128; `norm=None` is `"backward"`. docs/contributing/algorithms.md says how
they compute.

>>> np.fft.rfft([1, 2, 3, 4])
tensor([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsIndex

from tensorweb import fft as transforms
from tensorweb.errors import ShapeError
from tensorweb.fft.frequencies import Axes
from tensorweb.fft.transforms import Norm
from tensorweb.numpy.arguments import (
    Out,
    as_floats,
    into,
    with_first,
)
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import NumberLike
from tensorweb.tensor.convert import ArrayLike

Lengths = Sequence[int] | None

Transform = Callable[..., Tensor]

LAST_TWO = (-2, -1)


def _transform_axis(
    transform: Transform,
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    return into(transform(as_floats(a), n=n, axis=axis, norm=norm or "backward"), out)


def _transform_axes(
    transform: Transform,
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Transform several axes; an axis that occurs twice is transformed twice.

    Axes that differ are transformed at once, others from the last to the first one. The
    real transform comes first on the last axis, and its inverse last.
    """
    x = as_floats(a)
    norm = norm or "backward"
    if axes is None or len({axis % max(x.ndim, 1) for axis in axes}) == len(axes):
        return into(transform(x, s=s, axes=axes, norm=norm), out)
    is_inverse = transform in (transforms.ifftn, transforms.irfftn)
    steps = _axes_and_lengths(x, s, axes)[::-1]
    along_axis = [transforms.ifft if is_inverse else transforms.fft] * len(steps)
    if transform is transforms.rfftn:
        along_axis[0] = transforms.rfft
    if transform is transforms.irfftn:
        axis, length = steps[0]
        # The half spectrum of n real points has n // 2 + 1 values.
        steps = [*steps[:0:-1], (axis, 2 * (length - 1) if s is None else length)]
        along_axis[-1] = transforms.irfft
    for transform_axis, (axis, length) in zip(along_axis, steps, strict=True):
        x = transform_axis(x, n=length, axis=axis, norm=norm)
    return into(x, out)


def _axes_and_lengths(
    x: Tensor, s: Lengths, axes: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the axes, and the count of points of each transform."""
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(axes):
        raise ShapeError(f"s={s} and axes={axes}: give as many lengths as axes.")
    return [
        (along, x.shape[along] if size in (None, -1) else size)
        for along, size in zip(
            [normalize_axis(axis, x.ndim) for axis in axes], sizes, strict=True
        )
    ]


def _transform_last_axes(
    transform: Transform,
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform along the last two axes, as `fftn` and its variants do.

    >>> np.fft.ifft2(np.fft.fft2([[1, 2], [3, 4]])).real
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _transform_axes(transform, a, s, axes, norm, out)


def _frequencies(
    function: Callable[..., Tensor],
    n: SupportsIndex,
    d: NumberLike = 1.0,
    device: object = None,
) -> Tensor:
    return function(n, d=d, device=device)


def _shift(
    function: Callable[..., Tensor], x: ArrayLike, axes: Axes | None = None
) -> Tensor:
    return function(x, axes=axes)


fft = with_first(_transform_axis, transforms.fft)
hfft = with_first(_transform_axis, transforms.hfft)
ifft = with_first(_transform_axis, transforms.ifft)
ihfft = with_first(_transform_axis, transforms.ihfft)
irfft = with_first(_transform_axis, transforms.irfft)
rfft = with_first(_transform_axis, transforms.rfft)

fftn = with_first(_transform_axes, transforms.fftn)
ifftn = with_first(_transform_axes, transforms.ifftn)
irfftn = with_first(_transform_axes, transforms.irfftn)
rfftn = with_first(_transform_axes, transforms.rfftn)

fft2 = with_first(_transform_last_axes, transforms.fftn, "fft2")
ifft2 = with_first(_transform_last_axes, transforms.ifftn, "ifft2")
irfft2 = with_first(_transform_last_axes, transforms.irfftn, "irfft2")
rfft2 = with_first(_transform_last_axes, transforms.rfftn, "rfft2")

fftfreq = with_first(_frequencies, transforms.fftfreq)
fftshift = with_first(_shift, transforms.fftshift)
ifftshift = with_first(_shift, transforms.ifftshift)
rfftfreq = with_first(_frequencies, transforms.rfftfreq)

declare_public(__name__)
