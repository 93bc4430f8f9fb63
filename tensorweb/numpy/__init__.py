"""NumPy 2's names, argument orders and defaults over the tensors of tensorweb.

`import tensorweb.numpy as np` lets a program written for NumPy run on a device: arrays
are tensors, and functions of `tw.` are called as NumPy calls them. Default dtypes are
float32 and int32. Each file has one topic; its functions and classes without an
underscore are public. docs/guide/numpy.md describes what differs from NumPy.

>>> import tensorweb.numpy as np
>>> np.arange(6).reshape(2, 3).sum(axis=0)
tensor([3, 5, 7])
"""

import typing as _typing

from tensorweb import functions as _functions
from tensorweb.functions.data_types import (
    __array_namespace_info__ as __array_namespace_info__,
)
from tensorweb.numpy.bits import *
from tensorweb.numpy.creation import *
from tensorweb.numpy.data_types import *
from tensorweb.numpy.differences import *
from tensorweb.numpy.files import *
from tensorweb.numpy.histograms import *
from tensorweb.numpy.indexing import *
from tensorweb.numpy.joining import *
from tensorweb.numpy.manipulation import *
from tensorweb.numpy.mathematics import *
from tensorweb.numpy.matrices import *
from tensorweb.numpy.padding import *
from tensorweb.numpy.polynomials import *
from tensorweb.numpy.printing import *
from tensorweb.numpy.products import *
from tensorweb.numpy.reductions import *
from tensorweb.numpy.sorting import *
from tensorweb.numpy.statistics import *
from tensorweb.numpy.text import *
from tensorweb.numpy.ufuncs import *
from tensorweb.numpy.vectorization import *
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.shapes import broadcast_shapes as broadcast_shapes
from tensorweb.version import VERSION as _VERSION

__version__ = _VERSION

# What NumPy and tensorweb have alike.
from_dlpack = _functions.from_dlpack
imag, real = _functions.imag, _functions.real
isdtype, result_type = _functions.isdtype, _functions.result_type
matrix_transpose = _functions.matrix_transpose
squeeze, unstack = _functions.squeeze, _functions.unstack
unique_all, unique_counts = _functions.unique_all, _functions.unique_counts
unique_inverse = _functions.unique_inverse
unique_values = _functions.unique_values

__all__: list[str]
_declare_package(__name__, later=("emath", "fft", "lib", "linalg", "random", "testing"))

if _typing.TYPE_CHECKING:
    from tensorweb.numpy import emath as emath
    from tensorweb.numpy import fft as fft
    from tensorweb.numpy import lib as lib
    from tensorweb.numpy import linalg as linalg
    from tensorweb.numpy import random as random
    from tensorweb.numpy import testing as testing
