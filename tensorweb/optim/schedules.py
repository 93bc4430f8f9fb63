"""Learning rate schedules: functions from the step count to the learning rate.

A schedule maps the count of completed steps, a 0-d tensor, to the rate as a 0-d tensor.
It is evaluated on the device, so that a training step compiled by `jit` is recorded
once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tensorweb import dtypes
from tensorweb.errors import DataError
from tensorweb.functions import clip, cos, exp, where
from tensorweb.optim.options import count, finite, is_finite
from tensorweb.optim.state import number
from tensorweb.tensor import Tensor

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
    factor = finite("exponential", "rate", rate)
    if factor <= 0:
        raise DataError(f"exponential: rate={rate} is not above 0.")
    log_factor = math.log(factor) / count("exponential", "steps", steps)
    return lambda step: first * exp(step * log_factor)


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
