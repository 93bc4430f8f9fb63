"""Formulas of kernels: signs, brackets, reductions, products, and where they end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb import Tensor
from tensorweb.schedule.formula import LONGEST, formula
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

FORMULAS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "exp(-x²)·cos(c·x)": lambda x, y: tw.exp(-(x**2)) * tw.cos(8 * x),
    "x - (y - x)": lambda x, y: x - (y - x),
    "x - y - x": lambda x, y: x - y - x,
    "(x + y)·x": lambda x, y: (x + y) * x,
    "x / (x·y)": lambda x, y: x / (x * y),
    "(-x)²": lambda x, y: tw.square(-x),
    "-(x + y)": lambda x, y: -(x + y),
    "-x·y": lambda x, y: -(x * y),
    "x^y": lambda x, y: x**y,
    "where(x > c, x, -y)": lambda x, y: tw.where(x > 0, x, -y),
    "float32(x < y) + c": lambda x, y: tw.astype(x < y, tw.float32) + 1,
    "copy(x)": lambda x, y: tw.reshape(x.T, (-1,)),
    "float32(i)": lambda x, y: tw.astype(tw.arange(6), tw.float32),
    "x[…] - x[…]": lambda x, y: x[1:] - x[:-1],
    "sum(x·y)": lambda x, y: tw.sum(x * y),
    "sum(x) / c": lambda x, y: tw.mean(x, axis=0),
    "argmax(x)": lambda x, y: tw.argmax(x),
    "cumulative_sum(x)": lambda x, y: tw.cumulative_sum(x, axis=1),
    "sort(x)": lambda x, y: tw.sort(x),
    "x @ y": lambda x, y: x @ y,
    "tanh(x @ y + c)": lambda x, y: tw.tanh(x @ y + 1),
    "(x + c) @ y": lambda x, y: (x + 1) @ y,
    "exp(x - max(x)) / sum(exp(x - max(x)))": lambda x, y: tw.nn.softmax(x),
}


def formulas_of(value: Tensor) -> list[str]:
    return [formula(each.kernel) for each in plan(linearize([value.node.base]), 6)]


def square_matrices() -> tuple[Tensor, Tensor]:
    x, y = (tw.realize(tw.reshape(tw.arange(36.0) + k, (6, 6))) for k in range(2))
    return x, y


@pytest.mark.parametrize("words", FORMULAS)
def test_formula_shows_the_kernel_s_computation(words: str) -> None:
    assert formulas_of(FORMULAS[words](*square_matrices())) == [words]


def test_long_chains_have_no_formula() -> None:
    x, _ = square_matrices()
    for _ in range(LONGEST):
        x = x * 0.5 + 1
    assert set(formulas_of(x)) == {""}


def test_families_that_are_more_than_their_expressions_have_none() -> None:
    x, _ = square_matrices()
    assert "" in formulas_of(tw.linalg.cholesky(x @ x.T))
