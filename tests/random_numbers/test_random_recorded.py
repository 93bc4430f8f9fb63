"""Keys, bits and samples equal the recorded ones of JAX, on every device."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import random_cases as cases
from checks import assert_equal

import tensorweb as tw

FILE = Path(__file__).parents[1] / "references" / "random.json"
RECORDED = json.loads(FILE.read_text("utf-8"))

SEEDS = [*enumerate(cases.SEEDS)]

CLOSE = 4e-6
"""Relative: what JAX's own float32 functions are off by, and 3 ULP of ours."""


def operands() -> SimpleNamespace:
    return SimpleNamespace(
        **{name: tw.asarray(x, dtype=tw.float32) for name, x in cases.OPERANDS.items()}
    )


def drawn(call: cases.Call) -> tw.Tensor:
    result = call(tw.random, tw.random.key(cases.KEY), operands())
    assert isinstance(result, tw.Tensor)
    return result


def flat(nested: Any) -> list[float]:
    return (
        [x for each in nested for x in flat(each)]
        if isinstance(nested, list)
        else [nested]
    )


@pytest.mark.parametrize(("index", "seed"), SEEDS)
def test_keys_equal_jax(index: int, seed: int, device: str) -> None:
    key = tw.random.key(seed)
    assert_equal(key, RECORDED["keys"][index])
    for n, expected in zip(cases.COUNTS, RECORDED["split"][index], strict=True):
        assert_equal(tw.random.split(key, n), expected)
    for n, expected in zip(cases.FOLDED, RECORDED["fold_in"][index], strict=True):
        assert_equal(tw.random.fold_in(key, n), expected)


@pytest.mark.parametrize(("index", "seed"), SEEDS)
def test_bits_equal_jax(index: int, seed: int, device: str) -> None:
    key = tw.random.key(seed)
    for shape, expected in zip(cases.SHAPES, RECORDED["bits"][index], strict=True):
        found = tw.random.bits(key, shape)
        assert found.dtype == tw.uint32
        assert found.shape == shape
        assert found.tolist() == expected


@pytest.mark.parametrize("name", cases.EXACT)
def test_exact_samples_equal_jax(name: str, device: str) -> None:
    assert_equal(drawn(cases.EXACT[name]), RECORDED["calls"][name])


@pytest.mark.parametrize("name", cases.ROUNDED)
def test_rounded_samples_are_close_to_jax(name: str, device: str) -> None:
    got = flat(drawn(cases.ROUNDED[name]).tolist())
    assert got == pytest.approx(
        flat(RECORDED["calls"][name]), rel=CLOSE, abs=CLOSE / 10
    )
