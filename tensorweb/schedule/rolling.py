"""Find loops that Python wrote out: steps that repeat one after another.

A loop of fifty turns becomes an expression of five hundred steps, of which the same ten
come again and again and read what those of the turn before made. Written as a loop they
compile as quickly as ten, and compute the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tensorweb.schedule.kernel import Expression, Step

LEAST_STEPS = 64
"""Steps below which an expression is written out in any case."""

LEAST_TURNS = 4
"""Turns below which a repeated run of steps is written out."""

MOST_BEHIND = 4
"""How many turns back a step may read."""

MOST_PERIODS = 24
"""Lengths of a turn that are tried."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A run of steps that repeats.

    Attributes:
        start: number of the first step of the first turn.
        period: steps of a turn.
        turns: how many there are.
        carried: steps of the first turn that later ones or steps behind the loop read,
            and how many turns back.
    """

    start: int
    period: int
    turns: int
    carried: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """Number of the first step behind the loop."""
        return self.start + self.period * self.turns

    def source(self, number: int) -> tuple[int, int]:
        """Return of a step that is read which one of the first turn it repeats.

        And how many turns before the first one it is; for steps in front of the loop.
        """
        turns = -((number - self.start) // self.period)
        return number + turns * self.period, turns

    def carried_reads(self, expression: Expression, number: int) -> list[int]:
        """Return what a step of the first turn reads of turns before."""
        steps = expression.steps
        pairs = zip(
            _reads(steps[number]), _reads(steps[number + self.period]), strict=True
        )
        return [read for read, again in pairs if read != again and read < self.start]

    def last(self, number: int) -> tuple[int, int]:
        """Return the same of a step inside the loop, seen from the last turn.

        One more for each: behind the loop its last turn is the one before.
        """
        turn, place = divmod(number - self.start, self.period)
        return self.start + place, self.turns - turn


@lru_cache(maxsize=256)
def find_loop(expression: Expression) -> Loop | None:
    """Return the run of an expression's steps that is worth to be written as a loop."""
    steps = expression.steps
    if len(steps) < LEAST_STEPS:
        return None
    found: list[tuple[int, int, int]] = []
    for period in _periods(steps):
        start, length = _longest_run(steps, period)
        turns = length // period + 1
        if turns >= LEAST_TURNS:
            found.append((-period * turns, period, start))
    for covered, period, start in sorted(found):
        turns = -covered // period
        for left_out in range(2):  # what all turns read of the first is no loop's
            begin = start + left_out * period
            loop = _loop(expression, begin, period, turns - left_out)
            if loop is not None:
                return loop
    return None


def _looks(step: Step) -> Hashable:
    """Return what repeated steps have in common, what they read aside."""
    reads = len(step.args), step.guard >= 0, step.in_lines
    return step.kind, step.dtype, step.name, step.slot, step.access, reads


def _periods(steps: Sequence[Step]) -> list[int]:
    """Return distances after which steps in the middle look the same again."""
    looks = [_looks(step) for step in steps]
    middle = len(steps) // 2
    counts: dict[int, int] = {}
    for place in range(middle, min(middle + 8, len(steps))):
        others = (
            at for at in range(place + 1, len(steps)) if looks[at] == looks[place]
        )
        for _, other in zip(range(MOST_PERIODS), others, strict=False):
            counts[other - place] = counts.get(other - place, 0) + 1
    return sorted(counts, key=lambda period: (-counts[period], period))[:MOST_PERIODS]


def _reads(step: Step) -> tuple[int, ...]:
    return (*step.args, step.guard) if step.guard >= 0 else step.args


def _repeats(step: Step, later: Step, period: int) -> bool:
    """Whether a step does what one a period later does, with what that turn made."""
    return _looks(step) == _looks(later) and all(
        b - a in (0, period) for a, b in zip(_reads(step), _reads(later), strict=True)
    )


def _longest_run(steps: Sequence[Step], period: int) -> tuple[int, int]:
    """Return the first step and length of the longest run that repeats at once."""
    best = start = length = 0
    for number in range(len(steps) - period):
        if _repeats(steps[number], steps[number + period], period):
            length += 1
            if length > best:
                best, start = length, number - length + 1
        else:
            length = 0
    return start, best


def _loop(expression: Expression, start: int, period: int, turns: int) -> Loop | None:
    """Return a run as a loop, None if it reads what a loop does not keep."""
    steps = expression.steps
    loop = Loop(start, period, turns, ())
    ways = [_ways(steps, start + place, period) for place in range(period)]
    for number in range(start + period, loop.end - period):
        if _ways(steps, number, period) != ways[(number - start) % period]:
            return None
    behind: dict[int, int] = {}
    for number in range(start, start + period):
        pairs = list(zip(_reads(steps[number]), ways[number - start], strict=True))
        if len(set(pairs)) > len({read for read, _ in pairs}):
            return None  # the same at first, not later
        for read, way in pairs:
            place, back = loop.source(read)
            if way == 0:
                if read >= start:
                    return None
            elif back > 0:
                if read < 0 or steps[read].dtype != steps[place].dtype:
                    return None
                behind[place] = max(behind.get(place, 0), back)
    reads = [read for step in steps[loop.end :] for read in _reads(step)]
    for read in (*reads, *expression.results):
        if start <= read < loop.end:
            place, back = loop.last(read)
            behind[place] = max(behind.get(place, 0), back)
    if any(back > MOST_BEHIND for back in behind.values()):
        return None
    return replace(loop, carried=tuple(sorted(behind.items())))


def _ways(steps: Sequence[Step], number: int, period: int) -> tuple[int, ...]:
    """Return how far what a step reads moves from one turn to the next."""
    pairs = zip(_reads(steps[number]), _reads(steps[number + period]), strict=True)
    return tuple(again - read for read, again in pairs)


def written_steps(expression: Expression) -> int:
    """Return how many steps stand in a kernel's text."""
    loop = find_loop(expression)
    repeated = loop.period * (loop.turns - 1) if loop else 0
    return len(expression.steps) - repeated
