"""Questions about dtypes and conversion between them."""

from __future__ import annotations

import builtins

from tensorweb.dtypes import (
    CATEGORIES,
    DType,
    as_dtype,
    dtype_of,
    promote,
    python_scalar_dtype,
)
from tensorweb.errors import DTypeError
from tensorweb.functions.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, DTypeLike, is_scalar

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


declare_public(__name__)
