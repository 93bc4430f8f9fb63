"""The numbers and vectors of WGSL in Python: functions, conversions, rounding."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable
from typing import Any

from tensorweb.codegen.wgsl import VECTORS, array_parts
from tensorweb.codegen.wgsl_program import FUNCTIONS

Value = Any
"""A number, a bool, a tuple for a vector, a list for an array."""

FORMATS = {"f32": "f", "i32": "i", "u32": "I", "f16": "e"}

_WORD = 0xFFFFFFFF
_single = array("f", [0.0])


def _f32(x: float) -> float:
    _single[0] = x
    return _single[0]


def _f16(x: float) -> float:
    try:
        (found,) = struct.unpack("e", struct.pack("e", x))
    except OverflowError:
        return math.copysign(math.inf, x)
    return float(found)


def _i32(x: int) -> int:
    return ((x + 0x80000000) & _WORD) - 0x80000000


def _u32(x: int) -> int:
    return x & _WORD


ROUND: dict[str, Callable[[Any], Any]] = {
    "f32": _f32,
    "f16": _f16,
    "i32": _i32,
    "u32": _u32,
}


def divide(a: float, b: float) -> float:
    """Return a quotient of floats, also by zero."""
    if b:
        return a / b
    if a != a or not a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def quotient(a: int, b: int) -> int:
    """Return an integer quotient; that of a division by zero is the dividend."""
    if not b:
        return a
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def rest(a: int, b: int) -> int:
    """Return the remainder of integers; 0 by zero."""
    return a - b * quotient(a, b) if b else 0


def float_rest(a: float, b: float) -> float:
    """Return the remainder of floats, of the dividend's sign."""
    return math.fmod(a, b) if b and math.isfinite(a) else math.nan


