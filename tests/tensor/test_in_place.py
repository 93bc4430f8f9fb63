"""`x += v` and its family: an object gets the new value, and all holders see it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.errors import DTypeError, ShapeError
from tensorweb.evaluate import DEEPEST

Operator = Callable[[Any, Any], Any]

CASES: list[tuple[Operator, str, Any]] = [
    (operator.iadd, "float32", 2),
    (operator.isub, "float32", 0.5),
    (operator.imul, "float32", [1, 2, 3]),
    (operator.itruediv, "float32", 4),
    (operator.ifloordiv, "int32", 2),
    (operator.imod, "int32", 3),
    (operator.ipow, "int32", 2),
    (operator.iand, "int32", 6),
    (operator.ior, "int32", 8),
    (operator.ixor, "int32", 5),
    (operator.ilshift, "int32", 2),
    (operator.irshift, "int32", 1),
    (operator.iand, "bool", [True, False, True]),
    (operator.ior, "bool", [True, False, True]),
    (operator.iadd, "int32", [True, False, True]),
    (operator.iadd, "uint32", 7),
]


@pytest.mark.parametrize(("change", "dtype", "value"), CASES)
def test_every_holder_sees_the_change(
    change: Operator, dtype: str, value: Any, device: str
) -> None:
    host = np.asarray([1, 5, 9]).astype(dtype)
    x = tw.asarray(host)
    alias, box, view = x, [x], x[1:]
    result = change(x, value)
    want = host.copy()
    change(want, value)
    assert result is alias is box[0]
    assert x.dtype.name == dtype
    assert_equal(alias, want)
    assert view.tolist() == want[1:].tolist()


def test_matmul_in_place(device: str) -> None:
    x = alias = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    x @= tw.asarray([[0.0, 1.0], [1.0, 0.0]])
    assert_equal(alias, [[2, 1], [4, 3]])


def test_a_function_changes_its_argument(device: str) -> None:
    def add(a: tw.Tensor) -> None:
        a += 1

    def assign(a: tw.Tensor) -> None:
        a[...] += 1

    for run in (add, assign):
        x = tw.zeros(2)
        run(x)
        assert_equal(x, [1, 1])


def test_floats_keep_their_width(cpu: str) -> None:
    x = alias = tw.zeros(2, dtype=tw.float32)
    x += tw.ones(2, dtype=tw.float64)
    assert x is alias
    assert alias.dtype is tw.float32
    y = tw.zeros(2, dtype=tw.int8)
    y += tw.ones(2, dtype=tw.int32)
    assert y.dtype is tw.int8


def test_kinds_that_do_not_fit_are_refused_as_in_numpy(device: str) -> None:
    x = tw.asarray([1, 2])
    with pytest.raises(DTypeError, match=r"add in place: x is int32 .* float32"):
        x += 0.5
    with pytest.raises(DTypeError, match="divide in place"):
        x /= 2
    mask = tw.asarray([True, False])
    with pytest.raises(DTypeError, match="add in place: x is bool"):
        mask += 1
    assert_equal(x, [1, 2])


def test_shapes_that_grow_are_refused_as_in_numpy(device: str) -> None:
    x = tw.zeros(3)
    with pytest.raises(ShapeError, match=r"add in place: x has shape \(3,\)"):
        x += tw.zeros((2, 3))
    with pytest.raises(ShapeError, match="matmul in place"):
        x @= tw.zeros((3, 1))
    x += tw.ones(1)
    assert_equal(x, [1, 1, 1])


def test_computed_numbers_are_values_as_numpys_scalars_are(device: str) -> None:
    x = tw.asarray([1.0, 2.0])
    total = first = x.sum()
    total += 1
    assert (total.item(), first.item()) == (4.0, 3.0)
    total += x
    assert_equal(total, [5, 6])
    count = tw.asarray([1, 2]).sum()
    count /= 2
    assert count.item() == 1.5
    element = x[0]
    element += 5
    assert_equal(x, [1, 2])


def test_numbers_made_as_data_are_arrays_as_in_numpy(device: str) -> None:
    for x in (tw.asarray(1.0), tw.full((), 1.0)):
        alias = x
        x += 1
        x *= 3
        assert alias.item() == 6.0


def test_elements_change_in_place(device: str) -> None:
    x = alias = tw.zeros((2, 2))
    x[0, 1] += 4
    x[1] -= 1
    x[x < 0] *= 3
    assert_equal(alias, [[0, 4], [-3, -3]])


def test_long_loops_stay_bounded(device: str) -> None:
    x = alias = tw.zeros(3)
    for _ in range(3 * DEEPEST):
        x += 1
    assert x.node.depth <= DEEPEST + 1
    assert_equal(alias, [3 * DEEPEST] * 3)
