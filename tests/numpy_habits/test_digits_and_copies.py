"""Numbers and lists keep their precision with float64; results share no elements."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy
import pytest
from numpy_habits.comparison import difference, result

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.errors import DataError

WIDE: dict[str, list[Any]] = {
    "f": [0.1, 0.25, 0.7, -0.3],
    "u": [0.1, 0.2, 0.35, 0.5],
    "n": [0.1, numpy.nan, 0.7, -0.3],
    "m": [[0.1, 0.25], [1.9, -0.33]],
    "c": [1.1 + 2j, 0.3 - 1j, -2.2, 0.5j],
}


def wide(module: ModuleType) -> dict[str, Any]:
    """Return the data as float64 and complex128 arrays of a module."""
    names: dict[str, Any] = {"np": module, "b": module.asarray([True, False] * 2)}
    for name, values in WIDE.items():
        names[name] = module.asarray(numpy.asarray(values))
    return names


DIGITS = """
f + [0.1] * 4
c * [0.1 + 1j] * 4
np.array([f[0], 0.1])
np.gradient(f, 0.1)
np.gradient(f, [0.1, 0.2, 0.4, 0.7])
np.average(f, weights=[0.1, 0.2, 0.3, 0.4])
np.interp(f, [0.1, 0.25, 0.9], [0.3, 0.7, 0.11])
np.interp(0.33, u, f)
np.histogram(f, bins=[-0.3, 0.1, 0.25, 0.7])
np.histogram(f, bins="auto")
np.histogram2d(f, u, [[-0.3, 0.1, 0.7], [0.1, 0.35, 0.5]])
np.digitize(f, [-0.3, 0.1, 0.7])
np.searchsorted(u, [0.1, 0.35])
np.nanquantile(n, [0.3, 0.77])
np.quantile(f, 0.3, weights=[0.1, 0.2, 0.3, 0.4], method="inverted_cdf")
np.cov(m, aweights=[0.1, 0.9])
np.polyfit(u, [0.1, 0.3, 0.7, 0.9], 1, w=[0.1, 0.2, 0.3, 0.4])
np.polyval([0.1, 0.2], f)
np.polyval(f, 0.3)
np.polyadd([0.1], f)
np.polymul(f, [0.1, 0.3])
np.polydiv(f, [0.1, 0.3])
np.polydiv(c, [1j, 2])
np.polydiv(np.polymul(f[:2], u[:3]), f[:2])
np.polyint(f, k=0.1)
np.trapezoid(f, [0.1, 0.2, 0.4, 0.7])
np.ediff1d(f, 0.1, [0.3, 0.7])
np.diff(f, prepend=0.1, append=[0.7, 0.3])
np.logspace(f, u, 3)
np.logspace(0, 2, 3, base=u[:2])
np.geomspace(u, u[::-1], 4)
np.clip(f, [0.1] * 4, None)
np.where(b, f, [0.1] * 4)
np.choose([0, 1, 0, 1], [f, [0.1] * 4])
np.piecewise(f, [f > 0.3], [0.1, 0.7])
np.full_like(f, 0.1)
np.pad(f, 1, constant_values=0.1)
np.pad(f, 2, mode="linear_ramp", end_values=0.1)
np.pad(c, 1, mode="mean")
np.pad(c, 2, mode="linear_ramp", end_values=1j)
np.pad(b, 1, mode="mean")
np.fill_diagonal(m, 0.1); m
np.put(f, [1, 2], [0.1, 0.7]); f
np.put(f, [True, False], 9.0); f
np.place(f, f > 0, [0.1, 0.3]); f
np.putmask(f, f > 0, [0.1, 0.3]); f
np.copyto(f, [0.1] * 4, where=b); f
np.insert(f, 2, 0.1)
np.append(f, 0.1)
np.concatenate([f, [0.1]])
np.stack([f, [0.1] * 4])
np.hstack([f, 0.1])
np.c_[f, [0.1] * 4]
np.r_[f, 0.1]
np.block([f, 0.1])
np.power.at(u, [0, 1, 0], 0.1); u
np.add.outer([0.1, 0.3], f)
np.var(f, mean=0.1)
np.var(c, where=[True, False, True, True])
np.nanstd(c, ddof=1)
"""


def test_numbers_and_lists_keep_their_precision_with_float64(cpu: str) -> None:
    found = []
    for text in DIGITS.strip().splitlines():
        expected, got = result(text, wide(numpy)), result(text, wide(np))
        problem = difference(got, expected, rtol=1e-11, atol=1e-12)
        found += [f"{text}: {problem}"] if problem else []
    assert found == []


PLAIN = """
np.equal([1, 2], [3, 2], dtype=bool)
np.isnan([1.0, np.nan], dtype=bool)
np.logical_and.reduce([True, True], initial=False)
np.logical_or.reduce([False, False], initial=True)
np.take([10, 20, 30], [True, False, True])
np.insert(np.ones((2, 2)), np.array([0, 2]), np.array([[7.0, 8.0]] * 2), axis=1)
np.split(np.arange(5), np.array([1, 3]))
np.histogram(np.arange(5), np.array([0, 2, 4]))
np.tensordot(np.eye(2), np.ones((2, 2)), axes=np.array([[0], [1]]))
np.reshape(np.arange(4), np.array([2, -1]))
np.array_equal([np.nan + 0j], [np.nan + 0j], equal_nan=True)
np.ldexp([0.0, np.inf, 1.5], [1000, -3000, 2])
np.logspace([0, 1], [2, 3], 3)
np.array([[1, 2], [3, 4]]).T.astype('i4').tobytes()
np.array([[1, 2], [3, 4]]).astype('i4').tobytes('F')
"""


def test_rare_options_agree_with_numpy(cpu: str) -> None:
    found = []
    for text in PLAIN.strip().splitlines():
        expected, got = result(text, {"np": numpy}), result(text, {"np": np})
        problem = difference(got, expected)
        found += [f"{text}: {problem}"] if problem else []
    assert found == []


def test_excluded_elements_have_no_derivative(cpu: str) -> None:
    x = np.array([np.nan, 1.0, 3.0])
    assert tw.grad(np.nanvar)(x).tolist() == [0.0, -1.0, 1.0]
    of_two = tw.grad(lambda x: np.var(x, where=[False, True, True]))
    assert of_two(x).tolist() == [0.0, -1.0, 1.0]
    raised = tw.grad(lambda x: np.ldexp(x, [2, 300, -3]).sum())
    assert raised(np.array([0.0, 0.0, 1.0])).tolist()[::2] == [4.0, 0.125]


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_sums_have_the_requested_dtype(cpu: str, method: str) -> None:
    for name in ("add", "multiply"):
        found = getattr(getattr(np, name), method)([3, 4], dtype=np.int8)
        assert found.dtype is np.int8


@pytest.mark.parametrize(
    "text",
    [
        *("np.nan_to_num(i)", "np.conj(f)", "np.conj(i)", "np.pad(f, 0)"),
        *("np.block(m)", "np.clip(f, None, None)", "np.subtract.reduce(m[:1])"),
        *("np.maximum.accumulate(f[:1])", "np.fmax.reduce(m[:1])"),
    ],
)
def test_results_share_no_elements_with_operands(cpu: str, text: str) -> None:
    data = {"f": [1.0, 2.0], "i": [1, 2], "m": [[1.0, 2.0], [3.0, 4.0]]}
    names: dict[str, Any] = {name: np.array(values) for name, values in data.items()}
    found = eval(text, {"np": np, **names})
    found[...] = 77
    assert {name: x.tolist() for name, x in names.items()} == data


def test_edges_that_neither_rise_nor_fall_are_an_error(cpu: str) -> None:
    with pytest.raises(DataError, match="bins must rise or fall"):
        np.digitize([1.0], [0.7, 0.1, 2.2])


def test_no_name_is_offered_by_two_topics() -> None:
    # Whichever is imported last would hide the other one.
    seen: dict[str, Any] = {}
    twice = []
    for part in iter_modules(np.__path__):
        # A module of the package's names is no topic: its names have a prefix.
        if part.name in np.__all__ or part.name in ("elementwise", "composition"):
            continue
        topic = import_module(f"tensorweb.numpy.{part.name}")
        for name in getattr(topic, "__all__", ()):
            value = getattr(topic, name)
            if seen.setdefault(name, value) is not value:
                twice.append(name)
    assert twice == []


def test_assertions_compare_shapes(cpu: str) -> None:
    with pytest.raises(AssertionError, match="not within"):
        np.testing.assert_allclose(np.ones((2, 1)), np.ones(2))
    with pytest.raises(AssertionError, match="not within"):
        np.testing.assert_almost_equal(1.0, 1.0 + 1e-6)
    np.testing.assert_allclose(np.ones((2, 1)), 1.0)
