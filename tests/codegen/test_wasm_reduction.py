"""Reductions as WebAssembly modules: dtypes, lengths, views, parts, what floats do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import NUMPYS

import tensorweb as tw
from tensorweb.codegen.wasm.compiler import compile_kernel
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.drivers.wasm_native import WasmNativeDriver
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

pytestmark = pytest.mark.usefixtures("wasm")

TARGET = WasmTarget(shared=False, relaxed=False)

Array = np.ndarray[Any, Any]
Axes = int | tuple[int, ...] | None
View = Callable[[Any], Any]

ALL = [dtype.name for dtype in NUMPYS]
FLOATS = ["float16", "float32", "float64"]
EXACT = ["max", "min", "any", "all", "argmax", "argmin"]
CASES: list[tuple[tuple[int, ...], Axes]] = [
    *(((length,), None) for length in (1, 3, 4, 5, 31, 33, 2051)),
    *((shape, axis) for shape in ((5, 3), (4, 4), (1, 9), (9, 1)) for axis in (0, 1)),
    *(((3, 300), axis) for axis in (0, 1)),
    *(((300, 37), axis) for axis in (0, 1)),
    *(((6, 5, 40), axis) for axis in (0, 1, 2)),
]
SEVERAL: list[tuple[tuple[int, ...], Axes]] = [
    ((6, 5, 40), (0, 2)),
    ((6, 5, 40), (1, 2)),
    ((6, 5, 40), (0, 1)),
    ((300, 3, 7), (0, 2)),
    ((2, 3, 4, 5), (1, 3)),
]
VIEWS: dict[str, View] = {
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, ::-1],
    "strided": lambda x: x[1::2, ::3],
    "offset": lambda x: x[1:, 3:],
    "one column": lambda x: x[:, :1],
}


def cases(dtype: str) -> list[tuple[tuple[int, ...], Axes]]:
    """Return all cases for the dtypes that have code of their own, few for others."""
    step = 1 if dtype in ("float32", "float64", "bool", "int8") else 5
    return CASES[::step]


def values(shape: tuple[int, ...], dtype: str) -> Array:
    """Return numbers whose products neither vanish nor overflow floats."""
    random = np.random.default_rng(len(shape) + sum(shape))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.9)
    if dtype.startswith("float"):
        sizes = np.exp2(random.uniform(-0.2, 0.2, shape))
        return np.asarray(sizes * random.choice([-1, 1], shape), dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def found(name: str, x: tw.Tensor, axis: Axes) -> Array:
    """Return what a reduction gives."""
    return np.asarray(getattr(tw, name)(x, axis=axis).numpy())


def assert_close(name: str, host: Array, axis: Axes, got: Array) -> None:
    """Compare a sum or product of floats with that of more digits."""
    exact = getattr(np, name)(host, axis=axis, dtype=np.longdouble)
    sizes = getattr(np, name)(np.abs(host), axis=axis, dtype=np.longdouble)
    units = 2.0 if name == "sum" else 0.5 * host.size / max(got.size, 1) + 1
    allowed = units * float(np.finfo(host.dtype).eps) * np.asarray(sizes)
    assert np.all(np.abs(got - exact) <= allowed), (name, host.shape, axis)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", EXACT)
def test_exact_reductions_equal_numpy(name: str, dtype: str) -> None:
    several = [] if name.startswith("arg") else SEVERAL
    for shape, axis in [*cases(dtype), *several]:
        host = values(shape, dtype)
        expected = getattr(np, name)(host, axis=axis)
        got = found(name, tw.asarray(host), axis)
        np.testing.assert_array_equal(got, expected, f"{shape} {axis}")


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_and_products(name: str, dtype: str) -> None:
    for shape, axis in [*cases(dtype), *SEVERAL]:
        host = values(shape, dtype)
        got = found(name, tw.asarray(host), axis)
        if dtype.startswith("float"):
            assert_close(name, host, axis, got)
        else:
            expected = getattr(np, name)(host, axis=axis, dtype=got.dtype)
            np.testing.assert_array_equal(got, expected, f"{shape} {axis}")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_views(dtype: str, view: str) -> None:
    host = values((34, 50), dtype)
    seen, x = VIEWS[view](host), VIEWS[view](tw.asarray(host))
    for axis in (None, 0, 1):
        for name in ("max", "argmin"):
            expected = getattr(np, name)(seen, axis=axis)
            np.testing.assert_array_equal(found(name, x, axis), expected)
        if dtype != "int8":
            assert_close("sum", seen, axis, found("sum", x, axis))


def test_a_tensor_that_is_repeated() -> None:
    host = values((1, 50), "float32")
    seen, x = np.broadcast_to(host, (34, 50)), tw.asarray(host).broadcast_to((34, 50))
    for axis in (None, 0, 1):
        assert_close("sum", seen, axis, found("sum", x, axis))
        assert (found("argmax", x, axis) == np.argmax(seen, axis)).all()


LONG: list[tuple[tuple[int, ...], Axes]] = [
    ((300_001,), None),
    ((2, 140_003), 1),
    ((140_003, 2), 0),
    ((9001, 33), 0),
    ((130, 1030), 0),
    ((40, 5000, 3), (0, 1)),
]


@pytest.mark.parametrize(("shape", "axis"), LONG, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_parts_are_combined(shape: tuple[int, ...], axis: Axes, dtype: str) -> None:
    host = values(shape, dtype)
    x = tw.asarray(host)
    got = found("sum", x, axis)
    if dtype == "int32":
        assert (got == np.sum(host, axis, np.int32)).all()
    else:
        assert_close("sum", host, axis, got)
    assert (found("max", x, axis) == np.max(host, axis)).all()
    if not isinstance(axis, tuple):
        assert (found("argmin", x, axis) == np.argmin(host, axis)).all()


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_long_reductions_have_units_for_threads(axis: Axes) -> None:
    x = tw.asarray(np.ones((64, 1 << 14), np.float32))
    for name in ("sum", "argmax"):
        total = getattr(tw, name)(x, axis=axis)
        graph = linearize([total.node.base])
        for planned in plan(graph, 64):
            first = compile_kernel(planned.kernel, TARGET).launches[0]
            assert first.grid[0] >= 16


@pytest.mark.parametrize("shape", [(1 << 24,), (1 << 20, 16)])
def test_long_sums_are_nearly_exact(shape: tuple[int, ...]) -> None:
    host = np.random.default_rng(3).random(shape, np.float32)
    exact = np.sum(host, axis=0, dtype=np.float64)
    got = found("sum", tw.asarray(host), 0)
    assert np.all(np.abs(got - exact) <= np.spacing(exact.astype(np.float32)))


def test_long_sums_of_float64_are_nearly_exact() -> None:
    host = np.random.default_rng(4).random(3_000_000)
    exact = np.sum(host, dtype=np.longdouble)
    assert abs(found("sum", tw.asarray(host), None) - exact) <= np.spacing(float(exact))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(7,), (40,), (3001,), (200_000,)])
def test_nan_wins(shape: tuple[int, ...], dtype: str) -> None:
    for index in (0, shape[0] // 2, shape[0] - 1):
        host = values(shape, dtype)
        host[index] = np.nan
        host[-1 if index < 3 else 1] = np.inf
        x = tw.asarray(host)
        for name in ("max", "min", "sum"):
            assert np.isnan(found(name, x, None)), (name, index)
        for name in ("argmax", "argmin"):
            assert found(name, x, None) == index


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_in_its_column_only(dtype: str) -> None:
    host = values((50, 9), dtype)
    host[3, 2] = host[7, 2] = host[49, 8] = np.nan
    x = tw.asarray(host)
    for name in ("max", "min"):
        np.testing.assert_array_equal(found(name, x, 0), getattr(np, name)(host, 0))
    for name in ("argmax", "argmin"):
        np.testing.assert_array_equal(found(name, x, 0), getattr(np, name)(host, 0))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("length", [3, 70, 5000])
def test_infinities(length: int, dtype: str) -> None:
    host = np.full(length, np.inf, dtype)
    x = tw.asarray(host)
    assert found("sum", x, None) == np.inf
    assert found("min", x, None) == np.inf
    assert found("argmin", x, None) == 0
    assert found("max", -x, None) == -np.inf
    assert found("argmax", -x, None) == 0
    host[1] = -np.inf
    assert np.isnan(found("sum", tw.asarray(host), None))


@pytest.mark.parametrize("length", [3, 70])
def test_negative_zeros(length: int) -> None:
    host = np.full((length, 8), -0.0, np.float32)
    x = tw.asarray(host)
    for name in ("max", "min", "prod"):
        for axis in (0, 1):
            expected = getattr(np, name)(host, axis=axis)
            got = found(name, x, axis)
            assert (np.signbit(got) == np.signbit(expected)).all(), (name, axis)


def test_the_first_of_equal_values() -> None:
    host = np.zeros((5000, 5), np.float32)
    host[1700:, 1] = host[44:, 3] = 1
    x = tw.asarray(host)
    assert found("argmax", x, 0).tolist() == [0, 1700, 0, 44, 0]
    rows = tw.asarray(np.ascontiguousarray(host.T))
    assert found("argmax", rows, 1).tolist() == [0, 1700, 0, 44, 0]


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "float16"])
def test_nothing_is_the_identity(dtype: str) -> None:
    for shape, axis in (((0,), None), ((4, 0), 1), ((0, 6), 0)):
        x = tw.zeros(shape, dtype=getattr(tw, dtype))
        assert (found("sum", x, axis) == 0).all()
        assert (found("prod", x, axis) == 1).all()
        assert found("all", x, axis).all()


def test_an_epilogue_reads_other_layouts() -> None:
    host, other = values((40, 6, 8), "float32"), values((8, 6), "float32")
    x, y = tw.asarray(host), tw.asarray(other)
    expected = host.astype(np.float64).sum(0) * 2 + other.T
    got = (tw.sum(x, axis=0) * 2 + y.T).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    long = values((9000, 48), "float32")
    expected = long.astype(np.float64).sum(0).reshape(6, 8) + other.T
    got = (tw.sum(tw.asarray(long), axis=0).reshape(6, 8) + y.T).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("length", [5, 64, 1000])
def test_products_of_few_outputs(length: int) -> None:
    a, b = values((length, 33), "float32"), values((length,), "float32")
    expected = b.astype(np.float64) @ a
    x, y = tw.asarray(a), tw.asarray(b)
    np.testing.assert_allclose((y @ x).numpy(), expected, atol=1e-5 * length)
    np.testing.assert_allclose((x.T @ y).numpy(), expected, atol=1e-5 * length)
    across = tw.asarray(np.ascontiguousarray(a.T))
    np.testing.assert_allclose((across @ y).numpy(), expected, atol=1e-5 * length)


def test_units_run_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    host = np.random.default_rng(5).random((1000, 257), np.float32)

    def bits() -> list[bytes]:
        x = tw.asarray(host)
        names = ("sum", "argmax")
        return [found(n, x, axis).tobytes() for n in names for axis in (None, 0, 1)]

    expected = bits()
    monkeypatch.setattr(WasmNativeDriver, "_launch", backwards)
    assert bits() == expected


def backwards(
    driver: WasmNativeDriver, command: list[int], tape: int, buffers: int
) -> None:
    """Run the units of a launch one by one, the last one first."""
    pipeline, units, _, _, offset = command
    for unit in reversed(range(units)):
        driver._runs[pipeline](tape + 4 + offset, tape + 4 * buffers, unit, unit + 1)


@pytest.mark.parametrize("name", ["sum", "argmax"])
@pytest.mark.parametrize("axis", [0, 1])
def test_lengths_are_parameters(name: str, axis: int) -> None:
    found_sources = set()
    for shape in ((300, 1100), (203, 1204), (150, 2001)):
        total = getattr(tw, name)(tw.zeros(shape), axis=axis)
        (planned,) = plan(linearize([total.node.base]), 64)
        launches = compile_kernel(planned.kernel, TARGET).launches
        found_sources.add(launches[0].source)
    assert len(found_sources) == 1
