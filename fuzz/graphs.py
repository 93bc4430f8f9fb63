"""Random graphs, run on a device in several manners, compared with NumPy, and shrunk.

A manner decides when values are read, computed or deleted. The program that runs is
Python text, so that a failure can be printed as it happened.
"""

from __future__ import annotations

import dataclasses
import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

import tensorweb as tw
from fuzz.ball import FLOATS, Array, Ball
from fuzz.program import (
    LARGE_ELEMENTS,
    MOST_ELEMENTS,
    Drawing,
    Program,
    Step,
    Unfit,
    leaf_step,
    literal,
    renamed,
)
from fuzz.steps import add_step
from tensorweb import devices

MANNERS = ("lazy", "stepwise", "middle", "partial", "twice", "deleted", "jit")
"""`lazy` reads the values that nothing else reads, at the end; `stepwise` reads each
value at once; `middle` reads some early; `partial` computes some without a read;
`twice` runs the text again, from cached plans; `deleted` deletes values after their
last use;
`jit` records the full program as one function."""

SLOW = 60.0  # seconds from which a graph is reported
SHRINKING = 60.0  # seconds that a failure is shrunk for
LARGEST_LITERAL = 600


@dataclass(slots=True)
class Tally:
    """What has been run.

    Attributes:
        operations: by device.
        names: how often each operation was drawn.
        elements, known: compared elements, and those with a narrow bound.
    """

    operations: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    elements: int = 0
    known: float = 0.0

    def add(self, program: Program, device: str) -> None:
        """Count a program that runs on a device."""
        self.operations[device] += program.count
        self.names.update(step.operation for step in program.steps)
        for index in program.sinks:
            ball = program.balls[index]
            self.elements += ball.centre.size
            self.known += ball.known * ball.centre.size

    def line(self) -> str:
        """Return the counts in words."""
        counts = ", ".join(f"{n:,} on {name}" for name, n in self.operations.items())
        share = 100 * self.known / max(self.elements, 1)
        return f"operations: {counts}; {share:.2f} % of {self.elements:,} bounded"


TALLY = Tally()


def failures(seed: str) -> Iterator[str]:
    """Yield what is wrong in the graph of a seed on the default device, shrunk."""
    device = devices.default_device()
    program = drawn(seed)
    dtypes = {ball.dtype for ball in program.balls.values()}
    if not dtypes <= set(devices.backend(device).dtypes):
        return
    began = time.monotonic()
    TALLY.add(program, device)
    for manner in manners_for(program, device, random.Random(f"{seed} manner")):
        failure = run(program, device, manner, seed)
        if failure is not None:
            yield _report(seed, program, failure)
            return
    if time.monotonic() - began > SLOW:
        print(f"slow: graph {seed} took {time.monotonic() - began:.0f} s")


def drawn(seed: str) -> Program:
    """Return the random program of a seed."""
    rng = random.Random(seed)
    program = Program(is_wide=rng.random() < 0.2)
    most = LARGE_ELEMENTS if rng.random() < 0.02 else MOST_ELEMENTS
    draw = Drawing(rng, program, most, rng.choice((0.0, 0.3, 0.3, 1.0)))
    length = rng.choice((4, 8, 12, 20, 30)) if most == MOST_ELEMENTS else 6
    draw.leaf(draw.any_shape(), "float32")
    draw.leaf(draw.any_shape(), draw.dtype())
    tries = 0
    while program.count < length and tries < 12 * length:
        tries += 1
        try:
            add_step(draw)
        except Unfit:
            continue
    return program


def manners_for(program: Program, device: str, rng: random.Random) -> list[str]:
    """Return how a program is run: lazily, and in one other manner."""
    others = [name for name in MANNERS[1:] if name != "jit" or can_jit(program)]
    if device == "cpu":
        others = [name for name in others if name != "jit"]
    elif "jit" in others and rng.random() < 0.4:
        return ["lazy", "jit"]
    return ["lazy", rng.choice(others)]


def _report(seed: str, program: Program, failure: Failure) -> str:
    """Return a failure in words, and a small program that shows it."""

    def fails(candidate: Program) -> Failure | None:
        if failure.manner == "jit" and not can_jit(candidate):
            return None
        outcome = run(candidate, failure.device, failure.manner, seed)
        if outcome or failure.manner in ("jit", "lazy"):
            return outcome
        return run(candidate, failure.device, "lazy", seed)

    small, cause = shrink(program, failure, fails)
    return (
        f"{failure.manner}: {failure.words}\n  {failure.line}\n\n"
        f"{text_of(small, cause, seed)}\n"
    )


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
            dead = [n for n in (*step.inputs, *step.outputs) if last[n] is step]
            dead = [n for n in dict.fromkeys(dead) if n not in sinks]
            result += [f"del v{number}" for number in dead]
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
    trace, number = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<program>":
            number = trace.tb_lineno
        trace = trace.tb_next
    return number


