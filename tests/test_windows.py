"""Sliding windows, pooling and convolution on both devices, against direct loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.backends.records import record_kernels
from tensorweb.errors import AxisError, ShapeError

pytestmark = pytest.mark.usefixtures("device")


def windows(x: Any, size: int, axis: int, step: int, dilation: int) -> Any:
    reach = dilation * (size - 1) + 1
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis)
    places = [slice(None)] * x.ndim
    places[axis] = slice(None, None, step)
    return seen[tuple(places)][..., ::dilation]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("numbers", [(1, 1, 1), (3, 1, 1), (2, 2, 1), (2, 3, 3)])
def test_sliding_windows(axis: int, numbers: tuple[int, int, int]) -> None:
    x = ramp(5, 7, 11)
    size, step, dilation = numbers
    got = tw.sliding_windows(x, size, axis=axis, step=step, dilation=dilation)
    assert_equal(got, windows(x, size, axis % 3, step, dilation))


def test_windows_of_several_axes_and_of_views() -> None:
    x = ramp(5, 7, 11)
    view = tw.asarray(x).permute(2, 0, 1)[::-2, :, 1:]
    got = view.sliding_windows((2, 3), axis=(0, 2), step=(1, 2))
    seen = x.transpose(2, 0, 1)[::-2, :, 1:]
    assert_equal(got, windows(windows(seen, 2, 0, 1, 1), 3, 2, 2, 1))
    assert_equal(
        got.permute(4, 0, 3, 1, 2)[1:] + 1, got.numpy().transpose(4, 0, 3, 1, 2)[1:] + 1
    )
    assert_equal(got.reshape((-1,)), got.numpy().reshape(-1))


def test_windows_fuse_with_what_is_around(webgpu: str) -> None:
    x = tw.realize(tw.asarray(ramp(5, 7)))
    with record_kernels() as records:
        got = tw.realize((x * 2).pad(1).sliding_windows(3).sum(axis=-1) + 1)
    assert [record.kind for record in records] == ["reduce"]
    padded = np.pad(x.numpy() * 2, 1)
    assert_equal(got, windows(padded, 3, 1, 1, 1).sum(-1) + 1)


def test_windows_teach() -> None:
    with pytest.raises(ShapeError, match="reaches over 5"):
        tw.sliding_windows([1, 2, 3, 4], 3, dilation=2)
    with pytest.raises(ShapeError, match="step 0"):
        tw.sliding_windows([1, 2, 3, 4], 3, step=0)
    with pytest.raises(ShapeError, match="2 numbers for 1 axes"):
        tw.sliding_windows([1, 2, 3, 4], (1, 2))
    with pytest.raises(AxisError):
        tw.sliding_windows([1, 2, 3, 4], 1, axis=1)
