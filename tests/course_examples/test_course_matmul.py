"""Examples from courses: matrix products, whole and from small parts."""

from __future__ import annotations

from operator import mul

import pytest
from checks import assert_equal, counted, floats, table

import tensorweb as tw

pytestmark = pytest.mark.usefixtures("device")


def linear(start: int, *shape: int) -> tw.Tensor:
    """Return start, start + 1, … in a shape."""
    return counted(*shape) + start


def test_matmul_from_parts() -> None:
    left = counted(3, 4).reshape(3, 1, 4)
    right = linear(12, 4, 3).reshape(1, 4, 3).transpose(2, 1)
    assert right.shape == (1, 3, 4)
    assert_equal(right[0], [[12, 15, 18, 21], [13, 16, 19, 22], [14, 17, 20, 23]])
    product = left * right
    expected = [
        [[0, 15, 36, 63], [0, 16, 38, 66], [0, 17, 40, 69]],
        [[48, 75, 108, 147], [52, 80, 114, 154], [56, 85, 120, 161]],
        [[96, 135, 180, 231], [104, 144, 190, 242], [112, 153, 200, 253]],
    ]
    assert_equal(product, expected)
    total = product.sum(2, keepdims=True)
    assert total.shape == (3, 3, 1)
    result = [[114, 120, 126], [378, 400, 422], [642, 680, 718]]
    assert_equal(total.squeeze(-1), result)
    assert_equal(counted(3, 4) @ linear(12, 4, 3), result)


def test_small_matmul() -> None:
    right = floats([[6, 5], [4, 3], [2, 1]])
    assert_equal(linear(1, 2, 3) @ right, [[20, 14], [56, 41]])


def test_batched_matmul() -> None:
    expected = [60, 70, 160, 195, 260, 320, 1210, 1295, 1560, 1670, 1910, 2045]
    result = counted(2, 3, 5) @ counted(2, 5, 2)
    assert result.shape == (2, 3, 2)
    assert_equal(result.ravel(), expected)


def test_batches_broadcast() -> None:
    left = linear(1, 3, 2, 2, 3)
    right = tw.linspace(39, 72, 12).reshape(2, 3, 2)
    expected = [
        [282, 300, 687, 732, 1524, 1596, 2091, 2190],
        [1902, 2028, 2307, 2460, 3792, 3972, 4359, 4566],
        [3522, 3756, 3927, 4188, 6060, 6348, 6627, 6942],
    ]
    assert_equal(right.ravel(), range(39, 73, 3))
    product = left @ right
    assert product.shape == (3, 2, 2, 2)
    assert_equal(product.reshape(3, 8), expected)


def test_matrix_times_vector() -> None:
    assert_equal(linear(1, 4, 3) @ floats([1, 2, 3]), [14, 32, 50, 68])


def test_vector_times_matrix() -> None:
    assert_equal(floats([1, 2, 3, 4]) @ linear(1, 4, 3), [70, 80, 90])


def test_vector_times_vector_is_a_number() -> None:
    assert_equal(floats([1, 2, 3]) @ floats([4, 5, 6]), 32)


def test_vector_times_stack_of_matrices() -> None:
    stack = counted(2, 3, 5)
    assert_equal(counted(3) @ stack, table(lambda i, k: 45 * i + 3 * k + 25, 2, 5))
    assert_equal(stack @ counted(5), table(lambda i, j: 150 * i + 50 * j + 30, 2, 3))


def test_wide_matmul_has_the_right_shape_and_corners() -> None:
    result = tw.ones((2000, 50)) @ tw.ones((50, 2000))
    assert result.shape == (2000, 2000)
    assert_equal(result[::1999, ::1999], [[50, 50], [50, 50]])


def test_dot_of_stacks_contracts_one_axis() -> None:
    a, b = tw.ones((9, 5, 7, 4)), tw.ones((9, 5, 4, 3))
    dot = tw.tensordot(a, b, axes=([3], [2]))
    assert dot.shape == (9, 5, 7, 9, 5, 3)
    assert_equal(dot[8, 4, 6, 8, 4], [4, 4, 4])
    product = tw.matmul(a, b)
    assert product.shape == (9, 5, 7, 3)
    assert_equal(product[8, 4, 6], [4, 4, 4])


@pytest.mark.parametrize("dtype", [tw.int32, tw.uint32], ids=str)
def test_integer_matmul_is_exact(dtype: object) -> None:
    a = table(lambda i, k: (5 * i + k) * 1_000_003, 3, 5)
    b = table(lambda k, j: 2 * k + j + 7, 5, 2)
    result = tw.asarray(a, dtype=dtype) @ tw.asarray(b, dtype=dtype)
    assert result.dtype == dtype
    columns = list(zip(*b, strict=True))
    assert_equal(
        result, [[sum(map(mul, row, column)) for column in columns] for row in a]
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 3), (3, 0)), ((0,), (0,))],
    ids=str,
)
def test_matmul_with_zero_lengths(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    product = tw.ones(a) @ tw.ones(b)
    assert product.shape == (*a[:-1], *b[1:])
    assert_equal(product.ravel(), [0] * product.size)


def test_identity_changes_nothing() -> None:
    x = counted(5, 3)
    assert_equal(tw.eye(5) @ x, x.tolist())
    assert_equal(
        tw.eye(5, 7, k=1) @ counted(7, 2), [[n, n + 1] for n in range(2, 12, 2)]
    )
