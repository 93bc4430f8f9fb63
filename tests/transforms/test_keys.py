"""Random index keys, read and written, and derivatives of both (`fuzz/keys.py`)."""

from __future__ import annotations

import pytest
from checks import assert_equal

import tensorweb as tw
from fuzz.keys import failures

COUNTS = {"cpu": 150, "webgpu": 4}

APART = [
    (1, slice(None), [0, 1]),
    (slice(None), 1, slice(None), [1, 0]),
    (1, Ellipsis, [0, 1]),
    (1, None, [0, 1]),
    ([0, 1], slice(None), 1),
    ([1, 0], slice(None), [[0], [1]]),
]


@pytest.mark.parametrize("number", range(len(APART)))
def test_derivatives_of_keys_with_index_tensors_apart(number: int, device: str) -> None:
    key = APART[number]
    a = tw.reshape(tw.arange(16.0), (2, 2, 2, 2))
    read = a[key]
    weights = tw.reshape(10 ** tw.arange(float(read.size)) % 7, read.shape)
    want = (tw.zeros(a.shape)).at[key].add(weights)
    gradient = tw.grad(lambda a: (a[key] * weights).sum())(a)
    assert_equal(gradient, want)
    assert_equal(tw.jvp(lambda a: a[key], (a,), (a,))[1], read)
    a.requires_grad = True
    (a[key] * weights).sum().backward()
    assert_equal(a.grad, want)


def test_random_keys(device: str) -> None:
    assert [f for n in range(COUNTS[device]) for f in failures(f"keys {n}")] == []
