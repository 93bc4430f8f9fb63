"""Fourier transforms, and the frequencies that their elements stand for.

Names, arguments and meanings are those of the Array API's extension `fft`, 2025.12;
docs/fft.md says how they compute.

>>> fftfreq(4, d=0.5)
tensor([ 0. ,  0.5, -1. , -0.5])
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.fft.complex_transforms import fft, fftn, ifft, ifftn
from tensorweb.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from tensorweb.fft.real_transforms import hfft, ihfft, irfft, irfftn, rfft, rfftn

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
    "rfft",
    "rfftfreq",
    "rfftn",
]

if not _typing.TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of NumPy or PyTorch with what to write here."""
        raise _unknown("tensorweb.fft", name, __all__)
