"""Reductions, indices of extremes and scans: all axes, lengths, dtypes and specials."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from elementwise_cases import STORED
from tolerances import REDUCE

import tensorweb as tw
from tensorweb import devices
from tensorweb.dtypes import DType
from tensorweb.evaluate import realize
from tensorweb.events import record_kernels

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...] | None

NUMERIC = ("sum", "prod", "max", "min")
NAMES = (*NUMERIC, "any", "all", "count_nonzero", "mean", "var", "std")
ARGUMENTS = ("argmax", "argmin")
SCANS = ("cumulative_sum", "cumulative_prod")
NUMPY = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}

OFTEN = ("sum", "max", "var", "argmax", "cumulative_sum")
"""Reduced along all axes of all views; others read alike, so they see some."""
ALL_AXES = [
    None,
    *itertools.chain.from_iterable(
        itertools.combinations(range(3), count) for count in range(4)
    ),
]
LONG_SHAPES = [
    *((100_003,), (3, 100_003), (100_003, 3), (257, 1031), (1031, 257)),
    *((2, 50_021, 3), (65_537,), (256,), (1, 1), (1, 4099), (4099, 1), (300, 2, 300)),
]


def name_of(value: object) -> str:
    """Return a test id: a dtype's name or the value's text."""
    return str(getattr(value, "name", value))


def require(dtype: DType, device: str) -> None:
    """Skip where a device does not store a dtype."""
    if dtype.name not in devices.backend(device).dtypes:
        pytest.skip(f"{device} has no {dtype}")


def values(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    """Return numbers around 0 whose products neither vanish nor overflow."""
    random = np.random.default_rng(len(shape) + sum(shape))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.7)
    if dtype.startswith("float"):
        sizes = np.exp2(random.uniform(-1, 1, shape))
        return np.asarray(sizes * random.choice([-1, 1], shape), dtype)
    if dtype.startswith("uint"):
        return np.asarray(random.integers(0, 100, shape), dtype)
    return np.asarray(random.integers(-50, 50, shape), dtype)


def compare(name: str, got: Array, host: Array, axis: Axes, keepdims: bool) -> None:
    """Compare a reduction with NumPy's in float64, or exactly for integers."""
    function = getattr(np, name)
    if name == "count_nonzero" or host.dtype.kind != "f":
        expected = function(host, axis=axis, keepdims=keepdims)
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected.astype(got.dtype))
        return
    wide = host.astype(np.float64)
    expected = function(wide, axis=axis, keepdims=keepdims)
    assert got.shape == expected.shape
    if name not in REDUCE:
        np.testing.assert_array_equal(got, expected)
        return
    sizes = function(np.abs(wide), axis=axis, keepdims=keepdims)
    scale = np.abs(expected) if name in ("var", "std") else sizes
    bound = REDUCE[name] * float(np.finfo(got.dtype).eps) * scale
    assert np.all(np.abs(got - expected) <= bound)


@pytest.mark.parametrize("keepdims", [False, True], ids=["removed", "kept"])
@pytest.mark.parametrize("name", NAMES)
def test_every_choice_of_axes(name: str, keepdims: bool, device: str) -> None:
    host = values((3, 5, 7))
    x = tw.asarray(host)
    chosen = ALL_AXES if name in OFTEN else ALL_AXES[NAMES.index(name) % 3 :: 3]
    results = [getattr(tw, name)(x, axis=axes, keepdims=keepdims) for axes in chosen]
    realize([result.node for result in results])
    for result, axes in zip(results, chosen, strict=True):
        compare(name, result.numpy(), host, axes, keepdims)


@pytest.mark.parametrize("shape", LONG_SHAPES, ids=str)
def test_long_axes(shape: tuple[int, ...], device: str) -> None:
    host = values(shape)
    x = tw.asarray(host)
    choices: list[Axes] = [None, *((axis,) for axis in range(len(shape)))]
    cases = [(name, axes) for name in ("sum", "max") for axes in choices]
    results = [getattr(tw, name)(x, axis=axes) for name, axes in cases]
    realize([result.node for result in results])
    for result, (name, axes) in zip(results, cases, strict=True):
        compare(name, result.numpy(), host, axes, False)


