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
