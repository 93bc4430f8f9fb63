"""Fourier transforms and their frequencies: the Array API's extension `fft`, 2025.12.

docs/contributing/algorithms.md describes the implementation.

>>> fftfreq(4, d=0.5)
tensor([ 0. ,  0.5, -1. , -0.5])
"""

from tensorweb.fft.frames import *
from tensorweb.fft.frequencies import *
from tensorweb.fft.transforms import *
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

_answer_torch_words(globals(), _declare_package(__name__))
