"""dask.array over tensors: chunks stay tensors, results are those of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tensorweb as tw

HOST = np.arange(24, dtype=np.float32).reshape(4, 6) / 8 - 1

CASES: dict[str, Any] = {
    "elementwise": lambda d: np.sqrt(abs(d)) * 2 + d**2,
    "comparison": lambda d: d > 0.5,
    "two arrays": lambda d: d - d[::-1],
    "where": lambda d: da.where(d > 0, d, -d) if isinstance(d, da.Array) else abs(d),
    "sum": lambda d: d.sum(),
    "sum of an axis": lambda d: d.sum(axis=0),
    "kept axes": lambda d: d.sum(axis=1, keepdims=True),
    "prod": lambda d: d.prod(axis=1),
    "mean": lambda d: d.mean(axis=1),
    "variance": lambda d: d.var(axis=0),
    "deviation": lambda d: d.std(),
    "extremes": lambda d: d.max(axis=0) - d.min(axis=0),
    "any": lambda d: (d > 1).any(axis=0),
    "argmax": lambda d: d.argmax(axis=1),
    "cumsum": lambda d: d.cumsum(axis=1),
    "matmul": lambda d: d @ d.T,
    "dot": lambda d: np.dot(d, d.T),
    "tensordot": lambda d: np.tensordot(d, d, axes=((0,), (0,))),
    "einsum": lambda d: np.einsum("ij,kj->ik", d, d),
    "transpose": lambda d: d.T,
    "reshape": lambda d: d.reshape(24),
    "slice": lambda d: d[1:3, ::2],
    "indices": lambda d: d[[2, 0]],
    "concatenate": lambda d: np.concatenate([d, d], axis=1),
    "stack": lambda d: np.stack([d, d]),
    "clip": lambda d: d.clip(-0.5, 0.5),
    "round": lambda d: d.round(1),
    "astype": lambda d: d.astype("int32"),
}


def chunks(host: Any = HOST) -> Any:
    """Return an array of dask over a tensor."""
    return da.from_array(tw.asarray(host), chunks=(2, 3), asarray=False)


def check(found: object, expected: Any) -> None:
    """Compare a computed tensor with NumPy's result."""
    assert isinstance(found, tw.Tensor), type(found)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def _in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("name", CASES)
def test_dask_array(name: str) -> None:
    check(CASES[name](chunks()).compute(), CASES[name](HOST))


def test_rechunk() -> None:
    again = chunks().rechunk((4, 2))
    assert again.chunks == ((4,), (2, 2, 2))
    check(again.compute(), HOST)


def test_map_blocks() -> None:
    check(chunks().map_blocks(lambda block: block * 2).compute(), HOST * 2)


def test_map_blocks_of_numpy_makes_tensors() -> None:
    made = da.ones((4, 6), chunks=3, dtype="float32").map_blocks(tw.asarray)
    check((made + 1).sum(axis=0).compute(), np.full(6, 8, np.float32))


def test_map_overlap() -> None:
    line = da.from_array(tw.arange(8.0), chunks=4, asarray=False)
    smooth = line.map_overlap(lambda x: x + 1, depth=1, boundary="reflect")
    check(smooth.compute(), np.arange(8) + 1.0)
