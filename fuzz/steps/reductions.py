"""Steps that reduce axes, scan along them, or sort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from fuzz import reductions as rules
from fuzz.ball import Array, Ball, as_dtype, moved, rounded
from fuzz.functions import float_dtype, unary_ball
from fuzz.program import Drawing, Unfit


def _axes_text(axes: Any, keepdims: bool) -> str:
    parts = [] if axes is None else [f"axis={axes!r}"]
    return ", ".join([*parts, *(["keepdims=True"] if keepdims else [])])


def _call(draw: Drawing, name: str, arguments: str) -> str:
    if draw.flag(0.3):
        return f"{{0}}.{name}({arguments})"
    return f"tw.{name}({{0}}{', ' if arguments else ''}{arguments})"


def _along(ball: Ball, axes: Any) -> int:
    """Return how many elements each result is made of."""
    if axes is None:
        return ball.centre.size
    chosen = (axes,) if isinstance(axes, int) else axes
    return int(np.prod([ball.shape[axis] for axis in chosen]))


def total(draw: Drawing) -> None:
    """A sum, mean or product."""
    name = draw.rng.choice(("sum", "sum", "sum", "mean", "mean", "prod"))
    x = draw.pick(leaf="float32")
    axes, keepdims = draw.axes(len(draw.shape(x))), draw.flag(0.3)
    count = _along(draw.ball(x), axes)
    if name == "prod" and count > 300:
        raise Unfit
    if name == "mean" and (count == 0 or draw.ball(x).dtype == "bool"):
        raise Unfit

    def rule(balls: list[Ball]) -> Ball:
        ball = balls[0]
        if name == "prod":
            return rules.multiplied(
                ball, lambda x: np.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
            )
        if name == "mean":
            ball = as_dtype(ball, float_dtype(ball.dtype))
            return mean_ball(ball, axes, keepdims)
        return rules.summed(
            ball, lambda x: np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
        )

    draw.step(_call(draw, name, _axes_text(axes, keepdims)), [x], rule, name)


def mean_ball(ball: Ball, axes: Any, keepdims: bool) -> Ball:
    """Return the ball of a mean: a sum divided by the count, rounded once or twice."""
    dtype = ball.dtype
    wide = Ball(ball.centre, ball.radius, "float32" if dtype == "float16" else dtype)
    count = max(_along(ball, axes), 1)
    result = rules.summed(
        wide, lambda x: np.sum(x, axis=axes, keepdims=keepdims), "mean"
    )
    return rounded(result.centre / count, result.radius / count, dtype, 1.0)


def largest(draw: Drawing) -> None:
    """A maximum or minimum."""
    name = draw.rng.choice(("max", "min"))
    x = draw.pick(leaf="float32")
    axes, keepdims = draw.axes(len(draw.shape(x))), draw.flag(0.3)
    if _along(draw.ball(x), axes) == 0:
        raise Unfit
    function: Any = {"max": np.max, "min": np.min}[name]
    draw.step(
        _call(draw, name, _axes_text(axes, keepdims)),
        [x],
        lambda b: rules.extreme(
            b[0],
            lambda x: function(x, axis=axes, keepdims=keepdims),
            lambda x: np.max(x, axis=axes, keepdims=keepdims),
        ),
        name,
    )


def position(draw: Drawing) -> None:
    name = draw.rng.choice(("argmax", "argmin"))
    x = draw.pick(leaf="float32")
    rank = len(draw.shape(x))
    axis = draw.rng.randrange(-rank, rank) if rank and draw.flag(0.8) else None
    keepdims = draw.flag(0.3)
    if _along(draw.ball(x), axis) == 0:
        raise Unfit
    draw.step(
        _call(draw, name, _axes_text(axis, keepdims)),
        [x],
        lambda b: rules.position(b[0], name == "argmax", axis, keepdims),
        name,
    )


def tested_or_counted(draw: Drawing) -> None:
    name = draw.rng.choice(("any", "all", "count_nonzero"))
    x = draw.pick(leaf="bool")
    axes, keepdims = draw.axes(len(draw.shape(x))), draw.flag(0.3)
    function: Any = getattr(np, name)
    text = f"tw.{name}({{0}}, {_axes_text(axes, keepdims)})".replace(", )", ")")
    dtype = "int32" if name == "count_nonzero" else "bool"
    draw.step(
        text,
        [x],
        lambda b: rules.tested_or_counted(b[0], function, dtype, axes, keepdims),
        name,
    )


def variance_step(draw: Drawing) -> None:
    """A variance or standard deviation."""
    name = draw.rng.choice(("var", "std"))
    x = draw.floats()
    axes, keepdims = draw.axes(len(draw.shape(x))), draw.flag(0.3)
    correction = draw.rng.choice((0, 0, 1, 0.5))
    if _along(draw.ball(x), axes) <= correction:
        raise Unfit
    arguments = _axes_text(axes, keepdims)
    if correction:
        arguments = ", ".join(
            [*([arguments] if arguments else []), f"correction={correction}"]
        )

    def rule(balls: list[Ball]) -> Ball:
        ball = balls[0]
        if name == "var":
            return rules.spread_out(ball, axes, correction, keepdims)
        wide = Ball(
            ball.centre,
            ball.radius,
            "float32" if ball.dtype == "float16" else ball.dtype,
        )
        variance = rules.spread_out(wide, axes, correction, keepdims)
        root = _root(variance)
        return rounded(root.centre, root.radius, ball.dtype, 1.0)

    draw.step(_call(draw, name, arguments), [x], rule, name)


def _root(ball: Ball) -> Ball:
    """Return the ball of the square root, whose argument is never below zero."""
    plain = unary_ball("sqrt", ball)
    with np.errstate(all="ignore"):
        upper = np.sqrt(ball.centre + ball.radius) - plain.centre
        radius = np.where(ball.radius > ball.centre, plain.centre + upper, plain.radius)
    return Ball(plain.centre, np.nan_to_num(radius, nan=0, posinf=np.inf), ball.dtype)


def running(draw: Drawing) -> None:
    """A cumulative sum or product."""
    name = draw.rng.choice(("cumulative_sum", "cumulative_sum", "cumulative_prod"))
    x = draw.pick(lambda ball: len(ball.shape) > 0, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(-len(shape), len(shape))
    if name == "cumulative_prod" and shape[axis] > 200:
        raise Unfit
    has_first = draw.flag(0.2)
    arguments = f"axis={axis}" + (", include_initial=True" if has_first else "")
    first = 0.0 if name == "cumulative_sum" else 1.0

    def scan(function: Any, start: float) -> Any:
        def run(values: Array) -> Array:
            result = function(values, axis=axis, dtype=values.dtype)
            if not has_first:
                return np.asarray(result)
            head = [*values.shape]
            head[axis] = 1
            start_of = np.full(head, start, values.dtype)
            return np.concatenate([start_of, result], axis)

        return run

    def rule(balls: list[Ball]) -> Ball:
        if name == "cumulative_sum":
            return rules.summed(balls[0], scan(np.cumsum, first), name)
        return rules.multiplied(balls[0], scan(np.cumprod, first), name)

    draw.step(f"tw.{name}({{0}}, {arguments})", [x], rule, name)


def difference(draw: Drawing) -> None:
    x = draw.floats(lambda ball: len(ball.shape) > 0)
    shape = draw.shape(x)
    axis = draw.rng.randrange(-len(shape), len(shape))

    def rule(balls: list[Ball]) -> Ball:
        ball = moved(lambda x: np.diff(x, axis=axis), balls[0])
        reach = np.diff(np.zeros(shape), axis=axis)
        later = np.take(balls[0].radius, np.arange(1, shape[axis]), axis)
        sooner = np.take(balls[0].radius, np.arange(0, max(shape[axis] - 1, 0)), axis)
        with np.errstate(all="ignore"):
            radius = later + sooner if shape[axis] else reach
        return rounded(ball.centre, radius, ball.dtype, 0.5)

    draw.step(f"tw.diff({{0}}, axis={axis})", [x], rule)


REDUCTIONS = (
    *(total,) * 5,
    *(largest,) * 2,
    *(position,) * 2,
    *(tested_or_counted,) * 2,
    variance_step,
    *(running,) * 2,
    difference,
)


def _axis(draw: Drawing, x: int) -> int:
    rank = len(draw.shape(x))
    return draw.rng.randrange(-rank, rank)


def _key(values: Array, descending: bool) -> Array:
    """Return values whose ascending stable order is the required one, NaN last."""
    if not descending:
        return values
    if values.dtype.kind == "f":
        return np.negative(values)
    return np.negative(values.astype(np.float64))


def ordered(ball: Ball, axis: int, descending: bool) -> tuple[Array, Array]:
    """Return the positions of the order, and where they are unknown."""
    positions = np.argsort(_key(ball.centre, descending), axis, kind="stable")
    radius = np.take_along_axis(ball.radius, positions, axis)
    unknown = np.zeros(ball.shape, np.bool_)
    if ball.radius.any():
        any_loose = np.any(radius > 0, axis=axis, keepdims=True)
        unknown = np.broadcast_to(any_loose, ball.shape)
    return positions, unknown


def sorted_ball(ball: Ball, axis: int, descending: bool) -> Ball:
    """Return the ball of a sorted axis: no value moves farther than the widest."""
    positions, _ = ordered(ball, axis, descending)
    centre = np.take_along_axis(ball.centre, positions, axis)
    widest = np.max(ball.radius, axis=axis, keepdims=True, initial=0)
    if not ball.is_float:
        widest = np.where(widest > 0, np.inf, 0.0)
    # Zeros of both signs are equal: a stable order distinguishes them, others do not.
    return Ball(centre, np.broadcast_to(widest, ball.shape), ball.dtype, False)


def _sortable(ball: Ball) -> bool:
    return len(ball.shape) > 0 and ball.dtype not in ("int64", "uint64")


def _indices(positions: Array, unknown: Array) -> Ball:
    radius = np.where(unknown, np.inf, 0.0)
    return Ball(positions.astype(np.int32), radius, "int32", True)


def _sort(draw: Drawing, name: str, rule: Callable[[Ball, int, bool], Ball]) -> None:
    x = draw.pick(_sortable, "float32")
    axis, descending = _axis(draw, x), draw.flag(0.4)
    given = ", descending=True" if descending else ""
    text = f"tw.{name}({{0}}, axis={axis}{given})"
    draw.step(text, [x], lambda b: rule(b[0], axis, descending), name)


def sort(draw: Drawing) -> None:
    _sort(draw, "sort", sorted_ball)


def argsort(draw: Drawing) -> None:
    _sort(draw, "argsort", lambda *given: _indices(*ordered(*given)))


def top_k(draw: Drawing) -> None:
    x = draw.pick(lambda b: _sortable(b) and 0 not in b.shape, "float32")
    axis, is_largest = _axis(draw, x), draw.flag(0.6)
    count = draw.rng.randint(1, min(draw.shape(x)[axis], 9))
    given = "" if is_largest else ", largest=False"

    def rule(balls: list[Ball]) -> list[Ball]:
        part: Any = [slice(None)] * balls[0].centre.ndim
        part[axis] = slice(count)
        values = sorted_ball(balls[0], axis, is_largest)
        indices = _indices(*ordered(balls[0], axis, is_largest))
        return [
            Ball(each.centre[tuple(part)], each.radius[tuple(part)], each.dtype)
            for each in (values, indices)
        ]

    draw.step(
        f"{{out}} = tw.top_k({{0}}, {count}, axis={axis}{given})", [x], rule, outputs=2
    )


def searchsorted(draw: Drawing) -> None:
    x = draw.pick(
        lambda b: (
            b.is_exact
            and len(b.shape) == 1
            and b.dtype in ("float32", "int32", "uint32", "float16", "float64")
        )
    )
    dtype = draw.ball(x).dtype
    y = draw.pick(lambda b: b.dtype == dtype and b.is_exact)
    side: Literal["left", "right"] = draw.rng.choice(("left", "right"))
    if draw.shape(x)[0] > 2000:
        raise Unfit

    def rule(balls: list[Ball]) -> Ball:
        if not all(ball.is_exact for ball in balls):
            raise Unfit
        line = np.sort(balls[0].centre)
        positions = np.asarray(np.searchsorted(line, balls[1].centre, side=side))
        return Ball(
            positions.astype(np.int32), np.zeros(positions.shape), "int32", True
        )

    draw.step(f"tw.searchsorted(tw.sort({{0}}), {{1}}, side='{side}')", [x, y], rule)


def unique(draw: Drawing) -> None:
    """Distinct values; NaN count one by one."""
    x = draw.pick(lambda b: b.is_exact and _sortable(b) and b.dtype != "bool", "int32")

    def rule(balls: list[Ball]) -> list[Ball]:
        ball = balls[0]
        if not ball.is_exact:
            raise Unfit
        values, first, inverse, counts = np.unique(
            ball.centre, True, True, True, equal_nan=False
        )
        flat = np.zeros(values.shape)
        results = [Ball(values, flat, ball.dtype)]
        for each in (first, inverse.reshape(ball.shape), counts):
            zeros = np.zeros(each.shape)
            results.append(Ball(each.astype(np.int32), zeros, "int32", True))
        return results

    draw.step(
        "{out} = tw.unique_all({0})", [x], rule, "unique", outputs=4, is_reading=True
    )


def isin(draw: Drawing) -> None:
    x = draw.pick(lambda b: b.is_exact and b.dtype in ("int32", "float32"), "int32")
    dtype = draw.ball(x).dtype
    y = draw.leaf((draw.rng.choice((0, 1, 5, 33)),), dtype)

    def rule(balls: list[Ball]) -> Ball:
        if not all(ball.is_exact for ball in balls):
            raise Unfit
        is_member = np.isin(balls[0].centre, balls[1].centre)
        return Ball(is_member, np.zeros(is_member.shape), "bool", True)

    draw.step("tw.isin({0}, {1})", [x, y], rule)


SORTING = (sort, sort, argsort, argsort, top_k, searchsorted, unique, isin)
