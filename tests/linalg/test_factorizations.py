"""Factorizations and what follows from them: residuals, bad input and derivatives.

Every device makes the factors themselves again what they were made of; `wasm` is
device `cpu` as it is in a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.wasm import WasmBackend

Array = np.ndarray[Any, Any]

SHAPES = ((1, 1), (2, 2), (2, 3, 4, 4), (33, 33), (5, 3), (2, 3, 7))
"""Single ones and stacks; 33 is no multiple of a tile or team."""


def matrix(shape: tuple[int, ...], dtype: type = np.float32) -> Array:
    random = np.random.default_rng(sum(shape))
    return random.standard_normal(shape).astype(dtype)


def close(got: Array, expected: Array, factor: float = 40) -> None:
    """Compare within some roundings of the largest number, times the length."""
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if expected.size:
        eps = np.finfo(expected.dtype).eps * max(expected.shape, default=1)
        size = max(float(np.abs(expected).max()), 1.0)
        assert float(np.abs(got - expected).max()) <= factor * eps * size


def check(a: Array) -> None:
    """Check every factorization of a stack of matrices."""
    x, (m, n) = tw.asarray(a), a.shape[-2:]
    k = min(m, n)
    for is_full, mode in ((False, "reduced"), (True, "complete")):
        q, r = (part.numpy() for part in tw.linalg.qr(x, mode=mode))  # type: ignore[arg-type]
        close(q @ r, a)
        close(
            q.mT @ q,
            np.broadcast_to(np.eye(q.shape[-1], dtype=a.dtype), (q.mT @ q).shape),
        )
        assert not np.tril(r, -1).any()
        u, s, v = (part.numpy() for part in tw.linalg.svd(x, full_matrices=is_full))
        close((u[..., :k] * s[..., None, :]) @ v[..., :k, :], a)
        close(s, np.linalg.svd(a, compute_uv=False))
        for rows in (u.mT, v):
            product = rows @ rows.mT
            close(
                product,
                np.broadcast_to(np.eye(rows.shape[-2], dtype=a.dtype), product.shape),
            )
    close(
        tw.linalg.pinv(x).numpy() @ a @ tw.linalg.pinv(x).numpy(),
        np.linalg.pinv(a),
        400,
    )
    assert np.array_equal(tw.linalg.matrix_rank(x).numpy(), np.linalg.matrix_rank(a))
    if m == n:
        check_square(a)


def check_square(a: Array) -> None:
    n, x = a.shape[-1], tw.asarray(a)
    eye = np.eye(n, dtype=a.dtype)
    definite = a @ a.mT + n * eye
    lower = tw.linalg.cholesky(tw.asarray(definite)).numpy()
    close(lower @ lower.mT, definite)
    assert not np.triu(lower, 1).any()
    upper = tw.linalg.cholesky(tw.asarray(definite), upper=True).numpy()
    close(upper, lower.mT)
    shifted = a + 2 * n * eye
    b = matrix((*a.shape[:-1], 70), a.dtype.type)
    close(shifted @ tw.linalg.solve(tw.asarray(shifted), tw.asarray(b)).numpy(), b)
    one = tw.linalg.solve(tw.asarray(shifted), tw.asarray(eye[0])).numpy()
    close(one, np.linalg.solve(shifted, eye[0][:, None])[..., 0])
    close(tw.linalg.inv(tw.asarray(shifted)).numpy(), np.linalg.inv(shifted))
    sign, logarithm = tw.linalg.slogdet(x)
    expected = np.linalg.slogdet(a)
    assert np.array_equal(sign.numpy(), expected[0])
    close(logarithm.numpy(), expected[1])
    close(tw.linalg.det(x / n).numpy(), np.linalg.det(a / n), 400)
    symmetric = a + a.mT
    values, vectors = (part.numpy() for part in tw.linalg.eigh(tw.asarray(symmetric)))
    close(values, np.linalg.eigvalsh(symmetric))
    close((vectors * values[..., None, :]) @ vectors.mT, symmetric)
    close(vectors.mT @ vectors, np.broadcast_to(eye, a.shape))


def test_factors_give_the_matrix_back(device: str) -> None:
    for shape in SHAPES if device == "cpu" else SHAPES[2:4]:
        check(matrix(shape))


def test_factors_in_a_page(wasm: WasmBackend) -> None:
    for shape in SHAPES:
        check(matrix(shape))
        check(matrix(shape, np.float64))
    large = matrix((90, 90), np.float64)
    check_square(large)


def test_matrices_that_launches_share(webgpu: str) -> None:
    """What takes many steps goes on in further launches."""
    symmetric = matrix((80, 80)) + matrix((80, 80)).mT
    with tw.record_kernels() as kernels:
        values = tw.linalg.eigvalsh(tw.asarray(symmetric)).numpy()
    close(values, np.linalg.eigvalsh(symmetric))
    assert [kernel.kind for kernel in kernels].count("eigh") > 1


def test_every_matrix_has_its_eigenvalues(webgpu: str) -> None:
    """Rounding below Hessenberg's form once kept number 36 from converging."""
    a = np.random.default_rng(1).standard_normal((1000, 16, 16))[800:864]
    values = tw.linalg.eigvals(tw.asarray(a.astype(np.float32))).numpy()
    size = np.linalg.norm(a, axis=(1, 2))
    for power in (1, 2, 3):
        expected = np.linalg.matrix_power(a, power).trace(axis1=1, axis2=2)
        error = np.abs((values**power).sum(axis=1) - expected) / size**power
        assert error.max() < 40 * 16 * np.finfo(np.float32).eps


