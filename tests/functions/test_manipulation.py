"""Shapes, orders, joins and repeats on both devices: NumPy's values, often views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import AxisError, DTypeError, RangeError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

HOST = ramp(2, 3, 5)


@pytest.fixture
def x(device: str) -> tw.Tensor:
    return tw.asarray(HOST)


def test_views_share_storage(x: tw.Tensor) -> None:
    cases: list[tuple[tw.Tensor, Any]] = [
        (tw.reshape(x, (6, -1)), HOST.reshape(6, 5)),
        (tw.permute_dims(x, (2, 0, 1)), HOST.transpose(2, 0, 1)),
        (tw.moveaxis(x, 0, -1), np.moveaxis(HOST, 0, -1)),
        (tw.moveaxis(x, (0, 1), (1, 2)), np.moveaxis(HOST, (0, 1), (1, 2))),
        (tw.swapaxes(x, 0, 2), HOST.swapaxes(0, 2)),
        (tw.matrix_transpose(x), HOST.swapaxes(1, 2)),
        (tw.expand_dims(x, (0, -1)), np.expand_dims(HOST, (0, -1))),
        (tw.squeeze(x[:1], 0), HOST[0]),
        (
            tw.broadcast_to(x[:, :1], (7, 2, 3, 5)),
            np.broadcast_to(HOST[:, :1], (7, 2, 3, 5)),
        ),
        (tw.flip(x), np.flip(HOST)),
        (tw.flip(x, (0, -1)), np.flip(HOST, (0, -1))),
        (tw.ravel(x), HOST.ravel()),
        (tw.flatten(x, 1), HOST.reshape(2, 15)),
        (x.crop([(0, 1), None, (2, 5)]), HOST[0:1, :, 2:5]),
        (x.mT, HOST.swapaxes(1, 2)),
        (x[0].T, HOST[0].T),
        (x.unstack(axis=1)[2], HOST[:, 2]),
        (x.view(30), HOST.reshape(30)),
        (tw.tile(x, (2, 1, 1, 1)), np.tile(HOST, (2, 1, 1, 1))),
        (x.expand_dims(1).expand(-1, 4, -1, -1), np.repeat(HOST[:, None], 4, 1)),
    ]
    for got, expected in cases:
        assert got.shares_memory_with(x)
        assert_equal(got, expected)


def test_copies(x: tw.Tensor) -> None:
    cases: list[tuple[tw.Tensor, Any]] = [
        (tw.reshape(x.permute(2, 1, 0), (-1,)), HOST.T.reshape(-1)),
        (tw.reshape(x, (30,), copy=True), HOST.reshape(30)),
        (tw.roll(x, 1), np.roll(HOST, 1)),
        (tw.roll(x, (1, -2), axis=(0, 2)), np.roll(HOST, (1, -2), (0, 2))),
        (tw.roll(x, 7, axis=1), np.roll(HOST, 7, 1)),
        (tw.concat([x, x[:1]]), np.concatenate([HOST, HOST[:1]])),
        (tw.concat([x, x], axis=-1), np.concatenate([HOST, HOST], -1)),
        (tw.concat([x, x[0]], axis=None), np.concatenate([HOST, HOST[0]], None)),
        (tw.stack([x, x], axis=-1), np.stack([HOST, HOST], -1)),
        (tw.tile(x, (2, 1, 3)), np.tile(HOST, (2, 1, 3))),
        (tw.tile(x, 2), np.tile(HOST, 2)),
        (tw.repeat(x, 2), np.repeat(HOST, 2)),
        (tw.repeat(x, 3, axis=1), np.repeat(HOST, 3, 1)),
        (tw.repeat(x, [2, 0, 1], axis=1), np.repeat(HOST, [2, 0, 1], 1)),
        (tw.repeat(x, tw.asarray([1, 2]), axis=0), np.repeat(HOST, [1, 2], 0)),
        (tw.pad(x, 1), np.pad(HOST, 1)),
        (tw.pad(x, (1, 2), value=9), np.pad(HOST, (1, 2), constant_values=9)),
        (x.pad([(0, 1), (2, 0), (0, 0)]), np.pad(HOST, [(0, 1), (2, 0), (0, 0)])),
        (x.contiguous().copy(), HOST),
        (x.permute(1, 0, 2).contiguous(), HOST.transpose(1, 0, 2)),
    ]
    for got, expected in cases:
        assert not got.shares_memory_with(x)
        assert_equal(got, expected)


def test_broadcast_arrays() -> None:
    a, b = tw.broadcast_arrays([[1], [2]], [10, 20, 30])
    assert_equal(a, [[1, 1, 1], [2, 2, 2]])
    assert_equal(b, [[10, 20, 30]] * 2)
    assert (a.strides, b.strides) == ((1, 0), (0, 1))


def test_joins_promote() -> None:
    assert tw.concat([tw.asarray([1]), tw.asarray([2.5])]).dtype is tw.float32
    assert_equal(tw.stack([tw.asarray([True]), tw.asarray([3])]), [[1], [3]])


def test_empty_parts() -> None:
    x = tw.zeros((0, 3))
    assert tw.concat([x, tw.ones((2, 3))]).shape == (2, 3)
    assert tw.concat([x, x]).shape == (0, 3)
    assert tw.stack([x, x]).shape == (2, 0, 3)
    assert tw.unstack(x) == ()
    assert tw.roll(x, 1, axis=0).shape == (0, 3)
    assert tw.tile(tw.ones(3), 0).shape == (0,)
    assert tw.repeat(tw.ones(3), 0).shape == (0,)
    assert tw.flip(x).tolist() == []
    assert tw.reshape(x, (3, 0)).tolist() == [[], [], []]


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda x: x.reshape(-1, -1), ShapeError, "2 lengths -1"),
        (lambda x: x.reshape(7), ShapeError, r"\(2, 3, 5\) has 30 elements"),
        (lambda x: x.reshape(4, -1), ShapeError, "4 does not divide 30"),
        (lambda x: x.reshape("ab"), ShapeError, "give integers"),
        (lambda x: x.mT.view(30), ShapeError, "copy=False"),
        (lambda x: x.permute(0, 1), AxisError, "each of the 3 axes"),
        (lambda x: x.permute(0, 1, 3), AxisError, "axis 3 is out of range"),
        (lambda x: x.swapaxes(0, 3), AxisError, "axis 3"),
        (lambda x: x.moveaxis((0, 0), (1, 2)), AxisError, "twice"),
        (lambda x: x.moveaxis((0, 1), 2), ShapeError, "2 sources and 1"),
        (lambda x: x.squeeze(0), ShapeError, "length 2"),
        (lambda x: x.expand_dims((0, 0)), AxisError, "twice"),
        (lambda x: x.expand(2, 4, 5), ShapeError, r"\(2, 3, 5\).*\(2, 4, 5\)"),
        (lambda x: x.flip(3), AxisError, "axis 3"),
        (lambda x: x.roll((1, 2, 3), axis=(0, 1)), ShapeError, "3 shifts for 2 axes"),
        (lambda x: x.roll((1, 2)), ShapeError, "give axis="),
        (lambda x: x.pad(-1), ShapeError, "negative"),
        (lambda x: x.pad([(1, 2)] * 2), ShapeError, "3 axes"),
        (lambda x: x.crop([(0, 1)]), ShapeError, "1 ranges for the 3 axes"),
        (lambda x: x.crop([(0, 3), None, None]), ShapeError, r"\(0, 3\) leaves axis 0"),
        (lambda x: x.tile(-1), ShapeError, "negative"),
        (lambda x: x.repeat(-1), ShapeError, "negative"),
        (lambda x: x.repeat([1, 2], axis=1), ShapeError, "2 counts for 3 elements"),
        (lambda x: x.repeat([1.5], axis=1), DTypeError, "counts are float32"),
        (lambda x: tw.concat([x, x[:, :2]]), ShapeError, "differ outside axis 0"),
        (lambda x: tw.concat([]), ShapeError, "no tensors"),
        (lambda x: tw.concat([x.sum()]), ShapeError, "use stack"),
        (lambda x: tw.stack([x, x[0]]), ShapeError, "must be equal"),
        (lambda x: tw.broadcast_arrays(x, [1, 2]), ShapeError, "do not broadcast"),
        (lambda x: x.flatten(2, 1), ShapeError, "start_axis 2 lies behind"),
    ],
)
def test_wrong_arguments(x: tw.Tensor, act: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        act(x)


def test_pad_value_must_fit() -> None:
    with pytest.raises(DTypeError, match=r"2\.5"):
        tw.asarray([1]).pad(1, value=2.5)


def test_numbers_beyond_int32(device: str) -> None:
    x = tw.asarray(ramp(3, 2))
    for far in (2**31, 2**32 + 1, 2**64 + 1):
        assert_equal(tw.roll(x, far), np.roll(ramp(3, 2), far % 6))
        assert_equal(tw.roll(x, -far, axis=0), np.roll(ramp(3, 2), -(far % 3), 0))
        assert_equal(x[:far], ramp(3, 2))
        assert_equal(x[-far:far:far], ramp(1, 2))
        assert_equal(x[far::-far], ramp(3, 2)[2:])
        assert tw.diff(x, n=far, axis=0).shape == (0, 2)
        with pytest.raises(RangeError, match="int32"):
            tw.repeat(x, [far, 1, 1], axis=0)
        with pytest.raises(IndexError):
            x[far]
        with pytest.raises((IndexError, RangeError)):
            tw.take(x, [far], axis=0)
    with pytest.raises(ShapeError, match="sum to 2147483649"):
        tw.repeat(x, [2**31 - 1, 1, 1], axis=0)


def test_rolls_of_one_shape_remember_their_parts() -> None:
    x, y = tw.asarray(ramp(3, 4)), tw.asarray(ramp(3, 4) * 2)
    first, second = tw.roll(x, -1, axis=1).node, tw.roll(y, -1, axis=1).node
    for one, other in zip(first.inputs, second.inputs, strict=True):
        assert one.attrs is other.attrs
        assert one.view is other.view
