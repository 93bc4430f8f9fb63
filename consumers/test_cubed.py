"""Cubed over tensors: arrays that neither the device nor the process holds at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from consumers.larger_than_memory import BLOCK, COLUMNS, block, compute, cubed, xp
from tools.process import ROOT

HOST = np.random.default_rng(3).normal(size=(60, 40)).astype(np.float32)

ALLOWED = 8 << 20
"""Bytes that a task of Cubed may need."""


@pytest.fixture
def spec(tmp_path: Path) -> cubed.Spec:
    tw.narrow_dtypes()
    return cubed.Spec(work_dir=str(tmp_path), allowed_mem=ALLOWED, reserved_mem=0)


CASES: dict[str, tuple[Any, Any]] = {
    "arithmetic": (lambda a: a * 2 - 1, lambda h: h * 2 - 1),
    "function": (lambda a: xp.exp(-xp.abs(a)), lambda h: np.exp(-abs(h))),
    "where": (lambda a: xp.where(a > 0, a, -a), abs),
    "sum": (lambda a: xp.sum(a, axis=0), lambda h: h.sum(axis=0)),
    "mean": (lambda a: xp.mean(a), lambda h: h.mean()),
    "variance": (lambda a: xp.var(a, axis=1), lambda h: h.var(axis=1)),
    "maximum": (lambda a: xp.max(a, axis=1), lambda h: h.max(axis=1)),
    "position": (lambda a: xp.argmax(a, axis=1), lambda h: h.argmax(axis=1)),
    "transpose": (lambda a: xp.permute_dims(a, (1, 0)), lambda h: h.T),
    "product": (lambda a: xp.matmul(a, xp.matrix_transpose(a)), lambda h: h @ h.T),
    "slice": (lambda a: a[5:, ::3], lambda h: h[5:, ::3]),
    "rechunked": (lambda a: a.rechunk((60, 1)) + 1, lambda h: h + 1),
    "concatenated": (lambda a: xp.concat([a, a]), lambda h: np.concatenate([h, h])),
}


@pytest.mark.parametrize("name", CASES)
def test_blocks_are_tensors(name: str, spec: cubed.Spec, device: str) -> None:
    ours, numpys = CASES[name]
    found = ours(cubed.from_array(HOST, chunks=(25, 16), spec=spec)).compute()
    assert isinstance(found, tw.Tensor)
    assert found.device == device
    np.testing.assert_allclose(found.numpy(), numpys(HOST), rtol=1e-4, atol=1e-5)


def test_more_than_a_task_may_need(spec: cubed.Spec) -> None:
    rows = 16 * BLOCK[0] + 100
    host = block(0, rows).astype(np.float64)
    assert host.nbytes / 2 > ALLOWED
    found = compute(rows, spec)
    standard = (host - host.mean(axis=0)) / host.std(axis=0)
    np.testing.assert_allclose(found.total, host.sum(), rtol=1e-5)
    np.testing.assert_allclose(found.means, np.zeros(COLUMNS), atol=1e-4)
    np.testing.assert_allclose(found.deviations, np.ones(COLUMNS), rtol=1e-4)
    expected = standard.T @ standard
    np.testing.assert_allclose(found.product / rows, expected / rows, atol=1e-4)


def test_more_than_the_device_may_hold(device: str) -> None:
    program = [sys.executable, "-m", "consumers.larger_than_memory", device, "16"]
    budget = {**os.environ, "TENSORWEB_MEMORY_BUDGET": str(ALLOWED)}
    done = subprocess.run(program, cwd=ROOT, env=budget, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "16384 rows of 256 numbers, 16 MiB" in done.stdout
