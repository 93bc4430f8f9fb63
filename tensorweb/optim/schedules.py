"""Learning rate schedules: functions from the step count to the learning rate.

A schedule maps the count of completed steps, a 0-d tensor, to the rate as a 0-d tensor.
It is evaluated on the device, so that a training step compiled by `jit` is recorded
once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from tensorweb import dtypes
from tensorweb.errors import DataError
from tensorweb.functions import (
    asarray,
    clip,
    cos,
    exp,
    expand_dims,
    floor,
    take,
    where,
)
from tensorweb.optim.options import count, finite, is_finite
from tensorweb.optim.state import number
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor

# Beyond it a float32 no longer counts single steps.
MOST_STEPS = 1 << 24

Schedule = Callable[[Tensor], "Tensor | float"]

Rate: TypeAlias = float | Schedule | Tensor
"""A learning rate: a number, or a function from the step count to one."""


def constant(value: float) -> Schedule:
    """Return the schedule with the same rate at every step.

    >>> tw.optim.constant(0.1)(tw.asarray(7.0))
    tensor(0.1)
    """
    rate = finite("constant", "value", value)
    return lambda step: step * 0.0 + rate


def linear(start: float, end: float, steps: int) -> Schedule:
    """Return the schedule that goes linearly from `start` to `end` in `steps`.

    >>> rate = tw.optim.linear(1.0, 0.0, steps=4)
    >>> rate(tw.asarray([0.0, 1.0, 4.0, 9.0]))
    tensor([1.  , 0.75, 0.  , 0.  ])
    """
    first, last = finite("linear", "start", start), finite("linear", "end", end)
    length = count("linear", "steps", steps)
    return lambda step: first + (last - first) * clip(step / length, 0.0, 1.0)


def cosine(start: float, steps: int, *, end: float = 0.0) -> Schedule:
    """Return the schedule that anneals from `start` to `end` along a half cosine.

    >>> rate = tw.optim.cosine(1.0, steps=4)
    >>> [round(rate(tw.asarray(step)).item(), 3) for step in (0.0, 2.0, 4.0, 9.0)]
    [1.0, 0.5, 0.0, 0.0]
    """
    first, last = finite("cosine", "start", start), finite("cosine", "end", end)
    length = count("cosine", "steps", steps)
    return lambda step: _half_cosine(first, last, step / length)


def warmup_cosine(
    peak: float, warmup: int, steps: int, *, start: float = 0.0, end: float = 0.0
) -> Schedule:
    """Return the schedule with linear warm-up to `peak` and cosine decay to `end`.

    Args:
        peak: the largest rate.
        warmup: count of steps of the linear warm-up from `start`.
        steps: count of all steps, including the warm-up.
        start: the rate of the first step.
        end: the rate after the last step.

    Raises:
        DataError: the warm-up takes all steps.

    >>> rate = tw.optim.warmup_cosine(1.0, warmup=2, steps=6)
    >>> [round(rate(tw.asarray(step)).item(), 3) for step in (0.0, 1.0, 2.0, 4.0, 6.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    name = "warmup_cosine"
    top, first = finite(name, "peak", peak), finite(name, "start", start)
    last = finite(name, "end", end)
    rise = count(name, "warmup", warmup)
    fall = count(name, "steps", steps) - rise
    if fall <= 0:
        raise DataError(
            f"warmup_cosine: {warmup} steps of warm-up do not leave any of {steps}; "
            "steps counts all of them."
        )

    def rate(step: Tensor) -> Tensor:
        rising = first + (top - first) * (step / rise)
        return where(step < rise, rising, _half_cosine(top, last, (step - rise) / fall))

    return rate


def exponential(start: float, rate: float, *, steps: int = 1) -> Schedule:
    """Return the schedule that is multiplied by `rate` every `steps` steps.

    Raises:
        DataError: the rate is not above 0.

    >>> falling = tw.optim.exponential(1.0, 0.5, steps=2)
    >>> falling(tw.asarray([0.0, 2.0, 6.0]))
    tensor([1.   , 0.5  , 0.125])
    """
    first = finite("exponential", "start", start)
    factor = _positive_rate("exponential", rate)
    log_factor = math.log(factor) / count("exponential", "steps", steps)
    return lambda step: first * exp(step * log_factor)


def step_decay(start: float, steps: int, *, rate: float = 0.1) -> Schedule:
    """Return the schedule that is multiplied by `rate` after every `steps` steps.

    >>> falling = tw.optim.step_decay(1.0, 3, rate=0.5)
    >>> falling(tw.asarray([0.0, 2.0, 3.0, 6.0]))
    tensor([1.  , 1.  , 0.5 , 0.25])
    """
    first, factor = (
        finite("step_decay", "start", start),
        _positive_rate("step_decay", rate),
    )
    length = count("step_decay", "steps", steps)
    # Half a step keeps the quotient off whole numbers, where GPUs may round it down.
    return lambda step: first * _power(factor, floor((step + 0.5) / length))


def multistep(
    start: float, milestones: Sequence[int], *, rate: float = 0.1
) -> Schedule:
    """Return the schedule that is multiplied by `rate` at each of the milestones.

    >>> falling = tw.optim.multistep(1.0, [2, 3], rate=0.5)
    >>> falling(tw.asarray([1.0, 2.0, 9.0]))
    tensor([1.  , 0.5 , 0.25])
    """
    first, factor = (
        finite("multistep", "start", start),
        _positive_rate("multistep", rate),
    )
    ends = [finite("multistep", "milestones", end) for end in milestones]

    def scheduled(step: Tensor) -> Tensor:
        return first * _power(factor, _passed(ends, asarray(step)))

    return scheduled


def one_cycle(
    peak: float,
    steps: int,
    *,
    pct_start: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
    anneal_strategy: str = "cos",
    three_phase: bool = False,
) -> Schedule:
    """Return the schedule that rises to `peak` and then falls far below its start.

    It begins at `peak / div_factor`, and ends at that divided by `final_div_factor`.
    Smith and Topin 2017.

    Args:
        peak: the largest rate.
        steps: count of all steps.
        pct_start: the fraction of the steps in which it rises.
        div_factor: the largest rate divided by the first.
        final_div_factor: the first rate divided by the last.
        anneal_strategy: `"cos"` for half cosines, `"linear"` for lines.
        three_phase: fall to the first rate as fast as it rose, and then to the last.

    >>> rate = tw.optim.one_cycle(1.0, 11, pct_start=0.5)
    >>> [round(rate(tw.asarray(step)).item(), 3) for step in (0.0, 4.5, 10.0)]
    [0.04, 1.0, 0.0]
    """
    top = finite("one_cycle", "peak", peak)
    first = top / div_factor
    levels = [first, top, *([first] if three_phase else []), first / final_div_factor]
    return cycle_of(levels, steps, pct_start, anneal_strategy)


def warm_restarts(
    start: float, steps: int, *, factor: int = 1, end: float = 0.0
) -> Schedule:
    """Return the schedule that repeats a half cosine from `start` to `end`.

    Loshchilov and Hutter 2016.

    Args:
        start: the rate at each restart.
        steps: count of steps to the first restart.
        factor: the length of each cycle divided by that of the one before.
        end: the rate that it approaches before a restart.

    >>> rate = tw.optim.warm_restarts(1.0, 2, factor=2)
    >>> [round(rate(tw.asarray(step)).item(), 3) for step in (0.0, 1.0, 2.0, 4.0, 6.0)]
    [1.0, 0.5, 1.0, 0.5, 1.0]
    """
    name = "warm_restarts"
    first, last = finite(name, "start", start), finite(name, "end", end)
    length, growth = count(name, "steps", steps), count(name, "factor", factor)
    begins = [0.0]
    if growth > 1:
        while begins[-1] < MOST_STEPS:
            begins.append(begins[-1] + length * growth ** (len(begins) - 1))

    def rate(step: Tensor) -> Tensor:
        if growth == 1:
            return _half_cosine(first, last, (step % length) / length)
        cycle = _passed(begins, step) - 1
        scales = [float(growth) ** n for n in range(len(begins))]
        begin, scale = (
            take(asarray(table, step.dtype, device=step.device), cycle.astype("int32"))
            for table in (begins, scales)
        )
        return _half_cosine(first, last, (step - begin) / (length * scale))

    return rate


def cycle_of(
    levels: Sequence[float], steps: int, pct_start: float, anneal_strategy: str
) -> Schedule:
    """Return the schedule through rates that PyTorch's `OneCycleLR` goes to.

    Raises:
        DataError: the phases are empty, or the strategy is unknown.
    """
    last = count("one_cycle", "steps", steps) - 1
    inner = [n * (pct_start * steps - 1) for n in range(1, len(levels) - 1)]
    ends = [0.0, *inner, float(last)]
    if anneal_strategy not in ("cos", "linear"):
        raise DataError(
            f"one_cycle: anneal_strategy={anneal_strategy!r} is neither 'cos' nor "
            "'linear'."
        )
    if any(begin >= end for begin, end in pairwise(ends)):
        raise DataError(
            f"one_cycle: pct_start={pct_start} of {steps} steps leaves a phase without "
            "a step; give more steps or another fraction."
        )

    def rate(step: Tensor) -> Tensor:
        value = step * 0.0 + levels[0]
        phases = zip(pairwise(levels), pairwise(ends), strict=True)
        for (start, goal), (begin, end) in phases:
            part = clip((step - begin) / (end - begin), 0.0, 1.0)
            if anneal_strategy == "cos":
                phase = _half_cosine(start, goal, part)
            else:
                phase = start + (goal - start) * part
            value = where(step > begin, phase, value)
        return value

    return rate


def _positive_rate(name: str, rate: float) -> float:
    """Return the factor of a schedule.

    Raises:
        DataError: it is not above 0.
    """
    if not is_finite(rate) or rate <= 0:
        raise DataError(f"{name}: rate={rate!r} is not above 0.")
    return float(rate)


def _power(factor: float, exponent: Tensor) -> Tensor:
    return exp(exponent * math.log(factor))


def _passed(ends: Sequence[float], step: Tensor) -> Tensor:
    """Return how many of some counts of steps are completed."""
    table = asarray(ends, step.dtype, device=step.device)
    return (expand_dims(step, -1) >= table).sum(axis=-1).astype(step.dtype)


def _half_cosine(first: float, last: float, part: Tensor) -> Tensor:
    """Return a half cosine from `first` to `last` as `part` goes from 0 to 1."""
    wave = cos(clip(part, 0.0, 1.0) * math.pi)
    return last + (first - last) * (0.5 + 0.5 * wave)


# Learning rates of optimisers.


def checked_rate(name: str, lr: Rate) -> Rate:
    """Return a validated learning rate.

    Raises:
        DataError: it is negative, not finite, or neither number nor function.
    """
    if callable(lr) or (isinstance(lr, Tensor) and not lr.shape):
        return lr
    if not is_finite(lr) or lr < 0:
        raise DataError(
            f"{name}: lr={lr!r} is no learning rate; give a finite number from 0 on, "
            "or a function of the step such as tw.optim.cosine(0.001, steps=1000)."
        )
    return float(lr)


def schedule_of(rate: Rate) -> Schedule | None:
    """Return the schedule, None if the learning rate is a number."""
    return rate if callable(rate) else None


def rate_tensor(rate: Rate, leaves: Sequence[Tensor]) -> Tensor | None:
    """Return a learning rate as a tensor of the state; None for a schedule."""
    if callable(rate):
        return None
    is_wide = any(leaf.dtype.part is dtypes.float64 for leaf in leaves)
    dtype = dtypes.float64 if is_wide else dtypes.float32
    device = leaves[0].device
    if isinstance(rate, Tensor):
        return rate.astype(dtype).to_device(device)
    return number(rate, device, dtype)


declare_public(__name__, hidden="checked_rate cycle_of rate_tensor schedule_of")
