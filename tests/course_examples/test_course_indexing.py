"""Examples from courses: indexing, and the index arithmetic of shapes."""

from __future__ import annotations

from itertools import product

import pytest
from checks import assert_equal, counted

import tensorweb as tw
from tensorweb import shapes
from tensorweb.errors import TensorIndexError

pytestmark = pytest.mark.usefixtures("device")


def one_to_24() -> tw.Tensor:
    """Return 1 … 24 in shape (4, 3, 2)."""
    return counted(4, 3, 2) + 1


def test_slices() -> None:
    assert_equal(one_to_24()[1:3, 2:, :], [[[11, 12]], [[17, 18]]])


def test_slices_backwards() -> None:
    assert_equal(one_to_24()[3:1:-1, 2:1:-1], [[[23, 24]], [[17, 18]]])


def test_index_lists_are_matched() -> None:
    assert_equal(one_to_24()[[2, 1], [2, 1], 1], [18, 10])
    x = counted(3, 3) + 1
    assert_equal(x[[0, 2], [0, 2]], [1, 9])


def test_index_lists_around_a_slice_come_first() -> None:
    assert_equal(one_to_24()[[0, 2], :, [0, 1]], [[1, 3, 5], [14, 16, 18]])


def test_index_lists_one_after_another_give_the_outer_choice() -> None:
    result = one_to_24()[[0, 2]][:, :, [0, 1]]
    assert_equal(result.ravel(), [*range(1, 7), *range(13, 19)])
    x = counted(3, 3) + 1
    assert_equal(x[[0, 2]][:, [0, 2]], [[1, 3], [7, 9]])


def test_mask_by_comparison() -> None:
    x = one_to_24()
    mask = x == tw.asarray([1.0, 2.0])
    assert_equal(x[mask], [1, 2])
    assert_equal(x[tw.all(mask, axis=-1)], [[1, 2]])


def test_ranges_from_the_end() -> None:
    x = counted(7)
    assert_equal(x[:-1], range(6))
    assert_equal(x[1:-2], [1, 2, 3, 4])
    assert_equal(x[-3:], [4, 5, 6])


def test_mask_over_two_axes() -> None:
    x = counted(5, 5, 2)
    even = tw.reshape(tw.arange(25) % 2 == 0, (5, 5))
    assert x[even].shape == (13, 2)
    assert_equal(x[even][:, 0], range(0, 49, 4))
    assert_equal(x[..., 0][even], range(0, 49, 4))


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((slice(None), [0], [0, 1], slice(None)), (5, 2, 8)),
        ((slice(None), [0], 0, slice(None)), (5, 1, 8)),
        ((slice(None), [0], slice(None), [0, 1]), (2, 5, 7)),
        ((0, ..., [0, 1]), (2, 6, 7)),
        ((..., None, 3), (5, 6, 7, 1)),
    ],
    ids=str,
)
def test_shapes_of_mixed_indices(
    key: tuple[object, ...], shape: tuple[int, ...]
) -> None:
    assert tw.ones((5, 6, 7, 8))[key].shape == shape


def test_outer_choice_of_inner_axes() -> None:
    x = tw.ones((5, 6, 7, 8))
    assert x[:, [0]][:, :, [0, 1]].shape == (5, 1, 2, 8)


def test_slice_of_the_first_axis_drops_it_without_copy() -> None:
    x = counted(4, 3, 2)
    row = x.at(2)
    assert (row.shape, row.offset) == ((3, 2), 12)
    assert row.shares_memory_with(x)
    assert_equal(row, [[12, 13], [14, 15], [16, 17]])


def test_step_slices_share_storage() -> None:
    x = counted(7, 5)
    every_second = x[::2, ::-2]
    assert every_second.strides == (10, -2)
    assert every_second.shares_memory_with(x)
    assert_equal(every_second, [[n + 4, n + 2, n] for n in range(0, 35, 10)])


def test_position_and_index() -> None:
    assert shapes.ravel_index((1, 2, 3), (5, 6, 7)) == 59
    assert shapes.unravel_index(59, (5, 6, 7)) == (1, 2, 3)
    assert shapes.unravel_index(4, (5, 3)) == (1, 1)
    assert shapes.unravel_index(5, (5, 3)) == (1, 2)
    assert shapes.unravel_index(15, (4, 5)) == (3, 0)
    assert shapes.unravel_index(0, ()) == ()


def test_column_major_positions() -> None:
    strides = shapes.strides((2, 2, 2))[::-1]
    found = {
        sum(i * s for i, s in zip(index, strides, strict=True)): index
        for index in product(range(2), repeat=3)
    }
    assert (found[6], found[7]) == ((0, 1, 1), (1, 1, 1))
    assert shapes.unravel_index(6, (2, 2, 2)) == (1, 1, 0)


def test_next_position() -> None:
    assert shapes.next_position((1, 2, 6), (5, 6, 7)) == (1, 3, 0)
    assert shapes.next_position((1, 1, 1), (2, 2, 2)) is None


def test_positions_outside_are_errors() -> None:
    with pytest.raises(TensorIndexError, match=r"index 7 .* axis 2 .*\(5, 6, 7\)"):
        shapes.ravel_index((1, 2, 7), (5, 6, 7))
    with pytest.raises(TensorIndexError, match="2 indices"):
        shapes.ravel_index((1, 2), (5, 6, 7))
    with pytest.raises(TensorIndexError, match="position 15"):
        shapes.unravel_index(15, (5, 3))
    with pytest.raises(TensorIndexError, match="position -1"):
        shapes.unravel_index(-1, (5, 3))


@pytest.mark.parametrize("index", [5, -6], ids=str)
def test_index_out_of_range_is_an_error(index: int) -> None:
    x = counted(5, 2)
    with pytest.raises(TensorIndexError, match=rf"index {index} .*axis 0.*\(5, 2\)"):
        x[index]
    with pytest.raises(TensorIndexError, match=rf"index {index} .*axis 0.*\(5, 2\)"):
        x[tw.asarray([0, index])]
    assert_equal(x[-1], [8, 9])


def test_index_tensor_chooses_without_multiplying() -> None:
    x = tw.asarray([float("inf"), float("nan"), 2.0])
    assert_equal(x[tw.asarray([2, 0, 2, -3])], [2, float("inf"), 2, float("inf")])
