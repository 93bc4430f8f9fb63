"""Steps that order elements or find them in an order."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fuzz.ball import Array, Ball
from fuzz.program import Drawing, Unfit


def _axis(draw: Drawing, x: int) -> int:
    rank = len(draw.shape(x))
    return draw.rng.randrange(-rank, rank)


def _key(values: Array, descending: bool) -> Array:
    """Return values whose ascending stable order is the one wanted, NaN last."""
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
    # Zeros of both signs are equal: a stable order tells them, others do not.
    return Ball(centre, np.broadcast_to(widest, ball.shape), ball.dtype, False)


def _sortable(ball: Ball) -> bool:
    return len(ball.shape) > 0 and ball.dtype not in ("int64", "uint64")


def sort(draw: Drawing) -> None:
    x = draw.pick(_sortable, "float32")
    axis, descending = _axis(draw, x), draw.flag(0.4)
    given = ", descending=True" if descending else ""
    draw.step(
        f"tw.sort({{0}}, axis={axis}{given})",
        [x],
        lambda b: sorted_ball(b[0], axis, descending),
        "sort",
    )


def _indices(positions: Array, unknown: Array) -> Ball:
    radius = np.where(unknown, np.inf, 0.0)
    return Ball(positions.astype(np.int32), radius, "int32", True)


def argsort(draw: Drawing) -> None:
    x = draw.pick(_sortable, "float32")
    axis, descending = _axis(draw, x), draw.flag(0.4)
    given = ", descending=True" if descending else ""
    draw.step(
        f"tw.argsort({{0}}, axis={axis}{given})",
        [x],
        lambda b: _indices(*ordered(b[0], axis, descending)),
        "argsort",
    )


def top_k(draw: Drawing) -> None:
    x = draw.pick(lambda b: _sortable(b) and 0 not in b.shape, "float32")
    axis, is_largest = _axis(draw, x), draw.flag(0.6)
    count = draw.rng.randint(1, min(draw.shape(x)[axis], 9))
    given = "" if is_largest else ", largest=False"

    def rule(balls: list[Ball]) -> list[Ball]:
        part: Any = [slice(None)] * balls[0].centre.ndim
        part[axis] = slice(count)
        values = sorted_ball(balls[0], axis, is_largest)
        places = _indices(*ordered(balls[0], axis, is_largest))
        return [
            Ball(each.centre[tuple(part)], each.radius[tuple(part)], each.dtype)
            for each in (values, places)
        ]

    draw.step(
        f"{{out}} = tw.top_k({{0}}, {count}, axis={axis}{given})",
        [x],
        rule,
        "top_k",
        outputs=2,
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
        found = np.asarray(np.searchsorted(line, balls[1].centre, side=side))
        return Ball(found.astype(np.int32), np.zeros(found.shape), "int32", True)

    draw.step(
        f"tw.searchsorted(tw.sort({{0}}), {{1}}, side='{side}')",
        [x, y],
        rule,
        "searchsorted",
    )


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
        found = np.isin(balls[0].centre, balls[1].centre)
        return Ball(found, np.zeros(found.shape), "bool", True)

    draw.step("tw.isin({0}, {1})", [x, y], rule, "isin")


ROWS = (sort, sort, argsort, argsort, top_k, searchsorted, unique, isin)
