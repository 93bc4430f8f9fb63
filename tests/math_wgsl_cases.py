"""Rows for the WGSL math tests: each function, its samples and its NumPy reference.

Holds no test and touches no device; `test_math_wgsl.py` runs every row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Columns = tuple[NDArray[np.generic], ...]
Reference = Callable[..., NDArray[np.generic]]

MAX = np.finfo(np.float32).max
SIZES = [0.0, 2.0**-149, 2.0**-126, 2.0**-24, 0.5, 1.0, 1.5, 2.0, 3.0, 2.0**23, 2.0**24]
SIZES += [2.0**31, 2.0**32, MAX, np.inf, np.nan, 1 + 2.0**-23, 1 - 2.0**-24]
EDGES = [88.72283, 88.72284, -87.33654, -87.33655, 89.415985, 89.41599, 127.99999]
EDGES += [128.0, -126.0, -126.00001]
SPECIALS = np.array([*SIZES, *np.negative(SIZES), *EDGES], np.float32)


def bit_patterns(random: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Return `count` values of every kind, subnormals and NaN included."""
    bits = random.integers(0, 2**32, count, dtype=np.uint32)
    return bits.view(np.float32)


def powers(random: np.random.Generator, low: float, high: float, count: int) -> NDArray:
    """Return `count` values of both signs between 2**low and 2**high in size."""
    sizes = 2.0 ** random.uniform(low, high, count)
    return (sizes * random.choice([-1.0, 1.0], count)).astype(np.float32)


