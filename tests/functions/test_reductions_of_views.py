"""Reductions of every view along every axis, on both devices, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import AxisError, DTypeError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

NAMES = ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all"]
EVERY_VIEW = ["max", "mean", "var"]
"""Each view along each axis is a kernel: the others see one view along an axis."""
AXES: list[Any] = [None, 0, -1, (0, 2), (2, 1), ()]


def views(host: np.ndarray[Any, Any], x: tw.Tensor) -> list[tuple[Any, tw.Tensor]]:
    """Return views of equal numbers in NumPy and in tensorweb."""
    return [
        (host, x),
        (host.transpose(2, 0, 1), x.permute(2, 0, 1)),
        (host[:, ::-2, 1:], x[:, ::-2, 1:]),
        (np.broadcast_to(host[:1], host.shape), x[:1].broadcast_to(host.shape)),
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_reductions_of_views(name: str, axis: Any) -> None:
    numbers = np.random.default_rng(5).random((2, 3, 5)).astype(np.float32) * 2 - 1
    pairs = views(numbers, tw.asarray(numbers))
    if name not in EVERY_VIEW:
        phase = NAMES.index(name) + AXES.index(axis)
        pairs = pairs[phase % 4 : phase % 4 + 1]
    for host, x in pairs:
        for keepdims in (False, True):
            got = getattr(tw, name)(x, axis, keepdims=keepdims)
            expected = np.asarray(getattr(np, name)(host, axis, keepdims=keepdims))
            assert got.shape == expected.shape
            np.testing.assert_allclose(got.numpy(), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_indices_of_extremes(name: str, axis: int | None) -> None:
    numbers = np.random.default_rng(6).integers(0, 4, (2, 3, 5)).astype(np.int32)
    for host, x in views(numbers, tw.asarray(numbers)):
        assert_equal(getattr(x, name)(axis), getattr(np, name)(host, axis))
        kept = getattr(np, name)(host, axis, keepdims=True)
        assert_equal(getattr(x, name)(axis, keepdims=True), kept)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        (tw.bool, tw.int32),
        (tw.int32, tw.int32),
        (tw.uint32, tw.uint32),
        (tw.float32, tw.float32),
    ],
)
def test_dtype_of_sums(dtype: tw.DType, result: tw.DType) -> None:
    x = tw.ones((2, 3), dtype=dtype)
    assert x.sum().dtype is x.prod().dtype is x.cumulative_sum(0).dtype is result
    assert x.sum(dtype=tw.float32).dtype is tw.float32
    assert x.max().dtype is dtype
    assert x.mean().dtype is x.var().dtype is tw.float32


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums_and_products(axis: int) -> None:
    host = np.random.default_rng(7).integers(-3, 4, (2, 3, 5)).astype(np.int32)
    for view, x in views(host, tw.asarray(host)):
        assert_equal(x.cumulative_sum(axis), np.cumsum(view, axis))
        assert_equal(x.cumulative_prod(axis), np.cumprod(view, axis))
        expected = np.cumulative_sum(view, axis=axis, include_initial=True)
        assert_equal(x.cumulative_sum(axis, include_initial=True), expected)
        expected = np.cumulative_prod(view, axis=axis, include_initial=True)
        assert_equal(x.cumulative_prod(axis, include_initial=True), expected)


def test_running_sums_need_an_axis() -> None:
    assert_equal(tw.cumulative_sum([1, 2, 3]), [1, 3, 6])
    with pytest.raises(AxisError, match=r"cumulative_sum: shape \(2, 3\)"):
        tw.cumulative_sum(ramp(2, 3))


def test_variance_keeps_digits_for_a_large_mean() -> None:
    numbers = np.array([4096.0, 4096.5, 4097.0], np.float32)
    assert tw.var(numbers).item() == pytest.approx(1 / 6, rel=1e-5)
    assert tw.std(numbers, correction=1).item() == pytest.approx(0.5, rel=1e-5)


def test_count_nonzero() -> None:
    host = ramp(2, 3, 5) % 3
    assert_equal(tw.count_nonzero(host), np.count_nonzero(host))
    assert_equal(tw.count_nonzero(host, axis=1), np.count_nonzero(host, axis=1))


def test_nothing_sums_to_zero() -> None:
    x = tw.zeros((0, 3))
    assert_equal(x.sum(), 0)
    assert_equal(x.sum(0), [0, 0, 0])
    assert_equal(x.prod(0), [1, 1, 1])
    assert_equal(x.any(0), [False] * 3)
    assert_equal(x.all(0), [True] * 3)
    assert x.sum(1).shape == (0,)
    assert x.max(1).shape == (0,)
    assert np.isnan(x.mean(0).numpy()).all()
    assert x.cumulative_sum(0).shape == (0, 3)
    assert_equal(x.cumulative_sum(0, include_initial=True), [[0, 0, 0]])


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_nothing_has_no_extreme(name: str) -> None:
    with pytest.raises(ShapeError, match=rf"{name}: .*\(0, 3\) is empty"):
        getattr(tw.zeros((0, 3)), name)(0)


def test_axes_are_checked() -> None:
    x = tw.ones((2, 3))
    with pytest.raises(AxisError, match=r"axis 2 is out of range.*2 axes"):
        x.sum(2)
    with pytest.raises(AxisError, match="same axis twice"):
        x.sum((0, -2))
    with pytest.raises(AxisError, match="0-d"):
        x.sum().sum(0)
    with pytest.raises(IndexError):
        x.argmax(5)
    with pytest.raises(DTypeError, match="correction"):
        x.var(correction="1")
