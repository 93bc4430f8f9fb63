"""Reductions of rows that several kernels read: the first of these stores them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import record_kernels
from tests.row_formulas import assert_near, inputs

Case = Callable[[Any, Any], tuple[Any, ...]]


def total(x: Any, xp: Any) -> tuple[Any, ...]:
    found = xp.sum(x, axis=-1, keepdims=True)
    return x / found, found


def softmax_and_logsumexp(x: Any, xp: Any) -> tuple[Any, ...]:
    largest = xp.max(x, axis=-1, keepdims=True)
    power = xp.exp(x - largest)
    found = xp.sum(power, axis=-1, keepdims=True)
    return power / found, xp.log(found) + largest


def norm_and_columns(x: Any, xp: Any) -> tuple[Any, ...]:
    """A norm, and what its weights' gradient sums over rows."""
    rest = x - xp.mean(x, axis=-1, keepdims=True)
    deviation = xp.sqrt(xp.mean(rest * rest, axis=-1, keepdims=True) + 1e-5)
    flat = xp.reshape(rest / deviation, (-1, x.shape[-1]))
    return rest / deviation * 3, xp.sum(flat * flat, axis=0)


def loss_and_gradient(x: Any, xp: Any) -> tuple[Any, ...]:
    """Of cross-entropy; all labels are 1."""
    largest = xp.max(x, axis=-1, keepdims=True)
    power = xp.exp(x - largest)
    found = xp.sum(power, axis=-1, keepdims=True)
    losses = xp.log(found[..., 0]) + largest[..., 0] - x[..., 1]
    return xp.mean(losses), power / found - (xp.arange(x.shape[-1]) == 1)


def whole_numbers(x: Any, xp: Any) -> tuple[Any, ...]:
    positive = xp.sum((x > 0).astype(xp.int32), axis=-1)
    return x * positive[..., None], positive + 1, xp.max(x, axis=-1) * positive


def across(x: Any, xp: Any) -> tuple[Any, ...]:
    """One kernel reads sums of other rows than its own as well."""
    sums = xp.sum(x, axis=-1)
    here = sums[..., : x.shape[-1]]
    return x / sums[..., None] + here[..., None, :], sums * 2


def costly(x: Any, xp: Any) -> tuple[Any, ...]:
    """Elements that are not computed twice: both kernels read what the first made."""
    value = xp.exp(xp.sin(x - xp.mean(x, axis=-1, keepdims=True)))
    flat = xp.reshape(value, (-1, x.shape[-1]))
    return value / xp.sum(value, axis=-1, keepdims=True), xp.sum(flat * flat, axis=0)


def many(x: Any, xp: Any) -> tuple[Any, ...]:
    found = [xp.sum(x * n + n, axis=-1, keepdims=True) for n in range(1, 7)]
    return x * sum(found), *(each - 1 for each in found)


CASES: dict[str, tuple[Case, list[str]]] = {
    "a sum and what it divides": (total, ["rows"]),
    "softmax and logsumexp": (softmax_and_logsumexp, ["rows", "elementwise"]),
    "norm and sums of columns": (norm_and_columns, ["rows", "reduce"]),
    "costly elements": (costly, ["rows", "reduce"]),
    "loss and gradient": (loss_and_gradient, ["rows", "reduce", "elementwise"]),
    "numbers of two dtypes": (whole_numbers, ["rows", "elementwise", "reduce"]),
}

SHAPES = [(33, 64), (3, 9, 37)]


def compared(case: Case, shape: tuple[int, ...]) -> list[str]:
    """Compare all results with NumPy; return the kinds of kernels that ran."""
    numbers, _ = inputs(shape)
    numbers += 3
    results = case(tw.asarray(numbers), tw)
    with record_kernels() as records:
        tw.realize(*results)
    for got, want in zip(results, case(numbers.astype(np.float64), np), strict=True):
        assert_near(got.numpy(), want, 1e-5)
    return [record.kind for record in records]


@pytest.mark.parametrize("name", CASES)
def test_the_first_consumer_stores_a_shared_value(webgpu: str, name: str) -> None:
    case, kinds = CASES[name]
    for shape in SHAPES:
        assert compared(case, shape) == kinds


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("name", CASES)
def test_the_same_as_webassembly(name: str) -> None:
    for shape in (*SHAPES, (20, 5)):
        compared(CASES[name][0], shape)


def test_sums_of_other_rows_are_stored_first(webgpu: str) -> None:
    assert compared(across, (40, 40))[0] == "reduce"


def test_one_kernel_stores_few_results(webgpu: str) -> None:
    kinds = compared(many, (33, 16))
    assert kinds.count("reduce") == 3
    assert kinds.count("rows") == 1


def test_every_byte_is_counted_once(webgpu: str) -> None:
    x = tw.asarray(inputs((32, 64))[0])
    with record_kernels() as records:
        tw.realize(*total(x, tw))
    (record,) = records
    assert record.loaded == 32 * 64 * 4
    assert record.stored == 32 * 64 * 4 + 32 * 4
