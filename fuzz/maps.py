"""Elementwise operations on balls, from NumPy's function and an error in ULP."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from fuzz.ball import Array, Ball, Function, distance, rounded


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
        keeps_signs: whether the signs of zeros are told by those of the operands.
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
    """Return the ball of a Python number beside a tensor of a dtype."""
    with np.errstate(all="ignore"):
        given: Array = np.asarray(value).astype(dtype)
    wide = given.astype(np.float64) if dtype.startswith("float") else given
    if dtype.startswith("float"):
        return rounded(wide, np.zeros(()), dtype, 0, True)
    return Ball(wide, np.zeros(()), dtype, True)
