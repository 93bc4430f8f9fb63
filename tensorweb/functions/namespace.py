"""What the Array API asks of a namespace: its constants and what it can do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensorweb import devices, dtypes
from tensorweb.devices import DEVICES, as_device, backend
from tensorweb.dtypes import DType
from tensorweb.errors import BlockingError, DeviceError
from tensorweb.functions.data_types import isdtype
from tensorweb.public_names import declare_public

e = math.e
inf = math.inf
nan = math.nan
pi = math.pi
newaxis = None

ARRAY_API_VERSION = "2025.12"


@dataclass(frozen=True, slots=True)
class ArrayNamespaceInfo:
    """Answers of `__array_namespace_info__`."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Return what is possible here."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def default_device(self) -> str:
        """Return the device of new tensors."""
        return devices.default_device()

    def devices(self) -> tuple[str, ...]:
        """Return the devices that can be had here, by name."""
        return tuple(name for name in DEVICES if _is_available(name))

    def default_dtypes(self, *, device: object = None) -> dict[str, DType]:
        """Return the dtypes that results take when nothing says otherwise."""
        as_device(device)
        return {
            "real floating": dtypes.DEFAULT_FLOAT,
            "complex floating": dtypes.DEFAULT_COMPLEX,
            "integral": dtypes.DEFAULT_INT,
            "indexing": dtypes.DEFAULT_INT,
        }

    def dtypes(self, *, device: object = None, kind: object = None) -> dict[str, DType]:
        """Return the standard's dtypes that a device stores, all or those of a kind.

        float16 is none of them: some GPUs have it, and `asarray` and `astype` take it.
        """
        name = as_device(device)
        return {
            dtype.name: dtype
            for dtype in dtypes.BY_NAME.values()
            if devices.stores(dtype, name)
            and dtype is not dtypes.float16
            and (kind is None or isdtype(dtype, kind))
        }


def _is_available(device: str) -> bool:
    """Whether a device can be had here; opens it to find out."""
    try:
        backend(device)
    except (DeviceError, BlockingError):
        return False
    return True


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Return what this namespace can do; see the Array API's inspection functions.

    >>> tw.__array_namespace_info__().default_dtypes()["integral"]
    tensorweb.int32
    """
    return ArrayNamespaceInfo()


declare_public(__name__, "__array_namespace_info__", "e", "inf", "nan", "newaxis", "pi")
