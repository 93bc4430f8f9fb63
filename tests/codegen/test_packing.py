"""Small integers on a GPU: packed in their storages, exact in every kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend

Array = np.ndarray[Any, Any]
Program = Callable[[Any, Any], Any]

PROGRAMS: dict[str, Program] = {
    "upload": lambda xp, x: x,
    "wraps": lambda xp, x: x * 3 + 100,
    "neighbours": lambda xp, x: x[1:, 1:-1] - x[:-1, 2:],
    "reversed": lambda xp, x: x[::-1, ::-2] + 1,
    "transposed": lambda xp, x: xp.permute_dims(x, (2, 0, 1)) * 2,
    "odd crop": lambda xp, x: x[1:14, 5:12],
    "joined": lambda xp, x: xp.concat([x, x[:, :3], x], axis=1),
    "chosen": lambda xp, x: xp.where(x > 50, x, 0 * x),
    "masked": lambda xp, x: x[x > 50],
    "gathered": lambda xp, x: x[np.array([1, 3, 1])] if xp is np else x[[1, 3, 1]],
    "extremes of rows": lambda xp, x: x - xp.max(x, axis=2, keepdims=True),
    "extremes of columns": lambda xp, x: xp.min(x, axis=0),
    "sorted": lambda xp, x: xp.sort(x, axis=1),
    "product": lambda xp, x: xp.matmul(x[:, :, 0], xp.permute_dims(x, (2, 1, 0))),
    "product clipped": lambda xp, x: xp.minimum(x[0] @ x[0].T, x[0, 0, 0]) * 2,
}


@pytest.mark.parametrize(
    ("dtype", "lengths"),
    [
        *[("uint8", (7, 13, 3)), ("int16", (5, 13, 3))],
        *[("int8", (8, 12, 4)), ("uint16", (4, 12, 8))],
    ],
)
def test_small_integers_are_those_of_numpy(
    dtype: str, lengths: tuple[int, ...], webgpu: str
) -> None:
    limits = np.iinfo(dtype)
    random = np.random.default_rng(limits.bits)
    host = random.integers(limits.min, limits.max, lengths, dtype, endpoint=True)
    x = tw.asarray(host)
    for name, program in PROGRAMS.items():
        expected = program(np, host)
        got = program(tw, x).numpy()
        assert got.dtype == expected.dtype, name
        np.testing.assert_array_equal(got, expected, name)


def test_a_flush_packs_every_result_of_a_kernel(webgpu: str) -> None:
    host = np.arange(35, dtype=np.uint8).reshape(5, 7)
    x = tw.asarray(host) * 7
    results = [x, x.astype(tw.int16) - 300, x.astype(tw.float32) / 2, -x]
    tw.realize(*results)
    np.testing.assert_array_equal(results[0].numpy(), host * 7)
    np.testing.assert_array_equal(results[1].numpy(), (host * 7).astype(np.int16) - 300)
    np.testing.assert_array_equal(results[2].numpy(), (host * 7) / np.float32(2))
    np.testing.assert_array_equal(results[3].numpy(), -(host * 7))


def test_counts_that_leave_their_range_wrap_around(webgpu: str) -> None:
    positions = tw.asarray([3] * 300 + [1, 0], dtype=tw.uint8)
    counts = tw.zeros(5, dtype=tw.uint8).at[positions].add(1)
    assert counts.tolist() == [1, 1, 0, 300 % 256, 0]
    factors = tw.ones(3, dtype=tw.int8).at[tw.asarray([1, 1])].multiply(100)
    assert factors.tolist() == [1, 16, 1]


def test_recorded_programs_take_small_integers(webgpu: str) -> None:
    host = np.arange(0, 250, 5, dtype=np.uint8).reshape(10, 5)
    x = tw.asarray(host)
    clipped = tw.jit(lambda x: tw.clip(x * 2 + 1, 10, 200))
    for key in (slice(None), slice(1, None), slice(3, 8)):
        expected = np.clip(host[key] * 2 + 1, 10, 200)
        np.testing.assert_array_equal(clipped(x[key]).numpy(), expected)
    spans = tw.vmap(lambda row: tw.max(row) - tw.min(row))(x)
    np.testing.assert_array_equal(spans.numpy(), np.ptp(host, axis=1))


@pytest.mark.parametrize(("dtype", "per_word"), [("uint8", 4), ("int16", 2)])
def test_storages_take_a_few_bytes_an_element(
    dtype: str, per_word: int, webgpu: str
) -> None:
    backend = devices.backend("webgpu")
    assert isinstance(backend, KernelBackend)
    node = tw.realize(tw.zeros(4003, dtype=dtype) + 1).node.base
    assert backend.traits.storage_bytes(node) == 4 * -(-4003 // per_word)
    assert backend.buffer_of(node).size < 4 * 4003
