"""Options that NumPy's functions pass to methods of tensors (`out=`, `order=`).

`np.sum(x)` calls `x.sum(axis=None, out=None)`, `np.take(x, i)` passes `mode="raise"`:
options without effect are accepted, others are refused with a way to do it here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.tensor.base import TensorBase

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

ROW_MAJOR = ("C", "K", "A", None)
"""Orders of memory that row-major tensors keep to."""

T = TypeVar("T", bound=TensorBase)


def into(result: T, out: object, casting: str = "same_kind") -> T:
    """Return a result, written into `out` where one is given, alone or in a tuple.

    What it may be converted to there is a rule of NumPy's; unsafe allows everything.

    Raises:
        DataError: `out` is no tensor.
        ShapeError: the shapes differ.
        DTypeError: `out` cannot hold the result's dtype.
    """
    if out is None or out is Ellipsis:
        return result
    target = out[0] if type(out) is tuple and len(out) == 1 else out
    if not isinstance(target, type(result)):
        raise DataError(
            f"out={type(target).__name__}: results can be written into tensors only; "
            "make one with np.empty(shape)."
        )
    if target.node.shape != result.node.shape:
        raise ShapeError(
            f"out has shape {target.node.shape}, the result {result.node.shape}; give "
            "a tensor of that shape."
        )
    if casting != "same_kind":
        check_casting("out=", result.node.dtype, target.node.dtype, casting)
        result = result.astype(target.node.dtype)  # type: ignore[attr-defined]  # too
    target[...] = result  # type: ignore[index]  # every tensor has it
    return target


def numpys(name: str) -> Callable[..., Tensor]:
    """Return a function of `tensorweb.numpy` that returns a tensor."""
    return getattr(import_module("tensorweb.numpy"), name)  # type: ignore[no-any-return]  # a function by its name


def check_casting(name: str, start: DType, end: DType, casting: str) -> None:
    """Raise unless values of a dtype may become another one by a rule.

    Raises:
        DTypeError: the rule does not allow it.
        DataError: there is no such rule.
    """
    if not import_module("tensorweb.numpy").can_cast(start, end, casting):
        raise DTypeError(
            f"{name}: {start} does not become {end} by the rule casting={casting!r}; "
            'convert with astype, or say casting="unsafe".'
        )


def check_default(name: str, argument: str, value: object, usual: object) -> None:
    """Raise when an argument that is NumPy's alone is not what it always is here."""
    if value is not None and value != usual:
        raise DataError(
            f"{name}: {argument}={value!r} is not possible here, only {usual!r}; leave "
            f"{argument} out."
        )
