"""The workloads' programs in the NumPy that its user would write, and cases to time.

Runs in Pyodide beside `cases.py`, whose case it resembles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    result: Array = e / e.sum(axis=1, keepdims=True)
    return result


def layernorm(x: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    result: Array = centred / np.sqrt(variance + np.float32(1e-5))
    return result


def scatter_add(table: Array, indices: Array, values: Array) -> Array:
    result = table.copy()
    np.add.at(result, indices, values)
    return result


def convolution(stride: int, padding: int) -> Callable[[Array, Array], Array]:
    """Return windows times weights, one matrix product: `(n, c, h, w)` by `(o, …)`."""

    def convolve(images: Array, weights: Array) -> Array:
        sides = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(images, sides), weights.shape[2:], axis=(2, 3)
        )[:, :, ::stride, ::stride]
        n, _, rows, columns = windows.shape[:4]
        flat = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * rows * columns, -1)
        product = flat @ weights.reshape(len(weights), -1).T
        shaped = product.reshape(n, rows, columns, -1).transpose(0, 3, 1, 2)
        return np.ascontiguousarray(shaped)

    return convolve


PROGRAMS: dict[str, Callable[..., Any]] = {
    "matmul": lambda a, b: a @ b,
    "matmul_nt": lambda a, b: a @ np.swapaxes(b, -1, -2),
    "matmul_tn": lambda a, b: np.swapaxes(a, -1, -2) @ b,
    "matvec": lambda a, x: a @ x,
    "elem": lambda x: np.exp(-x * x) * 2 + 1,
    "sum": np.sum,
    "rowsum": lambda x: np.sum(x, axis=1),
    "colsum": lambda x: np.sum(x, axis=0),
    "softmax": softmax,
    "layernorm": layernorm,
    "cumsum": np.cumsum,
    "argmax": lambda x: np.argmax(x, axis=1),
    "gather": lambda table, indices: np.take(table, indices, axis=0),
    "scatter_add": scatter_add,
    "transpose_copy": lambda x: np.ascontiguousarray(x.T),
    "sort": np.sort,
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "conv2d": convolution(1, 1),
    "conv2d_7x7s2": convolution(2, 3),
    "increment": lambda x: x + 1,
}
"""What each program of `programs.py` is in NumPy."""


class NumPyCase:
    """One program on operands given as bytes, shape and dtype."""

    def __init__(
        self,
        program: str,
        operands: Sequence[tuple[bytes, Sequence[int], str]],
        *,
        is_chained: bool = False,
    ) -> None:
        self.program = PROGRAMS[program]
        self.is_chained = is_chained
        self.operands = [
            np.frombuffer(data, dtype).reshape(tuple(shape))
            for data, shape, dtype in operands
        ]
        self.last: Any = None

    def run(self, count: int) -> None:
        """Compute the result `count` times."""
        operands = self.operands
        for _ in range(count):
            self.last = None
            self.last = self.program(*operands)
            if self.is_chained:
                operands = [self.last]

    def result(self, dtype: str) -> bytes:
        """Return the bytes of the last result in the workload's dtype."""
        return np.ascontiguousarray(self.last, dtype).tobytes()