def compare(tensor: tw.Tensor, ball: Ball, index: int) -> None:
    """Raise `Wrong` when a tensor's elements, dtype or shape are not NumPy's."""
    got, name = tensor.numpy(), tensor.dtype.name
    if name != ball.dtype:
        raise Wrong(f"dtype {name}, not {ball.dtype}", index, "dtype")
    if got.shape != ball.shape:
        raise Wrong(f"shape {got.shape}, not {ball.shape}", index, "shape")
    good = _fits(got, ball, ball.has_signs and keeps_signs_of_zeros(tensor.device))
    if good.all():
        return
    count = int(np.sum(~good))
    at = tuple(int(each[0]) for each in np.nonzero(~good)) if good.ndim else ()
    raise Wrong(
        f"{count} of {got.size} elements are wrong; at {at} it is "
        f"{got[at]!r}, not {ball.centre[at]!r} ± {ball.radius[at]:.3g}",
        index,
        "wrong",
    )


def keeps_signs_of_zeros(device: str) -> bool:
    """Whether a device does; GPU compilers need not (docs/reference/deviations.md)."""
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


def steps_for(program: Program, required: set[int]) -> list[Step]:
    """Return the steps that some values need, in order."""
    needed: list[Step] = []
    for step in reversed(program.steps):
        if required.intersection(step.outputs):
            needed.append(step)
            required = required | set(step.inputs)
    return needed[::-1]


Fails = Callable[[Program], "Failure | None"]


def shrink(program: Program, failure: Failure, fails: Fails) -> tuple[Program, Failure]:
    """Return a smaller program that fails in the same way, and how it does."""
    deadline = time.monotonic() + SHRINKING
    best = (program, failure)
    improved = True
    while improved and time.monotonic() < deadline:
        improved = False
        for steps in _candidates(*best):
            if time.monotonic() > deadline:
                break
            attempt = _try(best[0], steps, best[1], fails)
            if attempt is not None:
                best = attempt
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
    outcome = fails(smaller)
    return (smaller, outcome) if outcome and outcome.kind == failure.kind else None


def _weight(steps: list[Step]) -> tuple[int, int]:
    """Return how large a program is: operations first, then its text."""
    count = sum(not step.is_leaf for step in steps)
    return count, sum(len(step.line) for step in steps)


def _candidates(program: Program, failure: Failure) -> list[list[Step]]:
    """Return smaller lists of steps, the smallest first."""
    steps = program.steps
    candidates: list[list[Step]] = []
    target = failure.value
    if target < 0:
        for index, step in enumerate(steps):
            if step.line.split("\n")[-1] == failure.line or failure.line in step.line:
                candidates.append(steps_for(program, set(step.outputs)))
                candidates.append(steps[: index + 1])
    else:
        candidates.append(steps_for(program, {target}))
    candidates += [
        steps_for(program, {number}) for number in program.sinks if number != target
    ]
    candidates += [_without(program, number) for number in program.sinks]
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if step.is_leaf:
            continue
        cut = _cut(program, index)
        if cut is not None:
            candidates.append(cut)
        for number in step.inputs:
            if len(step.outputs) == 1:
                candidates.append(_bypassed(program, index, number))
    candidates += _plainer(program)
    return candidates


def _without(program: Program, sink: int) -> list[Step]:
    """Return the steps that all other ends need."""
    return steps_for(program, set(program.sinks) - {sink})


def _cut(program: Program, index: int) -> list[Step] | None:
    """Return the steps with one replaced by the data that it makes."""
    step = program.steps[index]
    made: list[Step] = []
    for number in step.outputs:
        ball = program.balls[number]
        if ball.centre.size > LARGEST_LITERAL or np.isinf(ball.radius).any():
            return None
        made.append(_data_step(ball, number))
    changed = [*program.steps[:index], *made, *program.steps[index + 1 :]]
    smaller = Program(changed, {}, program.is_wide)
    ends = set(program.sinks) - set(step.outputs)
    return steps_for(smaller, ends) if ends else None


def _data_step(ball: Ball, number: int) -> Step:
    with np.errstate(all="ignore"):
        return leaf_step(literal(ball.centre.astype(ball.dtype)), number)


def _bypassed(program: Program, index: int, number: int) -> list[Step]:
    """Return the steps with a step's input instead of its result."""
    step = program.steps[index]
    names = {step.outputs[0]: number}
    rest = [renamed(each, names) for each in program.steps[index + 1 :]]
    return [*program.steps[:index], *rest]


def _plainer(program: Program) -> list[list[Step]]:
    """Return the steps with simpler data of one leaf."""
    candidates: list[list[Step]] = []
    for index, step in enumerate(program.steps):
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
            changed[index] = dataclasses.replace(plain)
            candidates.append(changed)
    return candidates


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
