"""`bench derivatives`: what derivatives cost Python, whether training stays flat."""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any

from bench.results import Row

ROUNDS = 8
LAYERS = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("--steps", type=int, default=10_000, help="steps of training")
    parser.add_argument("--device", default="cpu", help="where to compute")


def run(options: argparse.Namespace) -> None:
    """Measure, print a row each, and write them as JSON if a file is named."""
    import tensorweb as tw

    tw.set_default_device(options.device)
    rows: list[Row] = [building(), hessian(), depth()]
    rows += [training(style, options.steps) for style in ("grad", "jit", "backward")]
    for row in rows:
        print(row, flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


def best(run: Callable[[], object]) -> float:
    """Return the shortest of several runs, in seconds."""
    found = []
    for _ in range(ROUNDS):
        start = perf_counter()
        run()
        found.append(perf_counter() - start)
    return min(found)


def network(layers: Any, x: Any) -> Any:
    """Return a number: the mean square of what a network gives."""
    import tensorweb as tw

    for w, b in layers[:-1]:
        x = tw.tanh(x @ w + b)
    w, b = layers[-1]
    return ((x @ w + b) ** 2).mean()


def layers_of(*sizes: int) -> Any:
    """Return weights and offsets between layers of some sizes."""
    import tensorweb as tw

    return [(tw.full((a, b), 1.0 / a), tw.zeros(b)) for a, b in pairwise(sizes)]


def building() -> Row:
    """Measure building forward and backward pass; nothing is computed."""
    import tensorweb as tw
    from tensorweb.graph.node import Node
    from tensorweb.graph.tracing import tracing

    layers, x = layers_of(*(8,) * (LAYERS + 1)), tw.ones((4, 8))
    gradient = tw.value_and_grad(network)

    def build() -> object:
        with tracing("network", {}):
            return gradient(layers, x)

    made = build()
    gc.collect()
    nodes = sum(type(each) is Node for each in gc.get_objects())
    del made
    seconds = best(build)
    return {"name": "forward and backward", "nodes": nodes, "us": seconds * 1e6}


def hessian() -> Row:
    """Measure all second derivatives of a network of three layers, of 50 inputs."""
    import tensorweb as tw

    layers = layers_of(50, 32, 32, 1)
    second = tw.hessian(lambda x: network(layers, x))
    x = tw.linspace(-1.0, 1.0, 50)
    seconds = best(lambda: second(x).tolist())
    return {"name": "hessian of 50 inputs", "us": seconds * 1e6}


def depth() -> Row:
    """Measure the gradient of a graph of 100,000 operations, one on the other."""
    import tensorweb as tw

    def run() -> None:
        x = tw.asarray(1.0, requires_grad=True)
        y = x
        for _ in range(100_000):
            y = y + x
        y.backward()
        assert x.grad is not None
        assert x.grad.item() == 100_001

    start = perf_counter()
    run()
    return {"name": "100,000 operations deep", "us": (perf_counter() - start) * 1e6}


def training(style: str, steps: int) -> Row:
    """Measure steps of training, and count the nodes alive halfway and at the end."""
    import tensorweb as tw
    from tensorweb.graph.node import Node

    layers, x = layers_of(3, 2), tw.ones((4, 3))
    w = layers[0][0].detach().requires_grad_(style == "backward")

    def improved(w: Any) -> Any:
        return w - 0.01 * tw.grad(network)([(w, layers[0][1])], x)[0][0]

    step = tw.jit(improved) if style == "jit" else improved
    alive = []
    start = perf_counter()
    for number in range(steps):
        if style == "backward":
            network([(w, layers[0][1])], x).backward()
            with tw.no_grad():
                w -= 0.01 * w.grad
            w.grad = None
        else:
            w = step(w)
        if number + 1 in (steps // 2, steps):
            tw.realize(w)
            gc.collect()
            alive.append(sum(type(each) is Node for each in gc.get_objects()))
    seconds = (perf_counter() - start) / steps
    return {"name": f"training by {style}", "us": seconds * 1e6, "alive": alive}
