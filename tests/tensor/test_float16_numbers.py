"""Python's numbers combined with float16 tensors are float16, as in NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.devices import stores
from tests.checks import assert_equal

Binary = Callable[[Any, Any], Any]

NUMBERS = (0.1, -0.3, 2049, 2051, 1e-8, 6.1e-5, 65519.0, 65520.0, -7e4, 1e300, 1 / 3)
NUMBERS += (float("inf"), float("nan"), -0.0)

OPERATORS: dict[str, Binary] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge")
}


@pytest.fixture(autouse=True)
def _has_float16(device: str) -> None:
    if not stores(dtypes.float16, device):
        pytest.skip(f"{device} has no float16")


def sixteen(*numbers: float) -> Any:
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(np.float16)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("number", NUMBERS)
def test_operators_with_numbers_on_both_sides(
    name: str, number: float, device: str
) -> None:
    x = sixteen(*NUMBERS, 0.0999, 1.0, 2048, 2050, 6e4)
    function = OPERATORS[name]
    # NumPy warns of large numbers; a float16 scalar is what it computes with.
    (rounded,) = sixteen(number)
    with np.errstate(all="ignore"):
        left, right = function(x, rounded), function(rounded, x)
    assert_equal(function(tw.asarray(x), number), left)
    assert_equal(function(number, tw.asarray(x)), right)


@pytest.mark.parametrize("number", NUMBERS)
def test_filled_tensors_are_the_same_stored_and_not(number: float, device: str) -> None:
    (rounded,) = sixteen(number)
    with np.errstate(all="ignore"):
        expected = np.full(3, rounded) * np.float16(3)
    lazy = tw.full(3, number, dtype=tw.float16)
    assert_equal(lazy * 3, expected)
    stored = tw.realize(tw.full(3, number, dtype=tw.float16) + 0)
    assert_equal(stored * 3, expected)
    assert_equal(lazy.astype(tw.float32), np.full(3, rounded, np.float32))


def test_assigned_and_chosen_numbers(device: str) -> None:
    x = tw.asarray(sixteen(1, 2, 3))
    x[1] = 0.1
    assert_equal(x == 0.1, [False, True, False])
    chosen = tw.where(tw.asarray([True, False, True]), x, 0.1)
    assert_equal(chosen == np.float16(0.1), [False, True, False])
    assert_equal(tw.clip(x, 0.3, 1.1) == 1.1, [False, False, True])
    assert_equal(x.pad([(0, 1)], value=0.1)[-1] == 0.1, True)


@pytest.mark.parametrize("count", [1, 2, 3, 11, 1000])
def test_evenly_spaced_numbers(count: int, device: str) -> None:
    spaced = tw.linspace(0, 1, count, dtype=tw.float16)
    assert_equal(spaced, np.linspace(0, 1, count).astype(np.float16))
    stepped = tw.arange(0, 1, 0.1, dtype=tw.float16)
    assert_equal(stepped, np.arange(0, 1, 0.1).astype(np.float16))
