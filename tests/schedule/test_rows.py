"""Softmax, norms and their like from ordinary Python: one kernel, one reading."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import record_kernels
from tensorweb.tensor import Tensor

pytestmark = pytest.mark.usefixtures("webgpu")


def softmax(x: Tensor, row: Tensor) -> Tensor:
    e = tw.exp(x - tw.max(x, axis=-1, keepdims=True))
    return e / tw.sum(e, axis=-1, keepdims=True)


def layernorm(x: Tensor, row: Tensor) -> Tensor:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / tw.sqrt(variance + 1e-5) * row + 0.5


FORMULAS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax": softmax,
    "log softmax": lambda x, row: x - tw.log(tw.exp(x).sum(axis=-1, keepdims=True)),
    "layernorm": layernorm,
    "scaled by its maximum": lambda x, row: x / tw.max(x, axis=-1, keepdims=True),
    "range": lambda x, row: (
        (x - x.min(axis=-1, keepdims=True)) * (x.max(axis=-1, keepdims=True) + 1)
    ),
    "integer counts": lambda x, row: (
        (x * 9).astype(tw.int32) * (x * 9).astype(tw.int32).sum(axis=-1, keepdims=True)
    ),
    "bool result": lambda x, row: x == x.max(axis=-1, keepdims=True),
}

SHAPES = [(64, 128), (33, 37), (5, 7, 130), (20, 4096), (17, 5001)]


def both(function: Callable[..., Tensor], *arrays: np.ndarray) -> list[str]:
    """Compare both devices; return the kinds of kernels that ran."""
    want = function(*(tw.asarray(a, device="cpu") for a in arrays)).numpy()
    value = function(*(tw.asarray(a) for a in arrays))
    with record_kernels() as records:
        got = value.numpy()
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)
    else:
        np.testing.assert_array_equal(got, want)
    return [record.kind for record in records]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).uniform(-2, 2, shape).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        (name, shape)
        for name in FORMULAS
        for shape in (SHAPES if name in ("softmax", "integer counts") else SHAPES[1::3])
    ],
)
def test_rows_are_finished_in_one_kernel(name: str, shape: tuple[int, ...]) -> None:
    assert both(FORMULAS[name], numbers(*shape), numbers(shape[-1])) == ["rows"]


def test_large_values_do_not_overflow() -> None:
    x = tw.asarray([[1000.0, 999.0, -1000.0]] * 20)
    first = softmax(x, x).tolist()[0]
    assert first == pytest.approx([0.7310586, 0.26894143, 0.0], rel=1e-6)


def test_row_with_nan_or_infinity_keeps_to_itself() -> None:
    a = numbers(20, 40)
    a[3, 5], a[7, 1] = np.nan, -np.inf
    got = softmax(tw.asarray(a), tw.asarray(a)).numpy()
    assert np.isnan(got[3]).all()
    assert got[7, 1] == 0.0
    assert np.isfinite(np.delete(got, 3, 0)).all()


def test_transposed_input() -> None:
    assert both(lambda x: softmax(x.T, x), numbers(33, 40)) == ["rows"]


def test_normalising_over_the_wrong_axis_is_no_row_kernel() -> None:
    positive = numbers(33, 33) + 5
    assert both(lambda x: x / x.sum(axis=1), positive) == ["reduce", "elementwise"]


def test_long_rows_and_few_rows_are_spread_over_workgroups() -> None:
    assert both(lambda x: softmax(x, x), numbers(3, 5000))[-1] == "elementwise"
    assert both(lambda x: softmax(x, x), numbers(2, 20_000))[-1] == "elementwise"


def test_after_a_matmul() -> None:
    assert both(lambda x: softmax(x @ x.T, x), numbers(33, 40)) == ["matmul", "rows"]


@pytest.mark.parametrize("column", range(5))
@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_wins_wherever_it_stands(name: str, column: int) -> None:
    a = numbers(20, 64)
    a[7, column] = np.nan

    def is_extreme(x: Tensor) -> Tensor:
        return x == getattr(x, name)(axis=1, keepdims=True)

    assert both(is_extreme, a) == ["rows"]
    assert not is_extreme(tw.asarray(a)).numpy()[7].any()
