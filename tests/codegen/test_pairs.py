"""Tiles of pairs: small products, reductions over rows by columns, against float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.codegen.product.pairs import choose_pair_layout
from tensorweb.codegen.program import Target
from tensorweb.events import record_kernels

webgpu_only = pytest.mark.usefixtures("webgpu")


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    generator = np.random.default_rng(sum(shape))
    if dtype.startswith("float"):
        return generator.uniform(-1, 1, shape).astype(dtype)
    return generator.integers(0, 9, shape).astype(dtype)


def check(
    program: Callable[..., tw.Tensor], *arrays: np.ndarray, kinds: str = "pairs"
) -> None:
    """Compare a program with NumPy's, in float64, and look at the kernels that ran."""
    with record_kernels() as records:
        got = program(tw, *[tw.asarray(a) for a in arrays]).numpy()
    assert " ".join(record.kind for record in records) == kinds
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]
    want = np.asarray(program(np, *wide))
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, want)
        return
    bound = 1e-3 if got.dtype == np.float16 else 2e-6
    assert np.max(np.abs(got - want)) < bound * (1 + np.max(np.abs(want)))


@webgpu_only
@pytest.mark.parametrize(
    "size", [(9, 16, 16, 16), (5, 33, 47, 29), (7, 2, 3, 5)], ids=str
)
def test_small_products_of_a_batch(size: tuple[int, int, int, int]) -> None:
    batch, m, k, n = size
    a, b = numbers(batch, m, k), numbers(batch, k, n)
    check(lambda _, x, y: x @ y, a, b)
    a, b = (np.ascontiguousarray(x.swapaxes(1, 2)) for x in (a, b))
    check(lambda xp, x, y: xp.matrix_transpose(x) @ xp.matrix_transpose(y) * 2, a, b)


@webgpu_only
def test_small_products_of_views_and_broadcast_batches() -> None:
    a, b = numbers(6, 9, 12), numbers(5, 14, 9)
    check(lambda _, x, y: x[::2, 1:8, ::-1] @ y[1:4, 1:13, 2:], a, b)
    check(lambda _, x, y: x[:, None, :, :9] @ y[None, :, :9], a, b)
    check(lambda _, x: x[:, :, :9] @ x[:, :, :9], a)


@webgpu_only
@pytest.mark.parametrize("dtype", ["int32", "uint32", "float16"])
def test_small_products_of_other_dtypes(dtype: str) -> None:
    if dtype == "float16" and not devices.stores(tw.float16, "webgpu"):
        pytest.skip("the adapter has no float16")
    check(
        lambda _, x, y: x @ y,
        numbers(5, 6, 7, dtype=dtype),
        numbers(5, 7, 9, dtype=dtype),
    )


def test_small_matrices_share_workgroups() -> None:
    gpu = Target(threads=1024)
    assert choose_pair_layout(4096, 16, 16, 16, gpu).groups(4096) == 1024
    for side in range(1, 49):
        found = choose_pair_layout(4096, side, side, side, gpu)
        used = found.matrices * found.down * found.across / found.threads
        assert used > 0.5, side


TERMS: dict[str, Callable[..., tw.Tensor]] = {
    "squares": lambda xp, a, b: ((a[:, None] - b[None]) ** 2).sum(-1),
    "distances": lambda xp, a, b: xp.sqrt(((a[None] - b[:, None]) ** 2).sum(-1)),
    "sizes": lambda xp, a, b: xp.abs(a[:, None] - b[None]).sum(-1) + 1,
    "largest": lambda xp, a, b: xp.abs(a[:, None] - b[None]).max(-1),
    "least": lambda xp, a, b: xp.maximum(a[:, None] * 2, xp.exp(b[None])).min(-1),
    "product": lambda xp, a, b: (a[:, None] * 0.5 + b[None] + 1).prod(-1),
    "mean, depth first": lambda xp, a, b: (a.T[:, :, None] + b.T[:, None]).mean(0),
}


@webgpu_only
@pytest.mark.parametrize("size", [(70, 41, 3), (9, 64, 37)], ids=str)
@pytest.mark.parametrize("name", TERMS)
def test_rows_meet_columns(name: str, size: tuple[int, int, int]) -> None:
    rows, columns, depth = size
    check(TERMS[name], numbers(rows, depth), numbers(columns, depth))


@webgpu_only
def test_rows_meet_columns_of_views_and_batches() -> None:
    a, b = numbers(3, 24, 10), numbers(3, 10, 14)
    check(lambda xp, x, y: xp.minimum(x[:, :, None], y[:, None, :, :10]).sum(-1), a, b)
    check(lambda xp, x, y: (x[::2, ::-3, None] - y[0, 2:, :10]).max(-1), a, b)
    check(lambda xp, x, y: ((x[0][:, None] - y[0].T[None]) ** 2).sum(-1), a, b)


@webgpu_only
def test_integers_meet_exactly() -> None:
    a, b = numbers(20, 6, dtype="int32"), numbers(30, 6, dtype="int32")
    check(lambda xp, x, y: xp.abs(x[:, None] - y[None]).max(-1), a, b)
    check(lambda xp, x, y: ((x[:, None] - y[None]) ** 2).sum(-1).astype(xp.int32), a, b)


@webgpu_only
def test_special_values_meet() -> None:
    a, b = numbers(8, 5), numbers(12, 5)
    a[3, 2], b[4, 1] = np.nan, np.inf
    with record_kernels() as records:
        got = tw.abs(tw.asarray(a)[:, None] - tw.asarray(b)[None]).max(-1).numpy()
    assert [record.kind for record in records] == ["pairs"]
    np.testing.assert_allclose(got, np.abs(a[:, None] - b[None]).max(-1), rtol=1e-6)


@webgpu_only
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, a, b: ((a[:, None] - b[None]) ** 2 * a[None, :1]).sum(-1),
        lambda xp, a, b: (a[:, None] < b[None, :3]).any(-1),
        lambda xp, a, b: (a[:3, None] - b[None, :2]).sum(-1),
        lambda xp, a, b: (a[:, None] - b[None]).argmax(-1),
    ],
)
def test_other_reductions_stay_as_they_are(program: Callable[..., tw.Tensor]) -> None:
    check(program, numbers(9, 5), numbers(8, 5), kinds="reduce")
