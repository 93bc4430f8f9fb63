"""Make a failing program small: fewer steps, data instead of history, plain data."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from fuzz.ball import Ball
from fuzz.program import Program, Step, Unfit, leaf_step, literal, renamed
from fuzz.running import Fails, Failure, lines, steps_for

SECONDS = 60.0
LARGEST_LITERAL = 600


def shrink(program: Program, failure: Failure, fails: Fails) -> tuple[Program, Failure]:
    """Return a smaller program that fails in the same way, and how it does."""
    deadline = time.monotonic() + SECONDS
    best = (program, failure)
    improved = True
    while improved and time.monotonic() < deadline:
        improved = False
        for steps in _candidates(*best):
            if time.monotonic() > deadline:
                break
            found = _try(best[0], steps, best[1], fails)
            if found is not None:
                best = found
                improved = True
                break
    return best


def _try(
    program: Program, steps: list[Step], failure: Failure, fails: Fails
) -> tuple[Program, Failure] | None:
    if _weight(steps) >= _weight(program.steps):
        return None
    try:
        smaller = program.rebuilt(steps)
    except (Unfit, ValueError, IndexError, KeyError, TypeError):
        return None
    found = fails(smaller)
    return (smaller, found) if found and found.kind == failure.kind else None


def _weight(steps: list[Step]) -> tuple[int, int]:
    """Return how large a program is: operations first, then its text."""
    count = sum(not step.is_leaf for step in steps)
    return count, sum(len(step.line) for step in steps)


def _candidates(program: Program, failure: Failure) -> list[list[Step]]:
    """Return smaller lists of steps, those that leave out the most first."""
    steps = program.steps
    found: list[list[Step]] = []
    target = failure.value
    if target < 0:
        for place, step in enumerate(steps):
            if step.line.split("\n")[-1] == failure.line or failure.line in step.line:
                found.append(steps_for(program, set(step.outputs)))
                found.append(steps[: place + 1])
    else:
        found.append(steps_for(program, {target}))
    found += [
        steps_for(program, {number}) for number in program.sinks if number != target
    ]
    found += [_without(program, number) for number in program.sinks]
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        if step.is_leaf:
            continue
        cut = _cut(program, place)
        if cut is not None:
            found.append(cut)
        for number in step.inputs:
            if len(step.outputs) == 1:
                found.append(_bypassed(program, place, number))
    found += _plainer(program)
    return found


def _without(program: Program, sink: int) -> list[Step]:
    """Return the steps that all other ends need."""
    return steps_for(program, set(program.sinks) - {sink})


def _cut(program: Program, place: int) -> list[Step] | None:
    """Return the steps with one replaced by the data that it makes."""
    step = program.steps[place]
    made: list[Step] = []
    for number in step.outputs:
        ball = program.balls[number]
        if ball.centre.size > LARGEST_LITERAL or np.isinf(ball.radius).any():
            return None
        made.append(_data_step(ball, number))
    changed = [*program.steps[:place], *made, *program.steps[place + 1 :]]
    smaller = Program(changed, {}, program.is_wide)
    ends = set(program.sinks) - set(step.outputs)
    return steps_for(smaller, ends) if ends else None


def _data_step(ball: Ball, number: int) -> Step:
    with np.errstate(all="ignore"):
        return leaf_step(literal(ball.centre.astype(ball.dtype)), number)


def _bypassed(program: Program, place: int, number: int) -> list[Step]:
    """Return the steps with a step's input in place of its result."""
    step = program.steps[place]
    names = {step.outputs[0]: number}
    rest = [renamed(each, names) for each in program.steps[place + 1 :]]
    return [*program.steps[:place], *rest]


def _plainer(program: Program) -> list[list[Step]]:
    """Return the steps with simpler data in one place."""
    found: list[list[Step]] = []
    for place, step in enumerate(program.steps):
        if not step.is_leaf:
            continue
        ball = program.balls[step.outputs[0]]
        shape, dtype = ball.shape, ball.dtype
        count = int(np.prod(shape))
        texts = [f"np.zeros({shape}, '{dtype}')", f"np.ones({shape}, '{dtype}')"]
        texts.append(f"np.arange({count}).reshape({shape}).astype('{dtype}')")
        for text in texts:
            plain = leaf_step(text, step.outputs[0])
            changed = [*program.steps]
            changed[place] = dataclasses.replace(plain)
            found.append(changed)
    return found


def text_of(program: Program, failure: Failure, seed: str) -> str:
    """Return a program that shows a failure on its own."""
    body = lines(program, failure.manner, seed)
    shown = [
        f"print({line[6:].split(',')[0]})" if line.startswith("check(") else line
        for line in body
    ]
    return "\n".join(
        [
            "import numpy as np",
            "import tensorweb as tw",
            f'tw.set_default_device("{failure.device}")',
            *shown,
            f"# {failure.line}",
            *(f"# {line}" for line in failure.words.splitlines()),
        ]
    )
