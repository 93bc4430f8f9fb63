"""Say in words what a plan does: the graph, the kernels and their source."""

from __future__ import annotations

from collections.abc import Mapping

from tensorweb.backends.machine import Machine
from tensorweb.backends.planning import Plan
from tensorweb.graph.node import Node, number_of_constant
from tensorweb.graph.op import CONSTANT, LEAF
from tensorweb.schedule.linear import LinearGraph


def explain_plan(graph: LinearGraph, plan: Plan, machine: Machine) -> str:
    """Return graph, kernels and their sources of a plan as text."""
    if not plan.commands:
        return "Nothing to run: the value is already there.\n"
    lines = ["Graph\n"]
    for number, node in enumerate(graph.nodes):
        shape = " x ".join(str(n) for n in node.shape) or "scalar"
        state = "  (stored)" if node.base.storage is not None else ""
        call = _call(node, graph.numbers)
        lines.append(f"  %{number} = {call}  {node.dtype} {shape}{state}\n")
    launches = [command for command in plan.commands if command.launch is not None]
    counts = (_count(len(launches), "launch"), _count(len(plan.tapes), "submit"))
    lines.append(f"\nKernels: {counts[0]}, {counts[1]}\n")
    for number, command in enumerate(launches):
        launch = command.launch
        assert launch is not None, "internal: filtered above"
        template = f"{launch.template}.{machine.extension}"
        note = f"{launch.note}, " if launch.note else ""
        lines.append(
            f"  {number + 1}. {command.words}  [{template}, {note}"
            f"{machine.grid_words(launch.grid)}, {len(launch.storages)} storages]\n"
        )
    for number, command in enumerate(launches):
        assert command.launch is not None, "internal: filtered above"
        lines.append(f"\nKernel {number + 1}: {command.words}\n\n")
        lines.append(str(machine.readable(command.launch.source)))
    return "".join(lines)


def _call(node: Node, numbers: Mapping[Node, int]) -> str:
    """Return an operation and the numbers of what it reads.

    A view of a stored tensor reads the storage: the views between have no numbers, so
    their movements are said one inside the other.
    """
    owner = node.owner
    if owner is not None and owner.storage is not None:
        text = f"%{numbers[owner]}"
        for name in reversed(_movements(node, owner)):
            text = f"{name}({text})"
        return text
    value = f" {number_of_constant(node)}" if node.op is CONSTANT else ""
    sources = ", ".join(f"%{numbers[source]}" for source in node.inputs)
    return f"{node.op.name}{value}" + (f"({sources})" if sources else "")


def _movements(node: Node, owner: Node) -> list[str]:
    """Return the names of the movements from a node down to the storage it looks at."""
    names = []
    while node is not owner:
        names.append("view" if node.op is LEAF else node.op.name)
        node = node.inputs[0]
    return names


def _count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is due."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"
