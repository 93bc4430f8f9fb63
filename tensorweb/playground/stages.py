"""How the nodes of a flush became kernels: which of them, in which steps.

Nothing is planned again: the device's cache still has the plan of what ran.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from itertools import chain

from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.events import Flush
from tensorweb.events import KernelRecord as Launch
from tensorweb.inspection.cells import INFIX
from tensorweb.ops import OPS
from tensorweb.schedule.formula import input_name
from tensorweb.schedule.kernel import Access, Expression, Kernel, Planned, Step

from . import policy
from .kernel_lines import Spans, value_of
from .kernel_records import (
    StageExpression,
    StageKernel,
    StageLoss,
    Stages,
    StageStep,
)
from .kernels import Key, key_of
from .streams import clip_line

LETTERS = "ijklmnpqrst"
"""Indices of an expression's axes, in order."""

WITHOUT_STEP = frozenset({"leaf", "constant", "iota"})
"""Kinds whose nodes are inputs of kernels or numbers in them."""


def record(flush: Flush, launch: Launch, numbers: Mapping[Key, int]) -> Stages:
    """Return the stages of a flush, of a large one those of one launch.

    Raises:
        LookupError: its plan is not cached any more.
    """
    backend = devices.backend(launch.device)
    found = (
        backend.planned(flush.launches) if isinstance(backend, KernelBackend) else ()
    )
    plans = {planned.outputs: planned for planned in found}
    if launch.outputs not in plans:
        raise LookupError("the plan is not cached any more: run the program again")
    shown = [each for each in _firsts(flush) if key_of(each) in numbers]
    nodes: Collection[int] = range(len(flush.graph))
    if len(nodes) > policy.MOST_STAGE_NODES:
        shown = [each for each in shown if each.outputs == launch.outputs]
        inputs = (flush.graph[number].inputs for number in launch.nodes)
        near = sorted({*launch.nodes, *chain.from_iterable(inputs)})
        nodes = near[: policy.MOST_STAGE_NODES]
    spans = Spans(flush)
    return {
        "nodes": [
            {
                "node": number,
                "op": flush.graph[number].op,
                "value": value_of(flush, number),
                "inputs": list(flush.graph[number].inputs),
                "span": spans.of(number),
            }
            for number in nodes
        ],
        "kernels": [
            _kernel(flush, each, plans[each.outputs], numbers[key_of(each)], nodes)
            for each in shown
        ],
        "leftOut": len(flush.graph) - len(nodes),
    }


def _firsts(flush: Flush) -> Iterator[Launch]:
    """Yield the first launch of each kernel."""
    known: set[Hashable] = set()
    for launch in flush.launches:
        if launch.outputs not in known:
            known.add(launch.outputs)
            yield launch


def _kernel(
    flush: Flush, launch: Launch, planned: Planned, index: int, nodes: Collection[int]
) -> StageKernel:
    computed = [number for number in launch.nodes if number in nodes]
    seen = set(chain.from_iterable(numbers for _, numbers in launch.steps))
    kinds = {number: OPS[flush.graph[number].op].kind for number in computed}
    lost: list[StageLoss] = [
        {
            "node": number,
            "why": "view"
            if kind == "movement"
            else "copy"
            if kind == "copy"
            else "equal",
        }
        for number, kind in kinds.items()
        if number not in seen and kind not in WITHOUT_STEP
    ]
    kernel = planned.kernel
    return {
        "kernel": index,
        "nodes": computed,
        "outputs": [number for number in launch.outputs if number in nodes],
        "expressions": [
            _expression(kernel, name, each, nodes) for name, each in kernel.expressions
        ],
        "lost": lost,
    }


def _expression(
    kernel: Kernel, name: str, expression: Expression, nodes: Collection[int]
) -> StageExpression:
    lengths = list(chain.from_iterable(expression.groups))
    steps: list[StageStep] = []
    of_steps = zip(expression.steps, expression.nodes, strict=True)
    for number, (step, node) in enumerate(of_steps):
        text = clip_line(_text(kernel, expression, step), policy.LONGEST_PROBLEM)
        shown = node if node in nodes else None
        steps.append({"name": f"v{number}", "text": text, "node": shown})
    axes = [f"{_letter(at)} < {length}" for at, length in enumerate(lengths)]
    return {
        "name": name,
        "axes": ", ".join(axes),
        "steps": steps[: policy.MOST_STAGE_STEPS],
    }


def _text(kernel: Kernel, expression: Expression, step: Step) -> str:
    """Return a step as a formula of earlier values."""
    args = [f"v{number}" for number in step.args]
    name = input_name(step.slot)
    guard = f" if v{step.guard}" if step.guard >= 0 else ""
    match step.kind:
        case "load":
            return f"{name}[{_index(expression.accesses[step.access])}]{guard}"
        case "gather":
            return f"{name}[{', '.join(args)}]{guard}"
        case "ramp":
            return _index(expression.accesses[step.access])
        case "scalar":
            return step.name or f"c{step.slot + 1 if step.slot else ''}"
        case "core":
            return kernel.op.split(",")[max(step.slot, 0)]
        case "cast":
            return f"{step.dtype}({args[0]})"
    infix = INFIX.get(step.name)
    return infix.join(args) if infix else f"{step.name}({', '.join(args)})"


def _index(access: Access) -> str:
    """Return an index of a storage as a formula; an axis of stride 0 is not in it."""
    strides = enumerate(chain.from_iterable(access.strides))
    terms = [
        _letter(at) if stride == 1 else f"{stride}·{_letter(at)}"
        for at, stride in strides
        if stride
    ]
    if access.offset or not terms:
        terms.append(str(access.offset))
    return " + ".join(terms)


def _letter(axis: int) -> str:
    return LETTERS[axis] if axis < len(LETTERS) else f"i{axis}"
