"""Matrix products: shapes, layouts, dtypes, specials and memory."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from tolerances import REDUCE

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend

Array = np.ndarray[Any, Any]


def values(*shape: int) -> Array:
    """Return float32 numbers around 0."""
    random = np.random.default_rng(sum(shape))
    return np.asarray(random.standard_normal(shape), np.float32)


def compare(got: Array, a: Array, b: Array) -> None:
    """Compare a product with NumPy's in float64."""
    expected = a.astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a).astype(np.float64) @ np.abs(b)
    assert got.shape == expected.shape
    bound = REDUCE["matmul"] * float(np.finfo(got.dtype).eps) * scale
    assert np.all(np.abs(got - expected) <= bound)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 1), (1, 1)),
        ((2, 3), (3, 5)),
        ((17, 31), (31, 13)),
        ((64, 64), (64, 64)),
        ((65, 129), (129, 67)),
        ((128, 257), (257, 1)),
        ((1, 257), (257, 128)),
        ((1, 4099), (4099, 1)),
        ((3, 10_007), (10_007, 2)),
        ((257,), (257, 31)),
        ((31, 257), (257,)),
        ((100_003,), (100_003,)),
        ((5, 7, 11), (11, 3)),
        ((7, 11), (5, 11, 3)),
        ((5, 1, 7, 11), (3, 11, 2)),
        ((2, 3, 65, 33), (2, 3, 33, 70)),
    ],
    ids=str,
)
def test_shapes(a: tuple[int, ...], b: tuple[int, ...], device: str) -> None:
    x, y = values(*a), values(*b)
    compare((tw.asarray(x) @ tw.asarray(y)).numpy(), x, y)


def test_layouts(device: str) -> None:
    a, b = values(37, 41), values(43, 37)
    x, y = tw.asarray(a), tw.asarray(b)
    compare((x.T @ y.T).numpy(), a.T, b.T)
    compare((y @ x[:, ::-1]).numpy(), b, a[:, ::-1])
    compare((y[::2, 1::3] @ x[1::3, ::-2]).numpy(), b[::2, 1::3], a[1::3, ::-2])
    row = tw.broadcast_to(x[:1], (37, 41))
    compare((y @ row).numpy(), b, np.broadcast_to(a[:1], (37, 41)))


def test_operands_and_results_fuse_with_elementwise_work(device: str) -> None:
    a, b = values(33, 47), values(47, 29)
    x, y = tw.asarray(a), tw.asarray(b)
    result = tw.maximum((x * 2 + 1) @ (y - 1) + y[0], 0) / 3
    wide = (a * 2.0 + 1.0) @ (b - 1.0).astype(np.float64) + b[0]
    np.testing.assert_allclose(
        result.numpy(), np.maximum(wide, 0) / 3, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("dtype", [tw.int32, tw.uint32], ids=str)
def test_integers_wrap_exactly(dtype: tw.DType, device: str) -> None:
    random = np.random.default_rng(0)
    a = random.integers(0, 2**31, (65, 67)).astype(dtype.name)
    b = random.integers(0, 2**31, (67, 33)).astype(dtype.name)
    product = tw.asarray(a) @ tw.asarray(b)
    assert product.dtype == dtype
    np.testing.assert_array_equal(product.numpy(), a @ b)


def test_nan_and_infinities_stay_in_their_rows(device: str) -> None:
    a, b = values(65, 67), values(67, 33)
    a[3, 5], a[40, 1] = np.nan, np.inf
    b[:, 2] = np.abs(b[:, 2])
    got = (tw.asarray(a) @ tw.asarray(b)).numpy()
    finite = [row for row in range(65) if row not in (3, 40)]
    assert np.isnan(got[3]).all()
    assert got[40, 2] == np.inf
    assert np.isfinite(got[finite]).all()


def test_float16_where_the_device_has_it(device: str) -> None:
    if "float16" not in devices.backend(device).dtypes:
        pytest.skip(f"{device} has no float16")
    a, b = values(17, 31).astype(np.float16), values(31, 13).astype(np.float16)
    product = tw.asarray(a) @ tw.asarray(b)
    assert product.dtype == tw.float16
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(product.numpy(), expected, rtol=2e-2, atol=2e-2)


def test_product_of_512_cubed_allocates_only_its_result(webgpu: str) -> None:
    a, b = (tw.asarray(values(512, 512)).realize() for _ in "ab")
    (a @ b).numpy()
    backend = devices.backend("webgpu")
    assert isinstance(backend, WebGpuBackend)
    gc.collect()
    before = backend.pool.in_use, backend.pool.allocated
    product = (a @ b).realize()
    assert backend.pool.in_use - before[0] == 512 * 512 * 4
    assert backend.pool.allocated - before[1] <= 512 * 512 * 4
    compare(product.numpy(), a.numpy(), b.numpy())
