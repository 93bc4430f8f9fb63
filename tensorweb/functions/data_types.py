"""Dtypes and conversion between them, and what the Array API asks of a namespace."""

from __future__ import annotations

import builtins
import math
from dataclasses import dataclass

from tensorweb import devices, dtypes
from tensorweb.devices import DEVICES, as_device, backend
from tensorweb.dtypes import (
    CATEGORIES,
    DType,
    as_dtype,
    dtype_of,
    promote,
    python_scalar_dtype,
)
from tensorweb.errors import BlockingError, DeviceError, DTypeError
from tensorweb.functions.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, DTypeLike, is_scalar

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

        float16, which only some GPUs have, and bfloat16 are none of them; `asarray` and
        `astype` take both.
        """
        name = as_device(device)
        return {
            dtype.name: dtype
            for dtype in dtypes.BY_NAME.values()
            if devices.stores(dtype, name)
            and dtype.wide is dtype
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


_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": (*CATEGORIES["numeric"], "complex"),
}


def astype(
    x: ArrayLike,
    dtype: DTypeLike,
    /,
    *,
    copy: builtins.bool = True,
    device: object = None,
) -> Tensor:
    """Return the values in another dtype, on another device if one is given.

    Floats become integers by truncation. Tensors are immutable, so `copy` only decides
    whether storage may be shared.

    Raises:
        DTypeError: the dtype is unknown or the device cannot store it.

    >>> tw.astype([1.7, -1.7], tw.int32)
    tensor([ 1, -1])
    """
    return asarray(x).astype(dtype, copy=copy, device=device)


def can_cast(from_: object, to: DTypeLike, /) -> builtins.bool:
    """Return whether promotion alone leads from a dtype or tensor to a dtype.

    >>> tw.can_cast(tw.int32, tw.float32), tw.can_cast(tw.float32, tw.int32)
    (True, False)
    """
    start = from_.node.dtype if isinstance(from_, TensorBase) else as_dtype(from_)
    end = as_dtype(to)
    try:
        return promote(start, end) is end
    except DTypeError:
        return False


def result_type(*arrays_and_dtypes: object) -> DType:
    """Return the dtype that operands are promoted to; Python numbers adopt a dtype.

    Raises:
        DTypeError: nothing but Python numbers is given, or no dtype holds all.

    >>> tw.result_type(tw.int32, tw.float32, 2)
    tensorweb.float32
    """
    common: DType | None = None
    scalars = []
    for value in arrays_and_dtypes:
        if is_scalar(value):
            scalars.append(value)
            continue
        dtype = _dtype_of(value)
        common = dtype if common is None else promote(common, dtype)
    if common is None:
        raise DTypeError("result_type: give at least one tensor or dtype.")
    for scalar in scalars:
        other = python_scalar_dtype(scalar, common)  # type: ignore[arg-type]  # a number, as checked
        common = promote(common, other)
    return common


def _dtype_of(value: object) -> DType:
    if isinstance(value, TensorBase):
        return value.node.dtype
    if isinstance(value, list | tuple):
        return asarray(value, device="cpu").dtype
    return dtype_of(value)


def isdtype(dtype: DTypeLike, kind: object) -> builtins.bool:
    """Return whether a dtype is of a kind: a dtype, a name, or a tuple of them.

    Names are `bool`, `signed integer`, `unsigned integer`, `integral`,
    `real floating`, `complex floating` and `numeric`.

    Raises:
        DTypeError: a kind has no such name.

    >>> tw.isdtype(tw.float32, "real floating")
    True
    >>> tw.isdtype(tw.int32, ("bool", "integral"))
    True
    """
    tested = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(tested, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return tested.kind in _KINDS[kind]
    if isinstance(kind, str):
        raise DTypeError(f"isdtype: kind {kind!r}; kinds are {', '.join(_KINDS)}.")
    return tested is as_dtype(kind)


declare_public(
    __name__,
    "__array_namespace_info__",
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    hidden="ArrayNamespaceInfo",
)
