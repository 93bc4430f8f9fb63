"""Examples from courses: views: crop, pad, flip, reshape, permute."""

from __future__ import annotations

import pytest
from checks import assert_equal, counted, floats

import tensorweb as tw
from tensorweb import shapes
from tensorweb.errors import ShapeError

pytestmark = pytest.mark.usefixtures("device")

COLUMNS = [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]
"""The transpose of 0, 1, 2, … in a shape (6, 2)."""

POWERS = [[2.0, 1.0], [4.0, 2.0], [8.0, 4.0]]


def test_crop_is_a_box() -> None:
    assert_equal(floats(POWERS).crop([(0, 2), (1, 2)]), [[1], [2]])


def test_pad_surrounds_with_zeros() -> None:
    result = floats(POWERS).pad([(1, 2), (1, 3)])
    rows = [[0, *row, 0, 0, 0] for row in POWERS]
    assert_equal(result, [[0] * 6, *rows, [0] * 6, [0] * 6])


def test_crop_of_crop_keeps_the_storage() -> None:
    x = counted(2, 3, 4)
    last = x.crop([(0, 2), (0, 3), (1, 3)])
    assert last.strides == (12, 4, 1)
    assert_equal(last.ravel(), [1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22])
    middle = last.crop([(0, 1), (1, 2), (0, 2)])
    assert_equal(middle, [[[5, 6]]])
    assert_equal(middle[..., 1:], [[[6]]])
    assert middle.shares_memory_with(x)


def test_pad_of_three_axes() -> None:
    result = counted(2, 3, 4).pad([(1, 2), (3, 4), (5, 6)])
    assert result.shape == (5, 10, 15)
    assert result.strides == (150, 15, 1)
    assert result[1, 3, 6].item() == 1
    assert tw.count_nonzero(result).item() == 23


def test_pad_of_one_side() -> None:
    result = counted(2, 3, 4).pad([(20, 0), (0, 0), (0, 0)])
    assert result.shape == (22, 3, 4)
    assert_equal(result[20:].ravel(), range(24))
    assert_equal(result[:20].sum(), 0)


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (0, [*range(6, 12), *range(6)]),
        (1, [4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7]),
        (2, [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]),
    ],
)
def test_flip(axis: int, expected: list[int]) -> None:
    x = counted(2, 3, 2)
    flipped = tw.flip(x, axis=axis)
    assert flipped.shares_memory_with(x)
    assert flipped.shape == (2, 3, 2)
    assert_equal(flipped.ravel(), expected)


def test_reshapes_share_one_storage() -> None:
    x = tw.linspace(0, 23, 24)
    first = x.reshape(6, 4)
    second = first.reshape(3, 8)
    assert first.shares_memory_with(x)
    assert second.shares_memory_with(x)
    assert_equal(second.permute([1, 0])[0], [0, 8, 16])


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 3, 4), (12, 4, 1)),
        ((3, 3), (3, 1)),
        ((6, 2), (2, 1)),
        ((5, 6, 7), (42, 7, 1)),
        ((1, 2, 2), (4, 2, 1)),
        ((10, 9, 5, 13), (585, 65, 13, 1)),
        ((), ()),
    ],
    ids=str,
)
def test_row_major_strides(shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert shapes.strides(shape) == expected
    assert tw.zeros(shape).realize().strides == expected


def test_transposed_matrix_reads_storage_by_columns() -> None:
    x = counted(6, 2)
    transposed = x.T
    assert (transposed.shape, transposed.strides) == ((2, 6), (1, 2))
    assert_equal(transposed.ravel(), [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11])


def test_splitting_an_axis_of_a_transpose_copies_nothing() -> None:
    x = counted(6, 2)
    split = x.T.reshape(2, 2, 3)
    assert split.strides == (1, 6, 2)
    assert split.shares_memory_with(x)
    assert_equal(split.ravel(), COLUMNS)


@pytest.mark.parametrize("shape", [(12,), (3, 4), (4, 3), (6, 2)], ids=str)
def test_reshape_copies_where_no_strides_fit(shape: tuple[int, ...]) -> None:
    x = counted(6, 2)
    copied = x.T.reshape(shape)
    assert not copied.shares_memory_with(x)
    assert copied.is_contiguous
    assert copied.shape == shape
    assert_equal(copied.ravel(), COLUMNS)


def test_view_refuses_to_copy() -> None:
    with pytest.raises(ShapeError, match="copy"):
        counted(6, 2).T.view(12)


def test_expand_steps_by_zero() -> None:
    assert counted(1, 3).expand(10, 3).strides == (0, 1)
    assert floats([1, 2, 3, 4]).expand(5, 2, 3, 4).strides[:3] == (0, 0, 0)
    assert counted(2, 3, 4).expand(5, 2, 3, 4).strides == (0, 12, 4, 1)
    assert counted(3, 1).expand(3, 5).strides == (1, 0)


def test_movement_chain() -> None:
    x = counted(10, 10)
    transposed = x.permute(1, 0)
    assert transposed.strides == (1, 10)
    split = transposed.reshape(5, 2, 5, 2)
    assert split.strides == (2, 1, 20, 10)
    assert split.shares_memory_with(x)
    flat = split.reshape(100)
    assert flat.strides == (1,)
    assert not flat.shares_memory_with(x)
    merged = split.reshape(10, 10)
    assert merged.strides == (1, 10)
    assert merged.permute(1, 0).strides == (10, 1)
    assert_equal(flat, [n for first in range(10) for n in range(first, 100, 10)])
    assert_equal(merged.permute(1, 0).ravel(), range(100))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((24,), (3, 2, 4), (8, 4, 1)),
        ((2, 1, 3, 1, 4), (2, 3, 4), (12, 4, 1)),
        ((2, 1, 3, 1, 4), (2, 3, 4, 1), (12, 4, 1, 1)),
    ],
    ids=str,
)
def test_reshape_with_axes_of_one(
    old: tuple[int, ...], new: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert counted(*old).reshape(new).strides == expected


def test_one_length_is_inferred() -> None:
    assert counted(6, 2).reshape(-1, 3, 1).shape == (4, 3, 1)
    with pytest.raises(ShapeError, match=r"14 elements.*\(7, 2\).*\(-1, 3, 1\)"):
        counted(7, 2).reshape(-1, 3, 1)


def test_squeeze_and_unsqueeze() -> None:
    x = counted(4, 3, 1)
    assert x.squeeze(-1).shape == (4, 3)
    assert x.squeeze(-1).unsqueeze(0).shape == (1, 4, 3)
    assert x.squeeze(-1).unsqueeze(-1).shape == (4, 3, 1)
    assert x.squeeze(-1).shares_memory_with(x)


def test_element_by_index_list() -> None:
    x = floats([[[1, 2], [3, 4]]])
    assert x[0, 0, 1].item() == 2
    assert x[0, 1, 0].item() == 3
    assert x.at([0, 1, 1]).item() == 4


def test_identity_matrix_from_one_number() -> None:
    one = floats([1])
    row = one.pad([(0, 3)])
    assert_equal(row, [1, 0, 0, 0])
    wide = row.reshape(1, 4).expand(3, 4)
    flat = wide.reshape(12)
    assert not flat.shares_memory_with(row)
    assert_equal(flat, [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
    cropped = flat.crop([(0, 9)])
    assert_equal(cropped, [1, 0, 0, 0, 1, 0, 0, 0, 1])
    assert_equal(cropped.reshape(3, 3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert_equal(cropped.reshape(3, 3), tw.eye(3).tolist())
    assert_equal(tw.eye(2).ravel(), [1, 0, 0, 1])
