"""NumPy's Fourier transforms: those of `tw.fft`, called as NumPy calls them.

Integers and bool become float32 first, and results are complex64 where NumPy's are
complex128; `norm=None` is `"backward"`. docs/fft.md says how they compute.

>>> np.fft.rfft([1, 2, 3, 4])
tensor([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsIndex, TypeGuard

from tensorweb import dtypes
from tensorweb import fft as standard
from tensorweb import functions as tw
from tensorweb.errors import ShapeError
from tensorweb.fft.arguments import Norm
from tensorweb.fft.frequencies import Axes
from tensorweb.numpy.arguments import Out, into
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.scalars import NumberLike

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

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
    return into(_along_one(standard.fft, a, n, axis, norm), out)


def ifft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the inverse of `fft`.

    >>> np.fft.ifft([4, 0, 0, 0])
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return into(_along_one(standard.ifft, a, n, axis, norm), out)


def rfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the first half of the transform of real numbers.

    >>> np.fft.rfft([0, 1, 0, 0])
    tensor([ 1.+0.j,  0.-1.j, -1.+0.j], dtype=complex64)
    """
    return into(_along_one(standard.rfft, a, n, axis, norm), out)


def irfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the n real numbers whose `rfft` is given.

    >>> np.round(np.fft.irfft([6, -1.5 + 0.866j], 3), 3)
    tensor([1., 2., 3.])
    """
    return into(_along_one(standard.irfft, a, n, axis, norm), out)


def hfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the real transform of a signal of which half is given, which it mirrors.

    >>> np.fft.hfft([1, 2, 3])
    tensor([ 8., -2.,  0., -2.])
    """
    return into(_along_one(standard.hfft, a, n, axis, norm), out)


def ihfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the inverse of `hfft`.

    >>> np.fft.ihfft([8, -2, 0, -2]).real
    tensor([1., 2., 3.])
    """
    return into(_along_one(standard.ihfft, a, n, axis, norm), out)


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
    return into(_complex_along_many(standard.fft, standard.fftn, a, s, axes, norm), out)


def ifftn(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the inverse of `fftn`.

    >>> np.fft.ifftn([[4, 0], [0, 0]]).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    found = _complex_along_many(standard.ifft, standard.ifftn, a, s, axes, norm)
    return into(found, out)


def rfftn(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform of real numbers along several axes, half of the last one.

    >>> np.fft.rfftn(np.ones((2, 2)))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    x, by = _floating(a), norm or "backward"
    if not _is_repeated(axes, x.ndim):
        return into(standard.rfftn(x, s=s, axes=axes, norm=by), out)
    *others, (axis, count) = _sizes(x, s, axes)
    x = standard.rfft(x, n=count, axis=axis, norm=by)
    for axis, count in reversed(others):
        x = standard.fft(x, n=count, axis=axis, norm=by)
    return into(x, out)


def irfftn(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the real numbers whose `rfftn` is given.

    >>> np.fft.irfftn(np.fft.rfftn([[1, 2], [3, 4]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    x, by = _floating(a), norm or "backward"
    if not _is_repeated(axes, x.ndim):
        return into(standard.irfftn(x, s=s, axes=axes, norm=by), out)
    *others, (axis, count) = _sizes(x, s, axes)
    if s is None:
        count = 2 * (count - 1)
    for each, length in others:
        x = standard.ifft(x, n=length, axis=each, norm=by)
    return into(standard.irfft(x, n=count, axis=axis, norm=by), out)


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


def ifft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the inverse of `fft2`.

    >>> np.fft.ifft2([[4, 0], [0, 0]]).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    return ifftn(a, s, axes, norm, out)


def rfft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the transform of real numbers along the last two axes, half of the last.

    >>> np.fft.rfft2(np.eye(4)).shape
    (4, 3)
    """
    return rfftn(a, s, axes, norm, out)


def irfft2(
    a: ArrayLike,
    s: Lengths = None,
    axes: Sequence[int] | None = LAST_TWO,
    norm: Norm | None = None,
    out: Out = None,
) -> Tensor:
    """Return the real numbers whose `rfft2` is given.

    >>> np.fft.irfft2(np.fft.rfft2([[1, 2], [3, 4]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return irfftn(a, s, axes, norm, out)


def fftfreq(n: SupportsIndex, d: NumberLike = 1.0, device: object = None) -> Tensor:
    """Return the frequencies of the elements of `fft` for samples `d` apart.

    >>> np.fft.fftfreq(5, 0.1)
    tensor([ 0.,  2.,  4., -4., -2.])
    """
    return standard.fftfreq(n, d=d, device=device)


def rfftfreq(n: SupportsIndex, d: NumberLike = 1.0, device: object = None) -> Tensor:
    """Return the frequencies of the elements of `rfft` for samples `d` apart.

    >>> np.fft.rfftfreq(5, 0.1)
    tensor([0., 2., 4.])
    """
    return standard.rfftfreq(n, d=d, device=device)


def fftshift(x: ArrayLike, axes: Axes | None = None) -> Tensor:
    """Return the elements with that of frequency zero in the middle.

    >>> np.fft.fftshift([0, 1, 2, -2, -1])
    tensor([-2, -1,  0,  1,  2])
    """
    return standard.fftshift(x, axes=axes)


def ifftshift(x: ArrayLike, axes: Axes | None = None) -> Tensor:
    """Undo `fftshift`.

    >>> np.fft.ifftshift([-2, -1, 0, 1, 2])
    tensor([ 0,  1,  2, -2, -1])
    """
    return standard.ifftshift(x, axes=axes)


def _floating(a: ArrayLike) -> Tensor:
    """Return what is transformed: integers and bool as the default float."""
    x = tw.asarray(a)
    is_exact = x.dtype.kind in ("bool", "int", "uint")
    return x.astype(dtypes.DEFAULT_FLOAT) if is_exact else x


def _along_one(
    transform: Callable[..., Tensor],
    a: ArrayLike,
    n: SupportsIndex | None,
    axis: SupportsIndex,
    norm: Norm | None,
) -> Tensor:
    return transform(_floating(a), n=n, axis=axis, norm=norm or "backward")


def _complex_along_many(
    one: Callable[..., Tensor],
    many: Callable[..., Tensor],
    a: ArrayLike,
    s: Lengths,
    axes: Sequence[int] | None,
    norm: Norm | None,
) -> Tensor:
    x, by = _floating(a), norm or "backward"
    if not _is_repeated(axes, x.ndim):
        return many(x, s=s, axes=axes, norm=by)
    for axis, size in reversed(_sizes(x, s, axes)):
        x = one(x, n=size, axis=axis, norm=by)
    return x


def _is_repeated(axes: Sequence[int] | None, rank: int) -> TypeGuard[Sequence[int]]:
    """Whether an axis is named twice: it is then transformed as often, as in NumPy."""
    return axes is not None and len({axis % max(rank, 1) for axis in axes}) < len(axes)


def _sizes(x: Tensor, s: Lengths, axes: Sequence[int]) -> list[tuple[int, int]]:
    """Return axes, and the number of points that each transform shall have."""
    places = [normalize_axis(axis, x.ndim) for axis in axes]
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(places):
        raise ShapeError(f"s={s} and axes={axes}: give as many lengths as axes.")
    return [
        (axis, x.shape[axis] if size in (None, -1) else size)
        for axis, size in zip(places, sizes, strict=True)
    ]