@pytest.mark.parametrize(("device", "dtype"), STORED, indirect=["device"], ids=name_of)
def test_every_dtype(device: str, dtype: DType) -> None:
    require(dtype, device)
    host = values((5, 7), dtype.name)
    x = tw.asarray(host)
    names = [name for name in NAMES if dtype.bits > 16 or name in ("max", "min", "any")]
    results = [getattr(tw, name)(x, axis=0) for name in names]
    realize([result.node for result in results])
    for name, result in zip(names, results, strict=True):
        assert result.dtype.name == expected_dtype(name, dtype)
        if result.dtype.kind != "float" or dtype.kind == "float":
            wide = host.astype(result.dtype.name) if name in ("sum", "prod") else host
            with np.errstate(over="ignore"):
                compare(name, result.numpy(), wide, (0,), False)


def expected_dtype(name: str, dtype: DType) -> str:
    """Return the name of the dtype that a reduction gives."""
    if name in ("any", "all"):
        return "bool"
    if name == "count_nonzero":
        return "int32"
    if name in ("mean", "var", "std"):
        return dtype.name if dtype.kind == "float" else "float32"
    if name in ("sum", "prod"):
        if dtype.kind == "bool" or (dtype.kind == "int" and dtype.bits < 32):
            return "int32"
        return "uint32" if dtype.kind == "uint" and dtype.bits < 32 else dtype.name
    return dtype.name


@pytest.mark.parametrize("name", [*NAMES, *ARGUMENTS, *SCANS])
def test_layouts(name: str, device: str) -> None:
    host = values((5, 7, 11))
    x = tw.asarray(host)
    wide = (2, 5, 7, 11)
    pairs = [
        (x.permute(2, 0, 1), host.transpose(2, 0, 1)),
        (x[::-1, 2:, ::-3], host[::-1, 2:, ::-3]),
        (x[3, :, 1], host[3, :, 1]),
        (tw.broadcast_to(x[:, :1], wide), np.broadcast_to(host[:, :1], wide)),
    ]
    pairs = pairs if name in OFTEN else pairs[len(name) % 4 :][:1]
    for axis in (0, -1):
        results = [getattr(tw, name)(view, axis=axis) for view, _ in pairs]
        realize([result.node for result in results])
        for result, (_, view) in zip(results, pairs, strict=True):
            if name in SCANS:
                compare_scan(name, result.numpy(), view, axis)
            elif name in ARGUMENTS:
                expected = getattr(np, name)(view, axis=axis)
                np.testing.assert_array_equal(result.numpy(), expected)
            else:
                compare(name, result.numpy(), view, (axis,), False)


def compare_scan(name: str, got: Array, host: Array, axis: int) -> None:
    """Compare running sums or products with NumPy's, in float64 for floats."""
    function = getattr(np, NUMPY[name])
    if host.dtype.kind != "f":
        expected = function(host, axis=axis, dtype=got.dtype)
        np.testing.assert_array_equal(got, expected)
        return
    wide = host.astype(np.float64)
    expected, sizes = function(wide, axis=axis), function(np.abs(wide), axis=axis)
    assert got.shape == expected.shape
    bound = REDUCE[name] * float(np.finfo(got.dtype).eps) * sizes
    assert np.all(np.abs(got - expected) <= bound)


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("keepdims", [False, True], ids=["removed", "kept"])
def test_index_of_extremes(name: str, keepdims: bool, device: str) -> None:
    host = np.round(values((3, 5, 7)) * 2)
    x = tw.asarray(host)
    for axis in (None, 0, 1, 2, -1):
        result = getattr(tw, name)(x, axis=axis, keepdims=keepdims)
        expected = getattr(np, name)(host, axis=axis, keepdims=keepdims)
        assert result.dtype == tw.int32
        assert result.shape == expected.shape
        np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("dtype", [tw.bool, tw.int32, tw.uint32, tw.float32], ids=str)
