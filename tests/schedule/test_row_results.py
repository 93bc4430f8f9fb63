"""Rows with masks, gathers and borders, and results for each row: one launch each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import record_kernels
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tests.row_formulas import (
    FORMULAS,
    SHAPES,
    assert_near,
    inputs,
    logsumexp,
    picked,
    softmax,
)


def ran(value: tw.Tensor) -> list[str]:
    """Compute a value; return the kinds of kernels that ran."""
    with record_kernels() as records:
        tw.realize(value)
    return [record.kind for record in records]


@pytest.mark.parametrize("name", FORMULAS)
def test_one_launch_reads_everything_once(webgpu: str, name: str) -> None:
    phase = [*FORMULAS].index(name) % 2
    often = name in ("causal", "variance")
    for shape in SHAPES[:5] if often else SHAPES[phase : phase + 1]:
        numbers, labels = inputs(shape)
        if name == "rows_of_a_table":
            labels %= max(numbers.size // shape[-1], 1)
        y = FORMULAS[name](tw.asarray(numbers), tw.asarray(labels), tw)
        with record_kernels() as records:
            got = y.numpy()
        assert_near(got, FORMULAS[name](numbers.astype(np.float64), labels, np))
        (record,) = records
        assert record.kind == "rows"
        assert record.stored == got.size * 4
        assert record.loaded <= numbers.nbytes + labels.nbytes + 4 * shape[-1]


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("name", FORMULAS)
def test_the_same_as_webassembly(name: str) -> None:
    for shape in SHAPES:
        numbers, labels = inputs(shape)
        if name == "rows_of_a_table":
            labels %= max(numbers.size // shape[-1], 1)
        y = FORMULAS[name](tw.asarray(numbers), tw.asarray(labels), tw)
        (planned,) = plan(linearize([y.node.base]), 64)
        assert planned.kernel.kind == "rows"
        assert_near(y.numpy(), FORMULAS[name](numbers.astype(np.float64), labels, np))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_specials_stay_in_their_rows(device: str, special: float) -> None:
    numbers, labels = inputs((20, 32))
    numbers[7, 3] = numbers[9] = special
    x = tw.asarray(numbers)
    with np.errstate(invalid="ignore"):
        for formula in ("causal", "logsumexp", "variance"):
            want = FORMULAS[formula](numbers, labels, np)
            got = FORMULAS[formula](x, tw.asarray(labels), tw).numpy()
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["causal", "one_hot", "columns_of_a_table", "bordered"]
)
def test_views_of_rows(webgpu: str, name: str) -> None:
    numbers, labels = inputs((40, 66))
    x, labels = tw.asarray(numbers), labels % 20
    views: dict[str, Any] = {
        "backwards": lambda a: a[::-2, ::-1],
        "transposed": lambda a: a[:, :40].T[:20],
        "cut": lambda a: a[1::2, 3:],
    }
    for name_of_view, view in views.items():
        y = FORMULAS[name](view(x), tw.asarray(labels[:20]), tw)
        want = FORMULAS[name](view(numbers).astype(np.float64), labels[:20], np)
        assert ran(y) == ["rows"], name_of_view
        assert_near(y.numpy(), want)


@pytest.mark.parametrize("shape", [(0, 5), (4, 0), (5, 1), (1, 1)], ids=str)
def test_nothing_and_single_elements(device: str, shape: tuple[int, int]) -> None:
    numbers = np.ones(shape, np.float32)
    x = tw.asarray(numbers)
    assert softmax(x, tw).shape == shape if shape[1] else True
    with np.errstate(all="ignore"):
        got = (
            x.sum(axis=-1) + (x - x.sum(axis=-1, keepdims=True)).sum(axis=-1)
        ).numpy()
        rest = numbers - numbers.sum(-1, keepdims=True)
        np.testing.assert_array_equal(got, numbers.sum(-1) + rest.sum(-1))


def test_a_mean_over_rows_reads_one_number_of_each(webgpu: str) -> None:
    numbers, labels = inputs((33, 37))
    loss = picked(tw.asarray(numbers), tw.asarray(labels), tw).mean()
    assert ran(loss) == ["rows", "reduce"]
    assert_near(loss.numpy(), picked(numbers.astype(np.float64), labels, np).mean())


def test_a_result_per_row_is_seen_in_other_shapes(webgpu: str) -> None:
    numbers, _ = inputs((6, 8, 20))
    x = tw.asarray(numbers)
    y = 2 * tw.reshape(logsumexp(x, tw), (3, 16))
    assert ran(y) == ["rows"]
    want = 2 * np.reshape(logsumexp(numbers.astype(np.float64), np), (3, 16))
    assert_near(y.numpy(), want)
    transposed = logsumexp(x, tw).T * 2
    assert_near(transposed.numpy(), 2 * logsumexp(numbers.astype(np.float64), np).T)


def test_a_result_per_row_combines_with_broadcast_axes(device: str) -> None:
    """A row of 4 repeated over (6, 4) has no strides along the 24 rows."""
    numbers, _ = inputs((24, 5))
    x, other = tw.asarray(numbers), np.arange(4, dtype=np.float32)
    centred = x - x.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    got = tw.reshape(spread, (6, 4)) * other
    assert_near(got.numpy(), 5 * numbers.var(axis=1).reshape(6, 4) * other)
    got = tw.reshape(logsumexp(x, tw), (6, 4)) + other
    want = logsumexp(numbers.astype(np.float64), np)
    assert_near(got.numpy(), want.reshape(6, 4) + other)


def test_a_gather_at_indices_from_a_sum_follows_the_sum(webgpu: str) -> None:
    numbers, _ = inputs((20, 16))
    x, whole = tw.asarray(numbers), tw.asarray((numbers > 0).astype(np.int32))
    indices = whole.sum(axis=-1, keepdims=True) % 16
    y = tw.take_along_axis(x, indices, axis=-1) * x.sum(axis=-1, keepdims=True) * x
    counted = (numbers > 0).sum(-1, keepdims=True) % 16
    want = np.take_along_axis(numbers, counted, axis=-1) * numbers
    want = want * numbers.sum(-1, keepdims=True)
    np.testing.assert_allclose(y.numpy(), want, rtol=2e-5, atol=1e-6)


def test_a_gathered_element_does_not_keep_rows_from_vectors(webgpu: str) -> None:
    numbers, labels = inputs((33, 64))
    loss = picked(tw.asarray(numbers), tw.asarray(labels), tw)
    with record_kernels() as records:
        got = loss.numpy()
    assert "input0: array<vec4<f32>>" in records[0].source
    assert_near(got, picked(numbers.astype(np.float64), labels, np))


def test_the_last_elements_of_a_storage_are_gathered_one_by_one(webgpu: str) -> None:
    """They fill no vector, so the storage is not read in vectors at all."""
    base = np.arange(16 * 8 + 3, dtype=np.float32)
    x = tw.realize(tw.asarray(base) + 0)
    rows = tw.reshape(x[: 16 * 8], (16, 8))
    indices = tw.asarray(np.full(16, 16 * 8 + 2, np.int32))
    y = tw.max(rows, axis=-1) - tw.min(rows, axis=-1) + x[indices]
    with record_kernels() as records:
        got = y.numpy()
    (record,) = records
    assert record.kind == "rows"
    assert "array<vec4<f32>>" not in record.source
    np.testing.assert_array_equal(got, np.full(16, 7 + base[-1]))


def test_rows_that_are_too_long_or_too_few_are_split(webgpu: str) -> None:
    numbers, _ = inputs((2, 20_000))
    y = tw.var(tw.asarray(numbers), axis=-1)
    assert ran(y) == ["reduce"] * 4
    assert_near(y.numpy(), numbers.astype(np.float64).var(-1))


def test_a_value_of_rows_is_there_before_it_is_gathered_from(device: str) -> None:
    x = tw.asarray([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]])
    total = x.sum(axis=1)
    assert (total[tw.asarray([2, 0, 1])] <= total).tolist() == [False, True, False]
