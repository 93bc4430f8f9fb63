"""`check_grads`: compare derivatives with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorweb import dtypes, tree
from tensorweb.dtypes import DType, finfo
from tensorweb.errors import TransformError
from tensorweb.functions import arange, sin
from tensorweb.tensor import Tensor
from tensorweb.transforms.gradients import jvp, vjp
from tensorweb.transforms.inputs import is_float

STEPS = {"float64": 1e-5, "float32": 1e-2, "float16": 1e-1, "bfloat16": 1.0}
"""Step of the central difference, by dtype."""

TOLERANCES = {"float64": 1e-6, "float32": 2e-2, "float16": 2e-1, "bfloat16": 2e-1}
"""Allowed difference of both results, relative to the magnitude of the summed terms."""


def check_grads(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("fwd", "rev"),
) -> None:
    """Compare a function's derivatives with central differences of its values.

    One directional derivative is compared: in forward mode by `jvp`, in reverse mode by
    `vjp`. Second derivatives are the first derivatives of the gradient.

    Args:
        function: takes the arguments and returns a tree with floating-point tensors.
        arguments: floating-point tensors or trees of them; float64 on `cpu` is most
            exact.
        order: the highest order of derivatives that is checked.
        modes: `fwd`, `rev` or both.

    Raises:
        TransformError: the results differ; the message has both.

    >>> check_grads(lambda x: x.exp().sum(), [tw.asarray([0.1, 0.2])])
    """
    result = function(*arguments)
    tangents = [_direction(argument, 1) for argument in arguments]
    cotangent = _direction(result, 2)
    dtype = _narrowest([arguments, result])
    step = STEPS[dtype.name]
    ahead = function(*[_moved(a, t, step) for a, t in _pairs(arguments, tangents)])
    behind = function(*[_moved(a, t, -step) for a, t in _pairs(arguments, tangents)])
    expected = (_inner(cotangent, ahead) - _inner(cotangent, behind)) / (2 * step)
    scale = _size(cotangent, ahead) + _size(cotangent, behind) + abs(expected)
    rounding = min(1e-7, 10 * finfo(dtype).eps / step)
    allowed = TOLERANCES[dtype.name] * (1 + abs(expected)) + rounding * scale
    if "fwd" in modes:
        _, tangent = jvp(function, arguments, tangents)
        _compare("jvp", _inner(cotangent, tangent), expected, allowed, order)
    if "rev" in modes:
        _, pullback = vjp(function, *arguments)
        gradients = pullback(cotangent)
        _compare("vjp", _inner(gradients, tuple(tangents)), expected, allowed, order)
    if order > 1:

        def gradient(*points: Any) -> Any:
            return vjp(function, *points)[1](cotangent)

        check_grads(gradient, arguments, order - 1, modes)


def _pairs(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(a, b, strict=True))


def _floats(value: Any) -> list[Tensor]:
    """Return the floating-point tensors of a tree."""
    return [leaf for leaf in tree.leaves(value) if is_float(leaf)]


def _narrowest(value: Any) -> DType:
    results = [leaf.dtype.part for leaf in _floats(value)]
    return min(results, key=lambda dtype: dtype.bits, default=dtypes.DEFAULT_FLOAT)


def _direction(value: Any, seed: int) -> Any:
    """Return a tree of the same structure with values between -1 and 1."""

    def leaf(x: Any) -> Any:
        if not is_float(x):
            return x
        node = x.node
        count = arange(node.size, dtype=dtypes.float32, device=node.device)
        numbers = sin(count * (1.37 + seed) + seed)
        if x.dtype.kind == "complex":
            numbers = numbers + 1j * sin(count * (2.11 + seed) + 2 * seed)
        return numbers.astype(node.dtype).reshape(node.shape)

    return tree.map(leaf, value)


def _moved(value: Any, tangent: Any, step: float) -> Any:
    def leaf(x: Any, t: Any) -> Any:
        return x + t * step if is_float(x) else x

    return tree.map(leaf, value, tangent)


def _inner(a: Any, b: Any) -> float:
    """Return the inner product of two trees."""
    pairs = zip(_floats(a), _floats(b), strict=True)
    return float(sum(_products(x, y).sum().item() for x, y in pairs))


def _products(x: Tensor, y: Tensor) -> Tensor:
    """Return elementwise products; of complex numbers the real part of `x conj(y)`."""
    return (x * y.conj()).real


def _size(a: Any, b: Any) -> float:
    """Return the sum of the absolute values of the products."""
    pairs = zip(_floats(a), _floats(b), strict=True)
    return float(sum(_products(x, y).abs().sum().item() for x, y in pairs))


def _compare(
    name: str, actual: float, expected: float, allowed: float, order: int
) -> None:
    if abs(actual - expected) <= allowed:
        return
    raise TransformError(
        f"check_grads: {name} gives {actual:.9g} along a direction, differences of the "
        f"values {expected:.9g} ({order} orders to go); they may differ by "
        f"{allowed:.2g}."
    )
