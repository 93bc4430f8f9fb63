"""WGSL loops over repeated steps, with loop-carried variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import indent

from tensorweb.codegen.library import statements
from tensorweb.codegen.template import are_loops_kept
from tensorweb.schedule.kernel import Expression, Step
from tensorweb.schedule.rolling import Loop

TURNS_TOGETHER = 4
"""Iterations unrolled into one trip, since the loop itself costs instructions."""

MOST_TOGETHER = 512
"""Largest number of statements of an unrolled trip, with library calls inlined."""

Write = Callable[[Step, Step, Sequence[str]], str]
"""Returns the WGSL of a step.

Its arguments are the step, the corresponding step of the last iteration, whose
operation is generated, and the values of all other steps.
"""


def loop_text(
    expression: Expression,
    loop: Loop,
    before: Sequence[str],
    write: Write,
    types: Mapping[str, str],
    turns: str,
) -> tuple[str, list[str]]:
    """Return the lines of a loop, and the values of its steps after the loop.

    Args:
        expression: what is computed.
        loop: the steps that repeat.
        before: the values of the steps before the loop.
        write: generates the WGSL of a step.
        types: the WGSL type of a value, by dtype.
        turns: WGSL of the number of iterations.
    """
    steps = expression.steps
    lines = []
    for place, most in loop.carried:
        kind = types[steps[place].dtype]
        for back in range(1, most + 1):
            first = place - back * loop.period
            is_made = first >= 0 and steps[first].dtype == steps[place].dtype
            start = f" = {before[first]}" if is_made else ""
            lines.append(f"  var {_name(place, back)}: {kind}{start};\n")
    inside = range(loop.start, loop.start + loop.period)
    body = []
    for number in inside:
        step = steps[number]
        read = [*before, *(f"v{place}" for place in inside)]
        for source in loop.carried_reads(expression, number):
            read[source] = _name(*loop.source(source))
        last = steps[loop.end - loop.period + number - loop.start]
        body.append(f"    let v{number} = {write(step, last, read)};\n")
    for place, most in loop.carried:
        for back in range(most, 0, -1):
            newer = _name(place, back - 1) if back > 1 else f"v{place}"
            body.append(f"    {_name(place, back)} = {newer};\n")
    lines.append(_repeated("".join(body), turns))
    carried = dict(loop.carried)
    behind = []
    for number in range(loop.start, loop.end):
        place, back = loop.last(number)
        is_kept = back <= carried.get(place, 0)
        behind.append(_name(place, back) if is_kept else "")
    return "".join(lines), behind


def _repeated(body: str, turns: str) -> str:
    """Return a loop around a body.

    Unrolled by `TURNS_TOGETHER` if the body is short.
    """
    if are_loops_kept() or TURNS_TOGETHER * statements(body) > MOST_TOGETHER:
        return f"  for (var turn = 0u; turn < {turns}; turn++) {{\n{body}  }}\n"
    some = f"    {{\n{indent(body, '  ')}    }}\n" * TURNS_TOGETHER
    return (
        "  var turn = 0u;\n"
        f"  for (; turn + {TURNS_TOGETHER}u <= {turns}; turn += {TURNS_TOGETHER}u) {{\n"
        f"{some}  }}\n"
        f"  for (; turn < {turns}; turn++) {{\n{body}  }}\n"
    )


def _name(place: int, back: int) -> str:
    """Return the variable that holds a step's value of `back` iterations ago."""
    return f"turn{back}_v{place}"
