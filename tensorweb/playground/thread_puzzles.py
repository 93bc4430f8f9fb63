"""Check a kernel of a reader, and step a workgroup: what each invocation touches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import tensorweb as tw
from tensorweb.backends.custom_kernels import PYTHON, begun
from tensorweb.codegen.python_functions import Value
from tensorweb.codegen.stepping import Recorder, Triple, parameters_of, read_program
from tensorweb.display.statistics import short
from tensorweb.errors import ShaderError, counted
from tensorweb.evaluate import read
from tensorweb.graph.attributes import Custom
from tensorweb.graph.node import attributes_of, leaf
from tensorweb.graph.storage import HostData
from tensorweb.playground import policy
from tensorweb.playground.kernel_records import ShaderProblem, ThreadMistake, Threads
from tensorweb.playground.puzzles import Verdict, compared
from tensorweb.transforms.kernel import Kernel, referred


def step_threads(
    source: str,
    storages: Mapping[str, bytes],
    shapes: Mapping[str, Sequence[int]],
    words: Sequence[int] | Mapping[str, Value],
    groups: Triple,
    group: Triple,
) -> tuple[Threads, dict[str, bytes]]:
    """Return what the invocations of a workgroup do, and the storages after it.

    Args:
        source: the complete WGSL of a kernel.
        storages: the bytes of its arrays before it runs.
        shapes: of the arrays, where they are known.
        words: its parameter block, or the values in it by name.
        groups: workgroups along x, y and z.
        group: index of the workgroup; one beyond the last is the last one.
    """
    x, y, z = (min(a, b - 1) for a, b in zip(group, groups, strict=True))
    found: Threads = {
        "source": source,
        "problems": [],
        "workgroup": [],
        "groups": [*groups],
        "group": [x, y, z],
        "arrays": [],
        "steps": [],
        "cut": False,
        "mistakes": [],
    }
    try:
        program = read_program(source)
        recorder = Recorder(program.module.arrays, storages)
        parameters = (
            words
            if isinstance(words, Mapping)
            else parameters_of(program.module, words)
        )
        program.run(recorder, parameters, groups, (x, y, z))
    except ShaderError as error:
        (text, line, column), *_ = error.reports
        found["problems"] = [{"text": text, "line": line, "column": column}]
        return found, {**storages}
    named = {
        name: [int(length) for length in re.findall(r"\d+", lengths)]
        for name, lengths in re.findall(r"const (\w+)_shape = .*?\((.*)\)", source)
    }
    names = {name: number for number, name in enumerate(recorder.arrays)}
    found["workgroup"] = [*program.module.workgroup]
    found["arrays"] = [
        {
            "name": name,
            "space": "workgroup" if own.space == "workgroup" else "storage",
            "shape": [*(named.get(name) or shapes.get(name, recorder.shapes[name]))],
        }
        for name, own in recorder.arrays.items()
    ]
    found["steps"] = [
        {
            "thread": thread,
            "kind": step.kind,
            "array": names.get(step.name, 0),
            "at": step.at,
            "value": _text(step.value),
            "line": step.line,
        }
        for thread in sorted(recorder.steps)
        for step in recorder.steps[thread]
    ]
    found["cut"] = recorder.is_cut
    mistakes: list[ThreadMistake] = [
        {"text": f"{text}.", "line": line}
        for (_, line, _), text in recorder.problems.items()
    ]
    found["mistakes"] = mistakes[: policy.MOST_MISTAKES]
    after = {name: recorder.data(name) for name in storages if name in names}
    return found, {**storages, **after}


def _text(value: Value) -> str:
    return ", ".join(map(short, value if isinstance(value, tuple) else (value,)))


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
