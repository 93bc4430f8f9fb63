"""einops by name: what it gives for tensors is what it gives for NumPy's arrays."""

from __future__ import annotations

from typing import Any

import einops
import numpy as np
import pytest

import tensorweb as tw

CASES: dict[str, Any] = {
    "transpose": lambda x: einops.rearrange(x, "a b c -> c (a b)"),
    "split": lambda x: einops.rearrange(x, "a b (c d) -> (d c) b a", d=2),
    "list": lambda x: einops.rearrange([x, x], "n a b c -> a (n b) c"),
    "ellipsis": lambda x: einops.rearrange(x, "a ... -> ... a"),
    "mean": lambda x: einops.reduce(x, "a b c -> b", "mean"),
    "max": lambda x: einops.reduce(x, "a b c -> a 1 c", "max"),
    "min": lambda x: einops.reduce(x, "a b c -> ", "min"),
    "sum": lambda x: einops.reduce(x, "a b (c d) -> b d", "sum", d=2),
    "prod": lambda x: einops.reduce(x, "a b c -> b c", "prod"),
    "any": lambda x: einops.reduce(x > 3, "a b c -> c", "any"),
    "callable": lambda x: einops.reduce(x, "a b c -> a", lambda t, axes: t.sum(axes)),
    "repeat": lambda x: einops.repeat(x, "a b c -> a r b c s", r=2, s=3),
    "repeat inside": lambda x: einops.repeat(x, "a b c -> (a r) b c", r=2),
    "einsum": lambda x: einops.einsum(x, x, "a b c, a d c -> b d"),
    "pack": lambda x: einops.pack([x, x[:, 0]], "a * c")[0],
    "unpack": lambda x: einops.unpack(*einops.pack([x, x], "a * c"), "a * c")[1],
    "shape": lambda x: np.asarray(list(einops.parse_shape(x, "a b c").values())),
}


@pytest.mark.parametrize("name", CASES)
def test_einops(name: str, device: str) -> None:
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    found = CASES[name](tw.asarray(host))
    if name != "shape":
        assert isinstance(found, tw.Tensor)
        assert found.device == device
    np.testing.assert_allclose(np.asarray(found), CASES[name](host), rtol=1e-5)
