"""`x.at[key]`, `bincount` and `segment_…`: against NumPy, and which kernels run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_reductions import STORED, name_of, require
from tolerances import ACCUMULATED

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.records import record_kernels
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.codegen import tables
from tensorweb.dtypes import DType
from tensorweb.errors import (
    DeviceError,
    DTypeError,
    RangeError,
    ShapeError,
    TensorIndexError,
)

Array = np.ndarray[Any, Any]

RULES: dict[str, Callable[..., None]] = {
    "add": np.add.at,
    "subtract": np.subtract.at,
    "multiply": np.multiply.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}
BY_NAME = pytest.mark.parametrize("name", RULES)
COUNTS = [1, 2, 255, 2047, 2048, 2049, 4097, 100_003]
ROW_COUNTS = [1, 63, 64, 65, 2049, 5003]


def small(shape: tuple[int, ...], dtype: str, name: str = "add") -> Array:
    """Return numbers whose sums and products stay exact in every dtype."""
    random = np.random.default_rng(sum(shape))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if name == "multiply":
        signs = [1] if dtype.startswith("uint") else [1, -1]
        return np.asarray(random.choice(signs, shape), dtype)
    return np.asarray(random.integers(0, 4, shape), dtype)


def positions(count: int, length: int) -> Array:
    """Return indices below a length, some negative, many of them several times."""
    random = np.random.default_rng(count + length)
    return np.asarray(random.integers(-length, length, count), np.int32)


def changed(host: Array, key: Any, name: str, values: Array) -> Array:
    """Return what NumPy's unbuffered operation makes of a copy."""
    result = host.copy()
    RULES[name](result, key, values)
    return result


def kinds(x: tw.Tensor) -> list[str]:
    with record_kernels() as records:
        tw.realize(x)
    return [record.kind for record in records]


def backend() -> WebGpuBackend:
    found = devices.backend("webgpu")
    assert isinstance(found, WebGpuBackend)
    return found


def ready(host: Array) -> tw.Tensor:
    """Return a tensor on the device."""
    return tw.realize(tw.asarray(host))


def ready_positions(count: int, length: int) -> tw.Tensor:
    """Return indices on the device, none of them negative, their range known."""
    x = ready(np.abs(positions(count, length - 1)))
    tw.zeros(length)[x]
    return x


@BY_NAME
@pytest.mark.parametrize("count", COUNTS, ids=str)
def test_counts_of_elements(name: str, count: int, device: str) -> None:
    for length in (1, 7, 300, 70_001):
        host, key = small((length,), "float32"), positions(count, length)
        values = small((count,), "float32", name)
        found = getattr(tw.asarray(host).at[key], name)(values)
        np.testing.assert_array_equal(found.numpy(), changed(host, key, name, values))


@BY_NAME
@pytest.mark.parametrize("width", [2, 3, 4, 8, 65, 300, 1028], ids=str)
@pytest.mark.parametrize("count", ROW_COUNTS, ids=str)
def test_counts_and_widths_of_rows(
    name: str, count: int, width: int, device: str
) -> None:
    host, key = small((37, width), "float32"), positions(count, 37)
    values = small((count, width), "float32", name)
    found = getattr(tw.asarray(host).at[key], name)(values)
    np.testing.assert_array_equal(found.numpy(), changed(host, key, name, values))


@pytest.mark.parametrize(
    ("device", "dtype", "name"),
    [
        (device, dtype, name)
        for device, dtype in STORED
        for name in RULES
        if dtype.kind != "bool" or name != "subtract"
    ],
    indirect=["device"],
    ids=name_of,
)
def test_every_dtype(device: str, dtype: DType, name: str) -> None:
    require(dtype, device)
    for shape, count in (((50,), 700), ((50,), 3000), ((11, 6), 90)):
        host = small(shape, dtype.name)
        key = positions(count, shape[0])
        values = small((count, *shape[1:]), dtype.name, name)
        found = getattr(tw.asarray(host).at[key], name)(tw.asarray(values))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.numpy(), changed(host, key, name, values))


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
def test_extremes_over_the_whole_range(name: str, dtype: str, device: str) -> None:
    random = np.random.default_rng(5)
    bits = random.integers(0, 1 << 32, 4000, np.uint64).astype(np.uint32)
    if dtype == "float32":
        # Subnormal numbers may count as zero on a device.
        bits = bits[(bits & 0x7F800000) != 0]
        bits[:4] = [0x7F800000, 0xFF800000, 0x7FC00000, 0]
    host = bits.view(dtype)[:90]
    values = bits.view(dtype)
    key = positions(len(values), 90)
    found = getattr(tw.asarray(host).at[key], name)(values).numpy()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, changed(host, key, name, values))


