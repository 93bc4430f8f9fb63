"""Products, diagonals and norms of `tw.linalg`, compared with NumPy on both devices."""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import AxisError, DataError, DTypeError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

AXES: tuple[tuple[int, ...] | None, ...] = (None, (1,), (0, 2))


def test_diagonals_and_traces_of_views() -> None:
    a = ramp(2, 3, 4)
    for offset in (-4, -2, -1, 0, 1, 3, 5):
        found = tw.linalg.diagonal(a, offset=offset)
        assert_equal(found, np.diagonal(a, offset, 1, 2))
        found = tw.linalg.trace(tw.asarray(a).mT[:, ::-1], offset=offset)
        assert_equal(found, np.trace(a.mT[:, ::-1], offset, 1, 2))
    small = tw.asarray([[1, 2], [3, 4]], dtype=tw.int32)
    assert tw.linalg.trace(small).dtype is tw.int32
    assert tw.linalg.trace(small, dtype=tw.float32).dtype is tw.float32


def test_cross_products_along_any_axis() -> None:
    a, b = ramp(2, 3, 4), ramp(2, 3, 4)[::-1] + 1
    assert_equal(tw.linalg.cross(a, b, axis=1), np.cross(a, b, axis=1))
    rows = ramp(4, 3) % 5
    assert_equal(tw.linalg.cross(rows, rows[0]), np.cross(rows, rows[0]))
    with pytest.raises(ShapeError, match="axis -1 of shape"):
        tw.linalg.cross(a, b)
    with pytest.raises(AxisError, match="axis 2"):
        tw.linalg.cross(rows, rows[0], axis=2)
    with pytest.raises(DTypeError, match="bool"):
        tw.linalg.cross([True] * 3, [True] * 3)


def test_matrix_powers() -> None:
    a = np.asarray([[[1, 1], [1, 0]], [[2, 0], [1, 1]]], np.int32)
    for n in (0, 1, 2, 3, 6, 11):
        assert_equal(tw.linalg.matrix_power(a, n), np.linalg.matrix_power(a, n))
    with pytest.raises(ShapeError, match="square"):
        tw.linalg.matrix_power(ramp(2, 3), 2)


def test_norms() -> None:
    a = ramp(2, 3, 4) - 7.5
    for order in (0, 1, 2, 3, -1, 0.5, math.inf, -math.inf):
        for axis in AXES:
            found = tw.linalg.vector_norm(a, axis=axis, ord=order, keepdims=True)
            expected = np.linalg.vector_norm(a, axis=axis, ord=order, keepdims=True)
            assert np.allclose(found.numpy(), expected, rtol=1e-5)
            assert found.shape == expected.shape
    for kind in ("fro", 1, -1, math.inf, -math.inf):
        for keepdims in (False, True):
            found = tw.linalg.matrix_norm(a, ord=kind, keepdims=keepdims)
            expected = np.linalg.matrix_norm(a, ord=kind, keepdims=keepdims)
            assert np.allclose(found.numpy(), expected)
            assert found.shape == expected.shape
    for order in (1, 2, 2.5, math.inf):
        norm = functools.partial(tw.linalg.vector_norm, ord=order)
        gradients = tw.vmap(tw.grad(norm))(tw.asarray([[0.0, 0.0], [0.0, -2.0]]))
        assert np.allclose(gradients.numpy(), [[0, 0], [0, -1]])
    gradients = tw.vmap(tw.grad(tw.std))(tw.asarray([[3.0, 3.0], [1.0, 3.0]]))
    assert np.allclose(gradients.numpy(), [[0, 0], [-0.5, 0.5]])
    with pytest.raises(DataError, match="matrix_norm"):
        tw.linalg.matrix_norm(a, ord=cast(float, "max"))
    with pytest.raises(ShapeError, match="two axes"):
        tw.linalg.matrix_norm(a[0, 0])
