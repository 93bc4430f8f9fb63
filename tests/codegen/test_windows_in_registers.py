"""Convolutions of few channels in a group: windows in registers, by the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from convolutions import convolved, definition, small

import tensorweb as tw
from tensorweb.codegen import policy
from tensorweb.codegen.product.windows import find_overlap
from tensorweb.events import record_kernels
from tensorweb.schedule.kernel import Access, Expression

webgpu_only = pytest.mark.usefixtures("webgpu")

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "depthwise": ((2, 6, 9, 11), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
    "in vectors": ((2, 6, 9, 16), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
    "doubling": ((2, 5, 9, 11), (10, 1, 3, 3), {"padding": 1, "groups": 5}),
    "step 2": ((2, 6, 23, 27), (6, 1, 5, 5), {"stride": 2, "padding": 2, "groups": 6}),
    "dilated": ((1, 4, 20, 20), (4, 1, 3, 3), {"dilation": 2, "groups": 4}),
    "groups": ((3, 8, 9, 12), (24, 1, 5, 5), {"padding": 2, "groups": 8}),
    "groups of 4": ((4, 8, 11, 14), (8, 4, 3, 3), {"padding": 1, "groups": 2}),
    "few channels": ((3, 3, 14, 15), (10, 3, 3, 3), {}),
    "one line": ((2, 3, 1, 300), (3, 1, 1, 9), {"groups": 3}),
}

LINES = {
    "depthwise": ((2, 6, 8, 11), (6, 1, 3, 3), {"padding": 1, "groups": 6}, 4),
    "two": ((2, 6, 10, 16), (6, 1, 3, 3), {"padding": 1, "groups": 6}, 2),
    "step 2": (
        (2, 6, 15, 27),
        (6, 1, 5, 5),
        {"stride": 2, "padding": 2, "groups": 6},
        2,
    ),
    "dilated": ((1, 4, 20, 20), (4, 1, 3, 3), {"dilation": 3, "groups": 4}, 2),
    "odd": ((1, 4, 9, 20), (4, 1, 3, 3), {"padding": 1, "groups": 4}, 1),
}
"""Images, weights, how they meet, and the lines of results that a thread has then."""


@pytest.fixture(autouse=True)
def few_threads_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let images as small as these be convolved so, however many cores there are."""
    monkeypatch.setattr(policy, "ENOUGH_WINDOW_THREADS", 0)


def check(value: tw.Tensor, want: np.ndarray) -> None:
    with record_kernels() as records:
        got = value.numpy()
    assert [record.kind for record in records] == ["windows"]
    np.testing.assert_array_equal(got, want)


@webgpu_only
@pytest.mark.parametrize("name", CASES)
def test_windows_are_read_once(name: str) -> None:
    shape, weights, how = CASES[name]
    x, w = small(*shape), small(*weights)
    step, dilation = how.get("stride", 1), how.get("dilation", 1)
    border = how.get("padding", 0)
    want = convolved(
        x,
        w,
        (step, step),
        ((border, border), (border, border)),
        (dilation, dilation),
        how.get("groups", 1),
    )
    check(tw.conv2d(tw.asarray(x), tw.asarray(w), **how), want)


@webgpu_only
@pytest.mark.parametrize("name", LINES)
def test_lines_below_each_other_share_windows(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MANY_WINDOW_THREADS", 0)
    shape, weights, how, lines = LINES[name]
    x, w = small(*shape), small(*weights)
    with record_kernels() as records:
        got = tw.conv2d(tw.asarray(x), tw.asarray(w), **how).numpy()
    (record,) = records
    assert f"const LINES: u32 = {lines}u;" in record.code
    np.testing.assert_array_equal(got, definition(x, w, how))


@webgpu_only
def test_long_prologues_leave_lines_to_other_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "MANY_WINDOW_THREADS", 0)
    monkeypatch.setattr(policy, "MOST_STATEMENTS", 40)
    x, w = tw.asarray(small(1, 4, 8, 20)), tw.asarray(small(4, 1, 3, 3))
    with record_kernels() as records:
        tw.realize(tw.conv2d(tw.maximum(x, 0), w, groups=4))
    (record,) = records
    assert record.kind == "windows"
    assert "const LINES: u32 = 1u;" in record.code


@webgpu_only
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_views_prologues_and_epilogues(dtype: str) -> None:
    x, w, bias = (small(*s, dtype=dtype) for s in ((2, 12, 12, 9), (6, 1, 3, 3), (6,)))
    seen = tw.permute_dims(tw.asarray(x), (0, 1, 3, 2))[:, ::2, ::-1] * 2
    value = tw.conv2d(seen, tw.asarray(w)[:, :, ::-1], bias=tw.asarray(bias), groups=6)
    inner = x.transpose(0, 1, 3, 2)[:, ::2, ::-1] * 2
    want = convolved(inner, w[:, :, ::-1], groups=6) + bias[:, None, None]
    check(tw.maximum(value, 0), np.maximum(want, 0))


@webgpu_only
def test_pooling_and_long_windows_stay_reductions() -> None:
    x = tw.asarray(small(2, 3, 12, 12))
    wide = tw.asarray(small(3, 1, 1, 40))
    for value in (
        tw.max_pool2d(x, 3, stride=1),
        tw.conv2d(tw.asarray(small(2, 3, 1, 300)), wide, groups=3),
    ):
        with record_kernels() as records:
            tw.realize(value)
        assert [record.kind for record in records] == ["reduce"]


def windows(*strides: tuple[tuple[int, ...], tuple[int, ...]]) -> Expression:
    accesses = tuple(Access(0, each) for each in strides)
    return Expression(((5, 12), (3, 3)), accesses, (), 0)


def test_a_line_is_found_where_all_accesses_move_alike() -> None:
    line = find_overlap(
        windows(((9, 2), (9, 1)), ((0, 2), (0, 1)), ((1, 0), (1, 0))), 0, 1
    )
    assert line is not None
    assert (line.step, line.dilation, line.span(4)) == (2, 1, 9)
    assert line.strides == (1, 1, 0)
    assert find_overlap(windows(((9, 2), (9, 1)), ((0, 1), (0, 1))), 0, 1) is None
    assert find_overlap(windows(((9, 4), (9, 1))), 0, 1) is None
    assert find_overlap(windows(((9, 1), (9, -1))), 0, 1) is None
    back = find_overlap(windows(((9, -1), (9, -1))), 0, 1)
    assert back is not None
    assert back.strides == (-1,)
