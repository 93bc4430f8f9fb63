"""What each elementwise operation must give, by name and apart from the op table.

A name means NumPy's function of that name, else that of Python's `math`, in float64; an
entry stands where name or meaning differs. `cpu` runs the rows of the op table and
`webgpu` their WGSL: both are compared with this, so that a wrong row is seen on both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorweb.dtypes import DType

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def integer_power(base: Array, exponent: Array) -> Array:
    """Return powers modulo 2^bits; negative ones cut towards zero, 0 for base 0."""
    modulus = 2 ** (base.dtype.itemsize * 8)
    low = int(np.iinfo(base.dtype).min)
    powers = []
    both = np.broadcast_arrays(base, exponent)
    for b, e in zip(*(array.ravel().tolist() for array in both), strict=True):
        if e >= 0:
            powers.append((pow(b, e, modulus) - low) % modulus + low)
        else:
            powers.append(b ** (e % 2) if b in (1, -1) else 0)
    return np.array(powers, base.dtype).reshape(both[0].shape)


def _power(base: Array, exponent: Array) -> Any:
    if base.dtype.kind in "iu":
        return integer_power(base, exponent)
    return np.power(base, exponent)


def _of_floats(function: Function) -> Function:
    """Return a function that leaves integers as they are."""
    return lambda x: function(x) if x.dtype.kind == "f" else x


FUNCTIONS: dict[str, Function] = {
    "pow": _power,
    "reciprocal": lambda x: np.divide(1.0, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(0.0 - x)),
    **{
        name: _of_floats(getattr(np, name))
        for name in ("floor", "ceil", "trunc", "round")
    },
}
"""Where NumPy and `math` lack the name or mean something else by it."""

NUMERIC = ("int", "uint", "float")
BITS = ("bool", "int", "uint")

TAKES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("subtract", "floor_divide", "remainder", "pow"), NUMERIC),
    **dict.fromkeys(("negative", "positive", "abs", "sign", "square"), NUMERIC),
    **dict.fromkeys(("floor", "ceil", "trunc", "round"), NUMERIC),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), BITS),
    "bitwise_invert": BITS,
    "bitwise_left_shift": ("int", "uint"),
    "bitwise_right_shift": ("int", "uint"),
    "signbit": ("float",),
}
"""The kinds of dtypes of operations that do not take all."""

IN_ITS_DTYPE = frozenset({"nextafter"})
"""Operations that mean something else in float64."""


def function(name: str) -> Function:
    """Return what computes an operation with NumPy.

    Raises:
        LookupError: nobody knows the name, so that it needs an entry.
    """
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if hasattr(np, name):
        found: Function = getattr(np, name)
        return found
    if hasattr(math, name):
        return np.vectorize(getattr(math, name), otypes=[np.float64])
    raise LookupError(
        f"neither NumPy nor math has {name!r}; say in FUNCTIONS of tests/oracles.py "
        "what it must give"
    )


def takes(name: str, dtype: DType) -> bool:
    """Whether an operation takes operands of a dtype."""
    return dtype.kind in TAKES.get(name, ("bool", "int", "uint", "float"))


def exact(name: str, inputs: Sequence[Array]) -> Array:
    """Return the result of operands of one dtype: floats by float64, others exactly.

    Where NumPy makes floats of integers, they become float32 first, as on the devices.
    """
    kept = inputs[0].dtype
    if kept.kind != "f" and _kind(name, kept, len(inputs)) == "f":
        inputs = [array.astype(np.float32) for array in inputs]
    if inputs[0].dtype.kind == "f" and name not in IN_ITS_DTYPE:
        inputs = [array.astype(np.float64) for array in inputs]
    with np.errstate(all="ignore"):
        return np.asarray(function(name)(*inputs))


def result_dtype(name: str, dtype: DType, arity: int) -> str:
    """Return the name of the dtype that an operation on a dtype gives.

    The kind is that of NumPy's result; integers give float32 where NumPy gives a float.
    """
    kind = _kind(name, np.dtype(dtype.name), arity)
    if kind == "b":
        return "bool"
    return "float32" if kind == "f" and dtype.kind != "float" else dtype.name


def _kind(name: str, dtype: np.dtype[Any], arity: int) -> str:
    """Return NumPy's letter for the kind of an operation's result."""
    with np.errstate(all="ignore"):
        result = function(name)(*[np.ones(1, dtype)] * arity)
    return str(np.asarray(result).dtype.kind)
