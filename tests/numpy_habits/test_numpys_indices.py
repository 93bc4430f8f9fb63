"""NumPy's integers number elements, rows and classes of tensors on every device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
import tensorweb.numpy as tnp

ROWS = np.array([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], np.float32)


def written(function: Callable[..., object], *arguments: Any) -> Callable[[Any], Any]:
    """Return a function of a tensor that is written to."""

    def call(x: Any) -> Any:
        copy = x.copy()
        function(copy, *arguments)
        return copy

    return call


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "x[:, i]": lambda x, i: x[:, i],
    "x.take": lambda x, i: x.take(i, axis=1),
    "tw.take": lambda x, i: tw.take(x, i, axis=1),
    "np.take": lambda x, i: tnp.take(x, i, axis=1),
    "np.take clipped": lambda x, i: tnp.take(x, i, axis=1, mode="clip"),
    "take_along_axis": lambda x, i: tw.take_along_axis(x, i[None], axis=1),
    "np.take_along_axis": lambda x, i: tnp.take_along_axis(x, i[None], axis=1),
    "np.choose": lambda x, i: tnp.choose(i, [x[0, :2], x[1, :2], x[0, 1:]]),
    "np.put": lambda x, i: written(tnp.put, i, 9.0)(x),
    "np.put_along_axis": lambda x, i: written(tnp.put_along_axis, i[None], 9.0, 1)(x),
    "x.at": lambda x, i: x.at[:, i].add(1.0),
    "np.delete": lambda x, i: tnp.delete(x, i, axis=1),
    "np.insert": lambda x, i: tnp.insert(x, i, 7.0, axis=1),
    "np.add.at": lambda x, i: written(tnp.add.at, (slice(None), i), 1.0)(x),
    "cross_entropy": lambda x, i: tw.nn.cross_entropy(x, i),
    "nll": lambda x, i: tw.nn.nll(x, i),
    "embedding": lambda x, i: tw.nn.embedding(i - 1, x),
    "segment_sum": lambda x, i: tw.segment_sum(x, i, 3),
}


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int16"])
@pytest.mark.parametrize("name", CASES)
def test_numpys_integers_are_indices(name: str, dtype: str, device: str) -> None:
    function = CASES[name]
    x = tw.asarray(ROWS, device=device)
    indices = [2, 1]
    expected = function(x, tw.asarray(indices, device=device))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.NarrowedDataWarning)
        found = function(x, np.array(indices, dtype))
    assert (found.dtype, found.device) == (expected.dtype, device)
    assert found.tolist() == expected.tolist()


def test_shares_of_classes_keep_the_precision_of_the_logits() -> None:
    logits = tw.asarray(ROWS, dtype="float64", device="cpu")
    shares = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    found = tw.nn.cross_entropy(logits, shares)
    exact = tw.asarray(shares, dtype="float64", device="cpu")
    assert found.item() == tw.nn.cross_entropy(logits, exact).item()


DATES = np.array([20240103, 20240102, 2**31 - 1])
"""Integers that no float32 holds."""

PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "meshgrid": lambda x, n: tw.meshgrid(x, n)[1],
    "broadcast_arrays": lambda x, n: tw.broadcast_arrays(x, n)[1],
    "np.meshgrid": lambda x, n: tnp.meshgrid(n, x)[0],
    "np.broadcast_arrays": lambda x, n: tnp.broadcast_arrays(n, x)[0],
    "np.lexsort": lambda x, n: tnp.lexsort([n, x * 0]),
}


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("name", PARTS)
def test_numpys_integers_next_to_floats_stay_integers(
    name: str, dtype: str, device: str
) -> None:
    x = tw.asarray(ROWS[0], device=device)
    found = PARTS[name](x, DATES.astype(dtype))
    expected = PARTS[name](x, tw.asarray(DATES.tolist(), device=device))
    assert found.dtype.kind in ("int", "uint")
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_integers_beyond_32_bits_are_operands_of_floats(
    dtype: str, device: str
) -> None:
    x = tw.asarray([1.0, 2.0], dtype=dtype, device=device)
    for found in (x * np.array([2**40, 1]), x * np.int64(2**40)):
        assert (found.dtype, found.tolist()[0]) == (x.dtype, 2**40)


def test_integers_next_to_floats_are_narrowed_without_a_warning(device: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (tw.asarray(ROWS[0]) * np.arange(3)).tolist() == [0.0, 2.0, 10.0]


APART: dict[str, Callable[[Any, Any], Any]] = {
    "average": lambda x, n: tnp.average(n, weights=x),
    "ix_": lambda x, n: tnp.ix_(n, x)[0],
    "lexsort": lambda x, n: tnp.lexsort([n, x]),
    "meshgrid": lambda x, n: tw.meshgrid(x, n)[1],
    "np.meshgrid": lambda x, n: tnp.meshgrid(n, x)[0],
    "quantile": lambda x, n: tnp.quantile(n, 0.5, weights=x, method="inverted_cdf"),
    "ravel_multi_index": lambda x, n: tnp.ravel_multi_index((n, x), (3, 3)),
    "repeat": lambda x, n: tnp.repeat(n, x),
    "unravel_index": lambda x, n: tnp.unravel_index(n, (3, 3))[1] + x,
}
"""Functions of two arrays of integers, whose dtypes need none that holds both."""


@pytest.mark.parametrize("name", APART)
def test_uint64_goes_with_signed_integers_where_nothing_adds_them(
    name: str, device: str
) -> None:
    x = tw.asarray([2, 0, 1], device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.NarrowedDataWarning)
        found = APART[name](x, np.array([1, 2, 0], "uint64"))
    assert found.tolist() == APART[name](x, [1, 2, 0]).tolist()
