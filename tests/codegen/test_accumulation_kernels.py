"""Which kernels accumulate on WebGPU, and their values where blocks and tables end."""

from __future__ import annotations

import numpy as np
import pytest
from accumulation_cases import (
    backend,
    changed,
    kinds,
    positions,
    ready,
    ready_positions,
    small,
)

import tensorweb as tw
from tensorweb.codegen import accumulation
from tensorweb.events import record_kernels

TABLE_LENGTHS = [64, 300, 1023, 1024, 1025, 2049, 5000, 262_144]


@pytest.mark.parametrize(
    ("count", "length"),
    [(50_003, length) for length in TABLE_LENGTHS]
    + [(32_768, 64), (32_768, 1025), (131_073, 1023), (131_073, 5000)],
)
def test_tables(count: int, length: int, webgpu: str) -> None:
    random = np.random.default_rng(count)
    x = small((length,), "float32") - 0.5
    values = random.integers(-9, 9, count).astype(np.float32) / 8
    middle, every = length // 2, np.arange(count) % length
    drawn = random.integers(0, length, count)
    for key in (drawn, np.full(count, length - 1), np.minimum(drawn, middle), every):
        found = tw.asarray(x).at[key.astype(np.int32)].add(values).numpy()
        np.testing.assert_array_equal(found, x + np.bincount(key, values, length))


