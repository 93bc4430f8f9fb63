"""What each elementwise operation must give, by name and apart from the op table.

A name means NumPy's function of that name, else that of Python's `math`, in float64; an
entry stands where name or meaning differs. `cpu` runs the entries of the op table and
`webgpu` their WGSL: both are compared with this, so that a wrong entry is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorweb.dtypes import ALL, DType, bfloat16

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

NUMPYS = tuple(dtype for dtype in ALL if dtype is not bfloat16)
"""The dtypes that NumPy has; `tests/tensor/test_bfloat16.py` is about the other one."""


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


ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)


def threefry2x32(
    key: tuple[Array, Array], counter: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the block of a counter after 20 rounds, all words as uint64.

    Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
    """
    modulus = np.uint64(2**32)
    schedule = (*key, key[0] ^ key[1] ^ np.uint64(0x1BD11BDA))
    a, b = ((c + k) % modulus for c, k in zip(counter, key, strict=True))
    for number in range(20):
        a = (a + b) % modulus
        power = np.uint64(2 ** ROTATIONS[number % 8])
        b = (b * power % modulus + b * power // modulus) ^ a
        if number % 4 == 3:
            group = number // 4 + 1
            a = (a + schedule[group % 3]) % modulus
            b = (b + schedule[(group + 1) % 3] + np.uint64(group)) % modulus
    return a, b


def threefry_first(high: Array, low: Array, counter: Array) -> Array:
    """Return the first word of the block (0, counter)."""
    wide = [x.astype(np.uint64) for x in (high, low, counter)]
    block = threefry2x32((wide[0], wide[1]), (np.zeros_like(wide[2]), wide[2]))
    return block[0].astype(np.uint32)


def threefry(high: Array, low: Array, counter: Array) -> Array:
    """Return the exclusive or of both words of the block (0, counter)."""
    wide = [x.astype(np.uint64) for x in (high, low, counter)]
    first, second = threefry2x32((wide[0], wide[1]), (np.zeros_like(wide[2]), wide[2]))
    return (first ^ second).astype(np.uint32)


_ERF, _ERFC = (np.vectorize(f, otypes=[np.float64]) for f in (math.erf, math.erfc))


def inverse_error(x: Array) -> Array:
    """Return where `erf` is x, by Newton's steps from a guess that is off by 1 %.

    Beyond a half they compare `erfc` with 1 - |x|, which is exact there.
    """
    size = np.abs(x.astype(np.float64))
    result = np.where(size == 1, np.inf, np.where(size < 1, size, np.nan))
    inside = (size > 1e-9) & (size < 1)
    a = size[inside]
    log = np.log1p(-a * a)
    middle = 2 / (math.pi * 0.147) + log / 2
    y = np.sqrt(np.sqrt(middle**2 - log / 0.147) - middle)
    is_far = a > 0.5
    for _ in range(4):
        excess = np.empty_like(y)
        excess[is_far] = (1 - a[is_far]) - _ERFC(y[is_far])
        excess[~is_far] = _ERF(y[~is_far]) - a[~is_far]
        step = excess * (math.sqrt(math.pi) / 2) * np.exp(y * y)
        y = y - step / (1 + y * step)
    result[inside] = y
    tiny = size <= 1e-9
    result[tiny] = size[tiny] * (math.sqrt(math.pi) / 2)
    return np.copysign(result, x)


def floor_of_quotient(x: Array, y: Array) -> Array:
    """Return what the Array API prefers with an infinity: floor(x / y)."""
    down = np.floor_divide(x, y)
    if down.dtype.kind != "f":
        return down
    return np.where(np.isinf(x) | np.isinf(y), np.floor(np.divide(x, y)), down)


FUNCTIONS: dict[str, Function] = {
    "pow": _power,
    "floor_divide": floor_of_quotient,
    "reciprocal": lambda x: np.divide(1.0, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(0.0 - x)),
    "erfinv": inverse_error,
    "relu": lambda x: np.maximum(x, 0.0),
    "threefry": threefry,
    "threefry_first": threefry_first,
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
    **dict.fromkeys(("threefry", "threefry_first"), ("uint32",)),
}
"""The kinds of dtypes, or the dtypes, of operations that do not take all."""

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
    taken = TAKES.get(name, ("bool", "int", "uint", "float"))
    return dtype.kind in taken or dtype.name in taken


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