def test_elements_that_are_not_named_keep_their_bits(device: str) -> None:
    host = np.array([-0.0, 0.0, np.nan, -np.nan, 5.0], np.float32)
    for name in ("add", "multiply", "max", "min"):
        found = getattr(tw.asarray(host).at[[4, 4]], name)(2).numpy()
        np.testing.assert_array_equal(found.view("u4")[:4], host.view("u4")[:4])


def test_nan_and_infinity_arrive(device: str) -> None:
    values = np.array([np.inf, -np.inf, np.inf, np.nan, 1.0], np.float32)
    key = [0, 1, 2, 3, 3]
    x = tw.zeros(4)
    assert str(x.at[key].add(values).tolist()) == "[inf, -inf, inf, nan]"
    assert str(x.at[key].max(values).tolist()) == "[inf, 0.0, inf, nan]"
    assert str(x.at[key].min(values).tolist()) == "[0.0, -inf, 0.0, nan]"


@BY_NAME
@pytest.mark.parametrize(
    "key",
    [
        3,
        slice(1, 4),
        slice(None, None, -2),
        (slice(None), 2),
        (..., [0, 2, 0]),
        ([1, 1, 4], slice(None), [0, 5, 0]),
        (slice(None), [3, 3]),
        (slice(1, 4), [3, 3], slice(None, None, 2)),
        (2, slice(None), [1, 1, 0]),
        ([[0], [4]], [1, 1, 0]),
        (slice(3, 0, -1), None, [2, 0, 2], 4),
        ([], slice(None)),
        (np.arange(5) > 1,),
        (np.arange(5) > 9,),
        (slice(None), np.arange(4) > 1, [0, 5]),
        (np.arange(20).reshape(5, 4) % 3 == 0, slice(1, 3)),
        True,
        (True, [1, 1]),
        (False, [1]),
    ],
    ids=str,
)
def test_keys(key: Any, name: str, device: str) -> None:
    host = small((5, 4, 6), "float32")
    shape = host[key].shape
    for spread in (shape, shape[-1:], ()):
        values = small(spread, "float32", name)
        found = getattr(tw.asarray(host).at[key], name)(values)
        np.testing.assert_array_equal(found.numpy(), changed(host, key, name, values))


@BY_NAME
def test_views_of_tensor_indices_and_values(name: str, device: str) -> None:
    host, key = small((7, 40, 6), "float32"), positions(3000, 40).reshape(50, 60)
    values = small((50, 60, 12, 7), "float32", name)
    x, indices, v = (tw.asarray(a) for a in (host, key, values))
    found = getattr(x.permute(1, 2, 0).at[indices.T[::-1, 3:]], name)(
        v.permute(1, 0, 2, 3)[::-1, 3:, ::2]
    )
    expected = changed(
        host.transpose(1, 2, 0).copy(),
        key.T[::-1, 3:],
        name,
        values.transpose(1, 0, 2, 3)[::-1, 3:, ::2],
    )
    np.testing.assert_array_equal(found.numpy(), expected)
    wide = tw.broadcast_to(x[:, :1, 0], (7, 9)).T
    found = getattr(wide.at[[2, 2, 8]], name)(tw.broadcast_to(v[0, 0, :3, :1], (3, 7)))
    expected = np.broadcast_to(host[:, :1, 0], (7, 9)).T.copy()
    expected = changed(expected, [2, 2, 8], name, values[0, 0, :3, :1])
    np.testing.assert_array_equal(found.numpy(), expected)


def test_expressions_before_and_behind(device: str) -> None:
    host, key = small((300,), "float32"), positions(5000, 100)
    values = small((5000,), "float32")
    x, v = tw.asarray(host), tw.asarray(values)
    found = (x * 2 + 1).at[tw.asarray(key) + 100].add(v * 3 - x[key]) * 5
    expected = changed(host * 2 + 1, key + 100, "add", values * 3 - host[key]) * 5
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("count", [0, 1], ids=str)
def test_few_or_no_values(count: int, device: str) -> None:
    for shape in ((3,), (3, 0), (3, 4)):
        host = small(shape, "float32")
        values = small((count, *shape[1:]), "float32")
        key = np.zeros(count, np.int32)
        found = tw.asarray(host).at[key].add(values)
        np.testing.assert_array_equal(found.numpy(), changed(host, key, "add", values))
    assert tw.zeros((0, 2)).at[[]].add(1).shape == (0, 2)
    assert tw.asarray(5.0).at[()].add(2).item() == 7
    assert tw.asarray(5.0).at[...].multiply(2).item() == 10


