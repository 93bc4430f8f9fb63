"""Operands, and float64 references of the first table's rows, with NumPy.

The same numbers as in `js/data.mjs` and `js/references.mjs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.workloads import COMPLEX, Input, Workload

Array = npt.NDArray[Any]
Reference = Callable[[Sequence[Array], Array], tuple[Array, Array]]
"""Takes operands and index arrays of places; returns values and scales of errors."""


def operands(workload: Workload) -> list[Array]:
    """Return the workload's operands; the same numbers as in JavaScript."""
    return [_operand(row) for row in workload.inputs]


def _operand(row: Input) -> Array:
    is_complex = row.dtype == COMPLEX
    size = int(np.prod(row.shape)) * (2 if is_complex else 1)
    start = np.uint32(row.seed * 0x9E3779B1 & 0xFFFFFFFF)
    unit = (hashed(np.arange(size, dtype=np.uint32) + start) >> 8) / 2**24
    values = row.low + (row.high - row.low) * unit
    if is_complex:  # real and imaginary parts in turn
        return values.astype(np.float32).view(row.dtype).reshape(row.shape)
    return _formed(values.astype(row.dtype).reshape(row.shape), row.form)


def _formed(values: Array, form: str) -> Array:
    """Give a stack of matrices the form that its row asks for."""
    if form:
        below = np.tril(values)
        values = below + np.swapaxes(np.tril(values, -1), -1, -2)
    if form == "positive":
        values += np.eye(values.shape[-1], dtype=values.dtype) * values.shape[-1]
    return values


def hashed(numbers: Array) -> Array:
    """MurmurHash3's finalizer."""
    bits: Array = numbers.astype(np.uint32)
    bits = (bits ^ (bits >> 16)) * np.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * np.uint32(0xC2B2AE35)
    mixed: Array = bits ^ (bits >> 16)
    return mixed


def dot(left: Array, right: Array) -> tuple[Array, Array]:
    """Sum products over the last axis; the scale is the sum of magnitudes."""
    terms = left.astype(np.float64) * right
    return terms.sum(-1), np.abs(terms).sum(-1)


def exact(values: Array) -> tuple[Array, Array]:
    return values, np.abs(values)


def _matmul(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    a, b = inputs
    *batch, row, column = where
    return dot(a[(*batch, row)], np.swapaxes(b, -1, -2)[(*batch, column)])


def _matvec(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    return dot(inputs[0][where[0]], inputs[1])


def _elem(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    x = inputs[0][where[0]].astype(np.float64)
    return exact(np.exp(-x * x) * 2 + 1)


def _softmax(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    rows = inputs[0][where[0]].astype(np.float64)
    e = np.exp(rows - rows.max(1, keepdims=True))
    return exact(e[np.arange(len(e)), where[1]] / e.sum(1))


def _layernorm(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    rows = inputs[0][where[0]].astype(np.float64)
    value = rows[np.arange(len(rows)), where[1]] - rows.mean(1)
    return value / np.sqrt(rows.var(1) + 1e-5), np.ones(len(rows))


def _gather(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    table, indices = inputs
    return exact(table[(indices[where[0]], *where[1:])].astype(np.float64))


def _scatter_add(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
    """The scale is the sum of magnitudes of all that is added up."""
    table, indices, values = inputs
    terms = [
        [table[row, *rest], *values[(indices == row).nonzero()[0], *rest]]
        for row, *rest in where.T
    ]
    sums = [dot(np.array(found), np.ones(1)) for found in terms]
    value, scale = np.array(sums).T
    return value, scale


def _convolution(stride: int, padding: int) -> Reference:
    def at(inputs: Sequence[Array], where: Array) -> tuple[Array, Array]:
        images, weights = inputs
        height, width = weights.shape[2:]
        border = (padding, padding)
        images = np.pad(images, ((0, 0), (0, 0), border, border))
        seen = [
            images[n, :, y : y + height, x : x + width]
            for n, y, x in zip(
                where[0], where[2] * stride, where[3] * stride, strict=True
            )
        ]
        count = len(seen)
        return dot(np.reshape(seen, (count, -1)), weights[where[1]].reshape(count, -1))

    return at


REFERENCES: dict[str, Reference] = {
    "matmul": _matmul,
    "matmul_nt": lambda x, at: _matmul([x[0], x[1].T], at),
    "matmul_tn": lambda x, at: _matmul([x[0].T, x[1]], at),
    "matvec": _matvec,
    "elem": _elem,
    "sum": lambda x, at: dot(x[0][None], np.ones(1)),
    "rowsum": lambda x, at: dot(x[0][at[0]], np.ones(1)),
    "colsum": lambda x, at: dot(x[0].T[at[0]], np.ones(1)),
    "softmax": _softmax,
    "layernorm": _layernorm,
    "cumsum": lambda x, at: exact(np.cumsum(x[0], dtype=np.float64)[at[0]]),
    "gather": _gather,
    "scatter_add": _scatter_add,
    "transpose_copy": lambda x, at: exact(x[0][at[1], at[0]].astype(np.float64)),
    "sort": lambda x, at: exact(np.sort(x[0])[at[0]].astype(np.float64)),
    "argsort": lambda x, at: exact(np.argsort(x[0], kind="stable")[at[0]]),
    "argmax": lambda x, at: exact(np.argmax(x[0], axis=1)[at[0]]),
    "increment": lambda x, at: (x[0][at[0]].astype(np.float64) + 1, np.ones(1)),
    "conv2d": _convolution(1, 1),
    "conv2d_7x7s2": _convolution(2, 3),
}
