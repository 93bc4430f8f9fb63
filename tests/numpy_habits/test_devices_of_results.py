"""Results lie where their operands do, whatever the default device is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def test_lists_are_compared_where_tensors_are(webgpu: str) -> None:
    x = tw.asarray([[1, 2], [3, 4]])
    with devices.device("cpu"):
        assert np.array_equal([[1, 2], [3, 4]], x)
        assert np.array_equiv([[5, 6]], x - x + tw.asarray([5, 6], device=webgpu))
