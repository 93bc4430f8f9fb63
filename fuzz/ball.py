"""What a value must be: NumPy's result, and how far each element may lie from it.

Centres are computed in float64 from exact inputs, so a device that rounds less often
(fused multiplication and addition) stays inside. An infinite radius means that nothing
is known of an element, for example behind a comparison of numbers that may be equal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

FLOATS = ("float16", "float32", "float64")

SLACK = 1 + 1e-6
"""Room for the float64 arithmetic of the radius itself."""


@dataclass(frozen=True, slots=True)
class Format:
    """A float format: bits behind the point, largest and smallest normal number.

    Attributes:
        is_flushed: whether subnormal numbers may count as zero, as GPUs may do it.
    """

    bits: int
    largest: float
    smallest: float
    is_flushed: bool = False


FORMATS = {
    "float16": Format(10, 65504.0, 2.0**-14),
    "float32": Format(23, float(np.finfo(np.float32).max), 2.0**-126, True),
    "float64": Format(52, float(np.finfo(np.float64).max), 2.0**-1022),
}


@dataclass(frozen=True, slots=True)
class Ball:
    """The values that a tensor may have.

    Attributes:
        centre: NumPy's result, float64 for every float dtype, else in its own dtype.
        radius: float64 of the same shape; 0 is exact, infinity is unknown.
        dtype: the name of the tensor's dtype.
        has_signs: whether the signs of zeros are NumPy's, too.
    """

    centre: Array
    radius: Array
    dtype: str
    has_signs: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.centre.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_exact(self) -> bool:
        return not self.radius.any()

    @property
    def known(self) -> float:
        """The share of elements whose radius is small relative to the value."""
        if not self.radius.size:
            return 1.0
        scale = np.abs(np.asarray(self.centre, np.float64))
        with np.errstate(all="ignore"):
            limit = 2.0**-8 * np.where(np.isfinite(scale), scale, 1) + 1e-30
        return float(np.mean(self.radius <= limit))


def exact(array: Array, has_signs: bool = True) -> Ball:
    """Return the ball of data that are given; subnormal ones may be flushed."""
    name = array.dtype.name
    if name not in FLOATS:
        return Ball(array, np.zeros(array.shape), name, True)
    return rounded(array.astype(np.float64), np.zeros(array.shape), name, 0, has_signs)


def ulp(size: Any, dtype: str) -> Array:
    """Return the distance of neighbouring floats at a size; 0 for inf and NaN."""
    form = FORMATS[dtype]
    with np.errstate(all="ignore"):
        clipped = np.clip(np.abs(size), form.smallest, form.largest)
        step = np.ldexp(1.0, np.frexp(clipped)[1] - 1 - form.bits)
        return np.where(np.isfinite(size), step, 0.0)


def rounded(
    centre: Any,
    radius: Any,
    dtype: str,
    ulps: float,
    has_signs: bool = False,
) -> Ball:
    """Return the ball of a float result that is off by `ulps` units at most.

    Half a unit means the nearest float: then nothing is added to a result that is a
    float already. Overflow is infinite where it is certain and unknown on its edge.
    """
    form = FORMATS[dtype]
    centre = np.asarray(centre, np.float64)
    with np.errstate(all="ignore"):
        if dtype == "float64" and ulps:
            ulps = 2 * ulps + 1  # the centre has been rounded as well
        if ulps:
            step = ulp(centre, dtype) * ulps * SLACK
            if ulps <= 0.5:
                representable = centre.astype(dtype).astype(np.float64) == centre
                step = np.where(representable & (radius == 0), 0.0, step)
            radius = radius + step
        radius = np.asarray(radius + np.zeros(centre.shape))
        size = np.abs(centre)
        finite = np.isfinite(centre)
        edge = form.largest * (1 + 2.0 ** -(form.bits + 2))
        over = finite & (size - radius > edge * (1 + 2.0**-form.bits))
        near = finite & ~over & (size + radius > form.largest)
        # A kernel that uses a float16 result may hold it outside the range.
        sure = np.inf if dtype == "float16" else 0.0
        radius = np.where(near, np.inf, np.where(over, sure, radius))
        centre = np.where(over, np.copysign(np.inf, centre), centre)
        if form.is_flushed:
            tiny = (size - radius < form.smallest) & ((size > 0) | (radius > 0))
            radius = np.where(tiny, np.maximum(radius, size), radius)
        radius = np.where(np.isnan(radius), np.inf, radius)
    return Ball(centre, radius, dtype, has_signs)


def distance(a: Array, b: Array) -> Array:
    """Return how far apart floats are; 0 for two NaN or the same infinity."""
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        gap = np.where(same, 0.0, np.abs(a - b))
        return np.where(np.isnan(gap), np.inf, gap)


def moved(function: Function, *balls: Ball, dtype: str | None = None) -> Ball:
    """Return what a function does that only moves elements."""
    signs = all(ball.has_signs for ball in balls)
    return Ball(
        np.asarray(function(*[ball.centre for ball in balls])),
        np.asarray(function(*[ball.radius for ball in balls])),
        dtype or balls[0].dtype,
        signs,
    )


def as_dtype(ball: Ball, dtype: str) -> Ball:
    """Return the ball converted: integers wrap, floats round or saturate."""
    if ball.dtype == dtype:
        return ball
    radius = ball.radius
    unknown = np.where(radius > 0, np.inf, 0.0)
    with np.errstate(all="ignore"):
        if dtype in FLOATS:
            ulps = 0.5 if ball.is_float or dtype != "float64" else 0
            widened = ball.centre.astype(np.float64)
            radius = radius if ball.is_float else unknown
            return rounded(widened, radius, dtype, ulps, ball.has_signs)
        if dtype == "bool":
            if ball.is_float:
                clear = np.abs(ball.centre) > radius
                unknown = np.where((radius > 0) & ~clear, np.inf, 0.0)
            return Ball(ball.centre != 0, unknown, dtype, True)
        if not ball.is_float:
            return Ball(ball.centre.astype(dtype), unknown, dtype, True)
        centre = saturated(ball.centre, dtype)
        low = saturated(ball.centre - radius, dtype)
        high = saturated(ball.centre + radius, dtype)
        same = (low == centre) & (high == centre) & np.isfinite(radius)
        return Ball(centre, np.where(same, 0.0, np.inf), dtype, True)


def saturated(values: Array, dtype: str) -> Array:
    """Return floats without their fractions as the nearest integers of a dtype."""
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        cut = np.trunc(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf))
        inside = (cut >= float(info.min)) & (cut < float(info.max) + (info.bits < 53))
        result = np.where(inside, cut, 0).astype(dtype)
        result = np.where(~inside & (cut > 0), np.asarray(info.max, dtype), result)
        return np.where(~inside & (cut < 0), np.asarray(info.min, dtype), result)


def mapped(
    function: Function,
    balls: list[Ball],
    dtype: str,
    ulps: float,
    *,
    keeps_signs: bool = False,
    has_poles: bool = False,
    most: float = np.inf,
) -> Ball:
    """Return the ball of a function of floats.

    Args:
        function: NumPy's, of float64 arrays.
        balls: the operands, all of the dtype that the function computes in.
        dtype: of the result.
        ulps: the rounding error of one result.
        keeps_signs: whether the signs of zeros follow from those of the operands.
        has_poles: whether results may be anything where the operands' radius matters.
        most: operands with a larger radius make the result unknown.
    """
    signs = keeps_signs and all(ball.has_signs for ball in balls)
    with np.errstate(all="ignore"):
        centres = [ball.centre for ball in balls]
        centre = np.asarray(function(*centres))
        radius: Any = np.zeros(centre.shape)
        if not all(ball.is_exact for ball in balls):
            for ends in itertools.product((-1, 1), repeat=len(balls)):
                at = [
                    ball.centre + end * np.where(ball.radius < np.inf, ball.radius, 0)
                    for ball, end in zip(balls, ends, strict=True)
                ]
                radius = np.maximum(radius, distance(function(*at), centre))
            radius = radius * 1.5
            for ball in balls:
                radius = np.where(ball.radius > min(most, 1e300), np.inf, radius)
            if has_poles:
                wild = radius > 0.1 * np.abs(np.nan_to_num(centre))
                radius = np.where(wild, np.inf, radius)
    return rounded(centre, radius, dtype, ulps, signs)


def certain(function: Function, balls: list[Ball], dtype: str) -> Ball:
    """Return the ball of a function of integers or bool: unknown spreads."""
    with np.errstate(all="ignore"):
        centre = np.asarray(function(*[ball.centre for ball in balls]))
        radius = sum((ball.radius for ball in balls), np.zeros(centre.shape))
    radius = np.where(radius > 0, np.inf, 0.0)
    return Ball(centre.astype(dtype), np.asarray(radius), dtype, True)


def compared(function: Function, a: Ball, b: Ball) -> Ball:
    """Return the ball of a comparison: unknown where the operands may be equal."""
    with np.errstate(all="ignore"):
        centre = np.asarray(function(a.centre, b.centre))
        reach = a.radius + b.radius
        gap = np.abs(a.centre.astype(np.float64) - b.centre.astype(np.float64))
        is_nan = np.isnan(gap) & np.isfinite(reach)
        clear = (reach == 0) | (gap > reach) | is_nan
    return Ball(centre, np.where(clear, 0.0, np.inf), "bool", True)


def tested(function: Function, ball: Ball) -> Ball:
    """Return the ball of a test of floats (`isnan` and the like)."""
    with np.errstate(all="ignore"):
        centre = np.asarray(function(ball.centre))
        unknown = np.isinf(ball.radius)
        if function is np.signbit:
            unknown = ball.radius >= np.abs(ball.centre)
            unknown &= (ball.radius > 0) | (not ball.has_signs)
            unknown |= np.isnan(ball.centre)
    return Ball(centre, np.where(unknown, np.inf, 0.0), "bool", True)


def chosen(condition: Ball, a: Ball, b: Ball) -> Ball:
    """Return the ball of `where`: of an unknown condition, a ball around both."""
    with np.errstate(all="ignore"):
        centre = np.where(condition.centre, a.centre, b.centre)
        radius = np.where(condition.centre, a.radius, b.radius)
        if a.is_float:
            both = distance(
                np.asarray(a.centre, np.float64), np.asarray(b.centre, np.float64)
            ) + np.maximum(a.radius, b.radius)
        else:
            both = np.where(
                (a.centre == b.centre) & (a.radius + b.radius == 0), 0.0, np.inf
            )
        radius = np.where(condition.radius > 0, both, radius)
    signs = a.has_signs and b.has_signs and condition.is_exact
    return Ball(centre, radius, a.dtype, signs)


def number(value: float, dtype: str) -> Ball:
    """Return the ball of a Python number as operand of a tensor of a dtype."""
    with np.errstate(all="ignore"):
        given: Array = np.asarray(value).astype(dtype)
    wide = given.astype(np.float64) if dtype.startswith("float") else given
    if dtype.startswith("float"):
        return rounded(wide, np.zeros(()), dtype, 0, True)
    return Ball(wide, np.zeros(()), dtype, True)
