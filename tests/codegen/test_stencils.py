"""Stencils are one launch a step, whose threads read shared neighbours once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import KernelRecord, record_kernels

Array = np.ndarray[Any, Any]
Step = Callable[[Any, Any], Any]

AROUND = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]


def laplacian(xp: Any, u: Any) -> Any:
    rolled = [xp.roll(u, s, axis=a) for a in (0, 1) for s in (1, -1)]
    return rolled[0] + rolled[1] + rolled[2] + rolled[3] - 4 * u


def life(xp: Any, x: Any) -> Any:
    near = sum(xp.roll(x, shift, axis=(0, 1)) for shift in AROUND)
    return xp.astype((near == 3) | ((x == 1) & (near == 2)), x.dtype)


def life_of_bools(xp: Any, x: Any) -> Any:
    near = sum(xp.roll(xp.astype(x, xp.int32), s, axis=(0, 1)) for s in AROUND)
    return (near == 3) | (x & (near == 2))


def heat(xp: Any, u: Any) -> Any:
    return u + laplacian(xp, u) * np.float32(0.125)


def borders(xp: Any, u: Any) -> Any:
    inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] - u[1:-1, :-2]
    if xp is not np:
        return u.at[1:-1, 1:-1].set(inner)
    result = u.copy()
    result[1:-1, 1:-1] = inner
    return result


def padded(xp: Any, u: Any) -> Any:
    p = xp.pad(u, ((1, 1), (1, 1)))
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] - p[1:-1, :-2] - 4 * u


def far(xp: Any, u: Any) -> Any:
    return xp.roll(u, (2, -5), axis=(0, 1)) - xp.roll(u, 3, axis=0) + u


def differences(xp: Any, u: Any) -> Any:
    return u[1:, 1:] - u[:-1, :-1] + u[1:, :-1]


def rolled_expressions(xp: Any, u: Any) -> Any:
    return xp.roll(u * u + 1, 1, axis=0) - xp.roll(u * 2, (2, -1), axis=(0, 1)) + u


def cube(xp: Any, u: Any) -> Any:
    w = u[:, : u.shape[1] // 3 * 3].reshape(u.shape[0], 3, -1)
    w = xp.permute_dims(w, (1, 0, 2))
    return xp.roll(w, 1, axis=0) + xp.roll(w, 1, axis=1) - xp.roll(w, -1, axis=2) + w


STEPS = (
    life,
    life_of_bools,
    heat,
    borders,
    padded,
    far,
    differences,
    rolled_expressions,
    cube,
)

SHAPES = [(5, 60), (8, 52), (64, 64), (63, 100), (131, 51)]
"""Multiples of a thread's rows and others, the least number of rows, odd columns."""


def board(step: Step, shape: tuple[int, int]) -> Array:
    """Return numbers whose sums are exact."""
    random = np.random.default_rng(shape[0])
    if step is life_of_bools:
        return random.random(shape) < 0.4
    if step is life:
        return random.integers(0, 2, shape).astype(np.int32)
    return random.integers(-9, 9, shape).astype(np.float32)


def stored(host: Array) -> tw.Tensor:
    """Return a tensor that is on the device."""
    x = tw.asarray(host)
    tw.realize(x)
    return x


def ran(step: Step, x: tw.Tensor) -> tuple[tw.Tensor, list[KernelRecord]]:
    with record_kernels() as records:
        result = step(tw, x)
        tw.realize(result)
    return result, records


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_stencils_are_one_launch(
    step: Step, shape: tuple[int, int], webgpu: str
) -> None:
    host = board(step, shape)
    result, records = ran(step, stored(host))
    assert [record.kind for record in records] == ["stencil"]
    np.testing.assert_array_equal(result.numpy(), step(np, host))


def test_stencils_of_views(webgpu: str) -> None:
    host = board(heat, (150, 130))
    x = stored(host)
    for view in (
        (slice(None, None, 2), slice(3, 100)),
        (slice(None, None, -1), slice(None, None, -3)),
        (slice(7, 11), slice(0, 16)),
    ):
        np.testing.assert_array_equal(heat(tw, x[view]).numpy(), heat(np, host[view]))
    transposed = heat(tw, stored(host)[:64, :64].T).numpy()
    np.testing.assert_array_equal(transposed, heat(np, host[:64, :64].T))


def test_padded_elements_do_not_leak_nan(webgpu: str) -> None:
    host = board(padded, (40, 40))
    host[0], host[-1, 3:] = np.nan, np.inf
    for step in (padded, heat, borders):
        with np.errstate(invalid="ignore"):
            expected = step(np, host)
        found = step(tw, stored(host)).numpy()
        np.testing.assert_array_equal(found, expected)


def test_shared_neighbours_are_read_once(webgpu: str) -> None:
    _, (record,) = ran(life, stored(board(life, (64, 64))))
    assert str(record.code).count("input0[") == (4 + 2) * 3
    _, (record,) = ran(padded, stored(board(padded, (64, 64))))
    assert str(record.code).count("input0[") == 4 + 2 + 4 * 2


def test_short_and_flat_ones_stay_elementwise(webgpu: str) -> None:
    for shape in ((3, 64), (64, 15)):
        host = board(heat, shape)
        result, records = ran(heat, stored(host))
        assert [record.kind for record in records] == ["elementwise"]
        np.testing.assert_array_equal(result.numpy(), heat(np, host))


@pytest.mark.parametrize("step", [life, life_of_bools, heat, borders, padded])
def test_many_steps_are_a_launch_each(step: Step, webgpu: str) -> None:
    host = board(step, (32, 48))
    x = stored(host)
    with record_kernels() as records:
        for _ in range(6):
            x = step(tw, x)
            host = step(np, host)
        tw.realize(x)
    assert {record.kind for record in records} == {"stencil"}
    assert len(records) <= 6
    np.testing.assert_allclose(x.numpy(), host, rtol=1e-6)


def test_two_fields_are_one_launch(webgpu: str) -> None:
    u, v = board(heat, (32, 48)), board(heat, (33, 48))[:32]
    first, second = tw.asarray(u), tw.asarray(v)
    tw.realize(first, second)
    with record_kernels() as records:
        results = [
            first + laplacian(tw, first) - first * second,
            second + laplacian(tw, second) + first * second,
        ]
        tw.realize(*results)
    assert [record.kind for record in records] == ["stencil"]
    np.testing.assert_array_equal(results[0].numpy(), u + laplacian(np, u) - u * v)
    np.testing.assert_array_equal(results[1].numpy(), v + laplacian(np, v) + u * v)
