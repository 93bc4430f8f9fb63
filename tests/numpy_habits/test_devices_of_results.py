"""Results lie where their operands do, whatever the default device is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb import devices

CALLS: dict[str, Callable[[tw.Tensor], Any]] = {
    "argwhere of a number": lambda x: np.argwhere(x[0, 0]),
    "diag_indices_from": lambda x: x[np.diag_indices_from(x)],
    "matrix_rank of nothing": lambda x: np.linalg.matrix_rank(x[:, :0]),
    "tril_indices_from": lambda x: x[np.tril_indices_from(x, -1)],
    "triu_indices_from": lambda x: x[np.triu_indices_from(x)],
    "vander of nothing": lambda x: np.vander(x[0, :0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_lie_with_their_operands(name: str, webgpu: str) -> None:
    x = tw.asarray([[1, 2], [3, 4]])
    with devices.device("cpu"):
        assert CALLS[name](x).device == webgpu
