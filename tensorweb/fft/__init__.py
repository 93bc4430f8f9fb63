"""Fourier transforms and their frequencies: the Array API's extension `fft`, 2025.12.

docs/contributing/algorithms.md describes the implementation.

>>> fftfreq(4, d=0.5)
tensor([ 0. ,  0.5, -1. , -0.5])
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.fft.frames import istft, stft
from tensorweb.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from tensorweb.fft.transforms import (
    fft,
    fftn,
    hfft,
    ifft,
    ifftn,
    ihfft,
    irfft,
    irfftn,
    rfft,
    rfftn,
)
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "istft",
    "rfft",
    "rfftfreq",
    "rfftn",
    "stft",
]

_answer_torch_words(globals(), __all__)

if not _typing.TYPE_CHECKING:  # Type checkers report unknown names.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Raise AttributeError, with the equivalent of a name of NumPy or PyTorch."""
        raise _unknown("tensorweb.fft", name, __all__)
