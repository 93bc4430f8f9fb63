"""What holds for the derivatives of any graph, tried on random ones.

The graphs are those of the fuzzer (`fuzz/`), made of every family of operations.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import tensorweb as tw
from fuzz.program import Drawing, Program, Unfit
from fuzz.steps import add_step
from tensorweb.graph.autograd import recording_history

GRAPHS = 240
BATCHES = range(5)


class Graph(NamedTuple):
    """A function of float32 tensors that gives a number, and its arguments.

    Attributes:
        plain: the function.
        read: the same, every value on the way computed at once.
    """

    plain: Callable[..., tw.Tensor]
    read: Callable[..., tw.Tensor]
    arguments: tuple[tw.Tensor, ...]


def drawn(seed: str) -> Graph | None:
    """Return the random graph of a seed, None for one without a derivative."""
    draw = Drawing(random.Random(seed), Program(), most=24, roughness=0.0)
    try:
        for _ in range(2):
            draw.leaf((2, 3), "float32")
    except Unfit:
        return None
    for _ in range(60):
        if draw.program.count == 8:
            break
        try:
            add_step(draw)
        except Unfit:
            continue
    program, first = draw.program, (0, 1)
    text = "\n".join(step.line for step in program.steps)
    if "float16" in text or any(step.is_reading for step in program.steps):
        return None
    arguments = tuple(
        tw.asarray(program.balls[number].centre.tolist(), tw.float32)
        for number in first
    )
    ends = [
        number
        for number in program.sinks
        if program.balls[number].is_float and program.balls[number].centre.size
    ]
    lines = [line for step in program.steps[2:] for line in step.line.split("\n")]
    found = []
    for is_read in (False, True):
        body = [f"    {line}" for line in lines]
        if is_read:
            made = [n for step in program.steps[2:] for n in step.outputs]
            body += [f"    tw.realize(v{number})" for number in made]
        terms = [f"tw.sum(tw.tanh(tw.astype(v{n}, tw.float32)))" for n in ends]
        result = " + ".join([*terms, "tw.sum(v0 * v1)"])
        source = "\n".join(["def f(v0, v1):", *body, f"    return {result}"])
        namespace: dict[str, Any] = {"tw": tw, "np": np}
        exec(compile(source, "<graph>", "exec"), namespace)
        found.append(namespace["f"])
    return Graph(found[0], found[1], arguments)


def graphs(batch: int) -> Iterator[tuple[str, Graph]]:
    """Yield the graphs of a batch, each with its seed."""
    for number in range(batch, GRAPHS, len(BATCHES)):
        graph = drawn(f"laws {number}")
        if graph is not None:
            yield f"laws {number}", graph


def bits(trees: Any) -> list[str]:
    return [repr(leaf.tolist()) for leaf in tw.tree.leaves(trees)]


def by_backward(graph: Graph, *, is_twice: bool) -> list[str]:
    leaves = [tw.asarray(x, requires_grad=True) for x in graph.arguments]
    total = graph.plain(*leaves)
    if is_twice:
        total.backward(retain_graph=True)
        for leaf in leaves:
            leaf.grad = None
    total.backward()
    return bits([leaf.grad for leaf in leaves])


@pytest.mark.parametrize("batch", BATCHES)
def test_ways_to_a_gradient_give_equal_bits(batch: int, cpu: str) -> None:
    for seed, graph in graphs(batch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = bits(tw.grad(graph.plain, (0, 1))(*graph.arguments))
            with recording_history():
                kept = bits(tw.grad(graph.plain, (0, 1))(*graph.arguments))
            others = {
                "reading values inside": bits(
                    tw.grad(graph.read, (0, 1))(*graph.arguments)
                ),
                "checkpoint": bits(
                    tw.grad(tw.checkpoint(graph.plain), (0, 1))(*graph.arguments)
                ),
                "a history around": kept,
                "backward": by_backward(graph, is_twice=False),
                "a retained graph": by_backward(graph, is_twice=True),
            }
        for name, found in others.items():
            assert found == expected, f"{seed}: {name}"


def close(a: Any, b: Any) -> bool:
    """Whether two tensors agree as float32 does; what is not finite says nothing."""
    x, y = (np.asarray(each.tolist(), np.float64) for each in (a, b))
    scale = max(np.abs(x).max(initial=0), np.abs(y).max(initial=0))
    if not math.isfinite(scale) or scale > 1e4:
        return True
    return bool(np.abs(x - y).max(initial=0) <= 2e-3 * (1 + scale))


@pytest.mark.parametrize("batch", BATCHES)
def test_second_derivatives_and_batches(batch: int, cpu: str) -> None:
    for seed, graph in graphs(batch):
        x, y = graph.arguments
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gradient = tw.grad(graph.plain)
            backwards = tw.jacrev(gradient)(x, y).reshape(6, 6)
            forwards = tw.jacfwd(gradient)(x, y).reshape(6, 6)
            assert close(backwards, forwards), f"{seed}: jacrev and jacfwd"
            assert close(backwards, backwards.T), f"{seed}: symmetry"
            try:
                each = tw.vmap(gradient)(tw.stack([x, y]), tw.stack([y, x]))
                mapped = tw.vmap(graph.plain)
                summed = tw.grad(lambda x, y, f=mapped: f(x, y).sum())
                whole = summed(tw.stack([x, y]), tw.stack([y, x]))
            except tw.TraceError:
                continue
            assert close(each, whole), f"{seed}: grad of vmap"
            assert close(each[0], gradient(x, y)), f"{seed}: vmap"