@pytest.mark.parametrize(
    "table", accumulation.TABLES, ids=lambda table: str(table.bins)
)
def test_tables_of_every_size(
    table: accumulation.AccumulationTable, webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = backend().driver.limits
    bins = table.bins
    while bins * 12 > limits["maxComputeWorkgroupStorageSize"]:
        bins //= 2
    threads = min(table.threads, limits["maxComputeInvocationsPerWorkgroup"])
    given = accumulation.AccumulationTable(bins, 0, threads)
    monkeypatch.setattr(accumulation, "TABLES", (given,))
    random = np.random.default_rng(1)
    for length in (bins - 1, 3 * bins + 5, 256 * bins):
        count = 60_000 + bins + table.threads  # plans of other sizes are kept
        key = random.integers(0, length, count)
        values = random.integers(-9, 9, key.size).astype(np.float32)
        x = tw.zeros(length).at[key.astype(np.int32)].add(values)
        with record_kernels() as records:
            found = x.numpy()
        assert f"const THREADS: u32 = {threads}u;" in records[-2].source
        np.testing.assert_array_equal(found, np.bincount(key, values, length))


@pytest.mark.parametrize("length", [100, 3000], ids=str)
def test_tables_of_numbers_of_every_size(length: int, webgpu: str) -> None:
    random = np.random.default_rng(7)
    bits = random.integers(0, 1 << 32, 40_000, np.uint64).astype(np.uint32)
    exponents = (bits >> 23) & 255
    values = bits[(exponents > 30) & (exponents < 240)].view(np.float32)
    key = random.integers(0, length, values.size).astype(np.int32)
    found = tw.zeros(length).at[key].add(values).numpy()
    exact = np.bincount(key, values.astype(np.float64), length)
    magnitudes = np.abs(values.astype(np.float64))
    largest = np.zeros(length)
    np.maximum.at(largest, key, magnitudes)
    # The sums of up to three tables are rounded twice each and added in two steps.
    rounding = 4 * 2.0**-24 * np.bincount(key, magnitudes, length)
    window = 2.0**-31 * np.bincount(key, minlength=length) * largest
    assert (np.abs(found - exact) <= rounding + window).all()


def test_small_numbers_added_to_large_ones_round_without_bias(webgpu: str) -> None:
    random = np.random.default_rng(4)
    values = random.uniform(0, 2.0**-26, (64, 8000)).astype(np.float32)
    values[:, 100] = 1
    key = np.repeat(np.arange(64, dtype=np.int32), 8000)
    found = tw.zeros(64).at[key].add(values.ravel()).numpy()
    exact = values.sum(1, dtype=np.float64)
    assert np.abs(found - exact).max() < 4e-7


@pytest.mark.parametrize("length", [100, 3000], ids=str)
def test_tables_keep_infinities_and_small_numbers(length: int, webgpu: str) -> None:
    values = np.zeros(40_000, np.float32)
    key = np.arange(40_000, dtype=np.int32) % length
    key[:20_000] = length - 1
    specials = {1: np.inf, 2: -np.inf, 3: np.nan, 5: 3e38, 6: 1.25e-37}
    for offset, value in specials.items():
        values[30_000 - 30_000 % length + offset] = value
    values[34_000 - 34_000 % length + 4] = np.inf
    values[36_000 - 36_000 % length + 4] = -np.inf
    x = tw.full(length, 1.0).at[:1].set(-0.0).at[6].set(0.0)
    found = x.at[key].add(values).numpy()
    assert str(found[:7].tolist()) == str(
        [-0.0, np.inf, -np.inf, np.nan, np.nan, float(np.float32(3e38)), 1.25e-37]
    ).replace("1.25e-37", str(float(np.float32(1.25e-37))))
    assert (found[7:] == 1).all()


def test_many_sums_go_through_tables(webgpu: str) -> None:
    v = ready(small((40_000,), "float32"))
    few, many = ready_positions(40_000, 500), ready_positions(40_000, 200_000)
    last = ["scatter_tables", "scatter_total"]
    assert kinds(tw.zeros(500).at[few].add(v * 2)) == last
    sorting = ["sort_count", "scan_totals", "scan", "sort_blocks"]
    assert kinds(tw.zeros(200_000).at[many].add(v * 2)) == [*sorting, *last]
    assert "scatter_runs" in kinds(tw.zeros(500).at[few].multiply(v))
    assert "scatter_runs" in kinds(tw.zeros(1 << 24).at[few].add(v))


@pytest.mark.parametrize("length", [1, 2, 33, 64, 2048, 2049], ids=str)
def test_many_integers_are_counted_in_each_workgroup(length: int, webgpu: str) -> None:
    key = np.abs(positions(50_003, length))
    key = np.minimum(key, length - 1)
    indices = ready(key)
    tw.zeros(length)[indices]
    x = tw.zeros(length, dtype=tw.int32).at[indices].add(2)
    first = "scatter_atomic" if length > 2048 else "scatter_privatized"
    assert kinds(x) == [first, "elementwise"]
    np.testing.assert_array_equal(x.numpy(), 2 * np.bincount(key, minlength=length))
    values = small((50_003,), "float32") - 2
    found = tw.zeros(length).at[indices].min(values).numpy()
    expected = changed(np.zeros(length, np.float32), key, "min", values)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("length", [1, 70_001], ids=str)
def test_blocks_of_blocks(length: int, webgpu: str) -> None:
    count = (1 << 21) + 4099
    key = np.random.default_rng(1).integers(0, length, count).astype(np.int32)
    values = (np.arange(count) % 3 - 1).astype(np.float32)
    found = tw.zeros(length).at[key].add(values).numpy()
    np.testing.assert_array_equal(found, np.bincount(key, values, length))
    if length > 1:
        return
    found = tw.zeros((length, 2)).at[key].add(values[:, None]).numpy()
    np.testing.assert_array_equal(found[:, 1], np.bincount(key, values, length))


def test_masks_with_one_value_read_nothing(webgpu: str) -> None:
    x = tw.realize(tw.arange(1000, dtype=tw.float32))
    mask = x > 500
    assert kinds(x.at[mask].add(1)) == ["elementwise"]


def test_boxes_are_one_kernel_over_their_surroundings(webgpu: str) -> None:
    x = tw.realize(tw.zeros((30, 40)) + 1)
    assert kinds(x.at[3:20, 1:30].multiply(3)) == ["stencil"]


def test_integers_and_extremes_are_one_atomic_each(webgpu: str) -> None:
    key = ready_positions(5000, 300)
    for dtype in (np.float32, np.int32):
        x = ready(small((300, 2), "float32").astype(dtype))
        for name in ("min", "max"):
            found = getattr(x.at[key], name)(3)
            assert kinds(found) == ["scatter_atomic", "elementwise"]
    assert kinds(x.at[key].add(1)) == ["scatter_atomic", "elementwise"]


def test_few_sums_take_three_launches(webgpu: str) -> None:
    x, key = ready(small((300,), "float32")), ready_positions(2048, 300)
    v = ready(small((2048,), "float32"))
    assert kinds(x.at[key].add(v * 2)) == ["elementwise", "sort_blocks", "scatter_runs"]
    y, key = ready(small((300, 3), "float32")), ready_positions(64, 300)
    assert kinds(y.at[key].add(1.0)) == ["elementwise", "sort_blocks", "scatter_rows"]


def test_positions_are_sorted_by_the_bits_they_have(webgpu: str) -> None:
    one = ["sort_count", "scan", "sort_blocks"]
    key, v = ready_positions(5000, 250), ready(small((5000,), "float32"))
    for length, passes in ((250, 1), (256, 1), (257, 2), (70_000, 3)):
        x = ready(small((length,), "float32"))
        expected = ["elementwise", *one * passes, "scatter_runs", "scatter_runs"]
        assert kinds(x.at[key].add(v)) == expected


def test_rows_are_sorted_by_their_number_alone(webgpu: str) -> None:
    key, v = ready_positions(3000, 40), ready(small((3000, 100), "float32"))
    x = ready(small((40, 100), "float32"))
    sorting = ["sort_count", "scan", "sort_blocks"]
    with record_kernels() as records:
        tw.realize(x.at[key].add(v))
    found = [record.kind for record in records]
    assert found == ["elementwise", *sorting, "scatter_rows", "scatter_edges"]
    assert records[1].grid[0] == 2
    columns = ready(small((100, 40), "float32"))
    assert kinds(columns.at[:, key].add(v.T)) == ["transpose_vectors", *found[1:]]


def test_results_of_a_flush_share_large_scratch_storages(webgpu: str) -> None:
    key, v = ready_positions(300_000, 9), ready(small((300_000,), "float32"))
    pool = backend().pool
    tw.realize(tw.zeros(9).at[key].add(v))
    pool.trim()
    before = pool.allocated
    tw.realize(tw.zeros(9).at[key].add(v))
    one = pool.allocated - before
    pool.trim()
    found = [tw.ones(9).at[key].add(v * i) for i in range(4)]
    tw.realize(*found)
    assert pool.allocated - before < 1.5 * one
    for i, x in enumerate(found):
        np.testing.assert_array_equal(
            x.numpy(),
            changed(np.ones(9, np.float32), key.numpy(), "add", v.numpy() * i),
        )
