"""SciPy's functions of triangles, factors and structured matrices, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw

TRIANGLES = (
    *((1, True, 0, False), (2, False, "T", False), (5, True, "T", True)),
    *((5, False, 0, True), (33, True, 0, False), (130, False, "T", False)),
)
"""Lengths, whether lower, transposed, with a unit diagonal: each pair is in some."""


def matrix(*shape: int, seed: int = 0) -> Any:
    drawn = np.random.default_rng(seed).standard_normal(shape)
    return drawn.astype("float32")


def triangle(n: int, batch: tuple[int, ...] = ()) -> Any:
    """A well-conditioned matrix whose other triangle must not be read."""
    return matrix(*batch, n, n) * (0.5 / n) + np.eye(n, dtype="float32") * 2


@pytest.mark.parametrize(("n", "lower", "trans", "unit"), TRIANGLES)
def test_triangles_are_solved(
    device: str, n: int, lower: bool, trans: Any, unit: bool
) -> None:
    with tw.device(device):
        a, b = triangle(n, (2, 1)), matrix(3, n, 4, seed=1)
        found = tw.linalg.solve_triangular(
            tw.asarray(a), tw.asarray(b), trans, lower, unit
        )
        exact = (np.tril if lower else np.triu)(a.astype("float64"))
        if unit:
            exact[..., np.arange(n), np.arange(n)] = 1
        exact = exact.swapaxes(-1, -2) if trans else exact
        expected = np.linalg.solve(exact, b.astype("float64"))
        assert found.shape == (2, 3, n, 4)
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=2e-5)
        one = tw.linalg.solve_triangular(
            tw.asarray(a[0, 0]), tw.asarray(b[0, :, 0]), trans, lower, unit
        )
        np.testing.assert_allclose(one.numpy(), expected[0, 0, :, 0], 2e-5, 2e-5)


@pytest.mark.parametrize("lower", [False, True])
def test_a_cholesky_factor_solves(device: str, lower: bool) -> None:
    with tw.device(device):
        half = matrix(3, 7, 7)
        a = half @ half.swapaxes(-1, -2) + 7 * np.eye(7, dtype="float32")
        b = matrix(3, 7, 2, seed=2)
        factor = tw.linalg.cho_factor(tw.asarray(a), lower)
        found = tw.linalg.cho_solve(factor, tw.asarray(b))
        expected = np.linalg.solve(a.astype("float64"), b.astype("float64"))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 5, 3), (3, 3, 7), (70, 70)])
def test_lu_factors_give_the_matrix_back(device: str, shape: tuple[int, ...]) -> None:
    with tw.device(device):
        a = matrix(*shape)
        p, lower, upper = (x.numpy() for x in tw.linalg.lu(tw.asarray(a)))
        np.testing.assert_allclose(p @ lower @ upper, a, rtol=1e-4, atol=1e-5)
        size = min(shape[-2:])
        assert p.shape == (*shape[:-1], shape[-2])
        assert (p.sum(axis=-1) == 1).all()
        assert (p.sum(axis=-2) == 1).all()
        assert (lower == np.tril(lower)).all()
        assert (np.diagonal(lower, axis1=-2, axis2=-1) == 1).all()
        assert lower.shape[-1] == upper.shape[-2] == size
        assert (upper == np.triu(upper)).all()
        assert (np.abs(lower) <= 1).all()


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.5, 3.0, 30.0])
def test_expm_is_the_exponential(device: str, scale: float) -> None:
    with tw.device(device):
        half = matrix(2, 5, 5)
        a = (half - half.swapaxes(-1, -2)) * np.float32(scale)  # a rotation: bounded
        values, vectors = np.linalg.eig(a.astype("float64"))
        exact = vectors * np.exp(values)[:, None, :] @ np.linalg.inv(vectors)
        found = tw.linalg.expm(tw.asarray(a)).numpy()
        np.testing.assert_allclose(found, exact.real, rtol=0, atol=1e-5 * (1 + scale))


@tw.device("cpu")
def test_expm_of_float64_and_complex() -> None:
    a = tw.asarray([[0.0, -2.5], [2.5, 0.0]], "float64")
    exact = [[np.cos(2.5), -np.sin(2.5)], [np.sin(2.5), np.cos(2.5)]]
    np.testing.assert_allclose(tw.linalg.expm(a).numpy(), exact, rtol=1e-14)
    found = tw.linalg.expm(tw.asarray([[2.5j]])).item()
    assert abs(found - np.exp(2.5j)) < 1e-6
    assert np.isnan(tw.linalg.expm([[1e9]]).item())
    assert tw.linalg.expm(tw.zeros((3, 0, 0))).shape == (3, 0, 0)


def test_structured_matrices(device: str) -> None:
    with tw.device(device):
        blocks = [[[1, 2], [3, 4]], [5, 6], 7]
        assert tw.linalg.block_diag(*blocks).tolist() == [
            [1, 2, 0, 0, 0],
            [3, 4, 0, 0, 0],
            [0, 0, 5, 6, 0],
            [0, 0, 0, 0, 7],
        ]
        assert tw.linalg.block_diag().shape == (1, 0)
        assert tw.linalg.toeplitz([1, 2, 3]).tolist() == [
            [1, 2, 3],
            [2, 1, 2],
            [3, 2, 1],
        ]
        assert tw.linalg.toeplitz([1, 2], [9, 4, 5]).tolist() == [[1, 4, 5], [2, 1, 4]]
        assert tw.linalg.toeplitz([1j, 2])[0, 0].item() == 1j
        assert tw.linalg.toeplitz([1, 2j])[0, 1].item() == -2j


@tw.device("cpu")
def test_derivatives_agree_with_differences() -> None:
    a, b = tw.asarray(triangle(4), "float64"), tw.asarray(matrix(4, 2), "float64")
    tw.check_grads(lambda a, b: tw.linalg.solve_triangular(a, b, 1, False), [a, b])
    tw.check_grads(lambda a, b: tw.linalg.solve_triangular(a, b, 1, True), [a, b])
    tw.check_grads(lambda a: tw.linalg.lu(a)[2], [a])
    tw.check_grads(lambda a: tw.linalg.expm(a * 3), [a])
    tw.check_grads(tw.linalg.toeplitz, [b[:, 0], b[:, 1]])
    tw.check_grads(lambda a, b: tw.linalg.block_diag(a, b), [a, b])
    both = tw.vmap(lambda a: tw.linalg.expm(a))(tw.stack([a, -a]))
    np.testing.assert_allclose((both[0] @ both[1]).numpy(), np.eye(4), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda d: d.solve_triangular(tw.ones((2, 3)), [1.0]), tw.ShapeError, "square"),
        (lambda d: d.solve_triangular(tw.eye(2), tw.ones(3)), tw.ShapeError, "2 rows"),
        (lambda d: d.solve_triangular(tw.eye(2), [1.0, 2.0], 5), tw.DataError, "trans"),
        (lambda d: d.solve_triangular([[1j]], [1.0]), tw.DTypeError, "linalg.solve"),
        (
            lambda d: d.solve_triangular([[1.0, 2.0], [0.0, 0.0]], [1.0, 2.0]).tolist(),
            tw.LinAlgError,
            "diagonal has a zero",
        ),
        (lambda d: d.lu([[1j]]), tw.DTypeError, "qr"),
        (lambda d: d.block_diag(tw.ones((1, 1, 1))), tw.ShapeError, "two axes"),
        (lambda d: d.toeplitz(tw.ones((1, 1))), tw.ShapeError, "vectors"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(tw.linalg)
