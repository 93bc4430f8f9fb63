"""Run a program on a device in one of several manners and compare what it makes.

The manner decides when values are read, computed or let go. What runs is Python text,
line by line, so that a failure can be printed as it happened.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import tensorweb as tw
from fuzz.ball import FLOATS, Array, Ball
from fuzz.program import Program, Step
from tensorweb import devices

MANNERS = ("lazy", "stepwise", "middle", "partial", "twice", "deleted", "jit")
"""`lazy` reads only what nothing else reads, at the end; `stepwise` reads each value at
once; `middle` reads some on the way; `partial` computes some without a read; `twice`
runs the text again, from cached plans; `deleted` lets values go as soon as nothing
needs them; `jit` records the whole program as one function."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in a few words, and where.

    Attributes:
        device, manner: of the run.
        words: for people.
        value: the number of the value that is wrong, -1 for an exception.
        line: what ran.
        kind: `wrong`, `dtype`, `shape` or the exception's class.
    """

    device: str
    manner: str
    words: str
    value: int
    line: str
    kind: str


class Wrong(Exception):
    """A value is not NumPy's."""

    def __init__(self, words: str, number: int, kind: str) -> None:
        super().__init__(words)
        self.number = number
        self.kind = kind


def lines(program: Program, manner: str, seed: str) -> list[str]:
    """Return the program's text in a manner; `check(v3, 3)` compares a value."""
    if manner == "jit":
        return _recorded(program)
    result: list[str] = []
    last = {n: step for step in program.steps for n in (*step.inputs, *step.outputs)}
    sinks = set(program.sinks)
    for step in program.steps:
        result += step.line.split("\n")
        for number in step.outputs:
            draw = random.Random(f"{seed} {number}").random()
            if manner == "stepwise" or (manner == "middle" and draw < 0.2):
                result.append(f"check(v{number}, {number})")
            elif manner == "partial" and draw < 0.3:
                result.append(f"tw.realize(v{number})")
        if manner == "deleted":
            gone = [n for n in (*step.inputs, *step.outputs) if last[n] is step]
            gone = [n for n in dict.fromkeys(gone) if n not in sinks]
            result += [f"del v{number}" for number in gone]
    ends = sorted(sinks, key=lambda n: random.Random(f"{seed} end {n}").random())
    result += [f"check(v{number}, {number})" for number in ends]
    return result


def _recorded(program: Program) -> list[str]:
    """Return the text of one recorded function, called twice."""
    leaves = [step for step in program.steps if step.is_leaf]
    body = [step for step in program.steps if not step.is_leaf]
    sinks = [n for n in program.sinks if n not in {s.outputs[0] for s in leaves}]
    arguments = [step.outputs[0] for step in leaves]
    # One in three is taken from outside instead of passed.
    passed = ", ".join(f"v{n}" for n in arguments if n % 3)
    text = [line for step in leaves for line in step.line.split("\n")]
    text += ["@tw.jit", f"def program({passed}):"]
    text += [f"    {line}" for step in body for line in step.line.split("\n")]
    results = ", ".join(f"v{n}" for n in sinks)
    text.append(f"    return ({results},)")
    for _ in range(2):
        text.append(f"({results},) = program({passed})")
        text += [f"check(v{number}, {number})" for number in sinks]
    return text


def can_jit(program: Program) -> bool:
    """Whether nothing is read while the program's graph is built."""
    leaves = [step for step in program.steps if step.is_leaf]
    return (
        not any(step.is_reading for step in program.steps)
        and any(step.outputs[0] % 3 for step in leaves)
        and program.count > 0
        and any(not step.is_leaf for step in program.steps)
        and bool(set(program.sinks) - {step.outputs[0] for step in leaves})
    )


def run(program: Program, device: str, manner: str, seed: str) -> Failure | None:
    """Run a program and return what went wrong first, None when nothing did."""
    text = lines(program, manner, seed)

    def check(tensor: tw.Tensor, number: int) -> None:
        compare(tensor, program.balls[number], number)

    namespace = {"tw": tw, "np": np, "check": check}
    code = compile("\n".join(text), "<program>", "exec")
    try:
        with tw.device(device), warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2 if manner == "twice" else 1):
                exec(code, dict(namespace))
    except Wrong as error:
        line = line_of(program, error.number)
        return Failure(device, manner, str(error), error.number, line, error.kind)
    except Exception as error:  # any at all is a finding
        number = _line_number(error)
        line = text[number - 1] if 0 < number <= len(text) else "?"
        kind = type(error).__name__
        return Failure(device, manner, f"{kind}: {error}"[:600], -1, line, kind)
    return None


def line_of(program: Program, number: int) -> str:
    """Return the line that makes a value."""
    for step in program.steps:
        if number in step.outputs:
            return step.line
    return "?"


def _line_number(error: BaseException) -> int:
    """Return the line of the program that an exception came through."""
    trace, found = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<program>":
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def compare(tensor: tw.Tensor, ball: Ball, number: int) -> None:
    """Raise `Wrong` when a tensor is not what NumPy says."""
    has_signs = keeps_signs_of_zeros(tensor.device)
    judge(tensor.numpy(), tensor.dtype.name, ball, number, has_signs)


def judge(got: Array, name: str, ball: Ball, number: int, has_signs: bool) -> None:
    """Raise `Wrong` when elements are not what NumPy says.

    Args:
        got: the elements.
        name: of the tensor's dtype.
        ball: what they must be.
        number: of the value.
        has_signs: whether the device keeps the signs of zeros.
    """
    if name != ball.dtype:
        raise Wrong(f"dtype {name}, not {ball.dtype}", number, "dtype")
    if got.shape != ball.shape:
        raise Wrong(f"shape {got.shape}, not {ball.shape}", number, "shape")
    good = _fits(got, ball, ball.has_signs and has_signs)
    if good.all():
        return
    count = int(np.sum(~good))
    place = tuple(int(at[0]) for at in np.nonzero(~good)) if good.ndim else ()
    raise Wrong(
        f"{count} of {got.size} elements are wrong; at {place} it is "
        f"{got[place]!r}, not {ball.centre[place]!r} ± {ball.radius[place]:.3g}",
        number,
        "wrong",
    )


def keeps_signs_of_zeros(device: str) -> bool:
    """Whether a device does; compilers for GPUs need not (docs/deviations.md)."""
    driver = getattr(devices.backend(device), "driver", None)
    return driver is None or bool(driver.is_software)


def _fits(got: Array, ball: Ball, has_signs: bool) -> Array:
    """Return which elements lie in their ball."""
    unknown = np.isinf(ball.radius)
    if ball.dtype not in FLOATS:
        return np.asarray((got == ball.centre) | unknown)
    values = got.astype(np.float64)
    centre = ball.centre
    with np.errstate(all="ignore"):
        good = (values == centre) | unknown | (np.isnan(values) & np.isnan(centre))
        good |= np.abs(values - centre) <= ball.radius
        if has_signs:
            zeros = (values == 0) & (centre == 0) & (ball.radius == 0)
            good &= ~zeros | (np.signbit(values) == np.signbit(centre))
    return np.asarray(good)


Fails = Callable[[Program], "Failure | None"]


def steps_for(program: Program, wanted: set[int]) -> list[Step]:
    """Return the steps that some values need, in order."""
    kept: list[Step] = []
    for step in reversed(program.steps):
        if wanted.intersection(step.outputs):
            kept.append(step)
            wanted = wanted | set(step.inputs)
    return kept[::-1]