def test_the_first_extreme_wins(name: str, dtype: DType, device: str) -> None:
    host = np.tile(np.arange(2), 50_000).astype(dtype.name)
    result = getattr(tw, name)(tw.asarray(host))
    assert result.item() == getattr(np, name)(host)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_index_of_nan_and_infinities(name: str, device: str) -> None:
    rows = [
        [1, np.nan, 2, np.nan],
        [np.inf, -np.inf, np.inf, -np.inf],
        [-np.inf] * 4,
        [np.inf] * 4,
        [np.nan] * 4,
        [-0.0, 0.0, -0.0, 0.0],
    ]
    host = np.array(rows, np.float32)
    result = getattr(tw, name)(tw.asarray(host), axis=1)
    np.testing.assert_array_equal(result.numpy(), getattr(np, name)(host, axis=1))


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_index_of_extreme_integers(name: str, dtype: str, device: str) -> None:
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    for length in (3, 8, 5000):
        host = ends[np.random.default_rng(length).integers(0, 2, (20, length))]
        host[1], host[2], host[3, :-1] = ends[0], ends[1], ends[0]
        result = getattr(tw, name)(tw.asarray(host), axis=1)
        np.testing.assert_array_equal(result.numpy(), getattr(np, name)(host, axis=1))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_index_in_long_tensors(name: str, device: str) -> None:
    host = values((100_003,))
    host[[77_777, 99_999]] = [1e6, -1e6]
    assert getattr(tw, name)(tw.asarray(host)).item() == getattr(np, name)(host)
    wide = values((3, 20_011))
    result = getattr(tw, name)(tw.asarray(wide), axis=1)
    np.testing.assert_array_equal(result.numpy(), getattr(np, name)(wide, axis=1))


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("length", [1, 2, 255, 256, 257, 1031, 100_003], ids=str)
def test_scan_lengths(name: str, length: int, device: str) -> None:
    integers = values((length,), "int32")
    compare_scan(
        name, getattr(tw, name)(tw.asarray(integers)).numpy(), integers, axis=0
    )


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1], ids=str)
def test_scan_axes(name: str, axis: int, device: str) -> None:
    host = values((3, 5, 7))
    x = tw.asarray(host)
    compare_scan(name, getattr(tw, name)(x, axis=axis).numpy(), host, axis)
    first = getattr(tw, name)(x, axis=axis, include_initial=True).numpy()
    assert first.shape[axis] == host.shape[axis] + 1
    start = np.take(first, 0, axis)
    np.testing.assert_array_equal(start, np.full(start.shape, "prod" in name))


@pytest.mark.parametrize(
    "length", [4092, 4096, 4100, 8192, 8193, 70_004, 131_073], ids=str
)
def test_scan_around_blocks(length: int, device: str) -> None:
    host = values((3, length), "int32")
    x = tw.asarray(host)
    compare_scan("cumulative_sum", tw.cumulative_sum(x, axis=1).numpy(), host, 1)
    doubled = tw.cumulative_sum(x[1:, ::-1] * 2, axis=1)
    compare_scan("cumulative_sum", doubled.numpy(), host[1:, ::-1] * 2, 1)


def test_scan_reads_vectors_and_each_row_twice(webgpu: str) -> None:
    with record_kernels() as records:
        tw.realize(tw.cumulative_sum(tw.asarray(values((3, 8192))), axis=1))
    assert [record.kind for record in records] == ["scan_totals", "scan"]
    assert "input0: array<vec4<f32>>" in records[0].source
    assert "result: array<vec4<f32>>" in records[1].source


def test_scan_of_many_blocks_scans_their_totals(webgpu: str) -> None:
    for length, expected in ((131_072, 2), (131_073, 3)):
        with record_kernels() as records:
            tw.realize(tw.cumulative_sum(tw.asarray(values((length,)))))
        assert len(records) == expected


def test_scan_of_long_rows_is_the_same_every_time(device: str) -> None:
    x = tw.asarray(values((100_003,)))
    first = tw.cumulative_sum(x).numpy()
    np.testing.assert_array_equal(tw.cumulative_sum(x).numpy(), first)


def test_scan_of_many_rows(device: str) -> None:
    host = values((1031, 257), "int32")
    x = tw.asarray(host)
    compare_scan("cumulative_sum", tw.cumulative_sum(x, axis=0).numpy(), host, 0)
    compare_scan("cumulative_sum", tw.cumulative_sum(x, axis=1).numpy(), host, 1)


def test_long_float_sums_stay_accurate(device: str) -> None:
    host = np.full(1_000_003, 0.1, np.float32)
    exact = float(host.astype(np.float64).sum())
    assert tw.asarray(host).sum().item() == pytest.approx(exact, rel=1e-6)
    assert tw.asarray(host).mean().item() == pytest.approx(exact / host.size, rel=1e-6)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "count_nonzero"])
