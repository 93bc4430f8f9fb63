"""Validation of the samplers' arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsIndex, cast

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
    name: str, option: str, value: ArrayLike, shape: Shape, like: Tensor
) -> Tensor:
    """Return a distribution parameter in the dtype of `like`.

    Raises:
        ShapeError: it does not broadcast to the shape.
        DTypeError: it is no integer, and `like` is.
    """
    tensor = asarray(value, device=None if isinstance(value, Tensor) else like.device)
    if like.dtype.kind != "float" and tensor.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: {option} is of {tensor.dtype}; give integers.")
    try:
        broadcast_to(tensor, shape)
    except ShapeError:
        raise ShapeError(
            f"{name}: {option} has shape {tensor.shape}, which does not broadcast to "
            f"the result's {shape}; give a shape that holds it."
        ) from None
    return tensor.astype(like.dtype)


def float_dtype(name: str, dtype: DTypeLike) -> DType:
    """Return a floating-point dtype.

    Raises:
        DTypeError: it is another kind of dtype.
    """
    result_dtype = as_dtype(dtype)
    if result_dtype.kind != "float":
        raise DTypeError(f"{name}: {result_dtype} is no float dtype; give float32.")
    return result_dtype


def plain_number(option: str, value: ArrayLike) -> float:
    """Return a Python number as a float that is not NaN."""
    if isinstance(value, complex):
        raise DTypeError(f"{option} is the complex number {value!r}; give a real one.")
    number = float(cast(float, value))
    if math.isnan(number):
        raise DataError(f"{option} is NaN.")
    return number


def finite_number(option: str, value: ArrayLike) -> float:
    """Return a Python number as a finite float."""
    number = plain_number(option, value)
    if math.isinf(number):
        raise DataError(f"{option} is {number}; give a finite number.")
    return number
