"""Take one number: Python's, NumPy's, or a tensor or array of no axes."""

from __future__ import annotations

import operator
from typing import TypeAlias

from tensorweb.errors import DTypeError, ShapeError
from tensorweb.evaluate import read
from tensorweb.hostdata import unpack
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import as_node, is_number, number_of_scalar

NumberLike: TypeAlias = object
"""A number of Python's or NumPy's, or a 0-d tensor or array, which is read."""


def as_number(value: NumberLike, what: str) -> float:
    """Return one number as Python's; `what` names it in errors.

    Raises:
        ShapeError: a tensor or array has axes.
        DTypeError: it is no number, or a complex one.

    >>> as_number(tw.asarray([1, 5]).max(), "stop")
    5
    """
    number = as_complex_number(value, what)
    if type(number) is complex:
        raise DTypeError(f"{what} is the complex number {number!r}; give a real one.")
    return number.real


def as_complex_number(value: NumberLike, what: str) -> complex:
    """Return one number as Python's, of any kind; `what` names it in errors.

    Raises:
        ShapeError: a tensor or array has axes.
        DTypeError: it is no number.
    """
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, TensorBase) or hasattr(value, "__array__"):
        return _of_array(value, what)
    number: object = number_of_scalar(value) if is_number(value) else value
    if isinstance(number, int | float | complex):
        return number_of_scalar(number)
    if not isinstance(number, str | bytes | bytearray):
        if hasattr(number, "__index__"):
            return operator.index(number)
        if hasattr(number, "__float__"):
            return float(number)
    shown = repr(number)
    raise DTypeError(
        f"{what} is {shown if len(shown) <= 40 else shown[:37] + '...'} of type "
        f"{type(number).__name__}; give a number, or a 0-d tensor or array."
    )


def _of_array(value: object, what: str) -> complex:
    if is_number(value):
        return number_of_scalar(value)
    node = as_node(value, device=None if isinstance(value, TensorBase) else "cpu")
    if node.shape:
        raise ShapeError(
            f"{what} has shape {node.shape}; give a number, or a 0-d tensor or array."
        )
    number = unpack(read([node])[0], node.dtype, ())
    assert isinstance(number, int | float | complex), "internal: 0-d is a number"
    return number
