"""Methods of NumPy's arrays that the standard lacks: found when they are first named.

`tensorweb/numpy/methods.py` has them; it knows tensors, so that tensors ask for it only
then.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

MODULE = "tensorweb.numpy.methods"

METHODS = (
    "argpartition",
    "choose",
    "compress",
    "conjugate",
    "cumprod",
    "cumsum",
    "diagonal",
    "fill",
    "partition",
    "ptp",
    "put",
    "resize",
    "searchsorted",
    "setflags",
    "tobytes",
    "trace",
)

PROPERTIES = (
    "base",
    "flags",
    "flat",
    "itemsize",
)


class NumpyName:
    """Stands where NumPy's arrays have a method or property that is a function here."""

    __slots__ = ("is_method", "name")

    def __init__(self, name: str, is_method: bool) -> None:
        """Stand for a name."""
        self.name = name
        self.is_method = is_method

    def __set__(self, tensor: object, value: object) -> None:
        """Write all elements of `x.flat = v`.

        Raises:
            AttributeError: the name is another one.
        """
        if self.name == "flat":
            self.__get__(tensor, type(tensor))[:] = value
            return
        raise AttributeError(f"x.{self.name} cannot be set.")

    def __get__(self, tensor: object, kind: type) -> Any:
        """Return the method, or what the property is."""
        if tensor is None:
            return self
        module = import_module(MODULE)
        if self.is_method:
            return partial(module.METHODS[self.name], tensor)
        return module.PROPERTIES[self.name](tensor)
