"""Calls as NumPy's and Python's users write them: dtypes, numbers, rounding, np.sum."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_close, assert_equal
from oracles import NUMPYS
from tolerances import REDUCE

import tensorweb as tw
from tensorweb.errors import AxisError, DataError, DTypeError, ShapeError

Function = Callable[[Any], Any]


@pytest.mark.parametrize("dtype", NUMPYS, ids=str)
def test_dtypes_equal_the_words_for_them(dtype: tw.DType) -> None:
    scalar = np.dtype(dtype.name).type
    for word in (dtype.name, np.dtype(dtype.name), scalar):
        assert dtype == word
        assert word == dtype
        assert dtype in (word,)
        assert (dtype != word) is False
    for other in NUMPYS:
        assert (dtype == other) == (dtype is other)
        assert (dtype == other.name) == (dtype is other)
        assert (dtype == np.dtype(other.name)) == (dtype is other)
    for nothing in ("text", None, 3, object()):
        assert dtype != nothing
    assert {dtype: 1}[dtype] == 1


def test_dtypes_equal_pythons_types() -> None:
    for dtype, kind in ((tw.float32, float), (tw.int32, int), (tw.bool, bool)):
        assert dtype == kind
        assert dtype in (kind,)
    assert tw.float64 not in (float,)


def test_dtypes_are_compared_without_numpy() -> None:
    program = (
        "import sys, tensorweb as tw; x = tw.zeros(2, device='webgpu');"
        "assert x.dtype == 'float32' and x.dtype != 'int32';"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_calling_a_dtype_makes_a_tensor(device: str) -> None:
    assert tw.float32(3.5).item() == 3.5
    assert tw.int32([1.7, -2.0]).dtype is tw.int32
    assert_equal(tw.int32([1.7, -2.0]), [1, -2])
    assert tw.bool(3).item() is True
    assert tw.float32().item() == 0.0


NUMPY_CALLS: dict[str, Function] = {
    "sum": np.sum,
    "sum float32": lambda x: np.sum(x, axis=1, dtype=np.float32, keepdims=True),
    "prod": np.prod,
    "mean": np.mean,
    "mean axis": lambda x: np.mean(x, axis=0, keepdims=True),
    "std": np.std,
    "std ddof": lambda x: np.std(x, axis=1, ddof=1),
    "var": np.var,
    "var correction": lambda x: np.var(x, correction=1),
    "max": np.max,
    "min": lambda x: np.min(x, axis=1),
    "amax": np.amax,
    "any": np.any,
    "all": lambda x: np.all(x, axis=0),
    "argmax": np.argmax,
    "argmin": lambda x: np.argmin(x, axis=1),
    "transpose": np.transpose,
    "transpose axes": lambda x: np.transpose(x, (1, 0)),
    "squeeze": np.squeeze,
    "clip": lambda x: np.clip(x, 2, 4),
    "round": np.round,
    "round 1": lambda x: np.round(x, 1),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "take": lambda x: np.take(x, [0, 2], axis=1),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "cumsum": np.cumsum,
    "sort": np.sort,
    "concatenate": lambda x: np.concatenate([x, x]),
    "ravel": np.ravel,
}

STAY_ARRAYS = ("cumsum", "sort", "concatenate", "ravel")


@pytest.mark.parametrize("name", NUMPY_CALLS)
def test_numpys_functions_take_tensors(name: str, device: str) -> None:
    host = np.asarray([[1.25, 2.75, 3.5], [4.0, 0.0, 6.25]], np.float32)
    got, want = NUMPY_CALLS[name](tw.asarray(host)), NUMPY_CALLS[name](host)
    assert isinstance(got, tw.Tensor) or name in STAY_ARRAYS
    np.testing.assert_allclose(np.asarray(got), want, rtol=REDUCE["sum"] * 2.0**-23)


def test_arguments_that_only_numpy_has_are_taken(device: str) -> None:
    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(DataError, match="out=ndarray: results can be written into"):
        x.sum(out=np.zeros(()))
    assert_equal(x.reshape(4, order="F"), [1, 3, 2, 4])
    assert_equal(x.ravel("F"), [1, 3, 2, 4])
    assert_equal(x.flatten("F"), [1, 3, 2, 4])
    assert_equal(x.take([3], axis=0, mode="wrap"), [[3, 4]])
    with pytest.raises(DataError, match="row-major order"):
        x.copy("F")
    with pytest.raises(DTypeError, match="mean: dtype int32"):
        x.mean(dtype=tw.int32)
    assert x.mean(dtype=tw.float32).dtype is tw.float32


def test_numbers_may_be_tensors(device: str) -> None:
    x = tw.asarray([1.0, 4.0, 2.0])
    three, one = tw.asarray(3), tw.asarray(1)
    assert_equal(tw.linspace(0, x.max(), 5), [0, 1, 2, 3, 4])
    assert_equal(tw.linspace(x.min(), x.max(), three), [1, 2.5, 4])
    assert_equal(tw.linspace(np.float32(0), np.asarray(1.0), 2), [0, 1])
    assert tw.arange(three).dtype is tw.int32
    assert_equal(tw.arange(x.max()), [0, 1, 2, 3])
    assert_equal(tw.arange(one, 7, three), [1, 4])
    assert_equal(tw.arange(np.asarray(2)), [0, 1])
    assert_equal(tw.full((three,), x.max()), [4, 4, 4])
    assert_equal(tw.eye(2, k=one), [[0, 1], [0, 0]])
    assert_equal(tw.tril(tw.ones((2, 2)), k=-one), [[0, 0], [1, 0]])
    assert_equal(tw.pad(x, one, x.max()), [4, 1, 4, 2, 4])
    assert_equal(tw.roll(x, one), [2, 1, 4])
    assert_equal(tw.diff(x, n=one), [3, -2])
    assert_close(tw.var(x, correction=one), np.var([1, 4, 2], ddof=1), 1e-6)
    assert_close(x.std(correction=np.float32(1)), np.std([1, 4, 2], ddof=1), 1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tw.arange("2016-07", "2016-08"), DTypeError, "start is '2016-07'"),
        (
            lambda: tw.linspace(0, [1, 2], 3),
            DTypeError,
            r"stop is \[1, 2\] of",
        ),
        (lambda: tw.linspace(0, tw.ones(2), 3), ShapeError, r"stop has shape \(2,\)"),
        (lambda: tw.arange(1j), DTypeError, "complex"),
        (lambda: tw.var(tw.ones(2), correction="1"), DTypeError, "correction is '1'"),
        (lambda: tw.ones(6).reshape(), ShapeError, "no shape is given"),
        (lambda: tw.ones(6).view(np.int32), DTypeError, "astype"),
        (lambda: tw.ones((2, 3, 4)).transpose(0, 1, 2, 0), AxisError, "4 axes"),
        (lambda: tw.ones((2, 3, 4)).transpose(0), AxisError, "the order of all"),
    ],
)
def test_messages_advise_a_fix(
    call: Callable[[], object], error: type[Exception], words: str, device: str
) -> None:
    with pytest.raises(error, match=words):
        call()


def test_dtypes_may_follow_the_shape(device: str) -> None:
    assert tw.zeros((3, 3), int).dtype is tw.int32
    assert tw.ones(3, "uint32").dtype is tw.uint32
    assert tw.empty((2, 2), bool).dtype is tw.bool
    assert tw.full((2,), 3, float).dtype is tw.float32
    assert tw.zeros_like([1, 2], float).dtype is tw.float32
    assert tw.arange(0, 3, 1, float).dtype is tw.float32


def test_views_and_transposes_of_numpy(device: str) -> None:
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = tw.asarray(host)
    assert_equal(x.view(), host)
    assert_equal(x.transpose(0, 2, 1), host.transpose(0, 2, 1))
    assert_equal(x.transpose((2, 0, 1)), host.transpose(2, 0, 1))
    assert_equal(x.transpose([1, 0, 2]), host.transpose(1, 0, 2))
    assert_equal(np.transpose(x), host.T)
    assert_equal(x.transpose(), host.T)
    assert_equal(x.T, host.T)
    assert_equal(x[0, 0].T, host[0, 0])
    assert_equal(x.transpose(0, 1), host.swapaxes(0, 1))


@pytest.mark.parametrize("decimals", [-11, -2, -1, 0, 1, 3, 60])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
def test_rounding_to_decimals(dtype: str, decimals: int, device: str) -> None:
    numbers = [0, 15, 25, 35, 149, 150, 250, 12.3456, 0.05, 2.675]
    if dtype != "uint32":
        numbers += [-15, -25, -150, -2.5]
    host = np.asarray(numbers).astype(dtype)
    x = tw.asarray(host)
    want = np.zeros_like(host) if decimals == -11 else host
    if decimals not in (-11, 60):
        want = np.round(host, decimals)
    assert tw.round(x, decimals).dtype is x.dtype
    assert_close(tw.round(x, decimals), want, 2e-7)
    assert_close(round(x, decimals), want, 2e-7)


def test_pythons_round_and_divmod(device: str) -> None:
    x = tw.asarray([7.5, -7.25, 0.5])
    assert_equal(round(x), [8, -7, 0])
    number = round(x.sum())
    assert number == 1
    assert type(number) is int
    host = x.numpy()
    for got, want in zip(divmod(x, 2), divmod(host, 2), strict=True):
        assert_equal(got, want)
    for got, want in zip(divmod(9, x), divmod(9, host), strict=True):
        assert_equal(got, want)
