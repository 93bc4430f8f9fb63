"""`bincount` and `segment_…` against NumPy, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from accumulation_cases import changed, positions, small

import tensorweb as tw
from tensorweb.errors import DTypeError, RangeError, ShapeError, TensorIndexError


def test_bincount(device: str) -> None:
    host = np.abs(positions(5000, 90))
    np.testing.assert_array_equal(tw.bincount(host).numpy(), np.bincount(host))
    assert tw.bincount(host).dtype == tw.int32
    weights = small((5000,), "float32")
    found = tw.bincount(host, weights, minlength=200)
    assert found.dtype == tw.float32
    np.testing.assert_array_equal(found.numpy(), np.bincount(host, weights, 200))
    assert tw.bincount([]).shape == (0,)
    assert tw.bincount([], minlength=3).tolist() == [0, 0, 0]
    assert tw.bincount([2, 2], weights=[1, 2]).tolist() == [0, 0, 3]


def test_bincount_refuses(device: str) -> None:
    with pytest.raises(RangeError, match="x has -1"):
        tw.bincount([0, -1])
    with pytest.raises(RangeError, match="minlength is -1"):
        tw.bincount([0], minlength=-1)
    with pytest.raises(ShapeError, match="flatten"):
        tw.bincount([[0]])
    with pytest.raises(ShapeError, match="one weight for each"):
        tw.bincount([0, 1], weights=[1.0])
    with pytest.raises(DTypeError, match="x is float32"):
        tw.bincount([0.5])


@pytest.mark.parametrize("shape", [(700,), (700, 3), (70, 2, 5)], ids=str)
def test_segments(shape: tuple[int, ...], device: str) -> None:
    host = small(shape, "float32")
    ids = np.abs(positions(shape[0], 30))
    empty = np.zeros((32, *shape[1:]), np.float32)
    found = tw.segment_sum(host, ids, 32)
    np.testing.assert_array_equal(found.numpy(), changed(empty, ids, "add", host))
    found = tw.segment_max(host, ids, 32)
    expected = changed(empty - np.inf, ids, "max", host)
    np.testing.assert_array_equal(found.numpy(), expected)
    found = tw.segment_min(host, ids)
    expected = changed(empty[: ids.max() + 1] + np.inf, ids, "min", host)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_segments_of_other_dtypes(device: str) -> None:
    ids = [0, 2, 0]
    assert tw.segment_sum([True, True, True], ids).tolist() == [2, 0, 1]
    assert tw.segment_max([True, False, False], ids).tolist() == [True, False, False]
    assert tw.segment_min([5, 6, 7], ids).tolist() == [5, 2**31 - 1, 6]
    assert tw.segment_max([5, 6, 7], ids, 4).tolist() == [7, -(2**31), 6, -(2**31)]
    assert tw.segment_sum(tw.zeros((0, 2)), [], 3).tolist() == [[0, 0]] * 3


def test_segments_refuse(device: str) -> None:
    with pytest.raises(TensorIndexError, match="index 2 is out of range"):
        tw.segment_sum([1, 2], [0, 2], 2)
    with pytest.raises(RangeError, match="segment_ids has -1"):
        tw.segment_max([1, 2], [0, -1], 2)
    with pytest.raises(RangeError, match="num_segments is -1"):
        tw.segment_sum([1, 2], [0, 1], -1)
    with pytest.raises(ShapeError, match="one number for each slice"):
        tw.segment_min([1, 2], [0, 1, 2])
    with pytest.raises(DTypeError, match="segment_ids is float32"):
        tw.segment_sum([1, 2], [0.0, 1.0])
