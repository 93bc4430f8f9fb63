"""Random graphs of views, arithmetic and reductions give the same on every device.

All values are small integers (kept so by remainders), so float32 is exact and any
difference is an error of indices, shapes or fusion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tensorweb as tw

Array = np.ndarray[Any, Any]
Draw = Callable[[Any], Any]

MOST_ELEMENTS = 4096
BOUNDED = settings(
    max_examples=40,
    phases=[Phase.generate, Phase.shrink],
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class Pair:
    """The same value on the GPU and in NumPy."""

    def __init__(self, tensor: tw.Tensor, host: Array) -> None:
        self.tensor = tensor
        self.host = np.asarray(host)


def leaf(draw: Draw, shape: tuple[int, ...] | None = None) -> Pair:
    """Return fresh small integers as float32 or int32."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(0, 7), min_size=0, max_size=4)))
    dtype = draw(st.sampled_from(["float32", "int32"]))
    seed = draw(st.integers(0, 100))
    random = np.random.default_rng(seed)
    host = np.asarray(random.integers(-6, 7, shape), dtype)
    return Pair(tw.asarray(host), host)


def shape_beside(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts with another: axes of 1, fewer axes or more."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    near = tuple(n if draw(st.booleans()) else 1 for n in kept)
    more = draw(st.lists(st.integers(1, 3), max_size=1)) if kept == shape else []
    return (*more, *near)


def sliced(draw: Draw, x: Pair) -> Pair:
    key = tuple(
        slice(
            draw(st.none() | st.integers(-n - 1, n + 1)),
            draw(st.none() | st.integers(-n - 1, n + 1)),
            draw(st.sampled_from([None, 1, 2, -1, -2, 3])),
        )
        if draw(st.booleans()) or n == 0
        else draw(st.integers(-n, n - 1))
        for n in x.host.shape
    )
    return Pair(x.tensor[key], np.asarray(x.host[key]))


def permuted(draw: Draw, x: Pair) -> Pair:
    axes = draw(st.permutations(range(x.host.ndim)))
    return Pair(x.tensor.permute(*axes), x.host.transpose(axes))


def reshaped(draw: Draw, x: Pair) -> Pair:
    rest, shape = x.host.size, []
    while rest > 1 and len(shape) < 4:
        divisors = [n for n in range(1, rest + 1) if rest % n == 0]
        shape.append(draw(st.sampled_from(divisors)))
        rest //= shape[-1]
    shape.append(rest)
    return Pair(x.tensor.reshape(shape), x.host.reshape(shape))


def expanded(draw: Draw, x: Pair) -> Pair:
    grown = tuple(draw(st.integers(1, 4)) if n == 1 else n for n in x.host.shape)
    shape = (*draw(st.lists(st.integers(1, 3), max_size=2)), *grown)
    if np.prod(shape) > MOST_ELEMENTS:
        return x
    return Pair(tw.broadcast_to(x.tensor, shape), np.broadcast_to(x.host, shape))


def flipped(draw: Draw, x: Pair) -> Pair:
    axes = tuple(axis for axis in range(x.host.ndim) if draw(st.booleans()))
    return Pair(tw.flip(x.tensor, axis=axes), np.flip(x.host, axes))


def padded(draw: Draw, x: Pair) -> Pair:
    widths = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in x.host.shape]
    if not widths or x.host.size * 5 > MOST_ELEMENTS:
        return x
    return Pair(tw.pad(x.tensor, widths, 3), np.pad(x.host, widths, constant_values=3))


