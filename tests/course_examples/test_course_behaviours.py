"""What the courses list of a tensor library, and the gaps that they leave open."""

from __future__ import annotations

import math
from typing import Any

import pytest
from checks import assert_equal, counted, floats, ramp, table

import tensorweb as tw
from tensorweb import shapes
from tensorweb.errors import AxisError, DataError, ShapeError, TensorIndexError

pytestmark = pytest.mark.usefixtures("device")


def test_shape_ndim_size() -> None:
    x = counted(2, 3, 4)
    assert (x.shape, x.ndim, x.size) == ((2, 3, 4), 3, 24)
    assert x[1, 2, 3].item() == 23
    assert counted(37)[0].item() == counted(1, 37)[0, 0].item() == 0


def test_a_number_is_a_tensor_without_axes() -> None:
    x = tw.asarray(5.0)
    assert (x.shape, x.ndim, x.size, x.strides) == ((), 0, 1, ())
    assert x.item() == 5.0
    assert_equal(x + x, 10)
    assert_equal(x.reshape(1, 1), [[5]])
    assert_equal(x.sum(), 5)


def test_data_are_copied(np: Any) -> None:
    host = np.zeros(3, np.float32)
    x = tw.asarray(host)
    host[0] = 7
    assert_equal(x, [0, 0, 0])


def test_ravel_returns_the_data_in_row_major_order() -> None:
    data = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]
    assert floats(data).reshape(2, 3).ravel().tolist() == data
    assert floats(data).reshape(3, 2).T.ravel().tolist() == [3, 4, 5, 1, 1, 9]


def test_linspace_has_both_ends() -> None:
    assert_equal(tw.linspace(0, 1, 5), [0, 0.25, 0.5, 0.75, 1])
    assert_equal(tw.linspace(2, 2, 1), [2])
    assert_equal(tw.linspace(0, 1, 4, endpoint=False), [0, 0.25, 0.5, 0.75])


def test_transpose_swaps_two_axes() -> None:
    x = counted(2, 3, 5)
    assert_equal(x.transpose(0, 2), table(lambda k, j, i: 15 * i + 5 * j + k, 5, 3, 2))
    assert_equal(
        x.matrix_transpose(), table(lambda i, k, j: 15 * i + 5 * j + k, 2, 5, 3)
    )
    assert x.transpose(0, 2).shares_memory_with(x)


def test_batched_transpose_needs_two_axes() -> None:
    with pytest.raises(ShapeError, match=r"\(3,\).*two axes"):
        counted(3).matrix_transpose()


def test_wrong_count_of_values_names_both() -> None:
    with pytest.raises(ShapeError, match=r"\(12,\) has 12 elements.*\(6, 3\) has 18"):
        counted(12).reshape(6, 3)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((-1, -1), "only one can be inferred"),
        ((-2, 6), "below -1"),
        ((5, -1), "5 does not divide 12"),
        ((0, -1), "0 does not divide 12"),
        ((6, 3), "has 18"),
    ],
    ids=str,
)
def test_view_shapes_that_do_not_fit(shape: tuple[int, ...], message: str) -> None:
    x = counted(6, 2)
    with pytest.raises(ShapeError, match=message):
        x.view(*shape)
    assert_equal(x.view(12), range(12))


@pytest.mark.parametrize("axis", [3, -4], ids=str)
def test_squeeze_of_an_axis_that_does_not_exist(axis: int) -> None:
    with pytest.raises(AxisError, match=f"axis {axis} is out of range"):
        counted(4, 3, 1).squeeze(axis)


def test_squeeze_of_a_longer_axis() -> None:
    with pytest.raises(ShapeError, match=r"axis 1 of shape \(4, 3, 1\) has length 3"):
        counted(4, 3, 1).squeeze(1)


@pytest.mark.parametrize("axis", [4, -5], ids=str)
def test_unsqueeze_outside(axis: int) -> None:
    with pytest.raises(AxisError, match=f"axis {axis} is out of range"):
        counted(4, 3, 1).unsqueeze(axis)


def test_broadcast_to_fewer_axes_is_an_error() -> None:
    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(3,\)"):
        counted(2, 3).broadcast_to((3,))
    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(4, 3\)"):
        counted(2, 3).broadcast_to((4, 3))


def test_length_one_meets_length_zero() -> None:
    assert shapes.broadcast_shapes((1,), (0,)) == (0,)
    assert_equal(tw.ones((3, 1)) + tw.ones((0,)), [[], [], []])


def test_element_is_read_and_written_by_an_index_list() -> None:
    x = tw.zeros((2, 3))
    before = x.copy()
    x[1, 2] = 7
    assert_equal(x, [[0, 0, 0], [0, 0, 7]])
    assert x[1, 2].item() == 7
    assert_equal(before, [[0, 0, 0], [0, 0, 0]])


def test_assignment_changes_no_copy() -> None:
    x = counted(2, 3)
    row = x[0].copy()
    other = x
    x = x.copy()
    x[0] = 9
    assert_equal(x, [[9, 9, 9], [3, 4, 5]])
    assert_equal(row, [0, 1, 2])
    assert_equal(other, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    "key",
    [
        (slice(None, None, -1),),
        (slice(1, 5, 2), slice(None, None, 3)),
        (..., 1),
        (None, 2),
        ([4, 0, 4],),
        (slice(None), [1, 1, 2]),
    ],
    ids=str,
)
def test_assignment_equals_numpy(key: tuple[object, ...], np: Any) -> None:
    host = ramp(6, 5)
    x = tw.asarray(host)
    x[key] = 100 + x[key]
    host[key] = 100 + host[key]
    assert_equal(x, host)


def test_zeros_and_ones_of_every_shape() -> None:
    for shape in [(), (0,), (3, 0, 2), (1, 1), (2, 3, 5)]:
        size = math.prod(shape)
        zeros, ones = tw.zeros(shape), tw.ones(shape, dtype=tw.int32)
        assert zeros.shape == ones.shape == shape
        assert_equal(zeros.ravel(), [0] * size)
        assert_equal(ones.ravel(), [1] * size)


def test_size_of_the_empty_shape_is_one() -> None:
    assert shapes.size(()) == 1
    assert shapes.size((2, 0, 3)) == 0


def test_index_arithmetic_of_zero_lengths() -> None:
    with pytest.raises(TensorIndexError, match="0 elements"):
        shapes.unravel_index(0, (3, 0))


def test_operators_take_numbers_on_both_sides() -> None:
    x = floats([1, 2, 4])
    assert_equal(8 / x, [8, 4, 2])
    assert_equal(1 - x, [0, -1, -3])
    assert_equal(2**x, [2, 4, 16])
    assert_equal(x // 2, [0, 1, 2])
    assert_equal(-x % 3, [2, 1, 2])
    assert_equal(x < 3, [True, True, False])


def test_python_protocols() -> None:
    x = counted(3, 2)
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert float(x[1, 1]) == 3.0
    assert int(x[1, 1]) == 3
    assert bool(x[1, 1]) is True
    assert [10, 20, 30][x[1, 0].astype(tw.int32)] == 30


def test_numpy_takes_tensors(np: Any) -> None:
    np.testing.assert_array_equal(np.asarray(counted(3, 2)), ramp(3, 2))


def test_numbers_of_many_elements_are_refused() -> None:
    for convert in (bool, float, int):
        with pytest.raises(DataError, match=r"shape \(2,\) has 2 elements"):
            convert(counted(2))
