"""Gradients of composite functions equal the recorded ones of other libraries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gradient_cases import CASES, NUMBERS, SHAPE, WEIGHTS

import tensorweb as tw

FILE = Path(__file__).parents[1] / "references" / "gradients.json"
RECORDED = json.loads(FILE.read_text())


def test_every_function_is_recorded() -> None:
    for library in RECORDED.values():
        assert library["derivatives"].keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives_in_float64(name: str, cpu: str) -> None:
    case = CASES[name]
    x = tw.asarray(NUMBERS[case.at], tw.float64).reshape(SHAPE)
    weights = tw.asarray(WEIGHTS, tw.float64).reshape(SHAPE)
    first = tw.grad(lambda x: case.function(tw, x).sum())
    second = tw.grad(lambda x: (first(x) * weights).sum())
    for library in RECORDED.values():
        expected = library["derivatives"][name]
        for found, numbers in zip((first(x), second(x)), expected, strict=True):
            got = found.reshape(-1).tolist()
            assert got == pytest.approx(numbers, rel=1e-7, abs=1e-8)


ON_GPU = ("softmax", "running product with a zero", "batches of products", "sorted")
"""Each takes a second of compiling; the rules themselves are tested elsewhere."""


@pytest.mark.parametrize("name", ON_GPU)
def test_the_gpu_finds_the_same(name: str, webgpu: str) -> None:
    case = CASES[name]
    x = tw.asarray(NUMBERS[case.at]).reshape(SHAPE)
    got = tw.grad(lambda x: case.function(tw, x).sum())(x).reshape(-1).tolist()
    for library in RECORDED.values():
        expected = library["derivatives"][name][0]
        assert got == pytest.approx(expected, rel=2e-5, abs=2e-5)