def joined(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim == 0 or x.host.size * 2 > MOST_ELEMENTS:
        return x
    axis = draw(st.integers(0, x.host.ndim - 1))
    other = flipped(draw, x)
    return Pair(
        tw.concat([x.tensor, other.tensor], axis=axis),
        np.concatenate([x.host, other.host], axis),
    )


def rolled(draw: Draw, x: Pair) -> Pair:
    shift = draw(st.integers(-5, 5))
    return Pair(tw.roll(x.tensor, shift), np.roll(x.host, shift))


def combined(draw: Draw, x: Pair) -> Pair:
    name = draw(st.sampled_from(["add", "subtract", "multiply", "maximum", "minimum"]))
    y = leaf(draw, shape_beside(draw, x.host.shape))
    if np.prod(np.broadcast_shapes(x.host.shape, y.host.shape)) > MOST_ELEMENTS:
        return x
    host = np.asarray(getattr(np, name)(x.host, y.host))
    return small(Pair(getattr(tw, name)(x.tensor, y.tensor), narrowed(host)))


def chosen(draw: Draw, x: Pair) -> Pair:
    y = flipped(draw, x)
    tensor = tw.where(x.tensor > 0, x.tensor, y.tensor * 2)
    return small(Pair(tensor, np.where(x.host > 0, x.host, y.host * 2)))


def numbered(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim == 0:
        return x
    count = x.host.shape[-1]
    return small(
        Pair(
            x.tensor + tw.arange(count),
            narrowed(x.host + np.arange(count, dtype=np.int32)),
        )
    )


def reduced(draw: Draw, x: Pair) -> Pair:
    axes = tuple(axis for axis in range(x.host.ndim) if draw(st.booleans()))
    name = draw(st.sampled_from(["sum", "max", "min", "any"]))
    if name in ("max", "min") and x.host.size == 0:
        return x
    keepdims = draw(st.booleans())
    host = np.asarray(getattr(np, name)(x.host, axis=axes, keepdims=keepdims))
    tensor = getattr(tw, name)(x.tensor, axis=axes, keepdims=keepdims)
    if name == "any":
        return Pair(tw.astype(tensor, tw.int32), host.astype(np.int32))
    return small(Pair(tensor, host.astype(x.host.dtype)))


def placed(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim == 0 or x.host.size == 0:
        return x
    axis = draw(st.integers(0, x.host.ndim - 1))
    host = np.argmax(x.host, axis=axis).astype(np.int32)
    return Pair(tw.argmax(x.tensor, axis=axis), host)


def scanned(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim == 0:
        return x
    axis = draw(st.integers(0, x.host.ndim - 1))
    host = np.cumsum(x.host, axis=axis, dtype=x.host.dtype)
    return small(Pair(tw.cumulative_sum(x.tensor, axis=axis), host))


def multiplied(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim < 2:
        return x
    y = leaf(draw, (x.host.shape[-1], draw(st.integers(1, 5))))
    host = narrowed(np.matmul(x.host, y.host))
    return small(Pair(x.tensor @ y.tensor, host))


def gathered(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim == 0 or x.host.shape[0] == 0:
        return x
    count = x.host.shape[0]
    indices = draw(st.lists(st.integers(-count, count - 1), min_size=1, max_size=5))
    return Pair(x.tensor[indices], x.host[indices])


def written(draw: Draw, x: Pair) -> Pair:
    key = tuple(
        slice(draw(st.none() | st.integers(-n, n)), None, draw(st.sampled_from([1, 2])))
        for n in x.host.shape
    )
    tensor, host = x.tensor.copy(), x.host.copy()
    tensor[key] = tensor[key] + 1
    host[key] = host[key] + 1
    return Pair(tensor, host)


def accumulated(draw: Draw, x: Pair) -> Pair:
    if x.host.ndim == 0:
        return x
    axis = draw(st.integers(0, x.host.ndim - 1))
    count = x.host.shape[axis]
    positions = st.integers(-count, count - 1) if count else st.nothing()
    few = st.lists(positions, max_size=5 if count else 0)
    key = (*(slice(None),) * axis, draw(few))
    name = draw(st.sampled_from(["add", "max", "min"]))
    values = leaf(draw, shape_beside(draw, x.host[key].shape)[-x.host.ndim :])
    if values.host.dtype.kind == "f" and x.host.dtype.kind != "f":
        return x
    host = x.host.copy()
    {"add": np.add, "max": np.maximum, "min": np.minimum}[name].at(
        host, key, values.host
    )
    return small(Pair(getattr(x.tensor.at[key], name)(values.tensor), host))


def stored(draw: Draw, x: Pair) -> Pair:
    return Pair(x.tensor.realize(), x.host)


def small(x: Pair) -> Pair:
    """Return the remainder by 13, so that values stay exact in float32."""
    return Pair(x.tensor % 13, np.asarray(x.host % 13).astype(x.host.dtype))


def narrowed(host: Array) -> Array:
    """Return NumPy's result in the dtype that tensorweb promotes to."""
    return host.astype(np.float32) if host.dtype == np.float64 else host


STEPS = (
    *(sliced, permuted, reshaped, expanded, flipped, padded, joined, rolled),
    *(combined, combined, chosen, numbered, reduced, placed, scanned, multiplied),
    *(gathered, written, accumulated, stored),
)


@pytest.mark.parametrize("length", [3, 6, 12], ids=str)
@given(data=st.data())
@BOUNDED
def test_random_graphs(length: int, device: str, data: st.DataObject) -> None:
    value = leaf(data.draw)
    earlier = value
    for _ in range(length):
        step = data.draw(st.sampled_from(STEPS))
        value = step(data.draw, value)
        if step is combined:
            earlier = value
    assert tw.explain(value.tensor, earlier.tensor).text
    for result in (value, earlier):
        assert result.tensor.shape == result.host.shape
        assert result.tensor.dtype.name == result.host.dtype.name
        np.testing.assert_array_equal(result.tensor.numpy(), result.host)
