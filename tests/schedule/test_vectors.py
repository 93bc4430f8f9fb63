"""Elementwise kernels and row sums in vectors of four: when, and with what result."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import record_kernels
from tensorweb.tensor import Tensor

pytestmark = pytest.mark.usefixtures("webgpu")

Case = Callable[[Tensor, Tensor, Tensor], Tensor]

IN_VECTORS: dict[str, Case] = {
    "chain": lambda x, row, column: tw.exp(-x * x) * 2 + 1,
    "row": lambda x, row, column: x * row + 1,
    "column": lambda x, row, column: x - column,
    "outer": lambda x, row, column: row + column,
    "slice of rows": lambda x, row, column: x[2:9, 4:16] * 2,
    "bool result": lambda x, row, column: x < row,
    "int result": lambda x, row, column: (x * 9).astype(tw.int32),
    "row sum": lambda x, row, column: (x * row).sum(axis=1),
    "row maximum": lambda x, row, column: (x + column).max(axis=1) * 2,
    "any": lambda x, row, column: (x > 0.9).any(axis=1),
    "column sum": lambda x, row, column: (x * row).sum(axis=0) + 2,
    "column maximum": lambda x, row, column: (x - column).max(axis=0) * row,
    "column product of whole numbers": lambda x, row, column: (
        (x * 3).astype(tw.int32).prod(axis=0)
    ),
    "vector times matrix": lambda x, row, column: column.reshape((-1,)) @ x,
    "whole sum": lambda x, row, column: x.sum(),
    "index ramp": lambda x, row, column: x + tw.arange(20, device=x.device),
    "falling ramp": lambda x, row, column: x * tw.arange(20, device=x.device)[::-1],
    "chosen elements": lambda x, row, column: x[
        tw.astype(x * 5 + 5, tw.int32), tw.astype(row * 9 + 10, tw.int32)
    ],
    "chosen rows": lambda x, row, column: x[[3, 0, 10, 3], 4:16] * 2,
    "chosen columns": lambda x, row, column: x[:, [3, 0, 19, 3]] * 2,
    "rows of a table and itself": lambda x, row, column: x[[3, 0, 10, 3]] + x[:4],
    "transposed choice": lambda x, row, column: x[[3, 0, 10, 3]].T * 2,
}

ONE_BY_ONE: dict[str, Case] = {
    "transposed": lambda x, row, column: x.T * 2,
    "odd offset": lambda x, row, column: x[:, 1:13] * 2,
    "odd length": lambda x, row, column: x[:, :13] * 2,
    "reversed": lambda x, row, column: x[:, ::-1] * 2,
    "both ways": lambda x, row, column: x[:11, :11] + x[:11, :11].T,
    "row both before and after": lambda x, row, column: (x * row).sum(axis=0) + row,
    "stepping ramp": lambda x, row, column: x + tw.arange(40, device=x.device)[::2],
    "padded": lambda x, row, column: x.pad([(0, 0), (2, 2)]) * 2,
}


def operands(function: Case) -> tuple[Tensor, np.ndarray]:
    generator = np.random.default_rng(7)
    arrays = [
        generator.uniform(-1, 1, shape).astype(np.float32)
        for shape in ((11, 20), (20,), (11, 1))
    ]
    want = function(*(tw.asarray(a, device="cpu") for a in arrays)).numpy()
    return function(*(tw.asarray(a) for a in arrays)), want


@pytest.mark.parametrize("name", [*IN_VECTORS, *ONE_BY_ONE])
def test_vectors_are_used_where_they_fit(name: str) -> None:
    value, want = operands({**IN_VECTORS, **ONE_BY_ONE}[name])
    with record_kernels() as records:
        got = value.numpy()
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)
    else:
        np.testing.assert_array_equal(got, want)
    (record, *_) = records
    assert ("array<vec4<" in record.source) == (name in IN_VECTORS)


CHOICES: dict[str, tuple[Case, bool]] = {
    "whole rows": (lambda x, rows, others: x[rows], True),
    "rows from 4 on": (lambda x, rows, others: x[rows, 4:16] * 2, True),
    "rows from 2 on": (lambda x, rows, others: x[rows, 2:18] * 2, False),
    "slice afterwards": (lambda x, rows, others: x[rows][:, 4:16] * 2, True),
    "odd slice afterwards": (lambda x, rows, others: x[rows][:, 3:11] * 2, False),
    "rows of every second column": (lambda x, rows, others: x[rows, ::2] * 2, False),
    "reversed rows": (lambda x, rows, others: x[rows][:, ::-1] * 2, False),
    "transposed rows": (lambda x, rows, others: x[rows].T * 2, False),
    "rows of narrower rows": (lambda x, rows, others: x[:, :18][rows, :16], True),
    "rows of rows not aligned": (
        lambda x, rows, others: x.reshape((-1,))[:216].reshape((12, 18))[rows, :16],
        False,
    ),
    "two tables": (lambda x, rows, others: x[rows] * x[others], True),
    "middle axis last": (
        lambda x, rows, others: x.reshape((-1, 4, 5)).permute(0, 2, 1)[rows],
        False,
    ),
    "blocks": (lambda x, rows, others: x.reshape((-1, 5, 4))[rows], True),
    "blocks with permuted axes": (
        lambda x, rows, others: x.reshape((-1, 5, 4))[rows].permute(0, 2, 1)[:, :, :4],
        False,
    ),
    "windows": (
        lambda x, rows, others: tw.sliding_windows(x.reshape((-1,)), 8)[rows],
        False,
    ),
    "rows by computed rows": (lambda x, rows, others: x[rows[others] % 11] + 1, True),
    "one row of each": (lambda x, rows, others: x.reshape((-1, 5, 4))[rows, 2], True),
}


@pytest.mark.parametrize("name", CHOICES)
def test_rows_of_a_table_are_read_in_vectors(name: str) -> None:
    build, is_read_in_vectors = CHOICES[name]
    table = np.random.default_rng(3).uniform(-1, 1, (11, 20)).astype(np.float32)
    rows, others = [[7, 0, 10, 7, 2, 1, 3, 5], [1, 6, 0, 2, 2, 4, 7, 3]]

    def built(device: str) -> Tensor:
        indices = [tw.asarray(values, device=device) for values in (rows, others)]
        return build(tw.realize(tw.asarray(table, device=device) + 0), *indices)

    want = built("cpu").numpy()
    value = built("webgpu")
    with record_kernels() as records:
        got = value.numpy()
    np.testing.assert_allclose(got, want, rtol=2e-7)
    reads = re.findall(r"read> input\d: array<vec4<f32>>", records[-1].source)
    assert bool(reads) == is_read_in_vectors


@pytest.mark.usefixtures("webgpu")
def test_indices_of_extremes_are_searched_in_vectors() -> None:
    a = np.random.default_rng(4).integers(-3, 4, (33, 64)).astype(np.float32)
    x = tw.asarray(a)
    for axis, is_read_so in ((1, True), (0, False)):
        y = tw.argmax(x, axis=axis)
        with record_kernels() as records:
            got = y.numpy()
        (record,) = records
        assert ("input0: array<vec4<f32>>" in record.source) is is_read_so
        np.testing.assert_array_equal(got, a.argmax(axis))
