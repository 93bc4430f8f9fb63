"""Kernels kept from one planning round to the next store what they should then."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb.graph.tracing import tracing
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

pytestmark = pytest.mark.usefixtures("webgpu")

Draw = random.Random
Step = Callable[[Tensor, Tensor, list[Tensor], Draw], Tensor]


def many(x: Tensor, _: Tensor, leaves: list[Tensor], rng: Draw) -> Tensor:
    """Sum inputs until a kernel binds too many and another value must be stored."""
    return sum((rng.choice(leaves) for _ in range(rng.randint(2, 9))), x)


STEPS: tuple[Step, ...] = (
    lambda x, *_: tw.exp(x * 0.5),
    lambda x, y, *_: x + y,
    lambda x, *_: x / x.sum(axis=1, keepdims=True),
    lambda x, *_: x - x.max(axis=1, keepdims=True),
    lambda x, y, *_: tw.tanh(x) * y,
    lambda x, y, *_: x * y.sum(axis=1, keepdims=True),
    many,
    lambda x, y, *_: tw.sin(x + y),
)


def rows(rng: Draw) -> list[Tensor]:
    """Return some of many values that are computed along rows from each other."""
    leaves = [Tensor(value(8, 64)) for _ in range(rng.randint(2, 12))]
    values = list(leaves)
    for _ in range(rng.randint(10, 60)):
        step = STEPS[rng.randrange(len(STEPS))]
        x = rng.choice(values[-12:] if rng.random() < 0.6 else values)
        values.append(step(x, rng.choice(values), leaves, rng))
    found = [each for each in values[len(leaves) :] if rng.random() < 0.15]
    found.append(values[-1])
    if rng.random() < 0.5:
        found.append(values[-2].sum())
    if rng.random() < 0.5:
        found.append(values[-3].T.reshape(-1) * 2)
    return found


@pytest.mark.parametrize("seed", [141, 189, 264, 13051, 13094, 14076, *range(20)])
def test_each_storage_that_kernels_read_is_made_once(seed: int) -> None:
    with tracing("rows"):
        graph = linearize([each.node.base for each in rows(random.Random(seed))])
    kernels = plan(graph, 8)
    made = Counter(number for kernel in kernels for number in kernel.outputs)
    read = {number for kernel in kernels for number in kernel.inputs}
    pending = {n for n in read if graph.nodes[n].storage is None}
    assert pending | set(graph.outputs) <= made.keys()
    assert max(made.values()) == 1
