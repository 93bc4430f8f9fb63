"""Step a workgroup of a kernel: what each invocation reads and writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tensorweb.codegen.python_functions import Value
from tensorweb.codegen.stepping import Recorder, Triple, parameters_of, read_program
from tensorweb.display.numbers import short
from tensorweb.errors import ShaderError

from . import policy
from .kernel_records import ThreadMistake, Threads


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
