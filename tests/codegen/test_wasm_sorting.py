"""Sorting as WebAssembly modules: every way, dtype and order, NaN and signs of zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import NUMPYS

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.codegen.wasm import policy
from tensorweb.events import record_kernels

Array = np.ndarray[Any, Any]

DTYPES = [dtype.name for dtype in NUMPYS]
FLOATS = ["float16", "float32", "float64"]
WAYS = {"ranks": 97, "digits": 0, "blocks": 0}
"""Longest rows that are ranked."""

SHAPES = [(2,), (4,), (5, 3), (3, 17), (40, 64), (7, 97), (2, 45)]
SPECIALS = [np.nan, -np.nan, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 6e-8, -6e-8]

pytestmark = pytest.mark.usefixtures("wasm")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sort in one way, however long the rows are."""
    longest = dict.fromkeys(policy.LONGEST_RANKED, WAYS[request.param])
    monkeypatch.setattr(policy, "LONGEST_RANKED", longest)
    if request.param == "blocks":
        monkeypatch.setattr(policy, "SORT_BLOCK", 16)
        for name in ("LONGEST_SORTED_ROW", "LONGEST_OF_MANY_ROWS"):
            monkeypatch.setattr(policy, name, 31)
    return str(request.param)


def hosts(shape: tuple[int, ...], dtype: str) -> list[Array]:
    """Return elements from everywhere, and some that occur often."""
    random = np.random.default_rng(sum(shape))
    if dtype == "bool":
        return [random.random(shape) < 0.5]
    if dtype in FLOATS:
        return [
            np.asarray(random.normal(0, 20, shape), dtype),
            random.choice(np.array(SPECIALS, dtype), shape),
            np.where(random.random(shape) < 0.1, -0.0, 0.0).astype(dtype),
        ]
    info = np.iinfo(dtype)
    return [
        random.integers(info.min, info.max, shape, dtype, endpoint=True),
        random.integers(0, 9, shape, dtype),
    ]


def check(x: tw.Tensor, host: Array) -> None:
    """Compare `sort` and `argsort` along the last axis with NumPy, bit for bit."""
    for descending in (False, True):
        keys = host
        if descending:
            keys = -host if host.dtype.kind == "f" else ~host
        order = np.argsort(keys, axis=-1, kind="stable")
        found = tw.argsort(x, axis=-1, descending=descending)
        assert found.dtype == tw.int32
        np.testing.assert_array_equal(found.numpy(), order)
        ordered = tw.sort(x, axis=-1, descending=descending).numpy()
        assert ordered.tobytes() == np.take_along_axis(host, order, -1).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype: str, way: str) -> None:
    for shape in SHAPES:
        for host in hosts(shape, dtype):
            check(tw.asarray(host), host)


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_rows(dtype: str) -> None:
    for host in hosts((2, 140_003), dtype):
        check(tw.asarray(host), host)


@pytest.mark.parametrize("dtype", FLOATS)
def test_marks_in_one_block_only(dtype: str) -> None:
    host = np.zeros((2, 140_003), dtype)
    host[0, 139_999:] = [1, -0.0, np.nan, -0.0]
    host[1, 70_000] = -0.0
    check(tw.asarray(host), host)
    host[:, ::3] = -1
    check(tw.asarray(host), host)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_units_may_run_in_any_order(
    dtype: str, wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = wasm.driver._launch  # type: ignore[attr-defined]
    units = []

    def backwards(command: list[int], tape: int, buffers: int) -> None:
        pipeline, count, _, one, offset = command
        units.append(count)
        run = wasm.driver._runs[pipeline]  # type: ignore[attr-defined]

        def reverse(parameters: int, addresses: int, first: int, last: int) -> None:
            run(parameters, addresses, count - last, count - first)

        wasm.driver._runs[pipeline] = reverse  # type: ignore[attr-defined]
        launch([pipeline, count, 1, one, offset], tape, buffers)
        wasm.driver._runs[pipeline] = run  # type: ignore[attr-defined]

    monkeypatch.setattr(wasm.driver, "_launch", backwards)
    for shape in ((300_000,), (33, 2000), (2000, 20)):
        for host in hosts(shape, dtype):
            check(tw.asarray(host), host)
    assert min(units) > 1


@pytest.mark.parametrize("length", [6, 2003])
def test_views(length: int) -> None:
    for dtype in ("float32", "int64", "float16"):
        host = hosts((2, length, 3), dtype)[1]
        x = tw.asarray(host)
        check(x.permute(2, 0, 1), host.transpose(2, 0, 1))
        check(x[::-1, 1:, 1], host[::-1, 1:, 1])
        check(x[1, ::-1, 2], host[1, ::-1, 2])
        check(x[:, :, 0].T, host[:, :, 0].T)
        wide = np.broadcast_to(host[:, :1, 0], (2, 300))
        check(tw.broadcast_to(x[:, :1, 0], (2, 300)), wide)
        joined = np.concatenate([host[..., 0], -host[..., 1]], 1)
        check(tw.concat([x[..., 0], -x[..., 1]], axis=1), joined)


def test_views_of_long_rows() -> None:
    host = hosts((2, 140_003), "float32")[1]
    x = tw.asarray(host)
    check(x[:, ::-1], host[:, ::-1])
    joined = np.concatenate([host[:, 5:9], host], 1)
    check(tw.concat([x[:, 5:9], x], axis=1), joined)


@pytest.mark.parametrize("dtype", FLOATS)
def test_computed_elements(dtype: str, way: str) -> None:
    host = hosts((3, 90), dtype)[1]
    check(tw.asarray(host) * -1, host * -1)
    check(tw.asarray(host) > 0, host > 0)


def test_constants_and_ramps(way: str) -> None:
    assert tw.argsort(tw.zeros(97)).tolist() == list(range(97))
    assert tw.sort(tw.arange(90), descending=True).tolist() == [*range(89, -1, -1)]
    assert tw.sort(tw.zeros((0, 5))).shape == (0, 5)
    assert tw.argsort(tw.zeros((5, 0))).shape == (5, 0)


def kinds(x: tw.Tensor) -> list[str]:
    with record_kernels() as records:
        tw.realize(x)
    return [record.kind for record in records]


def test_launches(wasm: WasmBackend) -> None:
    x = tw.realize(tw.zeros((8, 40_000), dtype=tw.float16) + 1)
    assert kinds(tw.sort(x)) == ["sort_rows"]
    assert kinds(tw.sort(x[:, :50])) == ["sort_rows"]
    passes = ["sort_count", "sort_move"] * 2
    long = x.reshape(-1)
    assert kinds(tw.argsort(long)) == ["sort_encode", *passes, "sort_finish"]
    whole = ["sort_encode", *passes, "sort_finish", "sort_restore"]
    assert kinds(tw.sort(long)) == whole
    compiled = wasm.driver.counters()["pipelines"]
    assert kinds(tw.sort(long[:-7], descending=True)) == whole
    assert wasm.driver.counters()["pipelines"] == compiled
