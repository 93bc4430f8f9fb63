"""Examples from courses: sums, maxima and scans."""

from __future__ import annotations

from typing import Any

import pytest
from checks import assert_equal, counted, floats

import tensorweb as tw

pytestmark = pytest.mark.usefixtures("device")

Axes = int | tuple[int, ...] | None


@pytest.mark.parametrize(
    ("axis", "expected"),
    [((0, 1), [[6]]), (0, [[2, 4]]), (1, [[1], [5]])],
    ids=str,
)
def test_sum_can_keep_reduced_axes(axis: Axes, expected: object) -> None:
    assert_equal(tw.sum(counted(2, 2), axis=axis, keepdims=True), expected)


def test_sum_of_a_vector() -> None:
    assert_equal(tw.sum(counted(4), axis=0), 6)


def test_sum_of_columns_of_one_to_twenty() -> None:
    x = counted(4, 5) + 1
    assert_equal(x.sum(0), [34, 38, 42, 46, 50])
    halves = x.reshape(2, 2, 5).sum(0)
    assert_equal(halves, [[12, 14, 16, 18, 20], [22, 24, 26, 28, 30]])
    assert_equal(x[0:4, 0:1], [[1], [6], [11], [16]])


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (0, [[36, 40], [44, 48], [52, 56]]),
        (1, [[6, 9], [24, 27], [42, 45], [60, 63]]),
        (2, [[1, 5, 9], [13, 17, 21], [25, 29, 33], [37, 41, 45]]),
        (-1, [[1, 5, 9], [13, 17, 21], [25, 29, 33], [37, 41, 45]]),
    ],
)
def test_sum_removes_the_axis_by_default(axis: int, expected: object) -> None:
    assert_equal(counted(4, 3, 2).sum(axis), expected)


def test_inclusive_scan() -> None:
    x = floats([3, 1, 7, 0, 4, 1, 6, 3])
    assert_equal(tw.cumulative_sum(x), [3, 4, 11, 11, 15, 16, 22, 25])


def test_sum_and_max_of_a_small_matrix() -> None:
    x = counted(2, 3)
    assert_equal(x.sum(0), [3, 5, 7])
    assert_equal(x.sum(1), [3, 12])
    assert_equal(x.sum(), 15)
    assert_equal(x.max(0), [3, 4, 5])
    assert_equal(x.max(1), [2, 5])
    assert_equal(x.max(), 5)


def test_sum_of_long_rows() -> None:
    assert_equal(counted(2, 128).sum(1), [8128, 24512])


def test_sum_and_max_of_a_larger_matrix() -> None:
    x = counted(60, 60)
    assert_equal(x.sum(), 6_478_200)
    assert_equal(x.max(1), range(59, 3600, 60))


def test_sum_of_an_expanded_view() -> None:
    assert_equal(tw.ones((1, 1, 1)).expand(4, 2, 4).sum(0), [[4] * 4] * 2)


def test_sum_of_a_permuted_view() -> None:
    assert_equal(counted(2, 3).permute(1, 0).sum(0), [3, 12])


@pytest.mark.parametrize(
    ("axis", "expected"),
    [(0, [18, 34, 58]), (1, [10, 100]), ((0, 1), 110)],
    ids=str,
)
def test_product_and_sum_fuse(axis: Axes, expected: object) -> None:
    a = counted(2, 3)
    assert_equal((a * (2 * a)).sum(axis), expected)


@pytest.mark.parametrize(
    ("axis", "expected"),
    [(0, [24, 40, 56]), (1, [24, 96]), ((0, 1), 120)],
    ids=str,
)
def test_product_and_sum_of_an_expanded_operand(axis: Axes, expected: object) -> None:
    eights = floats([[8]]).expand(2, 3)
    assert_equal((eights * counted(2, 3)).sum(axis), expected)


def test_rows_and_columns_are_normalised_over_different_axes() -> None:
    table = floats([[1, 3], [4, 4]])
    rows = table / table.sum(1, keepdims=True)
    columns = table / table.sum(0, keepdims=True)
    assert_equal(rows, [[0.25, 0.75], [0.5, 0.5]])
    assert_equal(columns, floats([[1 / 5, 3 / 7], [4 / 5, 4 / 7]]).tolist())


@pytest.mark.parametrize("axis", [0, 1, 2, -3, (0, 2), (-1, 0), None], ids=str)
def test_every_axis_choice_equals_numpy(axis: Axes, np: Any) -> None:
    x = counted(2, 3, 5)
    host = np.asarray(x)
    assert_equal(x.sum(axis), host.sum(axis))
    assert_equal(x.max(axis, keepdims=True), host.max(axis, keepdims=True))
