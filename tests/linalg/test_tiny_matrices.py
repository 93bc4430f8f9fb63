"""Matrices below the least normal number: their inverse scale is no number.

What devices flush to zero is zero; nothing is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend

SHARES = np.array([[0.5, 0.25], [0.125, 0.25], [0.0, 0.125]])


def same(got: Any, expected: Any, tiny: float) -> None:
    """Compare numbers of which devices may keep no digit."""
    assert np.isfinite(got).all()
    assert np.abs(got - expected).max() <= tiny


def check(dtype: type) -> None:
    """Check the factors of real and complex matrices, and of one tiny column."""
    tiny = float(np.finfo(np.zeros(1, dtype).real.dtype).tiny)
    below: Any = (SHARES * tiny).astype(dtype)
    for a in (below, np.concatenate([np.eye(3, 1, dtype=dtype), below], -1)):
        x = tw.asarray(a)
        q, r = (part.numpy() for part in tw.linalg.qr(x))
        same(q @ r, a, tiny)
        same(q.conj().T @ q, np.eye(a.shape[-1]), 1e-5)
        _, values, _ = (part.numpy() for part in tw.linalg.svd(x))
        same(values, np.linalg.svd(a, compute_uv=False), tiny)
    square = below[:2] + below[:2].conj().T
    values, vectors = (part.numpy() for part in tw.linalg.eigh(tw.asarray(square)))
    same(values, np.linalg.eigvalsh(square), tiny)
    same(vectors.conj().T @ vectors, np.eye(2), 1e-5)


def test_tiny_matrices_have_factors(device: str) -> None:
    check(np.float32)
    check(np.complex64)


def test_tiny_matrices_have_factors_in_a_page(wasm: WasmBackend) -> None:
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        check(dtype)
