"""Arrays of other libraries: their memory, by any protocol, and NumPy if installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from tensorweb.devices import is_browser
from tensorweb.errors import DataError, MissingPackageError, TensorwebError
from tensorweb.tensor.base import TensorBase

PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")
"""Names by which NumPy reads an object that has no native buffer and no DLPack."""


def is_array_like(kind: type) -> bool:
    """Whether objects of a class say that they are arrays; NumPy's numbers do not."""
    return hasattr(kind, "__len__") and any(hasattr(kind, name) for name in PROTOCOLS)


def is_masked_type(kind: type) -> bool:
    """Whether a class is that of arrays some of whose elements do not count."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and issubclass(kind, masked.MaskedArray)


def buffer_of(value: object) -> memoryview | None:
    """Return a value's memory in native byte order; None if it has none.

    Raises:
        DataError: it is an array that cannot be read, or has masked elements.
    """
    if is_masked_type(type(value)):
        _check_mask(value)
    try:
        view = memoryview(value)  # type: ignore[arg-type]  # raises TypeError if it is none
    except (TypeError, ValueError, BufferError):
        view = None
    if view is not None and not view.format.startswith((">", "!")):
        return view
    if any(hasattr(value, name) for name in PROTOCOLS):
        host = _by_numpy(value, "asarray", _as_array)
    elif hasattr(value, "__dlpack__"):
        host = exchanged(value)
    else:
        return view
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    try:
        return memoryview(host)
    except (TypeError, ValueError, BufferError):
        return None


def exchanged(value: object) -> Any:
    """Return the data that an object exports by DLPack as NumPy's array.

    Raises:
        DataError: it lies on no CPU, or is of a dtype that NumPy does not have.
    """
    return _by_numpy(value, "from_dlpack", lambda numpy, x: numpy.from_dlpack(x))


def _as_array(numpy: Any, value: object) -> Any:
    """Return an object as NumPy's array, within the buffer that it names.

    NumPy reads behind the end of one that is shorter than the shape says.
    """
    interface: Any = getattr(value, "__array_interface__", None)
    data = interface.get("data") if isinstance(interface, Mapping) else None
    if data is None or isinstance(data, tuple):
        try:
            return numpy.asarray(value)
        except ValueError:
            # NumPy takes nothing but its own arrays of `__array__`.
            make_array: Any = getattr(value, "__array__", None)
            made_array = (
                None if interface is not None or make_array is None else make_array()
            )
            if not isinstance(made_array, TensorBase):
                raise
            return numpy.asarray(made_array)
    dtype = numpy.dtype(interface["typestr"])
    offset, strides = interface.get("offset", 0), interface.get("strides")
    return numpy.ndarray(interface["shape"], dtype, data, offset, strides)


def _by_numpy(value: object, function: str, read: Callable[[Any, object], Any]) -> Any:
    """Let NumPy read an object; errors of NumPy become a `DataError` with advice."""
    kind = type(value).__name__
    numpy = require_numpy(
        f"asarray of a {kind}", "give numbers, nested lists or a buffer"
    )
    try:
        return read(numpy, value)
    except TensorwebError:
        raise
    except (
        *(ArithmeticError, AttributeError, BufferError, LookupError),
        *(RuntimeError, TypeError, ValueError),
    ) as error:
        reason = str(error).rstrip(".")
        raise DataError(
            f"np.{function} cannot read data of type {kind}: {reason}. Give an array "
            "in the CPU's memory, of a dtype that NumPy has."
        ) from error


def _check_mask(value: Any) -> None:
    if value.mask.any():
        raise DataError(
            "data are a masked array, and tensors have no masks; say what shall stand "
            "for masked elements, data.filled(0) for example, or take data.data."
        )


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


def numpy_at_hand() -> Any:
    """Return NumPy's module; None where having it would load it into a page."""
    if is_browser():
        return sys.modules.get("numpy")
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def require_numpy(who: str, instead: str) -> Any:
    """Return the module.

    Args:
        who: asks for it, as the message begins.
        instead: what can be done without it.

    Raises:
        MissingPackageError: it is not installed; says how to get it.
    """
    try:
        import numpy
    except ImportError as error:
        how = (
            'run `import micropip; await micropip.install("numpy")` once, then again'
            if is_browser()
            else "run `pip install numpy`"
        )
        raise MissingPackageError(
            f"{who}: this needs NumPy, which is not installed; {how}, or {instead}."
        ) from error
    return numpy
