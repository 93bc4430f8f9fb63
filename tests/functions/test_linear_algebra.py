"""Products of tensors on both devices, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import AxisError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [
    ((2, 3), (3, 5)),
    ((3,), (3,)),
    ((3,), (3, 5)),
    ((2, 3), (3,)),
    ((7, 2, 3), (3, 5)),
    ((2, 3), (7, 3, 5)),
    ((7, 1, 2, 3), (5, 3, 2)),
    ((3,), (7, 3, 5)),
    ((7, 2, 3), (3,)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
    ((17, 33), (33, 19)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES, ids=str)
def test_matmul(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    left, right = ramp(*a) % 7 - 3, ramp(*b) % 5 - 2
    assert_equal(tw.matmul(left, right), left @ right)


def test_matmul_of_views_and_integers() -> None:
    left, right = ramp(3, 2, dtype=np.int32), ramp(5, 3, dtype=np.int32)
    assert_equal(tw.asarray(left).T @ tw.asarray(right).T, left.T @ right.T)
    assert (tw.asarray(left).T @ tw.asarray(right).T).dtype is tw.int32
    flipped = tw.asarray(right).flip(1)[::2].T
    assert_equal(tw.asarray(left).T @ flipped, left.T @ right[::2, ::-1].T)


@pytest.mark.parametrize("axes", [0, 1, 2, ([1], [0]), ([0, 1], [1, 0])], ids=str)
def test_tensordot(axes: Any) -> None:
    a, b = ramp(3, 3), ramp(3, 3) - 4
    assert_equal(tw.tensordot(a, b, axes=axes), np.tensordot(a, b, axes))


def test_dot_vecdot_outer() -> None:
    a, b = ramp(2, 3, 5), ramp(7, 5, 2)
    assert_equal(tw.dot(a, b), np.dot(a, b))
    assert_equal(tw.dot(a, 2), a * 2)
    assert_equal(tw.asarray([1, 2, 3]).dot([4, 5, 6]), 32)
    assert_equal(tw.vecdot(a, a[0, :1]), np.vecdot(a, a[0, :1]))
    assert_equal(tw.vecdot(a, a, axis=-2), (a * a).sum(-2))
    assert_equal(tw.outer([1, 2], [10, 20, 30]), np.outer([1, 2], [10, 20, 30]))


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_diff(n: int) -> None:
    host = ramp(2, 3, 5) ** 2
    assert_equal(tw.diff(host, n=n), np.diff(host, n=n))
    assert_equal(tw.diff(host, axis=0, n=n), np.diff(host, n=n, axis=0))


def test_diff_with_ends() -> None:
    host = ramp(2, 3)
    expected = np.diff(host, prepend=host[:, :1], append=host)
    assert_equal(tw.diff(host, prepend=host[:, :1], append=host), expected)
    assert_equal(tw.diff([True, False, False]), [True, False])


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda x: x @ x, ShapeError, "inner sizes differ.*3 and 2"),
        (lambda x: x @ 2, ShapeError, "at least one axis"),
        (lambda x: x[0] @ tw.ones(5), ShapeError, "inner sizes differ"),
        (lambda x: tw.ones((2, 2, 3)) @ tw.ones((7, 3, 1)), ShapeError, "broadcast"),
        (lambda x: tw.tensordot(x, x, axes=1), ShapeError, "tensordot: axis 1"),
        (lambda x: tw.tensordot(x, x, axes=3), AxisError, "axes=3"),
        (lambda x: tw.tensordot(x, x, axes=([0], [0, 1])), AxisError, "equally many"),
        (lambda x: tw.vecdot(x, x, axis=0), AxisError, "counts from the end"),
        (lambda x: tw.vecdot(x, [1, 2]), ShapeError, "vecdot: axis -1"),
        (lambda x: tw.outer(x, x), ShapeError, "exactly one axis"),
        (lambda x: tw.diff(x, n=-1), ShapeError, "n is -1"),
    ],
)
def test_wrong_operands(act: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        act(tw.ones((2, 3)))


def test_products_of_bool_are_or_of_and(device: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((3, 4)) > 0.6, rng.random((4, 5)) > 0.6
    x, y = tw.asarray(a), tw.asarray(b)
    for got, expected in (
        (x @ y, a @ b),
        (tw.tensordot(x, y, axes=1), a @ b),
        (tw.einsum("ij,jk->ik", x, y), a @ b),
        (tw.vecdot(x, x), a.any(1)),
        (x @ tw.ones(4), a @ np.ones(4)),
        (x.sum(0, dtype=tw.bool), a.any(0)),
        (x.prod(1, dtype=tw.bool), a.all(1)),
        (x.cumulative_sum(1, dtype=tw.bool), np.logical_or.accumulate(a, 1)),
        (x.cumulative_prod(0, dtype=tw.bool), np.logical_and.accumulate(a, 0)),
    ):
        assert got.tolist() == expected.tolist()
        assert got.dtype == expected.dtype.name.replace("float64", "float32")
