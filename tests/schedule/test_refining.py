"""Index spaces whose axes are split where a reshape has no strides: one kernel."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb import Tensor
from tensorweb.shapes import Shape

ROUNDS = 100


def numbers(*shape: int) -> Tensor:
    """Return numbers that no sum rounds."""
    counted = tw.arange(prod(shape), dtype=tw.float32)
    return tw.realize((counted % 37 / 16 - 1).reshape(shape))


def twice_as_large(x: Tensor) -> Tensor:
    """Return images (..., h, w) with every element four times."""
    *outer, h, w = x.shape
    wide = tw.broadcast_to(x[..., :, None, :, None], (*outer, h, 2, w, 2))
    return wide.reshape((*outer, 2 * h, 2 * w))


def of_groups() -> Tensor:
    x, mean = numbers(2, 6, 5, 7), numbers(2, 3, 1)
    grouped = x.reshape((2, 3, 70)) - mean
    return grouped.reshape((2, 6, 5, 7)) * numbers(6, 1, 1) + numbers(6, 1, 1)


def of_transposed() -> Tensor:
    """Groups merged, transposed, and merged again."""
    x = tw.broadcast_to(numbers(3, 5)[:, None, :], (3, 2, 5)).reshape((6, 5))
    y = tw.broadcast_to(x.T[:, :, None], (5, 6, 4)).reshape((5, 24))
    return y * numbers(5, 24)


CASES: dict[str, tuple[Callable[[], Tensor], int]] = {
    "larger images": (lambda: twice_as_large(numbers(2, 3, 5)) * numbers(2, 6, 10), 1),
    "their sums": (
        lambda: tw.sum(twice_as_large(numbers(3, 5)) * numbers(6, 10), axis=1),
        1,
    ),
    "groups": (of_groups, 1),
    "transposed": (of_transposed, 1),
    "repeated": (lambda: tw.repeat(numbers(5), 3) + numbers(15), 1),
    "as they are": (lambda: twice_as_large(numbers(2, 3)), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_one_kernel_agrees_with_numpy(name: str, webgpu: str) -> None:
    make, launches = CASES[name]
    with tw.device("cpu"):
        expected = np.asarray(make())
    x = make()
    with tw.record_kernels() as kernels:
        tw.realize(x)
    assert_equal(x, expected)
    assert len(kernels) == launches, [kernel.name for kernel in kernels]


def test_webassembly_agrees_with_numpy(
    cpu: str, request: pytest.FixtureRequest
) -> None:
    expected = {name: np.asarray(make()) for name, (make, _) in CASES.items()}
    request.getfixturevalue("wasm")
    for name, (make, launches) in CASES.items():
        x = make()
        with tw.record_kernels() as kernels:
            tw.realize(x)
        assert_equal(x, expected[name])
        assert len(kernels) == launches, name


def split(random: Random, length: int) -> tuple[int, ...]:
    """Return one or two lengths of that product."""
    parts = [n for n in range(1, length + 1) if length % n == 0]
    part = random.choice(parts)
    return random.choice([(length,), (part, length // part)])


def joined(random: Random, shape: Shape) -> Shape:
    axis = random.randrange(len(shape) - 1)
    return (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])


def next_step(random: Random, shape: Shape) -> tuple[str, Any]:
    """Return a movement of a shape, by the name that both libraries have."""
    kind = random.choice(("split", "join", "permute", "repeat", "add"))
    if kind == "join" and len(shape) > 1:
        return "reshape", joined(random, shape)
    if kind == "split" and len(shape) < 6:
        return "reshape", tuple(n for axis in shape for n in split(random, axis))
    if kind == "repeat" and len(shape) < 6 and prod(shape) < 400:
        axis = random.randrange(len(shape) + 1)
        return "repeat", (*shape[:axis], random.choice((1, 2, 3)), *shape[axis:])
    if kind == "add":
        return "add", shape
    return "permute_dims", random.sample(range(len(shape)), len(shape))


def after(xp: Any, x: Any, kind: str, how: Any) -> Any:
    """Return an array after such a step."""
    if kind == "repeat":
        axis = next((i for i, n in enumerate(x.shape) if n != how[i]), len(x.shape))
        one = (*x.shape[:axis], 1, *x.shape[axis:])
        return xp.broadcast_to(xp.reshape(x, one), how)
    if kind == "add":
        more = xp.reshape(xp.arange(prod(how), dtype=xp.float32), how)
        return x + more
    return getattr(xp, kind)(x, tuple(how))


def test_random_movements_agree_with_numpy(webgpu: str) -> None:
    random = Random(5)
    for _ in range(ROUNDS):
        shape = tuple(random.choice((1, 2, 3, 4)) for _ in range(random.randint(1, 4)))
        x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
        y = tw.asarray(x)
        steps = []
        for _ in range(random.randint(3, 9)):
            steps.append(next_step(random, x.shape))
            x, y = after(np, x, *steps[-1]), after(tw, y, *steps[-1])
        assert np.array_equal(np.asarray(y), x), (shape, steps)


@pytest.mark.parametrize(
    ("size", "stride", "launches"), [(2, 2, 4), (3, 3, 4), (2, 3, 6)]
)
def test_gradients_of_pools_are_few_kernels(
    webgpu: str, size: int, stride: int, launches: int
) -> None:
    def loss(x: Tensor, w: Tensor) -> Tensor:
        return (tw.max_pool2d(tw.relu(x), size, stride=stride) * w).sum()

    with tw.device("cpu"):
        count = (12 - size) // stride + 1
        expected = np.asarray(tw.grad(loss)(numbers(2, 12, 12), numbers(count, count)))
    x, w = numbers(2, 12, 12), numbers(count, count)
    found = tw.grad(loss)(x, w)
    with tw.record_kernels() as kernels:
        tw.realize(found)
    assert_equal(found, expected)
    assert len(kernels) == launches, [kernel.name for kernel in kernels]
