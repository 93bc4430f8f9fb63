"""Special functions as entries: operands as floats, a formula, its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tensorweb.dtypes import DEFAULT_FLOAT, finfo
from tensorweb.errors import DTypeError
from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    asarray,
    astype,
    broadcast_arrays,
    log,
    minimum,
    result_type,
    where,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, host_operand
from tensorweb.transforms.custom import custom_vjp

Parts = Callable[..., Sequence[Tensor]]
"""The partial derivatives, from the result and the operands."""


def as_floats(name: str, *operands: ArrayLike) -> list[Tensor]:
    """Return operands as floats of one dtype and shape, on one device.

    Raises:
        DTypeError: the elements are complex.
        ShapeError: the shapes do not broadcast.
    """
    like = next((x for x in operands if isinstance(x, Tensor)), None)
    node = None if like is None else like.node
    tensors = [
        x
        if isinstance(x, Tensor)
        else asarray(x)
        if node is None
        else Tensor(host_operand(x, node.device, node.dtype))
        for x in operands
    ]
    dtype = result_type(*tensors)
    if dtype.kind == "complex":
        raise DTypeError(f"{name}: {dtype} elements; it takes real numbers.")
    wide = dtype if dtype.kind == "float" else DEFAULT_FLOAT
    return list(broadcast_arrays(*[astype(x, wide) for x in tensors]))


def with_derivative(
    parts: Parts,
) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Return a decorator that gives a function of float tensors its derivatives."""

    def decorate(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def forward(*x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
            return function(*x), x

        def backward(x: tuple[Tensor, ...], cotangent: Tensor) -> list[Tensor]:
            # Of the wrapped function, so that second derivatives use its rule as well.
            return [cotangent * part for part in parts(wrapped(*x), *x)]

        wrapped: Callable[..., Tensor] = custom_vjp(function, forward, backward)
        return wraps(function)(wrapped)

    return decorate


def _entry(parts: Parts | None) -> Callable[[Callable[..., Tensor]], Any]:
    def decorate(formula: Callable[..., Tensor]) -> Callable[..., Tensor]:
        core = formula if parts is None else with_derivative(parts)(formula)

        @wraps(formula)
        def function(*operands: ArrayLike) -> Tensor:
            x = as_floats(formula.__name__, *operands)
            if x[0].dtype.bits == 16:  # Coefficients and powers need more digits.
                y = core(*[each.astype("float32") for each in x])
                return y.astype(x[0].dtype)
            return core(*x)

        function.__annotations__ = {
            name: "ArrayLike" if name != "return" else kind
            for name, kind in formula.__annotations__.items()
        }
        return function

    return decorate


def unary(
    parts: Parts | None = None,
) -> Callable[[Callable[[Tensor], Tensor]], Callable[[ArrayLike], Tensor]]:
    """Return a decorator that makes a function of anything of a formula of floats."""
    return _entry(parts)


def binary(
    parts: Parts | None = None,
) -> Callable[
    [Callable[[Tensor, Tensor], Tensor]], Callable[[ArrayLike, ArrayLike], Tensor]
]:
    """Return the decorator of formulas of two operands."""
    return _entry(parts)


def ternary(
    parts: Parts | None = None,
) -> Callable[
    [Callable[[Tensor, Tensor, Tensor], Tensor]],
    Callable[[ArrayLike, ArrayLike, ArrayLike], Tensor],
]:
    """Return the decorator of formulas of three operands."""
    return _entry(parts)


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Return a polynomial by Horner's rule, coefficients from the constant on."""
    total = x * coefficients[-1] + coefficients[-2]
    for coefficient in reversed(coefficients[:-2]):
        total = total * x + coefficient
    return total


def log_less(u: Tensor, ratio: Tensor) -> Tensor:
    """Return log(ratio) - u without cancellation, where the ratio is 1 + u."""
    is_near = absolute(u) < 0.6
    near = where(is_near, u, 0.0)
    # With r = u / (2 + u): log(1 + u) = 2 atanh(r) and 2 r - u = -r u.
    r = near / (2 + near)
    square = r * r
    series = polynomial(square, [1 / (2 * k + 3) for k in range(19)])
    ratio = minimum(where(is_near, 1.0, ratio), finfo(u.dtype).max)  # no inf - inf
    far = log(ratio) - where(is_near, 0.0, u)
    return where(is_near, r * (2 * square * series - near), far)


@with_derivative(lambda y, u: (-u / (1 + u),))
def log1p_less(u: Tensor) -> Tensor:
    """Return log(1 + u) - u without cancellation near 0."""
    return log_less(u, 1 + u)