def _safe(f: Callable[..., float]) -> Callable[..., float]:
    """Return a function of C that gives NaN or infinity where Python's raises."""

    def call(*x: float) -> float:
        try:
            return f(*x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return call


def _logarithm(f: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: -math.inf if x == 0 else _safe(f)(x)


def _power(x: float, y: float) -> float:
    return math.inf if x == 0 and y < 0 else _safe(math.pow)(x, y)


def _integral(f: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: float(f(x)) if math.isfinite(x) else x


def _smoothstep(low: float, high: float, x: float) -> float:
    t = min(max(divide(x - low, high - low), 0.0), 1.0)
    return t * t * (3 - 2 * t)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": _integral(math.ceil),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "countLeadingZeros": lambda x: 32 - (x & _WORD).bit_length(),
    "countOneBits": lambda x: (x & _WORD).bit_count(),
    "countTrailingZeros": lambda x: ((x & -x) - 1).bit_length() if x else 32,
    "exp2": _safe(lambda x: 2.0**x),
    "floor": _integral(math.floor),
    "fma": lambda a, b, c: a * b + c,
    "fract": lambda x: x - math.floor(x) if math.isfinite(x) else math.nan,
    "inverseSqrt": lambda x: divide(1.0, _safe(math.sqrt)(x)),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "max": max,
    "min": min,
    "mix": lambda a, b, t: a * (1 - t) + b * t,
    "pow": _power,
    "reverseBits": lambda x: int(f"{x & _WORD:032b}"[::-1], 2),
    "round": _integral(round),
    "saturate": lambda x: min(max(x, 0.0), 1.0),
    "sign": lambda x: (x > 0) - (x < 0),
    "smoothstep": _smoothstep,
    "step": lambda edge, x: float(edge <= x),
    "trunc": _integral(math.trunc),
}
ELEMENTWISE |= {
    name: _safe(getattr(math, name)) for name in FUNCTIONS if name not in ELEMENTWISE
}
"""Functions of WGSL on numbers, before their result is rounded."""


def each(f: Callable[..., Value], *operands: Value) -> Value:
    """Return a function's results on the elements of vectors; numbers are repeated."""
    width = next(len(each) for each in operands if isinstance(each, tuple))
    wide = (x if isinstance(x, tuple) else (x,) * width for x in operands)
    return tuple(f(*each) for each in zip(*wide, strict=True))


def _dot(a: Value, b: Value) -> Value:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _length(a: Value) -> float:
    return math.hypot(*a) if isinstance(a, tuple) else abs(a)


def _normalize(a: Value) -> Value:
    length = _length(a)
    return tuple(divide(x, length) for x in a)


def _cross(a: Value, b: Value) -> Value:
    pairs = ((1, 2), (2, 0), (0, 1))
    return tuple(a[i] * b[j] - a[j] * b[i] for i, j in pairs)


WHOLE: dict[str, Callable[..., Value]] = {
    "all": lambda a: all(a) if isinstance(a, tuple) else a,
    "any": lambda a: any(a) if isinstance(a, tuple) else a,
    "cross": _cross,
    "distance": lambda a, b: _length(
        each(lambda x, y: x - y, a, b) if isinstance(a, tuple) else a - b
    ),
    "dot": _dot,
    "length": _length,
    "normalize": _normalize,
}
ATOMIC: dict[str, Callable[[Any, Any], Any]] = {
    "atomicAdd": lambda a, b: a + b,
    "atomicAnd": lambda a, b: a & b,
    "atomicExchange": lambda a, b: b,
    "atomicMax": max,
    "atomicMin": min,
    "atomicOr": lambda a, b: a | b,
    "atomicStore": lambda a, b: b,
    "atomicSub": lambda a, b: a - b,
    "atomicXor": lambda a, b: a ^ b,
}
"""What atomic functions leave in memory."""


def _integer(kind: str) -> Callable[[float], int]:
    # The largest floats that have an integer, as WGSL has it.
    low, high = (-0x80000000, 0x7FFFFF80) if kind == "i32" else (0, 0xFFFFFF00)
    return lambda x: 0 if x != x else int(min(max(x, low), high))


def convert(source: str, target: str) -> Callable[[Any], Value]:
    """Return the conversion of numbers of a type to another."""
    if target == "bool":
        return bool
    if source[0] == "f" and target in ("i32", "u32"):
        return _integer(target)
    return ROUND[target] if target[0] == "f" else lambda x: ROUND[target](int(x))


def bitcast(source: str, target: str) -> Callable[[Any], Value]:
    """Return the change of a type that leaves the bits."""

    def cast(x: Value) -> Value:
        return struct.unpack(FORMATS[target], struct.pack(FORMATS[source], x))[0]

    return cast


def vector(width: int, *parts: Value) -> Value:
    """Return a vector of numbers and shorter vectors."""
    flat = [x for each in parts for x in (each if isinstance(each, tuple) else (each,))]
    return tuple(flat * width if len(flat) == 1 else flat)


def replaced(vector: Value, at: int, value: Value) -> Value:
    """Return a vector with one new element, if it has this one."""
    if not 0 <= at < len(vector):
        return vector
    return (*vector[:at], value, *vector[at + 1 :])


def copied(value: Value) -> Value:
    """Return a value that no assignment to another variable changes."""
    return [copied(each) for each in value] if isinstance(value, list) else value


def zero(kind: str) -> Value:
    """Return the value of a type that is all zeros.

    >>> zero("array<vec2f,2>")
    [(0.0, 0.0), (0.0, 0.0)]
    """
    if kind in VECTORS:
        element, width = VECTORS[kind]
        return (zero(element),) * width
    if kind.startswith("array<"):
        element, length = array_parts(kind)
        return [zero(element) for _ in range(length or 0)]
    return False if kind == "bool" else 0.0 if kind[0] == "f" else 0


TOOLS: dict[str, Any] = {
    "each": each,
    "copied": copied,
    "replaced": replaced,
    "vector": vector,
    "swizzle": lambda vector, at: tuple(vector[i] for i in at),
    "select": lambda no, yes, condition: yes if condition else no,
    "divide": divide,
    "quotient": quotient,
    "rest": rest,
    "float_rest": float_rest,
    "zero": zero,
    "inf": math.inf,
    **{f"round_{kind}": f for kind, f in ROUND.items()},
    **{f"call_{name}": f for name, f in {**ELEMENTWISE, **WHOLE}.items()},
}
"""What programs that became Python call."""
