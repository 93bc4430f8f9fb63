"""Cases of the WGSL math tests: each function, its samples and its NumPy reference.

A function whose comment tells a bound is a case: its types choose the samples, and its
name without the type is looked up in `oracles.py`. A row is for what differs from that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from oracles import exact

from tools.accuracy import Function

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
    quarters = np.floor(2.0 ** random.uniform(0, 31, count))
    nearest = (quarters * (math.pi / 2)).astype(np.float32)
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


def unsigned_triples() -> Columns:
    """Return triples of u32: random ones, and combinations of edge cases."""
    random = np.random.default_rng(6)
    edges = np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1], np.uint32)
    special = np.stack(np.meshgrid(edges, edges, edges)).reshape(3, -1)
    wide = random.integers(0, 2**32, (3, 50_000), np.uint32)
    return tuple(np.concatenate(both) for both in zip(special, wide, strict=True))


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


def saturate(dtype: str) -> Reference:
    """Return the conversion to `dtype` that truncates, saturates and maps NaN to 0."""
    limits = np.iinfo(dtype)
    return lambda x: np.clip(
        np.nan_to_num(np.trunc(x.astype("f8"))), limits.min, limits.max
    ).astype(dtype)


PATTERNS = np.arange(2**16, dtype=np.uint16)


def half_pairs() -> Columns:
    """Return pairs of float16, held in f32: any by any, and any by special ones."""
    return _pairs(PATTERNS.view(np.float16).astype(np.float32))


def bfloat16_pairs() -> Columns:
    """Return such pairs of bfloat16."""
    return _pairs((PATTERNS.astype(np.uint32) << 16).view(np.float32))


def _pairs(values: NDArray) -> Columns:
    random = np.random.default_rng(5)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], np.float32)
    others = [random.permutation(values) for _ in "ab"]
    others += [np.full(values.size, x) for x in special]
    return np.tile(values, len(others)), np.concatenate(others)


def half_nextafter(x: NDArray, toward: NDArray) -> NDArray:
    """Return the float16 next to x, held in f32."""
    halves = (column.astype(np.float16) for column in (x, toward))
    return np.nextafter(*halves).astype(np.float32)


def bfloat16_nextafter(x: NDArray, toward: NDArray) -> NDArray:
    """Return the bfloat16 next to x, held in f32, by counting through the patterns."""
    halves = [(each.view(np.uint32) >> 16).astype(np.int32) for each in (x, toward)]
    start, goal = (np.where(h >> 15, -(h & 0x7FFF), h & 0x7FFF) for h in halves)
    found = start + np.sign(goal - start)
    bits = np.where(found < 0, 0x8000 - found, found).astype(np.uint32) << 16
    result = np.where(goal == start, toward, bits.view(np.float32))
    return np.where(np.isnan(x) | np.isnan(toward), np.float32(np.nan), result)


@dataclass(frozen=True)
class Case:
    """One function, its samples and its reference; `shaders/math/` has the bound."""

    name: str
    samples: Callable[[], Columns]
    reference: Reference
    signed_zero: bool = True
    of_operands: bool = False


def by_name(name: str) -> Reference:
    """Return what the operation that a WGSL function is named for must give."""
    operation = name.rpartition("_")[0]
    return lambda *columns: exact(operation, columns)


def case(name: str, samples: Callable[[], Columns], **flags: bool) -> Case:
    """Return a row that differs in its samples or in what is compared."""
    return Case(name, samples, by_name(name), **flags)


SAMPLES: dict[tuple[str, ...], Callable[[], Columns]] = {
    ("f32",): unary_floats,
    ("f32", "f32"): binary_floats,
    ("i32",): first_of(signed_pairs),
    ("i32", "i32"): signed_pairs,
    ("u32",): first_of(unsigned_pairs),
    ("u32", "u32"): unsigned_pairs,
    ("u32", "u32", "u32"): unsigned_triples,
}
"""By the types of a function's parameters."""

ROWS = (
    case("logaddexp_f32", binary_floats, signed_zero=False, of_operands=True),
    case("pow_f32", power_pairs),
    case("floor_divide_f32", ordinary_pairs),
    case("minimum_f32", binary_floats, signed_zero=False),
    case("maximum_f32", binary_floats, signed_zero=False),
    case("pow_i32", power_integers(signed_pairs)),
    case("pow_u32", power_integers(unsigned_pairs)),
    Case("remainder_f32", ordinary_pairs, np.remainder),
    # From -0 to 0 NumPy gives -0 in float16 and 0 in float32.
    Case("nextafter_half_f32", half_pairs, half_nextafter, signed_zero=False),
    Case("nextafter_bfloat16", bfloat16_pairs, bfloat16_nextafter, signed_zero=False),
    Case("i32_from_f32", unary_floats, saturate("i4")),
    Case("u32_from_f32", unary_floats, saturate("u4")),
    Case("f32_from_i32", first_of(signed_pairs), np.float64),
    Case("f32_from_u32", first_of(unsigned_pairs), np.float64),
)
"""The functions that are not what their name and their types say."""


def cases(functions: Iterable[Function]) -> list[Case]:
    """Return a case for each function: its row, else what name and types say."""
    rows = {row.name: row for row in ROWS}
    return [
        rows.get(each.name) or case(each.name, SAMPLES[each.takes])
        for each in functions
    ]
