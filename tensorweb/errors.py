"""Every exception that tensorweb raises on purpose.

    TensorwebError
    ├── ShapeError (ValueError)          shapes or axes do not fit
    ├── AxisError (ShapeError, IndexError)   an axis does not exist or repeats
    ├── DTypeError (TypeError)           a dtype is unknown, unfit or not on this device
    ├── DataError (ValueError, TypeError)    host data cannot become a tensor
    ├── RangeError (OverflowError)       an integer does not fit its dtype
    ├── TensorIndexError (IndexError)    an index is out of range or of a wrong kind
    ├── DeviceError (ValueError)         devices are mixed, unknown or unavailable
    └── BackendError (RuntimeError)      the device could not do its work
        ├── BlockingError                Python cannot wait here; use the awaitable twin
        ├── DeviceLostError              the GPU device is gone; the next run gets a new one
        ├── DeviceMemoryError (MemoryError)  an allocation failed or exceeds a limit
        └── ShaderError                  the device's compiler refused a kernel

Each class is also the built-in kind that NumPy raises, so `except ValueError` works.
A message says what was wrong, with which shapes, dtypes and device, and what to do.
"""

from __future__ import annotations


class TensorwebError(Exception):
    """Base of all errors of this package."""


class ShapeError(TensorwebError, ValueError):
    """Shapes do not fit together or a size is impossible."""


class AxisError(ShapeError, IndexError):
    """An axis does not exist or is given twice."""


class DTypeError(TensorwebError, TypeError):
    """A dtype is unknown, unfit for the operation or absent on the device."""


class DataError(TensorwebError, ValueError, TypeError):
    """Host data (a list, an array, a buffer) cannot become a tensor."""


class RangeError(TensorwebError, OverflowError):
    """A Python integer does not fit the dtype."""


class TensorIndexError(TensorwebError, IndexError):
    """An index is out of range or of a kind that cannot index."""


class DeviceError(TensorwebError, ValueError):
    """Devices are mixed, unknown or unavailable."""


class BackendError(TensorwebError, RuntimeError):
    """The device could not do its work."""


class BlockingError(BackendError):
    """Python cannot wait at this point; the awaitable twin of the call can."""


class DeviceLostError(BackendError):
    """The GPU device is gone and its tensors with it; the next run gets a new one."""


class DeviceMemoryError(BackendError, MemoryError):
    """An allocation failed or exceeds the device's limit."""


class ShaderError(BackendError):
    """The device's compiler refused a kernel."""
