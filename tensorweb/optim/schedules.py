"""Schedules: learning rates as functions of the number of steps that are done.

A schedule takes that number, a 0-d tensor, and gives the rate as another, so that it is
computed on the device and a recorded step of training stays one recording.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorweb.errors import DataError
from tensorweb.functions import clip, cos, exp, where
from tensorweb.optim.checks import count, finite
from tensorweb.tensor import Tensor

Schedule = Callable[[Tensor], "Tensor | float"]


def constant(value: float) -> Schedule:
    """Return the schedule that is the same number at every step.

    >>> tw.optim.constant(0.1)(tw.asarray(7.0))
    tensor(0.1)
    """
    rate = finite("constant", "value", value)
    return lambda step: step * 0.0 + rate


def linear(start: float, end: float, steps: int) -> Schedule:
    """Return the schedule that goes from `start` to `end` in `steps`, and stays there.

    >>> rate = tw.optim.linear(1.0, 0.0, steps=4)
    >>> rate(tw.asarray([0.0, 1.0, 4.0, 9.0]))
    tensor([1.  , 0.75, 0.  , 0.  ])
    """
    first, last = finite("linear", "start", start), finite("linear", "end", end)
    length = count("linear", "steps", steps)
    return lambda step: first + (last - first) * clip(step / length, 0.0, 1.0)


def cosine(start: float, steps: int, *, end: float = 0.0) -> Schedule:
    """Return the schedule that falls to `end` in `steps`, as half a cosine does.

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
    """Return the schedule that rises to `peak`, and falls to `end` as a cosine does.

    Args:
        peak: the largest rate.
        warmup: steps in which it rises evenly from `start`.
        steps: all steps, those of the warm-up as well.
        start: the rate of the first step.
        end: that from the last one on.

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
    """Return the schedule that is multiplied by `rate` in every `steps` steps.

    >>> falling = tw.optim.exponential(1.0, 0.5, steps=2)
    >>> falling(tw.asarray([0.0, 2.0, 6.0]))
    tensor([1.   , 0.5  , 0.125])
    """
    first = finite("exponential", "start", start)
    factor = finite("exponential", "rate", rate)
    if factor <= 0:
        raise DataError(f"exponential: rate={rate} is not above 0.")
    slope = math.log(factor) / count("exponential", "steps", steps)
    return lambda step: first * exp(step * slope)


def _half_cosine(first: float, last: float, part: Tensor) -> Tensor:
    """Return numbers from `first` to `last` as `part` goes from 0 to 1."""
    turned = cos(clip(part, 0.0, 1.0) * math.pi)
    return last + (first - last) * (0.5 + 0.5 * turned)
