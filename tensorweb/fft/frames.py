"""Short-time Fourier transforms with PyTorch's arguments."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from tensorweb.errors import DataError, ShapeError
from tensorweb.fft.transforms import Norm, fft, ifft, irfft, rfft
from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    asarray,
    broadcast_to,
    ones,
    pad,
    real,
    sliding_windows,
    swapaxes,
    where,
)
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

PADDINGS = {
    "reflect": "reflect",
    "constant": "constant",
    "replicate": "edge",
    "circular": "wrap",
}
"""PyTorch's modes, and NumPy's words for them."""


def _sizes(
    name: str,
    n_fft: SupportsIndex,
    hop_length: SupportsIndex | None,
    win_length: SupportsIndex | None,
) -> tuple[int, int, int]:
    """Return the lengths of a transform, of a hop and of the window."""
    size = operator.index(n_fft)
    hop = size // 4 if hop_length is None else operator.index(hop_length)
    width = size if win_length is None else operator.index(win_length)
    if size < 1 or hop < 1 or not 1 <= width <= size:
        raise DataError(
            f"{name}: n_fft={size}, hop_length={hop}, win_length={width}; all are "
            "positive, and the window is not longer than the transform."
        )
    return size, hop, width


def _window(
    name: str, window: ArrayLike | None, x: Tensor, size: int, w: int
) -> Tensor:
    """Return the window in the middle of zeros, in the real dtype of `x`."""
    like = absolute(x[..., :0])
    found = (
        ones(w, dtype=like.dtype, device=x.device)
        if window is None
        else asarray(window, device=x.device).astype(like.dtype)
    )
    if found.shape != (w,):
        raise ShapeError(
            f"{name}: a window of shape {found.shape}; it has win_length={w} numbers."
        )
    before = (size - w) // 2
    return pad(found, [(before, size - w - before)])


def _padded(x: Tensor, count: int, mode: str) -> Tensor:
    """Return a signal with `count` more numbers at both ends."""
    length = x.shape[-1]
    if mode not in PADDINGS:
        raise DataError(f"stft: pad_mode {mode!r}; it is one of {', '.join(PADDINGS)}.")
    if mode == "reflect" and count >= length:
        raise ShapeError(
            f"stft: {length} numbers cannot be reflected {count} times; give more, or "
            'pad_mode="constant".'
        )
    widths = [*[(0, 0)] * (x.ndim - 1), (count, count)]
    return pad(x, widths, mode=PADDINGS[mode])


def stft(
    input: ArrayLike,
    n_fft: SupportsIndex,
    hop_length: SupportsIndex | None = None,
    win_length: SupportsIndex | None = None,
    window: ArrayLike | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
) -> Tensor:
    """Return the Fourier transforms of windows of a signal, `hop_length` apart.

    Args:
        input: the signal, `(..., n)`.
        n_fft: the length of a transform.
        hop_length: the distance of windows; None for a quarter of `n_fft`.
        win_length: the length of the window; None for `n_fft`.
        window: `win_length` factors, in the middle of each transform; None for ones.
        center: whether frame t is around t * hop_length, padding both ends, instead of
            beginning there.
        pad_mode: `reflect`, `constant` (zeros), `replicate` or `circular`.
        normalized: whether to divide by the root of `n_fft`.
        onesided: whether to return frequencies from 0 on only; None for real signals.

    Returns:
        Complex numbers `(..., frequencies, frames)`.

    Raises:
        DataError: a length or the padding is wrong.
        ShapeError: the window has another length, or the signal is too short.

    >>> tw.fft.stft(tw.ones(16), 8).shape
    (5, 9)
    """
    x = asarray(input)
    size, hop, width = _sizes("stft", n_fft, hop_length, win_length)
    factors = _window("stft", window, x, size, width)
    if center:
        x = _padded(x, size // 2, pad_mode)
    if x.shape[-1] < size:
        raise ShapeError(f"stft: {x.shape[-1]} numbers for transforms of {size}.")
    frames = sliding_windows(x, size, step=hop) * factors
    is_half = x.dtype.kind == "float" if onesided is None else onesided
    transform = rfft if is_half else fft
    found = transform(frames, norm="ortho" if normalized else "backward")
    return swapaxes(found, -1, -2)


def istft(
    input: ArrayLike,
    n_fft: SupportsIndex,
    hop_length: SupportsIndex | None = None,
    win_length: SupportsIndex | None = None,
    window: ArrayLike | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: SupportsIndex | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Return the signal of short-time transforms: frames overlap and are added.

    The sum is divided by that of the squared windows, as D. Griffin and J. Lim, Signal
    estimation from modified short-time Fourier transform, 1984.

    Args:
        input: the transforms, `(..., frequencies, frames)`.
        n_fft: as of `stft`.
        hop_length: as of `stft`.
        win_length: as of `stft`.
        window: as of `stft`.
        center: as of `stft`.
        normalized: as of `stft`.
        onesided: whether frequencies are from 0 on only; None if their count says so.
        length: of the result; None for as much as the frames hold.
        return_complex: whether the signal is complex; with all frequencies only.

    Raises:
        DataError: a length is wrong.
        ShapeError: the window or the count of frequencies has another length.

    >>> tw.fft.istft(tw.fft.stft(tw.arange(8.0), 4), 4, length=8).round(3)
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    spectrum = asarray(input)
    size, hop, width = _sizes("istft", n_fft, hop_length, win_length)
    factors = _window("istft", window, spectrum, size, width)
    count, half = spectrum.shape[-2], size // 2 + 1
    is_half = count == half if onesided is None else onesided
    if count != (half if is_half else size) or (is_half and return_complex):
        raise ShapeError(
            f"istft: {count} frequencies for n_fft={size}; give {half} of a real "
            f"signal, {size} of others."
        )
    spectrum = swapaxes(spectrum, -1, -2)
    norm: Norm = "ortho" if normalized else "backward"
    frames = (
        irfft(spectrum, n=size, norm=norm) if is_half else ifft(spectrum, norm=norm)
    )
    if not return_complex:
        frames = real(frames) if frames.dtype.kind == "complex" else frames
    total = _overlapped(frames * factors, hop)
    weights = broadcast_to(factors * factors, frames.shape[-2:])
    weight = _overlapped(weights, hop)
    signal = total / where(weight > 1e-11, weight, 1.0)
    begin = size // 2 if center else 0
    last = signal.shape[-1] - begin
    if length is not None:
        end = begin + operator.index(length)
        missing = max(end - signal.shape[-1], 0)
        widths = [*[(0, 0)] * (signal.ndim - 1), (0, missing)]
        return pad(signal, widths)[..., begin:end]
    return signal[..., begin:last]


def _overlapped(frames: Tensor, hop: int) -> Tensor:
    """Return the sum of frames that begin a hop apart: `(..., t, n)` gives `(..., m)`.

    Each frame is cut into parts of a hop, of which those of one index are a signal.
    """
    count, size = frames.shape[-2:]
    parts = -(-size // hop)
    before = [(0, 0)] * (frames.ndim - 2)
    full = pad(frames, [*before, (0, 0), (0, parts * hop - size)])
    signals = [
        pad(
            full[..., j * hop : (j + 1) * hop].reshape((*frames.shape[:-2], -1)),
            [*before, (j * hop, (parts - 1 - j) * hop)],
        )
        for j in range(parts)
    ]
    return sum(signals[1:], signals[0])[..., : (count - 1) * hop + size]


declare_public(__name__)
