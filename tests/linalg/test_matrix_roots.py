"""Square roots of matrices: their squares, singular ones, and derivatives."""

from __future__ import annotations

import pytest

import tensorweb as tw


def test_the_square_of_a_root_is_the_matrix(device: str) -> None:
    with tw.device(device):
        x = tw.random.normal(tw.random.key(3), (2, 4, 4))
        root = tw.linalg.sqrtm(x)
        assert tw.abs(root @ root - x).max().item() < 1e-4
        values = tw.linalg.eigvals(root)
        assert bool((tw.real(values) > -1e-4).all())  # the principal root


def test_roots_of_singular_and_triangular_matrices(cpu: str) -> None:
    ones = tw.linalg.sqrtm(tw.ones((2, 2), dtype="float64"))
    assert tw.abs(ones - 0.5**0.5).max().item() < 1e-7
    corner = tw.linalg.sqrtm(tw.asarray([[1.0, 1.0], [0.0, 1.0]], "float64"))
    assert tw.abs(corner - tw.asarray([[1.0, 0.5], [0.0, 1.0]])).max().item() < 1e-12
    assert tw.linalg.sqrtm(tw.zeros((0, 0))).shape == (0, 0)
    with pytest.raises(tw.ShapeError, match="square"):
        tw.linalg.sqrtm(tw.ones((2, 3)))


def test_a_root_has_its_derivative(cpu: str) -> None:
    x = tw.random.normal(tw.random.key(3), (3, 3), "float64") + 3 * tw.eye(
        3, dtype="float64"
    )
    tw.check_grads(lambda x: tw.real(tw.linalg.sqrtm(x)), (x,))
    trace = tw.grad(lambda x: tw.real(tw.linalg.trace(tw.linalg.sqrtm(x))))(x)
    expected = 0.5 * tw.linalg.inv(tw.real(tw.linalg.sqrtm(x))).mT
    assert tw.abs(trace - expected).max().item() < 1e-10


def test_least_squares_and_norms_are_numpy_s(cpu: str) -> None:
    assert tw.numpy.linalg.lstsq is tw.linalg.lstsq
    assert tw.numpy.linalg.norm is tw.linalg.norm
    line = tw.stack([tw.arange(4.0), tw.ones(4)], axis=1)
    solution, residuals, rank, _ = tw.linalg.lstsq(line, [-1.0, 1.0, 3.0, 6.0])
    assert solution.tolist() == pytest.approx([2.3, -1.2], abs=1e-5)
    assert (residuals.tolist(), rank) == (pytest.approx([0.3], abs=1e-5), 2)
    assert tw.linalg.norm([3, 4]).item() == 5.0