def test_small_matrices_have_small_workgroups(webgpu: str) -> None:
    for n, threads in ((16, 32), (17, 256)):
        text = str(tw.explain(tw.linalg.cholesky(tw.eye(n))))
        assert f"LANES: u32 = {threads}u" in text


def test_ranks_and_bad_scales(device: str) -> None:
    low = matrix((6, 2)) @ matrix((2, 5))
    for a in (low, np.ones((4, 4)), np.zeros((3, 2)), 1e25 * low, 1e-25 * low):
        single = a.astype(np.float32)
        u, s, v = (x.numpy() for x in tw.linalg.svd(tw.asarray(single)))
        k, size = s.shape[-1], max(np.abs(single).max(), np.float32(1e-30))
        close((u[:, :k] * (s / size)) @ v[:k], single / size)
        close(u.T @ u, np.eye(len(u), dtype=np.float32))
    assert tw.linalg.matrix_rank(tw.asarray(low)).item() == 2
    assert tw.linalg.matrix_norm(tw.ones((2, 3)), ord="nuc").item() == pytest.approx(
        6**0.5
    )
    assert tw.linalg.matrix_norm(tw.ones((2, 3)), ord=-2).item() == pytest.approx(
        0, abs=1e-6
    )


def test_nothing_has_factors_too(device: str) -> None:
    for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
        x = tw.zeros(shape)
        assert tw.linalg.inv(x).shape == tw.linalg.cholesky(x).shape == shape
        assert tw.linalg.eigh(x).eigenvectors.shape == shape
        assert tw.linalg.det(x).tolist() == np.linalg.det(np.zeros(shape)).tolist()
    for shape in ((0, 3), (2, 3, 0)):
        u, _, v = np.linalg.svd(np.zeros(shape))
        found = tw.linalg.svd(tw.zeros(shape))
        assert np.array_equal(found.U.numpy(), u)
        assert np.array_equal(found.Vh.numpy(), v)
        assert tw.linalg.pinv(tw.zeros(shape)).shape == (*shape[:-2], *shape[:-3:-1])
        assert not tw.linalg.matrix_rank(tw.zeros(shape)).numpy().any()


def test_the_rank_of_nothing_is_on_its_device(webgpu: str) -> None:
    x = tw.zeros((3, 0))
    with devices.device("cpu"):
        assert tw.linalg.matrix_rank(x).device == webgpu


BAD: dict[str, tuple[Callable[[tw.Tensor], Any], float]] = {
    "inv": (tw.linalg.inv, 1),
    "solve": (lambda x: tw.linalg.solve(x, tw.ones((3, 2))), 1),
    "cholesky": (tw.linalg.cholesky, -1),
    "eigh": (lambda x: tw.linalg.eigh(x).eigenvectors.sum(), np.nan),
    "eigvals": (lambda x: tw.abs(tw.linalg.eigvals(x)), np.nan),
    "svdvals": (tw.linalg.svdvals, np.inf),
    "pinv": (tw.linalg.pinv, np.nan),
}
"""By name: the function, and the number that makes a matrix bad everywhere."""


@pytest.mark.parametrize("name", BAD)
def test_a_bad_matrix_is_named_when_something_of_it_is_read(
    name: str, device: str
) -> None:
    function, number = BAD[name]
    stack = np.broadcast_to(np.eye(3, dtype=np.float32), (2, 2, 3, 3)).copy()
    stack[1, 0] = number
    found = function(tw.asarray(stack))
    other = tw.ones(3) + 1
    assert other.tolist() == [2, 2, 2]
    with pytest.raises(tw.LinAlgError, match=rf"{name}: matrix \(1, 0\) of the stack"):
        (found + 1).numpy()
    with pytest.raises(ValueError, match=rf"{name}: the matrix of shape \(3, 3\)"):
        function(tw.asarray(stack[1, 0])).numpy()
    fine = function(tw.asarray(stack[0])).numpy()
    assert np.isfinite(fine).all()


