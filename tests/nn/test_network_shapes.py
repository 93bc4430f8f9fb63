"""Shapes that networks' functions take: broadcast, without a batch, empty."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.errors import ShapeError


def test_cosines_of_operands_that_broadcast_along_the_axis(device: str) -> None:
    row, column = tw.asarray([[3.0, 4.0]]), tw.asarray([[1.0], [1.0]])
    found = tw.nn.cosine_similarity(row, column, axis=0)
    assert found.tolist() == pytest.approx([1, 1])
    found = tw.nn.cosine_similarity(row, column, axis=1)
    assert found.tolist() == pytest.approx([7 / 50**0.5] * 2)


def test_variances_are_one_for_each_row(device: str) -> None:
    x, y = tw.ones((2, 2)), tw.zeros((2, 2))
    rows = tw.nn.gaussian_nll(x, y, tw.asarray([1.0, 4.0]), reduction="none")
    again = tw.nn.gaussian_nll(x, y, tw.asarray([[1.0], [4.0]]), reduction="none")
    assert rows.tolist() == again.tolist()
    assert rows[:, 0].tolist() == pytest.approx([0.5, 0.5 * (1.3862944 + 0.25)])
    with pytest.raises(ShapeError, match=r"var has shape \(3,\).*one variance a row"):
        tw.nn.gaussian_nll(x, y, tw.ones(3))


def test_divergence_of_numbers(device: str) -> None:
    found = tw.nn.kl_div(tw.asarray(0.5), tw.asarray(1.0), "batchmean")
    assert found.item() == pytest.approx(-0.5)


def test_differences_of_no_order_are_the_values(device: str) -> None:
    assert tw.diff(tw.asarray([1, 2]), n=0, prepend=3).tolist() == [1, 2]