def quarter_turns(random: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Return values next to multiples of pi/2, where sin, cos and tan are hardest."""
    turns = np.floor(2.0 ** random.uniform(0, 31, count))
    nearest = (turns * (math.pi / 2)).astype(np.float32)
    hard = np.array([16367173 * 2.0**72, 4.7183983e6, 6381956970095103 * 2.0**74])
    return np.concatenate([nearest, hard.astype(np.float32)])


def unary_floats() -> Columns:
    """Return one column of about 220 000 values over the whole range of f32."""
    random = np.random.default_rng(1)
    whole = np.arange(-2000, 2001) / 2
    near_one = 1 + powers(random, -24, -1, 20_000).astype(np.float64)
    parts = [SPECIALS, whole, near_one, -near_one, quarter_turns(random, 20_000)]
    parts += [bit_patterns(random, 50_000), powers(random, -40, 40, 40_000)]
    parts += [random.uniform(-1, 1, 40_000), random.uniform(-110, 110, 40_000)]
    return (np.concatenate([part.astype(np.float32) for part in parts]),)


def every_pair(values: NDArray) -> Columns:
    """Return two columns that hold each ordered pair of `values`."""
    first, second = np.meshgrid(values, values)
    return first.ravel(), second.ravel()


def binary_floats() -> Columns:
    """Return two columns of about 220 000 pairs over the whole range of f32."""
    random = np.random.default_rng(2)
    small = every_pair(np.arange(-60, 61).astype(np.float32) / 2)
    near = powers(random, -20, 20, 20_000)
    steps = random.integers(-3, 4, near.size).astype(np.int32)
    pairs = [every_pair(SPECIALS), small, (near, (near.view("i4") + steps).view("f4"))]
    pairs += [(near, (near * random.integers(-40, 41, near.size)).astype(np.float32))]
    pairs += [tuple(bit_patterns(random, 50_000) for _ in "xy")]
    pairs += [tuple(powers(random, -30, 30, 60_000) for _ in "xy")]
    pairs += [tuple(random.uniform(-50, 50, 50_000).astype("f4") for _ in "xy")]
    return tuple(np.concatenate(column) for column in zip(*pairs, strict=True))


def ordinary_pairs() -> Columns:
    """Return the pairs of `binary_floats` without values below 2**-100 but zero."""
    columns = binary_floats()
    tiny = [(c != 0) & (np.abs(c) < 2.0**-100) for c in columns]
    return tuple(np.where(t, 1, c) for t, c in zip(tiny, columns, strict=True))


def power_pairs() -> Columns:
    """Return bases and exponents whose powers mostly stay in the range of f32."""
    random = np.random.default_rng(3)
    base = np.abs(powers(random, -126, 127, 120_000)).astype(np.float64)
    base[:60_000] = 1 + powers(random, -23, -1, 60_000)
    exponent = random.uniform(-128, 128, base.size) / np.log2(base)
    whole = every_pair(np.arange(-30, 31).astype(np.float32))
    x, y = binary_floats()
    signed = np.where(np.arange(y.size) % 2 == 0, y, np.round(y))
    columns = [(base, exponent), whole, (x, signed)]
    pairs = [tuple(c.astype(np.float32) for c in column) for column in columns]
    return tuple(np.concatenate(column) for column in zip(*pairs, strict=True))


def integers(dtype: str, edges: tuple[int, ...], low: int, high: int) -> Columns:
    """Return pairs of integers: edge cases, small ones, any ones by small ones."""
    random = np.random.default_rng(4)
    limits = np.iinfo(dtype)
    small = np.arange(low, high + 1).astype(dtype)
    wide = random.integers(limits.min, limits.max, 100_000, dtype, endpoint=True)
    narrow = random.choice(small, wide.size)
    other = random.permutation(wide)
    special = every_pair(np.array([limits.min, limits.max, *edges], dtype))
    pairs = [special, every_pair(small), (wide, narrow), (wide, other)]
    return tuple(np.concatenate(column) for column in zip(*pairs, strict=True))


def signed_pairs() -> Columns:
    """Return pairs of i32."""
    return integers("i4", (-3, -2, -1, 0, 1, 2, 3, 31, 32, 33), -40, 40)


def unsigned_pairs() -> Columns:
    """Return pairs of u32."""
    return integers("u4", (0, 1, 2, 3, 31, 32, 33), 0, 70)


def power_integers(pairs: Callable[[], Columns]) -> Callable[[], Columns]:
    """Return `pairs` with the second column made an exponent that is not negative."""
    return lambda: (
        pairs()[0],
        np.abs(pairs()[1].astype("i8")).clip(0, 2**31 - 1).astype(pairs()[1].dtype),
    )


def first_of(pairs: Callable[[], Columns]) -> Callable[[], Columns]:
    """Return the samples of a function of one argument."""
    return lambda: pairs()[:1]


def wide(function: Reference) -> Reference:
    """Evaluate `function` of f32 columns in float64."""
    return lambda *columns: function(*(c.astype(np.float64) for c in columns))


def sigmoid(x: NDArray) -> NDArray:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def saturate(dtype: str) -> Reference:
    """Return the conversion to `dtype` that truncates, saturates and maps NaN to 0."""
    limits = np.iinfo(dtype)
    return lambda x: np.clip(
        np.nan_to_num(np.trunc(x.astype("f8"))), limits.min, limits.max
    ).astype(dtype)


def wrapped_power(base: NDArray, exponent: NDArray) -> NDArray:
    """Return base**exponent modulo 2**32."""
    powers_of = [
        pow(int(b), int(e), 2**32) for b, e in zip(base, exponent, strict=True)
    ]
    return np.array(powers_of, np.uint32).view(base.dtype)


@dataclass(frozen=True)
class Case:
    """One function, its samples and its reference; `accuracy.json` has the bound."""

    name: str
    samples: Callable[[], Columns]
    reference: Reference
    signed_zero: bool = True
    of_operands: bool = False


def unary(name: str, reference: Reference) -> Case:
    """Return the row of a function of one f32, judged in float64."""
    return Case(name, unary_floats, wide(reference))


def binary(name: str, reference: Reference, **flags: bool) -> Case:
    """Return the row of a function of two f32, judged in float64."""
    return Case(name, binary_floats, wide(reference), **flags)


def exact(name: str, reference: Reference) -> Case:
    """Return the row of a function of two f32, judged in f32 itself."""
    return Case(name, binary_floats, reference)


CASES = [
    unary("exp_f32", np.exp),
    unary("exp2_f32", np.exp2),
    unary("expm1_f32", np.expm1),
    unary("sigmoid_f32", sigmoid),
    unary("log_f32", np.log),
    unary("log1p_f32", np.log1p),
    unary("log2_f32", np.log2),
    unary("log10_f32", np.log10),
    binary("logaddexp_f32", np.logaddexp, signed_zero=False, of_operands=True),
    Case("pow_f32", power_pairs, wide(np.power)),
    unary("sqrt_f32", np.sqrt),
    binary("hypot_f32", np.hypot),
    unary("sin_f32", np.sin),
    unary("cos_f32", np.cos),
    unary("tan_f32", np.tan),
    unary("asin_f32", np.arcsin),
    unary("acos_f32", np.arccos),
    unary("atan_f32", np.arctan),
    binary("atan2_f32", np.arctan2),
    unary("sinh_f32", np.sinh),
    unary("cosh_f32", np.cosh),
    unary("tanh_f32", np.tanh),
    unary("asinh_f32", np.arcsinh),
    unary("acosh_f32", np.arccosh),
    unary("atanh_f32", np.arctanh),
    unary("erf_f32", np.vectorize(math.erf, otypes=[np.float64])),
    binary("subtract_f32", np.subtract),
    binary("divide_f32", np.divide),
    unary("reciprocal_f32", np.reciprocal),
    binary("fmod_f32", np.fmod),
    Case("remainder_f32", ordinary_pairs, np.remainder),
    Case("floor_divide_f32", ordinary_pairs, wide(np.floor_divide)),
    unary("floor_f32", np.floor),
    unary("ceil_f32", np.ceil),
    unary("trunc_f32", np.trunc),
    unary("round_f32", np.round),
    unary("sign_f32", np.sign),
    unary("abs_f32", np.abs),
    unary("negative_f32", np.negative),
    exact("copysign_f32", np.copysign),
    exact("nextafter_f32", np.nextafter),
    binary("minimum_f32", np.minimum, signed_zero=False),
    binary("maximum_f32", np.maximum, signed_zero=False),
    exact("less_f32", np.less),
    exact("less_equal_f32", np.less_equal),
    exact("greater_f32", np.greater),
    exact("greater_equal_f32", np.greater_equal),
    exact("equal_f32", np.equal),
    exact("not_equal_f32", np.not_equal),
    Case("signbit_f32", unary_floats, np.signbit),
    Case("isnan_f32", unary_floats, np.isnan),
    Case("isinf_f32", unary_floats, np.isinf),
    Case("isfinite_f32", unary_floats, np.isfinite),
    Case("i32_from_f32", unary_floats, saturate("i4")),
    Case("u32_from_f32", unary_floats, saturate("u4")),
    Case("f32_from_i32", first_of(signed_pairs), np.float64),
    Case("f32_from_u32", first_of(unsigned_pairs), np.float64),
    Case("abs_i32", first_of(signed_pairs), np.abs),
    Case("sign_i32", first_of(signed_pairs), np.sign),
    Case("sign_u32", first_of(unsigned_pairs), np.sign),
    Case("floor_divide_i32", signed_pairs, np.floor_divide),
    Case("floor_divide_u32", unsigned_pairs, np.floor_divide),
    Case("remainder_i32", signed_pairs, np.remainder),
    Case("remainder_u32", unsigned_pairs, np.remainder),
    Case("pow_i32", power_integers(signed_pairs), wrapped_power),
    Case("pow_u32", power_integers(unsigned_pairs), wrapped_power),
    Case("left_shift_i32", signed_pairs, np.left_shift),
    Case("left_shift_u32", unsigned_pairs, np.left_shift),
    Case("right_shift_i32", signed_pairs, np.right_shift),
    Case("right_shift_u32", unsigned_pairs, np.right_shift),
]