def test_reductions_of_nothing(name: str, shape: tuple[int, ...], device: str) -> None:
    host = np.zeros(shape, np.float32)
    for axis in (None, *range(len(shape))):
        result = getattr(tw, name)(tw.zeros(shape), axis=axis)
        expected = np.asarray(getattr(np, name)(host, axis=axis))
        assert result.shape == expected.shape
        np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_a_tensor_with_an_empty_axis(name: str, device: str) -> None:
    result = getattr(tw, name)(tw.zeros((0, 3)), axis=1)
    assert result.shape == (0,)
    assert result.tolist() == []


@pytest.mark.parametrize("name", SCANS)
def test_scans_of_nothing(name: str, device: str) -> None:
    assert getattr(tw, name)(tw.zeros((0,))).tolist() == []
    assert getattr(tw, name)(tw.zeros((3, 0)), axis=0).shape == (3, 0)


@pytest.mark.parametrize("name", ["max", "min", "sum", "prod", "any", "all"])
def test_nan_and_infinities(name: str, device: str) -> None:
    rows = [
        [1, np.nan, 2],
        [np.nan, np.inf, -np.inf],
        [np.inf, np.inf, 1],
        [-np.inf, -np.inf, -np.inf],
        [np.inf, -np.inf, 0],
        [-0.0, 0.0, -0.0],
    ]
    host = np.array(rows, np.float32)
    result = getattr(tw, name)(tw.asarray(host), axis=1)
    with np.errstate(invalid="ignore"):
        expected = getattr(np, name)(host, axis=1)
    np.testing.assert_array_equal(result.numpy(), expected)
    many = np.concatenate([values((4099,)), [np.nan], values((4099,))])
    total = getattr(tw, name)(tw.asarray(many.astype(np.float32)))
    np.testing.assert_array_equal(total.numpy(), getattr(np, name)(many))


def test_integer_sums_wrap(device: str) -> None:
    top = np.full(5, 2**31 - 1, np.int32)
    assert tw.sum(tw.asarray(top)).item() == 2**31 - 5
    assert tw.prod(tw.asarray(top)).item() == 2**31 - 1
    unsigned = tw.asarray([2**32 - 1, 3], dtype=tw.uint32)
    assert tw.sum(unsigned).item() == 2


@pytest.mark.parametrize("correction", [0, 1, 2.5], ids=str)
def test_variance_corrections(correction: float, device: str) -> None:
    host = values((5, 7)) + 100
    expected = host.astype(np.float64).var(axis=1, ddof=correction)
    result = tw.var(tw.asarray(host), axis=1, correction=correction)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)


def test_reduction_of_an_expression(device: str) -> None:
    a, b = values((5, 7, 11)), values((7, 1))
    x, y = tw.asarray(a), tw.asarray(b)
    result = tw.sum(x.permute(2, 1, 0) * y[::-1] + 1, axis=(0, 2)) * 2
    expected = (a.transpose(2, 1, 0).astype(np.float64) * b[::-1] + 1).sum((0, 2)) * 2
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-4)


def test_softmax(device: str) -> None:
    host = values((31, 257)) * 30
    x = tw.asarray(host)
    shifted = tw.exp(x - x.max(1, keepdims=True))
    result = shifted / shifted.sum(1, keepdims=True)
    wide = np.exp(host.astype(np.float64) - host.max(1, keepdims=True))
    expected = wide / wide.sum(1, keepdims=True)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("length", [255, 256, 300])
def test_long_scan_along_a_first_axis_transposes_its_operand(
    length: int, webgpu: str
) -> None:
    host = values((length, 301))
    x = tw.realize(tw.asarray(host) + 0)
    with record_kernels() as records:
        sums = tw.realize(tw.cumulative_sum(x * 2, axis=0))
    expected = ["transpose", "scan"] if length >= 256 else ["scan"]
    assert [record.kind.partition("_")[0] for record in records] == expected
    compare_scan("cumulative_sum", sums.numpy(), host * 2, 0)
    with record_kernels() as records:
        tw.realize(tw.cumulative_sum(x.T, axis=0))
    assert [record.kind for record in records] == ["scan"]
