"""Sliding windows, pooling and convolution on both devices, against direct loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp
from convolutions import convolved, definition, pair, small

import tensorweb as tw
from tensorweb.errors import AxisError, ShapeError
from tensorweb.events import record_kernels

pytestmark = pytest.mark.usefixtures("device")

PRODUCTS = {n: (["windows"] * n, ["matmul"] * n) for n in (1, 2)}
"""Convolutions of few channels, whose terms are divided among many cores."""


def windows(x: Any, size: int, axis: int, step: int, dilation: int) -> Any:
    reach = dilation * (size - 1) + 1
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis)
    index = [slice(None)] * x.ndim
    index[axis] = slice(None, None, step)
    return seen[tuple(index)][..., ::dilation]


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


def test_windows_fuse_with_neighbouring_operations(webgpu: str) -> None:
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


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 1, 5, 7), (1, 1, 3, 3), {}),
    ((2, 3, 7, 9), (5, 3, 3, 3), {}),
    ((3, 3, 7, 9), (5, 3, 3, 3), {"padding": 1}),
    ((2, 3, 11, 9), (4, 3, 3, 2), {"stride": 2, "padding": (1, 0)}),
    ((2, 3, 11, 13), (4, 3, 2, 3), {"stride": (3, 2), "dilation": (2, 3)}),
    ((2, 3, 9, 8), (5, 3, 4, 1), {"padding": ((2, 1), (0, 3))}),
    ((2, 6, 7, 5), (9, 2, 3, 3), {"groups": 3, "padding": 1}),
    ((2, 5, 7, 6), (5, 1, 3, 3), {"groups": 5, "padding": 1}),
    ((2, 5, 7, 6), (10, 1, 3, 3), {"groups": 5, "stride": 2}),
    ((2, 8, 6, 6), (7, 8, 1, 1), {}),
    ((2, 8, 6, 6), (7, 8, 1, 1), {"stride": 2}),
    ((1, 8, 12, 16), (8, 8, 3, 3), {"padding": 1}),
    ((2, 3, 16, 16), (8, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((2, 40, 3, 3), (70, 40, 3, 3), {"padding": 1}),
    ((3, 4, 5, 5), (6, 4, 5, 5), {}),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_conv2d_follows_the_definition(case: Any) -> None:
    shape, kernel, how = case
    x, weight = small(*shape), small(*kernel)
    assert_equal(tw.conv2d(x, weight, **how), definition(x, weight, how))


def test_conv2d_of_random_floats_and_integers() -> None:
    generator = np.random.default_rng(3)
    x = generator.uniform(-1, 1, (3, 12, 13, 11)).astype(np.float32)
    weight = generator.uniform(-1, 1, (20, 12, 3, 3)).astype(np.float32)
    want = definition(x, weight, {"padding": 1})
    np.testing.assert_allclose(tw.conv2d(x, weight, padding=1).numpy(), want, atol=2e-5)
    whole, kernel = small(2, 3, 7, 7, dtype=np.int32), small(4, 3, 3, 3, dtype=np.int32)
    got = tw.conv2d(whole, kernel, padding=1)
    assert got.dtype is tw.int32
    assert_equal(got, definition(whole, kernel, {"padding": 1}))


@pytest.mark.parametrize(("stride", "size"), [(1, 2), (2, 3), (3, 2), (3, 5)])
def test_same_padding_keeps_one_output_for_each_step(stride: int, size: int) -> None:
    x, weight = small(2, 3, 7, 10), small(4, 3, size, size)
    got = tw.conv2d(x, weight, stride=stride, padding="same")
    assert got.shape == (2, 4, -(-7 // stride), -(-10 // stride))
    total = [max((-(-n // stride) - 1) * stride + size - n, 0) for n in x.shape[2:]]
    borders = tuple((t // 2, t - t // 2) for t in total)
    assert_equal(got, definition(x, weight, {"stride": stride, "padding": borders}))
    assert tw.conv2d(x, weight, padding="valid").shape == (2, 4, 8 - size, 11 - size)


def test_convolution_with_bias_and_activation_is_one_kernel(webgpu: str) -> None:
    x, weight, bias = small(2, 6, 9, 11), small(20, 6, 3, 3), small(20)
    operands = [tw.realize(tw.asarray(part)) for part in (x, weight, bias)]
    with record_kernels() as records:
        y = tw.conv2d(operands[0], operands[1], bias=operands[2], padding=1)
        got = tw.realize(tw.maximum(y, 0))
    assert [record.kind for record in records] == ["matmul"]
    want = definition(x, weight, {"padding": 1}) + bias[:, None, None]
    assert_equal(got, np.maximum(want, 0))


def test_following_convolutions_store_no_borders(webgpu: str) -> None:
    x, weight, bias = small(2, 6, 9, 11), small(6, 6, 3, 3), small(6)
    y = tw.conv2d(tw.conv2d(x, weight, bias=bias, padding=1), weight, padding=1)
    with record_kernels() as records:
        got = tw.realize(y)
    assert [record.kind for record in records] in PRODUCTS[2]
    first = definition(x, weight, {"padding": 1}) + bias[:, None, None]
    assert_equal(got, definition(first, weight, {"padding": 1}))


def test_convolution_of_views(webgpu: str) -> None:
    x, weight = small(2, 11, 9, 6), small(3, 3, 6, 8)
    view = tw.asarray(x).permute(0, 3, 1, 2)[:, :, ::-1]
    kernel = tw.asarray(weight).permute(3, 2, 0, 1)
    with record_kernels() as records:
        got = tw.realize(tw.conv2d(view, kernel, padding=1))
    assert [record.kind for record in records] in PRODUCTS[1]
    seen = x.transpose(0, 3, 1, 2)[:, :, ::-1]
    assert_equal(got, definition(seen, weight.transpose(3, 2, 0, 1), {"padding": 1}))


def test_conv1d() -> None:
    x, weight, bias = small(2, 6, 13), small(4, 3, 3), small(4)
    got = tw.conv1d(x, weight, bias=bias, stride=2, padding=2, dilation=2, groups=2)
    want = convolved(
        x[:, :, None], weight[:, :, None], (1, 2), ((0, 0), (2, 2)), (1, 2), 2
    )
    assert_equal(got, want[:, :, 0] + bias[:, None])


@pytest.mark.parametrize(
    ("x", "weight", "how", "words"),
    [
        ((1, 3, 5, 5), (4, 2, 3, 3), {}, r"weight.shape\[1\] must be 3"),
        ((3, 5, 5), (4, 3, 3, 3), {}, r"\(n, channels, h, w\)"),
        ((1, 3, 5, 5), (4, 1, 3, 3), {"groups": 3}, "groups 3 must divide"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"padding": "full"}, "'same', 'valid'"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"stride": 0}, "each is 1 or more"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"padding": -1}, "0 or more"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"padding": (1, 2, 3)}, "3 numbers for 2 axes"),
        ((1, 3, 5, 5), (4, 3, 7, 3), {}, "reaches over 7"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"bias": [1.0]}, r"shape \(4,\)"),
    ],
)
def test_convolution_teaches(x: Any, weight: Any, how: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        tw.conv2d(small(*x), small(*weight), **how)


@pytest.mark.parametrize(
    ("size", "stride", "padding"), [(2, 2, 0), (3, 2, 1), ((2, 3), (1, 2), (0, 1))]
)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_pooling(size: Any, stride: Any, padding: Any, dtype: Any) -> None:
    x = small(2, 3, 9, 11, dtype=dtype)
    (kh, kw), steps, border = pair(size), pair(stride), pair(padding)
    widths = ((0, 0), (0, 0), *((b, b) for b in border))
    lowest = -np.inf if dtype is np.float32 else np.iinfo(dtype).min
    for fill, function, name in (
        (lowest, tw.max_pool2d, "max"),
        (0, tw.avg_pool2d, "mean"),
    ):
        padded = np.pad(x, widths, constant_values=fill)
        seen = windows(windows(padded, kh, 2, steps[0], 1), kw, 3, steps[1], 1)
        got = function(x, size, stride=stride, padding=padding)
        want = getattr(seen, name)((-2, -1))
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6, atol=1e-6)


def test_pooling_is_one_kernel_and_teaches(webgpu: str) -> None:
    x = tw.realize(tw.asarray(small(2, 3, 9, 11)))
    with record_kernels() as records:
        tw.realize(tw.max_pool2d(x, 3, stride=2, padding=1))
    assert [record.kind for record in records] == ["reduce"]
    with pytest.raises(ShapeError, match="as wide as a window"):
        tw.max_pool2d(x, 2, padding=2)
    with pytest.raises(ShapeError, match=r"\(\.\.\., h, w\)"):
        tw.avg_pool2d([1.0], 2)


def test_many_windows_are_reduced_by_a_thread_each(webgpu: str) -> None:
    x = small(3, 151, 151)
    seen = windows(windows(x, 3, 1, 1, 1), 2, 2, 1, 1)
    assert seen[..., 0, 0].size >= 1 << 16
    with record_kernels() as records:
        got = tw.realize(tw.max_pool2d(x, (3, 2), stride=1))
    assert "const LANES: u32 = 1u;" in records[0].source
    assert_equal(got, seen.max((-2, -1)))
    weight = small(3, 1, 3, 2)
    got = tw.conv2d(x[None], weight, groups=3)
    assert_equal(got, (seen * weight[:, 0, None, None]).sum((-2, -1))[None])
