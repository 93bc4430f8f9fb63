"""Examples from courses: elementwise operations and broadcasting."""

from __future__ import annotations

import pytest
from checks import assert_close, assert_equal, counted, floats

import tensorweb as tw
from tensorweb.errors import ShapeError
from tensorweb.shapes import align_shapes, broadcast_shapes

pytestmark = pytest.mark.usefixtures("device")

POWERS = [[2.0, 1.0], [4.0, 2.0], [8.0, 4.0]]


def test_exp() -> None:
    expected = [
        [1, 2.7182817],
        [7.389056, 20.085537],
        [54.59815, 148.41316],
    ]
    assert_close(tw.exp(counted(3, 2)), expected, rtol=1e-6)


def test_log_of_zero_is_minus_infinity() -> None:
    expected = [
        [float("-inf"), 0],
        [0.69314724, 1.0986124],
        [1.3862945, 1.6094381],
    ]
    assert_close(tw.log(counted(3, 2)), expected, rtol=1e-6)


def test_add_is_elementwise() -> None:
    assert_equal(counted(2, 2) + floats([[6, 7], [8, 9]]), [[6, 8], [10, 12]])


def test_star_is_elementwise_and_not_matmul() -> None:
    assert_equal(counted(2, 2) * floats([[6, 7], [8, 9]]), [[0, 7], [16, 27]])


def test_at_sign_is_matmul() -> None:
    assert_equal(counted(2, 2) @ floats([[6, 7], [8, 9]]), [[8, 9], [36, 41]])


def test_scalar_is_added_to_every_element() -> None:
    x = floats([2, 1, 4, 2, 8, 4])
    assert_equal(x + floats(2), [4, 3, 6, 4, 10, 6])
    assert_equal(x.reshape(2, 3) + floats([2]), [[4, 3, 6], [4, 10, 6]])
    assert_equal(x.reshape(2, 3) + 2, [[4, 3, 6], [4, 10, 6]])


@pytest.mark.parametrize("row", [[[10, 100]], [10, 100]], ids=["(1, 2)", "(2,)"])
def test_row_is_added_to_every_row(row: list[float]) -> None:
    assert_equal(floats(POWERS) + floats(row), [[12, 101], [14, 102], [18, 104]])


def test_column_is_added_to_every_column() -> None:
    column = floats([[10], [100], [1000]])
    assert_equal(floats(POWERS) + column, [[12, 11], [104, 102], [1008, 1004]])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((5, 1), (5, 3), (5, 3)),
        ((5, 1, 3), (4, 3), (5, 4, 3)),
        ((5, 1, 3), (7, 1, 4, 3), (7, 5, 4, 3)),
        ((4, 1), (3,), (4, 3)),
        ((1,), (0,), (0,)),
        ((), (2, 3), (2, 3)),
    ],
)
def test_broadcast_shapes(
    a: tuple[int, ...], b: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert broadcast_shapes(a, b) == expected
    assert (tw.zeros(a) + tw.zeros(b)).shape == expected


def test_align_shapes_shows_both_padded() -> None:
    assert align_shapes([5, 1, 3], [7, 1, 4, 3]) == (
        (1, 5, 1, 3),
        (7, 1, 4, 3),
        (7, 5, 4, 3),
    )


def test_broadcast_view_has_stride_zero() -> None:
    x = counted(1, 2, 2)
    wide = tw.broadcast_to(x, (2, 2, 2))
    assert x.strides[1:] == (2, 1)
    assert wide.strides == (0, 2, 1)
    assert_equal(wide, [[[0, 1], [2, 3]], [[0, 1], [2, 3]]])


def test_outer_sum_by_broadcasting() -> None:
    outer = floats([[1], [2], [3], [4]]) + floats([10, 20, 30])
    assert_equal(outer, [[11, 21, 31], [12, 22, 32], [13, 23, 33], [14, 24, 34]])


def test_outer_product_by_broadcasting() -> None:
    x = floats([1, 2, 3])
    assert_equal(x.reshape(3, 1) * x, [[1, 2, 3], [2, 4, 6], [3, 6, 9]])


def test_number_is_added_to_a_shaped_tensor() -> None:
    assert_equal(tw.zeros((6, 2)) + 5, [[5, 5]] * 6)


def test_operands_that_do_not_broadcast_name_both_shapes() -> None:
    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(4, 3\).*axis 0"):
        counted(2, 3) + counted(4, 3)


def test_no_operation_changes_its_operand() -> None:
    x = counted(2, 2)
    tw.exp(x)
    assert_equal(x + 1, [[1, 2], [3, 4]])
    assert_equal(-x, [[0, -1], [-2, -3]])
    assert_equal(x, [[0, 1], [2, 3]])


def test_equal_gives_bool() -> None:
    result = counted(3) == floats([0, 5, 2])
    assert result.dtype == tw.bool
    assert result.tolist() == [True, False, True]


def test_negation_and_power() -> None:
    assert_equal(-floats([1, -2, 0.5]), [-1, 2, -0.5])
    assert_equal(floats([1, -2, 3]) ** 2, [1, 4, 9])
    assert_equal(floats([-2, -2]) ** floats([3, 2]), [-8, 4])
