"""Tall matrices are taken apart by blocks of rows: NumPy's factors, with its signs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.nodes import policy

SHAPES = ((43, 3), (42, 2), (2, 3, 40, 4))
"""With rows that are left over and without, in one step and in several, and stacks."""


@pytest.fixture
def small_blocks(wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "TALL_ROWS", 10)
    monkeypatch.setattr(policy, "TALL_BLOCK_ROWS", 8)


def test_factors_equal_those_computed_without_blocks(small_blocks: None) -> None:
    for shape in SHAPES:
        a = np.random.default_rng(sum(shape)).standard_normal(shape)
        with tw.record_kernels() as kernels:
            q, r = (part.numpy() for part in tw.linalg.qr(tw.asarray(a)))
        assert Counter(kernel.kind for kernel in kernels)["qr"] > 1
        wanted_q, wanted_r = np.linalg.qr(a)
        np.testing.assert_allclose(q, wanted_q, atol=1e-13)
        np.testing.assert_allclose(r, wanted_r, atol=1e-13)


def test_rows_without_rank_have_orthonormal_columns(small_blocks: None) -> None:
    for a in (np.zeros((43, 3)), np.ones((43, 3)), np.eye(43)[:, ::-1][:, :3].copy()):
        q, r = (part.numpy() for part in tw.linalg.qr(tw.asarray(a)))
        np.testing.assert_allclose(q @ r, a, atol=1e-14)
        np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-14)


def test_derivatives_equal_those_computed_without_blocks(small_blocks: None) -> None:
    x = tw.asarray(np.random.default_rng(0).standard_normal((21, 2)))
    tw.check_grads(lambda x: tuple(tw.linalg.qr(x)), (x,))
    tw.check_grads(lambda x: tw.linalg.svd(x, full_matrices=False).S, (x,))


def test_blocks_of_a_gpu(webgpu: str) -> None:
    a = np.random.default_rng(0).standard_normal((5000, 3)).astype(np.float32)
    with tw.record_kernels() as kernels:
        q, r = (part.numpy() for part in tw.linalg.qr(tw.asarray(a)))
    assert Counter(kernel.kind for kernel in kernels)["qr"] == 2
    assert len(kernels) <= 5
    wanted_q, wanted_r = np.linalg.qr(a.astype(np.float64))
    np.testing.assert_allclose(q, wanted_q, atol=2e-6)
    np.testing.assert_allclose(r, wanted_r, atol=1e-4)
    half, _ = tw.linalg.qr(tw.asarray(a).astype(tw.float16))
    assert half.dtype is tw.float16
