"""Kernels of one index space become one with several outputs, never in a circle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.events import KernelRecord
from tensorweb.schedule import policy
from tensorweb.schedule.fusion import Fusion
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize, pieces
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

Array = np.ndarray[Any, Any]

SHAPE = (6, 8)


def stored(*shape: int, seed: int = 0) -> Tensor:
    random = np.random.default_rng(seed)
    return tw.realize(tw.asarray(random.uniform(0.5, 2, shape).astype(np.float32)))


def launched(*values: Tensor) -> list[KernelRecord]:
    with tw.record_kernels() as records:
        tw.realize(*values)
    return records


def adam(p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return p - 0.1 * m / (tw.sqrt(v) + 1e-3), m, v


@pytest.mark.parametrize("shape", [SHAPE, (5, 7)], ids=str)
def test_adam_step_is_one_kernel_that_touches_seven_words(
    device: str, shape: tuple[int, ...]
) -> None:
    leaves = [stored(*shape, seed=seed) for seed in range(4)]
    expected = [x.numpy() for x in leaves]
    results = adam(*leaves)
    records = launched(*results)
    p, g, m, v = expected
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    for got, want in zip(
        results, (p - 0.1 * m / (np.sqrt(v) + 1e-3), m, v), strict=True
    ):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5)
    for record in records:  # NumPy has none
        assert (len(records), len(record.outputs)) == (1, 3)
        assert record.loaded + record.stored == 7 * 4 * p.size


def test_recorded_adam_step_is_one_kernel(webgpu: str) -> None:
    leaves = [stored(*SHAPE, seed=seed) for seed in range(4)]
    step = tw.jit(adam)
    step(*leaves)
    with tw.record_kernels() as records:
        p, m, v = step(*leaves)
    (record,) = records
    assert len(record.outputs) == 3
    for got, want in zip((p, m, v), adam(*leaves), strict=True):
        np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (5, 7), (4, 64)], ids=str)
def test_outputs_of_several_dtypes(device: str, shape: tuple[int, ...]) -> None:
    host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 9
    x = tw.realize(tw.asarray(host))
    row = x[..., :1] if shape else x
    results = [x > 3, tw.astype(x, tw.int32) * 2, -x, x + row]
    records = launched(*results)
    hosts = [host > 3, host.astype(np.int32) * 2, -host]
    hosts.append(host + (host[..., :1] if shape else host))
    for got, want in zip(results, hosts, strict=True):
        assert got.dtype.name == want.dtype.name
        np.testing.assert_array_equal(got.numpy(), want)
    assert not records or len(records) == 1


@pytest.mark.usefixtures("wasm")
def test_wide_and_narrow_outputs_on_webassembly() -> None:
    x = stored(7, 33)
    results = [tw.astype(x, tw.float64) / 3, tw.astype(x * 9, tw.int8), x > 1, -x]
    (record,) = launched(*results)
    assert len(record.outputs) == 4
    host = x.numpy()
    hosts = [host.astype(np.float64) / 3, (host * 9).astype(np.int8), host > 1, -host]
    for got, want in zip(results, hosts, strict=True):
        np.testing.assert_array_equal(got.numpy(), want)


def test_value_that_only_its_own_kernel_needs_is_not_stored(webgpu: str) -> None:
    x = stored(50, 7)
    e = tw.tan(tw.tan(tw.tan(x)))
    (record,) = launched(e * 2, e + 1, e * e)
    assert len(record.outputs) == 3
    assert record.loaded + record.stored == 4 * 4 * x.size
    assert record.source.count("= tan_f32(") == 3


def test_costly_value_of_kernels_that_become_one_is_not_stored() -> None:
    x = Tensor(value(50, 7))
    e = tw.tan(tw.tan(tw.tan(x)))
    graph = linearize([(e * 2).node, (e + 1).node])
    fusion = Fusion(graph)
    assert e.node in fusion.shared
    assert not fusion.shared & fusion.stored.keys()
    graph = linearize([(e * 2).node, (e[:7] + 1).node])
    assert e.node in Fusion(graph).stored


def test_no_kernel_waits_for_one_that_waits_for_it(webgpu: str) -> None:
    x = stored(*SHAPE)
    first = tw.sin(x)
    last = tw.cos(x) + first.sum(axis=0)
    records = launched(first, last)
    assert [len(record.outputs) for record in records] == [1, 1, 1]
    host = x.numpy()
    want = np.cos(host) + np.sin(host).sum(axis=0)
    np.testing.assert_allclose(last.numpy(), want, rtol=1e-5)


def test_neighbours_of_an_output_are_read_by_another_kernel(webgpu: str) -> None:
    x = stored(*SHAPE)
    first = x * 2
    shifted, transposed = tw.roll(first, 1, axis=0) + x, first.reshape(8, 6).T + x
    launched(first, shifted, transposed)
    host = x.numpy() * 2
    np.testing.assert_array_equal(shifted.numpy(), np.roll(host, 1, 0) + x.numpy())
    np.testing.assert_array_equal(transposed.numpy(), host.reshape(8, 6).T + x.numpy())


def test_arrays_that_share_nothing_have_kernels_of_their_own(webgpu: str) -> None:
    rate = stored()
    pairs = [(stored(*SHAPE, seed=n), stored(*SHAPE, seed=n + 9)) for n in range(3)]
    records = launched(*(p - rate * g for p, g in pairs))
    assert len(records) == 3
    assert len({record.source for record in records}) == 1


def bound(planned: Planned) -> int:
    return len(planned.inputs) + len(planned.outputs)


@pytest.mark.parametrize("most", [8, 10])
def test_kernels_keep_to_the_storages_that_a_device_binds(most: int) -> None:
    x = Tensor(value(*SHAPE))
    others = [Tensor(value(*SHAPE)) for _ in range(12)]
    results = [tw.sin(x + y).node for y in others] + [(x * n).node for n in range(9)]
    kernels = plan(linearize(results), most - 2)
    assert max(map(bound, kernels)) <= most
    assert len(kernels) <= 1 + len(results) // (most // 2 - 1)


def test_kernels_that_others_wait_for_in_vain_keep_to_the_storages(
    webgpu: str,
) -> None:
    """A piece of a long chain, whose values in the middle are results."""
    results = []
    for _ in range(2):
        x, y = Tensor(value(6)), Tensor(value(8, 1))
        real, imaginary, count = tw.zeros(6), tw.zeros((8, 1)), tw.zeros((8, 6))
        for _ in range(48):
            real, imaginary = (
                real * real - imaginary * imaginary + x,
                2 * real * imaginary + y,
            )
            size = real * real + imaginary * imaginary
            count = count + (size < 4).astype(tw.float32)
        results.append(count.node)
    kernels = [
        planned
        for piece in pieces(linearize(results), 700)
        for planned in plan(linearize(piece), 10)
    ]
    assert max(map(bound, kernels)) <= 12
    assert any(len(planned.outputs) > 1 for planned in kernels)


def test_longest_kernel_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "MOST_STEPS", 20)
    x = Tensor(value(*SHAPE))
    results = [tw.sin(x * n).node for n in range(16)]
    kernels = plan(linearize(results), 62)
    steps = [len(k.kernel.expression("value").operations) for k in kernels]
    assert max(steps) <= 20
    assert len(steps) == 2


def test_a_kernel_has_the_dtypes_of_its_outputs() -> None:
    x = Tensor(value(5, 7, dtype=dtypes.int32))
    graph = linearize([(x + 1).node, (x > 1).node])
    (planned,) = plan(graph, 8)
    assert planned.kernel.dtypes == ("int32", "bool")
    assert [graph.nodes[n].op.name for n in planned.outputs] == ["add", "greater"]


Draw = Callable[[Any], Any]
Pair = tuple[Tensor, Array]


def drawn(draw: Draw, made: Sequence[Pair]) -> Pair:
    """Return a value of one shape made of earlier ones, with whole numbers."""
    x, host = made[draw(st.integers(0, len(made) - 1))]
    y, other = made[draw(st.integers(0, len(made) - 1))]
    return [
        lambda: (x - y, host - other),
        lambda: (tw.where(x > y, x, y * 2), np.where(host > other, host, other * 2)),
        lambda: (x.T.reshape(SHAPE) + y, host.T.reshape(SHAPE) + other),
        lambda: (tw.roll(x, 1, axis=1) + y, np.roll(host, 1, axis=1) + other),
        lambda: (x + y.sum(axis=0), host + other.sum(axis=0)),
        lambda: (x + y.max(axis=1, keepdims=True), host + other.max(1, keepdims=True)),
        lambda: (tw.flip(x * 2, axis=0) - y, (host * 2)[::-1] - other),
        lambda: (x * y + 1, host * other + 1),
    ][draw(st.integers(0, 7))]()


@given(data=st.data())
@settings(
    max_examples=24,
    phases=[Phase.generate, Phase.shrink],
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_many_outputs_of_random_graphs(device: str, data: st.DataObject) -> None:
    made: list[Pair] = []
    for seed in range(2):
        host = np.random.default_rng(seed).integers(-6, 7, SHAPE).astype(np.float32)
        made.append((tw.asarray(host), host))
    for _ in range(data.draw(st.integers(3, 24))):
        x, host = drawn(data.draw, made)
        made.append((x % 13, host % 13))
    expected = made[2:] if data.draw(st.booleans()) else made[-6::2]
    tw.realize(*(x for x, _ in expected))
    for x, host in expected:
        np.testing.assert_array_equal(x.numpy(), host)


def test_value_of_many_kernels_is_stored_by_one_of_them(webgpu: str) -> None:
    table, positions = stored(50, 64), stored(8, 64, seed=1)
    rows = tw.realize(tw.arange(8) * 5)
    x = tw.exp(table[rows] + positions)
    weights = [stored(64, 4 + n, seed=n) for n in range(8)]
    kernels = launched(
        *(x @ w for w in weights), *(x.sum(axis=0) * n for n in range(2))
    )
    assert sum("gather" in kernel.name for kernel in kernels) == 1
