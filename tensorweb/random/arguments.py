"""Validation of the samplers' arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.dtypes import DType, as_dtype
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import asarray, broadcast_to
from tensorweb.shapes import Shape, is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.hostarrays import is_numpy_scalar

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_whole(value: object) -> TypeIs[SupportsIndex]:
    """Whether a value is a Python or NumPy integer; tensors are not."""
    return isinstance(value, int) or (is_numpy_scalar(value) and is_integer(value))


def parameter(
    name: str, what: str, value: ArrayLike, shape: Shape, like: Tensor
) -> Tensor:
    """Return a distribution parameter in the dtype of `like`.

    Raises:
        ShapeError: it does not broadcast to the shape.
        DTypeError: it is no integer, and `like` is.
    """
    given = asarray(value, device=None if isinstance(value, Tensor) else like.device)
    if like.dtype.kind != "float" and given.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: {what} is of {given.dtype}; give integers.")
    try:
        broadcast_to(given, shape)
    except ShapeError:
        raise ShapeError(
            f"{name}: {what} has shape {given.shape}, which does not broadcast to the "
            f"result's {shape}; give a shape that holds it."
        ) from None
    return given.astype(like.dtype)


def float_dtype(name: str, dtype: DTypeLike) -> DType:
    """Return a floating-point dtype.

    Raises:
        DTypeError: it is another kind of dtype.
    """
    wanted = as_dtype(dtype)
    if wanted.kind != "float":
        raise DTypeError(f"{name}: {wanted} is no float dtype; give float32.")
    return wanted


def plain_number(what: str, value: ArrayLike) -> float:
    """Return a Python number as a float that is not NaN."""
    if isinstance(value, complex):
        raise DTypeError(f"{what} is the complex number {value!r}; give a real one.")
    assert isinstance(value, SupportsIndex | float), "internal: a Python number"
    number = float(value)
    if math.isnan(number):
        raise DataError(f"{what} is NaN.")
    return number


def finite_number(what: str, value: ArrayLike) -> float:
    """Return a Python number as a finite float."""
    number = plain_number(what, value)
    if math.isinf(number):
        raise DataError(f"{what} is {number}; give a finite number.")
    return number
