"""Loops that Python wrote out are one kernel, and compute what they did before."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tensorweb as tw
from tensorweb.events import KernelRecord
from tensorweb.schedule.kernel import Access, Expression, Step
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import equal_constants, linearize
from tensorweb.schedule.policy import MOST_STEPS
from tensorweb.schedule.rolling import find_loop, written_steps
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

Array = np.ndarray[Any, Any]
State = tuple[Tensor, ...]

SHAPE = (6, 8)


def mandelbrot(real: Tensor, imaginary: Tensor, steps: int = 50) -> State:
    x, y = real, imaginary
    count = tw.zeros(x.shape, dtype=tw.int32)
    for _ in range(steps):
        size = real * real + imaginary * imaginary
        inside = size <= 4.0
        next_real = real * real - imaginary * imaginary + x
        next_imaginary = 2.0 * real * imaginary + y
        real = tw.where(inside, next_real, real)
        imaginary = tw.where(inside, next_imaginary, imaginary)
        count = count + inside
    return (count,)


def orbit(x: Tensor, v: Tensor) -> State:
    y, w = x * 0.5, v * 0.25
    for _ in range(30):
        r = x * x + y * y + 0.1
        v, w = v - 0.01 * x / r, w - 0.01 * y / r
        x, y = x + 0.01 * v, y + 0.01 * w
    return x, y, v, w


def newton(x: Tensor, a: Tensor) -> State:
    for _ in range(40):
        x = x - (x * x - a * a - 1) / (2 * x) * 0.1
    return (x,)


def waves(now: Tensor, before: Tensor) -> State:
    for _ in range(60):
        before, now = now, 2 * now - before - 0.001 * now
    return now, before


def means(x: Tensor, y: Tensor) -> State:
    seen = []
    for _ in range(40):
        x = x * 0.9 + y * 0.1
        seen.append(x)
    return x, seen[20] + seen[5]


LOOPS = [mandelbrot, orbit, newton, waves, means]


def data(seed: int) -> Array:
    random = np.random.default_rng(seed)
    return random.uniform(0.3, 1.2, SHAPE).astype(np.float32)


def expected(loop: Callable[[Tensor, Tensor], State]) -> list[Array]:
    with tw.device("cpu"):
        return [x.numpy() for x in loop(tw.asarray(data(0)), tw.asarray(data(1)))]


def written(loop: Callable[[Tensor, Tensor], State]) -> tuple[list[Tensor], State]:
    leaves = [tw.realize(tw.asarray(data(seed))) for seed in range(2)]
    return leaves, loop(leaves[0], leaves[1])


def loops(records: list[KernelRecord]) -> int:
    return sum("trip < parameters.iterations" in record.source for record in records)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("is_recorded", [False, True], ids=["eager", "recorded"])
def test_loop_of_elementwise_steps_is_one_kernel(
    loop: Callable[[Tensor, Tensor], State], is_recorded: bool, webgpu: str
) -> None:
    with tw.record_kernels() as records:
        leaves, results = written(tw.jit(loop) if is_recorded else loop)
        tw.realize(*results)
    (kernel,) = [record for record in records if record.flops]
    assert kernel.stored == len(results) * 4 * 48
    assert loops([kernel]) == 1
    for got, want in zip(results, expected(loop), strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-5)
    del leaves


def test_thousand_steps_are_few_kernels_and_little_memory(webgpu: str) -> None:
    x, y = (tw.realize(tw.asarray(data(seed))) for seed in range(2))
    with tw.record_kernels() as records:
        (count,) = mandelbrot(x, y, 1000)
        found = count.numpy()
    assert len(records) <= 40
    assert max(len(record.outputs) for record in records) <= 8
    with tw.device("cpu"):
        (want,) = mandelbrot(tw.asarray(data(0)), tw.asarray(data(1)), 1000)
    np.testing.assert_array_equal(found, want.numpy())


@pytest.mark.usefixtures("wasm")
@pytest.mark.parametrize("loop", [mandelbrot, orbit], ids=["mandelbrot", "orbit"])
def test_loops_on_webassembly_are_cut_where_little_is_alive(
    loop: Callable[[Tensor, Tensor], State],
) -> None:
    with tw.record_kernels() as records:
        _, results = written(tw.jit(loop))
    assert len(records) <= 10
    found = [x.numpy() for x in results]
    for got, want in zip(found, reference(loop), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def reference(loop: Callable[[Tensor, Tensor], State]) -> list[Array]:
    """Compute step by step, each value stored."""
    x, y = tw.asarray(data(0)), tw.asarray(data(1))
    return [each.numpy() for each in loop(x, y)]


def test_text_of_a_loop_has_its_steps_once() -> None:
    x, y = Tensor(value(*SHAPE)), Tensor(value(*SHAPE))
    with tw.device("webgpu"):
        graph = linearize([each.node for each in orbit(x, y)])
    equal = equal_constants(graph)
    (planned,) = plan(graph, 8, equal, rolls=True)
    expression = planned.kernel.expression("value")
    found = find_loop(expression)
    assert found is not None
    assert found.iterations >= 26
    assert written_steps(expression) < MOST_STEPS < len(expression.steps)
    cut = plan(graph, 8, equal)
    assert len(cut) <= 4
    assert all(len(each.kernel.expression("value").steps) <= MOST_STEPS for each in cut)


def test_loop_has_every_iteration() -> None:
    """A chain of equal steps is one loop, its last step included."""
    steps = [Step("load", "float32", slot=0, access=0), Step("scalar", "float32")]
    for last in range(1, 81):
        steps.append(Step("map", "float32", "add", args=(last if last > 1 else 0, 1)))
    expression = Expression(((6,),), (Access(0, ((1,),)),), tuple(steps), 81)
    found = find_loop(expression)
    assert found is not None
    assert found.period * found.iterations >= 79
    assert found.end == len(steps)


def test_short_iterations_are_unrolled_by_four(webgpu: str) -> None:
    x, y = (tw.realize(tw.asarray(data(seed))) for seed in range(2))
    with tw.record_kernels() as records:
        tw.realize(*mandelbrot(x, y))
        for _ in range(40):
            x = tw.sin(x) * tw.cos(x)
        tw.realize(x)
    counts = [record.code.count("trip += 4u") for record in records]
    assert counts == [1, 0]
    assert loops(records) == 2


def test_steps_that_do_not_repeat_are_cut_at_one_step() -> None:
    with tw.device("webgpu"):
        x, y = Tensor(value(*SHAPE)), Tensor(value(*SHAPE))
        for step in range(60):
            x, y = x * (0.1 * step) + y, y - x * 0.5
    graph = linearize([x.node, y.node])
    kernels = plan(graph, 8, equal_constants(graph), rolls=True)
    assert len(kernels) == 2
    assert all(len(each.outputs) <= 3 for each in kernels)


Draw = Callable[[Any], Any]


def random_step(draw: Draw) -> Callable[[list[Any], list[Any], Any], list[Any]]:
    """Return a random step of three values and those before them."""
    positions = st.integers(0, 7)
    plan_of = [
        (
            draw(st.integers(0, 4)),
            draw(positions),
            draw(positions),
            draw(st.integers(1, 3)),
        )
        for _ in range(draw(st.integers(2, 6)))
    ]

    def step(now: list[Any], past: list[Any], xp: Any) -> list[Any]:
        pool = [*now, *past, *now[:2]]
        for kind, a, b, number in plan_of:
            left, right = pool[a % len(pool)], pool[b % len(pool)]
            made = [
                lambda p, q, n: p + q * n,
                lambda p, q, n: p - q,
                lambda p, q, n: xp.where(p > q, p, q + n),
                lambda p, q, n: p * n,
                lambda p, q, n: xp.maximum(p, q) - n,
            ][kind](left, right, number)
            pool.append(made % 13)
        return pool[-3:]

    return step


@given(data=st.data())
@settings(
    max_examples=40,
    phases=[Phase.generate, Phase.shrink],
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_random_loops(device: str, data: st.DataObject) -> None:
    step, count = random_step(data.draw), data.draw(st.integers(3, 24))
    hosts = [
        np.random.default_rng(seed).integers(0, 9, SHAPE).astype(np.float32)
        for seed in range(data.draw(st.integers(1, 3)))
    ]

    def loop(xp: Any, first: list[Any]) -> list[Any]:
        now, past = [first[0], first[-1], first[len(first) // 2]], list(first)
        for _ in range(count):
            now, past = step(now, past, xp), now
        return now + past

    def recorded(*leaves: Tensor) -> State:
        return tuple(loop(tw, list(leaves)))

    results = tw.jit(recorded)(*map(tw.asarray, hosts))
    for got, want in zip(results, loop(np, hosts), strict=True):
        np.testing.assert_array_equal(got.numpy(), want)


def test_a_constant_is_both_loaded_and_passed(device: str) -> None:
    """Of many equal constants one is passed, which may be stored and loaded as well."""
    x = np.linspace(0, 1, 16, dtype=np.float32)
    ones = tw.ones(16)
    tw.realize(ones)
    found, expected = tw.asarray(x) * ones, x
    for _ in range(20):
        found, expected = found * 1.0 + 0.5, expected + np.float32(0.5)
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_descent_by_gradients_is_one_loop(webgpu: str) -> None:
    """Each gradient looks at an alias of its argument, which costs planning nothing."""

    def loss(x: Tensor) -> Tensor:
        return (tw.exp(x) * x).sum()

    x = tw.asarray([0.5, 1.0, 2.0])
    expected = np.asarray(x, np.float64)
    for _ in range(20):
        x = x - 0.01 * tw.grad(loss)(x)
        expected = expected - 0.01 * np.exp(expected) * (1 + expected)
    with tw.record_kernels() as records:
        found = np.asarray(x)
    assert len(records) == 1
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def steps_of(iteration: list[tuple[str, int]], iterations: int) -> Expression:
    """Return a loop: each step reads the one before it and one some steps before."""
    steps = [Step("load", "float32", slot=slot, access=0) for slot in range(6)]
    for name, back in iteration * iterations:
        last = len(steps) - 1
        steps.append(Step("map", "float32", name, args=(last, last - back)))
    return Expression(((6,),), (Access(0, ((1,),)),), tuple(steps), len(steps) - 1)


def names(count: int) -> list[tuple[str, int]]:
    return [(f"op{number}", 1) for number in range(count)]


def irregular(count: int) -> list[tuple[str, int]]:
    draw = random.Random(5)
    return [("add", draw.randrange(1, 5)) for _ in range(count)]


@pytest.mark.parametrize(
    ("iteration", "within", "beyond"),
    [([("add", 1)], 58, 57), (names(40), 4, 3)],
    ids=["LEAST_LOOP_STEPS", "LEAST_ITERATIONS"],
)
def test_short_loops_stay_unrolled(
    iteration: list[tuple[str, int]], within: int, beyond: int
) -> None:
    assert find_loop(steps_of(iteration, within)) is not None
    assert find_loop(steps_of(iteration, beyond)) is None


def test_an_iteration_reads_four_iterations_back() -> None:
    """If a step lies farther back, an iteration takes several steps."""
    for back, period in ((3, 1), (4, 2)):
        found = find_loop(steps_of([("add", back)], 70))
        assert found is not None
        assert found.period == period


def test_24_lengths_of_an_iteration_are_tried() -> None:
    for count, period in ((24, 24), (33, 0)):
        found = find_loop(steps_of(irregular(count), 8))
        assert (0 if found is None else found.period) == period
