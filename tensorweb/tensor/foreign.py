"""Arrays of other libraries that hold arrays of others: they answer for ours."""

from __future__ import annotations

import sys

from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.buffers import is_masked_type


def is_foreign(value: object) -> bool:
    """Whether a value is another library's array, which knows what to do with ours.

    `pandas`, `xarray` and `dask` hold arrays of others and answer NumPy's protocols;
    NumPy's masked arrays know which elements count.
    """
    kind = type(value)
    return not issubclass(kind, TensorBase) and (
        is_foreign_type(kind) or is_masked_type(kind)
    )


def is_foreign_type(kind: type) -> bool:
    """Whether a class is that of such arrays: it answers NumPy's protocols."""
    if issubclass(kind, TensorBase) or not hasattr(kind, "__array_ufunc__"):
        return False
    numpy = sys.modules.get("numpy")
    return numpy is None or not issubclass(kind, numpy.ndarray | numpy.generic)