@pytest.mark.parametrize("shape", [(50_021,), (5_003, 3)], ids=str)
@pytest.mark.parametrize("spread", [1, 40, 300, 5000, 70_001, 1 << 20], ids=str)
def test_sums_are_as_exact_as_said_and_the_same_every_time(
    shape: tuple[int, ...], spread: int, device: str
) -> None:
    random = np.random.default_rng(3)
    key = random.integers(0, spread, shape[0]).astype(np.int32)
    values = (random.normal(0, 1, shape) * 10 ** random.uniform(-3, 3, shape)).astype(
        np.float32
    )
    x = tw.zeros((spread, *shape[1:]))
    first = x.at[key].add(values).numpy()
    np.testing.assert_array_equal(x.at[key].add(values).numpy(), first)
    wide = np.zeros((spread, *shape[1:]))
    exact = changed(wide, key, "add", values.astype(np.float64))
    sizes = changed(wide, key, "add", np.abs(values.astype(np.float64)))
    if device == "webgpu":
        bound = ACCUMULATED * float(np.finfo(np.float32).eps) * sizes
        assert (np.abs(first - exact) <= bound).all()


def test_products_are_as_exact_as_sums(webgpu: str) -> None:
    random = np.random.default_rng(3)
    values = np.exp2(random.uniform(-1, 1, 20_011)).astype(np.float32)
    key = random.integers(0, 300, values.size).astype(np.int32)
    found = tw.ones(300).at[key].multiply(values).numpy()
    exact = changed(np.ones(300), key, "multiply", values.astype(np.float64))
    counts = np.bincount(key, minlength=300)
    bound = counts * float(np.finfo(np.float32).eps) / 2
    assert (np.abs(found / exact - 1) <= bound).all()


def test_float16_is_rounded_once(device: str) -> None:
    require(tw.float16, device)
    values = np.full(3000, 0.25, np.float16)
    x = tw.full(3, 2000, dtype=tw.float16)
    found = x.at[np.arange(3000) % 3].add(tw.asarray(values))
    assert found.tolist() == [2250, 2250, 2250]


def test_more_elements_than_float32_counts(webgpu: str) -> None:
    count = (1 << 24) + 3
    indices = tw.arange(count) & 1
    assert tw.zeros(2, dtype=tw.int32).at[indices].add(1).tolist() == [
        (1 << 23) + 2,
        (1 << 23) + 1,
    ]
    places = tw.zeros(count).at[[count - 1, count - 2, count - 1]].add(1.0)
    assert places[-3:].tolist() == [0, 1, 2]


TABLE_LENGTHS = [64, 300, 1023, 1024, 1025, 2049, 5000, 262_144]


@pytest.mark.parametrize("length", TABLE_LENGTHS, ids=str)
@pytest.mark.parametrize("count", [32_768, 50_003, 131_073], ids=str)
def test_tables(count: int, length: int, webgpu: str) -> None:
    random = np.random.default_rng(count)
    x = small((length,), "float32") - 0.5
    values = random.integers(-9, 9, count).astype(np.float32) / 8
    middle, every = length // 2, np.arange(count) % length
    drawn = random.integers(0, length, count)
    for key in (drawn, np.full(count, length - 1), np.minimum(drawn, middle), every):
        found = tw.asarray(x).at[key.astype(np.int32)].add(values).numpy()
        np.testing.assert_array_equal(found, x + np.bincount(key, values, length))


