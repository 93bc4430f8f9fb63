"""Elementwise WebAssembly modules: blocks, tiles, views, casts, choices, gathers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import NUMPYS

import tensorweb as tw
from tensorweb.codegen.wasm.policy import (
    TRANSPOSED_COLUMNS,
    TRANSPOSED_ROWS,
    UNIT_ELEMENTS,
)

pytestmark = pytest.mark.usefixtures("wasm")

Array = np.ndarray[Any, Any]
ALL = [dtype.name for dtype in NUMPYS]
LENGTHS = (
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    11,
    UNIT_ELEMENTS - 1,
    UNIT_ELEMENTS,
    *(UNIT_ELEMENTS + n for n in range(1, 6)),
)


def counted(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rows", [1, 3])
def test_blocks_end_with_their_rows(rows: int, length: int) -> None:
    x, column = counted((rows, length)), counted((rows, 1))
    found = (tw.asarray(x) * 2 + tw.asarray(column)).numpy()
    assert np.array_equal(found, x * 2 + column)


@pytest.mark.parametrize("rows", [2, TRANSPOSED_ROWS, TRANSPOSED_ROWS + 3])
@pytest.mark.parametrize("columns", [*range(1, 14), 4 * TRANSPOSED_COLUMNS + 1])
def test_tiles_of_transposed_inputs(rows: int, columns: int) -> None:
    x = counted((columns, rows))
    assert np.array_equal((tw.asarray(x).T + 1).numpy(), x.T + 1)
    cube = counted((columns, 3, rows))
    moved = tw.permute_dims(tw.asarray(cube), (1, 2, 0)) + 1
    assert np.array_equal(moved.numpy(), cube.transpose(1, 2, 0) + 1)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: x[::-1, ::-1],
    "strided": lambda x: x[1::2, ::3],
    "offset": lambda x: x[1:, 3:],
    "transposed": lambda x: x.T,
    "row": lambda x: x[:1],
    "column": lambda x: x[:, 2:3],
    "nothing": lambda x: x[:, :0],
    "one": lambda x: x[3, 4],
}


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_every_dtype(view: str, dtype: str) -> None:
    x = counted((13, 19), dtype)
    moved = VIEWS[view](tw.asarray(x))
    expected = VIEWS[view](x)
    found = tw.where(tw.astype(moved, tw.bool), moved, moved).numpy()
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("target", ALL)
def test_casts(source: str, target: str) -> None:
    numbers = [0, 1, 2, 3, 77, 100] + ([-1, -100] if source[0] in "fi" else [])
    x = np.array(numbers * 3, source)
    found = (tw.astype(tw.asarray(x)[::-1], target)).numpy()
    expected = tw.astype(tw.asarray(x.astype("int64")), target).numpy()[::-1]
    if target[0] == "u" and source[0] == "f":  # negative floats become 0
        expected = np.maximum(x, 0).astype(target)[::-1]
    if target == "bool" or source == "bool":
        expected = x.astype(target)[::-1]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("value", "half"),
    [
        (65519.99, 65504.0),
        (65520.0, np.inf),
        (2.0**-25, 0.0),
        (2.0**-25 * (1 + 2.0**-40), 2.0**-24),
        (1 + 2.0**-11, 1.0),
        (1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-10),
        (-np.inf, -np.inf),
        (-0.0, -0.0),
    ],
)
def test_float64_is_rounded_once_to_float16(value: float, half: float) -> None:
    found = tw.astype(tw.asarray([value] * 5, dtype="float64"), "float16").numpy()
    assert (found == half).all()
    assert (np.signbit(found) == np.signbit(half)).all()
    assert np.isnan(tw.astype(tw.asarray([np.nan], dtype="float64"), "float16").item())


def test_every_float16_survives_float32() -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    found = tw.astype(tw.astype(tw.asarray(x), "float32") * 1, "float16").numpy()
    assert np.array_equal(found, x, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(x))


@pytest.mark.parametrize("width", [1, 3, 4, 5, 64])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_gathered_rows_and_elements(dtype: str, width: int) -> None:
    x = counted((50, width), dtype)
    rows = np.array([3, 49, 0, 0, 7])
    columns = np.arange(5) % width
    table = tw.asarray(x)
    assert np.array_equal(table[tw.asarray(rows)].numpy(), x[rows])
    found = table[tw.asarray(rows), tw.asarray(columns)].numpy()
    assert np.array_equal(found, x[rows, columns])
    taken = tw.take(table, tw.asarray(columns), axis=1).numpy()
    assert np.array_equal(taken, x[:, columns])
    padded = tw.pad(table[tw.asarray(rows)], ((1, 0), (2, 3))).numpy()
    assert np.array_equal(padded, np.pad(x[rows], ((1, 0), (2, 3))))


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 100])
def test_joined_and_padded(size: int) -> None:
    x = counted((3, size))
    y = tw.asarray(x)
    joined = tw.concat([y, y[:, ::-1] * 2, tw.pad(y, ((0, 0), (1, 2)))], axis=1)
    expected = [x, x[:, ::-1] * 2, np.pad(x, ((0, 0), (1, 2)))]
    assert np.array_equal(joined.numpy(), np.concatenate(expected, axis=1))


@pytest.mark.parametrize("step", [1, 2, 3, -1])
@pytest.mark.parametrize("width", [1, 5, 9, 14])
def test_edges_inside_of_vectors(width: int, step: int) -> None:
    x = counted((3, width)) + 1
    for before in range(6):
        edges = ((1, 2), (before, 5 - before))
        expected = np.pad(x, edges, constant_values=7.0)[:, ::step] * 2
        padded = tw.pad(tw.asarray(x), edges, value=7)[:, ::step] * 2
        assert np.array_equal(padded.numpy(), expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_shifts_of_wide_integers(dtype: str) -> None:
    ones = tw.ones(66, dtype=dtype)
    counts = tw.astype(tw.arange(66), dtype)
    found = tw.bitwise_left_shift(ones, counts).numpy()
    expected = [(1 << n) % 2**64 if n < 64 else 0 for n in range(66)]
    assert np.array_equal(found, np.array(expected, "uint64").astype(dtype))


def test_more_than_16_million_elements() -> None:
    x = tw.arange(17_000_003, dtype="int32")
    y = (x * 3 - 1).numpy()
    assert y[-1] == 51_000_005
    assert np.array_equal(y[::100_003], np.arange(17_000_003)[::100_003] * 3 - 1)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32"])
def test_integers_are_divided_exactly(dtype: str) -> None:
    ends = np.iinfo(dtype)
    random = np.random.default_rng(3)
    special = np.unique([ends.min, ends.min // 2, 0, 1, 2, 7, ends.max - 1, ends.max])
    x, y = (each.ravel() for each in np.meshgrid(special, special))
    by = random.integers(1, min(ends.max, 40_000), 3_000, dtype=np.int64)
    near = np.minimum(by * random.integers(0, 50_000, 3_000), ends.max - 1)
    x = np.concatenate([x, near, near + 1, near - (near > 0)]).astype(dtype)
    y = np.concatenate([y, by, by, by]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = np.where(y == 0, 0, x // y), np.where(y == 0, 0, x % y)
    assert np.array_equal((tw.asarray(x) // tw.asarray(y)).numpy(), expected[0])
    assert np.array_equal((tw.asarray(x) % tw.asarray(y)).numpy(), expected[1])
