"""Shapes beyond what kernels count, NumPy has and recursion reaches: clear errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorweb as tw

MANY = 10**5


def wide(*shape: int) -> tw.Tensor:
    return tw.broadcast_to(tw.asarray([2.0]), shape)


BEYOND: dict[str, Callable[[], tw.Tensor]] = {
    "sum of eye": lambda: tw.sum(tw.eye(MANY)),
    "mean": lambda: wide(MANY**2).mean(),
    "one more than fits": lambda: tw.sum(wide(2**31)),
    "max over two axes": lambda: tw.max(wide(MANY, MANY)),
    "any": lambda: tw.any(wide(MANY, MANY) > 1),
    "count": lambda: tw.count_nonzero(wide(MANY, MANY)),
    "variance": lambda: tw.var(wide(MANY, MANY)),
    "argmax": lambda: tw.argmax(wide(MANY, MANY)),
    "rows": lambda: tw.sum(wide(3, MANY**2), axis=1),
    "columns": lambda: tw.sum(wide(MANY**2, 3), axis=0),
    "matmul": lambda: wide(1, MANY**2) @ wide(MANY**2, 1),
    "concat": lambda: tw.max(tw.concat([wide(2**31 - 5)] * 3)),
    "beyond 64 bits": lambda: tw.sum(wide(2**40, 2**40)),
}


@pytest.mark.parametrize("name", BEYOND)
def test_a_kernel_that_cannot_count_so_far_says_so(name: str, webgpu: str) -> None:
    with pytest.raises(tw.ShapeError, match=r"counts to 2,147,483,647.*in parts"):
        BEYOND[name]().tolist()


STORED: dict[str, Callable[[], tw.Tensor]] = {
    "map": lambda: wide(MANY**2) + 1,
    "running sum": lambda: tw.cumulative_sum(wide(MANY**2)),
    "sort": lambda: tw.sort(wide(MANY**2)),
    "product": lambda: wide(MANY, 3) @ wide(3, MANY),
}


@pytest.mark.parametrize("name", STORED)
def test_results_that_are_too_large_say_so(name: str, webgpu: str) -> None:
    with pytest.raises(tw.DeviceMemoryError, match="binds at most"):
        tw.realize(STORED[name]())


def test_axes_beyond_the_limit_are_reduced_one_by_one(webgpu: str) -> None:
    assert tw.full((2**16, 2**15), 2.0).sum(axis=1).sum().item() == 2.0**32
    assert tw.sum(tw.eye(2**16)[: 2**5], axis=0).sum().item() == 2**5


def test_elements_far_out_are_read(webgpu: str) -> None:
    assert wide(MANY**2)[MANY**2 - 1].item() == 2.0


RANK = 2000


def test_any_rank_prints_and_becomes_lists(webgpu: str) -> None:
    x = tw.asarray([3.0, 4.0]).reshape((1,) * RANK + (2,))
    assert repr(x).startswith("tensor([[[")
    text = repr(x + 0)
    assert text.count("[") == text.count("]") == RANK + 1
    assert "3." in text
    found = (x + 1).tolist()
    for _ in range(RANK):
        (found,) = found
    assert found == [4.0, 5.0]


def test_empty_tensors_of_any_rank_become_lists(device: str) -> None:
    found = tw.zeros((1,) * RANK + (0, 7)).tolist()
    for _ in range(RANK):
        (found,) = found
    assert found == []
    assert tw.zeros((2, 3, 0, 4)).tolist() == np.zeros((2, 3, 0, 4)).tolist()
    rows = tw.zeros((2, 0)).tolist()
    assert rows[0] is not rows[1]


USES: dict[str, Callable[[tw.Tensor], object]] = {
    "map": lambda x: (x + 1).tolist(),
    "repr": lambda x: repr(x * 2),
    "item": lambda x: (x - 1).item(),
    "sum": lambda x: tw.sum(x + 1).item(),
    "concat": lambda x: tw.concat([x, x]).tolist(),
    "numpy": lambda x: x.numpy(),
    "constant": lambda x: tw.where(tw.ones(x.shape, dtype=tw.bool), x, 1).tolist(),
}


@pytest.mark.parametrize("rank", [65, RANK])
@pytest.mark.parametrize("name", USES)
def test_more_axes_than_numpy_has_are_refused(name: str, rank: int, cpu: str) -> None:
    with pytest.raises(tw.ShapeError, match="64 at most"):
        USES[name](tw.asarray([3.0]).reshape((1,) * rank))


def test_numpy_arrays_of_too_many_axes_are_refused(webgpu: str) -> None:
    with pytest.raises(tw.ShapeError, match="64 at most"):
        tw.asarray([3.0]).reshape((1,) * 65).numpy()


def test_more_elements_than_numpy_counts_are_refused(cpu: str) -> None:
    with pytest.raises(tw.ShapeError, match="can count"):
        tw.sum(tw.zeros((2**40, 2**40))).item()
