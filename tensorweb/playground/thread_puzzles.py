"""Check a reader's kernel: its result, and what its threads do, on every device."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import tensorweb as tw
from tensorweb.backends.custom_kernels import PYTHON, begun
from tensorweb.evaluate import read
from tensorweb.graph.custom import Custom
from tensorweb.graph.node import attributes_of, leaf
from tensorweb.graph.storage import HostData
from tensorweb.transforms.kernel import Kernel, referred
from tensorweb.wording import counted

from .kernel_records import ShaderProblem, Threads
from .puzzles import Verdict, compared
from .threads import step_threads


def check_threads(kernel: Kernel, *inputs: Any) -> bool:
    """Show whether a kernel computes its reference, and return whether it does.

    Its workgroups are stepped in Python: races, indices out of bounds, and barriers
    that not all threads reach are mistakes, too.

    >>> double = tw.kernel(
    ...     "y[global_id.x] = 2.0 * x[global_id.x];",
    ...     inputs={"x": "float32"},
    ...     outputs={"y": "float32"},
    ...     reference=lambda x: 2 * x,
    ...     workgroup_size=2,
    ... )
    >>> check_threads(double, [1.0, 2.0, 3.0])
    kernel: not yet. Out of bounds: thread 1 uses x[3] (line 9), and x has 3 elements.
    False
    """
    found = verdict_of(kernel, inputs)
    tw.show(found)
    return found.solved


def verdict_of(kernel: Kernel, inputs: tuple[Any, ...]) -> Verdict:
    """Return the verdict that `check_threads` shows."""
    with tw.device("cpu"):
        node, expected = referred(kernel, inputs, PYTHON)
        launch, storages, parameters = begun(node, read(node.inputs))
        own = attributes_of(node, Custom)
        shapes = {each.name: each.shape for each in (*own.inputs, *own.outputs)}
        shown: Threads | None = None
        text = ""
        for x, y, z in product(*map(range, own.groups)):
            threads, storages = step_threads(
                str(launch.source), storages, shapes, parameters, own.groups, (x, y, z)
            )
            wrong = [each["text"] for each in threads["mistakes"]]
            wrong += [f"{text_of(each)}." for each in threads["problems"]]
            shown = threads if wrong or shown is None else shown
            if wrong:
                text = wrong[0]
                break
        data = HostData(storages[own.outputs[0].name])
        got = tw.Tensor(leaf(data, node.shape, node.dtype, "cpu"))
        name = kernel.__name__
        found = compared(name, "", node.shape, expected.tolist(), got.tolist())
    steps = len(shown["steps"]) if shown else 0
    groups = counted(prod(own.groups), "workgroup")
    well = f"{groups}, {counted(steps, 'step')} of the first one."
    text = text or found.text or well
    return replace(found, solved=text == well, text=text, threads=shown)


def text_of(problem: ShaderProblem) -> str:
    """Return what a compiler says about a text, with the line."""
    return f"Line {problem['line']}: {problem['text']}"
