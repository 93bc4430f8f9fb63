"""Kernels of whole rows as WebAssembly modules: lengths, dtypes, views, specials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.codegen.wasm.rows import stored_step
from tensorweb.schedule.kernel import Kernel
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

pytestmark = pytest.mark.usefixtures("wasm")

Array = np.ndarray[Any, Any]

SHAPES = [
    *((rows, length) for rows in (1, 5) for length in (2, 3, 4, 5, 7, 8, 31, 33)),
    *((17, 1027), (16, 8191), (2, 3, 65), (4, 3, 2, 6)),
]
LARGEST = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-14}


def softmax(x: Any, m: Any) -> Any:
    power = m.exp(x - m.max(x, axis=-1, keepdims=True))
    return power / m.sum(power, axis=-1, keepdims=True)


def log_softmax(x: Any, m: Any) -> Any:
    rest = x - m.max(x, axis=-1, keepdims=True)
    return rest - m.log(m.sum(m.exp(rest), axis=-1, keepdims=True))


def layer_norm(x: Any, m: Any) -> Any:
    rest = x - m.mean(x, axis=-1, keepdims=True)
    return rest / m.sqrt(m.mean(rest * rest, axis=-1, keepdims=True) + 1e-3)


def scaled(x: Any, m: Any) -> Any:
    return x / m.sum(m.abs(x), axis=-1, keepdims=True)


FORMULAS = {each.__name__: each for each in (softmax, log_softmax, layer_norm, scaled)}
Formula = Callable[[Any, Any], Any]


def rows_kernel(x: tw.Tensor) -> Kernel:
    """Return the only kernel of a tensor, which must be one of rows."""
    (planned,) = plan(linearize([x.node.base]), 64)
    assert planned.kernel.kind == "rows"
    return planned.kernel


def assert_near(formula: Formula, host: Array, x: tw.Tensor, limit: float) -> None:
    """Compare a formula of rows with NumPy's in more digits."""
    y = formula(x, tw)
    rows_kernel(y)
    expected = formula(host.astype(np.longdouble), np)
    scale = np.abs(expected).max(axis=-1, keepdims=True)
    assert np.all(np.abs(y.numpy() - expected) <= limit * scale), host.shape


@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str, dtype: str) -> None:
    for shape in SHAPES:
        host = np.random.default_rng(sum(shape)).normal(0, 3, shape).astype(dtype)
        assert_near(FORMULAS[name], host, tw.asarray(host), LARGEST[dtype])


@pytest.mark.parametrize("name", FORMULAS)
def test_views(name: str) -> None:
    host = np.random.default_rng(1).normal(0, 3, (40, 66)).astype(np.float32)
    x = tw.asarray(host)
    for seen, view in (
        (host.T, x.T),
        (host[::-1, ::-1], x[::-1, ::-1]),
        (host[1::2, 3:], x[1::2, 3:]),
        (np.broadcast_to(host[:1], host.shape), x[:1].broadcast_to(host.shape)),
    ):
        assert_near(FORMULAS[name], seen, view, 2e-6)


def test_integers() -> None:
    host = np.random.default_rng(2).integers(-(2**31), 2**31, (9, 35)).astype(np.int32)
    x = tw.asarray(host)
    y = x - tw.max(x, axis=-1, keepdims=True)
    rows_kernel(y)
    with np.errstate(over="ignore"):
        expected = host - host.max(-1, keepdims=True)
    assert (y.numpy() == expected).all()


def test_expensive_values_are_stored_in_the_output() -> None:
    x = tw.asarray(np.zeros((20, 50), np.float32))
    kernel = rows_kernel(softmax(x, tw))
    found = stored_step(kernel)
    assert found is not None
    stage, step = found
    assert (stage, kernel.expressions[0][1].steps[step].name) == (1, "exp")


@pytest.mark.parametrize("formula", [log_softmax, layer_norm, scaled])
def test_cheap_or_unneeded_values_are_recomputed(formula: Formula) -> None:
    x = tw.asarray(np.zeros((20, 50), np.float32))
    assert stored_step(rows_kernel(formula(x, tw))) is None


def test_values_that_a_store_would_round_are_recomputed() -> None:
    half = tw.asarray(np.zeros((20, 50), np.float16))
    assert stored_step(rows_kernel(softmax(half, tw))) is None


@pytest.mark.parametrize("length", [3, 4, 35])
def test_nan_and_infinity_stay_in_their_rows(length: int) -> None:
    host = np.zeros((4, length), np.float32)
    host[1, -1], host[2, 0], host[3, 1] = np.nan, np.inf, -np.inf
    got = softmax(tw.asarray(host), tw).numpy()
    assert np.isnan(got[1]).all()
    assert np.isnan(got[2]).any()
    np.testing.assert_allclose(got[0], 1 / length, rtol=1e-6)
    expected = np.full(length, 1 / (length - 1))
    expected[1] = 0
    np.testing.assert_allclose(got[3], expected, rtol=1e-6)


def test_exponentials_of_rows_less_their_largest() -> None:
    numbers = np.zeros((32, 129), np.float32)
    numbers[:, 1:] = -np.geomspace(1e-8, 200, 4096).reshape(32, 128)
    x = tw.asarray(numbers)
    power = tw.exp(x - tw.max(x, axis=1, keepdims=True))
    found = (power - 0 * tw.sum(power, axis=1, keepdims=True)).numpy()
    expected = np.exp(numbers.astype(np.float64))
    is_normal = expected >= np.finfo(np.float32).tiny
    error = np.abs(found - expected) / np.spacing(expected.astype(np.float32))
    assert error[is_normal].max() <= 1.5
    assert (found[:, 0] == 1).all()
    assert (found[~is_normal] < np.finfo(np.float32).tiny).all()
    assert found[-1, -1] == 0


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_specials_in_exponentials_of_rows(special: float) -> None:
    x = np.array([[0, 1, special, -2, 3]], np.float32)
    with np.errstate(invalid="ignore"):
        expected = softmax(x, np)
    np.testing.assert_allclose(softmax(tw.asarray(x), tw).numpy(), expected, rtol=3e-7)
