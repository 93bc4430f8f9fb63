"""Where libraries built along with a course are wrong, slow or refuse: ours is not."""

from __future__ import annotations

import math
from array import array
from typing import Any

import pytest
from checks import assert_close, assert_equal, counted, floats, ramp, table

import tensorweb as tw
from tensorweb.errors import AxisError, ShapeError
from tensorweb.evaluate import DEEPEST

pytestmark = pytest.mark.usefixtures("device")

INF = float("inf")
NAN = float("nan")


def test_crop_after_flip() -> None:
    flipped = tw.flip(counted(4))
    assert_equal(flipped[1:3], [2, 1])
    assert_equal(flipped.crop([(1, 3)]), [2, 1])


def test_flip_and_crop_chains_share_storage(np: Any) -> None:
    x = counted(5, 7)
    host = ramp(5, 7)
    result, expected = x, host
    for _ in range(2):
        result = tw.flip(result, axis=1)[1:, 1:].T
        expected = expected[:, ::-1][1:, 1:].T
    assert result.shares_memory_with(x)
    assert result.strides == tuple(s // 4 for s in expected.strides)
    assert_equal(result, expected)
    assert_equal(result + 1, expected + 1)
    assert_equal(result.sum(0), expected.sum(0))


@pytest.mark.parametrize("start", [None, 5, -2], ids=str)
@pytest.mark.parametrize("stop", [None, 0, -7], ids=str)
@pytest.mark.parametrize("step", [-1, -2, -7], ids=str)
def test_negative_steps(start: int | None, stop: int | None, step: int) -> None:
    key = (slice(None), slice(start, stop, step))
    assert_equal(
        counted(3, 7)[key] * 2,
        [[2 * n for n in range(7 * i, 7 * i + 7)[key[1]]] for i in range(3)],
    )


def test_views_share_memory() -> None:
    x = counted(2, 3, 5)
    views = [
        x[1],
        x[:, 1:, ::2],
        x.reshape(6, 5),
        x.permute(2, 0, 1),
        x.transpose(0, 1),
        x.crop([(0, 1), (1, 3), (2, 4)]),
        tw.flip(x),
        x[:1].expand(4, 3, 5),
        x.unsqueeze(1),
        tw.broadcast_to(x, (7, 2, 3, 5)),
    ]
    assert all(view.shares_memory_with(x) for view in views)
    assert not (x + 0).shares_memory_with(x)
    assert not x.copy().shares_memory_with(x)
    assert not x[0].shares_memory_with(x[1])


@pytest.mark.parametrize(
    ("values", "largest", "smallest"),
    [
        ([-INF] * 4, -INF, -INF),
        ([INF] * 3, INF, INF),
        ([1, NAN, 2], NAN, NAN),
        ([NAN], NAN, NAN),
        ([-INF, INF, 0], INF, -INF),
    ],
    ids=str,
)
def test_extremes_of_infinities_and_nan(
    values: list[float], largest: float, smallest: float
) -> None:
    assert_equal(floats(values).max(), largest)
    assert_equal(floats(values).min(), smallest)


def test_power_of_negative_numbers() -> None:
    base = floats([-2, -2, -2, -0.5, -8, 0])
    exponent = floats([0, 3, -2, 2, 1 / 3, -1])
    assert_equal(base**exponent, [1, -8, 0.25, 0.25, NAN, INF])


def test_permutations_are_checked() -> None:
    x = counted(2, 3, 5)
    for axes in [(1, 1, 1), (0, 1), (0, 1, 3), (0, 1, 2, 3)]:
        with pytest.raises(AxisError, match=r"exactly once|out of range"):
            x.permute(*axes)
    assert x.permute(-1, 0, 1).shape == (5, 2, 3)


def test_expand_adds_axes_in_front() -> None:
    assert_equal(counted(3).expand(2, 3), [[0, 1, 2], [0, 1, 2]])
    with pytest.raises(ShapeError, match=r"\(3,\).*\(4,\)"):
        counted(3).expand(4)
    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(3,\)"):
        counted(2, 3).expand(3)


def test_zero_length_axes() -> None:
    x = tw.zeros((2, 0, 3))
    assert x.reshape(0, 5).shape == (0, 5)
    assert x.reshape(3, 0).tolist() == [[], [], []]
    assert_equal(x.sum(1), [[0, 0, 0], [0, 0, 0]])
    assert x.sum(0).shape == (0, 3)
    assert x.sum(0).tolist() == []
    assert tw.exp(x).shape == (2, 0, 3)
    assert tw.exp(x).tolist() == [[], []]
    assert_equal(counted(5)[3:3], [])
    assert_equal(counted(5).crop([(2, 2)]), [])
    with pytest.raises(ShapeError, match=r"max.*\(2, 0, 3\).*empty"):
        x.max(1)


def test_zero_axes() -> None:
    x = tw.asarray(2.5)
    assert_equal(tw.exp(x * 0), 1)
    assert_equal(x.permute(), 2.5)
    assert_equal(x.expand(2, 2), [[2.5, 2.5], [2.5, 2.5]])
    assert_equal(x[None], [2.5])
    assert_equal(x[...], 2.5)
    assert_equal(tw.max(x), 2.5)


def test_gather_keeps_infinities_apart() -> None:
    x = floats([[INF, 1], [NAN, 2], [3, 4]])
    assert_equal(x[[2, 0]], [[3, 4], [INF, 1]])
    assert_equal(x[:, [1]], [[1], [2], [4]])


def test_a_million_small_numbers_add_up_exactly_enough() -> None:
    numbers = array("f", [0.1]) * 1_000_000
    total = tw.asarray(numbers).sum().item()
    assert total == pytest.approx(numbers[0] * 1_000_000, rel=1e-6)


def test_dot_of_a_million_elements() -> None:
    ramp_ = tw.arange(1_000_000, dtype=tw.int32)
    a = (ramp_ % 3).astype(tw.float32)
    b = (ramp_ % 5).astype(tw.float32)
    assert_equal(a @ b, sum((n % 3) * (n % 5) for n in range(1_000_000)))


def test_more_elements_than_one_row_of_workgroups() -> None:
    count = 65_535 * 256 + 1_234_567
    numbers = tw.arange(count, dtype=tw.int32)
    doubled = (numbers * 2 + 1).realize()
    indices = [0, 65_535 * 256 - 1, 65_535 * 256, count - 1]
    assert doubled[indices].tolist() == [2 * index + 1 for index in indices]
    assert (numbers % 7).sum().item() == count // 7 * 21 + sum(range(count % 7))
    assert numbers.max().item() == count - 1


def test_matmul_of_512_cubed(np: Any) -> None:
    host = np.arange(512 * 512).reshape(512, 512)
    a, b = host % 7, host % 5
    product = tw.asarray(np.float32(a)) @ tw.asarray(np.float32(b))
    assert_equal(product, a @ b)


def test_long_loops_stay_bounded() -> None:
    x = floats([0.0, 1.0])
    for _ in range(1000):
        x = x + 1
        assert x.node.depth <= DEEPEST + 1
    assert_equal(x, [1000, 1001])


def test_values_used_twice_are_right() -> None:
    x = counted(4, 3)
    y = tw.exp(x / 12)
    total = y / y.sum(1, keepdims=True) + y.max(0)
    host = table(lambda i, j: math.exp((3 * i + j) / 12), 4, 3)
    expected = [
        [n / sum(row) + m for n, m in zip(row, host[3], strict=True)] for row in host
    ]
    assert_close(total, expected, rtol=1e-6)


def test_bool_and_integers_are_stored_as_they_are() -> None:
    flags = tw.asarray([True, False, True])
    assert flags.dtype == tw.bool
    assert_equal(flags + flags, [True, False, True])
    assert flags.sum().dtype == tw.int32
    large = tw.asarray([2**31 - 1, -(2**31)])
    assert_equal(large + 0, [2**31 - 1, -(2**31)])
    assert_equal(large + 1, [-(2**31), -(2**31) + 1])
