"""Values look as NumPy shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import counted

import tensorweb as tw

Array = np.ndarray[Any, Any]


def like_numpy(host: Array) -> str:
    """Return NumPy's text as it stands inside `tensor(`."""
    return np.array2string(
        host, max_line_width=75, separator=", ", prefix="tensor(", suffix=")"
    )


def sample(seed: int, dtype: str) -> Array:
    """Return one array of a random shape and kind of values."""
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, random.choice([3, 5, 40]), random.integers(1, 4)))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if "int" in dtype:
        return np.asarray(random.integers(0, random.choice([3, 120]), shape), dtype)
    normal = random.standard_normal(shape)
    kinds = [
        normal,
        np.round(normal * 4),
        np.round(normal * 100, 2),
        np.exp(normal * 8),
        normal * 1e4,
        np.where(normal > 1, np.nan, normal),
        np.where(normal > 1, -np.inf, np.round(normal)),
    ]
    return np.asarray(kinds[seed % len(kinds)], dtype)


@pytest.mark.parametrize("seed", range(21))
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]
)
def test_values_look_like_numpy(dtype: str, seed: int, cpu: str) -> None:
    with np.errstate(all="ignore"):
        host = sample(seed, dtype)
    x = tw.asarray(host)
    assert repr(x).startswith(f"tensor({like_numpy(host)}")
    assert str(x) == str(host)


@pytest.mark.parametrize(
    "shape", [(1001,), (40, 41), (7, 3, 60), (1001, 1), (2, 2, 2, 200)], ids=str
)
def test_large_tensors_are_shortened_like_numpy(
    shape: tuple[int, ...], device: str
) -> None:
    x = counted(*shape)
    host = x.numpy()
    assert str(x) == str(host)
    assert repr(x).startswith(f"tensor({like_numpy(host)},")
    assert repr(x).endswith(f"shape={shape})")
