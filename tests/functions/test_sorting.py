"""Sorting, the positions that sort, the largest values and distinct values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal
from test_reductions import STORED, name_of, require

import tensorweb as tw
from tensorweb.dtypes import DType
from tensorweb.errors import AxisError, ShapeError
from tensorweb.events import record_kernels

Array = np.ndarray[Any, Any]

LENGTHS = [
    0,
    1,
    2,
    255,
    256,
    257,
    512,
    513,
    1023,
    1024,
    1025,
    2048,
    2049,
    4097,
    8191,
    12_289,
    100_003,
]
SPECIALS = [np.nan, 1.0, -np.inf, 0.0, -0.0, np.inf, -1.0, -np.nan, 1e-45, -0.0, 0.0]
COMMON = ["float32", "int32", "uint32", "bool"]
SORTED_OFTEN = ("float32", "int32")
"""By the tests of lengths, axes and views."""
BOTH = pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])


def values(shape: tuple[int, ...], dtype: str) -> Array:
    """Return numbers of a dtype, many of them several times."""
    random = np.random.default_rng(sum(shape))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if dtype.startswith("float"):
        return np.asarray(np.round(random.normal(0, 20, shape)) / 4, dtype)
    info = np.iinfo(dtype)
    some = random.integers(info.min, info.max, 99, dtype, endpoint=True)
    return np.asarray(random.choice(some, shape), dtype)


def stable_order(host: Array, axis: int, descending: bool) -> Array:
    """Return positions that sort an axis stably with NaN last, by NumPy."""
    if not descending:
        return np.argsort(host, axis=axis, kind="stable")
    reversed_ = -host if host.dtype.kind == "f" else ~host
    return np.argsort(reversed_, axis=axis, kind="stable")


def check(x: tw.Tensor, host: Array, axis: int, descending: bool) -> None:
    """Compare `sort` and `argsort` with NumPy, signs of zeros included."""
    order = stable_order(host, axis, descending)
    found = tw.argsort(x, axis=axis, descending=descending)
    assert found.dtype == tw.int32
    np.testing.assert_array_equal(found.numpy(), order)
    ordered = tw.sort(x, axis=axis, descending=descending)
    assert ordered.dtype == x.dtype
    expected = np.take_along_axis(host, order, axis)
    np.testing.assert_array_equal(ordered.numpy(), expected)
    if host.dtype.kind == "f":
        signs = np.signbit(ordered.numpy())
        np.testing.assert_array_equal(signs, np.signbit(expected))


@BOTH
@pytest.mark.parametrize(
    ("dtype", "length"),
    [("float32", length) for length in LENGTHS]
    + [(dtype, length) for dtype in COMMON[1:] for length in (1, 100_003)],
)
def test_lengths(dtype: str, length: int, descending: bool, device: str) -> None:
    host = values((length,), dtype)
    check(tw.asarray(host), host, 0, descending)


@BOTH
@pytest.mark.parametrize(
    ("device", "dtype"),
    [(device, dtype) for device, dtype in STORED if dtype.name not in SORTED_OFTEN],
    indirect=["device"],
    ids=name_of,
)
def test_every_dtype(device: str, dtype: DType, descending: bool) -> None:
    require(dtype, device)
    host = values((3, 2500), dtype.name)
    x = tw.asarray(host)
    check(x, host, 1, descending)
    check(x, host, 0, descending)


@BOTH
@pytest.mark.parametrize("repeats", [1, 400], ids=["short", "long"])
def test_nan_is_last_and_zeros_are_equal(
    repeats: int, descending: bool, device: str
) -> None:
    host = np.tile(np.array(SPECIALS, np.float32), repeats)
    x = tw.asarray(host)
    check(x, host, 0, descending)
    ordered = tw.sort(x, descending=descending).numpy()
    assert np.isnan(ordered[-2 * repeats :]).all()
    assert not np.isnan(ordered[: -2 * repeats]).any()


def test_subnormals_and_extremes_keep_their_bits(device: str) -> None:
    bits = np.array([0x00000001, 0x80000001, 0x7F7FFFFF, 0xFF7FFFFF, 0x007FFFFF])
    host = np.tile(bits.astype(np.uint32), 500).view(np.float32)
    for part in (host[:5], host):
        ordered = tw.sort(tw.asarray(part)).numpy()
        expected = np.sort(part, kind="stable")
        np.testing.assert_array_equal(ordered.view("u4"), expected.view("u4"))


@BOTH
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 2051, 3), (70, 33, 2)], ids=str)
def test_axes(shape: tuple[int, ...], descending: bool, device: str) -> None:
    host = values(shape, "int32")
    x = tw.asarray(host)
    for axis in (0, 1, 2, -1):
        check(x, host, axis, descending)


@pytest.mark.parametrize("length", [11, 2111], ids=["short", "long"])
def test_views(length: int, device: str) -> None:
    host = values((5, length, 3), "float32")
    x = tw.asarray(host)
    check(x.permute(2, 0, 1), host.transpose(2, 0, 1), 2, False)
    check(x[1, ::-1, 2], host[1, ::-1, 2], 0, True)
    if length > 1000:
        return
    wide = np.broadcast_to(host[:, :, :1], (5, length, 4))
    check(tw.broadcast_to(x[:, :, :1], (5, length, 4)), wide, 1, False)
    check(tw.concat([x, x * 2], axis=1), np.concatenate([host, host * 2], 1), 1, True)


def test_rows_without_elements(device: str) -> None:
    assert tw.sort(tw.zeros((0, 5))).shape == (0, 5)
    assert tw.argsort(tw.zeros((5, 0))).shape == (5, 0)
    assert tw.argsort(tw.zeros((2, 1))).tolist() == [[0], [0]]


def test_constants_and_ramps(device: str) -> None:
    assert tw.argsort(tw.zeros(3000)).tolist() == list(range(3000))
    assert tw.sort(tw.arange(3000), descending=True).tolist() == [*range(2999, -1, -1)]


def test_sort_of_an_expression_and_an_expression_of_it(device: str) -> None:
    host = values((3, 2100), "float32")
    for part in (host[:, :9], host):
        result = tw.sort(tw.asarray(part) * 2 + 1) * 3
        np.testing.assert_array_equal(result.numpy(), np.sort(part * 2 + 1) * 3)


def test_methods_are_the_functions(device: str) -> None:
    x = tw.asarray([[3, 1, 2], [4, 6, 5]])
    assert x.argsort(stable=False).tolist() == [[1, 2, 0], [0, 2, 1]]
    x.sort(0, descending=True)
    assert x.tolist() == [[4, 6, 5], [3, 1, 2]]


def test_an_axis_that_is_not_there(device: str) -> None:
    with pytest.raises(AxisError, match="axis 2"):
        tw.sort(tw.zeros((2, 3)), axis=2)
    with pytest.raises(AxisError):
        tw.argsort(tw.asarray(1.0))


def kinds(x: tw.Tensor) -> list[str]:
    with record_kernels() as records:
        tw.realize(x)
    return [record.kind for record in records]


def test_short_rows_are_sorted_with_their_prologue(webgpu: str) -> None:
    x = tw.realize(tw.asarray(values((300, 7), "float32")))
    assert kinds(tw.sort(x * 2 + 1)) == ["sort_rows"]
    with record_kernels() as records:
        tw.realize(tw.argsort(x))
    assert records[0].grid[0] == 3


def test_rows_of_one_tile_are_one_kernel(webgpu: str) -> None:
    x = tw.realize(tw.asarray(values((3, 1500), "float32")))
    assert kinds(tw.sort(x * 2 + 1)) == ["sort_rows"]
    assert kinds(tw.argsort(x, descending=True)) == ["sort_rows"]


def test_rows_of_few_tiles_are_merged_in_pairs(webgpu: str) -> None:
    x = tw.realize(tw.asarray(values((2, 8191), "float32")))
    for ordered in (tw.sort(x), tw.argsort(x.T, axis=0)):
        first, *merges = kinds(ordered)
        assert first == "sort_rows"
        assert merges in (["sort_merge"], ["sort_merge"] * 2)
    assert kinds(tw.argsort(x * 2))[:2] == ["elementwise", "sort_rows"]


def test_rows_of_many_tiles_take_four_passes(webgpu: str) -> None:
    x = tw.realize(tw.asarray(values((2, 17_000), "float32")))
    one = ["sort_count", "scan", "sort_blocks"]
    assert kinds(tw.sort(x)) == one * 4
    assert kinds(tw.argsort(x * 2)) == ["elementwise", *one * 4]
    assert kinds(tw.sort(x > 0)) == ["elementwise", *one]


def test_sorting_is_the_same_every_time(device: str) -> None:
    x = tw.asarray(values((50_021,), "float32"))
    first = tw.argsort(x).numpy()
    np.testing.assert_array_equal(tw.argsort(x).numpy(), first)


def test_top_k(device: str) -> None:
    host = values((3, 50, 2), "float32")
    x = tw.asarray(host)
    for largest in (True, False):
        order = stable_order(host, 1, largest)[:, :4]
        found = tw.top_k(x, 4, axis=1, largest=largest)
        np.testing.assert_array_equal(found.indices.numpy(), order)
        expected = np.take_along_axis(host, order, 1)
        np.testing.assert_array_equal(found.values.numpy(), expected)
    assert tw.top_k(x, 0).values.shape == (3, 50, 0)
    with pytest.raises(ShapeError, match="k is 3"):
        tw.top_k(x, 3)


@pytest.mark.parametrize("dtype", COMMON)
@pytest.mark.parametrize("largest", [True, False])
def test_top_k_of_long_rows(dtype: str, largest: bool, device: str) -> None:
    """Divided rows: with rests and ties, and with nothing but the worst values."""
    worst = tw.iinfo if "int" in dtype else None
    host = values((2, 6011), dtype)
    host[0, 4000:] = host[0, 0]
    if worst:
        host[1] = worst(dtype).min if largest else worst(dtype).max
    elif dtype != "bool":
        host[1, 5:] = np.nan
    for k in (1, 9, 300):
        found = tw.top_k(tw.asarray(host), k, largest=largest)
        order = stable_order(host, 1, largest)[:, :k]
        np.testing.assert_array_equal(found.indices.numpy(), order)
        expected = np.take_along_axis(host, order, 1)
        np.testing.assert_array_equal(found.values.numpy(), expected)


def test_long_rows_are_sorted_in_blocks(webgpu: str) -> None:
    x = tw.realize(tw.arange(9000.0).reshape((2, 4500)) + 0)
    with tw.record_kernels() as kernels:
        tw.realize(*tw.top_k(x, 3))
    assert [k.kind for k in kernels if "sort" in k.kind] == ["sort_rows"] * 2


@pytest.mark.parametrize("dtype", COMMON)
@pytest.mark.parametrize("shape", [(0,), (), (1,), (7,), (5, 11), (3, 5000)], ids=str)
def test_distinct_values(shape: tuple[int, ...], dtype: str, device: str) -> None:
    host = values(shape, dtype)
    x = tw.asarray(host)
    expected = np.unique_all(host)
    found = tw.unique_all(x)
    assert found._fields == expected._fields
    for name, part in zip(found._fields, found, strict=True):
        reference = getattr(expected, name)
        assert part.shape == reference.shape, name
        np.testing.assert_array_equal(part.numpy(), reference, name)
        assert part.dtype == (x.dtype if name == "values" else tw.int32)
    np.testing.assert_array_equal(tw.unique_values(x).numpy(), expected.values)
    counted = tw.unique_counts(x)
    np.testing.assert_array_equal(counted.values.numpy(), expected.values)
    np.testing.assert_array_equal(counted.counts.numpy(), expected.counts)
    result = tw.unique_inverse(x)
    np.testing.assert_array_equal(result.values.numpy(), expected.values)
    inverse = result.inverse_indices.numpy()
    np.testing.assert_array_equal(inverse, expected.inverse_indices)


def test_each_nan_is_a_value_of_its_own(device: str) -> None:
    x = tw.asarray([tw.nan, 1.0, tw.nan, 1.0, -0.0, 0.0])
    found = tw.unique_all(x)
    assert found.values.tolist()[:2] == [0.0, 1.0]
    assert found.counts.tolist() == [2, 2, 1, 1]
    assert found.indices.tolist() == [4, 1, 0, 2]
    assert found.inverse_indices.tolist() == [2, 1, 3, 1, 0, 0]


def test_distinct_values_of_views(device: str) -> None:
    host = values((40, 30), "int32")
    view = tw.asarray(host).T[::-2, 3:]
    expected = np.unique_all(host.T[::-2, 3:])
    for part, reference in zip(tw.unique_all(view), expected, strict=True):
        np.testing.assert_array_equal(part.numpy(), reference)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_searchsorted_is_in_the_order_of_sort(
    side: str, dtype: str, device: str
) -> None:
    values = np.array([2.0, np.nan, -0.0, 0.0, 9.0, -9.0, np.inf, -np.inf, 1.0])
    many = [*(np.arange(270) % 37 - 9.0), np.nan, -np.inf]
    for rest in ([], [np.nan], [np.inf, np.nan, np.nan], many[:60], many):
        numbers = np.array([1.0, -0.0, 2.0, 0.0, 2.0, *rest])
        if dtype == "int32":
            numbers = numbers[np.isfinite(numbers)]
        numbers = numbers.astype(dtype)
        asked = values.astype("float32" if dtype == "int32" else dtype)
        order = np.argsort(numbers, kind="stable")
        expected = np.searchsorted(numbers, asked, side=side, sorter=order)
        x, v = tw.asarray(numbers), tw.asarray(asked)
        assert_equal(tw.searchsorted(tw.sort(x), v, side=side), expected)
        sorter = tw.argsort(x)
        assert_equal(tw.searchsorted(x, v, side=side, sorter=sorter), expected)
    nothing = tw.searchsorted(tw.zeros(0), tw.asarray([1.0, np.nan]), side=side)
    assert_equal(nothing, [0, 0])


def test_nan_is_in_no_set(device: str) -> None:
    x = np.array([1.0, np.nan, -0.0, 0.0, np.inf], np.float32)
    among = np.array([np.nan, 0.0, np.inf], np.float32)
    for invert in (False, True):
        got = tw.isin(tw.asarray(x), tw.asarray(among), invert=invert)
        assert_equal(got, np.isin(x, among, invert=invert))
    values, counts = tw.unique_counts(tw.asarray(x))
    expected, times = np.unique(x, return_counts=True, equal_nan=False)
    assert_equal(values, expected)
    assert_equal(counts, times)
