"""Results lie where their operands do, whatever the default device is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb import devices


def written(function: Callable[..., None], x: tw.Tensor, *more: Any) -> tw.Tensor:
    """Return what a function that writes leaves of a copy."""
    copy = x.copy()
    function(copy, *more)
    return copy


CALLS: dict[str, Callable[[tw.Tensor], Any]] = {
    "argwhere of a number": lambda x: np.argwhere(x[0, 0]),
    "compress": lambda x: np.compress([False, True], x, 0),
    "correlate": lambda x: np.correlate(x[0], [1, 2]),
    "delete": lambda x: np.delete(x, 0, 0),
    "diag_indices_from": lambda x: x[np.diag_indices_from(x)],
    "extract": lambda x: np.extract([[True, False], [True, True]], x),
    "insert": lambda x: np.insert(x, [0, 2], [8, 9]),
    "ldexp": lambda x: np.ldexp(x, 2),
    "matrix_rank of nothing": lambda x: np.linalg.matrix_rank(x[:, :0]),
    "lstsq": lambda x: np.linalg.lstsq(x, [1.0, 2.0])[0],
    "matrix_rank": lambda x: np.linalg.matrix_rank(x, 1.5),
    "matvec": lambda x: np.matvec(x, [1, 2]),
    "prelu": lambda x: tw.nn.prelu(x * 1.0, 0.25),
    "put": lambda x: written(np.put, x, [3, 0], 9),
    "put_along_axis": lambda x: written(np.put_along_axis, x, [[1], [0]], 9, 1),
    "putmask": lambda x: written(np.putmask, x, [[True, False]] * 2, 9),
    "take": lambda x: np.take(x, [1, 0]),
    "take_along_axis": lambda x: np.take_along_axis(x, [[1], [0]], 1),
    "tril_indices_from": lambda x: x[np.tril_indices_from(x, -1)],
    "triu_indices_from": lambda x: x[np.triu_indices_from(x)],
    "vander of nothing": lambda x: np.vander(x[0, :0]),
    "vdot": lambda x: np.vdot([1, 2, 3, 4], x),
    "vecmat": lambda x: np.vecmat([1, 2], x),
    "where": lambda x: np.where([True, False], x, 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_lie_with_their_operands(name: str, webgpu: str) -> None:
    x = tw.asarray([[1, 2], [3, 4]])
    with devices.device("cpu"):
        found = CALLS[name](x)
    assert found.device == webgpu
    assert found.tolist() == CALLS[name](x).tolist()


LISTS_FIRST: dict[str, Callable[[tw.Tensor], Any]] = {
    "average": lambda x: np.average([1.0, 2.0], weights=x),
    "broadcast_arrays": lambda x: np.broadcast_arrays([[3], [4]], x)[0],
    "clip": lambda x: np.clip([0.5, 9.0], 1, x),
    "cov": lambda x: np.cov([[1.0, 2.0], [5.0, 9.0]], aweights=x),
    "diff": lambda x: np.diff([5.0, 9.0], prepend=x),
    "digitize": lambda x: np.digitize([0.5, 1.5], x),
    "ediff1d": lambda x: np.ediff1d([5.0, 9.0], x),
    "einsum of a list": lambda x: np.einsum("ij,j", [[1.0, 2.0], [3.0, 5.0]], x),
    "einsum of a tensor": lambda x: np.einsum("i,ij", x, [[1.0, 2.0], [3.0, 5.0]]),
    "emath.power": lambda x: np.emath.power([1.0, 4.0], x),
    "gradient": lambda x: np.gradient([5.0, 9.0], x),
    "histogram": lambda x: np.histogram([0.5, 1.5], x)[0],
    "histogram of weights": lambda x: np.histogram([0.5, 1.5], 2, weights=x)[0],
    "histogramdd": lambda x: np.histogramdd(([0.5, 1.5], x), 2)[0],
    "insert": lambda x: np.insert([1.0, 2.0], 1, x),
    "interp": lambda x: np.interp([0.0, 9.0], [1.0, 2.0], [3.0, 4.0], x[0], x[1]),
    "ix_": lambda x: np.ix_([1, 0], x)[0],
    "lexsort": lambda x: np.lexsort([x, [4.0, 4.0]]),
    "max": lambda x: np.max([1.0, 2.0], initial=x[1]),
    "mean": lambda x: np.mean([1.0, 2.0], where=x > 1),
    "meshgrid": lambda x: np.meshgrid([1.0, 2.0], x)[0],
    "multi_dot": lambda x: np.linalg.multi_dot([x, np.eye(2).tolist(), [3.0, 4.0]]),
    "nanmean": lambda x: np.nanmean([1.0, 2.0], where=x > 1),
    "nansum": lambda x: np.nansum([1.0, 2.0], where=x > 1),
    "nanvar": lambda x: np.nanvar([1.0, 2.0, 3.0], mean=x[:1]),
    "piecewise of a list": lambda x: np.piecewise([1.0, 2.0], [x > 1], [3, 4]),
    "piecewise of a tensor": lambda x: np.piecewise(x, [[True, False]], [3, 4]),
    "polyfit": lambda x: np.polyfit([1.0, 2.0], [3.0, 5.0], 0, w=x),
    "polyint": lambda x: np.polyint([3.0, 5.0], k=x[0]),
    "full_like": lambda x: np.full_like([3.0, 5.0], x),
    "tw.full_like": lambda x: tw.full_like([3.0, 5.0], x[0]),
    "quantile": lambda x: np.quantile(
        [1.0, 2.0], [0.5], method="inverted_cdf", weights=x
    ),
    "ravel_multi_index": lambda x: np.ravel_multi_index(
        ([1, 0], x.astype(int)), (2, 3)
    ),
    "select": lambda x: np.select([[True, False], x > 1], [[7, 8], [9, 9]], 0),
    "sum": lambda x: np.sum([1.0, 2.0], initial=x[0], where=x > 1),
    "tensorsolve": lambda x: np.linalg.tensorsolve([[2.0, 0.0], [0.0, 1.0]], x),
    "trapezoid": lambda x: np.trapezoid([5.0, 9.0], x),
    "var": lambda x: np.var([1.0, 2.0], mean=x[:1]),
    "add.reduce": lambda x: np.add.reduce([1.0, 2.0], where=x > 1),
    "nan_to_num": lambda x: np.nan_to_num([np.nan, 2.0], nan=x[1]),
    "rank": lambda x: np.linalg.matrix_rank([[3.0, 0.0], [0.0, 1.0]], x[1]),
    "trapezoid of a width": lambda x: np.trapezoid([5.0, 9.0], dx=x[1]),
    "tw.bincount": lambda x: tw.bincount([1, 0], weights=x),
    "tw.diff": lambda x: tw.diff([5.0, 9.0], append=x),
    "tw.segment_sum": lambda x: tw.segment_sum([5.0, 9.0], x.astype(int), 3),
    "tw.take": lambda x: tw.take([5.0, 9.0, 7.0], x.astype(int)),
    "tw.take_along_axis": lambda x: tw.take_along_axis(
        [5.0, 9.0, 7.0], x.astype(int), axis=0
    ),
    "grad": lambda x: tw.grad(lambda w: w["a"] * w["x"][1])({"a": 2.0, "x": x})["a"],
    "vmap": lambda x: tw.vmap(lambda a, b: a * b)(numpy.float32([5, 9]), x),
    "vmap of integers": lambda x: tw.vmap(lambda b, i: b + i)(x, numpy.int32([0, 1])),
    "attention": lambda x: tw.nn.attention([[1.0]], [[1.0], [2.0]], x[:, None]),
    "batch_norm": lambda x: tw.nn.batch_norm(
        [[1.0, 2.0]], numpy.float32([1, 2]), x, [2.0, 2.0], [0.0, 1.0]
    ),
    "bilinear": lambda x: tw.nn.bilinear(
        [1.0, 2.0], x, numpy.float32([[[1, 0], [2, 1]]])
    ),
    "conv_transpose1d": lambda x: tw.nn.conv_transpose1d(x[None, None], [[[1.0]]]),
    "leaky_relu": lambda x: tw.nn.leaky_relu([-2.0, 3.0], x[1]),
    "prelu": lambda x: tw.nn.prelu([-2.0, 3.0], x),
}
"""Lists stand before a tensor that they are computed with."""


@pytest.mark.parametrize("name", LISTS_FIRST)
def test_lists_go_where_a_later_tensor_lies(name: str, webgpu: str) -> None:
    values = [1.0, 2.0]
    with devices.device("cpu"):
        found = LISTS_FIRST[name](tw.asarray(values, device=webgpu))
        expected = LISTS_FIRST[name](tw.asarray(values))
    assert found.device == webgpu
    assert found.dtype is expected.dtype
    assert np.allclose(found.tolist(), expected.tolist())


def test_testing_compares_lists_where_tensors_are(webgpu: str) -> None:
    x = tw.asarray([1.0, 2.0])
    with devices.device("cpu"):
        np.testing.assert_allclose([1.0, 2.0], x)
        np.testing.assert_array_equal(x, [1.0, 2.0])


def test_lists_keep_the_digits_of_a_later_tensor() -> None:
    x = tw.asarray([0.1, 0.2], dtype="float64", device="cpu")
    assert np.einsum("i,i", [0.1, 0.2], x).tolist() == 0.1 * 0.1 + 0.2 * 0.2


def test_lists_are_compared_where_tensors_are(webgpu: str) -> None:
    x = tw.asarray([[1, 2], [3, 4]])
    with devices.device("cpu"):
        assert np.array_equal([[1, 2], [3, 4]], x)
        assert np.array_equiv([[5, 6]], x - x + tw.asarray([5, 6], device=webgpu))


DRAWS: dict[str, Callable[[tw.Tensor], Any]] = {
    "choice": lambda x: np.random.choice(x, 3),
    "default_rng": lambda x: np.random.default_rng(0).permuted(x, axis=0),
    "dirichlet": lambda x: np.random.dirichlet(x),
    "gamma": lambda x: np.random.gamma(2.0, scale=x),
    "multivariate_normal": lambda x: np.random.multivariate_normal(
        x, np.eye(3).tolist()
    ),
    "normal": lambda x: np.random.normal(x, [1, 2, 3]),
    "permutation": lambda x: np.random.permutation(x),
    "poisson": lambda x: np.random.poisson(x),
    "randint": lambda x: np.random.randint(0, x.astype(np.int32)),
    "shuffle": lambda x: written(np.random.shuffle, x),
    "uniform": lambda x: np.random.uniform([0.0, 0.0, 0.0], x),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_lie_with_their_parameters(name: str, webgpu: str) -> None:
    x = tw.asarray([1.0, 2.0, 4.0])
    with devices.device("cpu"):
        np.random.seed(3)
        found = DRAWS[name](x)
        assert found.device == webgpu
        assert tw.default_device() == "cpu"
        assert np.random.normal(size=2).device == "cpu"
    np.random.seed(3)
    assert found.tolist() == DRAWS[name](x).tolist()


def test_draws_on_two_devices_are_independent(webgpu: str) -> None:
    x = tw.zeros(4)
    np.random.seed(3)
    first = np.random.normal(x).tolist()
    with devices.device("cpu"):
        second = np.random.normal(size=4).tolist()
        np.random.seed(3)
        assert np.allclose(np.random.normal(size=4).tolist(), first)
    assert not np.allclose(first, second)
