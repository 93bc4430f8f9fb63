"""`x.at[key]` against NumPy: counts, dtypes, keys, views, exactness and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from accumulation_cases import RULES, changed, positions, small
from test_reductions import STORED, name_of, require
from tolerances import ACCUMULATED

import tensorweb as tw
from tensorweb.dtypes import DType
from tensorweb.errors import (
    DeviceError,
    DTypeError,
    ShapeError,
    TensorIndexError,
)

BY_NAME = pytest.mark.parametrize("name", RULES)
COUNTS = [1, 255, 2047, 2048, 2049, 100_003]
ROW_COUNTS = [1, 64, 65, 5003]


@BY_NAME
@pytest.mark.parametrize("count", COUNTS, ids=str)
def test_counts_of_elements(name: str, count: int, device: str) -> None:
    for length in (1, 7, 300, 70_001):
        host, key = small((length,), "float32"), positions(count, length)
        values = small((count,), "float32", name)
        found = getattr(tw.asarray(host).at[key], name)(values)
        np.testing.assert_array_equal(found.numpy(), changed(host, key, name, values))


@BY_NAME
@pytest.mark.parametrize("width", [2, 3, 8, 65, 1028], ids=str)
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


KEYS: list[Any] = [
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
]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (name, key)
        for name in RULES
        for key in (KEYS if name in ("add", "max") else KEYS[::4])
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


def test_prologues_and_epilogues_of_accumulations(device: str) -> None:
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
    x = tw.full(100, 1000, dtype=tw.float16)
    values = tw.full(60_000, 0.25, dtype=tw.float16)
    assert x.at[np.arange(60_000) % 100].add(values).tolist() == [1150] * 100


def test_more_elements_than_float32_counts(webgpu: str) -> None:
    count = (1 << 24) + 3
    indices = tw.arange(count) & 1
    assert tw.zeros(2, dtype=tw.int32).at[indices].add(1).tolist() == [
        (1 << 23) + 2,
        (1 << 23) + 1,
    ]
    counts = tw.zeros(count).at[[count - 1, count - 2, count - 1]].add(1.0)
    assert counts[-3:].tolist() == [0, 1, 2]


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


def test_explanations_name_the_calls(cpu: str) -> None:
    text = str(tw.explain(tw.zeros(3).at[[0, 0]].add(1)))
    assert "numpy.add.at" in text
