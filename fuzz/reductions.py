"""Balls of reductions, contractions, scans and accumulations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.ball import FORMATS, Array, Ball, Function, rounded, ulp
from fuzz.program import Unfit
from tests.tolerances import ACCUMULATED, REDUCE

Axes = tuple[int, ...]


def one_by_one(terms: float, least: float) -> float:
    """Return the error of a sum in ULP of the sum of the sizes of its terms.

    NumPy adds in a tree along memory only, else one after another; every addition may
    be half a unit off (Higham, Accuracy and Stability, 4.2). `least` holds for trees.
    """
    return max(least, terms / 2)


SINGLE_BITS = 24
"""Numbers of this many bits are added without rounding in any order."""


def sum_dtype(dtype: str) -> str:
    """Return the dtype of a sum: small integers and bool become 32 bits."""
    small = {"bool": "int32", "int8": "int32", "int16": "int32"}
    return small.get(dtype, {"uint8": "uint32", "uint16": "uint32"}.get(dtype, dtype))


def summed(ball: Ball, function: Function, name: str = "sum", ulps: float = 0) -> Ball:
    """Return the ball of sums; `function` adds up an array as the operation does."""
    dtype = sum_dtype(ball.dtype)
    with np.errstate(all="ignore"):
        if not ball.is_float:
            centre = np.asarray(function(ball.centre.astype(dtype))).astype(dtype)
            radius = np.where(function(ball.radius) > 0, np.inf, 0.0)
            return Ball(centre, np.asarray(radius), dtype, True)
        centre = np.asarray(function(ball.centre))
        sizes = np.asarray(function(np.where(_finite(ball), np.abs(ball.centre), 0)))
        radius = np.asarray(function(ball.radius))
        terms = ball.centre.size / max(centre.size, 1)
        if name == "cumulative_sum":
            terms = max(ball.shape, default=1)
        ulps = ulps or one_by_one(terms, REDUCE[name])
        return added(centre, radius, sizes, dtype, ulps, [ball])


def _finite(ball: Ball) -> Array:
    return np.isfinite(ball.centre)


def added(
    centre: Array, radius: Array, sizes: Array, dtype: str, ulps: float, of: list[Ball]
) -> Ball:
    """Return the ball of a sum whose terms have absolute values that add up to `sizes`.

    Sums of multiples of a power of two that fit the format do not round.
    """
    single = "float32" if dtype == "float16" else dtype
    with np.errstate(all="ignore"):
        # Partial sums that may overflow on the way.
        over = ~np.isnan(centre) & (sizes + radius > 3e38)
        if dtype == "float64":
            over = ~np.isnan(centre) & (sizes + radius > 1e308)
        grain = _grain(of)
        plain = (radius == 0) & (sizes < 2.0**SINGLE_BITS * grain) & (grain > 0)
        error = np.where(plain, 0.0, ulp(sizes, single) * ulps)
        radius = np.where(over, np.inf, radius + error)
        radius = np.where(np.isnan(radius), np.inf, radius)
    if dtype == "float16":
        return rounded(centre, radius, dtype, 0.5)
    return rounded(centre, radius, dtype, 0)


def _grain(balls: list[Ball]) -> float:
    """Return a power of two that divides every term, 0 when there is no large one."""
    grain = 1.0
    for ball in balls:
        values = np.where(np.isfinite(ball.centre), ball.centre, 0.0)
        for each in (1.0, 0.5, 0.125, 2.0**-10):
            if not np.any(np.mod(values, each)):
                grain *= each
                break
        else:
            return 0.0
    return grain


def multiplied(ball: Ball, function: Function, name: str = "prod") -> Ball:
    """Return the ball of products of elements."""
    dtype = sum_dtype(ball.dtype)
    with np.errstate(all="ignore"):
        if not ball.is_float:
            centre = np.asarray(function(ball.centre.astype(dtype))).astype(dtype)
            touched = np.asarray(_total(function, ball.radius))
            return Ball(centre, np.where(touched > 0, np.inf, 0.0), dtype, True)
        sizes = np.abs(ball.centre)
        centre = np.asarray(function(ball.centre))
        logs = np.log2(np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0))
        top = np.asarray(_total(function, np.maximum(logs, 0)))
        low = np.asarray(_total(function, np.maximum(-logs, 0)))
        relative = np.where(ball.radius > 0, ball.radius / sizes, 0)
        share = np.asarray(_total(function, relative))
        count = np.asarray(_total(function, np.ones(sizes.shape)))
        is_whole = not np.any(np.mod(np.where(np.isfinite(sizes), sizes, 0), 1))
        plain = is_whole & (share == 0) & (top < 24)
        edge = 1e3 if dtype == "float64" else 120
        steps = np.maximum(REDUCE[name], count)
        error = np.where(plain, 0.0, ulp(centre, "float32") * steps)
        if dtype == "float64":
            error = np.where(plain, 0.0, ulp(centre, dtype) * steps)
        radius = np.abs(centre) * (np.exp(np.minimum(share, 10)) - 1) * 1.01 + error
        radius = np.where((share > 0.5) | (top > edge) | (low > edge), np.inf, radius)
        radius = np.where(np.isnan(centre) & np.isfinite(share), 0.0, radius)
        bad = np.asarray(_total(function, np.isinf(ball.radius) * 1.0)) > 0
        radius = np.where(bad | np.isnan(radius), np.inf, radius)
        return rounded(centre, radius, dtype, 0.5 if dtype == "float16" else 0)


def _total(function: Function, array: Array) -> Array:
    """Return sums over the axes of a function of products."""
    return np.asarray(np.log2(function(np.exp2(np.minimum(array, 500.0)))))


def extreme(ball: Ball, function: Function) -> Ball:
    """Return the ball of a maximum or minimum."""
    with np.errstate(all="ignore"):
        centre = np.asarray(function(ball.centre))
        # The largest radius: one of the two is the maximum.
        radius = np.maximum(function(ball.radius), -function(-ball.radius))
    if not ball.is_float:
        radius = np.where(radius > 0, np.inf, 0.0)
    return Ball(centre, radius, ball.dtype)


def mean(ball: Ball, function: Function, counts: Array) -> Ball:
    """Return the ball of sums divided by counts, rounded once or twice."""
    dtype = ball.dtype
    wide = Ball(ball.centre, ball.radius, "float32" if dtype == "float16" else dtype)
    result = summed(wide, function, "mean")
    return rounded(result.centre / counts, result.radius / counts, dtype, 1.0)


def position(largest: bool, function: Function, balls: list[Ball], p: Any) -> Ball:
    """Return the ball of `argmax` or `argmin`: known where one candidate is left."""
    [ball], axis, keepdims = balls, p["along"], p["keepdims"]
    centre = np.asarray(function(ball.centre))
    values = np.asarray(ball.centre, np.float64) * (1 if largest else -1)
    with np.errstate(all="ignore"):
        least = np.max(values - ball.radius, axis=axis, keepdims=True)
        may_win = ~(values + ball.radius < least)
        rivals = np.sum(may_win & (ball.radius > 0), axis=axis, keepdims=keepdims)
        count = np.sum(may_win, axis=axis, keepdims=keepdims)
        unknown = np.any(np.isinf(ball.radius), axis=axis, keepdims=keepdims)
    radius = np.where(unknown | ((count > 1) & (rivals > 0)), np.inf, 0.0)
    return Ball(centre.astype(np.int32), np.asarray(radius), "int32", True)


def tested_or_counted(function: Function, balls: list[Ball], p: Any) -> Ball:
    """Return the ball of `any`, `all` or `count_nonzero`."""
    [ball] = balls
    centre = np.asarray(function(ball.centre))
    dtype = "bool" if centre.dtype == np.bool_ else "int32"
    loose = ball.radius >= _margin(ball)
    touched = np.any(loose, axis=p["axes"], keepdims=p["keepdims"])
    return Ball(centre.astype(dtype), np.where(touched, np.inf, 0.0), dtype, True)


def _margin(ball: Ball) -> Array:
    """Return the radius from which on it is unknown whether an element is zero."""
    sizes = np.abs(ball.centre.astype(np.float64))
    with np.errstate(all="ignore"):
        sizes = np.where(np.isnan(sizes), np.inf, sizes)
    return np.maximum(sizes, np.finfo(np.float64).tiny)


def spread_out(is_root: bool, function: Function, balls: list[Ball], p: Any) -> Ball:
    """Return the ball of the variance, or of its root."""
    [ball], settings = balls, {"axis": p["axes"], "keepdims": p["keepdims"]}
    single = "float32" if ball.dtype == "float16" else ball.dtype
    with np.errstate(all="ignore"):
        full = {"axis": p["axes"], "keepdims": True}
        results = np.any(ball.centre, **settings).size
        count = ball.centre.size / max(results, 1)
        if count <= p["correction"]:
            raise Unfit
        centre = np.asarray(function(ball.centre))
        centre = centre * centre if is_root else centre
        offset = np.abs(ball.centre - np.mean(ball.centre, **full))
        size = np.max(np.abs(ball.centre), initial=0.0, **full)
        unit = ulp(size, single)
        shift = np.mean(ball.radius, **full) + one_by_one(count, REDUCE["mean"]) * unit
        each = ball.radius + shift + unit
        scale = count / max(count - p["correction"], 1e-300)
        term = np.asarray(np.mean(2 * offset * each + each**2, **settings)) * scale
        radius = term + ulp(centre, single) * one_by_one(count, REDUCE["var"])
        radius = np.where(np.max(size, **settings) > 1e18, np.inf, radius)
        bad = np.any(~np.isfinite(ball.centre), **settings)
        exact_nan = bad & np.isnan(centre) & ~np.any(np.isinf(ball.radius), **settings)
        radius = np.where(exact_nan, 0.0, np.where(bad, np.inf, radius))
        if is_root:
            return _root(centre, radius, ball.dtype)
    return rounded(centre, radius, ball.dtype, 0.5 if ball.dtype == "float16" else 0)


def _root(centre: Array, radius: Array, dtype: str) -> Ball:
    """Return the ball of the square root, whose argument is never below zero."""
    plain = np.sqrt(centre)
    below = plain - np.sqrt(np.maximum(centre - radius, 0.0))
    above = np.sqrt(centre + radius) - plain
    wide = np.nan_to_num(np.maximum(below, above), nan=0.0, posinf=np.inf)
    return rounded(plain, wide, dtype, 2.0)


def _order(ball: Ball, axis: int, descending: bool) -> Array:
    """Return the positions of the stable order, NaN last."""
    values = ball.centre if ball.is_float else ball.centre.astype(np.float64)
    return np.argsort(-values if descending else values, axis, kind="stable")


def sorted_along(function: Function, balls: list[Ball], p: Any) -> Ball:
    """Return the ball of a sorted axis: no value moves farther than the widest."""
    [ball], axis = balls, p["axis"]
    centre = np.take_along_axis(ball.centre, _order(ball, axis, p["flag"]), axis)
    widest = np.max(ball.radius, axis=axis, keepdims=True, initial=0)
    if not ball.is_float:
        widest = np.where(widest > 0, np.inf, 0.0)
    # Zeros of both signs are equal: a stable order distinguishes them, others do not.
    return Ball(centre, np.broadcast_to(widest, ball.shape), ball.dtype, False)


def ordered(function: Function, balls: list[Ball], p: Any) -> Ball:
    """Return the ball of `argsort`: unknown where the axis has an inexact element."""
    [ball], axis = balls, p["axis"]
    positions = _order(ball, axis, p["flag"])
    is_loose = np.any(ball.radius > 0, axis=axis, keepdims=True)
    radius = np.where(np.broadcast_to(is_loose, ball.shape), np.inf, 0.0)
    return Ball(positions.astype(np.int32), radius, "int32", True)


def top(function: Function, balls: list[Ball], p: Any) -> list[Ball]:
    """Return the balls of the first values of a sorted axis, and of their positions."""
    part: Any = [slice(None)] * balls[0].centre.ndim
    part[p["axis"]] = slice(p["some"])
    both = (sorted_along(function, balls, p), ordered(function, balls, p))
    return [
        Ball(each.centre[tuple(part)], each.radius[tuple(part)], each.dtype)
        for each in both
    ]


def contracted(a: Ball, b: Ball, function: Function, dtype: str) -> Ball:
    """Return the ball of sums of products; `function` takes two arrays."""
    with np.errstate(all="ignore"):
        if not a.is_float:
            centre = np.asarray(function(a.centre, b.centre)).astype(dtype)
            touched = function(a.radius, np.ones(b.shape)) + function(
                np.ones(a.shape), b.radius
            )
            radius = np.where(~(touched == 0), np.inf, 0.0)
            return Ball(centre, np.asarray(radius), dtype, True)
        centre = np.asarray(function(a.centre, b.centre))
        size_a, size_b = (
            np.abs(np.nan_to_num(a.centre, posinf=0)),
            np.abs(np.nan_to_num(b.centre, posinf=0)),
        )
        sizes = np.asarray(function(size_a, size_b))
        radius = np.asarray(
            function(a.radius, size_b + b.radius) + function(size_a, b.radius)
        )
        # Infinity times what may count as zero is NaN, or is not.
        open_ends = np.asarray(
            function(_infinite(a), _may_be_zero(b))
            + function(_may_be_zero(a), _infinite(b))
        )
        radius = np.where(open_ends > 0, np.inf, radius)
        terms = np.asarray(function(np.ones(a.shape), np.ones(b.shape)))
        smallest = FORMATS["float64" if dtype == "float64" else "float32"].smallest
        if _least(size_a) * _least(size_b) < smallest:
            radius = radius + terms * smallest  # each product may count as zero
        ulps = one_by_one(float(terms.max(initial=0)), REDUCE["matmul"])
        return added(centre, radius, sizes, dtype, ulps, [a, b])


def _least(sizes: Array) -> float:
    """Return the smallest number that is not zero."""
    sizes = sizes.astype(np.float64)  # an integer cannot be compared with infinity
    return float(np.min(sizes, where=sizes > 0, initial=np.inf))


def _infinite(ball: Ball) -> Array:
    return np.isinf(ball.centre) * 1.0


def _may_be_zero(ball: Ball) -> Array:
    """Return 1.0 where a value other than zero may be zero, as subnormal ones may."""
    return ((ball.radius > 0) & (np.abs(ball.centre) <= ball.radius)) * 1.0


def accumulated(
    base: Ball, values: Ball, write: Callable[[Array, Array, str], Array], how: str
) -> Ball:
    """Return the ball of values combined into a tensor; `write` does it in place."""
    with np.errstate(all="ignore"):
        centre = write(base.centre.copy(), values.centre, how)
        if not base.is_float or how in ("min", "max"):
            radius = write(base.radius.copy(), values.radius, "max")
            if not base.is_float:
                radius = np.where(radius > 0, np.inf, 0.0)
            return Ball(centre, radius, base.dtype)
        radius = write(base.radius.copy(), values.radius, "add")
        sizes = write(
            np.abs(np.nan_to_num(base.centre, posinf=0)),
            np.abs(np.nan_to_num(values.centre, posinf=0)),
            "add",
        )
        ones = np.ones(values.centre.shape)
        count = np.max(write(np.ones(base.shape), ones, "add"), initial=0)
        ulps = one_by_one(float(count), ACCUMULATED)
        return added(centre, radius, sizes, base.dtype, ulps, [base, values])
