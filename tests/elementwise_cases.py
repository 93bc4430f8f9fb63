"""Inputs for every elementwise entry of the op table, and how far results are off."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from oracles import NUMPYS, exact
from tolerances import OF_OPERANDS

from tensorweb import dtypes
from tensorweb.devices import DEVICES
from tensorweb.dtypes import DType
from tensorweb.graph.op import Op
from tensorweb.ops import GROUPS

Array = np.ndarray[Any, Any]

ENTRIES: tuple[Op, ...] = tuple(
    entry
    for group, entries in GROUPS.items()
    for entry in entries
    if entry.kind == "map" and group != "structure" and entry.name != "where"
)
"""Every entry whose inputs all have one dtype; `where` and `cast` are tested apart."""

SELDOM = ("int8", "uint16")
"""Packed like others of their size and sign: a GPU's compiler sees them in casts."""

STORED: list[tuple[str, DType]] = [
    (device, dtype)
    for device, row in DEVICES.items()
    for dtype in NUMPYS
    if dtype.name in row.dtypes and (device == "cpu" or dtype.name not in SELDOM)
]
"""Devices and the dtypes that operations are tried on there."""

INTERNAL = frozenset(entry.name for entry in GROUPS["random"])
"""Entries that are no public functions: samplers are built of them."""


def code_of(op: Op, *operands: str) -> str:
    """Return the call of an entry's operation, for `tensorweb` as `xp`."""
    if op.name in INTERNAL:
        arguments = ", ".join((repr(op.name), *operands))
        return f"xp.Tensor(xp.functions.elementwise.operation({arguments}))"
    return f"xp.{op.name}({', '.join(operands)})"


FLOAT_SPECIALS = (
    *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5),
    *(3.0, -7.0, 1e-3, 1e4, -6e4),
)
RANDOM_COUNT = 1009


def samples(op: Op, dtype: DType) -> list[Array]:
    """Return one 1-D array per input: special values in all pairs, then random ones."""
    random = np.random.default_rng(abs(len(op.name) * 31 + ord(op.name[0])))
    special = _specials(dtype)
    if op.name == "pow" and dtype.kind in ("int", "uint"):
        return _integer_powers(special, dtype)
    columns = list(zip(*itertools.product(special, repeat=op.arity), strict=True))
    domains = op.domain * op.arity
    return [
        np.concatenate(
            [np.array(column, dtype.name), _random(random, dtype, *domains[index])]
        )
        for index, column in enumerate(columns)
    ]


def _specials(dtype: DType) -> tuple[Any, ...]:
    if dtype.kind == "bool":
        return (False, True)
    if dtype.kind == "float":
        return FLOAT_SPECIALS
    low, high = dtypes.integer_range(dtype)
    edges = {low, high, low + 1, *range(-2, 4), *range(6, 9), *range(30, 34), 64}
    return tuple(sorted(edge for edge in edges if low <= edge <= high))


def _random(random: Any, dtype: DType, low: float, high: float) -> Array:
    if dtype.kind == "float":
        return np.asarray(random.uniform(low, high, RANDOM_COUNT), dtype.name)
    if dtype.kind == "bool":
        return np.asarray(random.random(RANDOM_COUNT) < 0.5)
    least, greatest = dtypes.integer_range(dtype)
    return np.asarray(
        random.integers(least, greatest, RANDOM_COUNT, dtype.name, endpoint=True)
    )


def _integer_powers(special: tuple[Any, ...], dtype: DType) -> list[Array]:
    least = -4 if dtype.kind == "int" else 0
    pairs = list(itertools.product(special, range(least, 36)))
    first, second = zip(*pairs, strict=True)
    return [np.array(first, dtype.name), np.array(second, dtype.name)]


def ulp_error(op: Op, got: Array, inputs: list[Array]) -> Array:
    """Return the error of each result in ULP of its dtype, infinite where specials err.

    A device may flush subnormal inputs and results to zero.
    """
    expected = exact(op.name, inputs)
    scale = np.abs(expected.astype(np.float64))
    if op.name in OF_OPERANDS:
        sizes = [np.nan_to_num(np.abs(x.astype(np.float64))) for x in inputs]
        scale = np.maximum.reduce([scale, *sizes])
    return float_error(got, expected, scale)


def float_error(got: Array, right: Array, scale: Array) -> Array:
    """Return |got - right| in ULP of `got`'s dtype at the size `scale`."""
    limits = np.finfo(got.dtype)
    tiny, largest = float(limits.smallest_normal), float(limits.max)
    value, expected = got.astype(np.float64), right.astype(np.float64)
    expected = np.where(
        np.abs(expected) > largest, np.copysign(np.inf, expected), expected
    )
    with np.errstate(all="ignore"):
        error = np.abs(value - expected) / unit_at(scale, got.dtype.name)
    flushed = (np.abs(expected) < tiny) & (np.abs(value) <= tiny)
    same = (value == expected) | (np.isnan(value) & np.isnan(expected))
    edge = np.isinf(value) & (np.abs(expected) > largest * (1 - 2.0**-limits.nmant))
    same |= flushed | (edge & (np.sign(value) == np.sign(expected)))
    return np.asarray(np.where(same, 0.0, np.where(np.isnan(error), np.inf, error)))


def unit_at(scale: Array, dtype: str) -> Array:
    """Return the unit in the last index of a float dtype at numbers of a size."""
    limits = np.finfo(dtype)
    tiny, largest = float(limits.smallest_normal), float(limits.max)
    exponents = np.floor(np.log2(np.clip(scale, tiny, largest)))
    return np.asarray(2.0 ** (exponents - limits.nmant))


def samples_to_cast(dtype: DType) -> Array:
    """Return values at the limits of every dtype that a dtype can hold."""
    if dtype.kind == "bool":
        return np.array([False, True])
    if dtype.kind == "float":
        values = [0.0, -0.0, 0.5, -0.5, 1.7, -1.7, 255, 256, 1e4, np.nan]
        wide = [*values, np.inf, -np.inf]
        if dtype.bits > 16:
            wide += [2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e30]
            wide += [2.0**31 - 128, 2.0**24 + 2, -3e9]
        return np.array(wide, dtype.name)
    low, high = dtypes.integer_range(dtype)
    edges = [low, low + 1, 0, 1, 2, 100, high - 1, high]
    return np.array(edges, dtype.name)


def cast_reference(source: Array, dtype: DType) -> Array:
    """Return Python's conversion: integers wrap, floats are cut and saturate."""
    if dtype.kind == "bool":
        return source != 0
    if dtype.kind == "float":
        return source
    low, high = dtypes.integer_range(dtype)
    results = []
    for value in source.tolist():
        if isinstance(value, int):
            results.append((value - low) % 2**dtype.bits + low)
        elif np.isnan(value):
            results.append(0)
        else:
            results.append(int(np.clip(value, -1e25, 1e25)))
    return np.array([min(max(x, low), high) for x in results], dtype.name)
