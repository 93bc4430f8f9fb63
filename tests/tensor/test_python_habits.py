"""What Python's own functions and types do with tensors: what they do with NumPy's."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.errors import DTypeError


def test_computed_numbers_are_keys(device: str) -> None:
    labels = tw.asarray([2, 0, 2, 1])
    assert Counter(labels) == Counter([2, 0, 2, 1])
    assert set(tw.asarray([0.5, 0.5, 2.0])) == {0.5, 2.0}
    assert {0: "a", 2: "b"}[labels.max()] == "b"
    assert labels[0] in {2}


@pytest.mark.parametrize("make", [tw.asarray, lambda data: tw.asarray([data])])
def test_tensors_are_not_hashable_keys(make: Any, cpu: str) -> None:
    x = make(2)
    with pytest.raises(TypeError, match=r"hash\(\).*tolist"):
        hash(x)
    leaf = tw.asarray(2.0, requires_grad=True)
    with pytest.raises(DTypeError, match=r"hash\(\)"):
        hash(leaf)


def test_computed_integers_repeat_sequences(device: str) -> None:
    count = tw.asarray([1, 3]).max()
    assert count * [0] == [0] * count == [0, 0, 0]
    assert "ab" * count == "ababab"
    assert (1, 2) * count == (1, 2, 1, 2, 1, 2)
    assert_equal(tw.asarray(3) * [1, 2], [3, 6])  # as an array of no axes
    assert_equal(tw.asarray([3]) * [1, 2], [3, 6])
    assert_equal([1, 2] * tw.asarray([1.0, 3.0]).max(), [3, 6])


def test_bytes_equal_the_values(device: str) -> None:
    x = tw.asarray([[2, 0], [1, 3]])
    assert bytes(x.T) == x.numpy().T.tobytes()


def test_numbers_of_mathematics(cpu: str) -> None:
    wide = tw.asarray([2**60 + 1], dtype=tw.int64)[0]
    assert (round(wide), math.trunc(wide)) == (2**60 + 1, 2**60 + 1)
    assert math.trunc(tw.asarray(-1.5)) == -1
    assert math.gcd(tw.asarray(12), 18) == 6
    with pytest.raises(ValueError, match=r"tw\.sqrt\(x\)"):
        math.sqrt(tw.ones(3))
    with pytest.raises(TypeError, match=r"not shape \(3,\)"):
        range(tw.ones(3))  # type: ignore[arg-type]  # the mistake
    with pytest.raises(TypeError, match="JSON"):
        json.dumps(tw.ones(3))


def test_shuffling_agrees_with_numpy(device: str) -> None:
    """Numbers are exchanged; rows are views, which a program must copy to exchange."""
    for shape in ((10,), (5, 2)):
        ours, theirs = tw.reshape(tw.arange(10), shape), np.arange(10).reshape(shape)
        random.Random(3).shuffle(ours)  # type: ignore[arg-type]  # as with arrays
        random.Random(3).shuffle(theirs)  # type: ignore[arg-type]  # so people do
        assert ours.tolist() == theirs.tolist()
