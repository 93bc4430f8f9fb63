"""Running totals as WebAssembly modules: lengths, dtypes, views, what floats do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.codegen.wasm.loops import in_blocks
from tensorweb.events import record_kernels

Array = np.ndarray[Any, Any]

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
SHAPES = [(1,), (3,), (4,), (5,), (32_769,), (7, 1), (5, 3), (40, 1001), (2, 40_003)]
OPERATIONS = {
    "sum": (tw.cumulative_sum, np.cumsum),
    "prod": (tw.cumulative_prod, np.cumprod),
}


def integers(shape: tuple[int, ...], dtype: str) -> Array:
    """Return odd numbers, whose products are never 0."""
    info = np.iinfo(dtype)
    some = np.random.default_rng(1).integers(info.min, info.max, shape, dtype)
    return np.asarray(some | np.asarray(1, dtype), dtype)


def floats(shape: tuple[int, ...], dtype: str) -> Array:
    near = 1 + np.random.default_rng(2).normal(0, 0.01, shape)
    return np.asarray(near, dtype)


def wide(dtype: str) -> str:
    return "float32" if dtype == "float16" else dtype


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_exact(dtype: str, name: str) -> None:
    ours, numpys = OPERATIONS[name]
    for shape in SHAPES:
        host = integers(shape, dtype)
        found = ours(tw.asarray(host), axis=-1).numpy()
        expected = numpys(host, axis=-1, dtype=found.dtype)
        np.testing.assert_array_equal(found, expected, str(shape))


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_of_floats_are_off_by_two_units_of_the_last_place(dtype: str) -> None:
    for shape in [*SHAPES, (500_003,)]:
        host = floats(shape, dtype) * np.asarray(2.0**-9, dtype)
        found = tw.cumulative_sum(tw.asarray(host), axis=-1).numpy()
        exact = np.cumsum(host, axis=-1, dtype=np.float64)
        assert (np.abs(found - exact) <= 2 * np.spacing(exact.astype(dtype))).all()


@pytest.mark.usefixtures("wasm")
def test_sums_of_float64_are_no_less_exact_than_one_after_another() -> None:
    for shape in SHAPES:
        host = floats(shape, "float64")
        found = tw.cumulative_sum(tw.asarray(host), axis=-1).numpy()
        exact = np.cumsum(host, axis=-1, dtype=np.longdouble)
        allowed = np.abs(np.cumsum(host, axis=-1) - exact).max()
        assert (np.abs(found - exact) <= allowed + np.spacing(found)).all(), shape


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_floats_are_numpys(dtype: str) -> None:
    for shape in [*SHAPES, (150_000,)]:
        host = floats(shape, dtype)
        found = tw.cumulative_prod(tw.asarray(host), axis=-1).numpy()
        expected = np.cumprod(host, axis=-1, dtype=wide(dtype)).astype(dtype)
        np.testing.assert_array_equal(found, expected, str(shape))


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("length", [9, 33_000])
def test_nan_and_infinities_propagate(dtype: str, length: int) -> None:
    host = np.full(length, -0.0, dtype)
    zeros = tw.cumulative_sum(tw.asarray(host)).numpy()
    np.testing.assert_array_equal(np.signbit(zeros), True)
    for index, special in ((2, np.inf), (length - 2, -np.inf)):
        host[index] = special
    with np.errstate(invalid="ignore"):
        for ours, numpys in OPERATIONS.values():
            found = ours(tw.asarray(host)).numpy()
            np.testing.assert_array_equal(found, numpys(host))
            np.testing.assert_array_equal(np.isnan(found), np.isnan(numpys(host)))


@pytest.mark.usefixtures("wasm")
def test_products_may_leave_their_range_and_come_back() -> None:
    host = np.tile(np.array([1e-30, 1e30, 1e30, 1e-30], np.float32), 20_000)
    found = tw.cumulative_prod(tw.asarray(host)).numpy()
    np.testing.assert_array_equal(found, np.cumprod(host))


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("length", [6, 2003])
def test_views(length: int) -> None:
    host = np.random.default_rng(3).integers(-99, 99, (5, length, 3), "int32")
    x = tw.asarray(host)
    for ours, numpys in (
        (x.permute(2, 0, 1), host.transpose(2, 0, 1)),
        (x[::-2, 1:, 1], host[::-2, 1:, 1]),
        (x[1, ::-1, 2], host[1, ::-1, 2]),
        (x[:, :, 0].T, host[:, :, 0].T),
        (tw.broadcast_to(x[:, :1, 0], (5, 7)), np.broadcast_to(host[:, :1, 0], (5, 7))),
        (tw.concat([x * 2, x], axis=1), np.concatenate([host * 2, host], 1)),
    ):
        for axis in (0, -1):
            found = tw.cumulative_sum(ours, axis=axis).numpy()
            np.testing.assert_array_equal(found, np.cumsum(numpys, axis))


@pytest.mark.usefixtures("wasm")
def test_nothing_and_constants() -> None:
    assert tw.cumulative_sum(tw.zeros((0, 5)), axis=1).shape == (0, 5)
    assert tw.cumulative_sum(tw.zeros((5, 0)), axis=1).shape == (5, 0)
    ones = tw.cumulative_sum(tw.ones(40_000, dtype=tw.int32)).numpy()
    np.testing.assert_array_equal(ones, np.arange(1, 40_001))
    included = tw.cumulative_sum(tw.asarray([1, 2, 3]), include_initial=True)
    assert included.tolist() == [0, 1, 3, 6]


@pytest.mark.usefixtures("wasm")
def test_launches() -> None:
    def units(x: tw.Tensor) -> list[tuple[str, int]]:
        with record_kernels() as records:
            tw.realize(x)
        return [(record.kind, record.grid[0]) for record in records]

    x = tw.realize(tw.zeros(1 << 20) + 1)
    assert units(tw.cumulative_sum(x)) == [("scan", 64), ("scan_add", 64)]
    assert units(tw.cumulative_prod(x)) == [("scan", 16)]
    assert units(tw.cumulative_sum(x.reshape(64, -1), axis=1)) == [("scan", 64)]
    assert units(tw.cumulative_sum(x.reshape(-1, 64), axis=1)) == [("scan", 64)]


@pytest.mark.usefixtures("wasm")
def test_lengths_share_modules(wasm: WasmBackend) -> None:
    for length in (50_000, 70_001):
        tw.realize(tw.cumulative_sum(tw.asarray(floats((length,), "float32"))))
    assert wasm.driver.counters()["pipelines"] == 2


def test_the_last_block_is_long() -> None:
    for length in range(32_768, 2_200_000, 997):
        cut = in_blocks(1, length, 1 << 14, 128)
        last = length - (cut.blocks - 1) * cut.size
        assert cut.size % 4 == 0
        assert 4096 <= last <= cut.size
