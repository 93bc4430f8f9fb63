"""Recordings leave out what no call changes."""

from __future__ import annotations

import pytest

import tensorweb as tw

pytestmark = pytest.mark.usefixtures("webgpu")


def test_data_that_was_not_computed_yet_is_computed_once() -> None:
    drawn = tw.sin(tw.random.normal(tw.random.key(3), (40, 7))) @ tw.ones((7, 5)) + 1

    @tw.jit
    def loss(w: tw.Tensor) -> tw.Tensor:
        return ((drawn.T * 2 * w) ** 2).sum()

    w = tw.asarray([3.0] * 40)
    loss(w)
    with tw.record_kernels() as kernels:
        again = loss(w)
    assert [kernel.kind for kernel in kernels] == ["reduce"]
    assert again.item() == pytest.approx(((drawn.T * 6) ** 2).sum().item(), rel=1e-5)


def test_expressions_of_ramps_are_computed_in_kernels() -> None:
    @tw.jit
    def lower(x: tw.Tensor) -> tw.Tensor:
        index = tw.arange(x.shape[0])
        return tw.where(tw.expand_dims(index, 1) >= index, x, 0.0)

    x = tw.asarray([[1.0] * 5] * 5)
    lower(x)
    with tw.record_kernels() as kernels:
        result = lower(x)
    assert len(kernels) == 1
    assert result.sum().item() == 15


def test_data_that_an_assignment_changes_is_read_again() -> None:
    offset = tw.asarray([1.0, 2.0]) * 2

    @tw.jit
    def shifted(x: tw.Tensor) -> tw.Tensor:
        return x + offset

    assert shifted(tw.zeros(2)).tolist() == [2.0, 4.0]
    offset[0] = 9.0
    assert shifted(tw.ones(2)).tolist() == [10.0, 5.0]
