"""Complex matrices: factors, what follows from them, and derivatives.

`wasm` is device `cpu` as it is in a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.linalg import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    inv,
    matrix_norm,
    matrix_rank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svdvals,
)

Array = np.ndarray[Any, Any]

ALLOWED = 5
"""Units of the last place of the largest number, for each row or column and 1 more."""


def matrix(*shape: int) -> Array:
    random = np.random.default_rng(sum(shape))
    parts = random.standard_normal((2, *shape))
    return np.asarray(parts[0] + 1j * parts[1])


def with_singular_values(*values: float) -> Array:
    """Return a matrix of given singular values."""
    left, right = (
        np.linalg.qr(matrix(len(values), len(values), n)[..., 0])[0] for n in (1, 2)
    )
    return np.asarray(left * values @ right)


MATRICES: dict[str, Array] = {
    "a number": matrix(1, 1),
    "a column": matrix(5, 1),
    "a stack": matrix(2, 3, 4, 4),
    "tall": matrix(7, 3),
    "wide": matrix(2, 3, 7),
    "more than a team": matrix(35, 33),
    "of low rank": matrix(6, 2) @ matrix(2, 5),
    "ones": np.ones((4, 4)) * (1 + 1j),
    "zeros": np.zeros((3, 2), complex),
    "equal values": with_singular_values(3, 3, 3, 1, 1, 0),
    "unitary": with_singular_values(1, 1, 1, 1),
    "without vectors": np.eye(5, k=1) * 1j,
    "large": 1e25 * matrix(3, 2) @ matrix(2, 3),
    "small": 1e-25 * matrix(3, 2) @ matrix(2, 3),
}


def close(got: Array, expected: Array, size: float = 1) -> None:
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if expected.size:
        share = ALLOWED * np.finfo(expected.dtype).eps * (1 + max(expected.shape[-2:]))
        assert float(np.abs(got - expected).max()) <= share * size


def is_unitary(columns: Array) -> None:
    product = columns.conj().mT @ columns
    one = np.eye(columns.shape[-1], dtype=columns.dtype)
    close(product, np.broadcast_to(one, product.shape))


def check(a: Array) -> None:
    """Check factors of a stack, and what follows from them."""
    x, k = tw.asarray(a), min(a.shape[-2:])
    size = max(float(np.abs(a).max()), 1e-30)
    scaled = a / a.real.dtype.type(size)
    for is_full in (False, True):
        q, r = (p.numpy() for p in qr(x, mode="complete" if is_full else "reduced"))
        close(q @ (r / r.real.dtype.type(size)), scaled)
        is_unitary(q)
        assert not np.tril(r, -1).any()
        assert not np.diagonal(r, axis1=-2, axis2=-1).imag.any()
        u, s, v = (p.numpy() for p in svd(x, full_matrices=is_full))
        expected = np.linalg.svd(a, full_matrices=is_full)
        assert (u.shape, v.shape) == (expected[0].shape, expected[2].shape)
        close(
            u[..., :k] * (s / s.dtype.type(size))[..., None, :] @ v[..., :k, :], scaled
        )
        is_unitary(u)
        is_unitary(v.conj().mT)
        close(s, expected[1], size * max(a.shape[-2:]))
    assert np.array_equal(svdvals(x).numpy(), s)
    assert np.array_equal(matrix_rank(x).numpy(), np.linalg.matrix_rank(a))


def check_others(dtype: type) -> None:
    """Check what needs no table of matrices."""
    a = matrix(2, 4, 4).astype(dtype)
    x, tall = tw.asarray(a), tw.asarray(a[..., :3])
    close(inv(x).numpy() @ a, np.broadcast_to(np.eye(4, dtype=dtype), a.shape), 10)
    close(a @ solve(x, tall).numpy(), a[..., :3], 10)
    close(det(x).numpy(), np.linalg.det(a), 20)
    close(pinv(tall).numpy(), np.linalg.pinv(a[..., :3]), 10)
    for order in ("fro", "nuc", 2, -2):
        close(
            matrix_norm(x, ord=order).numpy(), np.linalg.matrix_norm(a, ord=order), 10
        )
    definite = a @ a.conj().mT + np.eye(4, dtype=dtype)
    lower = cholesky(tw.asarray(definite)).numpy()
    assert not np.any(np.diagonal(lower, axis1=-2, axis2=-1).imag)
    close(lower @ lower.conj().mT, definite, 20)
    for hermitian in (definite, definite * 0 + np.eye(4, dtype=dtype)):
        values, vectors = (p.numpy() for p in eigh(tw.asarray(hermitian)))
        close(values, np.linalg.eigvalsh(hermitian), 20)
        close(vectors * values[..., None, :] @ vectors.conj().mT, hermitian, 20)
        is_unitary(vectors)


def test_factors_of_complex_matrices(device: str) -> None:
    for name in MATRICES if device == "cpu" else ("a stack", "equal values"):
        check(MATRICES[name].astype(np.complex64))
    if device == "cpu":
        check_others(np.complex64)


def test_factors_of_complex_matrices_in_a_page(wasm: WasmBackend) -> None:
    for name, a in MATRICES.items():
        check(a.astype(np.complex64) if name in ("wide", "large", "small") else a)
    check_others(np.complex128)


def test_nothing_and_numbers_that_are_none(cpu: str) -> None:
    for shape in ((0, 0), (2, 0, 0), (0, 3, 3), (0, 3), (2, 3, 0)):
        x = tw.zeros(shape, dtype=tw.complex64)
        expected = np.linalg.svd(x.numpy()), np.linalg.qr(x.numpy(), "complete")
        for got, want in zip(
            (*svd(x), *qr(x, mode="complete")), sum(expected, ()), strict=True
        ):
            assert np.array_equal(got.numpy(), want)
            assert got.numpy().dtype == want.dtype
        if shape[-1] == shape[-2]:
            assert eigh(x).eigenvectors.shape == shape
            assert det(x).tolist() == np.linalg.det(x.numpy()).tolist()
    stack = np.broadcast_to(np.eye(3) * 1j, (2, 3, 3)).copy()
    stack[1, 0, 2] = np.nan
    for function in (svdvals, lambda x: svd(x).U, lambda x: eigh(x).eigenvectors):
        found = function(tw.asarray(stack))
        with pytest.raises(tw.LinAlgError, match="matrix 1 of the stack"):
            found.numpy()


def of_vectors(x: tw.Tensor) -> tw.Tensor:
    """Return a function of eigenvectors that is independent of their phases."""
    vectors = eig(x).eigenvectors
    return vectors[..., :, None, :] * vectors.conj()[..., None, :, :]


def exponential(x: tw.Tensor) -> tw.Tensor:
    values, vectors = eigh((x + x.mT.conj()) / 2)
    return vectors * tw.exp(values)[..., None, :] @ vectors.mT.conj()


def polar(x: tw.Tensor) -> tw.Tensor:
    found = svd(x, full_matrices=False)
    return found.U @ found.Vh


SLOPES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "wide QR": (lambda x: tuple(qr(x)), (2, 2, 4)),
    "tall QR": (lambda x: tuple(qr(x)), (4, 2)),
    "exponential": (exponential, (3, 3)),
    "eigenvectors": (lambda x: tw.abs(eigh(x + x.mT.conj())[1]), (3, 3)),
    "eigenvalues of any": (eigvals, (2, 3, 3)),
    "eigenvectors of any": (of_vectors, (3, 3)),
    "U": (lambda x: tw.abs(svd(x, full_matrices=False).U), (4, 3)),
    "unitary factor": (polar, (3, 4)),
    "nuclear norm": (lambda x: matrix_norm(x, ord="nuc"), (2, 3)),
    "pinv": (pinv, (3, 2)),
    "det and slogdet": (lambda x: (det(x), *slogdet(x)), (2, 3, 3)),
    "solve": (lambda x: solve(x, x[..., 0]), (2, 2)),
}
"""Functions that are independent of phases, and the shape of their argument."""


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_equal_differences(name: str, cpu: str) -> None:
    function, shape = SLOPES[name]
    tw.check_grads(function, [tw.asarray(matrix(*shape))])
    if name.endswith("of any"):
        tw.check_grads(function, [tw.asarray(matrix(*shape).real)])


def test_the_way_back_of_any_matrix(cpu: str) -> None:
    """A real loss by `grad`, `backward`, `vmap` and `jit`; and where vectors lack."""

    def loss(x: tw.Tensor) -> tw.Tensor:
        return ((tw.abs(eigvals(x)) ** 2).sum(-1) + tw.real(det(x))).sum()

    a = matrix(3, 2, 2)
    x = tw.asarray(a, requires_grad=True)
    loss(x).backward()
    gradient = tw.grad(loss)
    one = tw.vmap(tw.grad(lambda x: loss(x[None])))(x.detach())
    recorded = tw.jit(gradient)(x.detach())
    assert x.grad is not None
    for found in (gradient(x.detach()), one, recorded):
        assert tw.max(tw.abs(found - x.grad)) < 1e-12
    moved = 1e-6 * matrix(2, 3, 2).reshape(3, 2, 2)
    difference = loss(tw.asarray(a + moved)) - loss(tw.asarray(a - moved))
    along = (tw.real(x.grad * moved.conj())).sum() * 2
    assert abs(difference.item() - along.item()) < 1e-12
    lacking = tw.asarray([[1, 1], [0, 1]], dtype=tw.complex128)
    cofactors = tw.grad(lambda x: tw.real(det(x)))(lacking)
    assert cofactors.tolist() == [[1, 0], [-1, 1]]


def test_more_rows_than_iterations_of_a_loop(webgpu: str) -> None:
    tall = matrix(66_000, 2).astype(np.complex64)
    for a in (tall, tall.real.copy()):
        u, s, v = (part.numpy() for part in svd(tw.asarray(a), full_matrices=False))
        assert np.abs(u * s @ v - a).max() < 1e-4
        assert np.abs(u.conj().T @ u - np.eye(2)).max() < 1e-5
