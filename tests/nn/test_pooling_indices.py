"""Where the largest of each window is, as PyTorch counts it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

import tensorweb as tw

IMAGE = [[1.0, 5.0, 5.0, 0.0], [5.0, 0.0, 2.0, 9.0], [7.0, 7.0, 1.0, 9.0]]
LOW = float("-inf")
IMAGES = {"numbers": IMAGE, "lowest": [[LOW] * 4] * 3, "negative": [[-1.0] * 4] * 3}


def first_of_largest(image: Any, windows: Iterator[tuple[range, range]]) -> list[Any]:
    """Return each window's largest and its index, by a loop as in PyTorch's kernel."""
    found = []
    for rows, columns in windows:
        best = None
        for i, j in product(rows, columns):
            is_inside = 0 <= i < len(image) and 0 <= j < len(image[0])
            if is_inside and (best is None or image[i][j] > best[0]):
                best = image[i][j], i * len(image[0]) + j
        found.append(best)
    return found


def of(values: Any, indices: Any) -> list[tuple[float, int]]:
    """Return the pairs of a result, row by row."""
    return list(zip(values.ravel().tolist(), indices.ravel().tolist(), strict=True))


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize(
    ("size", "step", "border", "gap"),
    [((2, 2), (1, 1), (0, 0), (1, 1)), ((3, 3), (2, 1), (1, 1), (1, 1)),
     ((2, 3), (1, 2), (1, 1), (2, 1)), ((1, 3), (1, 1), (0, 2), (1, 2))],
)  # fmt: skip
def test_indices_of_windows(
    device: str, image: str, size: Any, step: Any, border: Any, gap: Any
) -> None:
    x = tw.asarray([[IMAGES[image]] * 2], device=device)
    options = (size, step, border, gap)
    values, indices = tw.nn.max_pool2d(x, *options, return_indices=True)
    assert values.tolist() == tw.nn.max_pool2d(x, *options).tolist()
    layer = tw.nn.MaxPool2d(*options, True)
    assert layer(x)[1].tolist() == indices.tolist()
    assert indices.dtype is tw.int32
    assert values.shape == indices.shape
    starts = [
        [number * step[axis] - border[axis] for number in range(values.shape[2 + axis])]
        for axis in (0, 1)
    ]
    windows = (
        tuple(
            range(start, start + gap[axis] * size[axis], gap[axis])
            for axis, start in enumerate(pair)
        )
        for pair in product(*starts)
    )
    expected = first_of_largest(IMAGES[image], windows)  # type: ignore[arg-type]  # pairs
    assert of(values[0, 0], indices[0, 0]) == expected
    assert indices[0, 0].tolist() == indices[0, 1].tolist()


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (1, 4), (2, 3)])
def test_indices_of_even_parts(device: str, image: str, sizes: Any) -> None:
    x = tw.asarray([[IMAGES[image]]], device=device)
    values, indices = tw.nn.adaptive_max_pool2d(x, sizes, return_indices=True)
    assert values.tolist() == tw.nn.adaptive_max_pool2d(x, sizes).tolist()
    assert tw.nn.AdaptiveMaxPool2d(sizes, True)(x)[1].tolist() == indices.tolist()
    parts = [
        [range(i * length // size, -(-(i + 1) * length // size)) for i in range(size)]
        for length, size in zip((3, 4), sizes, strict=True)
    ]
    expected = first_of_largest(IMAGES[image], product(*parts))  # type: ignore[arg-type]  # pairs
    assert of(values, indices) == expected


def test_indices_along_one_axis_and_their_gradients(device: str) -> None:
    x = tw.asarray([[[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]]], device=device)
    values, indices = tw.nn.max_pool1d(x, 3, 2, 1, ceil_mode=True, return_indices=True)
    assert values.tolist() == [[[3.0, 4.0, 9.0, 9.0]]]
    assert indices.tolist() == [[[0, 2, 5, 5]]]
    assert tw.nn.adaptive_max_pool1d(x, 3, return_indices=True)[1].tolist() == [
        [[2, 4, 5]]
    ]
    assert tw.nn.AdaptiveMaxPool1d(1, return_indices=True)(x)[1].tolist() == [[[5]]]
    gradient = tw.grad(lambda x: tw.nn.MaxPool1d(3, 2, 1, 1, True)(x)[0].sum())(x)
    assert gradient.tolist() == [[[1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0]]]
    back = tw.take_along_axis(x, indices, axis=-1)
    assert back.tolist() == values.tolist()


def test_no_window_begins_past_the_input(device: str) -> None:
    x = tw.asarray([[[1.0, 2.0, 3.0]]], device=device)
    values, indices = tw.nn.max_pool1d(x, 1, 3, ceil_mode=True, return_indices=True)
    assert (values.tolist(), indices.tolist()) == ([[[1.0]]], [[[0]]])
