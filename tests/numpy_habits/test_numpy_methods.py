"""Methods that tensors have from NumPy's arrays, in addition to the standard's."""

from __future__ import annotations

import numpy
import pytest

import tensorweb as tw
import tensorweb.numpy as np


@pytest.mark.parametrize(
    "call",
    [
        "x.cumsum()",
        "x.cumsum(1)",
        "x.cumprod(axis=0)",
        "x.trace()",
        "x.diagonal(1)",
        "x.ptp(1) if hasattr(x, 'ptp') else x.max(1) - x.min(1)",
        "x.compress([True, False], 0)",
        "x[0].searchsorted(2)",
        "(x > 2).astype(int).choose([10, 20])",
        "x.put([0, 5], 7); x",
        "x.fill(3); x",
        "x.flat[4]",
        "list(x.flat)",
        "x.flat[[1, 2]] = 9; x",
        "x.itemsize, len(x.flat)",
        "x.tobytes()",
        "x.ravel(order='C')",
        "x.sort(); x",
        "x.sort(axis=0); x",
    ],
)
def test_methods_agree_with_numpy(cpu: str, call: str) -> None:
    found = []
    for module in (numpy, np):
        names = {"x": module.array([[1.0, 2.0, 3.0], [4.0, 0.5, 6.0]], module.float32)}
        *statements, last = call.split("; ")
        exec("\n".join(statements), names)
        value = eval(last, names)
        found.append(value.tolist() if hasattr(value, "tolist") else value)
    assert found[0] == found[1]


def test_the_method_sorts_in_place_and_returns_none(cpu: str) -> None:
    x = np.array([3.0, 1.0, 2.0])
    alias = x
    y = np.sort(x)
    assert (x.tolist(), y.tolist()) == ([3.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    result: object = x.sort()  # type: ignore[func-returns-value]  # that it is None
    assert result is None
    assert alias.tolist() == [1.0, 2.0, 3.0]
    rows = [np.array([2, 1]), np.array([4, 3])]
    assert [row.sort() for row in rows] == [None, None]  # type: ignore[func-returns-value]  # in a comprehension as well
    assert [row.tolist() for row in rows] == [[1, 2], [3, 4]]


def test_a_traced_function_sorts_its_argument_in_place(cpu: str) -> None:
    @tw.jit
    def largest(x: tw.Tensor) -> tw.Tensor:
        x.sort(descending=True)
        return x[0]

    x = tw.asarray([3.0, 1.0, 2.0])
    assert largest(x).item() == 3.0
    assert x.tolist() == [3.0, 2.0, 1.0]
