"""Scatter, accumulate and compress as WebAssembly modules, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import NUMPYS

import tensorweb as tw
from tensorweb.codegen.wasm.policy import UNIT_ELEMENTS

pytestmark = pytest.mark.usefixtures("wasm")

Array = np.ndarray[Any, Any]
ALL = [dtype.name for dtype in NUMPYS]
NUMBERS = [name for name in ALL if name != "bool"]
COMBINED = {
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
SIZES = (0, 1, 3, 4, 5, 100)


def drawn(shape: tuple[int, ...], dtype: str) -> Array:
    """Return small whole numbers, exact in every dtype."""
    return np.random.default_rng(len(shape)).integers(0, 3, shape).astype(dtype)


def random_indices(count: int, below: int, dtype: str = "int32") -> Array:
    return np.random.default_rng(count).integers(0, below, count).astype(dtype)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("dtype", ALL)
def test_the_last_writer_wins(dtype: str, count: int) -> None:
    x, at, values = drawn((7,), dtype), random_indices(count, 7), drawn((count,), dtype)
    found = tw.asarray(x).at[tw.asarray(at)].set(tw.asarray(values)).numpy()
    expected = x.copy()
    expected[at] = values
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("name", COMBINED)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_elements_are_combined(dtype: str, name: str, count: int) -> None:
    x, at = drawn((40,), dtype) + np.ones((), dtype), random_indices(count, 40)
    values = drawn((count,), dtype) + np.ones((), dtype)
    held = tw.asarray(x).at[tw.asarray(at)]
    found = getattr(held, name)(tw.asarray(values)).numpy()
    expected = x.copy()
    COMBINED[name].at(expected, at, values)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 9])
def test_rows_and_columns(width: int, index: str) -> None:
    x, at = drawn((11, width), "float32"), random_indices(30, 11, index)
    rows = drawn((30, width), "float32")
    found = tw.asarray(x).at[tw.asarray(at)].add(tw.asarray(rows)).numpy()
    expected = x.copy()
    np.add.at(expected, at, rows)
    assert np.array_equal(found, expected)
    transposed = tw.asarray(x).T.at[:, tw.asarray(at)].add(tw.asarray(rows).T).numpy()
    assert np.array_equal(transposed, expected.T)


@pytest.mark.parametrize("name", COMBINED)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_rows_of_whole_vectors_are_combined(dtype: str, name: str) -> None:
    x, at = drawn((7, 12), dtype) + np.ones((), dtype), random_indices(9, 7)
    rows = drawn((9, 12), dtype) + np.ones((), dtype)
    held = tw.asarray(x).at[tw.asarray(at)]
    expected = x.copy()
    COMBINED[name].at(expected, at, rows)
    assert np.array_equal(getattr(held, name)(tw.asarray(rows)).numpy(), expected)
    one = x.copy()
    COMBINED[name].at(one, at, x[:1])
    assert np.array_equal(getattr(held, name)(tw.asarray(x[:1])).numpy(), one)


def test_values_and_originals_are_views_and_operations() -> None:
    x, at = drawn((6, 8), "float32"), random_indices(5, 6)
    y = tw.asarray(x)
    found = (y[:, ::-1] * 2).at[tw.asarray(at), 3].set(y[0, :5] - 1).numpy()
    expected = x[:, ::-1] * 2
    expected[at, 3] = x[0, :5] - 1
    assert np.array_equal(found, expected)


def test_writes_of_several_units_follow_each_other() -> None:
    count = 2 * UNIT_ELEMENTS + 5
    x = tw.zeros(3, dtype="int32")
    at = tw.asarray(np.arange(count) % 3)
    found = x.at[at].set(tw.arange(count, dtype="int32")).tolist()
    assert found == [
        max(n for n in range(count - 3, count) if n % 3 == r) for r in range(3)
    ]
    added = x.at[at].add(tw.ones(count, dtype="int32")).tolist()
    assert added == np.bincount(np.arange(count) % 3).tolist()


def test_float16_is_rounded_once() -> None:
    x = tw.asarray([2048.0], dtype="float16")
    at = tw.zeros(4, dtype="int32")
    assert x.at[at].add(tw.ones(4, dtype="float16")).item() == 2052.0


def test_nan_wins_and_empty_targets_stay() -> None:
    x = tw.asarray([1.0, float("nan"), 3.0])
    at = tw.asarray([0, 1, 2])
    values = tw.asarray([float("nan"), 2.0, 4.0])
    found = x.at[at].max(values).numpy()
    assert np.isnan(found).tolist() == [True, True, False]
    assert tw.zeros((0, 3)).at[:, tw.asarray([0, 2])].set(1.0).shape == (0, 3)


@pytest.mark.parametrize(
    "length", [0, 1, 4, 5, UNIT_ELEMENTS - 1, UNIT_ELEMENTS + 1, 2 * UNIT_ELEMENTS + 3]
)
def test_positions_where_a_mask_holds(length: int) -> None:
    x = drawn((length,), "float32")
    y = tw.asarray(x)
    assert np.array_equal(y[y > 0].numpy(), x[x > 0])
    (found,) = tw.nonzero(y == 1)
    assert np.array_equal(found.numpy(), np.nonzero(x == 1)[0])


def test_masks_of_views() -> None:
    x = drawn((9, 14), "int32")
    y = tw.asarray(x).T[::-1, 1:]
    expected = x.T[::-1, 1:]
    assert np.array_equal(y[y > 1].numpy(), expected[expected > 1])
