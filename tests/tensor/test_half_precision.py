"""What float16 operations made of many additions give: rounded once, at the end."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tensorweb as tw


def halves(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    made = np.random.default_rng(7).normal(0, 1, shape)
    return made.astype(np.float16)


def test_sums_beyond_the_range_have_a_mean(device: str) -> None:
    x = tw.full((1000,), 100.0, dtype=tw.float16)
    assert x.mean().item() == 100
    assert x.var().item() == 0
    assert x.std().item() == 0
    assert x.mean().dtype is tw.float16


def test_counts_beyond_the_range_have_a_mean(device: str) -> None:
    x = tw.ones(70_000, dtype=tw.float16)
    assert x.mean().item() == 1
    assert (x.reshape((2, 35_000)) * 0.5).mean(axis=1).tolist() == [0.5, 0.5]


def test_squares_beyond_the_range_have_a_deviation(device: str) -> None:
    x = tw.asarray([1000.0, -1000.0], dtype=tw.float16)
    assert x.std().item() == 1000


def test_pools_beyond_the_range_have_a_mean(device: str) -> None:
    x = tw.full((1, 1, 4, 4), 60_000.0, dtype=tw.float16)
    assert tw.avg_pool2d(x, 2).tolist() == [[[[60_000.0] * 2] * 2]]


@pytest.mark.parametrize("name", ["prod", "cumulative_prod", "cumulative_sum"])
def test_many_steps_round_once(name: str, device: str) -> None:
    host = halves(40)
    function = {"prod": np.prod, "cumulative_prod": np.cumprod}.get(name, np.cumsum)
    expected = function(host.astype(np.float64))
    axis = {} if name == "prod" else {"axis": 0}
    got = getattr(tw, name)(tw.asarray(host), **axis).numpy()
    near = np.spacing(np.abs(expected).astype(np.float16)).astype(np.float64)
    assert np.all(np.abs(got.astype(np.float64) - expected) <= 0.6 * near)


CONTRACTIONS = ("i,i->", "i,j->", "i,i,i->", "i,j->i", "i->")


@pytest.mark.parametrize("text", CONTRACTIONS)
def test_einsum_rounds_once(text: str, device: str) -> None:
    operands = [halves(30) for _ in range(text.count(",") + 1)]
    expected = np.einsum(text, *[each.astype(np.float64) for each in operands])
    got = tw.einsum(text, *[tw.asarray(each) for each in operands])
    assert got.dtype is tw.float16
    near = np.spacing(np.abs(expected).astype(np.float16)).astype(np.float64)
    error = np.abs(got.numpy().astype(np.float64) - expected)
    assert np.all(error <= 0.6 * near + 1e-6)


def test_vecdot_adds_products_before_it_rounds(device: str) -> None:
    x = tw.asarray([300.0, 300.0], dtype=tw.float16)
    y = tw.asarray([300.0, -300.0], dtype=tw.float16)
    assert tw.vecdot(x, y).item() == 0
    assert tw.vecdot(x, y).dtype is tw.float16


@pytest.mark.usefixtures("device")
def test_difference_of_an_infinity_with_itself_is_nan() -> None:
    x = tw.asarray([math.inf, 1.0, -math.inf], dtype=tw.float16)
    assert [math.isnan(value) for value in (x - x).tolist()] == [True, False, True]