@pytest.mark.parametrize("table", tables.TABLES, ids=lambda table: str(table.places))
def test_tables_of_every_size(
    table: tables.Table, webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = backend().driver.limits
    places = table.places
    while places * 12 > limits["maxComputeWorkgroupStorageSize"]:
        places //= 2
    threads = min(table.threads, limits["maxComputeInvocationsPerWorkgroup"])
    given = tables.Table(places, 0, threads)
    monkeypatch.setattr(tables, "TABLES", (given,))
    random = np.random.default_rng(1)
    for length in (places - 1, 3 * places + 5, 256 * places):
        count = 60_000 + places + table.threads  # plans of other sizes are kept
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
    largest = np.zeros(length)
    np.maximum.at(largest, key, np.abs(values.astype(np.float64)))
    assert (np.abs(found - exact) <= 1.5e-7 * np.abs(exact) + 1e-8 * largest).all()


@pytest.mark.parametrize("length", [100, 3000], ids=str)
def test_tables_keep_infinities_and_small_numbers(length: int, webgpu: str) -> None:
    values = np.zeros(40_000, np.float32)
    key = np.arange(40_000, dtype=np.int32) % length
    key[:20_000] = length - 1
    places = {1: np.inf, 2: -np.inf, 3: np.nan, 5: 3e38, 6: 1.25e-37}
    for place, value in places.items():
        values[30_000 - 30_000 % length + place] = value
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
    first = "scatter_atomic" if length > 2048 else "scatter_tally"
    assert kinds(x) == [first, "elementwise"]
    np.testing.assert_array_equal(x.numpy(), 2 * np.bincount(key, minlength=length))
    values = small((50_003,), "float32") - 2
    found = tw.zeros(length).at[indices].min(values).numpy()
    expected = changed(np.zeros(length, np.float32), key, "min", values)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("length", [1, 3, 70_001], ids=str)
def test_blocks_of_blocks(length: int, webgpu: str) -> None:
    count = (1 << 21) + 4099
    key = np.random.default_rng(1).integers(0, length, count).astype(np.int32)
    values = (np.arange(count) % 3 - 1).astype(np.float32)
    found = tw.zeros(length).at[key].add(values).numpy()
    np.testing.assert_array_equal(found, np.bincount(key, values, length))
    found = tw.zeros((length, 2)).at[key].add(values[:, None]).numpy()
    np.testing.assert_array_equal(found[:, 1], np.bincount(key, values, length))


def test_get_and_set_are_indexing_and_assignment(device: str) -> None:
    host = small((5, 6), "float32")
    x = tw.asarray(host)
    np.testing.assert_array_equal(x.at[[1, 1], 2:].get().numpy(), host[[1, 1], 2:])
    np.testing.assert_array_equal(x.at(1).numpy(), host[1])
    assert x.at([1, 2]).item() == x.at(1, 2).item() == host[1, 2]
    found = x.at[[1, 3, 1]].set([[1.0], [2.0], [3.0]])
    host[[1, 3, 1]] = [[1.0], [2.0], [3.0]]
    np.testing.assert_array_equal(found.numpy(), host)


def test_the_tensor_itself_stays(device: str) -> None:
    x = tw.zeros(3)
    x.at[[0, 0]].add(1)
    x.at[0].set(7)
    assert x.tolist() == [0, 0, 0]


def test_adding_in_place_keeps_numpys_rule(device: str) -> None:
    host, x = np.zeros(4, np.float32), tw.zeros(4)
    for array in (host, x):
        array[[1, 1, 3]] += np.array([1, 2, 3], np.float32)
    assert x.tolist() == host.tolist() == [0, 2, 0, 3]


def test_division_is_by_the_product(device: str) -> None:
    x = tw.asarray([6.0, 5.0, 8.0])
    assert x.at[[0, 2, 0]].divide([2, 4, 3]).tolist() == [1, 5, 2]
    assert x.at[1:].divide(2).tolist() == [6, 2.5, 4]
    with pytest.raises(DTypeError, match=r"divide\(v\): x is int32"):
        tw.asarray([1, 2]).at[0].divide(2)


def test_bool_adds_as_or_and_multiplies_as_and(device: str) -> None:
    x = tw.asarray([False, True, True, False])
    values = tw.asarray([True, False, True])
    assert x.at[[0, 1, 0]].add(values).tolist() == [True, True, True, False]
    assert x.at[[1, 2, 2]].multiply(values).tolist() == [False, True, False, False]
    with pytest.raises(DTypeError, match="subtract"):
        x.at[0].subtract(True)


def test_integers_wrap_around(device: str) -> None:
    x = tw.asarray([2**31 - 1, 5])
    assert x.at[[0, 0]].add(1).tolist() == [-(2**31) + 1, 5]
    assert x.at[[1, 1]].multiply(2**20).tolist() == [2**31 - 1, 0]
    y = tw.asarray([1], dtype=tw.uint32)
    assert y.at[[0, 0]].subtract(1).tolist() == [2**32 - 1]


def test_wrong_use_is_explained(device: str) -> None:
    x = tw.zeros((3, 4))
    with pytest.raises(TensorIndexError, match="index 3 is out of range for axis 0"):
        x.at[[0, 3]].add(1)
    with pytest.raises(TensorIndexError, match="index -5 is out of range for axis 1"):
        x.at[:, [-5]].max(1)
    with pytest.raises(ShapeError, match=r"v has shape \(3,\)"):
        x.at[[0, 1]].add([1, 2, 3])
    with pytest.raises(ShapeError, match=r"v has shape \(3,\)"):
        x.at[0].multiply([1, 2, 3])
    with pytest.raises(DTypeError, match="v is float32 and x is int32"):
        x.astype(tw.int32).at[[0, 0]].add(0.5)


def test_values_from_another_device_are_refused(webgpu: str) -> None:
    x = tw.zeros(3)
    with pytest.raises(DeviceError, match="move v"):
        x.at[[0, 0]].add(tw.ones(2, device="cpu"))
    with pytest.raises(DeviceError, match="scatter_add: operands lie on"):
        x.at[tw.asarray([0, 0], device="cpu")].add(1)


def test_masks_with_one_value_read_nothing(webgpu: str) -> None:
    x = tw.realize(tw.arange(1000, dtype=tw.float32))
    mask = x > 500
    assert kinds(x.at[mask].add(1)) == ["elementwise"]


def test_boxes_are_elementwise(webgpu: str) -> None:
    x = tw.realize(tw.zeros((30, 40)) + 1)
    assert kinds(x.at[3:20, 1:30].multiply(3)) == ["elementwise"]


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


def test_bincount(device: str) -> None:
    host = np.abs(positions(5000, 90))
    np.testing.assert_array_equal(tw.bincount(host).numpy(), np.bincount(host))
    assert tw.bincount(host).dtype == tw.int32
    weights = small((5000,), "float32")
    found = tw.bincount(host, weights, minlength=200)
    assert found.dtype == tw.float32
    np.testing.assert_array_equal(found.numpy(), np.bincount(host, weights, 200))
    assert tw.bincount([]).shape == (0,)
    assert tw.bincount([], minlength=3).tolist() == [0, 0, 0]
    assert tw.bincount([2, 2], weights=[1, 2]).tolist() == [0, 0, 3]


def test_bincount_refuses(device: str) -> None:
    with pytest.raises(RangeError, match="x has -1"):
        tw.bincount([0, -1])
    with pytest.raises(RangeError, match="minlength is -1"):
        tw.bincount([0], minlength=-1)
    with pytest.raises(ShapeError, match="flatten"):
        tw.bincount([[0]])
    with pytest.raises(ShapeError, match="one weight for each"):
        tw.bincount([0, 1], weights=[1.0])
    with pytest.raises(DTypeError, match="x is float32"):
        tw.bincount([0.5])


@pytest.mark.parametrize("shape", [(700,), (700, 3), (70, 2, 5)], ids=str)
def test_segments(shape: tuple[int, ...], device: str) -> None:
    host = small(shape, "float32")
    ids = np.abs(positions(shape[0], 30))
    empty = np.zeros((32, *shape[1:]), np.float32)
    found = tw.segment_sum(host, ids, 32)
    np.testing.assert_array_equal(found.numpy(), changed(empty, ids, "add", host))
    found = tw.segment_max(host, ids, 32)
    expected = changed(empty - np.inf, ids, "max", host)
    np.testing.assert_array_equal(found.numpy(), expected)
    found = tw.segment_min(host, ids)
    expected = changed(empty[: ids.max() + 1] + np.inf, ids, "min", host)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_segments_of_other_dtypes(device: str) -> None:
    ids = [0, 2, 0]
    assert tw.segment_sum([True, True, True], ids).tolist() == [2, 0, 1]
    assert tw.segment_max([True, False, False], ids).tolist() == [True, False, False]
    assert tw.segment_min([5, 6, 7], ids).tolist() == [5, 2**31 - 1, 6]
    assert tw.segment_max([5, 6, 7], ids, 4).tolist() == [7, -(2**31), 6, -(2**31)]
    assert tw.segment_sum(tw.zeros((0, 2)), [], 3).tolist() == [[0, 0]] * 3


def test_segments_refuse(device: str) -> None:
    with pytest.raises(TensorIndexError, match="index 2 is out of range"):
        tw.segment_sum([1, 2], [0, 2], 2)
    with pytest.raises(RangeError, match="segment_ids has -1"):
        tw.segment_max([1, 2], [0, -1], 2)
    with pytest.raises(RangeError, match="num_segments is -1"):
        tw.segment_sum([1, 2], [0, 1], -1)
    with pytest.raises(ShapeError, match="one number for each slice"):
        tw.segment_min([1, 2], [0, 1, 2])
    with pytest.raises(DTypeError, match="segment_ids is float32"):
        tw.segment_sum([1, 2], [0.0, 1.0])


def test_explanations_name_the_calls(cpu: str) -> None:
    text = str(tw.explain(tw.zeros(3).at[[0, 0]].add(1)))
    assert "numpy.add.at" in text


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