def test_shapes_and_dtypes_that_do_not_fit() -> None:
    with tw.device("cpu"):
        for function in (tw.linalg.inv, tw.linalg.det, tw.linalg.cholesky):
            with pytest.raises(tw.ShapeError, match="square"):
                function(tw.ones((2, 3)))
        with pytest.raises(tw.ShapeError, match="two axes"):
            tw.linalg.svd(tw.ones(3))
        with pytest.raises(tw.ShapeError, match="solve: shapes"):
            tw.linalg.solve(tw.ones((3, 3)), tw.ones(4))
        with pytest.raises(tw.DataError, match="mode"):
            tw.linalg.qr(tw.ones((2, 2)), mode="full")  # type: ignore[arg-type]
        assert tw.linalg.inv(tw.asarray([[2, 0], [0, 4]])).dtype is tw.float32
        half = tw.linalg.inv(2 * tw.eye(3, dtype=tw.float16))
        assert half.dtype is tw.float16
        assert half.tolist() == (np.eye(3) / 2).tolist()


STACK = np.stack([matrix((9, 9)), np.eye(9, k=1), np.ones((9, 9))])
"""Any matrix, one that lacks vectors, and one that has one value many times."""


def check_eigenvalues(dtype: type, stored: type, *others: Array) -> None:
    for a in (STACK, *others):
        x = tw.asarray(a.astype(dtype))
        values, vectors = (part.numpy() for part in tw.linalg.eig(x))
        assert values.dtype == vectors.dtype == stored
        size = max(float(np.abs(a).max()), 1)
        close(x.numpy() / size @ vectors, vectors * (values / size)[..., None, :], 100)
        close((np.abs(vectors) ** 2).sum(-2), np.ones(values.shape, x.numpy().dtype))
    assert tw.linalg.eigvals(tw.zeros((2, 0, 0))).shape == (2, 0)
    close(tw.linalg.eigvals(tw.zeros((2, 2))).numpy(), np.zeros(2, np.complex64))


def test_eigenvalues_of_any_matrix(device: str) -> None:
    others = (matrix((2, 2)), np.full((1, 1), 1e25)) if device == "cpu" else ()
    check_eigenvalues(np.float32, np.complex64, *others)


def test_eigenvalues_in_a_page(wasm: WasmBackend) -> None:
    check_eigenvalues(np.float64, np.complex128, matrix((33, 33)))


def exponential(x: tw.Tensor) -> tw.Tensor:
    """Return exp of the symmetric part, a function of the whole matrix."""
    values, vectors = tw.linalg.eigh((x + x.mT) / 2)
    return vectors * tw.exp(values)[..., None, :] @ vectors.mT


DIFFERENTIATED: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "lower": (
        lambda x: tw.linalg.cholesky(x @ x.mT + tw.eye(3, dtype=x.dtype)),
        (3, 3),
    ),
    "det": (tw.linalg.det, (2, 3, 3)),
    "slogdet": (lambda x: tw.linalg.slogdet(x).logabsdet, (3, 3)),
    "solve": (lambda x: tw.linalg.solve(x, x[..., 0]), (3, 3)),
    "wide QR": (lambda x: tuple(tw.linalg.qr(x)), (2, 4)),
    "tall QR": (lambda x: tuple(tw.linalg.qr(x)), (4, 2)),
    "eigenvectors": (lambda x: tw.abs(tw.linalg.eigh(x + x.mT).eigenvectors), (3, 3)),
    "exponential": (exponential, (3, 3)),
    "U": (lambda x: tw.abs(tw.linalg.svd(x, full_matrices=False).U), (4, 3)),
    "V": (lambda x: tw.abs(tw.linalg.svd(x).Vh), (3, 3)),
    "pinv": (tw.linalg.pinv, (4, 3)),
    "pinv of equal values": (
        lambda x: tw.linalg.pinv(x * 0 + tw.eye(3, 2, dtype=x.dtype) + 0.1 * x),
        (3, 2),
    ),
    "nuclear norm": (lambda x: tw.linalg.matrix_norm(x, ord="nuc"), (2, 3)),
}
"""Functions that do not depend on the choice of factors, and the argument's shape."""


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients_match_finite_differences(name: str) -> None:
    function, shape = DIFFERENTIATED[name]
    with tw.device("cpu"):
        x = tw.asarray(matrix(shape, np.float64))
        tw.check_grads(function, (x,))


def test_complete_factors_have_no_slope_and_say_so() -> None:
    with tw.device("cpu"), pytest.raises(tw.TransformError, match="complete"):
        tw.grad(lambda x: tw.linalg.qr(x, mode="complete").Q.sum())(tw.ones((3, 2)))


def test_batches_and_recordings(cpu: str) -> None:
    a = matrix((4, 3, 3)) + 4 * np.eye(3, dtype=np.float32)
    close(tw.vmap(tw.linalg.inv)(tw.asarray(a)).numpy(), np.linalg.inv(a))
    solve = tw.vmap(tw.linalg.solve, (None, 0))
    close(solve(tw.asarray(a[0]), tw.asarray(a)).numpy(), np.linalg.solve(a[0], a))
    recorded = tw.jit(lambda x: tw.linalg.inv(x) @ x)
    for each in a:
        close(recorded(tw.asarray(each)).numpy(), np.eye(3, dtype=np.float32))
