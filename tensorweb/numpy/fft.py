"""NumPy's Fourier transforms: those of `tw.fft`, called as NumPy calls them.

Integers and bool become float32 first, and results are complex64 where NumPy's are
complex128; `norm=None` is `"backward"`. docs/fft.md says how they compute.

>>> np.fft.rfft([1, 2, 3, 4])
tensor([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

from tensorweb import fft as transforms
from tensorweb.errors import ShapeError
from tensorweb.fft.frequencies import Axes
from tensorweb.fft.transforms import Norm
from tensorweb.numpy.arguments import Out, as_floats, declare_public, into, signature_of
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.scalars import NumberLike

Lengths = Sequence[int] | None

LAST_TWO = (-2, -1)


def fft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform along an axis, cut or filled with zeros to n points.

    >>> np.fft.fft([1, 0, 0, 0])
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform_axis(transforms.fft, a, n, axis, norm, out)


@signature_of(fft)
def ifft(*args: Any, **options: Any) -> Tensor:
    """Return the inverse of `fft`.

    >>> np.fft.ifft([4, 0, 0, 0])
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform_axis(transforms.ifft, *args, **options)


@signature_of(fft)
def rfft(*args: Any, **options: Any) -> Tensor:
    """Return the first half of the transform of real numbers.

    >>> np.fft.rfft([0, 1, 0, 0])
    tensor([ 1.+0.j,  0.-1.j, -1.+0.j], dtype=complex64)
    """
    return _transform_axis(transforms.rfft, *args, **options)


@signature_of(fft)
def irfft(*args: Any, **options: Any) -> Tensor:
    """Return the n real numbers whose `rfft` is given.

    >>> np.round(np.fft.irfft([6, -1.5 + 0.866j], 3), 3)
    tensor([1., 2., 3.])
    """
    return _transform_axis(transforms.irfft, *args, **options)


@signature_of(fft)
def hfft(*args: Any, **options: Any) -> Tensor:
    """Return the real transform of a signal of which half is given, which it mirrors.

    >>> np.fft.hfft([1, 2, 3])
    tensor([ 8., -2.,  0., -2.])
    """
    return _transform_axis(transforms.hfft, *args, **options)


@signature_of(fft)
def ihfft(*args: Any, **options: Any) -> Tensor:
    """Return the inverse of `hfft`.

    >>> np.fft.ihfft([8, -2, 0, -2]).real
    tensor([1., 2., 3.])
    """
    return _transform_axis(transforms.ihfft, *args, **options)


def fftn(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform along several axes, of all where none are named.

    An axis that is named twice is transformed twice.

    >>> np.fft.fftn([[1, 1], [1, 1]])
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_axes("fftn", a, s, axes, norm, out)


@signature_of(fftn)
def ifftn(*args: Any, **options: Any) -> Tensor:
    """Return the inverse of `fftn`.

    >>> np.fft.ifftn([[4, 0], [0, 0]]).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    return _transform_axes("ifftn", *args, **options)


@signature_of(fftn)
def rfftn(*args: Any, **options: Any) -> Tensor:
    """Return the transform of real numbers along several axes, half of the last one.

    >>> np.fft.rfftn(np.ones((2, 2)))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_axes("rfftn", *args, **options)


@signature_of(fftn)
def irfftn(*args: Any, **options: Any) -> Tensor:
    """Return the real numbers whose `rfftn` is given.

    >>> np.fft.irfftn(np.fft.rfftn([[1, 2], [3, 4]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _transform_axes("irfftn", *args, **options)


def fft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform along the last two axes.

    >>> np.fft.fft2([[1, 0], [0, 0]]).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    return fftn(a, s, axes, norm, out)


@signature_of(fft2)
def ifft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    *args: Any,
    **options: Any,
) -> Tensor:
    """Return the inverse of `fft2`.

    >>> np.fft.ifft2([[4, 0], [0, 0]]).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    return ifftn(a, s, axes, *args, **options)


@signature_of(fft2)
def rfft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    *args: Any,
    **options: Any,
) -> Tensor:
    """Return the transform of real numbers along the last two axes, half of the last.

    >>> np.fft.rfft2(np.eye(4)).shape
    (4, 3)
    """
    return rfftn(a, s, axes, *args, **options)


@signature_of(fft2)
def irfft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    *args: Any,
    **options: Any,
) -> Tensor:
    """Return the real numbers whose `rfft2` is given.

    >>> np.fft.irfft2(np.fft.rfft2([[1, 2], [3, 4]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return irfftn(a, s, axes, *args, **options)


def fftfreq(n: SupportsIndex, d: NumberLike = 1.0, device: object = None) -> Tensor:
    """Return the frequencies of the elements of `fft` for samples `d` apart.

    >>> np.fft.fftfreq(5, 0.1)
    tensor([ 0.,  2.,  4., -4., -2.])
    """
    return transforms.fftfreq(n, d=d, device=device)


def rfftfreq(n: SupportsIndex, d: NumberLike = 1.0, device: object = None) -> Tensor:
    """Return the frequencies of the elements of `rfft` for samples `d` apart.

    >>> np.fft.rfftfreq(5, 0.1)
    tensor([0., 2., 4.])
    """
    return transforms.rfftfreq(n, d=d, device=device)


def fftshift(x: ArrayLike, axes: Axes | None = None) -> Tensor:
    """Return the elements with that of frequency zero in the middle.

    >>> np.fft.fftshift([0, 1, 2, -2, -1])
    tensor([-2, -1,  0,  1,  2])
    """
    return transforms.fftshift(x, axes=axes)


def ifftshift(x: ArrayLike, axes: Axes | None = None) -> Tensor:
    """Undo `fftshift`.

    >>> np.fft.ifftshift([-2, -1, 0, 1, 2])
    tensor([ 0,  1,  2, -2, -1])
    """
    return transforms.ifftshift(x, axes=axes)


def _transform_axis(
    transform: Callable[..., Tensor],
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    return into(transform(as_floats(a), n=n, axis=axis, norm=norm or "backward"), out)


def _transform_axes(
    name: str,
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform of a name; an axis that occurs twice is transformed twice.

    Axes that differ are transformed at once, others from the last to the first one. The
    real transform comes first on the last axis, and its inverse last.
    """
    x = as_floats(a)
    options = {"norm": norm or "backward"}
    if axes is None or len({axis % max(x.ndim, 1) for axis in axes}) == len(axes):
        transform: Callable[..., Tensor] = getattr(transforms, name)
        return into(transform(x, s=s, axes=axes, **options), out)
    steps = _axes_and_lengths(x, s, axes)[::-1]
    one = transforms.ifft if name.startswith("i") else transforms.fft
    kinds = [one] * len(steps)
    if name == "rfftn":
        kinds[0] = transforms.rfft
    if name == "irfftn":
        axis, length = steps[0]
        # Half of a real signal's spectrum has one value more than half its points.
        steps = [*steps[:0:-1], (axis, 2 * (length - 1) if s is None else length)]
        kinds[-1] = transforms.irfft
    for transform, (axis, length) in zip(kinds, steps, strict=True):
        x = transform(x, n=length, axis=axis, **options)
    return into(x, out)


def _axes_and_lengths(
    x: Tensor, s: Lengths, axes: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the axes, and the count of points that each transform has."""
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(axes):
        raise ShapeError(f"s={s} and axes={axes}: give as many lengths as axes.")
    return [
        (along, x.shape[along] if size in (None, -1) else size)
        for along, size in zip(
            [normalize_axis(axis, x.ndim) for axis in axes], sizes, strict=True
        )
    ]


declare_public(__name__)
