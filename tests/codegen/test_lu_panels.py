"""LU factors of tall matrices, which lanes of a workgroup hold in registers on GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_matmul_kernels import forget_plans

import tensorweb as tw
from tensorweb import devices
from tensorweb.codegen import policy
from tensorweb.events import record_kernels

Array = np.ndarray[Any, Any]

SHAPES = [(64, 64), (70, 128), (300, 20), (140, 65, 33), (513, 9), (2048, 11)]
"""One row a lane and several, few lanes and many, blocks that are not full, a stack
with a matrix for each core."""


@pytest.fixture(autouse=True)
def gpu(webgpu: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the software adapter count as a GPU."""
    pipelines = devices.backend(webgpu)._pipelines  # type: ignore[attr-defined]  # tests reach inside
    target = replace(pipelines.target, is_software=False)
    monkeypatch.setattr(pipelines, "target", target)
    forget_plans()
    with tw.device(webgpu):
        yield
    forget_plans()


def factors(a: Array) -> tuple[Array, Array, Array]:
    """Return P, L and U in float64, made by one kernel that holds rows in registers."""
    x = tw.asarray(a)
    with record_kernels() as records:
        parts = [part.numpy().astype(np.float64) for part in tw.linalg.lu(x)]
    assert any("registers, where each lane" in one.source for one in records)
    return parts[0], parts[1], parts[2]


def check(a: Array) -> None:
    p, lower, upper = factors(a)
    scale = 1e-6 * max(a.shape) ** 0.5 * np.abs(a).max()
    assert np.abs(p @ lower @ upper - a).max() <= scale
    assert np.abs(lower).max() <= 1  # by partial pivoting
    assert not np.tril(upper, -1).any()
    assert not np.triu(lower, 1).any()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_give_the_matrix_back(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
    check(a)


@pytest.mark.parametrize("longest", [1, 200])
def test_launches_that_end_within_a_block(
    longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "LONGEST_LAUNCH", longest)
    check(np.random.default_rng(1).standard_normal((90, 70)).astype(np.float32))


def test_pivots_are_the_first_of_equal_ones() -> None:
    a = np.tile(np.eye(40, dtype=np.float32), (3, 2))[:, :70]
    rows = np.argmax(factors(a)[0], axis=0)
    assert list(rows[:40]) == list(range(40))
    check(a)


def test_columns_of_zeros_and_nan() -> None:
    a = np.random.default_rng(2).standard_normal((80, 80)).astype(np.float32)
    a[:, 10] = 0
    check(a)
    assert float(tw.linalg.det(tw.asarray(a))) == 0
    a[30, 40] = np.nan
    assert np.isnan(float(tw.linalg.det(tw.asarray(a))))


def test_small_and_wide_matrices_take_the_usual_kernel() -> None:
    for shape in ((63, 63), (10, 200)):
        with record_kernels() as records:
            tw.linalg.lu(tw.ones(shape))[0].numpy()
        assert not any("registers, where each lane" in one.source for one in records)
