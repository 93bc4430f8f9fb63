"""Optax's names of schedules: functions from the count of steps to the rate."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import reduce

from tensorweb.functions import asarray, floor, maximum, minimum, where
from tensorweb.optim import schedules
from tensorweb.optim.schedules import Schedule
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor


def constant_schedule(value: float) -> Schedule:
    """Return the schedule with the same rate at every step.

    >>> tw.optim.optax.constant_schedule(0.5)(7)
    0.5
    """
    return lambda count: value


def linear_schedule(
    init_value: float,
    end_value: float,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """Return the schedule that goes linearly from `init_value` to `end_value`.

    >>> tw.optim.optax.linear_schedule(1.0, 0.0, 4)(1)
    tensor(0.75)
    """
    if transition_steps <= 0:
        return constant_schedule(init_value)
    schedule = schedules.linear(init_value, end_value, transition_steps)
    return lambda count: schedule(asarray(count) - transition_begin)


def cosine_decay_schedule(
    init_value: float, decay_steps: int, alpha: float = 0.0
) -> Schedule:
    """Return the schedule along a half cosine from `init_value` to `alpha` times it.

    >>> round(float(tw.optim.optax.cosine_decay_schedule(1.0, 4)(2)), 3)
    0.5
    """
    return schedules.cosine(init_value, decay_steps, end=alpha * init_value)


def warmup_cosine_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    decay_steps: int,
    end_value: float = 0.0,
) -> Schedule:
    """Return `tw.optim.warmup_cosine` with Optax's arguments.

    >>> rate = tw.optim.optax.warmup_cosine_decay_schedule(0.0, 1.0, 2, 6)
    >>> [round(float(rate(count)), 3) for count in (0, 1, 2, 4)]
    [0.0, 0.5, 1.0, 0.5]
    """
    if warmup_steps == 0:
        return schedules.cosine(peak_value, decay_steps, end=end_value)
    return schedules.warmup_cosine(
        peak_value, warmup_steps, decay_steps, start=init_value, end=end_value
    )


def exponential_decay(
    init_value: float,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """Return the schedule that is multiplied by `decay_rate` in `transition_steps`.

    >>> rate = tw.optim.optax.exponential_decay(1.0, 2, 0.25, staircase=True)
    >>> [round(float(rate(count)), 3) for count in (0, 1, 2)]
    [1.0, 1.0, 0.25]
    """
    if transition_steps <= 0 or decay_rate == 0:  # no decay, as in Optax
        return constant_schedule(init_value)
    falling = schedules.exponential(init_value, decay_rate)

    def schedule(count: Tensor) -> Tensor:
        part = maximum(asarray(count) - transition_begin, 0) / transition_steps
        # Half a step keeps the quotient off whole numbers, where GPUs may round it.
        value = falling(floor(part + 0.5 / transition_steps) if staircase else part)
        if end_value is None:
            return asarray(value)
        return (maximum if decay_rate < 1 else minimum)(value, end_value)

    return schedule


def piecewise_constant_schedule(
    init_value: float, boundaries_and_scales: Mapping[int, float] | None = None
) -> Schedule:
    """Return the schedule that is multiplied by a factor at some counts of steps.

    >>> rate = tw.optim.optax.piecewise_constant_schedule(1.0, {2: 0.5})
    >>> [float(rate(count)) for count in (1, 2, 3)]
    [1.0, 0.5, 0.5]
    """
    scales = dict(boundaries_and_scales or {})

    def schedule(count: Tensor) -> Tensor | float:
        factors = [where(asarray(count) >= end, by, 1.0) for end, by in scales.items()]
        return reduce(operator.mul, factors, init_value)

    return schedule


def join_schedules(
    schedules: Sequence[Schedule], boundaries: Sequence[int]
) -> Schedule:
    """Return schedules one after another, each from its count 0 on.

    >>> optax = tw.optim.optax
    >>> warmup = optax.linear_schedule(0.0, 1.0, 2)
    >>> rate = optax.join_schedules([warmup, optax.constant_schedule(0.5)], [2])
    >>> [float(rate(count)) for count in (1, 2)]
    [0.5, 0.5]
    """

    def joined(count: Tensor) -> Tensor:
        value = asarray(schedules[0](count))
        for begin, schedule in zip(boundaries, schedules[1:], strict=True):
            own = schedule(asarray(count) - begin)
            value = where(asarray(count) < begin, value, own)
        return value

    return joined


SCHEDULES = declare_public(__name__)
