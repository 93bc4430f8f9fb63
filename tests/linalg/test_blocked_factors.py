"""Large matrices are taken apart in halves: the same factors, errors and derivatives.

On WebAssembly blocks are small here, so that small matrices have many of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.nodes import policy

Array = np.ndarray[Any, Any]

SHAPES = ((2, 11, 11), (12, 6), (2, 7, 8), (2, 3, 8), (0, 20, 20))
"""What no block divides: squares, tall and wide ones, stacks, one without a matrix."""


@pytest.fixture
def small_blocks(wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LARGEST_LU", "LARGEST_QR"):
        monkeypatch.setattr(policy, name, 5)
    for name in ("PANEL", "TRIANGLE_BLOCK"):
        monkeypatch.setattr(policy, name, 3)


def matrix(shape: tuple[int, ...], dtype: type = np.float64) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def close(got: Array, expected: Array, size: float = 1) -> None:
    """Compare within some roundings of a size, times the length."""
    assert got.shape == expected.shape
    if expected.size:
        allowed = 40 * np.finfo(got.dtype).eps * max(expected.shape, default=1) * size
        assert float(np.abs(got - expected).max()) <= allowed


def check(a: Array) -> None:
    """Check what is made of reflections and of elimination, against float64."""
    x, (m, n) = tw.asarray(a), a.shape[-2:]
    for mode in ("reduced", "complete"):
        q, r = (part.numpy() for part in tw.linalg.qr(x, mode=mode))  # type: ignore[arg-type]
        expected = np.linalg.qr(a, mode)  # type: ignore[call-overload]
        assert (q.shape, r.shape) == tuple(part.shape for part in expected)
        close(q @ r, a, 4)
        close(q.mT @ q, np.broadcast_to(np.eye(q.shape[-1]), (q.mT @ q).shape))
        assert not np.tril(r, -1).any()
    if m != n:
        check_values(a)
        return
    size = float(np.linalg.cond(a).max(initial=1))
    sign, logarithm = tw.linalg.slogdet(x)
    wanted_sign, wanted_logarithm = np.linalg.slogdet(a.astype(np.float64))
    assert np.array_equal(sign.numpy(), wanted_sign)
    close(logarithm.numpy(), wanted_logarithm, size)
    close(tw.linalg.inv(x).numpy(), np.linalg.inv(a.astype(np.float64)), size**2)
    b = matrix((*a.shape[:-1], 5), a.dtype.type)
    close(a @ tw.linalg.solve(x, tw.asarray(b)).numpy(), b, size)
    definite = a @ a.mT + n * np.eye(n, dtype=a.dtype)
    lower = tw.linalg.cholesky(tw.asarray(definite)).numpy()
    close(lower @ lower.mT, definite, 4 * n)
    assert not np.triu(lower, 1).any()


def check_values(a: Array) -> None:
    """Check what is made of the singular values of R, where A is tall."""
    u, s, v = (part.numpy() for part in tw.linalg.svd(tw.asarray(a)))
    k, size = s.shape[-1], 4 * float(np.abs(a).max(initial=1))
    close((u[..., :k] * s[..., None, :]) @ v[..., :k, :], a, size)
    close(s, np.linalg.svd(a, compute_uv=False), 4 * size)
    for rows in (u.mT, v):
        close(rows @ rows.mT, np.broadcast_to(np.eye(rows.shape[-1]), rows.shape))


def test_halves_give_the_matrix_back(small_blocks: None) -> None:
    for shape in SHAPES:
        check(matrix(shape))


def test_products_do_most_of_the_work(webgpu: str) -> None:
    a = matrix((2, 150, 140), np.float32)
    square, x = tw.asarray(a[:, :140]), tw.asarray(a)
    with tw.record_kernels() as kernels:
        sign, logarithm = tw.linalg.slogdet(square)
        logarithm.numpy()
    kinds = Counter(kernel.kind for kernel in kernels)
    # A real GPU has a kernel of its own for tall panels.
    assert (kinds["lu"] + kinds["lu_panel"], kinds["triangular_solve"]) == (3, 3)
    assert kinds["matmul"] >= 2
    assert len(kernels) < 20
    expected = np.linalg.slogdet(a[:, :140].astype(np.float64))
    assert logarithm.tolist() == pytest.approx(expected.logabsdet, rel=2e-6)
    assert np.array_equal(sign.numpy(), expected.sign)
    with tw.record_kernels() as kernels:
        q, r = (part.numpy() for part in tw.linalg.qr(x))
    kinds = Counter(kernel.kind for kernel in kernels)
    assert kinds["qr"] == 3
    assert kinds["matmul"] >= 9
    assert len(kernels) < 50
    close(q @ r, a, 4)
    assert "matmul" not in str(tw.explain(tw.linalg.det(square[:, :128, :128])))


def test_numpy_takes_matrices_apart_by_itself(cpu: str) -> None:
    x = tw.asarray(matrix((140, 140)))
    for found in (tw.linalg.qr(x).R, tw.linalg.cholesky(x @ x.mT)):
        assert str(tw.explain(found)).count("triangular_solve") == 0


def test_bad_matrices_are_named_and_others_are_right(small_blocks: None) -> None:
    stack = matrix((3, 20, 20))
    stack[1, :, 11] = 2 * stack[1, :, 3]
    stack[1] = np.round(8 * stack[1])
    stack[1, :, 15] = 0
    stack[2, 17, 2] = np.nan
    x = tw.asarray(stack)
    with pytest.raises(tw.LinAlgError, match="inv: matrix 1 of the stack"):
        tw.linalg.inv(x).numpy()
    found = tw.linalg.det(x).numpy()
    assert found[0] == pytest.approx(np.linalg.det(stack[0]))
    assert found[1] == 0
    assert np.isnan(found[2])
    q, r = (part.numpy() for part in tw.linalg.qr(x))
    close(q[:2] @ r[:2], stack[:2], 40)
    assert np.isnan(q[2]).any()
    assert np.isnan(r[2]).any()
    low = stack[:, :, :4].copy()
    low[0, :, 3] = low[0, :, 1]
    assert tw.linalg.matrix_rank(tw.asarray(low[:2])).tolist() == [3, 4]
    check_values(low[:2] * 1e200)
    with pytest.raises(tw.LinAlgError, match="svd: matrix 2 of the stack"):
        tw.linalg.svd(tw.asarray(low)).Vh.numpy()
    eye = np.eye(20)
    with pytest.raises(tw.LinAlgError, match="cholesky: matrix 1 of the stack"):
        tw.linalg.cholesky(tw.asarray(np.stack([eye, -eye]))).numpy()


def test_halves_have_the_derivatives_of_the_whole(small_blocks: None) -> None:
    wide, tall = tw.asarray(matrix((6, 7))), tw.asarray(matrix((6, 3)))
    tw.check_grads(
        lambda x: (tw.linalg.slogdet(x[:, 1:]).logabsdet, *tw.linalg.qr(x)), (wide,)
    )
    tw.check_grads(lambda x: tw.abs(tw.linalg.svd(x, full_matrices=False).U), (tall,))
    low = tw.concat([tall[:, :2], 0 * tall[:, :1]], axis=1)
    u, _, v = np.linalg.svd(low.numpy())
    gradient = tw.grad(lambda x: tw.linalg.svdvals(x)[0])(low).numpy()
    close(gradient, u[:, :1] @ v[:1])  # R has no inverse here, and needs none
    stack = tw.asarray(matrix((2, 6, 6)))

    def slope_of(x: tw.Tensor) -> tw.Tensor:
        return tw.grad(lambda x: (tw.linalg.inv(x) ** 2).sum())(x)

    inverse = np.linalg.inv(stack.numpy())
    expected = -2 * inverse.mT @ inverse @ inverse.mT
    assert np.allclose(tw.jit(tw.vmap(slope_of))(stack).numpy(), expected, rtol=1e-8)
    with pytest.raises(tw.TransformError, match="complete"):
        tw.grad(lambda x: tw.linalg.qr(x, mode="complete").Q.sum())(wide.mT)


@pytest.mark.parametrize(
    "name",
    [
        *("random", "equal", "four values", "zero", "diagonal", "stack", "single"),
        *("tiny", "huge"),
    ],
)
def test_eigenvalues_by_blocks(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(wasm, "largest_triangle", 5)
    monkeypatch.setattr(policy, "EIGH_BLOCK", 3)
    basis = np.linalg.qr(matrix((17, 17)))[0]
    square = {
        "random": matrix((19, 19)),
        "equal": np.ones((8, 8)),
        "four values": (basis * (np.arange(17) % 4)) @ basis.T,
        "zero": np.zeros((7, 7)),
        "tiny": 1e-200 * np.eye(13),
        "huge": 1e200 * np.ones((7, 7)),
        "diagonal": np.diag(np.arange(9.0, 0, -1)),
        "stack": matrix((2, 3, 13, 13)),
        "single": matrix((24, 24), np.float32),
    }[name]
    a = square + square.mT
    values, vectors = (part.numpy() for part in tw.linalg.eigh(tw.asarray(a)))
    size = float(np.abs(a).max())
    close(values, np.linalg.eigvalsh(a), size)
    assert (np.diff(values) >= 0).all()
    close(a @ vectors, vectors * values[..., None, :], size)
    close(vectors.mT @ vectors, np.broadcast_to(np.eye(a.shape[-1]), a.shape))
    below = tw.asarray(np.tril(square))
    close(tw.linalg.eigvalsh(below).numpy(), np.linalg.eigvalsh(np.tril(square)), size)


def test_derivatives_of_eigenvalues_by_blocks(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = tw.asarray(matrix((9, 9)))
    weight = tw.asarray(matrix((9, 9))[0])

    def loss(x: tw.Tensor) -> tw.Tensor:
        values, vectors = tw.linalg.eigh(x + x.mT)
        return (values * weight).sum() + (vectors**2 * weight).sum()

    expected = tw.grad(loss)(a).numpy()
    monkeypatch.setattr(wasm, "largest_triangle", 5)
    monkeypatch.setattr(policy, "EIGH_BLOCK", 3)
    close(tw.grad(loss)(a).numpy(), expected, 100)


def test_eigenvalues_of_a_matrix_too_large_for_a_workgroup(webgpu: str) -> None:
    square = matrix((130, 130), np.float32)
    a = square + square.T
    values, vectors = (
        part.numpy() for part in tw.linalg.eigh(tw.asarray(a, device=webgpu))
    )
    size = float(np.abs(values).max())
    close(values, np.linalg.eigvalsh(a.astype(np.float64)), size / 40)
    close(a @ vectors, vectors * values, size / 40)
    close(vectors.T @ vectors, np.eye(130), 1 / 40)
