"""Elementwise kernels over transposed inputs pass through tiles."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import record_kernels
from tensorweb.tensor import Tensor

pytestmark = pytest.mark.usefixtures("webgpu")

CASES: dict[str, tuple[Callable[..., Tensor], tuple[tuple[int, ...], ...]]] = {
    "copy": (lambda x: x.T + 0.0, ((67, 45),)),
    "with a straight one": (lambda x, y: tw.exp(x.T) * y, ((45, 67), (67, 45))),
    "two transposed inputs": (lambda x, y: x.T - y.T * 2, ((45, 67), (45, 67))),
    "four transposed inputs": (
        lambda a, b, c, d: a.T + b.T * 2 + c.T * 3 + d.T * 4,
        ((33, 35),) * 4,
    ),
    "row and column": (
        lambda x, row, column: x.T * row + column,
        ((45, 67), (45,), (67, 1)),
    ),
    "batches": (lambda x: x.permute(0, 2, 1) + 1, ((3, 33, 40),)),
    "first to last": (lambda x: x.permute(1, 2, 0) + 1, ((33, 5, 17),)),
    "rank 5": (lambda x: x.permute(4, 1, 0, 3, 2) * 2, ((17, 3, 19, 2, 18),)),
    "reversed": (lambda x: x.T[::-1] + x.T, ((45, 67),)),
    "index ramp": (lambda x: x.T + tw.arange(45, device=x.device), ((45, 67),)),
    "whole numbers": (lambda x: (x * 9).astype(tw.int32).T + 1, ((45, 67),)),
    "bool": (lambda x: (x > 0).contiguous().T == (x < 5).T, ((45, 67),)),
}

VECTOR_CASES: dict[str, tuple[Callable[..., Tensor], tuple[tuple[int, ...], ...]]] = {
    "whole tiles": (lambda x: x.T * 2, ((64, 128),)),
    "edges": (lambda x: x.T * 2, ((68, 132),)),
    "fewer than a tile": (lambda x: x.T + 1, ((16, 20),)),
    "many bands": (lambda x: x.T + 1, ((68, 1024),)),
    "batches": (lambda x: x.permute(0, 2, 1) + 1, ((3, 36, 72),)),
    "rank 4": (lambda x: x.permute(3, 1, 0, 2) * 2, ((3, 5, 20, 36),)),
    "with itself": (lambda x: x.T - x, ((72, 72),)),
    "with straight ones": (
        lambda x, y, row, column: tw.exp(x.T) * y + row - column,
        ((68, 72), (72, 68), (68,), (72, 1)),
    ),
    "three transposed inputs": (lambda a, b, c: a.T + b.T * 2 - c.T, ((68, 36),) * 3),
    "whole numbers": (lambda x: (x * 9).astype(tw.int32).T + 1, ((36, 68),)),
    "bool": (lambda x: (x.T < 5) == (x > 0).contiguous().T, ((36, 68),)),
    "part of a larger one": (lambda x: x[4:, 8:].T + 1, ((40, 72),)),
}

ALL_CASES = {
    **{(name, "transpose"): case for name, case in CASES.items()},
    **{(name, "transpose_vectors"): case for name, case in VECTOR_CASES.items()},
}

LARGEST_TERMS = 10
"""What the terms of an element come to at most without their signs."""


@pytest.mark.parametrize(("name", "kind"), ALL_CASES)
def test_transposed_inputs(name: str, kind: str) -> None:
    build, shapes = ALL_CASES[name, kind]
    generator = np.random.default_rng(5)
    arrays = [generator.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    want = build(*(tw.asarray(a, device="cpu") for a in arrays)).numpy()
    value = build(*(tw.realize(tw.asarray(a) + 0) for a in arrays))
    with record_kernels() as records:
        got = value.numpy()
    assert records[-1].kind == kind
    assert len(records) <= 2
    # GPUs may round a product and a sum once, where NumPy rounds twice.
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=LARGEST_TERMS * 2**-23)


def test_short_axes_are_read_as_they_lie() -> None:
    x = tw.realize(tw.ones((3, 40)) * 2)
    with record_kernels() as records:
        tw.realize(x.T + 1)
    assert [record.kind for record in records] == ["elementwise"]


SHAPES = ((64, 64, 1, 1), (16, 23, 1, 1), (1, 20, 1, 36), (64, 1, 64))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_several_outputs_of_one_transposition(
    shape: tuple[int, ...], dtype: str
) -> None:
    """One of two was left as its buffer was: axes of length 1 hid the tiles."""
    host = np.random.default_rng(3).integers(-9, 9, shape).astype(dtype)
    for order in itertools.permutations(range(len(shape))):
        permuted = tw.permute_dims(tw.realize(tw.asarray(host)) * 2, order)
        want = host.transpose(order) * 2
        size = (host.size, 1)
        results = [tw.reshape(permuted, size), permuted + 100, permuted * 3]
        reference = [want.reshape(size), want + 100, want * 3]
        tw.realize(*results)
        for got, expected in zip(results, reference, strict=True):
            np.testing.assert_array_equal(got.numpy(), expected)
