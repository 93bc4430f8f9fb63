"""Ranges of integers that are followed through the graph hold of what is computed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb.nodes.ranges import interval_of

X = [[3, -7, 12], [0, 5, -2]]

BOUNDED: dict[str, tuple[Callable[[tw.Tensor], tw.Tensor], tuple[int, int]]] = {
    "host": (lambda x: x, (-7, 12)),
    "view": (lambda x: x.T[::-1], (-7, 12)),
    "copy": (lambda x: x.T.reshape(-1), (-7, 12)),
    "add": (lambda x: x + x, (-14, 24)),
    "subtract": (lambda x: x - x, (-19, 19)),
    "multiply": (lambda x: x * x, (-84, 144)),
    "negative": (lambda x: -x, (-12, 7)),
    "abs": (abs, (0, 12)),
    "sign": (tw.sign, (-1, 1)),
    "minimum": (lambda x: tw.minimum(x, 4), (-7, 4)),
    "maximum": (lambda x: tw.maximum(x, 4), (4, 12)),
    "clip": (lambda x: tw.clip(x, 0, 9), (0, 9)),
    "remainder": (lambda x: x % 5, (0, 4)),
    "remainder of a small one": (lambda x: abs(x) % 50, (0, 12)),
    "remainder by a negative one": (lambda x: x % -5, (-4, 0)),
    "floor_divide": (lambda x: x // 3, (-3, 4)),
    "floor_divide by a negative one": (lambda x: x // -3, (-12, 12)),
    "bitwise_and": (lambda x: x & 6, (0, 6)),
    "where": (lambda x: tw.where(x > 1, x, 20), (-7, 20)),
    "cast": (lambda x: (x % 7).astype(tw.uint32), (0, 6)),
    "comparison": (lambda x: (x > 1).astype(tw.int32), (0, 1)),
    "sum": (lambda x: x.sum(axis=0), (-14, 24)),
    "sum of nothing": (lambda x: (x[:1, :0] + 20).sum(axis=1), (0, 32)),
    "cumulative_sum": (lambda x: tw.cumulative_sum(x.reshape(-1)), (-42, 72)),
    "max": (lambda x: x.max(axis=1), (-7, 12)),
    "min": (lambda x: x.min(), (-7, 12)),
    "argmax": (lambda x: tw.argmax(x * 1.5, axis=1), (0, 2)),
    "argsort": (lambda x: tw.argsort(x * 1.5, axis=0), (0, 1)),
    "sort": (tw.sort, (-7, 12)),
    "arange": (lambda x: x * 0 + tw.arange(3), (0, 2)),
    "gather": (lambda x: x[tw.asarray([1, 0])], (-7, 12)),
    "pad": (lambda x: tw.pad(x, 1, 40), (-7, 40)),
    "concat": (lambda x: tw.concat([x, x + 9]), (-7, 21)),
    "embed": (lambda x: x.at[0, 1:].set(-30), (-30, 12)),
    "scatter": (lambda x: x.at[tw.asarray([0])].set(50), (-7, 50)),
}
"""What is computed of the numbers `X`, and the bounds that are known of it."""


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_are_known_and_hold(name: str, device: str) -> None:
    function, bounds = BOUNDED[name]
    result = function(tw.asarray(X, dtype=tw.int32))
    low, high = interval_of(result.node)
    assert (low, high) == bounds
    assert low <= result.min().item()
    assert result.max().item() <= high


def test_values_that_may_overflow_have_no_bounds(device: str) -> None:
    x = tw.asarray([2**30, 5], dtype=tw.int32)
    assert interval_of((x + x).node) == (-(2**31), 2**31 - 1)
    assert interval_of((x * 4).node) == (-(2**31), 2**31 - 1)
    assert interval_of((x - (2**31 - 1) - x).node) == (-(2**31), 2**31 - 1)
    assert interval_of(x.astype(tw.float32).astype(tw.int32).node)[0] == -(2**31)


def test_long_ways_back_end_somewhere(device: str) -> None:
    x = tw.asarray([1, 2], dtype=tw.int32)
    for _ in range(100):
        x = tw.minimum(x, 50)
    low, high = interval_of(x.node)
    assert low <= 1
    assert high == 50
