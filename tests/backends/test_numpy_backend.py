"""The cpu device over NumPy: views without copies, memory freed early, refusals."""

from __future__ import annotations

import importlib
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from checks import assert_equal, counted

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends import cpu as cpu_module
from tensorweb.backends import policy
from tensorweb.backends.numpy_backend import ArrayStorage
from tensorweb.errors import DeviceError
from tensorweb.waits import run_blocking

pytestmark = pytest.mark.usefixtures("numpy_backend")

MEBI = 1 << 20


@pytest.fixture
def numpy_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield `cpu`, which computes with NumPy and is the default meanwhile."""
    monkeypatch.setenv(cpu_module.VARIABLE, "numpy")
    monkeypatch.setitem(
        devices._backends, "cpu", run_blocking(cpu_module.open_backend("cpu"))
    )
    with devices.device("cpu") as name:
        yield name


def test_description_names_numpy() -> None:
    assert devices.backend("cpu").description == f"NumPy {np.__version__}"


def test_missing_numpy_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> object:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(DeviceError, match=r"NumPy.*No module.*pip install numpy"):
        run_blocking(cpu_module.open_backend("cpu"))


def test_a_computed_value_is_retained_without_its_history() -> None:
    x = counted(3)
    y = (x + 1) * 2
    y.realize()
    assert isinstance(y.node.storage, ArrayStorage)
    assert y.node.inputs == ()
    assert_equal(y, [2, 4, 6])


def test_a_requested_view_keeps_its_base() -> None:
    base = counted(2, 3) + 1
    view = base.T[::-1]
    assert_equal(view, [[3, 6], [2, 5], [1, 4]])
    assert base.node.storage is not None
    assert view.node.storage is None


def test_intermediates_are_freed_after_their_last_use() -> None:
    x = counted(MEBI).realize()
    tracemalloc.start()
    y = x
    for _ in range(20):
        y = y + 1
    y.realize()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MEBI * 4


def test_constants_take_no_memory() -> None:
    tracemalloc.start()
    huge = tw.ones((1 << 20, 1 << 20))
    assert huge[5, 7].item() == 1.0
    assert_equal(huge[:2, -2:] + 1, [[2, 2], [2, 2]])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MEBI


def test_no_numpy_warning_leaks() -> None:
    x = tw.asarray([0.0, -1.0, 1e38, float("nan"), float("inf")])
    n = tw.asarray([2**31 - 1, 0, -1, -(2**31), 5])
    results = [1 / x, tw.log(x), x * 1e38, x - x, x.astype(tw.int32), x.var()]
    results += [n + 1, n // 0, n % 0, n**-1, n // -1, tw.exp(x * 100), x @ x]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for result in results:
            result.numpy()


def test_integer_power_with_negative_exponents_is_cut_towards_zero() -> None:
    base = tw.asarray([1, -1, -1, 2, 0, -3, 3])
    exponent = tw.asarray([-5, -3, -2, -1, -1, -1, 4])
    assert_equal(base**exponent, [1, -1, 1, 0, 0, 0, 81])


def test_explain_lists_the_calls() -> None:
    x = counted(2, 3).realize()
    text = str(tw.explain((x.T * 2).sum(1)))
    assert "2 calls" in text
    assert "numpy.multiply(input seen as float32[3, 2] by strides (1, 3), 2.0)" in text
    assert "numpy.sum(t1, axis 1)  -> float32[3]" in text
    assert "nothing to compute" in str(tw.explain(x))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "uint64", "int8"])
def test_dtypes_beyond_the_gpu(dtype: str) -> None:
    host = np.arange(6).reshape(2, 3).astype(dtype)
    x = tw.asarray(host)
    assert x.dtype.name == dtype
    assert_equal(x.T * x.T, (host * host).T)
    assert_equal(x @ x.T, host @ host.T)


def test_callables_along_axes() -> None:
    x = counted(2, 3)
    assert_equal(tw.map(lambda v: v * v, x), [[0, 1, 4], [9, 16, 25]])
    assert_equal(tw.map(lambda v: v > 2, x), [[False] * 3, [True] * 3])
    outer = tw.zip_with(lambda a, b: 10 * a + b, x[:, :1], tw.asarray([1.0, 2.0]))
    assert_equal(outer, [[1, 2], [31, 32]])
    assert_equal(tw.fold(max, x, -1, axis=0), [3, 4, 5])
    assert_equal(tw.fold(lambda a, b: a * 10 + b, x, 0, axis=-1), [12, 345])


@pytest.mark.parametrize("start", [tw.ones, tw.zeros])
def test_writing_into_a_broadcast_number_copies_it(
    start: Callable[..., tw.Tensor],
) -> None:
    x = +start(3)
    x[tw.asarray([1])] = 5.0
    y = start(3) * 2
    y[:2] = 7.0
    other = start(()).item()
    assert x.tolist() == [other, 5.0, other]
    assert y.tolist() == [7.0, 7.0, other * 2]


def test_logical_operations_take_integers_that_have_no_common_dtype() -> None:
    signed, unsigned = tw.asarray([3, 0]), tw.asarray([2, 2], dtype=tw.uint64)
    assert tw.logical_and(signed, unsigned).tolist() == [True, False]


HALVES: dict[str, Callable[[Any, Any], Any]] = {
    "sum of a row": lambda x, y: x + y[0],
    "transposed": lambda x, y: x.T * 3 - y.T,
    "numbers": lambda x, y: tw.maximum(x, 0.0) / 7,
    "a choice": lambda x, y: tw.where(x > y, x, tw.nan),
    "of float32": lambda x, y: (x.float() / 3).bfloat16(),
    "of integers": lambda x, y: (x * 100).astype(tw.int32).bfloat16(),
    "one row": lambda x, y: tw.exp(x.reshape((1, -1))),
    "three axes": lambda x, y: x[:, None] + y[None, :2],
}


@pytest.mark.parametrize("name", HALVES)
def test_long_operations_on_bfloat16_are_computed_by_rows(name: str) -> None:
    shape = (500, 601)
    x = tw.reshape(tw.arange(500 * 601), shape) % 1013 - 300.5
    x, y = x.bfloat16(), (x[::-1] * 1.25).bfloat16()
    x[7, 5] = tw.nan
    x, y = tw.realize(x), tw.realize(y)
    found = HALVES[name](x, y).float().numpy()
    assert found.size > 2 * policy.HALF_BLOCK
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "HALF_BLOCK", 1 << 40)
        expected = HALVES[name](x, y).float().numpy()
    assert found.tobytes() == expected.tobytes()
