"""Sparse matrices compute what their dense tensors do, with derivatives by values."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.errors import DTypeError, ShapeError
from tensorweb.sparse import COO
from tensorweb.tensor import Tensor

# The element in row 0 and column 1 is stored twice, row 2 and column 3 are empty.
ROW, COL = [0, 0, 3, 1, 3], [1, 1, 0, 4, 2]
VALUES = [1.0, 2.0, -3.0, 0.5, 4.0]
SHAPE = (4, 5)


def made(device: str) -> COO:
    return COO(tw.asarray(VALUES, device=device), ROW, COL, SHAPE)


def test_products_are_those_of_the_dense_matrix(device: str) -> None:
    matrix, dense = made(device), made(device).to_dense()
    assert dense[0].tolist() == [0, 3, 0, 0, 0]
    x = tw.linspace(-1.0, 2.0, 15, device=device).reshape((5, 3))
    for found, expected in (
        (matrix @ x, dense @ x),
        (matrix @ x[:, 0], dense @ x[:, 0]),
        (x[:4].T @ matrix, x[:4].T @ dense),
        (x[:4, 0] @ matrix, x[:4, 0] @ dense),
        (matrix.T.to_dense(), dense.T),
        ((matrix + matrix).to_dense(), 2 * dense),
        ((3 * matrix).to_dense(), 3 * dense),
        ((-matrix).to_dense(), -dense),
        ((3 * matrix - matrix).to_dense(), 2 * dense),
        ((matrix / 2).to_dense(), dense / 2),
        ((matrix * x[:, 0]).to_dense(), dense * x[:, 0]),
        (COO.from_dense(dense).to_dense(), dense),
    ):
        assert isinstance(found, Tensor)
        assert found.shape == expected.shape
        assert found.reshape(-1).tolist() == pytest.approx(
            expected.reshape(-1).tolist()
        )
    assert COO.from_dense(dense).nse == 4


def test_derivatives_are_those_by_the_values(device: str) -> None:
    x = tw.linspace(-1.0, 2.0, 15, device=device).reshape((5, 3))

    def loss(matrix: COO, x: Tensor) -> Tensor:
        return ((matrix @ x) ** 2).sum()

    step = tw.jit(tw.grad(loss, argnums=(0, 1)))
    by_matrix, by_x = step(made(device), x)
    dense = made(device).to_dense()
    by_dense, expected = tw.grad(
        lambda dense, x: ((dense @ x) ** 2).sum(), argnums=(0, 1)
    )(dense, x)
    assert by_matrix.data.tolist() == pytest.approx(by_dense[ROW, COL].tolist())
    assert by_x.reshape(-1).tolist() == pytest.approx(expected.reshape(-1).tolist())


def test_what_does_not_fit_is_refused(cpu: str) -> None:
    matrix = made(cpu)
    with pytest.raises(ShapeError, match="three vectors of one length"):
        COO([1.0], [0, 1], [0, 1], SHAPE)
    with pytest.raises(DTypeError, match="row is float32"):
        COO([1.0], [0.5], [0], SHAPE)
    with pytest.raises(ShapeError, match=r"\(4, 5\) @ \(4,\)"):
        matrix @ tw.ones(4)
    with pytest.raises(DTypeError, match=r"b\.to_dense\(\)"):
        matrix @ matrix.T  # type: ignore[operator]  # refused
    with pytest.raises(ShapeError, match="the shapes are"):
        matrix + matrix.T
    with pytest.raises(DTypeError, match="x is dense"):
        matrix + 1.0  # type: ignore[operator]  # refused


def test_means_and_weights_of_segments(device: str) -> None:
    ids = [1, 0, 1, 3]
    x = tw.asarray([[1.0, -500], [2.0, -1.0], [3.0, -498], [0.0, 0.0]], device=device)
    assert tw.segment_mean(x, ids).tolist() == [[2, -1], [2, -499], [0, 0], [0, 0]]
    weights = tw.segment_softmax(x, ids, 4)
    pair = tw.nn.softmax(tw.stack([x[0], x[2]]), axis=0)
    assert weights[0].tolist() == pytest.approx(pair[0].tolist())
    assert weights[1].tolist() == [1, 1]

    def loss(x: Tensor) -> Tensor:
        return (tw.segment_softmax(x, ids, 4) * tw.arange(8).reshape((4, 2))).sum()

    def dense(x: Tensor) -> Tensor:
        pair = tw.nn.softmax(tw.stack([x[0], x[2]]), axis=0)
        return (pair * tw.asarray([[0, 1], [4, 5]])).sum()

    found, expected = tw.grad(loss)(x), tw.grad(dense)(x)
    assert found.tolist() == [pytest.approx(row, abs=1e-6) for row in expected.tolist()]
    assert tw.segment_mean([1, 2], [0, 0]).tolist() == [1.5]
    with pytest.raises(DTypeError, match="logits are int32"):
        tw.segment_softmax([1, 2], [0, 0])
